use super::*;
use std::time::Duration;

const WINDOW: Duration = Duration::from_secs(20);
const LEASE: Duration = Duration::from_secs(30);

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_timestamp(1_800_000_000 + seconds, 0).unwrap()
}

fn id(number: u8) -> AttemptId {
    format!("00000000-0000-7000-8000-0000000000{number:02}").parse().unwrap()
}

fn route() -> Route {
    let hop = |channel| Hop::new(channel, "fake");
    Route {
        hops: vec![hop(Channel::Whatsapp), hop(Channel::Sms)],
        receipt_window: Some(WINDOW),
        lease: LEASE,
    }
}

fn accepted() -> Report {
    Report::Accepted { provider_ref: Some("ref".to_owned()), awaits_receipt: true }
}

/// Overdue, as noticed while the attempt had this status.
const fn overdue(seen: AttemptStatus) -> Report {
    Report::Overdue { seen }
}

struct Life(Delivery);

impl Life {
    fn new() -> Self {
        Self(Delivery::begin(&route(), id(1), at(0)))
    }

    fn report(&mut self, attempt: u8, report: Report, seconds: i64) -> DeliveryStep {
        self.0.report(id(attempt), report, true, &route(), id(2), at(seconds))
    }
}

#[test]
fn an_accepted_message_waits_for_its_receipt_and_costs_its_channel() {
    let mut life = Life::new();
    assert_eq!(life.0.due_at, Some(at(30)));
    assert_eq!(life.report(1, accepted(), 1), DeliveryStep::Wait);
    assert_eq!((life.0.status, life.0.due_at), (DeliveryStatus::Sent, Some(at(21))));
    let step = life.report(1, Report::Delivered, 3);
    assert_eq!(step, DeliveryStep::Settle(Charge::Channel(Channel::Whatsapp)));
    assert_eq!((life.0.status, life.0.due_at), (DeliveryStatus::Delivered, None));
}

#[test]
fn a_provider_without_receipts_is_settled_at_once() {
    let mut life = Life::new();
    let report = Report::Accepted { provider_ref: None, awaits_receipt: false };
    assert_eq!(life.report(1, report, 1), DeliveryStep::Settle(Charge::Channel(Channel::Whatsapp)));
}

#[test]
fn a_refusal_tries_the_next_channel_and_two_refusals_fail_for_nothing() {
    let mut life = Life::new();
    let step = life.report(1, Report::Failed(Reason::NotOnChannel), 1);
    assert!(matches!(step, DeliveryStep::Try(attempt) if attempt.channel == Channel::Sms));
    assert_eq!(life.0.due_at, Some(at(31)));
    let step = life.report(2, Report::Failed(Reason::ProviderUnavailable), 2);
    assert_eq!(step, DeliveryStep::Settle(Charge::Nothing));
    assert_eq!(life.0.status, DeliveryStatus::Failed);
}

#[test]
fn a_late_failure_falls_back_and_costs_the_channel_that_accepted() {
    let mut life = Life::new();
    life.report(1, accepted(), 1);
    let step = life.report(1, Report::Failed(Reason::Blocked), 2);
    assert!(matches!(step, DeliveryStep::Try(_)));
    assert_eq!(life.report(2, accepted(), 3), DeliveryStep::Settle(Charge::Channel(Channel::Sms)));
}

#[test]
fn no_receipt_in_the_window_falls_back_and_the_last_acceptor_is_paid() {
    let mut life = Life::new();
    life.report(1, accepted(), 1);
    assert!(matches!(life.report(1, overdue(AttemptStatus::Sent), 21), DeliveryStep::Try(_)));
    let step = life.report(2, Report::Failed(Reason::Timeout), 22);
    assert_eq!(step, DeliveryStep::Settle(Charge::Channel(Channel::Whatsapp)));
    assert_eq!(life.0.status, DeliveryStatus::Sent);
}

#[test]
fn a_lost_call_is_not_repeated_elsewhere() {
    let mut life = Life::new();
    assert_eq!(
        life.report(1, overdue(AttemptStatus::Queued), 30),
        DeliveryStep::Settle(Charge::Nothing)
    );
    assert_eq!(life.0.attempts[0].reason, Some(Reason::Unknown));
    assert_eq!(life.0.status, DeliveryStatus::Failed);
}

