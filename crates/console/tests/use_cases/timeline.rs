use dwar_app::Policies;
use dwar_console::{
    Entry, FallbackReason, NextSend, PhoneHistory, RefusalGroup, Timeline, TimelineFact,
};
use dwar_kernel::{EntryId, GuessBudget, GuessPeriod, KeyMode, Paise, ProjectId, Timestamp};
use dwar_otp::{
    AttemptStatus, Channel, Delivery, DeliveryStatus, Otp, OtpState, Reason, Refusal, RefusedSends,
    Report, Route,
};
use dwar_ratelimit::{SendBound, SendLog, SendSlot};
use dwar_testkit::{CODE, Fixtures, Line, START, minutes, seconds};
use dwar_wallet::{Balance, EntryKind, LedgerEntry};

struct Scene {
    make: Fixtures,
    line: Line,
}

impl Scene {
    fn of(mode: KeyMode) -> Self {
        let make = Fixtures::seeded(1);
        let line = make.line(make.id::<ProjectId>().in_mode(mode));
        Self { make, line }
    }

    fn live() -> Self {
        Self::of(KeyMode::Live)
    }

    /// A request with these reports, one second apart.
    fn sent(&self, reports: &[(usize, Report)]) -> Otp {
        let mut otp = self.make.otp(&self.line);
        for (second, (attempt, report)) in (1..).zip(reports) {
            let (id, now) = (otp.delivery.attempts[*attempt].id, at(second));
            let next = dwar_kernel::AttemptId::new(now, &self.make.entropy);
            otp.report(id, report.clone(), &self.make.route(), next, now);
        }
        otp
    }

    fn entry(&self, otp: &Otp, kind: EntryKind, amount: i64, second: u64) -> LedgerEntry {
        LedgerEntry {
            id: self.make.id::<EntryId>(),
            kind,
            amount: Paise(amount),
            held: Paise::ZERO,
            after: Balance::default(),
            reference: otp.id.into(),
            relayed: otp.is_relayed(),
            at: at(second),
        }
    }

    fn told(&self, requests: Vec<Otp>, charges: Vec<LedgerEntry>, second: u64) -> Vec<Entry> {
        self.timeline(requests, charges, vec![], SendLog::default(), second).entries
    }

    fn timeline(
        &self,
        requests: Vec<Otp>,
        charges: Vec<LedgerEntry>,
        refused: Vec<RefusedSends>,
        log: SendLog,
        second: u64,
    ) -> Timeline {
        let mode = self.line.project_mode.mode;
        let on_record = PhoneHistory { mode, requests, charges, refused, log };
        Timeline::of(on_record, &Policies::default().limits, at(second))
    }

    fn refused(&self, reason: Refusal, minute: u64, count: u32) -> RefusedSends {
        let Line { project_mode, index, .. } = self.line;
        RefusedSends { project_mode, phone: Some(index), reason, minute: minute_of(minute), count }
    }
}

fn minute_of(minute: u64) -> Timestamp {
    RefusedSends::minute_of(START) + minutes(minute)
}

fn at(second: u64) -> Timestamp {
    START + seconds(second)
}

fn accepted() -> Report {
    Report::Accepted { provider_ref: None, awaits_receipt: true }
}

/// The facts of the only request, each with its second.
fn facts(entries: &[Entry]) -> Vec<(Option<i64>, TimelineFact)> {
    let [Entry::Request(story)] = entries else { panic!("{entries:?}") };
    let second = |at: Timestamp| (at - START).num_seconds();
    story.facts.iter().map(|(at, fact)| (at.map(second), fact.clone())).collect()
}

fn handed(channel: Channel, provider: &str, after: Option<FallbackReason>) -> TimelineFact {
    TimelineFact::Handed { channel, provider: provider.to_owned(), after }
}

#[test]
fn a_code_that_fell_back_was_charged_and_used_is_told_step_by_step() {
    let scene = Scene::live();
    let failed = Report::Failed(Reason::NotOnChannel);
    let mut otp = scene.sent(&[(0, failed), (1, accepted()), (1, Report::Delivered)]);
    otp.guesses = vec![at(8), at(9)];
    (otp.wrong, otp.state) = (1, OtpState::Used);
    let charge = scene.entry(&otp, EntryKind::Capture, -25, 3);
    assert_eq!(
        facts(&scene.told(vec![otp], vec![charge], 60)),
        [
            (Some(0), TimelineFact::Asked),
            (Some(0), handed(Channel::Whatsapp, "meta", None)),
            (Some(1), TimelineFact::Refused(Reason::NotOnChannel)),
            (Some(1), handed(Channel::Sms, "msg91", Some(FallbackReason::Failed))),
            (Some(3), TimelineFact::Delivered),
            (Some(3), TimelineFact::Charged(Paise(25))),
            (Some(8), TimelineFact::WrongCode { left: 4 }),
            (Some(9), TimelineFact::RightCode),
        ]
    );
}

