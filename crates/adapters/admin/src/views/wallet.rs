use super::text::id;
use dwar_kernel::ProjectId;
use dwar_wallet::{Balance, LedgerAudit, Paise};
use serde::Serialize;
use utoipa::ToSchema;

/// Balance of a project's wallet.
#[derive(Serialize, ToSchema)]
pub struct Wallet {
    #[schema(format = "uuid")]
    project_id: String,
    balance_paise: i64,
    /// Reserved by sends under way.
    held_paise: i64,
    /// Available to new sends.
    available_paise: i64,
}

/// Balance of a wallet after a booking.
#[derive(Serialize, ToSchema)]
pub struct MovedWallet {
    /// Whether the request changed the balance; `false` if the same booking was made before.
    booked: bool,
    /// Change of the balance.
    moved_paise: i64,
    wallet: Wallet,
}

/// Comparison of all wallets with their ledgers.
#[derive(Serialize, ToSchema)]
pub struct WalletProof {
    /// Number of wallets.
    projects: u64,
    /// Sum of all differences; anything but zero is a fault.
    difference_paise: i64,
}

impl Wallet {
    /// Makes the view of a project's balance: total, held and available paise.
    pub fn new(project: ProjectId, balance: &Balance) -> Self {
        Self {
            project_id: id(project),
            balance_paise: balance.balance.0,
            held_paise: balance.held.0,
            available_paise: balance.available().0,
        }
    }
}

impl MovedWallet {
    /// Makes the view of a project's balance after a movement; `moved` is `None` if nothing moved.
    pub fn new(project: ProjectId, moved: Option<Paise>, after: &Balance) -> Self {
        Self {
            booked: moved.is_some(),
            moved_paise: moved.unwrap_or(Paise::ZERO).0,
            wallet: Wallet::new(project, after),
        }
    }
}

impl From<&LedgerAudit> for WalletProof {
    fn from(audit: &LedgerAudit) -> Self {
        Self { projects: audit.projects, difference_paise: audit.difference.0 }
    }
}
