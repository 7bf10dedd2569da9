//! JSON views of each thing, shared by the admin API and by `--json` on the command line.

mod alert;
mod audit;
mod closing;
mod hook;
mod key;
mod ledger;
mod operator;
mod page;
mod project;
mod request;
pub(crate) mod setting;
mod signing_key;
mod text;
mod token;
mod wallet;
mod webhook;
mod webhook_call;

pub use alert::Alert;
pub use audit::AuditLine;
pub use closing::{ClosedEntries, ClosedMonth, MonthToClose};
pub use hook::{AddedHook, Hook, HookSecret, HookView, RemovedHook};
pub use key::{Key, NewKey};
pub use ledger::{BegunProof, LedgerProof, LedgerProofs, RunningProof, WalletEntry};
pub use operator::{Access, InvitedOperator, Operator, RemovedOperator};
pub use page::Page;
pub use project::{CreatedProject, ProjectSettings, ProjectSummary, UnlockedPhone};
pub use request::Request;
pub use signing_key::SigningKey;
pub(crate) use text::id;
pub use text::instant;
pub use token::{MadeToken, RevokedToken, Token};
pub use wallet::{MovedWallet, Wallet, WalletProof};
pub use webhook::{AddedWebhook, EnabledWebhook, RemovedWebhook, Webhook, WebhookSecret};
pub use webhook_call::{LoggedWebhookCall, ResentEvent, WebhookCall};
