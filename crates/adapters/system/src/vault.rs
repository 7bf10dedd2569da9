use crate::MasterKey;
use aes_gcm::aead::{Aead, KeyInit, Payload};
use aes_gcm::{Aes256Gcm, Nonce};
use dwar_kernel::{Digest, Entropy, Purpose, Sealed, Unsealable, Vault};
use hmac::{Hmac, Mac};
use sha2::Sha256;
use std::sync::Arc;
use zeroize::Zeroizing;

const VERSION: u8 = 1;
/// Length of the version and the id of the master key.
const HEADER: usize = 1 + 4;
const NONCE: usize = 12;

/// Seals with AES-256-GCM and digests with HMAC-SHA-256, under sub-keys of master keys.
///
/// A sealed value is `version (1) | master key id (4) | nonce (12) | ciphertext | tag (16)`. Its
/// sub-key is derived from master key, purpose and context, so the bound of 2^32 random nonces
/// (NIST SP 800-38D section 8.3) holds per row and not for the whole database. Header and context
/// are authenticated.
///
/// # Rotation
/// A new master key seals from then on. Values that older keys sealed can be opened while those
/// keys are given. Digests cannot be renewed, because they must be found again: they depend on the
/// *lookup* key, which has to stay the same as long as the data exists. See
/// [`RustCryptoVault::new`].
pub struct RustCryptoVault {
    masters: Vec<([u8; 4], MasterKey)>,
    /// One per [`Purpose::ALL`], keyed in advance: half of a digest's cost would be its key.
    macs: [Hmac<Sha256>; Purpose::ALL.len()],
    entropy: Arc<dyn Entropy>,
}

impl RustCryptoVault {
    /// Makes a vault that seals with `current` and opens values that any of the `older` keys,
    /// newest first, has sealed.
    ///
    /// `lookup` is the key of all digests: API keys, refresh tokens, idempotency keys, phone
    /// indexes. Without one the oldest master key is used, which keeps digests stable when a newer
    /// master key is added. Before the oldest key is removed from the list, pass it as `lookup`:
    /// with any other key no stored digest can be found again.
    pub fn new(
        current: MasterKey,
        older: impl IntoIterator<Item = MasterKey>,
        lookup: Option<MasterKey>,
        entropy: Arc<dyn Entropy>,
    ) -> Self {
        let older: Vec<_> = older.into_iter().collect();
        let lookup = lookup.unwrap_or_else(|| older.last().unwrap_or(&current).clone());
        let masters = std::iter::once(current).chain(older).map(|key| (key.id(), key)).collect();
        Self { masters, macs: Purpose::ALL.map(|purpose| mac(&lookup, purpose)), entropy }
    }
}

impl Vault for RustCryptoVault {
    #[expect(clippy::expect_used, reason = "GCM refuses only texts of 64 GiB and more")]
    fn seal(&self, purpose: Purpose, context: &[u8], plain: &[u8]) -> Sealed {
        let (id, master) = &self.masters[0];
        let mut nonce = [0; NONCE];
        self.entropy.fill(&mut nonce);
        let mut sealed = vec![VERSION];
        sealed.extend_from_slice(id);
        let aad = [&sealed, context].concat();
        let secret = cipher(master, purpose, context)
            .encrypt(&Nonce::from(nonce), Payload { msg: plain, aad: &aad })
            .expect("shorter than 64 GiB");
        sealed.extend_from_slice(&nonce);
        sealed.extend_from_slice(&secret);
        Sealed(sealed)
    }

    fn open(
        &self,
        purpose: Purpose,
        context: &[u8],
        sealed: &Sealed,
    ) -> Result<Vec<u8>, Unsealable> {
        let (header, rest) = sealed.0.split_at_checked(HEADER).ok_or(Unsealable)?;
        let (nonce, secret) = rest.split_at_checked(NONCE).ok_or(Unsealable)?;
        let nonce: [u8; NONCE] = nonce.try_into().map_err(|_| Unsealable)?;
        let aad = [header, context].concat();
        // Two master keys may share an id by chance, so all with this id are tried.
        let named = |(id, _): &&([u8; 4], _)| header[0] == VERSION && header[1..] == *id;
        let decrypt = |(_, master): &(_, MasterKey)| {
            let payload = Payload { msg: secret, aad: &aad };
            cipher(master, purpose, context).decrypt(&Nonce::from(nonce), payload).ok()
        };
        self.masters.iter().filter(named).find_map(decrypt).ok_or(Unsealable)
    }

    fn digest(&self, purpose: Purpose, parts: &[&[u8]]) -> Digest {
        let mut mac = self.macs[purpose as usize].clone();
        for part in parts {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        Digest(mac.finalize().into_bytes().into())
    }
}

fn mac(lookup: &MasterKey, purpose: Purpose) -> Hmac<Sha256> {
    let key = lookup.derive("dwar digest 1", &[label(purpose).as_bytes()]);
    // RFC 2104 pads a key shorter than the block with zeros; doing that here cannot fail.
    let mut block = Zeroizing::new([0; 64]);
    block[..key.len()].copy_from_slice(key.as_slice());
    <Hmac<Sha256> as KeyInit>::new((&*block).into())
}

fn cipher(master: &MasterKey, purpose: Purpose, context: &[u8]) -> Aes256Gcm {
    let key = master.derive("dwar seal 1", &[label(purpose).as_bytes(), b"\0", context]);
    Aes256Gcm::new((&*key).into())
}

/// Part of every derived key: changing a word makes stored data unreadable.
const fn label(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::ApiKey => "api key",
        Purpose::RefreshToken => "refresh token",
        Purpose::RefreshTokenMac => "refresh token mac",
        Purpose::Idempotency => "idempotency",
        Purpose::Phone => "phone",
        Purpose::Code => "code",
        Purpose::Answer => "answer",
        Purpose::SandboxMessage => "sandbox message",
        Purpose::SigningKey => "signing key",
        Purpose::WebhookSecret => "webhook secret",
        Purpose::HookSecret => "hook secret",
        Purpose::ProviderReference => "provider reference",
        Purpose::AccessToken => "access token",
        Purpose::Device => "device",
        Purpose::OperatorLink => "operator link",
        Purpose::OperatorSession => "operator session",
        Purpose::OperatorForm => "operator form",
        Purpose::OperatorName => "operator name",
        Purpose::OperatorOrigin => "operator origin",
        Purpose::OperatorBrowser => "operator browser",
        Purpose::OperatorPending => "operator pending",
        Purpose::OperatorTotp => "operator totp",
        Purpose::AdminToken => "admin token",
        Purpose::Passkey => "passkey",
        Purpose::PasskeyChallenge => "passkey challenge",
        Purpose::GuardSubject => "guard subject",
    }
}

#[cfg(test)]
#[path = "vault_tests.rs"]
mod tests;
