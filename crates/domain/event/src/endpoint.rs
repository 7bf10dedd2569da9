use crate::{Event, EventKind, Subject};
use dwar_kernel::{EndpointId, KeptSecret, KeyMode, ProjectId, Timestamp};
use std::time::Duration;

/// An address that a project's events go to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Its id.
    pub id: EndpointId,
    /// Whose events it is told.
    pub project: ProjectId,
    /// Where events are posted.
    pub url: String,
    /// Whether events carry the whole phone number instead of a masked one.
    pub full_phone: bool,
    /// What signs them.
    pub secret: KeptSecret,
    /// When it was added.
    pub created_at: Timestamp,
    /// How it fails, if the last call to it failed.
    pub failing: Option<Failing>,
    /// Since when it is switched off; while it is, it is told nothing.
    pub disabled_at: Option<Timestamp>,
}

/// Calls to an endpoint that failed, with no success in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failing {
    /// When the first of them failed.
    pub since: Timestamp,
    /// How many there were; at least one.
    pub failures: u32,
}

/// When an endpoint that keeps failing is switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwitchOff {
    /// It has failed for at least this long.
    pub after: Duration,
    /// At least this many calls in a row failed.
    pub failures: u32,
}

impl Endpoint {
    /// In one project: each event is kept, and posted, once for each.
    pub const MOST: usize = 20;

    /// Counts a call that failed at `now`; if this switches the endpoint off, gives what its
    /// project must be told.
    ///
    /// Without a rule it is never switched off, and one that is off is not switched off again.
    pub fn after_failure(&mut self, rule: Option<SwitchOff>, now: Timestamp) -> Option<Event> {
        let failing = self.failing.get_or_insert(Failing { since: now, failures: 0 });
        failing.failures = failing.failures.saturating_add(1);
        let Failing { since, failures } = *failing;
        let over = |rule: SwitchOff| failures >= rule.failures && now >= since + rule.after;
        if self.disabled_at.is_some() || !rule.is_some_and(over) {
            return None;
        }
        self.disabled_at = Some(now);
        let (project, mode, kind) = (self.project, KeyMode::Live, EventKind::EndpointDisabled);
        let subject = Subject::Endpoint { endpoint: self.id, failures, since };
        Some(Event { project, mode, kind, subject, at: now })
    }

    /// A call succeeded: earlier failures no longer count. An endpoint that is switched off stays
    /// off, and keeps the reason.
    pub const fn after_success(&mut self) {
        if self.disabled_at.is_none() {
            self.failing = None;
        }
    }

    /// Switches it on, as new.
    pub const fn enable(&mut self) {
        self.disabled_at = None;
        self.failing = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dwar_kernel::Sealed;

    const NOW: i64 = 1_800_000_000;
    const RULE: SwitchOff = SwitchOff { after: Duration::from_secs(60), failures: 3 };

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_timestamp(NOW + seconds, 0).unwrap()
    }

    fn endpoint() -> Endpoint {
        Endpoint {
            id: "00000000-0000-7000-8000-000000000001".parse().unwrap(),
            project: "00000000-0000-7000-8000-000000000002".parse().unwrap(),
            url: "https://example.com".to_owned(),
            full_phone: false,
            secret: KeptSecret::first(Sealed(vec![1])),
            created_at: at(0),
            failing: None,
            disabled_at: None,
        }
    }

    #[test]
    fn it_is_switched_off_once_it_has_failed_often_and_long_enough() {
        let (mut long, mut often) = (endpoint(), endpoint());
        // Long enough, and then often enough.
        assert_eq!(long.after_failure(Some(RULE), at(0)), None);
        assert_eq!(long.after_failure(Some(RULE), at(3_600)), None);
        let told = long.after_failure(Some(RULE), at(3_601)).unwrap();
        let subject = Subject::Endpoint { endpoint: long.id, failures: 3, since: at(0) };
        assert_eq!((told.subject, told.at), (subject, at(3_601)));
        assert_eq!(long.disabled_at, Some(at(3_601)));
        assert_eq!(long.failing, Some(Failing { since: at(0), failures: 3 }));
        // Often enough, and then long enough, to the instant.
        for second in 0..60 {
            assert_eq!(often.after_failure(Some(RULE), at(second)), None);
        }
        assert!(often.after_failure(Some(RULE), at(60)).is_some());
        assert_eq!(often.after_failure(Some(RULE), at(61)), None, "it was off before");
        assert_eq!(often.disabled_at, Some(at(60)));
    }

    #[test]
    fn a_success_begins_anew_and_without_a_rule_there_is_no_end() {
        let mut endpoint = endpoint();
        for second in 0..60 {
            endpoint.after_failure(Some(RULE), at(second));
        }
        endpoint.after_success();
        assert_eq!(endpoint.after_failure(Some(RULE), at(60)), None);
        assert_eq!(endpoint.failing, Some(Failing { since: at(60), failures: 1 }));
        for day in 0..1_000 {
            assert_eq!(endpoint.after_failure(None, at(day * 86_400)), None);
        }
    }

    #[test]
    fn one_that_is_switched_on_again_is_as_new() {
        let mut endpoint = endpoint();
        for second in [0, 30, 60] {
            endpoint.after_failure(Some(RULE), at(second));
        }
        endpoint.enable();
        assert_eq!((endpoint.failing, endpoint.disabled_at), (None, None));
        assert_eq!(endpoint.after_failure(Some(RULE), at(61)), None);
    }
}
