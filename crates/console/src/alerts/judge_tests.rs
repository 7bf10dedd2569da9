use super::*;
use dwar_activity::installation::InstanceTrouble;
use dwar_event::Failing;
use dwar_kernel::{Channel, EndpointId, KeptSecret, Sealed};
use dwar_otp::{AttemptStatus, Reason};

const NOW: i64 = 1_000_000;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_timestamp(seconds, 0).unwrap()
}

fn project() -> ProjectId {
    "0199a000-0000-7000-8000-000000000001".parse().unwrap()
}

/// An attempt that failed for this reason, or was accepted.
fn attempt(provider: &str, reason: Option<Reason>, seconds: i64) -> DeliveryAttempt {
    let failed = reason.is_some();
    DeliveryAttempt {
        id: "0199a000-0000-7000-8000-00000000000a".parse().unwrap(),
        channel: Channel::Sms,
        provider: provider.to_owned(),
        provider_ref: None,
        status: if failed { AttemptStatus::Failed } else { AttemptStatus::Sent },
        accepted: !failed,
        reason,
        at: at(seconds),
    }
}

fn of_attempts(attempts: Vec<DeliveryAttempt>) -> Vec<(AlertKind, String, Option<Timestamp>)> {
    let found = judge(&InstallationFacts { attempts, ..InstallationFacts::default() }, at(NOW));
    found.into_iter().map(|it| (it.kind, it.subject, it.since)).collect()
}

#[test]
fn a_provider_that_refuses_our_credentials_is_told_at_once_and_is_over_with_its_next_success() {
    let auth = || attempt("msg91", Some(Reason::ProviderAuth), NOW);
    let told = [(AlertKind::ProviderAuth, "msg91".to_owned(), Some(at(NOW)))];
    assert_eq!(of_attempts(vec![auth()]), told);
    assert_eq!(of_attempts(vec![auth(), attempt("msg91", None, 5)]), told);
    assert_eq!(of_attempts(vec![attempt("msg91", None, NOW), auth()]), []);
    let mut under_way = attempt("msg91", None, NOW);
    under_way.status = AttemptStatus::Queued;
    assert_eq!(of_attempts(vec![under_way, auth()]), told, "one under way says nothing yet");
}

#[test]
fn a_provider_is_failing_once_it_failed_thrice_in_a_row() {
    let away = |seconds| attempt("meta", Some(Reason::ProviderUnavailable), seconds);
    assert_eq!(of_attempts(vec![away(9), away(8)]), []);
    let (works, other) = (attempt("meta", None, 6), attempt("msg91", None, 9));
    let all =
        vec![away(9), other, attempt("meta", Some(Reason::Timeout), 8), away(7), works, away(1)];
    let told = [(AlertKind::ProviderFailing, "meta".to_owned(), Some(at(7)))];
    assert_eq!(of_attempts(all), told, "others change nothing; it began after the last success");
}

#[test]
fn a_wrong_number_is_no_fault_of_the_provider_and_shows_that_it_answers() {
    for reason in [Reason::NotOnChannel, Reason::RejectedNumber, Reason::Blocked] {
        let away = || attempt("meta", Some(Reason::ProviderUnavailable), 1);
        let number = || attempt("meta", Some(reason), 2);
        assert_eq!(of_attempts(vec![number(), number(), number()]), [], "{reason}");
        assert_eq!(of_attempts(vec![number(), away(), away(), away()]), [], "{reason}");
    }
    let mut failed_later = attempt("meta", Some(Reason::ProviderAuth), 1);
    failed_later.accepted = true;
    assert_eq!(of_attempts(vec![failed_later]), [], "it was taken");
}

fn wallet(available: i64, low: Option<i64>) -> WalletFacts {
    WalletFacts {
        project: project(),
        name: "Shop".to_owned(),
        balance: Balance { balance: Paise(available), held: Paise(0) },
        price: Paise(25),
        spent: Paise(0),
        low: low.map(Paise),
        moved_at: Some(at(7)),
    }
}

fn of_pace(wallet: WalletFacts) -> Vec<AlertKind> {
    let found = judge(
        &InstallationFacts { wallets: vec![wallet], ..InstallationFacts::default() },
        at(NOW),
    );
    found.into_iter().map(|it| it.kind).collect()
}

