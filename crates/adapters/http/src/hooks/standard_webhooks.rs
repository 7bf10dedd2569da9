use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use dwar_kernel::{Timestamp, WebhookSecret};
use dwar_otp::{HookFault, WebhookHead};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::time::Duration;

/// How far a timestamp may be from now, either way (Standard Webhooks, Verifying webhook authenticity).
pub(super) const TOLERANCE: Duration = Duration::from_secs(300);

/// More signatures than any sender gives; a longer list is not gone through.
const MOST_SIGNATURES: usize = 16;

/// What the head of a signed call shows.
pub(super) struct Signed<'a> {
    id: &'a str,
    timestamp: &'a str,
    shown: Vec<[u8; 32]>,
}

impl<'a> Signed<'a> {
    /// The headers of a call that can be a signed one: each there once, a signature of the right length among
    /// them, and the time not further from now than [`TOLERANCE`].
    ///
    /// Signatures stand one after the other with blanks between them, or, as Supabase writes them, with a
    /// comma and a blank.
    ///
    /// # Errors
    /// [`HookFault::Shape`] or [`HookFault::Time`].
    pub(super) fn read(head: &'a WebhookHead, now: Timestamp) -> Result<Self, HookFault> {
        let (signed, seconds) = Self::shaped(head).ok_or(HookFault::Shape)?;
        let at = Timestamp::from_timestamp(seconds, 0);
        let age = at.and_then(|at| (now - at).abs().to_std().ok());
        let is_near = age.is_some_and(|age| age <= TOLERANCE);
        is_near.then_some(signed).ok_or(HookFault::Time)
    }

    /// The same whenever it was signed, and at which second that was.
    fn shaped(head: &'a WebhookHead) -> Option<(Self, i64)> {
        let id = head.header("webhook-id").filter(|id| !id.is_empty())?;
        let timestamp = head.header("webhook-timestamp")?;
        let seconds = timestamp.parse().ok()?;
        let all = head.header("webhook-signature")?.split_ascii_whitespace();
        let all = all.take(MOST_SIGNATURES).map(|one| one.trim_end_matches(','));
        let all = all.filter_map(|one| STANDARD.decode(one.strip_prefix("v1,")?).ok());
        let shown: Vec<_> = all.filter_map(|one| one.try_into().ok()).collect();
        (!shown.is_empty()).then_some((Self { id, timestamp, shown }, seconds))
    }

    /// Whether one of `secrets` signed it with this body.
    pub(super) fn by(&self, secrets: &[WebhookSecret], body: &[u8]) -> bool {
        let signed = |secret: &WebhookSecret| {
            let mut block = [0; 64];
            // A key shorter than the block is padded with zeros (RFC 2104); doing it here cannot fail.
            block[..32].copy_from_slice(secret.bytes());
            let mut mac = <Hmac<Sha256> as KeyInit>::new(&block.into());
            mac.update(format!("{}.{}.", self.id, self.timestamp).as_bytes());
            mac.update(body);
            mac
        };
        secrets.iter().any(|secret| {
            let mac = signed(secret);
            // Compares in constant time.
            self.shown.iter().any(|shown| mac.clone().verify_slice(shown).is_ok())
        })
    }
}
