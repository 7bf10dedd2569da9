use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};
use dwar_kernel::{Entropy, Timestamp};

/// The request and response header with the id of a request.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

const LONGEST: usize = 64;

/// Keeps a valid incoming id; otherwise makes a new UUIDv7.
pub fn request_id(headers: &HeaderMap, entropy: &dyn Entropy, now: Timestamp) -> HeaderValue {
    let mut values = headers.get_all(REQUEST_ID);
    let sane = |value: &&HeaderValue| {
        let bytes = value.as_bytes();
        (1..=LONGEST).contains(&bytes.len()) && bytes.iter().all(u8::is_ascii_graphic)
    };
    match (values.next().filter(sane), values.next()) {
        (Some(id), None) => id.clone(),
        _ => fresh_id(entropy, now),
    }
}

/// Makes an id for a request whose head cannot be read.
pub fn fresh_id(entropy: &dyn Entropy, now: Timestamp) -> HeaderValue {
    let fresh = entropy.uuid(now).to_string();
    HeaderValue::try_from(fresh).unwrap_or(HeaderValue::from_static("unknown"))
}
