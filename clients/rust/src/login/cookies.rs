use axum::http::HeaderMap;
use axum::http::header::{COOKIE, HeaderName, SET_COOKIE};

use crate::answers::SentCode;

pub const OTP: &str = "__Host-dwar_otp";
pub const ACCESS: &str = "__Host-dwar_access";
pub const REFRESH: &str = "__Host-dwar_refresh";

/// The value of a cookie, unless it is empty.
pub fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let all = headers.get_all(COOKIE).into_iter().filter_map(|cookies| cookies.to_str().ok());
    let mut pairs =
        all.flat_map(|cookies| cookies.split(';')).filter_map(|pair| pair.split_once('='));
    let (_, value) = pairs.find(|(found, _)| found.trim() == name)?;
    Some(value.trim()).filter(|value| !value.is_empty())
}

pub type SetCookie = (HeaderName, String);

/// A link into the site should arrive logged in: the access token is Lax, the others are for the form alone.
pub fn set_cookie(name: &str, value: &str, seconds: u64) -> SetCookie {
    let same_site = if name == ACCESS { "Lax" } else { "Strict" };
    let attributes = format!("Path=/; HttpOnly; Secure; SameSite={same_site}");
    (SET_COOKIE, format!("{name}={value}; Max-Age={seconds}; {attributes}"))
}

pub fn code_cookie(sent: &SentCode) -> Vec<SetCookie> {
    vec![set_cookie(OTP, &sent.otp_id, sent.expires_in)]
}

pub fn no_code_cookie() -> Vec<SetCookie> {
    vec![set_cookie(OTP, "", 0)]
}

pub fn no_token_cookies() -> Vec<SetCookie> {
    vec![set_cookie(ACCESS, "", 0), set_cookie(REFRESH, "", 0)]
}
