use crate::call::ApiCall;
use crate::error::{ApiError, ErrorCode};
use dwar_kernel::Phone;
use std::borrow::Cow;

impl ApiCall {
    /// The phone number in the query, `?phone=…`; `INVALID_PHONE` if it is missing, repeated or
    /// invalid.
    pub(crate) fn phone_in_query(&self) -> Result<Phone, ApiError> {
        let mut phones = self.query_pairs()?;
        phones.retain(|(name, _)| name == "phone");
        let [(_, phone)] = phones.as_slice() else {
            return Err(ErrorCode::InvalidPhone.into());
        };
        read_phone(phone).ok_or_else(|| ErrorCode::InvalidPhone.into())
    }

    /// Every parameter of the query, decoded, in order; `INVALID_REQUEST` if any part cannot be
    /// decoded.
    pub(crate) fn query_pairs(&self) -> Result<Vec<(String, String)>, ApiError> {
        pairs(self.request.query_string())
    }

    /// The last segment of the path; `INVALID_REQUEST` if it cannot be decoded.
    pub(crate) fn id_in_path(&self) -> Result<Cow<'_, str>, ApiError> {
        let path = self.request.uri().path();
        decode(path.rsplit('/').next().unwrap_or_default(), false)
    }

    pub(crate) fn check_path(&self) -> Result<(), ApiError> {
        decode(self.request.uri().path(), false).map(drop)
    }
}

/// The names and values of a query or a form, decoded, in order.
pub(crate) fn pairs(text: &str) -> Result<Vec<(String, String)>, ApiError> {
    let pairs = text.split('&').filter(|pair| !pair.is_empty());
    let decoded = pairs.map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        Ok((decode(name, true)?.into_owned(), decode(value, true)?.into_owned()))
    });
    decoded.collect()
}

/// A form-encoded `+91…` arrives with a blank instead of the plus; that blank is read as a plus.
fn read_phone(text: &str) -> Option<Phone> {
    match text.strip_prefix(' ') {
        Some(rest) => format!("+{rest}").parse().ok(),
        None => text.parse().ok(),
    }
}

/// Decodes percent-encoding and refuses invalid text; in a form a plus is a blank.
pub(crate) fn decode(text: &str, form: bool) -> Result<Cow<'_, str>, ApiError> {
    if !text.contains(['%', '+']) {
        return Ok(Cow::Borrowed(text));
    }
    let mut bytes = text.bytes();
    let mut decoded = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'%' => {
                let (digits, mut byte) =
                    ([bytes.next(), bytes.next()].map(Option::unwrap_or_default), [0]);
                base16ct::mixed::decode(digits, &mut byte)
                    .map_err(|_| ErrorCode::InvalidRequest)?;
                byte[0]
            }
            b'+' if form => b' ',
            other => other,
        });
    }
    String::from_utf8(decoded).map(Cow::Owned).map_err(|_| ErrorCode::InvalidRequest.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_what_is_readable_and_refuses_the_rest() {
        assert_eq!(decode("a%20b+c%C3%A9", true).unwrap(), "a b cé");
        assert_eq!(decode("a+b%2f", false).unwrap(), "a+b/");
        for text in ["%", "%4", "%zz", "%+1", "%ff", "%C3", "a%"] {
            assert_eq!(decode(text, true).unwrap_err().code, ErrorCode::InvalidRequest, "{text}");
        }
    }

    #[test]
    fn reads_one_leading_blank_as_a_plus() {
        for text in [" 919876543210", "+919876543210", "9876543210"] {
            assert_eq!(read_phone(text).unwrap().e164(), "+919876543210", "{text:?}");
        }
        for text in ["  919876543210", " +919876543210", " 9876543210", "+91 9876543210", ""] {
            assert_eq!(read_phone(text), None, "{text:?}");
        }
    }
}
