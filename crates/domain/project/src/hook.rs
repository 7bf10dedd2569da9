use crate::Caller;
use dwar_kernel::{HookId, KeptSecret, ProjectMode, Timestamp, WebhookSecret, words};
use std::str::FromStr;
use std::time::Duration;

words! {
    /// Which system calls a hook, and so in which format.
    HookKind {
        /// Supabase Auth, its Send SMS hook.
        Supabase = "supabase",
        /// Logto, its HTTP SMS connector.
        Logto = "logto",
    }
}

/// Not the name of a [`HookKind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("supabase or logto")]
pub struct UnknownHookKind;

impl FromStr for HookKind {
    type Err = UnknownHookKind;

    fn from_str(text: &str) -> Result<Self, UnknownHookKind> {
        Self::from_word(text).ok_or(UnknownHookKind)
    }
}

impl HookKind {
    /// How long the codes of its second factor work, unless a hook says otherwise; `None` if it has none.
    ///
    /// Supabase: `GOTRUE_MFA_CHALLENGE_EXPIRY_DURATION`, 300 seconds by default, apart from that of its other codes.
    pub const fn mfa_lifetime(self) -> Option<Duration> {
        match self {
            Self::Supabase => Some(Duration::from_secs(300)),
            Self::Logto => None,
        }
    }

    /// A secret as the other system wants it to be entered.
    pub fn shown(self, secret: &WebhookSecret) -> String {
        match self {
            Self::Supabase => format!("v1,{}", secret.expose()),
            Self::Logto => format!("Bearer {}", secret.expose()),
        }
    }
}

/// An address at which another system asks for its own codes to be delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hook {
    /// Its id, the last part of the address.
    pub id: HookId,
    pub world: ProjectMode,
    pub kind: HookKind,
    /// How long the other system's codes work; none of its calls says it.
    pub lifetime: Duration,
    /// How long those of its second factor work; `None` if it has none.
    pub mfa_lifetime: Option<Duration>,
    pub secret: KeptSecret,
    pub created_at: Timestamp,
}

impl Hook {
    /// In one project.
    pub const MOST: usize = 20;
}

/// What is to change of a hook; `None` stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HookChange {
    pub lifetime: Option<Duration>,
    pub mfa_lifetime: Option<Duration>,
}

impl HookChange {
    /// Changes a hook.
    pub fn apply(self, hook: &mut Hook) {
        hook.lifetime = self.lifetime.unwrap_or(hook.lifetime);
        hook.mfa_lifetime = self.mfa_lifetime.or(hook.mfa_lifetime);
    }
}

/// A hook, and whom it speaks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookCaller {
    pub hook: Hook,
    /// The project, by the present key of the hook's mode.
    pub caller: Caller,
}