#[test]
fn an_unwanted_code_is_settled_without_fallback() {
    let mut life = Life::new();
    life.report(1, accepted(), 1);
    let step = life.0.report(id(1), overdue(AttemptStatus::Sent), false, &route(), id(2), at(21));
    assert_eq!(step, DeliveryStep::Settle(Charge::Channel(Channel::Whatsapp)));
}

#[test]
fn repeated_and_reordered_reports_never_move_a_status_back() {
    let mut life = Life::new();
    life.report(1, Report::Delivered, 1);
    for late in [accepted(), Report::Failed(Reason::Blocked), Report::Delivered] {
        assert_eq!(life.report(1, late, 2), DeliveryStep::Wait);
        assert_eq!(life.0.status, DeliveryStatus::Delivered);
    }
    assert_eq!(life.0.attempts.len(), 1);
}

#[test]
fn a_receipt_may_overtake_the_answer_of_the_call() {
    let mut life = Life::new();
    life.report(1, Report::Delivered, 1);
    life.report(1, accepted(), 2);
    assert_eq!(life.0.attempts[0].provider_ref.as_deref(), Some("ref"));
}

#[test]
fn a_late_failure_of_the_first_channel_leaves_the_second_alone() {
    let mut life = Life::new();
    life.report(1, accepted(), 1);
    life.report(1, overdue(AttemptStatus::Sent), 21);
    assert_eq!(life.report(1, Report::Failed(Reason::Blocked), 22), DeliveryStep::Wait);
    assert_eq!(life.report(2, accepted(), 23), DeliveryStep::Settle(Charge::Channel(Channel::Sms)));
    assert_eq!(life.0.attempts.len(), 2);
}

fn two_providers_each() -> Route {
    let hop = |channel, provider: &str| Hop::new(channel, provider);
    Route {
        hops: vec![
            hop(Channel::Whatsapp, "one"),
            hop(Channel::Whatsapp, "two"),
            hop(Channel::Sms, "three"),
            hop(Channel::Sms, "four"),
        ],
        ..route()
    }
}

/// The providers tried if every one of them fails for the same reason.
fn tried(reason: Reason) -> Vec<String> {
    let route = two_providers_each();
    let mut delivery = Delivery::begin(&route, id(1), at(0));
    let mut last = 1;
    while let DeliveryStep::Try(_) =
        delivery.report(id(last), Report::Failed(reason), true, &route, id(last + 1), at(1))
    {
        last += 1;
    }
    delivery.attempts.into_iter().map(|attempt| attempt.provider).collect()
}

#[test]
fn a_provider_in_trouble_is_followed_by_the_next_and_a_number_in_trouble_by_the_next_channel() {
    assert_eq!(tried(Reason::ProviderUnavailable), ["one", "two", "three", "four"]);
    assert_eq!(tried(Reason::ProviderRefused), ["one", "two", "three", "four"]);
    assert_eq!(tried(Reason::NotOnChannel), ["one", "three"]);
}

#[test]
fn a_message_without_a_receipt_is_followed_by_the_next_channel() {
    let route = two_providers_each();
    let mut delivery = Delivery::begin(&route, id(1), at(0));
    delivery.report(id(1), accepted(), true, &route, id(2), at(1));
    let late = overdue(AttemptStatus::Sent);
    let DeliveryStep::Try(next) = delivery.report(id(1), late, true, &route, id(2), at(21)) else {
        panic!("SMS is tried");
    };
    assert_eq!(next.provider, "three");
}

#[test]
fn a_route_that_changed_meanwhile_goes_on_behind_the_channel_it_had_reached() {
    let route = two_providers_each();
    let mut delivery = Delivery::begin(&self::route(), id(1), at(0));
    let failed = Report::Failed(Reason::ProviderUnavailable);
    let DeliveryStep::Try(next) = delivery.report(id(1), failed, true, &route, id(2), at(1)) else {
        panic!("SMS is tried");
    };
    assert_eq!(next.provider, "three");
}

