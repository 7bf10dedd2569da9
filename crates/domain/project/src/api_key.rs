use dwar_kernel::{ApiKeyId, Digest, Entropy, KeyMode, Purpose, SecretText, Timestamp, Vault};
use std::net::IpAddr;
use std::str::FromStr;
use std::time::Duration;

/// Random characters of a key: 32 of base62, 190 bits.
const BODY: usize = 32;
/// Characters of a key that may be shown: its checksum, so they say little of what is secret.
const ENDING: usize = 6;

/// A project's API key: `svc_live_…` or `svc_test_…` (docs/contract.md, Callers).
///
/// The plaintext exists twice: in the answer that shows it once, and in a request.
#[derive(Clone, Debug)]
pub struct ApiKey {
    mode: KeyMode,
    text: SecretText,
}

/// The text cannot be a key: wrong prefix, length, alphabet or checksum.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an API key")]
pub struct MalformedApiKey;

impl ApiKey {
    /// A fresh key.
    pub fn generate(mode: KeyMode, entropy: &dyn Entropy) -> Self {
        Self { mode, text: SecretText::generate(prefix(mode), BODY, entropy) }
    }

    /// Which world the key opens.
    pub const fn mode(&self) -> KeyMode {
        self.mode
    }

    /// The plaintext, for the one answer that shows it.
    pub fn expose(&self) -> &str {
        self.text.expose()
    }

    /// The form under which stores know the key.
    pub fn digest(&self, vault: &dyn Vault) -> Digest {
        vault.digest(Purpose::ApiKey, &[self.text.expose().as_bytes()])
    }

    /// What a store keeps of the key.
    pub fn record(&self, id: ApiKeyId, vault: &dyn Vault, now: Timestamp) -> KeyRecord {
        let text = self.text.expose();
        KeyRecord {
            id,
            mode: self.mode,
            digest: self.digest(vault),
            ending: text[text.len() - ENDING..].to_owned(),
            created_at: now,
            used: None,
        }
    }
}

impl FromStr for ApiKey {
    type Err = MalformedApiKey;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        [KeyMode::Live, KeyMode::Test]
            .into_iter()
            .find_map(|mode| {
                let text = SecretText::parse(text, prefix(mode), BODY)?;
                Some(Self { mode, text })
            })
            .ok_or(MalformedApiKey)
    }
}

const fn prefix(mode: KeyMode) -> &'static str {
    match mode {
        KeyMode::Live => "svc_live_",
        KeyMode::Test => "svc_test_",
    }
}

/// What a store keeps of an API key: enough to recognise it, not enough to use it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRecord {
    pub id: ApiKeyId,
    pub mode: KeyMode,
    /// Keyed digest of the plaintext.
    pub digest: Digest,
    /// Its last characters, so that a person can tell two keys apart.
    pub ending: String,
    pub created_at: Timestamp,
    /// Its last use, to the minute; `None` before the first.
    pub used: Option<Used>,
}

/// When a key was used, and from where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Used {
    /// When, to the minute.
    pub at: Timestamp,
    /// The address that called; of a request through a proxy, the proxy's.
    pub from: Option<IpAddr>,
}

/// That a key was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyUse {
    pub key: ApiKeyId,
    pub used: Used,
}

impl KeyUse {
    /// How far apart two notes of one key's use are at least.
    pub const NOTED_EVERY: Duration = Duration::from_secs(60);
}
