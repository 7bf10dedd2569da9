//! How other login systems ask for their codes to be delivered, one file each.
//!
//! A format reads the head and the body of a call and depends on neither actix nor the API.

mod logto;
mod object;
mod phone;
mod standard_webhooks;
mod supabase;

use dwar_otp::HookFormat;
use dwar_project::HookKind;

/// The format of each kind of calling system.
pub fn format_of(kind: HookKind) -> &'static dyn HookFormat {
    match kind {
        HookKind::Supabase => &supabase::Supabase,
        HookKind::Logto => &logto::Logto,
    }
}
