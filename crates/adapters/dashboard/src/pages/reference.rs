use crate::answer::PageResult;
use crate::assets;
use crate::console::Console;
use crate::layout::public;
use crate::texts::reference as texts;
use crate::visit::Visit;
use actix_web::HttpRequest;
use actix_web::web::Data;

/// `GET /reference`: the API reference. Public, because it contains nothing about this
/// installation. Signed-in operators see it in the frame of all pages.
pub(crate) async fn show(
    request: HttpRequest,
    console: Data<Console>,
    visit: Option<Visit>,
) -> PageResult {
    let (content, style) = (console.reference.content(), assets::REFERENCE_CSS.path());
    public((&request, visit), (texts::TITLE, texts::LEAD), style, content)
}