fn of_wallet(wallet: WalletFacts) -> Vec<AlertKind> {
    let found = judge(
        &InstallationFacts { wallets: vec![wallet], ..InstallationFacts::default() },
        at(NOW),
    );
    assert!(found.iter().all(|it| it.project == Some(project()) && it.since == Some(at(7))));
    found.into_iter().map(|it| it.kind).collect()
}

#[test]
fn a_wallet_is_empty_where_the_next_send_is_refused_and_low_below_its_threshold() {
    assert_eq!(of_wallet(wallet(25, None)), []);
    assert_eq!(of_wallet(wallet(24, None)), [AlertKind::WalletEmpty]);
    assert_eq!(of_wallet(wallet(24, Some(100))), [AlertKind::WalletEmpty], "the worse one alone");
    assert_eq!(of_wallet(wallet(99, Some(100))), [AlertKind::WalletLow]);
    assert_eq!(of_wallet(wallet(100, Some(100))), []);
    assert_eq!(
        of_wallet(WalletFacts {
            balance: Balance { balance: Paise(99), held: Paise(99) },
            ..wallet(99, None)
        }),
        [AlertKind::WalletEmpty]
    );
    assert_eq!(
        of_wallet(WalletFacts { moved_at: None, ..wallet(0, Some(100)) }),
        [],
        "never had money"
    );
    let soon = |available, spent| {
        of_pace(WalletFacts { spent: Paise(spent), ..wallet(available, Some(1_000)) })
    };
    assert_eq!(soon(500, 500), [AlertKind::WalletLow]);
    assert_eq!(soon(500, 501), [AlertKind::WalletEmptySoon], "the worse one alone");
    assert_eq!(soon(24, 501), [AlertKind::WalletEmpty]);
    assert!(wallet(24, None).is_short() && wallet(99, Some(100)).is_short());
    assert!(!wallet(25, None).is_short() && !wallet(100, Some(100)).is_short());
}

#[test]
fn an_endpoint_is_told_while_it_fails_and_once_it_is_disabled() {
    let endpoint = |failures: u32, disabled: Option<i64>| Endpoint {
        id: "0199a000-0000-7000-8000-00000000000b".parse::<EndpointId>().unwrap(),
        project: project(),
        url: "https://shop.example.com/events?token=secret".to_owned(),
        full_phone: false,
        secret: KeptSecret { present: Sealed(Vec::new()), previous: None },
        created_at: at(0),
        failing: (failures > 0).then_some(Failing { since: at(3), failures }),
        disabled_at: disabled.map(at),
    };
    let told = |endpoint| {
        let found = judge(
            &InstallationFacts { endpoints: vec![endpoint], ..InstallationFacts::default() },
            at(NOW),
        );
        assert!(found.iter().all(|it| it.subject == "https://shop.example.com/events"));
        found.into_iter().map(|it| (it.kind, it.since)).collect::<Vec<_>>()
    };
    assert_eq!(told(endpoint(0, None)), []);
    assert_eq!(told(endpoint(2, None)), []);
    assert_eq!(told(endpoint(3, None)), [(AlertKind::EndpointFailing, Some(at(3)))]);
    assert_eq!(told(endpoint(9, Some(8))), [(AlertKind::EndpointDisabled, Some(at(8)))]);
}

#[test]
fn what_waits_is_told_when_it_waited_for_too_long() {
    let waiting = |age| Backlog { count: COUNTED + 1, oldest: Some(at(NOW - age)) };
    let told = |queues| {
        let found = judge(&InstallationFacts { queues, ..InstallationFacts::default() }, at(NOW));
        found.into_iter().map(|it| (it.kind, it.project)).collect::<Vec<_>>()
    };
    let events = |age| [(project(), waiting(age))].into();
    let all = |age| Queues {
        receipts: waiting(age),
        overdue_sends: waiting(age),
        open_holds: waiting(age),
        events: events(age),
        feed: waiting(age),
        ..Queues::default()
    };
    assert_eq!(told(all(60)), []);
    assert_eq!(told(all(300)), [(AlertKind::FeedHeldBack, None)]);
    let late = [
        (AlertKind::SendsBehind, None),
        (AlertKind::ReceiptsBehind, None),
        (AlertKind::EventsBehind, Some(project())),
        (AlertKind::FeedHeldBack, None),
    ];
    assert_eq!(told(all(301)), late);
    assert_eq!(told(all(900)).len(), 4);
    assert_eq!(told(all(901)).len(), 5, "money is on hold for as long as a send waits for reports");
    let none = Backlog { count: 0, oldest: None };
    assert_eq!(told(Queues { receipts: none, ..Queues::default() }), []);
}

