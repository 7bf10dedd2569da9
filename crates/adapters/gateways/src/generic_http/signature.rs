use super::settings::{
    GenericAlgorithm, GenericEncoding, GenericPayload, GenericSignature, GenericSigned,
};
use crate::Secret;
use crate::signature::{claimed_hex, is_signed};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use dwar_otp::{WebhookCall, WebhookHead};
use hmac::Hmac;
use sha1::Sha1;
use sha2::{Sha256, Sha512};

impl GenericSignature {
    /// # Errors
    /// The problem, to be appended to `receipts.signature.`.
    pub(super) fn check(&self, payload: GenericPayload) -> Result<(), &'static str> {
        let carries = |part: &GenericSigned| match payload {
            GenericPayload::Json | GenericPayload::Form => *part == GenericSigned::Body,
            GenericPayload::Query => *part == GenericSigned::PathAndQuery,
        };
        if self.header.is_empty() {
            return Err("header: say which header carries it");
        }
        if !self.signed.iter().any(carries) {
            return Err("signed: the report itself is not, so anyone could forge one");
        }
        Ok(())
    }

    /// The signature in a call; `None` if the call has none of this form.
    pub(super) fn claimed(&self, head: &WebhookHead) -> Option<Vec<u8>> {
        let given = head.header(&self.header.to_ascii_lowercase())?;
        let given = given.strip_prefix(&self.prefix)?;
        let digits = given.to_ascii_lowercase();
        match (self.encoding, self.algorithm) {
            (GenericEncoding::Base64, _) => BASE64_STANDARD.decode(given).ok(),
            (_, GenericAlgorithm::Sha1) => claimed_hex::<20>(&digits).map(Vec::from),
            (_, GenericAlgorithm::Sha256) => claimed_hex::<32>(&digits).map(Vec::from),
            (_, GenericAlgorithm::Sha512) => claimed_hex::<64>(&digits).map(Vec::from),
        }
    }

    /// Tells whether the signature is the provider's; compares in constant time.
    pub(super) fn holds(&self, call: &WebhookCall, secret: &Secret) -> bool {
        let parts = self.signed.iter().map(|part| part.of(call)).collect::<Option<Vec<_>>>();
        let (Some(given), Some(parts)) = (self.claimed(&call.head), parts) else { return false };
        match self.algorithm {
            GenericAlgorithm::Sha1 => is_signed::<Hmac<Sha1>>(secret, &parts, &given),
            GenericAlgorithm::Sha256 => is_signed::<Hmac<Sha256>>(secret, &parts, &given),
            GenericAlgorithm::Sha512 => is_signed::<Hmac<Sha512>>(secret, &parts, &given),
        }
    }
}

impl GenericSigned {
    fn of<'a>(&'a self, call: &'a WebhookCall) -> Option<&'a [u8]> {
        match self {
            Self::Body => Some(&call.body),
            Self::PathAndQuery => Some(call.head.path_and_query.as_bytes()),
            Self::Header(name) => call.head.header(&name.to_ascii_lowercase()).map(str::as_bytes),
            Self::Text(text) => Some(text.as_bytes()),
        }
    }
}
