//! The spend of a day never exceeds the limit of its project, and no send below the limit is refused for it.
//!
//! Limits are only raised, so the last one that was surely set is the lowest that may hold. A run over
//! midnight in India is not judged: its sends are of two days.

use super::Finding;
use crate::history::{Action, History, Ledger, Op, Outcome};
use std::collections::HashMap;

pub fn check(history: &History) -> Vec<Finding> {
    let ledgers = history.ledgers.iter().filter(|ledger| is_of_one_day(ledger));
    ledgers.flat_map(|ledger| judge(history, ledger)).collect()
}

/// Midnight in India is 18:30 UTC.
fn is_of_one_day(ledger: &Ledger) -> bool {
    let is_late = |time: &str| time.get(11..16) >= Some("18:30");
    let mut late = ledger.entries.iter().map(|entry| is_late(&entry.at));
    let first = late.next();
    late.all(|late| Some(late) == first)
}

/// A command that set the limit.
struct Limit<'a> {
    number: usize,
    op: &'a Op,
    paise: i64,
}

fn judge(history: &History, ledger: &Ledger) -> Vec<Finding> {
    let own = || history.numbered().filter(|(_, op)| op.project == ledger.project);
    let limits: Vec<_> = own()
        .filter_map(|(number, op)| match op.action {
            Action::Limit { paise } => Some(Limit { number, op, paise }),
            _ => None,
        })
        .collect();
    let mut found = early(own().collect(), &limits, ledger);
    let Some(highest) = limits.iter().map(|limit| limit.paise).max() else { return found };
    let mut spent = 0;
    for entry in ledger.entries.iter().filter(|entry| ["hold", "release"].contains(&&*entry.kind)) {
        spent += entry.held;
        if spent > highest {
            found.push((format!("{spent} paise were spent, the limit was {highest}"), Vec::new()));
            break;
        }
    }
    found.extend(over(own().collect(), &limits, ledger));
    found
}

/// What was charged for sends that ended before a limit was raised is within that limit.
fn over(own: Vec<(usize, &Op)>, limits: &[Limit<'_>], ledger: &Ledger) -> Vec<Finding> {
    let captures = ledger.entries.iter().filter(|entry| entry.kind == "capture");
    let charged: HashMap<&str, i64> =
        captures.map(|entry| (entry.reference.as_str(), -entry.paise)).collect();
    let judge = |pair: &[Limit<'_>]| {
        let [limit, raised] = pair else { return None };
        let ended = own.iter().filter(|(_, op)| op.ended < raised.op.began);
        let spent: i64 = ended
            .filter_map(|(_, op)| match &op.outcome {
                Outcome::Sent { otp, replayed: false } => charged.get(otp.as_str()),
                _ => None,
            })
            .sum();
        let what = || format!("{spent} paise were charged under a limit of {}", limit.paise);
        (spent > limit.paise).then(|| (what(), vec![limit.number, raised.number]))
    };
    limits.windows(2).filter_map(judge).collect()
}

/// Sends that were refused although every send that may have held money until then leaves enough.
fn early(own: Vec<(usize, &Op)>, limits: &[Limit<'_>], ledger: &Ledger) -> Vec<Finding> {
    let price = ledger.entries.iter().filter(|entry| entry.kind == "hold").map(|entry| entry.held);
    let price = price.max().unwrap_or_default();
    let may_hold = |op: &Op| {
        let is_send = matches!(op.action, Action::Send { .. });
        is_send && (op.may_have_worked() || op.refusal() == Some("SMS_FAILED"))
    };
    let judge = |(number, refused): &(usize, &Op)| {
        // With an Idempotency-Key it may be the answer of an earlier time.
        let Action::Send { once: None, .. } = &refused.action else { return None };
        if refused.refusal() != Some("SPEND_LIMIT_REACHED") {
            return None;
        }
        let surely = |limit: &&Limit<'_>| {
            limit.op.outcome == Outcome::Done && limit.op.ended < refused.began
        };
        let limit = limits.iter().rfind(surely).map_or(i64::MAX, |limit| limit.paise);
        let before = own.iter().filter(|(_, op)| op.began < refused.ended && may_hold(op));
        let most = price.saturating_mul(i64::try_from(before.count()).unwrap_or(i64::MAX));
        (most.saturating_add(price) <= limit)
            .then(|| (format!("refused under a limit of {limit}, spent {most}"), vec![*number]))
    };
    own.iter().filter_map(judge).collect()
}

#[cfg(test)]
mod tests {
    use super::super::sample::*;
    use super::*;
    use crate::history::Entry;

    /// Two sends under a limit of 60, and a third one after it was raised to 80.
    fn ops() -> History {
        history([
            limit(60, 0, 1),
            send("9", 2, 3).sent("a"),
            send("8", 2, 3).sent("b"),
            send("7", 4, 5).refused(402, "SPEND_LIMIT_REACHED"),
            limit(80, 6, 7),
            send("6", 8, 9).sent("c"),
        ])
    }

    fn ledger(sends: &[&str]) -> Ledger {
        let entry = |kind: &str, paise, held, send: &str| Entry {
            kind: kind.to_owned(),
            paise,
            held,
            at: "2026-11-27T08:00:00Z".to_owned(),
            reference: send.to_owned(),
            ..Entry::default()
        };
        let both = |send: &&str| [entry("hold", 0, 25, send), entry("capture", -25, -25, send)];
        Ledger { entries: sends.iter().flat_map(both).collect(), ..Ledger::default() }
    }

    #[test]
    fn what_stays_within_the_limit_is_fine() {
        assert_eq!(check(&ops().with_ledger(ledger(&["a", "b", "c"]))), []);
        let mut released = ledger(&["a", "b", "x", "c"]);
        released.entries[5] =
            Entry { kind: "release".to_owned(), held: -25, ..released.entries[5].clone() };
        assert_eq!(check(&ops().with_ledger(released)), []);
    }

    #[test]
    fn a_spend_above_the_limit_is_found() {
        assert_eq!(check(&ops().with_ledger(ledger(&["a", "b", "x", "c"]))).len(), 1);
        let mut early = ops();
        early.ops[3] = send("7", 4, 5).sent("c");
        early.ops.pop();
        assert_eq!(check(&early.with_ledger(ledger(&["a", "b", "c"]))).len(), 1);
    }

    #[test]
    fn a_refusal_below_the_limit_is_found() {
        let mut early = ops();
        early.ops[4] = limit(120, 6, 7);
        early.ops.push(send("5", 10, 11).refused(402, "SPEND_LIMIT_REACHED"));
        assert_eq!(check(&early.clone().with_ledger(ledger(&["a", "b", "c"]))).len(), 1);
        early.ops[4] = limit(95, 6, 7);
        assert_eq!(check(&early.with_ledger(ledger(&["a", "b", "c"]))), []);
        let none = history([send("7", 4, 5).refused(402, "SPEND_LIMIT_REACHED")]);
        assert_eq!(check(&none.with_ledger(ledger(&["a"]))).len(), 1);
    }

    #[test]
    fn two_days_are_not_judged() {
        let mut ledger = ledger(&["a", "b", "x", "c"]);
        ledger.entries[7].at = "2026-11-27T18:30:00Z".to_owned();
        assert_eq!(check(&ops().with_ledger(ledger)), []);
    }
}
