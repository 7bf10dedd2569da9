//! The allowed answers of each call and their latency; never an internal error.

use super::Finding;
use crate::history::{Action, Fault, History, Lost, Op, Outcome};

pub fn check(history: &History) -> Vec<Finding> {
    let faults: Vec<_> = history.faults.iter().filter(|fault| keeps_waiting(fault)).collect();
    // A machine too busy for the clients is too busy for the service as well.
    let soon = history.settings.soon + 4 * history.stall;
    let judge = |(number, op): (usize, &Op)| {
        let counted = op.project == history.settings.counted;
        if counted && op.refusal() == Some("RATE_LIMITED") {
            return None;
        }
        Some((wrong(op, soon, &faults)?, vec![number]))
    };
    history.numbered().filter(|(_, op)| op.instance.is_some()).filter_map(judge).collect()
}

/// Tells whether an answer may be late because of this fault: the service could not run, or was not
/// reachable.
fn keeps_waiting(fault: &Fault) -> bool {
    ["SIGSTOP", "kill", "clients frozen"].iter().any(|kind| fault.kind.starts_with(kind))
}

fn wrong(op: &Op, soon: u64, faults: &[&Fault]) -> Option<String> {
    match &op.outcome {
        Outcome::Refused { code, .. } => {
            let expected = expected(&op.action).contains(&code.as_str());
            (!expected && code != "INVALID_API_KEY").then(|| format!("refused with {code:?}"))
        }
        Outcome::Failed { status: 503, .. } | Outcome::Lost { why: Lost::TimedOut } => {
            let took = op.ended - op.began;
            let hit = |fault: &&Fault| {
                let here = fault.instance.is_none() || fault.instance == op.instance;
                here && fault.began < op.ended && op.began < fault.ended
            };
            (took > soon && !faults.iter().any(hit))
                .then(|| format!("unavailable only after {} ms", took / 1_000))
        }
        Outcome::Failed { status, code } => Some(format!("answered {status} {code}")),
        _ => None,
    }
}

/// The refusals that a call may get, besides those of its API key.
const fn expected(action: &Action) -> &'static [&'static str] {
    match action {
        Action::Send { once: None, .. } => {
            &["OTP_RATE_LIMITED", "INSUFFICIENT_BALANCE", "SPEND_LIMIT_REACHED", "SMS_FAILED"]
        }
        Action::Send { once: Some(_), .. } => &[
            "OTP_RATE_LIMITED",
            "INSUFFICIENT_BALANCE",
            "SPEND_LIMIT_REACHED",
            "SMS_FAILED",
            "IDEMPOTENCY_CONFLICT",
        ],
        Action::Verify { .. } => &["INVALID_OTP", "OTP_NOT_FOUND", "VERIFY_RATE_LIMITED"],
        Action::Validate { .. } | Action::Logout { .. } => &["INVALID_ACCESS_TOKEN"],
        Action::Refresh { .. } => &["SESSION_EXPIRED"],
        Action::Delete { .. } => &["IDENTITY_NOT_FOUND", "IDENTITY_DELETE_DISABLED"],
        Action::LookUp { .. } => &["IDENTITY_NOT_FOUND", "IDENTITY_LOOKUP_DISABLED"],
        Action::Status { .. } => &["OTP_REQUEST_NOT_FOUND"],
        Action::Turn { .. } | Action::NewKey | Action::TopUp { .. } | Action::Limit { .. } => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::*;
    use super::*;

    #[test]
    fn an_internal_error_is_found() {
        assert_eq!(check(&history([validate("a", 0, 1).failed(500)])).len(), 1);
        assert_eq!(check(&history([validate("a", 0, 1).failed(503)])), []);
    }

    #[test]
    fn a_slow_refusal_is_found() {
        let slow = [validate("a", 0, 11).failed(503), send("9", 0, 40).timed_out()];
        assert_eq!(check(&history(slow.clone())).len(), 2);
        let stopped = history(slow).hit([fault("SIGSTOP", 0, 1, 3)]);
        assert_eq!(check(&stopped), []);
    }

    #[test]
    fn only_what_keeps_this_instance_waiting_excuses_it() {
        let slow = || history([validate("a", 0, 11).failed(503)]);
        assert_eq!(check(&slow().hit([fault("SIGSTOP", 1, 1, 3)])).len(), 1);
        assert_eq!(check(&slow().hit([fault("connections frozen", 0, 1, 3)])).len(), 1);
        let everybody = Fault { instance: None, ..fault("clients frozen", 0, 1, 3) };
        assert_eq!(check(&slow().hit([everybody])), []);
    }

    #[test]
    fn a_refusal_of_something_else_is_found() {
        let odd = validate("a", 0, 1).refused(429, "RATE_LIMITED");
        assert_eq!(check(&history([odd])).len(), 1);
        let fine = [
            validate("a", 0, 1).refused(401, "INVALID_ACCESS_TOKEN"),
            send("9", 0, 1).refused(401, "INVALID_API_KEY"),
            logout("a", 0, 1).lost(),
        ];
        assert_eq!(check(&history(fine)), []);
    }
}
