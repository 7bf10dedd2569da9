use dwar_kernel::{Digest, Entropy, Purpose, SecretText, Vault};
use std::str::FromStr;
use subtle::ConstantTimeEq;

/// Random base62 characters of a secret: 190 bits.
const BODY: usize = 32;

/// Parse error: the text has a wrong prefix, length, alphabet or checksum.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a secret of this kind")]
pub struct MalformedOperatorSecret;

macro_rules! secrets {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal for $purpose:ident;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name(SecretText);

        impl $name {
            /// Makes a secret of 32 random characters.
            pub fn generate(entropy: &dyn Entropy) -> Self {
                Self(SecretText::generate($prefix, BODY, entropy))
            }

            /// The secret in clear, which only its recipient may get.
            pub fn expose(&self) -> &str {
                self.0.expose()
            }

            /// Stored form, by which stores look it up.
            pub fn digest(&self, vault: &dyn Vault) -> Digest {
                vault.digest(Purpose::$purpose, &[self.0.expose().as_bytes()])
            }
        }

        impl FromStr for $name {
            type Err = MalformedOperatorSecret;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                SecretText::parse(text, $prefix, BODY).map(Self).ok_or(MalformedOperatorSecret)
            }
        }
    )+};
}

secrets! {
    /// Secret of a [`OneTimeLink`](crate::OneTimeLink). It is in the fragment of the address, which browsers do not send to
    /// servers.
    LinkSecret = "svc_lnk_" for OperatorLink;
    /// Session cookie of a signed-in browser.
    SessionToken = "svc_ops_" for OperatorSession;
    /// The bearer token of the admin API.
    AdminSecret = "svc_adm_" for AdminToken;
}

impl SessionToken {
    /// CSRF token in each form and each changing request of this session, in hexadecimal: another site cannot
    /// know it, and it differs between sessions.
    pub fn csrf(&self, vault: &dyn Vault) -> String {
        let digest = vault.digest(Purpose::OperatorForm, &[self.0.expose().as_bytes()]);
        base16ct::lower::encode_string(&digest.0)
    }

    /// Whether `given` is the CSRF token of this session, compared in constant time.
    pub fn is_csrf(&self, given: &str, vault: &dyn Vault) -> bool {
        self.csrf(vault).as_bytes().ct_eq(given.as_bytes()).into()
    }
}
