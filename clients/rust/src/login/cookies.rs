use axum::http::HeaderMap;
use axum::http::header::{COOKIE, HeaderName, SET_COOKIE};

use crate::Tokens;
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

/// The token cookies are Lax, so that a person who follows a link into the site is logged in. Only
/// the form needs the cookie of the code.
pub fn set_cookie(name: &str, value: &str, seconds: u64) -> SetCookie {
    let same_site = if name == OTP { "Strict" } else { "Lax" };
    let attributes = format!("Path=/; HttpOnly; Secure; SameSite={same_site}");
    (SET_COOKIE, format!("{name}={value}; Max-Age={seconds}; {attributes}"))
}

pub fn code_cookie(sent: &SentCode) -> Vec<SetCookie> {
    vec![set_cookie(OTP, &sent.otp_id, sent.expires_in)]
}

pub fn no_code_cookie() -> Vec<SetCookie> {
    vec![set_cookie(OTP, "", 0)]
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
