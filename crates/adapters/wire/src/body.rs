use actix_web::http::header::{self, HeaderMap, HeaderValue};

/// The value of `Content-Length`. A length too large to represent becomes `usize::MAX`.
pub fn declared_length(headers: &HeaderMap) -> Option<usize> {
    let text = headers.get(header::CONTENT_LENGTH)?.to_str().ok()?;
    Some(text.parse().unwrap_or(usize::MAX))
}

/// Tells whether the body is declared as JSON or has no declared type. Compressed JSON does not
/// count (RFC 9110 section 15.5.16).
pub fn declares_json(headers: &HeaderMap) -> bool {
    declares(headers, is_json)
}

/// Tells whether the body is declared as a form (`application/x-www-form-urlencoded`) or has no
/// declared type.
pub fn declares_form(headers: &HeaderMap) -> bool {
    declares(headers, |value| {
        is_in_utf8(value, |essence| essence == "application/x-www-form-urlencoded")
    })
}

fn declares(headers: &HeaderMap, accepts: impl FnMut(&HeaderValue) -> bool) -> bool {
    let is_uncompressed =
        |coding: &HeaderValue| coding.as_bytes().eq_ignore_ascii_case(b"identity");
    headers.get_all(header::CONTENT_TYPE).all(accepts)
        && headers.get_all(header::CONTENT_ENCODING).all(is_uncompressed)
}

/// Accepts `application/json` and `application/…+json`.
fn is_json(value: &HeaderValue) -> bool {
    is_in_utf8(value, |essence| {
        let suffixed = essence
            .strip_prefix("application/")
            .and_then(|subtype| subtype.strip_suffix("+json"))
            .is_some_and(|name| !name.is_empty());
        essence == "application/json" || suffixed
    })
}

/// Tells whether `accepts` returns true for the media type in lower case. A charset, if given, must
/// be UTF-8 (RFC 8259 section 8.1). Other parameters are ignored.
fn is_in_utf8(value: &HeaderValue, accepts: impl Fn(&str) -> bool) -> bool {
    let Ok(text) = value.to_str() else { return false };
    let text = text.to_ascii_lowercase();
    let mut parts = text.split(';').map(str::trim);
    let charset = |parameter: &str| match parameter.strip_prefix("charset=") {
        Some(charset) => charset.trim_matches('"') == "utf-8",
        None => true,
    };
    accepts(parts.next().unwrap_or_default()) && parts.all(charset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_json_by_its_media_type() {
        let json = [
            "application/json",
            "Application/JSON",
            "application/json; charset=utf-8",
            "application/json;charset=\"UTF-8\"",
            "application/json; q=1",
            "application/merge-patch+json",
        ];
        let other = [
            "",
            "text/plain",
            "text/json",
            "application/jsonp",
            "application/+json",
            "application/json; charset=utf-16",
            "application/x-www-form-urlencoded",
            "application/json, text/plain",
        ];
        assert!(json.iter().all(|text| is_json(&HeaderValue::from_static(text))));
        for text in other {
            assert!(!is_json(&HeaderValue::from_static(text)), "{text}");
        }
    }

    #[test]
    fn knows_a_form_by_its_media_type() {
        let said = |text: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(text));
            declares_form(&headers)
        };
        for form in [
            "application/x-www-form-urlencoded",
            "Application/X-WWW-Form-Urlencoded;charset=UTF-8",
            "application/x-www-form-urlencoded; charset=\"utf-8\"; q=1",
        ] {
            assert!(said(form), "{form}");
        }
        assert!(declares_form(&HeaderMap::new()));
        for other in [
            "",
            "application/json",
            "multipart/form-data; boundary=x",
            "application/x-www-form-urlencoded; charset=latin1",
            "application/x-www-form-urlencoded+json",
        ] {
            assert!(!said(other), "{other}");
        }
    }
}
