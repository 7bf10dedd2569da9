use crate::Secret;
use dwar_otp::{WebhookAdmission, WebhookError, WebhookHead};

const PARAMETER: &str = "token";
const HEADER: &str = "x-webhook-token";

/// Judges a call of a provider that signs nothing: it must carry the secret once, as the query
/// parameter `token` or, for providers that can send headers, as `X-Webhook-Token`.
///
/// A parameter that is there decides alone, so that a call cannot try two secrets at once.
///
/// # Errors
/// [`WebhookError::Unauthenticated`].
pub(crate) fn authenticate(head: &WebhookHead, secret: &Secret) -> Result<(), WebhookError> {
    let in_query = head.query.iter().any(|(name, _)| name == PARAMETER);
    let token = if in_query { head.parameter(PARAMETER) } else { head.header(HEADER) };
    match token {
        Some(token) if secret.matches(token) => Ok(()),
        _ => Err(WebhookError::Unauthenticated),
    }
}

/// What a call that carries the secret earns: the token alone proves who calls.
///
/// # Errors
/// As for [`authenticate`]; with an empty secret nobody is let in.
pub(crate) fn admit(
    head: &WebhookHead,
    secret: &Secret,
    longest_body: usize,
) -> Result<WebhookAdmission, WebhookError> {
    authenticate(head, secret)?;
    Ok(WebhookAdmission { longest_body, proven: true })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(secret: &str, query: &[&str], headers: &[&str]) -> bool {
        let pairs = |name: &str, values: &[&str]| {
            values.iter().map(|value| (name.to_owned(), (*value).to_owned())).collect()
        };
        let head = WebhookHead {
            path_and_query: String::new(),
            query: pairs("token", query),
            headers: pairs("x-webhook-token", headers),
        };
        let secret = Secret::new(secret);
        let admitted = admit(&head, &secret, 7);
        assert!(admitted.is_err() || admitted.unwrap().proven);
        assert_eq!(admitted.is_ok(), authenticate(&head, &secret).is_ok());
        admitted.is_ok()
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
