use crate::answer::PageResult;
use crate::assets;
use crate::console::Console;
use crate::layout::public;
use crate::manual::{self, ManualText};
use crate::refusal::Refusal;
use crate::texts::{common, help as texts};
use crate::visit::Visit;
use actix_web::HttpRequest;
use actix_web::web::Data;
use maud::html;

/// `GET /help` and `GET /help/{page}`: the manual of this version. Public, like the API reference.
pub(crate) async fn show(
    request: HttpRequest,
    console: Data<Console>,
    visit: Option<Visit>,
) -> PageResult {
    let name = request.match_info().get("page").unwrap_or_default();
    let ManualText { title, content } = console.manual.page(name).ok_or(Refusal::NotFound)?;
    let title = if name.is_empty() { texts::TITLE } else { title.as_str() };
    let style = assets::MANUAL_CSS.path();
    let content = html! {
        @if !name.is_empty() { p { a href=(manual::HOME) { (texts::ALL) } } }
        article.manual data-copies=(common::COPY) data-done=(common::COPIED) { (content) }
    };
    public((&request, visit), (title, texts::LEAD), style, &content)
}