fn reported(host: &str, kind: AlertKind, about: &str) -> ReportedTrouble {
    let (about, detail) = (about.to_owned(), format!("seen by {host}"));
    ReportedTrouble {
        host: host.to_owned(),
        trouble: InstanceTrouble { kind, about, detail, since: Some(at(3)) },
    }
}

#[test]
fn instances_say_the_cause_and_messages_whether_it_is_over() {
    let told = |attempts, reported| {
        let found = judge(
            &InstallationFacts { attempts, reported, ..InstallationFacts::default() },
            at(NOW),
        );
        found.into_iter().map(|it| (it.kind, it.detail, it.since)).collect::<Vec<_>>()
    };
    let seen = || {
        vec![
            reported("a", AlertKind::ProviderFailing, "meta"),
            reported("b", AlertKind::ProviderAuth, "meta"),
        ]
    };
    let auth = |since| vec![(AlertKind::ProviderAuth, "seen by b".to_owned(), Some(at(since)))];
    let away = || attempt("meta", Some(Reason::ProviderUnavailable), 9);
    assert_eq!(told(vec![], seen()), auth(3), "no message of late went to it");
    assert_eq!(told(vec![away()], seen()), auth(9));
    assert_eq!(told(vec![attempt("meta", None, 10), away()], seen()), [], "it took one");
    // After a restart no instance saw the provider's answer, and while the provider is paused its attempts
    // only say that it was unreachable.
    let first = attempt("meta", Some(Reason::ProviderAuth), 8);
    let found = told(vec![away(), away(), first], vec![]);
    assert_eq!((found[0].0, found[0].2), (AlertKind::ProviderAuth, Some(at(8))));
}

#[test]
fn what_instances_see_of_themselves_names_the_machine() {
    let loops = || reported("node-1", AlertKind::LoopRestarting, "tidy");
    let facts = InstallationFacts {
        reported: vec![loops(), loops(), reported("node-2", AlertKind::ClockDiffers, "")],
        ..InstallationFacts::default()
    };
    let titles = |all: Vec<Alert>| all.iter().map(Alert::title).collect::<Vec<_>>();
    let own = [
        "The loop tidy on node-1 does not keep running",
        "The clock of node-2 differs from the clock of the database by 20 seconds or more",
    ];
    assert_eq!(titles(judge(&facts, at(NOW))), own);
    for (cause, title) in [
        (StoreError::Unavailable(String::new()), "The database does not answer"),
        (StoreError::NoRoom, "The database has no room to write"),
    ] {
        let without = titles(judge_without_database(&cause, &facts.reported));
        assert_eq!(without, [&own[..], &[title]].concat());
    }
}

#[test]
fn the_database_is_told_of_that_takes_no_writes_or_soon_will_not() {
    let kinds = |state| {
        let found =
            judge(&InstallationFacts { database: state, ..InstallationFacts::default() }, at(NOW));
        found.into_iter().map(|it| it.kind).collect::<Vec<_>>()
    };
    for state in [
        DatabaseState::Unknown,
        DatabaseState::Writable(None),
        DatabaseState::Writable(Some(LITTLE_DISK)),
    ] {
        assert_eq!(kinds(state), []);
    }
    assert_eq!(kinds(DatabaseState::Writable(Some(LITTLE_DISK - 1))), [AlertKind::DiskFills]);
    assert_eq!(kinds(DatabaseState::Full), [AlertKind::DiskFull]);
    assert_eq!(kinds(DatabaseState::ReadOnly), [AlertKind::DatabaseReadOnly]);
}

#[test]
fn a_key_is_told_of_that_signed_for_half_a_year() {
    let old = i64::try_from(OLD_KEY.as_secs()).unwrap();
    let kinds = |age| {
        let facts = InstallationFacts {
            signs_since: Some(at(old * 2 - age)),
            ..InstallationFacts::default()
        };
        judge(&facts, at(old * 2)).into_iter().map(|it| it.kind).collect::<Vec<_>>()
    };
    assert_eq!(kinds(old), []);
    assert_eq!(kinds(old + 1), [AlertKind::SigningKeyOld]);
}

