use crate::address::PageAddress;
use crate::answer::{Page, html_answer};
use crate::assets;
use crate::console::Console;
use crate::layout::{Frame, open};
use crate::manual::{self, ManualText};
use crate::refusal::Refusal;
use crate::texts::{common, help as texts};
use crate::theme::Theme;
use crate::visit::Visit;
use actix_web::HttpRequest;
use actix_web::http::StatusCode;
use actix_web::web::Data;
use maud::html;

/// `GET /help` and `GET /help/{page}`: the manual of this version. Public, like the API reference.
pub(crate) async fn show(
    request: HttpRequest,
    console: Data<Console>,
    visit: Option<Visit>,
) -> Page {
    let name = request.match_info().get("page").unwrap_or_default();
    let ManualText { title, content } = console.manual.page(name).ok_or(Refusal::NotFound)?;
    let title = if name.is_empty() { texts::TITLE } else { title.as_str() };
    let style = assets::MANUAL_CSS.path();
    let content = html! {
        @if !name.is_empty() { p { a href=(manual::HOME) { (texts::ALL) } } }
        article.manual data-copies=(common::COPY) data-done=(common::COPIED) { (content) }
    };
    if let Some(visit) = visit {
        return Frame::new(&visit, title, texts::LEAD).styled(style).show(&content);
    }
    let sign_in = PageAddress::sign_in(PageAddress::of(&request).as_ref());
    let look = (Theme::of(&request), style.as_str());
    Ok(html_answer(StatusCode::OK, open((title, texts::LEAD), look, &sign_in, &content)))
}
