use crate::Secret;
use dwar_otp::{WebhookAdmission, WebhookError, WebhookHead};

const PARAMETER: &str = "token";
const HEADER: &str = "x-webhook-token";

/// Admits a call of a provider that signs nothing. It must contain the secret once, as the query
/// parameter `token` or, for providers that can send headers, as `X-Webhook-Token`. Only the token
/// authenticates the call.
///
/// If the parameter is present, the header is ignored, so that a call cannot try two secrets at
/// once.
///
/// # Errors
/// As for [`judge`].
pub(crate) fn admit(
    head: &WebhookHead,
    secret: &Secret,
    longest_body: usize,
) -> Result<WebhookAdmission, WebhookError> {
    let in_query = head.query.iter().any(|(name, _)| name == PARAMETER);
    let token = if in_query { head.parameter(PARAMETER) } else { head.header(HEADER) };
    judge(token, secret, longest_body)
}

/// Admits a call with this token.
///
/// # Errors
/// [`WebhookError::Unauthenticated`]; an empty secret admits nobody.
pub(crate) fn judge(
    token: Option<&str>,
    secret: &Secret,
    longest_body: usize,
) -> Result<WebhookAdmission, WebhookError> {
    match token {
        Some(token) if secret.matches(token) => Ok(WebhookAdmission { longest_body, proven: true }),
        _ => Err(WebhookError::Unauthenticated),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn let_in(secret: &str, query: &[&str], headers: &[&str]) -> bool {
        let pairs = |name: &str, values: &[&str]| {
            values.iter().map(|value| (name.to_owned(), (*value).to_owned())).collect()
        };
        let head = WebhookHead {
            path_and_query: String::new(),
            query: pairs("token", query),
            headers: pairs("x-webhook-token", headers),
        };
        let admitted = admit(&head, &Secret::new(secret), 7);
        let expected = Ok(WebhookAdmission { longest_body: 7, proven: true });
        assert!(admitted == expected || admitted == Err(WebhookError::Unauthenticated));
        admitted.is_ok()
    }

    #[test]
    fn takes_the_secret_once_in_the_query_or_in_the_header() {
        assert!(let_in("s3cret", &["s3cret"], &[]));
        assert!(let_in("s3cret", &[], &["s3cret"]));
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
            assert!(!let_in("s3cret", query, headers), "{query:?} {headers:?}");
        }
        assert!(!let_in("", &[""], &[]), "a secret that was never configured lets nobody in");
    }
}
