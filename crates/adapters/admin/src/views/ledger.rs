use super::closing::ClosedEntries;
use super::page::Page;
use super::text::{id, instant};
use dwar_console::LedgerProofState;
use dwar_wallet::{ProofRun, ProofStart, StatementLine};
use serde::Serialize;
use utoipa::ToSchema;

/// One ledger entry.
#[derive(Serialize, ToSchema)]
pub struct WalletEntry {
    /// Position in the ledger, from 1.
    position: u64,
    #[schema(format = "uuid")]
    entry_id: String,
    /// `credit`, `hold`, `capture`, `release`, `refund`, `adjustment` or `closed`.
    kind: String,
    /// Change of the balance.
    amount_paise: i64,
    /// Change of the money on hold.
    held_paise: i64,
    balance_after_paise: i64,
    held_after_paise: i64,
    reference: String,
    /// Whether it is for a relayed code.
    relayed: bool,
    #[schema(format = "date-time")]
    at: String,
    /// Summary that a `closed` entry stands for. The reference of such an entry is the month.
    closed: Option<ClosedEntries>,
}

/// The last and the running check of a ledger's sums.
#[derive(Serialize, ToSchema)]
pub struct LedgerProofs {
    last: Option<LedgerProof>,
    running: Option<RunningProof>,
}

/// Result of a check of a ledger's sums.
#[derive(Serialize, ToSchema)]
pub struct LedgerProof {
    /// Whether entries, wallet and open holds agree; `false` is a fault.
    sound: bool,
    #[schema(format = "date-time")]
    began_at: String,
    #[schema(format = "date-time")]
    at: String,
    /// Who started it.
    by: String,
    /// Number of entries added up.
    entries: u64,
    /// Number of entries expected.
    entries_expected: u64,
    /// Sum of the entries.
    balance_paise: i64,
    /// Balance stored in the wallet.
    balance_expected_paise: i64,
    held_paise: i64,
    held_expected_paise: i64,
    /// Sum of the open holds.
    open_holds_paise: i64,
}

/// A check that is running.
#[derive(Serialize, ToSchema)]
pub struct RunningProof {
    #[schema(format = "date-time")]
    began_at: String,
    /// Who started it.
    by: String,
}

/// A check that was just started, or was running already.
#[derive(Serialize, ToSchema)]
pub struct BegunProof {
    /// Whether this request started it; `false` if another had.
    begun: bool,
    running: RunningProof,
}

impl WalletEntry {
    /// Makes a page of the first `limit` lines. The caller reads one more, which shows whether
    /// there are more.
    pub fn page(lines: &[StatementLine], limit: u32) -> Page<Self> {
        let cursor = |line: &StatementLine| format!("{}_{}", instant(line.entry.at), line.position);
        Page::cut(lines, limit, cursor, |line| line.into())
    }
}

impl From<&StatementLine> for WalletEntry {
    fn from(StatementLine { position, entry, closing }: &StatementLine) -> Self {
        Self {
            position: *position,
            entry_id: id(entry.id),
            kind: id(entry.kind),
            amount_paise: entry.amount.0,
            held_paise: entry.held.0,
            balance_after_paise: entry.after.balance.0,
            held_after_paise: entry.after.held.0,
            reference: id(&entry.reference),
            relayed: entry.relayed,
            at: instant(entry.at),
            closed: closing.as_ref().map(Into::into),
        }
    }
}

impl From<&LedgerProofState> for LedgerProofs {
    fn from(proven: &LedgerProofState) -> Self {
        Self {
            last: proven.last.as_ref().map(Into::into),
            running: proven.running.as_ref().map(Into::into),
        }
    }
}

impl From<&dwar_wallet::LedgerProof> for LedgerProof {
    fn from(proof: &dwar_wallet::LedgerProof) -> Self {
        let (sum, wallet) = (&proof.sum, &proof.wallet);
        Self {
            sound: proof.is_sound(),
            began_at: instant(proof.since),
            at: instant(proof.at),
            by: proof.by.clone(),
            entries: sum.entries,
            entries_expected: wallet.position,
            balance_paise: sum.sums.balance.0,
            balance_expected_paise: wallet.balance.balance.0,
            held_paise: sum.sums.held.0,
            held_expected_paise: wallet.balance.held.0,
            open_holds_paise: wallet.open.0,
        }
    }
}

impl From<&ProofRun> for RunningProof {
    fn from(run: &ProofRun) -> Self {
        Self { began_at: instant(run.since), by: run.by.clone() }
    }
}

impl From<&ProofStart> for BegunProof {
    fn from(start: &ProofStart) -> Self {
        let (ProofStart::Begun(run) | ProofStart::Running(run)) = start;
        Self { begun: matches!(start, ProofStart::Begun(_)), running: run.into() }
    }
}
