use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use dwar_kernel::{Timestamp, WebhookSecret};
use dwar_otp::{HookFault, WebhookHead};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::time::Duration;

/// Largest difference of a timestamp from now, either way (Standard Webhooks, Verifying webhook
/// authenticity).
pub(super) const TOLERANCE: Duration = Duration::from_secs(300);

/// Most signatures that are checked; no sender sends as many.
const MOST_SIGNATURES: usize = 16;

pub(super) struct Signed<'a> {
    id: &'a str,
    timestamp: &'a str,
    shown: Vec<[u8; 32]>,
}

impl<'a> Signed<'a> {
    /// Reads the headers of a signed call: each exactly once, with a signature of the right length,
    /// and a time within [`TOLERANCE`] of now.
    ///
    /// Signatures are separated by blanks, or, as Supabase writes them, by a comma and a blank.
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

    /// Like [`Self::read`], with any time, and the time itself in seconds.
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

    /// Tells whether one of `secrets` signed the call with this body.
    pub(super) fn by(&self, secrets: &[WebhookSecret], body: &[u8]) -> bool {
        let signed = |secret: &WebhookSecret| {
            let mut block = [0; 64];
            // RFC 2104 pads a key shorter than the block with zeros; doing that here cannot fail.
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
