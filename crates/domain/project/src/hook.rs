use crate::Caller;
use dwar_kernel::{HookId, KeptSecret, ProjectMode, Timestamp, WebhookSecret, words};
use std::str::FromStr;
use std::time::Duration;

words! {
    /// System that calls a hook, which decides the format.
    HookKind {
        /// Supabase Auth, its Send SMS hook.
        Supabase = "supabase",
        /// Logto, its HTTP SMS connector.
        Logto = "logto",
    }
}

/// Parse error: the text is neither `supabase` nor `logto`.
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
    /// Default lifetime of second-factor codes; `None` if the system has none.
    ///
    /// Supabase: `GOTRUE_MFA_CHALLENGE_EXPIRY_DURATION`, 300 seconds by default, separate from that of its
    /// other codes.
    pub const fn mfa_lifetime(self) -> Option<Duration> {
        match self {
            Self::Supabase => Some(Duration::from_secs(300)),
            Self::Logto => None,
        }
    }

    /// The secret in the form that the other system expects in its settings.
    pub fn shown(self, secret: &WebhookSecret) -> String {
        match self {
            Self::Supabase => format!("v1,{}", secret.expose()),
            Self::Logto => format!("Bearer {}", secret.expose()),
        }
    }
}

/// An address at which another login system asks for its codes to be delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hook {
    /// Also the last part of the hook's address.
    pub id: HookId,
    pub project_mode: ProjectMode,
    pub kind: HookKind,
    /// Lifetime of the other system's codes, which its calls do not mention.
    pub lifetime: Duration,
    /// Lifetime of its second-factor codes; `None` if it has none.
    pub mfa_lifetime: Option<Duration>,
    pub secret: KeptSecret,
    pub created_at: Timestamp,
}

impl Hook {
    /// Most hooks of one project; further ones are refused.
    pub const MOST: usize = 20;
}

/// Changes to a hook; `None` leaves a value unchanged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HookChange {
    pub lifetime: Option<Duration>,
    pub mfa_lifetime: Option<Duration>,
}

impl HookChange {
    /// Applies the changes to `hook`; unset values stay as they are.
    pub fn apply(self, hook: &mut Hook) {
        hook.lifetime = self.lifetime.unwrap_or(hook.lifetime);
        hook.mfa_lifetime = self.mfa_lifetime.or(hook.mfa_lifetime);
    }
}

/// A hook with the project and mode that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookCaller {
    pub hook: Hook,
    /// Project and mode of the hook, with the current API key of that mode.
    pub caller: Caller,
}
