use crate::{Balance, EntryKind, LedgerEntry, Month, Paise, Refunded};
use dwar_kernel::{EntryId, OtpId, ProjectId, Timestamp};
use std::fmt;

/// The entries of a month that can be closed: their number, and the positions of the first and the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closable {
    pub entries: u64,
    pub first: u64,
    pub last: u64,
}

/// SHA-256 of a file; displayed in hexadecimal, as `sha256sum` does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileDigest(pub [u8; 32]);

impl fmt::Display for FileDigest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

/// The one entry that replaces the holds, captures and releases of a month.
///
/// It is recorded once these are exported, and represents none of them at first. Each step then removes some
/// of them and adds them to it, so the sum of the ledger is the same before, between and after the steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closing {
    pub id: EntryId,
    pub project: ProjectId,
    pub month: Month,
    pub exported: Closable,
    pub digest: FileDigest,
    pub closed: Closed,
}

/// The entries of a month that a closed entry represents so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed {
    pub entries: u64,
    /// Position of the last of them, and of the closed entry itself. While there are none: the position
    /// before the first exported entry.
    pub position: u64,
    /// Sums of their effects on the balance and on the held part.
    pub sums: Balance,
    /// The wallet right after the last of them.
    pub after: Balance,
    pub at: Timestamp,
}

impl EntryKind {
    /// The kinds that are removed when their month is closed.
    pub const CLOSABLE: [Self; 3] = [Self::Hold, Self::Capture, Self::Release];

    /// Whether entries of this kind are removed when their month is closed.
    pub fn is_closable(self) -> bool {
        Self::CLOSABLE.contains(&self)
    }
}

impl Closing {
    /// Begins a closing in which no entry is closed yet.
    pub const fn begin(
        id: EntryId,
        (project, month): (ProjectId, Month),
        exported: Closable,
        digest: FileDigest,
    ) -> Self {
        let nothing = Balance { balance: Paise::ZERO, held: Paise::ZERO };
        let closed = Closed {
            entries: 0,
            position: exported.first.saturating_sub(1),
            sums: nothing,
            after: nothing,
            at: month.since(),
        };
        Self { id, project, month, exported, digest, closed }
    }

    /// Whether every exported entry was removed and is represented here.
    pub const fn is_complete(&self) -> bool {
        self.closed.entries >= self.exported.entries
    }

    /// Whether it has to replace this entry of its project: an exported entry that is not closed yet.
    pub fn takes(&self, position: u64, entry: &LedgerEntry) -> bool {
        !self.is_complete()
            && entry.kind.is_closable()
            && self.month.contains(entry.at)
            && (self.exported.first..=self.exported.last).contains(&position)
            && self.closed.position < position
    }

    /// Adds the entry to the closing, if [`Closing::takes`] allows it; the store then has to remove the entry
    /// in the same step.
    pub fn take(&mut self, position: u64, entry: &LedgerEntry) -> bool {
        let takes = self.takes(position, entry);
        if takes {
            let sums = self.closed.sums;
            self.closed = Closed {
                entries: self.closed.entries + 1,
                position,
                sums: Balance {
                    balance: Paise(sums.balance.0.saturating_add(entry.amount.0)),
                    held: Paise(sums.held.0.saturating_add(entry.held.0)),
                },
                after: entry.after,
                at: entry.at,
            };
        }
        takes
    }
}

impl Refunded {
    /// Corrects the result of a refund for a project whose newest closed month ends at `closed_until`: if no
    /// capture was found and the month of the send is closed, the capture may have been closed.
    #[must_use]
    pub fn or_closed(self, send: OtpId, closed_until: Option<Timestamp>) -> Self {
        let is_closed = closed_until.zip(send.made_at()).is_some_and(|(until, at)| at < until);
        if self == Self::NothingCaptured && is_closed { Self::Closed } else { self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reference;
    use std::time::Duration;

    fn month() -> Month {
        "2026-10".parse().unwrap()
    }

    fn line(position: u64, kind: EntryKind, at: Timestamp) -> (u64, LedgerEntry) {
        let id = "01890000-0000-7000-8000-000000000001".parse().unwrap();
        let entry = LedgerEntry {
            id,
            kind,
            amount: Paise(-20),
            held: Paise(-20),
            after: Balance { balance: Paise(80), held: Paise(5) },
            reference: Reference::opening_balance(),
            relayed: false,
            at,
        };
        (position, entry)
    }

    fn closing(entries: u64) -> Closing {
        let id = "01890000-0000-7000-8000-000000000001".parse().unwrap();
        let project = "00000000-0000-7000-8000-000000000001".parse().unwrap();
        let exported = Closable { entries, first: 3, last: 9 };
        Closing::begin(id, (project, month()), exported, FileDigest([7; 32]))
    }

    #[test]
    fn only_exported_entries_are_taken_each_once_in_their_order() {
        let (first, last) = (month().since(), month().until() - Duration::from_millis(1));
        let mut closing = closing(2);
        let refused = [
            line(2, EntryKind::Hold, first),
            line(10, EntryKind::Hold, first),
            line(3, EntryKind::Credit, first),
            line(3, EntryKind::Refund, first),
            line(3, EntryKind::Adjustment, first),
            line(3, EntryKind::Closed, first),
            line(3, EntryKind::Hold, first - Duration::from_millis(1)),
            line(3, EntryKind::Hold, month().until()),
        ];
        let take = |closing: &mut Closing, (position, entry): (u64, LedgerEntry)| {
            closing.take(position, &entry)
        };
        for line in refused {
            let before = closing;
            assert!(!take(&mut closing, line.clone()), "{line:?}");
            assert_eq!(closing, before);
        }
        assert!(take(&mut closing, line(3, EntryKind::Capture, first)));
        assert!(!take(&mut closing, line(3, EntryKind::Capture, first)), "it was taken before");
        assert!(!closing.is_complete());
        assert!(take(&mut closing, line(9, EntryKind::Release, last)));
        assert!(closing.is_complete());
        assert!(!take(&mut closing, line(8, EntryKind::Hold, last)));
        let Closed { position, sums, at, .. } = closing.closed;
        assert_eq!((position, sums.balance, sums.held, at), (9, Paise(-40), Paise(-40), last));
    }

    #[test]
    fn whether_a_send_of_a_closed_month_was_charged_is_not_known() {
        let send: OtpId = "0192f000-0000-7000-8000-000000000001".parse().unwrap();
        let at = send.made_at().unwrap();
        let (later, nothing) = (at + Duration::from_millis(1), Refunded::NothingCaptured);
        assert_eq!(nothing.or_closed(send, Some(later)), Refunded::Closed);
        assert_eq!(nothing.or_closed(send, Some(at)), nothing);
        assert_eq!(nothing.or_closed(send, None), nothing);
        assert_eq!(Refunded::Already.or_closed(send, Some(later)), Refunded::Already);
    }
}
