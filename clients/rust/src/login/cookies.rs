use axum::http::HeaderMap;
use axum::http::header::{COOKIE, HeaderName, SET_COOKIE};

use crate::Tokens;
use crate::answers::SentCode;

pub const OTP: &str = "__Host-dwar_otp";
pub const ACCESS: &str = "__Host-dwar_access";
pub const REFRESH: &str = "__Host-dwar_refresh";
pub const DEVICE: &str = "__Host-dwar_device";

const DEVICE_SECONDS: u64 = 180 * 86_400;

/// Whether this can be a device: a text of bounded size that a cookie holds as it is.
pub fn is_device(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._~+/=-".contains(&byte);
    (1..=512).contains(&text.len()) && text.bytes().all(is_plain)
}

/// The value of a cookie, unless it is empty.
pub fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let all = headers.get_all(COOKIE).into_iter().filter_map(|cookies| cookies.to_str().ok());
    let mut pairs =
        all.flat_map(|cookies| cookies.split(';')).filter_map(|pair| pair.split_once('='));
    let (_, value) = pairs.find(|(found, _)| found.trim() == name)?;
    Some(value.trim()).filter(|value| !value.is_empty())
}

pub type SetCookie = (HeaderName, String);

/// The token cookies are Lax, so that a person who follows a link into the site is logged in. Only
/// the form needs the others.
pub fn set_cookie(name: &str, value: &str, seconds: u64) -> SetCookie {
    let same_site = if name == OTP || name == DEVICE { "Strict" } else { "Lax" };
    let attributes = format!("Path=/; HttpOnly; Secure; SameSite={same_site}");
    (SET_COOKIE, format!("{name}={value}; Max-Age={seconds}; {attributes}"))
}

pub fn code_cookie(sent: &SentCode) -> Vec<SetCookie> {
    vec![set_cookie(OTP, &sent.otp_id, sent.expires_in)]
}

pub fn no_code_cookie() -> Vec<SetCookie> {
    vec![set_cookie(OTP, "", 0)]
}

/// It stays after the logout: the next login is that of a known device.
pub fn device_cookie(tokens: &Tokens) -> Option<SetCookie> {
    let device = tokens.device.as_ref()?.reveal();
    is_device(device).then(|| set_cookie(DEVICE, device, DEVICE_SECONDS))
}

pub fn token_cookies(tokens: &Tokens) -> Vec<SetCookie> {
    vec![
        set_cookie(ACCESS, tokens.access_token.reveal(), tokens.expires_in),
        set_cookie(REFRESH, tokens.refresh_token.reveal(), tokens.refresh_expires_in),
    ]
}

pub fn no_token_cookies() -> Vec<SetCookie> {
    vec![set_cookie(ACCESS, "", 0), set_cookie(REFRESH, "", 0)]
}