#[test]
fn a_silent_provider_a_late_failure_and_a_refund_are_told_apart() {
    let scene = Scene::live();
    let overdue = Report::Overdue { seen: AttemptStatus::Sent };
    let otp = scene.sent(&[
        (0, accepted()),
        (0, overdue),
        (1, accepted()),
        (1, Report::Failed(Reason::Blocked)),
        (0, Report::Failed(Reason::RejectedNumber)),
    ]);
    let charges = [
        scene.entry(&otp, EntryKind::Refund, 25, 6),
        scene.entry(&otp, EntryKind::Capture, -25, 4),
    ];
    let told = facts(&scene.told(vec![otp], charges.to_vec(), 60));
    let only = |fact: &TimelineFact| told.iter().filter(|(_, it)| it == fact).count();
    for fact in [
        handed(Channel::Sms, "msg91", Some(FallbackReason::Failed)),
        TimelineFact::FailedLater(Reason::Blocked),
        TimelineFact::FailedLater(Reason::RejectedNumber),
        TimelineFact::NobodyReached,
        TimelineFact::Charged(Paise(25)),
        TimelineFact::Refunded(Paise(25)),
    ] {
        assert_eq!(only(&fact), 1, "{fact:?} in {told:?}");
    }
    assert_eq!(only(&TimelineFact::NotCharged), 0);
    let silent = scene.sent(&[(0, accepted()), (0, Report::Overdue { seen: AttemptStatus::Sent })]);
    let told = facts(&scene.told(vec![silent], vec![], 60));
    let fell_back = (Some(2), handed(Channel::Sms, "msg91", Some(FallbackReason::Silent)));
    assert!(
        told.contains(&fell_back) && told.contains(&(Some(1), TimelineFact::Accepted)),
        "{told:?}"
    );
    assert_eq!(told.last().map(|it| &it.1), Some(&TimelineFact::Usable { until: at(600) }));
}

#[test]
fn every_reason_is_told_as_it_was_given() {
    let scene = Scene::live();
    for reason in [
        Reason::NotOnChannel,
        Reason::RejectedNumber,
        Reason::Blocked,
        Reason::TemplateRejected,
        Reason::ProviderAuth,
        Reason::ProviderThrottled,
        Reason::ProviderRefused,
        Reason::ProviderUnavailable,
        Reason::Timeout,
        Reason::Unknown,
    ] {
        let fail = Report::Failed(reason);
        let otp = scene.sent(&[(0, fail.clone()), (1, fail)]);
        let told = facts(&scene.told(vec![otp], vec![], 60));
        let refusals = told.iter().filter(|(_, it)| *it == TimelineFact::Refused(reason)).count();
        assert_eq!(refusals, 2, "{reason}: {told:?}");
        let end: Vec<_> = told.iter().rev().take(2).map(|(_, it)| it.clone()).collect();
        assert_eq!(end, [TimelineFact::NotCharged, TimelineFact::NobodyReached], "{reason}");
    }
}

#[test]
fn how_a_code_ended_is_told() {
    let scene = Scene::live();
    let delivered = || scene.sent(&[(0, accepted()), (0, Report::Delivered)]);
    let last = |otp: Otp, second| facts(&scene.told(vec![otp], vec![], second)).pop().unwrap();
    assert_eq!(last(delivered(), 599), (None, TimelineFact::Usable { until: at(600) }));
    assert_eq!(last(delivered(), 600), (Some(600), TimelineFact::Expired));
    let guessed = |wrong, guesses: &[u64]| Otp {
        wrong,
        guesses: guesses.iter().map(|second| at(*second)).collect(),
        state: OtpState::Locked,
        ..delivered()
    };
    let locked = guessed(5, &[5, 6, 7, 8, 9]);
    assert_eq!(last(locked.clone(), 10), (Some(9), TimelineFact::Locked { until: at(600) }));
    let told = facts(&scene.told(vec![locked], vec![], 10));
    assert!(told.contains(&(Some(9), TimelineFact::WrongCode { left: 0 })), "{told:?}");
    let stopped = guessed(2, &[5, 6]);
    assert_eq!(last(stopped, 10), (Some(6), TimelineFact::Stopped { until: at(600) }));
    // Older guesses were counted without their times.
    let old = facts(&scene.told(vec![guessed(5, &[9])], vec![], 10));
    assert!(old.contains(&(None, TimelineFact::EarlierWrong(4))), "{old:?}");
    assert!(old.contains(&(Some(9), TimelineFact::WrongCode { left: 0 })), "{old:?}");
    let first = Otp { state: OtpState::Superseded, ..delivered() };
    let second = Otp { created_at: at(30), expires_at: at(630), ..scene.make.otp(&scene.line) };
    let both = scene.told(vec![first, second], vec![], 40);
    assert_eq!(facts(&both[1..]).pop(), Some((Some(30), TimelineFact::Superseded)));
}

