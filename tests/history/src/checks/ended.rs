//! An end is permanent: after the answer to a logout, an exchange, a detected theft or a deletion,
//! no later call on any instance gets a different answer.

use super::Finding;
use super::lines::{Lines, Numbered};
use crate::history::{Action, History, Op, Outcome};

pub fn check(history: &History) -> Vec<Finding> {
    let lines = Lines::of(history);
    let mut found = Vec::new();
    for line in lines.sessions.values() {
        let Some(end) = lines.end(line) else { continue };
        let told = line.ops.iter().filter(|(_, op)| works(op) && op.began > end.1.ended);
        found.extend(told.map(|one| finding("a session that had ended counted", end, *one)));
    }
    found.extend(history.numbered().filter_map(|one| replaced(&lines, one)));
    found.extend(history.numbered().filter_map(|one| erased(&lines, one)));
    found
}

/// Tells whether the answer treated its token as valid.
const fn works(op: &Op) -> bool {
    matches!(op.outcome, Outcome::Valid { .. } | Outcome::Pair(_) | Outcome::Done)
}

/// An access token was valid after its pair was exchanged.
fn replaced(lines: &Lines<'_>, one: Numbered<'_>) -> Option<Finding> {
    let (Action::Validate { access } | Action::Logout { access }) = &one.1.action else {
        return None;
    };
    let exchange = lines.exchange(&lines.pair(access)?.refresh)?;
    let wrong = works(one.1) && one.1.began > exchange.1.ended;
    wrong.then(|| finding("an access token counted after its pair was exchanged", exchange, one))
}

/// An identity existed after its deletion.
fn erased(lines: &Lines<'_>, one: Numbered<'_>) -> Option<Finding> {
    let identity = match (&one.1.action, &one.1.outcome) {
        (Action::LookUp { identity } | Action::Delete { identity }, Outcome::Done) => identity,
        (Action::Verify { .. }, Outcome::Pair(pair)) => &pair.identity,
        _ => return None,
    };
    let deletion = lines.deletion(identity)?;
    let wrong = one.1.began > deletion.1.ended;
    wrong.then(|| finding("an identity was there after its deletion", deletion, one))
}

fn finding(what: &str, end: Numbered<'_>, later: Numbered<'_>) -> Finding {
    (what.to_owned(), vec![end.0, later.0])
}

#[cfg(test)]
mod tests {
    use super::super::sample::*;
    use super::*;

    fn session() -> Op {
        verify("9", "1", 0, 1).paired("s", "a1", "r1")
    }

    #[test]
    fn valid_after_a_logout_is_found() {
        let ops = [session(), logout("a1", 2, 3), validate("a1", 4, 5).valid("s")];
        assert_eq!(check(&history(ops)).len(), 1);
        let ops = [session(), logout("a1", 2, 3), refresh("r1", 4, 5).paired("s", "a2", "r2")];
        assert_eq!(check(&history(ops)).len(), 1);
    }

    #[test]
    fn what_overlaps_a_logout_or_follows_an_unknown_one_is_fine() {
        let overlaps = [session(), logout("a1", 2, 5), validate("a1", 4, 6).valid("s")];
        assert_eq!(check(&history(overlaps)), []);
        let unknown = [session(), logout("a1", 2, 3).lost(), validate("a1", 4, 5).valid("s")];
        assert_eq!(check(&history(unknown)), []);
        let refused = [session(), logout("a1", 2, 3), validate("a1", 4, 5).refused(401, "X")];
        assert_eq!(check(&history(refused)), []);
    }

    #[test]
    fn an_old_access_token_is_found() {
        let exchange = refresh("r1", 2, 3).paired("s", "a2", "r2");
        let old = [session(), exchange.clone(), validate("a1", 4, 5).valid("s")];
        assert_eq!(check(&history(old)).len(), 1);
        let new = [session(), exchange, validate("a2", 4, 5).valid("s")];
        assert_eq!(check(&history(new)), []);
    }

    #[test]
    fn a_theft_that_ends_nothing_is_found() {
        let reuse = |began| {
            history([
                session(),
                refresh("r1", 2, 3).paired("s", "a2", "r2"),
                refresh("r1", began, began + 1).refused(401, "SESSION_EXPIRED"),
                validate("a2", 20, 21).valid("s"),
            ])
        };
        assert_eq!(check(&reuse(10)).len(), 1);
        // Within the leeway it is only refused.
        assert_eq!(check(&reuse(4)), []);
    }

    #[test]
    fn what_survives_a_deletion_is_found() {
        let deletion = delete("s-person", 2, 3);
        for told in [validate("a1", 4, 5).valid("s"), look_up("s-person", 4, 5)] {
            assert_eq!(check(&history([session(), deletion.clone(), told])).len(), 1);
        }
        let gone = look_up("s-person", 4, 5).refused(404, "IDENTITY_NOT_FOUND");
        assert_eq!(check(&history([session(), deletion, gone])), []);
    }
}
