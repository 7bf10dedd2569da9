use crate::{EndpointCall, Event, EventKind, SendFailure, Subject};
use dwar_kernel::{EndpointId, KeptSecret, KeyMode, ProjectId, Timestamp};
use std::time::Duration;

/// An address that receives a project's events, with its secret and its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    pub id: EndpointId,
    pub project: ProjectId,
    pub url: String,
    /// Whether events carry the full phone number instead of a masked one.
    pub full_phone: bool,
    pub secret: KeptSecret,
    pub created_at: Timestamp,
    pub failing: Option<Failing>,
    /// When it was disabled; a disabled endpoint gets no events.
    pub disabled_at: Option<Timestamp>,
}

/// Failed calls to an endpoint in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failing {
    pub since: Timestamp,
    /// Number of failed calls; at least one.
    pub failures: u32,
}

/// Rule that disables an endpoint which keeps failing: both bounds have to be reached.
///
/// The default is 24 hours, so that an outage at night loses no events, and ten calls, so that a few failures are not
/// enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DisablePolicy {
    /// Least time since the first of the failed calls in a row.
    pub after: Duration,
    /// Least number of failed calls in a row.
    pub failures: u32,
}

impl Default for DisablePolicy {
    fn default() -> Self {
        Self { after: Duration::from_secs(24 * 3_600), failures: 10 }
    }
}

impl Endpoint {
    /// Most endpoints of one project: each event is stored and posted once per endpoint.
    pub const MOST: usize = 20;

    /// Counts a failed call at the time when it ended. If that disables the endpoint, returns the event which tells
    /// the project.
    ///
    /// An endpoint that answers that it is gone is disabled at once. Other endpoints are disabled only by a
    /// rule. A disabled endpoint is not disabled again.
    pub fn after_failure(
        &mut self,
        call: &EndpointCall,
        rule: Option<DisablePolicy>,
    ) -> Option<Event> {
        let now = call.ended();
        let failing = self.failing.get_or_insert(Failing { since: now, failures: 0 });
        failing.failures = failing.failures.saturating_add(1);
        let Failing { since, failures } = *failing;
        let over = |rule: DisablePolicy| failures >= rule.failures && now >= since + rule.after;
        let is_gone = call.outcome.is_err_and(SendFailure::is_gone);
        if self.disabled_at.is_some() || !(is_gone || rule.is_some_and(over)) {
            return None;
        }
        self.disabled_at = Some(now);
        let (project_mode, kind) =
            (self.project.in_mode(KeyMode::Live), EventKind::EndpointDisabled);
        let subject = Subject::Endpoint { endpoint: self.id, failures, since };
        Some(Event { project_mode, kind, subject, at: now })
    }

    /// Resets the failures after a successful call. A disabled endpoint stays disabled, and keeps its
    /// failures.
    pub const fn after_success(&mut self) {
        if self.disabled_at.is_none() {
            self.failing = None;
        }
    }

    /// Enables the endpoint and forgets the failures that disabled it.
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
    const RULE: DisablePolicy = DisablePolicy { after: Duration::from_secs(60), failures: 3 };

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

    fn failed(seconds: i64) -> EndpointCall {
        answered(500, seconds)
    }

    fn answered(status: u16, seconds: i64) -> EndpointCall {
        EndpointCall {
            id: "00000000-0000-7000-8000-000000000003".parse().unwrap(),
            endpoint: endpoint().id,
            event: "otp_sent_1".to_owned(),
            kind: EventKind::OtpSent,
            number: 1,
            at: at(seconds),
            took: Duration::ZERO,
            outcome: Err(SendFailure::Status(status)),
            again: None,
        }
    }

    #[test]
    fn an_endpoint_that_answers_that_it_is_gone_is_disabled_at_once_whatever_the_rule() {
        for rule in [None, Some(RULE)] {
            let mut gone = endpoint();
            for status in [400, 404, 409, 411, 500] {
                assert_eq!(gone.clone().after_failure(&answered(status, 7), rule), None);
            }
            let told = gone.after_failure(&answered(410, 7), rule).unwrap();
            let subject = Subject::Endpoint { endpoint: gone.id, failures: 1, since: at(7) };
            assert_eq!((told.subject, told.at), (subject, at(7)));
            assert_eq!(gone.disabled_at, Some(at(7)));
            assert_eq!(gone.after_failure(&answered(410, 8), rule), None, "it was disabled before");
        }
    }

    #[test]
    fn an_endpoint_is_disabled_once_it_has_failed_often_and_long_enough() {
        let (mut long, mut often) = (endpoint(), endpoint());
        // Long enough, and then often enough.
        assert_eq!(long.after_failure(&failed(0), Some(RULE)), None);
        assert_eq!(long.after_failure(&failed(3_600), Some(RULE)), None);
        let told = long.after_failure(&failed(3_601), Some(RULE)).unwrap();
        let subject = Subject::Endpoint { endpoint: long.id, failures: 3, since: at(0) };
        assert_eq!((told.subject, told.at), (subject, at(3_601)));
        assert_eq!(long.disabled_at, Some(at(3_601)));
        assert_eq!(long.failing, Some(Failing { since: at(0), failures: 3 }));
        // Often enough, and then long enough, to the instant.
        for second in 0..60 {
            assert_eq!(often.after_failure(&failed(second), Some(RULE)), None);
        }
        assert!(often.after_failure(&failed(60), Some(RULE)).is_some());
        assert_eq!(often.after_failure(&failed(61), Some(RULE)), None, "it was disabled before");
        assert_eq!(often.disabled_at, Some(at(60)));
    }

    #[test]
    fn a_success_resets_the_failures_and_without_a_rule_they_disable_nothing() {
        let mut endpoint = endpoint();
        for second in 0..60 {
            endpoint.after_failure(&failed(second), Some(RULE));
        }
        endpoint.after_success();
        assert_eq!(endpoint.after_failure(&failed(60), Some(RULE)), None);
        assert_eq!(endpoint.failing, Some(Failing { since: at(60), failures: 1 }));
        for day in 0..1_000 {
            assert_eq!(endpoint.after_failure(&failed(day * 86_400), None), None);
        }
    }

    #[test]
    fn an_endpoint_that_is_enabled_again_has_no_failures() {
        let mut endpoint = endpoint();
        for second in [0, 30, 60] {
            endpoint.after_failure(&failed(second), Some(RULE));
        }
        endpoint.enable();
        assert_eq!((endpoint.failing, endpoint.disabled_at), (None, None));
        assert_eq!(endpoint.after_failure(&failed(61), Some(RULE)), None);
    }
}
