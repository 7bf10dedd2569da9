//! A refresh token is exchanged once: a repeated request gets the same pair, and no other request
//! gets one.

use super::Finding;
use crate::history::{Action, History, Op};
use std::collections::HashMap;

pub fn check(history: &History) -> Vec<Finding> {
    let mut exchanges: HashMap<&str, Vec<(usize, &Op)>> = HashMap::new();
    for (number, op) in history.numbered() {
        if let (Action::Refresh { refresh, .. }, Some(_)) = (&op.action, op.pair()) {
            exchanges.entry(refresh).or_default().push((number, op));
        }
    }
    exchanges.into_values().filter_map(|ops| wrong(&ops)).collect()
}

fn wrong(ops: &[(usize, &Op)]) -> Option<Finding> {
    let numbers = || ops.iter().map(|(number, _)| *number).collect();
    let (_, first) = ops.first()?;
    if ops.iter().any(|(_, op)| op.pair() != first.pair()) {
        return Some(("one refresh token was exchanged for two pairs".to_owned(), numbers()));
    }
    let key = |op: &Op| match &op.action {
        Action::Refresh { once, .. } => once.clone(),
        _ => None,
    };
    let once = key(first);
    let repeated = ops.len() == 1 || once.is_some() && ops.iter().all(|(_, op)| key(op) == once);
    (!repeated).then(|| {
        ("a refresh token was honoured twice, without one Idempotency-Key".to_owned(), numbers())
    })
}

#[cfg(test)]
mod tests {
    use super::super::sample::*;
    use super::*;

    #[test]
    fn exchanged_twice_is_found() {
        let two = history([
            refresh("r1", 0, 10).paired("s", "a2", "r2"),
            refresh("r1", 5, 20).paired("s", "a3", "r3"),
        ]);
        assert_eq!(check(&two).len(), 1);
    }

    #[test]
    fn the_same_pair_without_a_key_is_found() {
        let two = history([
            refresh("r1", 0, 10).paired("s", "a2", "r2"),
            refresh("r1", 5, 20).paired("s", "a2", "r2"),
        ]);
        assert_eq!(check(&two).len(), 1);
    }

    #[test]
    fn a_repetition_and_a_refusal_are_fine() {
        let fine = history([
            refresh("r1", 0, 10).once("k").paired("s", "a2", "r2"),
            refresh("r1", 5, 20).once("k").paired("s", "a2", "r2"),
            refresh("r1", 5, 20).refused(401, "SESSION_EXPIRED"),
            refresh("r2", 30, 40).paired("s", "a3", "r3"),
            refresh("r3", 50, 60).lost(),
        ]);
        assert_eq!(check(&fine), []);
    }
}
