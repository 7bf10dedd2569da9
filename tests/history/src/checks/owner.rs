//! A change by the owner of a project holds for every later call: API keys and switches.

use super::Finding;
use crate::history::{Action, History, Micros, Op, Outcome, SECOND, Switch};
use std::collections::HashMap;

/// A failed command may leave a statement behind, which ends with its connection or by its time
/// limit.
const AFTERMATH: Micros = 30 * SECOND;

type Numbered<'a> = (usize, &'a Op);

pub fn check(history: &History) -> Vec<Finding> {
    let mut changes: HashMap<(usize, Option<Switch>), Vec<Numbered<'_>>> = HashMap::new();
    for (number, op) in history.numbered() {
        let what = match op.action {
            Action::NewKey => None,
            Action::Turn { switch, .. } => Some(switch),
            _ => continue,
        };
        changes.entry((op.project, what)).or_default().push((number, op));
    }
    let none = Vec::new();
    let mut found = Vec::new();
    for (number, op) in history.numbered().filter(|(_, op)| op.instance.is_some()) {
        let of = |what| changes.get(&(op.project, what)).unwrap_or(&none);
        found.extend(key(of(None), (number, op)));
        found.extend(switch(|switch| of(Some(switch)), (number, op)));
    }
    found
}

/// A replaced key worked, or the current one did not.
fn key(changes: &[Numbered<'_>], (number, op): Numbered<'_>) -> Option<Finding> {
    let refused = op.refusal() == Some("INVALID_API_KEY");
    if !refused && !op.is_unknown() {
        let newer = |(_, change): &&Numbered<'_>| {
            matches!(change.outcome, Outcome::Key(key) if key > op.key) && op.began > change.ended
        };
        let (by, _) = changes.iter().find(newer)?;
        return Some(("a replaced API key was honoured".to_owned(), vec![*by, number]));
    }
    let replaced = |(_, change): &Numbered<'_>| {
        let own = matches!(change.outcome, Outcome::Key(key) if key <= op.key);
        // A command that failed before this key was made changes nothing any more.
        let past = changes.iter().any(|(_, made)| {
            made.outcome == Outcome::Key(op.key) && change.ended + AFTERMATH < made.began
        });
        !own && !past && change.began < op.ended
    };
    (refused && !changes.iter().any(replaced))
        .then(|| ("the API key in force was refused".to_owned(), vec![number]))
}

/// An endpoint was open while it was off, or closed while it was on.
fn switch<'a>(
    changes: impl Fn(Switch) -> &'a Vec<Numbered<'a>>,
    (number, op): Numbered<'_>,
) -> Option<Finding> {
    let (changes, closed) = match op.action {
        Action::LookUp { .. } => (changes(Switch::LookUp), "IDENTITY_LOOKUP_DISABLED"),
        Action::Delete { .. } => (changes(Switch::Delete), "IDENTITY_DELETE_DISABLED"),
        _ => return None,
    };
    if op.is_unknown() || op.refusal() == Some("INVALID_API_KEY") {
        return None;
    }
    let told_on = op.refusal() != Some(closed);
    let to = |change: &Op| matches!(change.action, Action::Turn { on: true, .. });
    // The last change before the call, and all changes that may have come after it.
    let before = changes.iter().filter(|(_, one)| !one.is_unknown() && one.ended < op.began);
    let (by, base) = before.max_by_key(|(_, one)| one.ended)?;
    let later = changes.iter().filter(|(_, one)| {
        let until = one.ended + if one.is_unknown() { AFTERMATH } else { 0 };
        one.began < op.ended && until > base.began && !std::ptr::eq(*one, *base)
    });
    let possible = to(base) == told_on || later.into_iter().any(|(_, one)| to(one) == told_on);
    let what = if told_on {
        "a call was let in while it was off"
    } else {
        "a call was kept out while it was on"
    };
    (!possible).then(|| (what.to_owned(), vec![*by, number]))
}

#[cfg(test)]
mod tests {
    use super::super::sample::*;
    use super::*;

    fn ask(key: usize, began: u64, ended: u64) -> Op {
        validate("a", began, ended).valid("s").key(key)
    }

    #[test]
    fn an_old_key_that_works_is_found() {
        let change = new_key(1, 2).with(Outcome::Key(1));
        assert_eq!(check(&history([change.clone(), ask(0, 3, 4)])).len(), 1);
        // Another refusal shows that the key was valid.
        let refused = ask(0, 3, 4).refused(401, "INVALID_ACCESS_TOKEN");
        assert_eq!(check(&history([change.clone(), refused])).len(), 1);
        let fine = [ask(0, 1, 3), ask(1, 3, 4), ask(0, 3, 4).refused(401, "INVALID_API_KEY")];
        assert_eq!(check(&history(fine.into_iter().chain([change]))), []);
    }

    #[test]
    fn a_good_key_that_is_refused_is_found() {
        let refused = |key| ask(key, 5, 6).refused(401, "INVALID_API_KEY");
        assert_eq!(check(&history([refused(0)])).len(), 1);
        let change = new_key(1, 2).with(Outcome::Key(1));
        assert_eq!(check(&history([change.clone(), refused(1)])).len(), 1);
        assert_eq!(check(&history([change.clone(), refused(0)])), []);
        assert_eq!(check(&history([change, new_key(3, 4).failed(503), refused(1)])), []);
    }

    #[test]
    fn a_switch_that_is_not_heeded_is_found() {
        let off = || turn(Switch::LookUp, false, 1, 2);
        let on = || turn(Switch::LookUp, true, 3, 4);
        let told_off = |began| look_up("p", began, began).refused(403, "IDENTITY_LOOKUP_DISABLED");
        assert_eq!(check(&history([off(), look_up("p", 3, 3)])).len(), 1);
        assert_eq!(check(&history([off(), on(), told_off(5)])).len(), 1);
        let missing = look_up("p", 3, 3).refused(404, "IDENTITY_NOT_FOUND");
        assert_eq!(check(&history([off(), missing])).len(), 1);
    }

    #[test]
    fn a_switch_that_is_heeded_or_unknown_is_fine() {
        let off = || turn(Switch::Delete, false, 1, 2);
        let told_off = delete("p", 3, 3).refused(403, "IDENTITY_DELETE_DISABLED");
        assert_eq!(check(&history([off(), told_off])), []);
        let overlaps = [off(), turn(Switch::Delete, true, 3, 6), delete("p", 4, 5)];
        assert_eq!(check(&history(overlaps)), []);
        let unknown = [off(), turn(Switch::Delete, true, 3, 4).failed(503), delete("p", 8, 9)];
        assert_eq!(check(&history(unknown)), []);
    }
}
