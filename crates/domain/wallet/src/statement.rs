use crate::{Closed, Closing, EntryKind, LedgerEntry, Reference};
use dwar_kernel::Timestamp;
use std::collections::HashMap;

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
    pub since: Option<Timestamp>,
    /// Before this instant.
    pub until: Option<Timestamp>,
    /// With this reference: the id of an OTP request, or what was given with a credit.
    pub reference: Option<Reference>,
}

/// What a statement for people shows on one line: all that one send moved until its end, or any other entry.
///
/// A send is shown by its charge; if it was not charged, by the end of its hold; until then by its hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupedLine {
    pub line: StatementLine,
    /// The hold, capture and release of the send, in this order, as far as they are on record.
    pub steps: Vec<LedgerEntry>,
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

impl GroupedLine {
    /// The lines in their order without those that another one of their send stands for; `steps` are the entries of
    /// these sends.
    pub fn group(lines: Vec<StatementLine>, steps: Vec<LedgerEntry>) -> Vec<Self> {
        let mut of_sends: HashMap<Reference, Vec<LedgerEntry>> = HashMap::new();
        for entry in steps.into_iter().filter(|entry| entry.kind.follows_a_send()) {
            of_sends.entry(entry.reference.clone()).or_default().push(entry);
        }
        let grouped = lines.into_iter().filter_map(|line| {
            let of_send = of_sends.get(&line.entry.reference);
            let Some(steps) = of_send.filter(|_| line.entry.kind.follows_a_send()) else {
                return Some(Self { line, steps: Vec::new() });
            };
            let mut steps = steps.clone();
            steps.sort_by_key(|entry| entry.kind);
            let charge = steps.iter().find(|entry| entry.kind == EntryKind::Capture);
            let shown = charge.or(steps.last())?;
            (shown.id == line.entry.id).then_some(Self { line, steps })
        });
        grouped.collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Balance, Paise};

    const ONE: &str = "00000000-0000-7000-8000-000000000001";
    const TWO: &str = "00000000-0000-7000-8000-000000000002";

    fn line(position: u64, kind: EntryKind, reference: &str) -> StatementLine {
        let id = format!("00000000-0000-7000-8000-0000000001{position:02}").parse().unwrap();
        let entry = LedgerEntry {
            id,
            kind,
            amount: Paise::ZERO,
            held: Paise::ZERO,
            after: Balance::default(),
            reference: reference.parse().unwrap(),
            relayed: false,
            at: Timestamp::from_timestamp(1_800_000_000, 0).unwrap(),
        };
        StatementLine { position, entry, closing: None }
    }

    /// The positions that are shown, each with the kinds that it stands for.
    fn shown(lines: &[StatementLine], of_sends: &[StatementLine]) -> Vec<(u64, Vec<&'static str>)> {
        let steps = of_sends.iter().map(|line| line.entry.clone()).collect();
        let grouped = GroupedLine::group(lines.to_vec(), steps).into_iter();
        let kinds = |it: &GroupedLine| it.steps.iter().map(|step| step.kind.as_str()).collect();
        grouped.map(|it| (it.line.position, kinds(&it))).collect()
    }

    #[test]
    fn a_send_has_one_line_wherever_a_page_begins() {
        let lines = [
            line(9, EntryKind::Refund, ONE),
            line(8, EntryKind::Release, TWO),
            line(7, EntryKind::Release, ONE),
            line(6, EntryKind::Capture, ONE),
            line(5, EntryKind::Hold, TWO),
            line(4, EntryKind::Hold, ONE),
            line(3, EntryKind::Credit, ONE),
        ];
        let charged = vec!["hold", "capture", "release"];
        let not_charged = vec!["hold", "release"];
        let wanted = [(9, vec![]), (8, not_charged), (6, charged.clone()), (3, vec![])];
        assert_eq!(shown(&lines, &lines), wanted);
        assert_eq!(shown(&lines[3..4], &lines), [(6, charged)]);
        assert_eq!(shown(&lines[4..6], &lines), [], "their ends are on the page before");
        assert_eq!(shown(&lines[4..5], &lines[4..5]), [(5, vec!["hold"])], "not over yet");
        assert_eq!(shown(&lines[2..3], &[]), [(7, vec![])], "of one kind alone");
    }
}
