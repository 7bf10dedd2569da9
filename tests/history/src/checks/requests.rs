//! Requests of one API key: no more than its limit in any minute, over all instances; if the only
//! instance counts by itself, in any minute since its start.

use super::Finding;
use crate::history::{Action, Fault, History, Micros, Op, Outcome, SECOND};

const MINUTE: Micros = 60 * SECOND;
/// Instances use the wall clock, in milliseconds; this history uses a monotonic one.
const TOLERANCE: Micros = SECOND / 10;

pub fn check(history: &History) -> Vec<Finding> {
    let settings = &history.settings;
    let of = |wanted: fn(&Action) -> bool| {
        let counted =
            move |(_, op): &(usize, &Op)| op.project == settings.counted && wanted(&op.action);
        let admitted = history.numbered().filter(counted).filter(|(_, op)| was_admitted(op));
        counts(history, admitted)
    };
    let validates = of(|action| matches!(action, Action::Validate { .. }));
    let others = of(|action| matches!(action, Action::Status { .. }));
    let found = [
        validates.iter().find_map(|ops| crowded("validations", ops, settings.validates)),
        others.iter().find_map(|ops| crowded("other requests", ops, settings.requests)),
    ];
    found.into_iter().flatten().collect()
}

/// The requests that are counted together: all of them, or those of each start of the instance. For
/// a request during a kill it is unknown which start admitted it.
fn counts<'a>(
    history: &History,
    ops: impl Iterator<Item = (usize, &'a Op)>,
) -> Vec<Vec<(usize, &'a Op)>> {
    let forgets = |fault: &&Fault| fault.kind.starts_with("kill");
    let kills: Vec<_> = match history.settings.is_count_of_one_start {
        true => history.faults.iter().filter(forgets).collect(),
        false => Vec::new(),
    };
    let mut counts = vec![Vec::new(); kills.len() + 1];
    for (number, op) in ops {
        let before = kills.iter().filter(|kill| kill.ended <= op.began).count();
        let after = kills.iter().filter(|kill| op.ended <= kill.began).count();
        if before + after == kills.len() {
            counts[before].push((number, op));
        }
    }
    counts
}

/// A request without an answer may not have been admitted.
fn was_admitted(op: &Op) -> bool {
    !op.is_unknown() && !matches!(&op.outcome, Outcome::Refused { status: 429, .. })
}

/// The first minute that contains more requests than allowed, each with its start and its end.
fn crowded(what: &str, ops: &[(usize, &Op)], limit: usize) -> Option<Finding> {
    let minute = |(place, (_, first)): (usize, &(usize, &Op))| {
        let end = first.began + MINUTE - TOLERANCE;
        let begun = ops[place..].iter().take_while(|(_, op)| op.began < end);
        let whole: Vec<_> =
            begun.filter(|(_, op)| op.ended < end).map(|(number, _)| *number).collect();
        (whole.len() > limit).then_some(whole)
    };
    let whole = ops.iter().enumerate().find_map(minute)?;
    let ends = whole.first().into_iter().chain(whole.last()).copied().collect();
    Some((format!("{} {what} of one key in a minute", whole.len()), ends))
}

#[cfg(test)]
mod tests {
    use super::super::sample::*;
    use super::*;

    fn asked(times: impl IntoIterator<Item = u64>) -> History {
        let one = |at| Op {
            project: History::default().settings.counted,
            ..status("o", at, at + 1).refused(404, "OTP_REQUEST_NOT_FOUND")
        };
        let mut history = history(times.into_iter().map(one));
        history.settings.requests = 3;
        history
    }

    #[test]
    fn a_full_minute_is_found() {
        assert_eq!(check(&asked([5, 20, 40, 63])).len(), 1);
        // A request that was answered after the minute may have been admitted after it.
        assert_eq!(check(&asked([5, 20, 40, 64])), []);
        assert_eq!(check(&asked([5, 20, 40])), []);
    }

    #[test]
    fn who_was_refused_or_not_answered_takes_no_place() {
        let mut history = asked([5, 20, 40, 50]);
        for outcome in [status("o", 0, 0).refused(429, "RATE_LIMITED"), status("o", 0, 0).lost()] {
            history.ops[2].outcome = outcome.outcome;
            assert_eq!(check(&history), []);
        }
    }

    #[test]
    fn a_killed_instance_counts_anew_where_it_counts_by_itself() {
        let of_start = |kill: Fault| {
            let mut history = asked([5, 20, 40, 50]).hit([kill]);
            history.settings.is_count_of_one_start = true;
            check(&history).len()
        };
        assert_eq!(of_start(fault("kill -9 and restart", 0, 30, 32)), 0);
        // Before the first, after the last, and during one.
        assert_eq!(of_start(fault("kill -9 and restart", 0, 1, 5)), 1);
        assert_eq!(of_start(fault("kill -9 and restart", 0, 51, 53)), 1);
        assert_eq!(of_start(fault("kill -9 and restart", 0, 50, 52)), 0);
        assert_eq!(of_start(fault("SIGSTOP", 0, 30, 32)), 1);
        // Several instances share the count.
        let kill = fault("kill -9 and restart", 0, 30, 32);
        assert_eq!(check(&asked([5, 20, 40, 50]).hit([kill])).len(), 1);
    }

    #[test]
    fn other_projects_have_other_limits() {
        let mut history = asked([5, 20, 40, 50]);
        history.ops[2].project = 0;
        assert_eq!(check(&history), []);
    }
}
