//! Money at the end: credits minus charges, each send once, and no open hold.

use super::Finding;
use crate::history::{Action, History, Ledger, Outcome};
use std::collections::{HashMap, HashSet};

pub fn check(history: &History) -> Vec<Finding> {
    history.ledgers.iter().flat_map(|ledger| judge(history, ledger)).collect()
}

fn judge(history: &History, ledger: &Ledger) -> Vec<Finding> {
    let mut found = sums(ledger);
    found.extend(charges(history, ledger));
    found.extend(payments(history, ledger));
    found
}

fn whole(what: String) -> Finding {
    (what, Vec::new())
}

fn sums(ledger: &Ledger) -> Vec<Finding> {
    let mut found = Vec::new();
    let Ledger { project, balance, held, sound, difference, .. } = ledger;
    // Holds and releases do not change the balance.
    let moves = ledger.entries.iter().filter(|entry| !["hold", "release"].contains(&&*entry.kind));
    let sum: i64 = moves.map(|entry| entry.paise).sum();
    if sum != *balance {
        found.push(format!("project {project}: movements come to {sum}, the balance is {balance}"));
    }
    if let Some(entry) = ledger.entries.iter().find(|entry| entry.balance_after < 0) {
        found.push(format!("project {project}: the balance was {}", entry.balance_after));
    }
    if *held != 0 {
        found.push(format!("project {project}: {held} paise are still held"));
    }
    if !sound || *difference != 0 {
        found.push(format!("project {project}: the ledger is not proved, {difference} paise off"));
    }
    found.into_iter().map(whole).collect()
}

/// Each acknowledged send is charged once, and nothing else is charged.
fn charges(history: &History, ledger: &Ledger) -> Vec<Finding> {
    let mut captures: HashMap<&str, i32> = HashMap::new();
    for entry in &ledger.entries {
        let count = match entry.kind.as_str() {
            "capture" => 1,
            "refund" => -1,
            _ => continue,
        };
        *captures.entry(&entry.reference).or_default() += count;
    }
    let (mut found, mut sent) = (Vec::new(), HashSet::new());
    let (mut unknown, mut acknowledged) = (HashMap::<&str, i64>::new(), HashSet::new());
    for (number, op) in history.numbered().filter(|(_, op)| op.project == ledger.project) {
        let Action::Send { phone, .. } = &op.action else { continue };
        if op.is_unknown() {
            *unknown.entry(phone).or_default() += 1;
        }
        let Outcome::Sent { otp, replayed: false } = &op.outcome else { continue };
        acknowledged.insert(otp.as_str());
        match captures.get(otp.as_str()).copied().unwrap_or_default() {
            1 => {}
            times => found.push((format!("a send was charged {times} times"), vec![number])),
        }
    }
    let carried: HashMap<&str, &str> =
        history.messages.iter().map(|one| (one.otp.as_str(), one.phone.as_str())).collect();
    for (otp, times) in captures.iter().filter(|(otp, _)| !acknowledged.contains(**otp)) {
        sent.insert(*otp);
        let Some(phone) = carried.get(*otp) else {
            found.push(whole(format!("{otp} was charged {times} times and never sent")));
            continue;
        };
        // The request was not refused, but its client never got the answer.
        let left = unknown.entry(phone).or_default();
        *left -= i64::from(*times);
        if *left < 0 {
            found.push(whole(format!("{otp} was charged though every send to it was refused")));
        }
    }
    found
}

/// Each payment is credited, once.
fn payments(history: &History, ledger: &Ledger) -> Vec<Finding> {
    let mut credits: HashMap<&str, Vec<i64>> = HashMap::new();
    for entry in ledger.entries.iter().filter(|entry| entry.kind == "credit") {
        credits.entry(&entry.reference).or_default().push(entry.paise);
    }
    let mut found = Vec::new();
    for (number, op) in history.numbered().filter(|(_, op)| op.project == ledger.project) {
        let Action::TopUp { reference, paise } = &op.action else { continue };
        let booked = credits.get(reference.as_str()).map_or(&[][..], Vec::as_slice);
        let good = booked == [*paise] || op.is_unknown() && booked.is_empty();
        if !good {
            found.push((format!("a top-up of {paise} was booked as {booked:?}"), vec![number]));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::sample::*;
    use super::*;
    use crate::history::Entry;

    fn ledger(entries: &[(&str, i64, &str)]) -> Ledger {
        let mut ledger = Ledger { sound: true, ..Ledger::default() };
        for (kind, paise, reference) in entries {
            ledger.balance += paise;
            ledger.entries.push(Entry {
                kind: (*kind).to_owned(),
                paise: *paise,
                balance_after: ledger.balance,
                reference: (*reference).to_owned(),
                ..Entry::default()
            });
        }
        ledger
    }

    fn ops() -> History {
        history([top_up("paid", 100, 0, 1), send("9", 2, 3).sent("o"), send("8", 2, 3).lost()])
            .got([message("9", "1", "o", 2), message("8", "1", "p", 2)])
    }

    const FINE: [(&str, i64, &str); 2] = [("credit", 100, "paid"), ("capture", -25, "o")];

    #[test]
    fn what_was_paid_and_sent_is_fine() {
        assert_eq!(check(&ops().with_ledger(ledger(&FINE))), []);
        // The send without an answer may have been charged.
        let more = [FINE[0], FINE[1], ("capture", -25, "p")];
        assert_eq!(check(&ops().with_ledger(ledger(&more))), []);
    }

    #[test]
    fn charges_that_are_not_one_per_send_are_found() {
        for entries in [
            vec![FINE[0]],
            vec![FINE[0], FINE[1], FINE[1]],
            vec![FINE[0], FINE[1], ("refund", 25, "o")],
            vec![FINE[0], FINE[1], ("capture", -25, "never-sent")],
            vec![FINE[1], ("credit", 100, "paid")],
        ] {
            assert_eq!(check(&ops().with_ledger(ledger(&entries))).len(), 1, "{entries:?}");
        }
    }

    #[test]
    fn a_refused_send_that_was_charged_is_found() {
        let mut refused = ops();
        refused.ops[2] = send("8", 2, 3).refused(402, "INSUFFICIENT_BALANCE");
        let charged = [FINE[0], FINE[1], ("capture", -25, "p")];
        assert_eq!(check(&refused.with_ledger(ledger(&charged))).len(), 1);
    }

    #[test]
    fn top_ups_that_are_not_booked_once_are_found() {
        let twice = [FINE[0], FINE[0], FINE[1]];
        assert_eq!(check(&ops().with_ledger(ledger(&twice))).len(), 1);
        let never = [("adjustment", 100, "other"), FINE[1]];
        assert_eq!(check(&ops().with_ledger(ledger(&never))).len(), 1);
    }

    #[test]
    fn what_does_not_add_up_is_found() {
        let fine = || ledger(&FINE);
        let off = [
            Ledger { balance: 80, ..fine() },
            Ledger { held: 25, ..fine() },
            Ledger { sound: false, ..fine() },
            Ledger { difference: 1, ..fine() },
        ];
        for ledger in off {
            assert_eq!(check(&ops().with_ledger(ledger)).len(), 1);
        }
    }
}
