use dwar_kernel::{ApiKeyId, Digest, Entropy, KeyMode, Purpose, SecretText, Timestamp, Vault};
use std::net::IpAddr;
use std::str::FromStr;
use std::time::Duration;

/// Random base62 characters of a key: 190 bits.
const BODY: usize = 32;
/// Characters of a key that may be shown. They are its checksum, so they reveal little of the secret.
const ENDING: usize = 6;

/// A project's API key: `svc_live_…` or `svc_test_…` (docs/contract.md, Callers).
///
/// The plaintext appears only in the answer that shows it once, and in requests.
#[derive(Clone, Debug)]
pub struct ApiKey {
    mode: KeyMode,
    text: SecretText,
}

/// Parse error: the text has a wrong prefix, length, alphabet or checksum.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an API key")]
pub struct MalformedApiKey;

impl ApiKey {
    /// Makes a key of 32 random characters for `mode`.
    pub fn generate(mode: KeyMode, entropy: &dyn Entropy) -> Self {
        Self { mode, text: SecretText::generate(prefix(mode), BODY, entropy) }
    }

    /// The mode of the project that the key is for.
    pub const fn mode(&self) -> KeyMode {
        self.mode
    }

    /// The key in clear, for the one answer that shows it.
    pub fn expose(&self) -> &str {
        self.text.expose()
    }

    /// Stored form of the key, by which stores look it up.
    pub fn digest(&self, vault: &dyn Vault) -> Digest {
        vault.digest(Purpose::ApiKey, &[self.text.expose().as_bytes()])
    }

    /// The record that a store keeps of a new key.
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

/// Stored record of an API key: enough to recognise the key, not enough to use it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRecord {
    pub id: ApiKeyId,
    pub mode: KeyMode,
    pub digest: Digest,
    /// The last characters, by which a person can tell keys apart.
    pub ending: String,
    pub created_at: Timestamp,
    /// The last use, to the minute; `None` before the first use.
    pub used: Option<KeyUsage>,
}

/// When and from which address a key was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyUsage {
    /// To the minute.
    pub at: Timestamp,
    /// Address of the client; of the proxy if a request came through one.
    pub from: Option<IpAddr>,
}

/// One use of a key, to be recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyUse {
    pub key: ApiKeyId,
    pub used: KeyUsage,
}

impl KeyUse {
    /// Least time between two recorded uses of one key.
    pub const NOTED_EVERY: Duration = Duration::from_secs(60);
}
