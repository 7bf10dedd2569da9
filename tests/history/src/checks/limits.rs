//! Limits of a phone: sends in any window, wrong codes until the stop.

use super::Finding;
use crate::history::{Action, History, Op, Outcome};
use std::collections::{BTreeMap, HashMap, HashSet};

type Numbered<'a> = (usize, &'a Op);

/// A phone in a project.
type Phone<'a> = (usize, &'a str);

pub fn check(history: &History) -> Vec<Finding> {
    let mut found = windows(history);
    found.extend(guesses(history));
    found
}

/// When a send was admitted: the milliseconds at the start of its id (UUIDv7).
fn admitted_at(otp: &str) -> Option<u64> {
    let digits: String = otp.chars().filter(|digit| *digit != '-').take(12).collect();
    u64::from_str_radix(&digits, 16).ok()
}

/// A message that reached the provider keeps its place, so the number of messages in any window is
/// limited.
fn windows(history: &History) -> Vec<Finding> {
    // A phone of two projects is assigned by the callers that were answered. Messages without an
    // answered caller count for neither.
    let mut homes: HashMap<&str, (usize, usize)> = HashMap::new();
    let mut callers: HashMap<&str, HashSet<usize>> = HashMap::new();
    for (number, op) in history.numbered() {
        let Action::Send { phone, .. } = &op.action else { continue };
        callers.entry(phone).or_default().insert(op.project);
        if let Outcome::Sent { otp, .. } = &op.outcome {
            homes.entry(otp).or_insert((op.project, number));
        }
    }
    let mut sends: HashMap<Phone<'_>, BTreeMap<&str, Option<usize>>> = HashMap::new();
    for message in &history.messages {
        let home = homes.get(message.otp.as_str());
        let only = callers.get(message.phone.as_str()).filter(|projects| projects.len() == 1);
        let project = home.map(|(project, _)| *project).or_else(|| only?.iter().next().copied());
        let Some(project) = project else { continue };
        let number = home.map(|(_, number)| *number);
        sends.entry((project, &message.phone)).or_default().insert(&message.otp, number);
    }
    let settings = &history.settings;
    let mut found = Vec::new();
    for ((_, phone), sends) in sends {
        let mut sends: Vec<_> =
            sends.into_iter().filter_map(|(otp, op)| Some((admitted_at(otp)?, op))).collect();
        sends.sort_unstable();
        let crowded = sends.windows(settings.sends + 1).find(|some| {
            let span = some.last().zip(some.first()).map(|(last, first)| last.0 - first.0);
            span.is_some_and(|span| span < settings.send_window_ms)
        });
        if let Some(some) = crowded {
            let what = format!("{} sends to {phone} in one window", some.len());
            found.push((what, some.iter().filter_map(|(_, op)| *op).collect()));
        }
    }
    found
}

/// This many wrong codes stop a phone, for codes and for sends.
fn guesses(history: &History) -> Vec<Finding> {
    let mut wrong: HashMap<Phone<'_>, Vec<Numbered<'_>>> = HashMap::new();
    for (number, op) in history.numbered() {
        if let (Action::Verify { phone, .. }, Some("INVALID_OTP")) = (&op.action, op.refusal()) {
            wrong.entry((op.project, phone)).or_default().push((number, op));
        }
    }
    let most = history.settings.stop_at;
    let mut found = Vec::new();
    let mut stops: HashMap<Phone<'_>, Numbered<'_>> = HashMap::new();
    for (phone, mut ops) in wrong {
        ops.sort_by_key(|(_, op)| op.ended);
        if let Some(last) = most.checked_sub(1).and_then(|last| ops.get(last)) {
            stops.insert(phone, *last);
        }
        if ops.len() > most {
            let numbers = ops.iter().map(|(number, _)| *number).collect();
            found.push((format!("{} wrong codes for {}", ops.len(), phone.1), numbers));
        }
    }
    for (number, op) in history.numbered() {
        let (phone, went) = match (&op.action, &op.outcome) {
            (Action::Send { phone, .. }, Outcome::Sent { replayed, .. }) => (phone, !replayed),
            (Action::Verify { phone, .. }, Outcome::Pair(_)) => (phone, true),
            _ => continue,
        };
        let Some((stop, by)) = stops.get(&(op.project, phone.as_str())) else { continue };
        if went && op.began > by.ended {
            found.push((format!("{phone} went on after its stop"), vec![*stop, number]));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::sample::*;
    use super::*;

    /// The id of a request of this millisecond.
    fn id(at: u64) -> String {
        format!("{:08x}-{:04x}-7000-8000-000000000000", at >> 16, at & 0xffff)
    }

    fn sent_at(times: [u64; 4]) -> History {
        let ops = times.map(|at| send("9", at / 1_000, at / 1_000 + 1).sent(&id(at)));
        history(ops).got(times.map(|at| message("9", "1", &id(at), at / 1_000)))
    }

    #[test]
    fn a_full_window_is_found() {
        assert_eq!(check(&sent_at([5_000, 8_000, 9_000, 24_999])).len(), 1);
        assert_eq!(check(&sent_at([5_000, 8_000, 9_000, 25_000])), []);
    }

    #[test]
    fn what_only_the_provider_knows_of_counts() {
        let mut unknown = sent_at([5_000, 8_000, 9_000, 20_000]);
        unknown.ops[3] = send("9", 20, 21).lost();
        assert_eq!(check(&unknown).len(), 1);
    }

    fn wrong(at: u64) -> Op {
        verify("9", "1", at, at + 1).refused(400, "INVALID_OTP")
    }

    #[test]
    fn guesses_beyond_the_stop_are_found() {
        assert_eq!(check(&history((0..12).map(wrong))), []);
        assert_eq!(check(&history((0..13).map(wrong))).len(), 1);
        for later in [send("9", 20, 21).sent("o"), verify("9", "2", 20, 21).paired("s", "a", "r")] {
            assert_eq!(check(&history((0..12).map(wrong).chain([later.clone()]))).len(), 1);
            assert_eq!(check(&history((0..11).map(wrong).chain([later]))), []);
        }
    }
}