#[test]
fn a_relayed_code_is_told_as_one_and_replaces_none() {
    let scene = Scene::of(KeyMode::Live);
    let made = |at, state| Otp { state, ..scene.make.otp_with(&scene.line, CODE, at) };
    let first = made(at(0), OtpState::Superseded);
    let relayed = made(at(10), OtpState::Relayed);
    let last = made(at(30), OtpState::Active);
    let told = scene.told(vec![first, relayed, last], vec![], 40);
    assert_eq!(facts(&told[2..]).pop(), Some((Some(30), TimelineFact::Superseded)));
    assert_eq!(facts(&told[1..2]).pop(), Some((None, TimelineFact::Relayed { until: at(610) })));
}

#[test]
fn test_mode_costs_nothing_and_no_provider_is_said_to_be_none() {
    let scene = Scene::of(KeyMode::Test);
    let otp = scene.sent(&[(0, accepted()), (0, Report::Delivered)]);
    let told = facts(&scene.told(vec![otp], vec![], 10));
    assert!(told.contains(&(None, TimelineFact::Free)), "{told:?}");
    let scene = Scene::live();
    let route = Route { hops: Vec::new(), ..scene.make.route() };
    let mut delivery = Delivery::begin(&route, scene.make.id(), START);
    delivery.status = DeliveryStatus::Failed;
    let none = Otp { delivery, state: OtpState::Void, ..scene.make.otp(&scene.line) };
    let told = facts(&scene.told(vec![none], vec![], 10));
    let facts: Vec<_> = told.into_iter().map(|(_, fact)| fact).collect();
    assert_eq!(
        facts,
        [
            TimelineFact::Asked,
            TimelineFact::NoProvider,
            TimelineFact::NobodyReached,
            TimelineFact::NotCharged
        ]
    );
}

#[test]
fn refusals_close_together_are_one_and_those_for_another_reason_are_not() {
    let scene = Scene::live();
    let refused = vec![
        scene.refused(Refusal::Limit, 7, 1),
        scene.refused(Refusal::Limit, 5, 2),
        scene.refused(Refusal::Balance, 6, 4),
        scene.refused(Refusal::Limit, 30, 9),
    ];
    let timeline = scene.timeline(vec![], vec![], refused, SendLog::default(), 40 * 60);
    let limit = Some(Policies::default().limits.live.send.places);
    let run = |(first, last), count, reason, limit| {
        let (first, last) = (minute_of(first), minute_of(last));
        Entry::Refused(RefusalGroup { first, last, count, reason, limit })
    };
    assert_eq!(
        timeline.entries,
        [
            run((30, 30), 9, Refusal::Limit, limit),
            run((5, 7), 3, Refusal::Limit, limit),
            run((6, 6), 4, Refusal::Balance, None),
        ]
    );
}

#[test]
fn the_next_send_is_what_the_limiter_will_say() {
    let scene = Scene::live();
    let next = |log: SendLog, second| scene.timeline(vec![], vec![], vec![], log, second).next;
    let slots = |count: u64| (0..count).map(|number| SendSlot { at: at(number), forgiven: false });
    let log = |count| SendLog::new(slots(count), GuessBudget::default());
    assert_eq!(next(log(1), 60), NextSend::Now { remaining: 2 });
    assert_eq!(next(log(3), 60), NextSend::At(at(600), SendBound::Limit));
    assert_eq!(next(log(3), 600), NextSend::Now { remaining: 1 });
    let period = Some(GuessPeriod { began_at: START, wrong: 100, stopped_at: Some(START) });
    let guesses = GuessBudget { wrong: 3, last_wrong_at: Some(START), period, devices: None };
    let stopped = SendLog::new(slots(0), guesses);
    assert_eq!(next(stopped.clone(), 60), NextSend::At(at(86_400), SendBound::Stop));
    let timeline = scene.timeline(vec![], vec![], vec![], stopped, 60);
    assert_eq!(timeline.guesses, guesses);
}
