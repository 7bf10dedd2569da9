use dwar_kernel::{Digest, Entropy, Purpose, SecretText, Vault};
use std::str::FromStr;
use subtle::ConstantTimeEq;

/// Random characters of a secret: 32 of base62, 190 bits.
const BODY: usize = 32;

/// The text cannot be such a secret: wrong prefix, length, alphabet or checksum.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a secret of this kind")]
pub struct MalformedSecret;

macro_rules! secrets {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal for $purpose:ident;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name(SecretText);

        impl $name {
            /// A fresh one.
            pub fn generate(entropy: &dyn Entropy) -> Self {
                Self(SecretText::generate($prefix, BODY, entropy))
            }

            /// The plaintext, for its recipient.
            pub fn expose(&self) -> &str {
                self.0.expose()
            }

            /// The form under which stores know it.
            pub fn digest(&self, vault: &dyn Vault) -> Digest {
                vault.digest(Purpose::$purpose, &[self.0.expose().as_bytes()])
            }
        }

        impl FromStr for $name {
            type Err = MalformedSecret;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                SecretText::parse(text, $prefix, BODY).map(Self).ok_or(MalformedSecret)
            }
        }
    )+};
}

secrets! {
    /// What makes a [`Link`](crate::Link) work; it is in the fragment of an address, which browsers
    /// do not send along.
    LinkSecret = "svc_lnk_" for OperatorLink;
    /// What a signed-in browser keeps in its cookie.
    SessionToken = "svc_ops_" for OperatorSession;
    /// The bearer token of the admin API.
    AdminSecret = "svc_adm_" for AdminToken;
}

impl SessionToken {
    /// What each form and each changing request of this session carries: another site cannot know
    /// it, and another session has another one. Hexadecimal.
    pub fn csrf(&self, vault: &dyn Vault) -> String {
        let digest = vault.digest(Purpose::OperatorForm, &[self.0.expose().as_bytes()]);
        base16ct::lower::encode_string(&digest.0)
    }

    /// Whether a request carries it, in constant time.
    pub fn is_csrf(&self, given: &str, vault: &dyn Vault) -> bool {
        self.csrf(vault).as_bytes().ct_eq(given.as_bytes()).into()
    }
}
