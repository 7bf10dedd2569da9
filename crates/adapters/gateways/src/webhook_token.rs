use crate::Secret;
use dwar_otp::{WebhookCall, WebhookError};

const PARAMETER: &str = "token";
const HEADER: &str = "x-webhook-token";

/// Judges a call of a provider that signs nothing: it must carry the secret once, as the query
/// parameter `token` or, for providers that can send headers, as `X-Webhook-Token`.
///
/// A parameter that is there decides alone, so that a call cannot try two secrets at once.
///
/// # Errors
/// [`WebhookError::Unauthenticated`].
pub(crate) fn authenticate(call: &WebhookCall, secret: &Secret) -> Result<(), WebhookError> {
    let in_query = call.query.iter().any(|(name, _)| name == PARAMETER);
    let token = if in_query { call.parameter(PARAMETER) } else { call.header(HEADER) };
    match token {
        Some(token) if secret.matches(token) => Ok(()),
        _ => Err(WebhookError::Unauthenticated),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(secret: &str, query: &[&str], headers: &[&str]) -> bool {
        let pairs = |name: &str, values: &[&str]| {
            values.iter().map(|value| (name.to_owned(), (*value).to_owned())).collect()
        };
        let call = WebhookCall {
            path_and_query: String::new(),
            query: pairs("token", query),
            headers: pairs("x-webhook-token", headers),
            body: Vec::new(),
        };
        authenticate(&call, &Secret::new(secret)).is_ok()
    }

    #[test]
    fn takes_the_secret_once_in_the_query_or_in_the_header() {
        assert!(judge("s3cret", &["s3cret"], &[]));
        assert!(judge("s3cret", &[], &["s3cret"]));
    }

    #[test]
    fn refuses_everything_else() {
        for (query, headers) in [
            (&[][..], &[][..]),
            (&["S3cret"], &[]),
            (&["s3cre"], &[]),
            (&[""], &[]),
            (&["s3cret", "s3cret"], &[]),
            (&[], &["s3cret", "s3cret"]),
            (&["wrong"], &["s3cret"]),
            (&["wrong", "s3cret"], &["s3cret"]),
        ] {
            assert!(!judge("s3cret", query, headers), "{query:?} {headers:?}");
        }
        assert!(!judge("", &[""], &[]), "a secret that was never configured lets nobody in");
    }
}
