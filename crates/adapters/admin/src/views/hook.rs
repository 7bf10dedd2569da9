use super::text::{id, instant};
use dwar_kernel::{HookId, Timestamp, WebhookSecret};
use dwar_project::Hook as Kept;
use serde::Serialize;
use utoipa::ToSchema;

/// An address that another login system calls to have its own codes delivered.
#[derive(Serialize, ToSchema)]
pub struct Hook {
    #[schema(format = "uuid")]
    hook_id: String,
    /// System that calls it, which decides the format: `supabase` or `logto`.
    kind: String,
    /// `live` or `test`.
    mode: String,
    /// For how many seconds codes of the other system are valid.
    #[schema(minimum = 60, maximum = 3600)]
    expires_in: u64,
    /// For how many seconds codes of its second factor are valid; null if the system has no second
    /// factor.
    #[schema(minimum = 60, maximum = 3600)]
    mfa_expires_in: Option<u64>,
    /// Path on the API that the other system calls.
    #[schema(example = "/hooks/0199a000-0000-7000-8000-000000000000")]
    path: String,
    /// Full URL of the hook; null unless `gateways.public_url` is set.
    #[schema(format = "uri")]
    url: Option<String>,
    /// Until when the previous secret is also accepted; null if there is none.
    #[schema(format = "date-time")]
    previous_secret_until: Option<String>,
    #[schema(format = "date-time")]
    created_at: String,
}

/// A new hook with its secret.
#[derive(Serialize, ToSchema)]
pub struct AddedHook {
    hook: Hook,
    /// In the form in which the other system expects it. Shown only once.
    secret: String,
}

/// A new secret of a hook.
#[derive(Serialize, ToSchema)]
pub struct HookSecret {
    #[schema(format = "uuid")]
    hook_id: String,
    /// In the form in which the other system expects it. Shown only once.
    secret: String,
}

/// A hook that was removed.
#[derive(Serialize, ToSchema)]
pub struct RemovedHook {
    #[schema(format = "uuid")]
    hook_id: String,
    removed: bool,
}

/// Configuration that a view needs to show the URL of a hook.
#[derive(Clone, Copy, Debug)]
pub struct HookView<'a> {
    pub now: Timestamp,
    /// Where other systems reach the API, if configured; without a slash at the end.
    pub public_url: Option<&'a str>,
}

impl HookView<'_> {
    /// The address that the other system calls: complete if the public URL is known, otherwise only
    /// the path.
    pub fn address(self, hook: &Kept) -> String {
        format!("{}{}", self.public_url.unwrap_or_default(), path(hook))
    }

    /// Makes the view of a hook, without its secret.
    pub fn of(self, hook: &Kept) -> Hook {
        Hook {
            hook_id: id(hook.id),
            kind: id(hook.kind),
            mode: id(hook.project_mode.mode),
            expires_in: hook.lifetime.as_secs(),
            mfa_expires_in: hook.mfa_lifetime.map(|lifetime| lifetime.as_secs()),
            path: path(hook),
            url: self.public_url.map(|_| self.address(hook)),
            previous_secret_until: hook.secret.previous_until(self.now).map(instant),
            created_at: instant(hook.created_at),
        }
    }

    /// Makes the view of a new hook with its secret.
    pub fn added(self, hook: &Kept, secret: &WebhookSecret) -> AddedHook {
        AddedHook { hook: self.of(hook), secret: hook.kind.shown(secret) }
    }
}

fn path(hook: &Kept) -> String {
    format!("/hooks/{}", hook.id)
}

impl HookSecret {
    /// Makes the view of a hook's new secret.
    pub fn new(hook: &Kept, secret: &WebhookSecret) -> Self {
        Self { hook_id: id(hook.id), secret: hook.kind.shown(secret) }
    }
}

impl From<HookId> for RemovedHook {
    fn from(hook: HookId) -> Self {
        Self { hook_id: id(hook), removed: true }
    }
}