#[test]
fn what_is_on_record_says_since_when() {
    let open = OpenAlert {
        kind: AlertKind::DiskFull,
        about: "The database".into(),
        project: None,
        since: at(5),
    };
    let state = DatabaseState::Full;
    let fresh = InstallationFacts { database: state.clone(), ..InstallationFacts::default() };
    assert_eq!(judge(&fresh, at(NOW))[0].since, None);
    let known =
        InstallationFacts { database: state, open: vec![open], ..InstallationFacts::default() };
    assert_eq!(judge(&known, at(NOW))[0].since, Some(at(5)));
}

const PAGES: &str = include_str!("../../../../docs/runbooks.md");
const RULES: &str = include_str!("../../../../packaging/prometheus/dwar.rules.yml");

/// Alert rules for the same conditions, and how these write the bounds.
fn doubles() -> Vec<(AlertKind, &'static str, String)> {
    let over = |bound: Duration| format!("> {}", bound.as_secs());
    let days = OLD_KEY.as_secs() / 86_400;
    let disk = format!("< {} * 1024 * 1024 * 1024", LITTLE_DISK >> 30);
    let differs = format!(">= {}", crate::alerts::CLOCK_DIFFERS.as_secs());
    vec![
        (AlertKind::ProviderFailing, "DwarBreakerOpen", "dwar_breaker_open".into()),
        (AlertKind::SendsBehind, "DwarBacklogOld", over(LATE)),
        (AlertKind::ReceiptsBehind, "DwarBacklogOld", over(LATE)),
        (AlertKind::EventsBehind, "DwarBacklogOld", over(LATE)),
        (AlertKind::HoldsBehind, "DwarBacklogOld", over(LATE_HOLD)),
        (AlertKind::FeedHeldBack, "DwarFeedHeldBack", over(LATE_FEED)),
        (AlertKind::LoopRestarting, "DwarLoopNotRunning", "dwar_loop_running".into()),
        (AlertKind::ClockDiffers, "DwarClockDiffers", differs),
        (AlertKind::ClockSetForward, "DwarClockSetForward", over(crate::alerts::CLOCK_SET_FORWARD)),
        (AlertKind::DatabaseAway, "DwarDatabaseAway", "dwar_database_read_age_seconds".into()),
        (AlertKind::DiskFull, "DwarDiskFull", "dwar_database_has_room".into()),
        (AlertKind::DiskFills, "DwarDiskFills", disk),
        (AlertKind::SigningKeyOld, "DwarSigningKeyOld", format!("> {days} * 86400")),
    ]
}

#[test]
fn one_table_of_the_documentation_says_all_kinds() {
    let heads = PAGES.lines().filter_map(|line| line.strip_prefix("## "));
    let sections: Vec<_> = heads.map(|head| head.to_lowercase().replace(' ', "-")).collect();
    let doubles = doubles();
    let row = |kind: AlertKind| {
        let section = kind.runbook().strip_prefix("docs/runbooks.md#").unwrap();
        assert!(sections.iter().any(|known| known == section), "{kind}: {section}");
        let (severity, means, over) = (kind.severity(), kind.means(), kind.over());
        let rule = doubles.iter().find(|it| it.0 == kind).map_or("", |it| it.1);
        format!(
            "| `{kind}` | {severity} | … {means} | {over} | [what to do](#{section}) | {rule} |"
        )
    };
    let wanted = AlertKind::ALL.map(row);
    let found: Vec<_> = PAGES.lines().filter(|line| line.contains("[what to do](#")).collect();
    assert_eq!(found, wanted, "the table should be:\n{}", wanted.join("\n"));
}

#[test]
fn rules_of_prometheus_that_double_an_alert_agree_with_it() {
    for (kind, name, bound) in doubles() {
        let rule =
            RULES.split("- alert: ").find(|it| it.starts_with(&format!("{name}\n"))).unwrap();
        let wanted = [
            format!("severity: {}\n", kind.severity()),
            format!("runbook: {}\n", kind.runbook()),
            bound,
        ];
        for wanted in wanted {
            assert!(rule.contains(&wanted), "{kind} and {name} differ: {wanted}");
        }
    }
}