#[test]
fn overdue_changes_nothing_on_an_attempt_that_has_a_later_word() {
    use AttemptStatus::{Queued, Sent};
    let delivered: &[Report] = &[Report::Delivered];
    let refused: &[Report] = &[Report::Failed(Reason::NotOnChannel)];
    let failed_later: &[Report] = &[Report::Failed(Reason::Blocked)];
    for (before, seen, words) in [
        (None, Queued, [accepted()].as_slice()),
        (None, Queued, delivered),
        (None, Queued, refused),
        (Some(accepted()), Sent, delivered),
        (Some(accepted()), Sent, failed_later),
    ] {
        let mut life = Life::new();
        for word in before.iter().chain(words) {
            life.report(1, word.clone(), 1);
        }
        let once = life.0.clone();
        assert_eq!(
            life.report(1, overdue(seen), 40),
            DeliveryStep::Wait,
            "{seen:?}, then {words:?}"
        );
        assert_eq!(life.0, once);
    }
}

#[test]
fn overdue_changes_nothing_on_a_delivery_that_has_arrived_by_another_way() {
    for answer in [None, Some(accepted())] {
        let mut life = Life::new();
        life.report(1, accepted(), 1);
        life.report(1, overdue(AttemptStatus::Sent), 21);
        let seen = answer.as_ref().map_or(AttemptStatus::Queued, |_| AttemptStatus::Sent);
        if let Some(answer) = answer {
            life.report(2, answer, 22);
        }
        life.report(1, Report::Delivered, 23);
        let once = life.0.clone();
        assert_eq!(life.report(2, overdue(seen), 60), DeliveryStep::Wait);
        assert_eq!(life.0, once);
    }
}

/// How far a send gets if its only provider makes these reports.
fn reach(reports: &[Report]) -> FailureReach {
    let mut life = Life::new();
    life.0.attempts[0].channel = Channel::Sms;
    for report in reports {
        life.report(1, report.clone(), 1);
    }
    life.0.reach()
}

#[test]
fn only_a_refusal_is_certain_to_have_reached_nobody() {
    for (reason, certain) in [
        (Reason::NotOnChannel, true),
        (Reason::RejectedNumber, true),
        (Reason::Blocked, true),
        (Reason::TemplateRejected, true),
        (Reason::ProviderAuth, true),
        (Reason::ProviderThrottled, true),
        (Reason::ProviderRefused, true),
        (Reason::ProviderUnavailable, true),
        (Reason::Timeout, false),
        (Reason::Unknown, false),
    ] {
        let refused = reach(&[Report::Failed(reason)]) == FailureReach::Refused;
        assert_eq!(refused, certain, "{reason:?}");
        // A message that was accepted first may have been sent, whatever is reported later.
        assert_eq!(reach(&[accepted(), Report::Failed(reason)]), FailureReach::Possible);
    }
    assert_eq!(reach(&[]), FailureReach::Possible);
    assert_eq!(reach(&[accepted()]), FailureReach::Possible);
    assert_eq!(reach(&[Report::Delivered]), FailureReach::Possible);
    assert_eq!(reach(&[overdue(AttemptStatus::Queued)]), FailureReach::Possible);
}

#[test]
fn one_provider_that_may_have_sent_something_is_enough() {
    let mut life = Life::new();
    life.report(1, Report::Failed(Reason::Timeout), 1);
    life.report(2, Report::Failed(Reason::RejectedNumber), 2);
    assert_eq!((life.0.status, life.0.reach()), (DeliveryStatus::Failed, FailureReach::Possible));
    let mut life = Life::new();
    life.report(1, Report::Failed(Reason::NotOnChannel), 1);
    life.report(2, Report::Failed(Reason::RejectedNumber), 2);
    assert_eq!((life.0.status, life.0.reach()), (DeliveryStatus::Failed, FailureReach::Refused));
    let nobody = Delivery { attempts: Vec::new(), ..life.0 };
    assert_eq!(nobody.reach(), FailureReach::NoProvider);
}

#[test]
fn an_acceptance_that_comes_after_a_failure_is_kept() {
    let mut life = Life::new();
    life.report(1, Report::Failed(Reason::ProviderUnavailable), 1);
    life.report(1, accepted(), 2);
    assert!(life.0.attempts[0].accepted);
    assert_eq!(life.0.attempts[0].status, AttemptStatus::Failed);
}
