use crate::{Balance, Paise};
use dwar_kernel::{CLOCK_TOLERANCE, ProjectId, Timestamp};
use std::time::Duration;

/// The sum of a ledger's entries from the first up to a position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LedgerSum {
    pub entries: u64,
    /// Position of the last entry in the sum, counted from 1.
    pub position: u64,
    /// Sums of the changes of the balance and of the held part.
    pub sums: Balance,
    /// Number of entries of the whole ledger that were closed by then. Partial sums can be added, and a proof
    /// can continue another, only if this number is equal: closing moves amounts from one position to
    /// another.
    pub closed: u64,
}

/// A stored wallet and its open holds, all at one instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WalletSnapshot {
    pub position: u64,
    pub balance: Balance,
    pub open: Paise,
    /// Number of entries that were closed by then.
    pub closed: u64,
}

/// Result of a proof of one project's ledger. It stays on record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerProof {
    pub project: ProjectId,
    pub since: Timestamp,
    pub at: Timestamp,
    /// Who started the proof, as shown to people.
    pub by: String,
    pub sum: LedgerSum,
    /// The stored wallet when the proof began.
    pub wallet: WalletSnapshot,
}

/// A proof that is under way, with its last sign of life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProofRun {
    pub project: ProjectId,
    pub since: Timestamp,
    /// Who started the proof, as in the audit log.
    pub by: String,
    pub seen_at: Timestamp,
}

/// Result of asking for a proof: begun, or already running.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProofStart {
    Begun(ProofRun),
    Running(ProofRun),
}

impl LedgerSum {
    /// Adds the sum of the entries that follow.
    #[must_use]
    pub fn and(self, next: Self) -> Self {
        let add = |one: Paise, other: Paise| Paise(one.0.saturating_add(other.0));
        Self {
            entries: self.entries.saturating_add(next.entries),
            position: self.position.max(next.position),
            sums: Balance {
                balance: add(self.sums.balance, next.sums.balance),
                held: add(self.sums.held, next.sums.held),
            },
            closed: self.closed.max(next.closed),
        }
    }
}

impl LedgerProof {
    /// Number of proofs of a project that are kept, besides the last sound one.
    pub const KEPT: u32 = 20;

    /// Whether no entry is missing, the entries add up to the stored wallet, and the open holds to its held
    /// part.
    pub fn is_sound(&self) -> bool {
        self.sum.entries == self.wallet.position
            && self.sum.position == self.wallet.position
            && self.sum.sums == self.wallet.balance
            && self.wallet.open == self.wallet.balance.held
    }
}

impl ProofRun {
    /// A run without a sign of life for this long is dead, and another may begin.
    pub const LEASE: Duration = Duration::from_secs(60);

    /// A run that begins at `now` and is alive for [`ProofRun::LEASE`].
    pub const fn begin(project: ProjectId, by: String, now: Timestamp) -> Self {
        Self { project, since: now, by, seen_at: now }
    }

    /// Whether the run is still alive. A last sign of life in the future was written by a clock that was set
    /// back since; such a run counts as dead, and writes a new sign of life if it is not.
    pub fn is_alive(&self, now: Timestamp) -> bool {
        now < self.seen_at + Self::LEASE && self.seen_at <= now + CLOCK_TOLERANCE
    }

    /// Result of asking for the run `next` while `present` is on record.
    pub fn or_running(present: Option<Self>, next: Self) -> ProofStart {
        match present.filter(|run| run.is_alive(next.since)) {
            Some(run) => ProofStart::Running(run),
            None => ProofStart::Begun(next),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sound() -> LedgerProof {
        let balance = Balance { balance: Paise(70), held: Paise(30) };
        LedgerProof {
            project: "00000000-0000-7000-8000-000000000001".parse().unwrap(),
            since: Timestamp::UNIX_EPOCH,
            at: Timestamp::UNIX_EPOCH,
            by: "Asha".to_owned(),
            sum: LedgerSum { entries: 3, position: 3, sums: balance, closed: 0 },
            wallet: WalletSnapshot { position: 3, balance, open: Paise(30), closed: 0 },
        }
    }

    #[test]
    fn a_proof_is_sound_where_everything_agrees() {
        assert!(sound().is_sound());
        let wrong: [fn(&mut LedgerProof); 6] = [
            |it| it.sum.entries = 2,
            |it| it.sum.position = 2,
            |it| it.sum.sums.balance = Paise(71),
            |it| it.sum.sums.held = Paise(29),
            |it| it.wallet.open = Paise(29),
            |it| it.wallet.position = 4,
        ];
        for spoil in wrong {
            let mut proof = sound();
            spoil(&mut proof);
            assert!(!proof.is_sound(), "{proof:?}");
        }
    }

    #[test]
    fn a_run_is_dead_at_the_exact_end_of_its_lease() {
        let start = Timestamp::UNIX_EPOCH;
        let project = sound().project;
        let run = |by: &str, now| ProofRun::begin(project, by.to_owned(), now);
        let (first, end) = (run("Asha", start), start + ProofRun::LEASE);
        let late = run("Ravi", end - Duration::from_millis(1));
        let running = ProofStart::Running(first.clone());
        assert_eq!(ProofRun::or_running(Some(first.clone()), late), running);
        let next = run("Ravi", end);
        assert_eq!(ProofRun::or_running(Some(first), next.clone()), ProofStart::Begun(next));
    }

    #[test]
    fn a_run_that_was_seen_by_a_clock_far_ahead_is_dead() {
        let now = Timestamp::UNIX_EPOCH;
        let seen = |ahead| ProofRun::begin(sound().project, "Asha".to_owned(), now + ahead);
        assert!(seen(CLOCK_TOLERANCE).is_alive(now));
        assert!(!seen(CLOCK_TOLERANCE + Duration::from_millis(1)).is_alive(now));
    }
}
