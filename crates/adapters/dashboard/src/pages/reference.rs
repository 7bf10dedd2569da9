use crate::address::PageAddress;
use crate::answer::{Page, html_answer};
use crate::assets;
use crate::console::Console;
use crate::layout::{Frame, open};
use crate::texts::reference as texts;
use crate::theme::Theme;
use crate::visit::Visit;
use actix_web::HttpRequest;
use actix_web::http::StatusCode;
use actix_web::web::Data;

/// `GET /reference`: the API reference. Public, because it contains nothing about this
/// installation. Signed-in operators see it in the frame of all pages.
pub(crate) async fn show(
    request: HttpRequest,
    console: Data<Console>,
    visit: Option<Visit>,
) -> Page {
    let (content, style) = (console.reference.content(), assets::REFERENCE_CSS.path());
    if let Some(visit) = visit {
        return Frame::new(&visit, texts::TITLE, texts::LEAD).styled(style).show(content);
    }
    let sign_in = PageAddress::sign_in(PageAddress::of(&request).as_ref());
    let look = (Theme::of(&request), style.as_str());
    let page = open((texts::TITLE, texts::LEAD), look, &sign_in, content);
    Ok(html_answer(StatusCode::OK, page))
}
