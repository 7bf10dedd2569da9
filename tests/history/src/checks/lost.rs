//! Answered writes are not lost: a session that nothing may have ended is valid, and an
//! acknowledged send is recorded.

use super::Finding;
use super::lines::{Lines, Numbered};
use crate::history::{Action, History, Op, Outcome};
use std::collections::HashMap;

pub fn check(history: &History) -> Vec<Finding> {
    let lines = Lines::of(history);
    let mut found: Vec<_> =
        history.numbered().filter_map(|one| session(history, &lines, one)).collect();
    found.extend(sends(history, &lines));
    found
}

fn session(history: &History, lines: &Lines<'_>, (number, op): Numbered<'_>) -> Option<Finding> {
    let (token, refusal) = match &op.action {
        Action::Validate { access } | Action::Logout { access } => (access, "INVALID_ACCESS_TOKEN"),
        Action::Refresh { refresh, .. } => (refresh, "SESSION_EXPIRED"),
        _ => return None,
    };
    let pair = lines.pair(token).filter(|_| op.refusal() == Some(refusal))?;
    let (given, by) = lines.given(pair)?;
    let expired = *token == pair.access
        && op.ended + crate::history::SECOND >= by.began + history.settings.access_lifetime;
    let unexplained = op.began > by.ended && !expired && !lines.explains(pair, number, op.ended);
    unexplained.then(|| ("a session was lost".to_owned(), vec![given, number]))
}

fn sends(history: &History, lines: &Lines<'_>) -> Vec<Finding> {
    let (mut sent, mut people) = (HashMap::new(), HashMap::<_, Vec<&str>>::new());
    let mut found = Vec::new();
    for (number, op) in history.numbered() {
        if let (Action::Verify { phone, .. }, Some(pair)) = (&op.action, op.pair()) {
            people.entry((op.project, phone.as_str())).or_default().push(&pair.identity);
        }
        if let (Action::Send { phone, .. }, Outcome::Sent { otp, .. }) = (&op.action, &op.outcome) {
            sent.entry(otp.as_str()).or_insert((number, op, phone.as_str()));
        }
    }
    for (number, op) in history.numbered() {
        let Action::Status { otp } = &op.action else { continue };
        let Some((send, by, phone)) = sent.get(otp.as_str()) else { continue };
        let missing = op.refusal() == Some("OTP_REQUEST_NOT_FOUND") && op.began > by.ended;
        let deleted = |identity: &&str| {
            let deletions = lines.deletions.get(identity);
            deletions.is_some_and(|all| all.iter().any(|(_, one)| may_precede(one, op)))
        };
        let erased = people.get(&(op.project, *phone)).is_some_and(|all| all.iter().any(deleted));
        if missing && !erased {
            found.push(("a send that was acknowledged was lost".to_owned(), vec![*send, number]));
        }
    }
    found
}

fn may_precede(one: &Op, other: &Op) -> bool {
    one.may_have_worked() && one.began < other.ended
}

#[cfg(test)]
mod tests {
    use super::super::sample::*;
    use super::*;

    fn started() -> Op {
        verify("9", "1", 0, 1).paired("s", "a1", "r1")
    }

    fn refused(began: u64) -> Op {
        validate("a1", began, began + 1).refused(401, "INVALID_ACCESS_TOKEN")
    }

    #[test]
    fn a_session_that_nothing_ended_is_missed() {
        assert_eq!(check(&history([started(), refused(5)])).len(), 1);
        let refresh = refresh("r1", 5, 6).refused(401, "SESSION_EXPIRED");
        assert_eq!(check(&history([started(), refresh])).len(), 1);
        // A refused logout ends nothing.
        let logout = logout("a1", 2, 3).refused(401, "INVALID_API_KEY");
        assert_eq!(check(&history([started(), logout, refused(5)])).len(), 1);
    }

    #[test]
    fn whatever_may_have_ended_it_explains_it() {
        let enders = [
            logout("a1", 2, 3),
            logout("a1", 2, 3).lost(),
            refresh("r1", 2, 3).paired("s", "a2", "r2"),
            refresh("r1", 2, 3).failed(503),
            delete("s-person", 2, 3).lost(),
        ];
        for ender in enders {
            assert_eq!(check(&history([started(), ender, refused(5)])), []);
        }
        // Long ago.
        assert_eq!(check(&history([started(), refused(900)])), []);
    }

    #[test]
    fn a_repetition_within_the_leeway_ends_nothing() {
        let again = |began| {
            history([
                started(),
                refresh("r1", 2, 3).paired("s", "a2", "r2"),
                refresh("r1", began, began).refused(401, "SESSION_EXPIRED"),
                validate("a2", 20, 21).refused(401, "INVALID_ACCESS_TOKEN"),
            ])
        };
        assert_eq!(check(&again(3)).len(), 1);
        assert_eq!(check(&again(10)), []);
    }

    #[test]
    fn a_send_without_a_status_is_missed() {
        let sent = send("9", 0, 1).sent("o");
        let gone = status("o", 5, 6).refused(404, "OTP_REQUEST_NOT_FOUND");
        assert_eq!(check(&history([sent.clone(), gone.clone()])).len(), 1);
        let erased = [sent, verify("9", "1", 2, 3).paired("s", "a", "r"), delete("s-person", 3, 4)];
        assert_eq!(check(&history(erased.into_iter().chain([gone]))), []);
    }
}
