//! Live or test: one choice for all pages of a project, stored by the browser.

use crate::cookies::choice;
use actix_web::HttpRequest;
use actix_web::cookie::Cookie;
use dwar_kernel::KeyMode;

const COOKIE: &str = "dwar_mode";

/// The mode in the address, or else the chosen one, or else live.
pub(crate) fn of(request: &HttpRequest) -> KeyMode {
    let asked = form_urlencoded::parse(request.query_string().as_bytes());
    let asked =
        asked.filter(|(name, _)| name == "mode").find_map(|(_, word)| KeyMode::from_word(&word));
    asked.or_else(|| chosen(request)).unwrap_or(KeyMode::Live)
}

pub(crate) fn chosen(request: &HttpRequest) -> Option<KeyMode> {
    KeyMode::from_word(request.cookie(COOKIE)?.value())
}

pub(crate) fn cookie(mode: KeyMode, tls: bool) -> Cookie<'static> {
    choice(COOKIE, mode.as_str(), tls)
}
