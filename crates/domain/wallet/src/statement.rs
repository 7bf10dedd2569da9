use crate::{Closed, Closing, EntryKind, LedgerEntry, Reference};
use dwar_kernel::Timestamp;

/// An entry, and its place in its project's ledger, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementLine {
    /// Its place in the ledger, counted from 1.
    pub position: u64,
    pub entry: LedgerEntry,
    /// What an entry of a closed month stands for.
    pub closing: Option<Closing>,
}

/// Which entries of a project are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatementFilter {
    /// Of this kind; `None` is any.
    pub kind: Option<EntryKind>,
    /// From this instant on.
    pub since: Option<Timestamp>,
    /// Before this instant.
    pub until: Option<Timestamp>,
    /// With this reference: the id of an OTP request, or what was given with a credit.
    pub reference: Option<Reference>,
}

/// Where a page of a statement ended; the next begins after it.
///
/// A ledger is in the order in which the wallet moved. Times are taken before the wallet is reached,
/// so those of two concurrent movements may be reversed; position only settles equal times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatementCursor {
    /// The time of the last entry that was given.
    pub at: Timestamp,
    pub position: u64,
}

impl StatementLine {
    /// A closed month as a statement shows it; none while it stands for nothing.
    pub fn of_closing(closing: &Closing) -> Option<Self> {
        let Closed { entries, position, sums, after, at } = closing.closed;
        let entry = LedgerEntry {
            id: closing.id,
            kind: EntryKind::Closed,
            amount: sums.balance,
            held: sums.held,
            after,
            reference: Reference::stored(closing.month.to_string()),
            relayed: false,
            at,
        };
        (entries > 0).then_some(Self { position, entry, closing: Some(*closing) })
    }

    /// Where a page that ends with this line ends.
    pub const fn cursor(&self) -> StatementCursor {
        StatementCursor { at: self.entry.at, position: self.position }
    }

    /// Whether it comes after `cursor`, newest first, equals by position.
    pub fn follows(&self, cursor: StatementCursor) -> bool {
        (self.entry.at, self.position) < (cursor.at, cursor.position)
    }
}

impl StatementFilter {
    /// Whether the entry is wanted.
    pub fn wants(&self, entry: &LedgerEntry) -> bool {
        self.kind.is_none_or(|kind| entry.kind == kind)
            && self.since.is_none_or(|since| entry.at >= since)
            && self.until.is_none_or(|until| entry.at < until)
            && self.reference.as_ref().is_none_or(|reference| entry.reference == *reference)
    }

    /// The kinds that may be among them.
    pub fn kinds(&self) -> &[EntryKind] {
        self.kind.as_ref().map_or(EntryKind::ALL.as_slice(), std::slice::from_ref)
    }

    /// One page out of what was found of each kind: newest first, at most `limit` lines.
    pub fn merge(mut found: Vec<StatementLine>, limit: u32) -> Vec<StatementLine> {
        found.sort_by_key(|line| std::cmp::Reverse((line.entry.at, line.position)));
        found.truncate(limit as usize);
        found
    }
}
