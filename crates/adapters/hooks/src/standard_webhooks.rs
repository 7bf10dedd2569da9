use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use dwar_kernel::{Timestamp, WebhookSecret};
use dwar_otp::WebhookCall;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::time::Duration;

/// How far a timestamp may be from now, either way (Standard Webhooks, Verifying webhook authenticity).
pub(crate) const TOLERANCE: Duration = Duration::from_secs(300);

/// More signatures than any sender gives; a longer list is not gone through.
const MOST_SIGNATURES: usize = 16;

/// Whether one of `secrets` signed the call, not longer ago than [`TOLERANCE`].
///
/// Signatures stand one after the other with blanks between them, or, as Supabase writes them, with a comma
/// and a blank.
pub(crate) fn proves(secrets: &[WebhookSecret], call: &WebhookCall, now: Timestamp) -> bool {
    let header = |name| call.head.header(name);
    let headers = (header("webhook-id"), header("webhook-timestamp"), header("webhook-signature"));
    let (Some(id), Some(timestamp), Some(signatures)) = headers else { return false };
    let in_time = timestamp.parse().ok().and_then(|seconds| Timestamp::from_timestamp(seconds, 0));
    if id.is_empty()
        || !in_time.is_some_and(|at| (now - at).abs().to_std().is_ok_and(|age| age <= TOLERANCE))
    {
        return false;
    }
    let signatures = signatures.split_ascii_whitespace().take(MOST_SIGNATURES);
    let signatures = signatures.filter_map(|one| one.trim_end_matches(',').strip_prefix("v1,"));
    let shown: Vec<Vec<u8>> = signatures.filter_map(|one| STANDARD.decode(one).ok()).collect();
    let signed = |secret: &WebhookSecret| {
        let mut block = [0; 64];
        // A key shorter than the block is padded with zeros (RFC 2104); doing it here cannot fail.
        block[..32].copy_from_slice(secret.bytes());
        let mut mac = <Hmac<Sha256> as KeyInit>::new(&block.into());
        mac.update(format!("{id}.{timestamp}.").as_bytes());
        mac.update(&call.body);
        mac
    };
    secrets.iter().any(|secret| {
        let mac = signed(secret);
        // Compares in constant time.
        shown.iter().any(|shown| mac.clone().verify_slice(shown).is_ok())
    })
}
