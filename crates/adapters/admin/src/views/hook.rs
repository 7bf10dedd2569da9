use super::text::{id, instant};
use dwar_kernel::{HookId, WebhookSecret};
use dwar_project::Hook as Kept;
use serde::Serialize;
use utoipa::ToSchema;

/// An address at which another login system asks for its own codes to be delivered.
#[derive(Serialize, ToSchema)]
pub struct Hook {
    #[schema(format = "uuid")]
    hook_id: String,
    /// `supabase` or `logto`: which system calls it, and so in which format.
    kind: String,
    /// `live` or `test`.
    mode: String,
    /// For how many seconds the codes of the other system work.
    #[schema(minimum = 60, maximum = 3600)]
    expires_in: u64,
    /// Below the address of the API: what the other system calls.
    #[schema(example = "/hooks/0199a000-0000-7000-8000-000000000000")]
    path: String,
    #[schema(format = "date-time")]
    created_at: String,
}

/// A hook that was just made.
#[derive(Serialize, ToSchema)]
pub struct AddedHook {
    hook: Hook,
    /// As the other system wants it to be entered. Shown this once.
    secret: String,
}

/// A secret of a hook that was just made.
#[derive(Serialize, ToSchema)]
pub struct HookSecret {
    #[schema(format = "uuid")]
    hook_id: String,
    /// As the other system wants it to be entered. Shown this once.
    secret: String,
}

/// A hook that was removed.
#[derive(Serialize, ToSchema)]
pub struct RemovedHook {
    #[schema(format = "uuid")]
    hook_id: String,
    removed: bool,
}

impl From<&Kept> for Hook {
    fn from(hook: &Kept) -> Self {
        Self {
            hook_id: id(hook.id),
            kind: id(hook.kind),
            mode: id(hook.world.mode),
            expires_in: hook.lifetime.as_secs(),
            path: format!("/hooks/{}", hook.id),
            created_at: instant(hook.created_at),
        }
    }
}

impl AddedHook {
    /// A hook with its secret.
    pub fn new(hook: &Kept, secret: &WebhookSecret) -> Self {
        Self { hook: hook.into(), secret: hook.kind.shown(secret) }
    }
}

impl HookSecret {
    /// The secret that a hook has from now on.
    pub fn new(hook: &Kept, secret: &WebhookSecret) -> Self {
        Self { hook_id: id(hook.id), secret: hook.kind.shown(secret) }
    }
}

impl From<HookId> for RemovedHook {
    fn from(hook: HookId) -> Self {
        Self { hook_id: id(hook), removed: true }
    }
}
