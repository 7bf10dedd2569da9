//! How other login systems ask for their codes to be delivered, one file each.

#![warn(missing_docs)]

mod logto;
mod object;
mod phone;
mod standard_webhooks;
mod supabase;

pub use logto::Logto;
pub use supabase::Supabase;

use dwar_otp::HookFormat;
use dwar_project::HookKind;

/// The format of each system that may call.
pub fn format_of(kind: HookKind) -> &'static dyn HookFormat {
    match kind {
        HookKind::Supabase => &Supabase,
        HookKind::Logto => &Logto,
    }
}
