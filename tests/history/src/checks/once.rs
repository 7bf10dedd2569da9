//! One `Idempotency-Key`: one message and one answer.

use super::Finding;
use crate::history::{Action, History, Micros, Op, Outcome, SECOND};
use std::collections::{HashMap, HashSet};

/// How long before the end of its lease a key is no longer checked.
const MARGIN: Micros = 5 * SECOND;

type Numbered<'a> = (usize, &'a Op);

pub fn check(history: &History) -> Vec<Finding> {
    let (mut intents, mut phones) = (HashMap::<_, Vec<Numbered<'_>>>::new(), HashMap::new());
    for (number, op) in history.numbered() {
        let Action::Send { phone, once } = &op.action else { continue };
        let keys: &mut HashSet<_> = phones.entry(phone.as_str()).or_default();
        keys.insert((op.project, once.as_deref()));
        if let Some(once) = once {
            intents
                .entry((op.project, once.as_str(), phone.as_str()))
                .or_default()
                .push((number, op));
        }
    }
    let mut messages = HashMap::<_, HashSet<_>>::new();
    for message in &history.messages {
        messages.entry(message.phone.as_str()).or_default().insert(message.otp.as_str());
    }
    let mut found = Vec::new();
    for ((_, _, phone), ops) in intents {
        // A request that is never answered loses the key after its lease.
        let first = ops.iter().map(|(_, op)| op.began).min().unwrap_or_default();
        let until = first + history.settings.once_lease - MARGIN;
        if ops.iter().any(|(_, op)| op.ended > until) {
            continue;
        }
        found.extend(answers(&ops));
        let alone = phones.get(phone).is_some_and(|keys| keys.len() == 1);
        let sent = messages.get(phone).map_or(0, HashSet::len);
        found.extend(effects(&ops, sent).filter(|_| alone));
    }
    found
}

fn answers(ops: &[Numbered<'_>]) -> Option<Finding> {
    let numbers = || ops.iter().map(|(number, _)| *number).collect();
    let told: HashSet<_> = ops.iter().filter_map(|(_, op)| otp(op)).collect();
    if told.len() > 1 {
        return Some(("one Idempotency-Key got different answers".to_owned(), numbers()));
    }
    let fresh = |op: &Op| matches!(op.outcome, Outcome::Sent { replayed: false, .. });
    if ops.iter().filter(|(_, op)| fresh(op)).count() > 1 {
        return Some(("one Idempotency-Key did its work twice".to_owned(), numbers()));
    }
    let first = ops.iter().filter(|(_, op)| otp(op).is_some()).map(|(_, op)| op.ended).min()?;
    let other = ops.iter().find(|(_, op)| {
        let code = op.refusal().unwrap_or("IDEMPOTENCY_CONFLICT");
        op.began > first && !["IDEMPOTENCY_CONFLICT", "INVALID_API_KEY"].contains(&code)
    });
    other.map(|_| ("an Idempotency-Key forgot its answer".to_owned(), numbers()))
}

fn otp(op: &Op) -> Option<&str> {
    match &op.outcome {
        Outcome::Sent { otp, .. } => Some(otp),
        _ => None,
    }
}

/// After an answer that is not stored the key may be used again.
fn effects(ops: &[Numbered<'_>], sent: usize) -> std::option::IntoIter<Finding> {
    let again = ops.iter().filter(|(_, op)| op.is_unknown()).count();
    let what = format!("{sent} messages for one Idempotency-Key");
    let numbers = ops.iter().map(|(number, _)| *number).collect();
    (sent > 1 + again).then_some((what, numbers)).into_iter()
}

#[cfg(test)]
mod tests {
    use super::super::sample::*;
    use super::*;

    #[test]
    fn two_answers_or_effects_are_found() {
        let two = [send("9", 0, 2).once("k").sent("o"), send("9", 1, 3).once("k").sent("p")];
        assert_eq!(check(&history(two)).len(), 1);
        let two = [send("9", 0, 2).once("k").sent("o"), send("9", 1, 3).once("k").sent("o")];
        assert_eq!(check(&history(two)).len(), 1);
    }

    #[test]
    fn a_second_message_is_found() {
        let ops = [send("9", 0, 2).once("k").sent("o"), send("9", 3, 4).once("k").replayed("o")];
        let two = [message("9", "1", "o", 1), message("9", "2", "p", 1)];
        assert_eq!(check(&history(ops.clone()).got(two)).len(), 1);
        assert_eq!(check(&history(ops).got([message("9", "1", "o", 1)])), []);
    }

    #[test]
    fn a_forgotten_answer_is_found() {
        let forgot = send("9", 3, 4).once("k").refused(429, "OTP_RATE_LIMITED");
        let ops = [send("9", 0, 2).once("k").sent("o"), forgot];
        assert_eq!(check(&history(ops)).len(), 1);
    }

    #[test]
    fn conflicts_and_repetitions_after_a_failure_are_fine() {
        let fine = history([
            send("9", 0, 2).once("k").failed(503),
            send("9", 1, 3).once("k").refused(409, "IDEMPOTENCY_CONFLICT"),
            send("9", 4, 5).once("k").sent("p"),
            send("9", 6, 7).once("k").replayed("p"),
        ]);
        assert_eq!(check(&fine.got([message("9", "1", "o", 1), message("9", "2", "p", 4)])), []);
    }
}
