//! Promises of [`dwar_activity::FiguresStore`], and their result: figures that equal a plain recount of the
//! records.

use crate::contract::count;
use crate::scene::Scene;
use crate::{
    CODE, ClearVault, FixedClock, Line, MS, PRICES, START, SeededEntropy, Stores, minutes, race,
    seconds, watch,
};
use dwar_activity::{
    Cause, Counts, DurationHistogram, Figure, FigureChunk, FigureSpan, FiguresBuilder,
    FiguresPeriod, Grain, GuardCounts, Interval, Overview, Period, Progress, Range, RefusalFigure,
    RequestFacts, RouteFigures,
};
use dwar_app::CommonPorts;
use dwar_console::{AuditRecorder, Control, KeepFigures, ReadFigures};
use dwar_kernel::{
    Channel, Entropy, GuardVerdict, KeeperId, KeyMode, Paise, ProjectId, ProjectMode, Timestamp,
};
use dwar_login::{Cost, NewSend, Prepared};
use dwar_operator::Requester;
use dwar_otp::{
    CodeDigest, GuessPolicy, GuessVerdict, Otp, OtpState, Reason, Refusal, RefusedSends, Report,
};
use dwar_ratelimit::guard::GuardedSend;
use dwar_wallet::{Credit, Settlement};
use std::sync::Arc;
use std::time::Duration;

const LEASE: Duration = seconds(60);
const BY: Requester = Requester::command_line();

/// A keeper and a reader of figures, with their clock.
struct Desk {
    clock: Arc<FixedClock>,
    keep: KeepFigures,
    read: ReadFigures,
}

impl Desk {
    fn of(scene: &Scene, now: Timestamp) -> Self {
        let clock = Arc::new(FixedClock::at(now));
        let tools = CommonPorts {
            clock: clock.clone(),
            watch: watch(&clock),
            entropy: Arc::new(SeededEntropy::new(7)),
            vault: Arc::new(ClearVault),
            observer: Arc::new(()),
        };
        let store = || scene.stores.console.figures.clone();
        let audit =
            AuditRecorder { tools: tools.clone(), entries: scene.stores.console.audit.clone() };
        let projects = scene.stores.projects.clone();
        let control = Control { tools: tools.clone(), projects, audit };
        let keep = KeepFigures { tools, store: store(), keeper: scene.make.id() };
        Self { clock, keep, read: ReadFigures { control, store: store() } }
    }

    async fn run_at(&self, now: Timestamp) -> bool {
        self.clock.set(now);
        self.keep.run().await.unwrap()
    }

    async fn overview(&self, project_mode: ProjectMode, period: Period) -> Overview {
        self.read.overview(&BY, project_mode, FiguresPeriod::Last(period)).await.unwrap().overview
    }
}

/// A drawn request, with what the figures have to count.
struct Drawn {
    project_mode: ProjectMode,
    at: Timestamp,
    carrier: &'static str,
    tried: Vec<&'static str>,
    spent: i64,
    relayed: bool,
    delivered: bool,
    took: Option<Duration>,
    failed: &'static [&'static str],
    guard: Option<GuardVerdict>,
}

impl Scene {
    async fn send(&self, line: &Line, at: Timestamp) -> Otp {
        self.issue(self.make.otp_with(line, CODE, at)).await
    }

    async fn tell(&self, otp: &Otp, attempt: usize, report: Report) -> Otp {
        self.reports(otp, attempt, report, otp.created_at + seconds(1)).await.unwrap().0
    }

    async fn verify(&self, line: &Line, at: Timestamp) {
        let verdict = self.judge(line, CODE, GuessPolicy::OFF, at).await;
        assert!(matches!(verdict, GuessVerdict::Accepted(_)), "{verdict:?}");
    }

    async fn send_paid(&self, otp: Otp, verdict: Option<GuardVerdict>) -> Otp {
        let at = otp.created_at;
        let cost = Cost::Hold(Paise(100));
        let guard = verdict.map(|verdict| GuardedSend { visitor: None, verdict });
        let send = NewSend { cost, guard, ..self.make.new_send_of(otp.clone()) };
        let prepared = self.stores.logins.prepare(send, at).await.unwrap();
        assert!(matches!(prepared, Prepared::Ready(_)), "{prepared:?}");
        otp
    }

    /// Ends the hold of a request, unless a report did.
    async fn charge(&self, otp: &Otp, settlement: Settlement, refund: bool) {
        let (wallets, at) = (&self.stores.wallets, otp.created_at);
        let entries = [self.make.id(), self.make.id()];
        wallets.settle(otp.project_mode.project, otp.id, settlement, entries, at).await.unwrap();
        if refund {
            wallets.refund(otp.project_mode.project, otp.id, self.make.id(), at).await.unwrap();
        }
    }

    async fn pay_in(&self, project: ProjectId) {
        let credit =
            Credit { reference: "c".parse().unwrap(), ..self.make.credit(Paise(1_000_000)) };
        self.stores.wallets.credit(project, credit, START).await.unwrap();
    }

    /// Draws a request of one of six kinds, with all its consequences.
    async fn draw(&self, project_mode: ProjectMode, at: Timestamp, number: u64) -> Drawn {
        let line = self.make.line(project_mode);
        let kind = number % 6;
        let verdicts = GuardVerdict::ALL;
        let place = usize::try_from(number / 6).unwrap() % verdicts.len();
        let guard = Some(verdicts[place]);
        let guard =
            guard.filter(|_| project_mode.mode == KeyMode::Live && !number.is_multiple_of(11));
        let mut otp = self.make.otp_with(&line, CODE, at);
        if kind == 5 {
            otp = Otp { state: OtpState::Relayed, code: CodeDigest::NONE, ..otp };
        }
        let otp = match project_mode.mode {
            KeyMode::Live => self.send_paid(otp, guard).await,
            KeyMode::Test => self.issue(otp).await,
        };
        let accepted = Report::Accepted { provider_ref: None, awaits_receipt: true };
        let failed = || Report::Failed(Reason::NotOnChannel);
        let took = seconds(3 + number % 97);
        let (mut otp, carrier, settlement) = match kind {
            0 | 2 | 4 | 5 => {
                (self.tell(&otp, 0, accepted).await, "meta", Settlement::Capture(PRICES.whatsapp))
            }
            1 => {
                let next = self.tell(&otp, 0, failed()).await;
                (self.tell(&next, 1, accepted).await, "msg91", Settlement::Capture(PRICES.sms))
            }
            _ => {
                let next = self.tell(&otp, 0, failed()).await;
                (self.tell(&next, 1, failed()).await, "msg91", Settlement::Release)
            }
        };
        if kind == 0 {
            otp = self.tell(&otp, 0, Report::Delivered).await;
        }
        if kind < 2 {
            self.verify(&line, at + took).await;
        }
        if project_mode.mode == KeyMode::Live {
            self.charge(&otp, settlement, kind == 4).await;
        }
        let charged = project_mode.mode == KeyMode::Live && (kind < 3 || kind == 5);
        Drawn {
            project_mode,
            at,
            carrier,
            tried: if otp.delivery.attempts.len() == 1 {
                vec!["meta"]
            } else {
                vec!["meta", "msg91"]
            },
            spent: if charged { settlement.price().0 } else { 0 },
            relayed: kind == 5,
            delivered: kind == 0,
            took: (kind < 2).then_some(took),
            failed: match kind {
                1 => &["meta"],
                3 => &["meta", "msg91"],
                _ => &[],
            },
            guard,
        }
    }
}

/// Counts the drawn requests of a window one by one.
fn recount(
    all: &[Drawn],
    project_mode: ProjectMode,
    window: Interval,
    provider: Option<&str>,
) -> Counts {
    let mut counts = Counts::default();
    let within = |drawn: &&Drawn| {
        drawn.project_mode == project_mode && window.from <= drawn.at && drawn.at < window.until
    };
    for drawn in all.iter().filter(within) {
        let of = |name: &str| provider.is_none_or(|provider| provider == name);
        let tried = u64::try_from(drawn.tried.iter().filter(|name| of(name)).count()).unwrap();
        counts.attempts += tried;
        counts.relay_attempts += tried * u64::from(drawn.relayed);
        let failed = u64::try_from(drawn.failed.iter().filter(|name| of(name)).count()).unwrap();
        counts.causes.note(Cause::Failed(Reason::NotOnChannel), failed);
        if of(drawn.carrier) {
            counts.requests += 1;
            counts.relays += u64::from(drawn.relayed);
            counts.delivered += u64::from(drawn.delivered);
            counts.spent.0 += drawn.spent;
            counts.verified += u64::from(drawn.took.is_some());
            let verdict = drawn.guard.map(|it| GuardCounts::of(it, drawn.took.is_some()));
            verdict.iter().for_each(|it| counts.guard.add(it));
            drawn.took.iter().for_each(|took| counts.times.note(*took));
        }
    }
    counts
}

fn told(counts: &Counts) -> Counts {
    let delivery_times = DurationHistogram::default();
    Counts { accepted: 0, arrived: 0, failed: 0, delivery_times, ..counts.clone() }
}

/// For any sends, in any mode of any project, and any times at which the keeper ran: each period
/// and the preceding one, its points and its providers equal a plain recount.
pub async fn figures_are_what_a_plain_recount_says(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let other = scene.another().await;
    let entropy = SeededEntropy::new(11);
    let draw = |below: u64| {
        let mut bytes = [0; 8];
        entropy.fill(&mut bytes);
        u64::from_le_bytes(bytes) % below
    };
    let project_modes = [
        scene.project.in_mode(KeyMode::Live),
        scene.project.in_mode(KeyMode::Test),
        other.in_mode(KeyMode::Live),
    ];
    scene.pay_in(scene.project).await;
    scene.pay_in(other).await;
    let desk = Desk::of(&scene, START);
    let (mut all, mut at, mut next_run) = (Vec::new(), START, START);
    let end = START + minutes(150);
    for number in 0.. {
        at += MS * u32::try_from(draw(150_000)).unwrap();
        while next_run <= at.min(end) {
            assert!(desk.run_at(next_run).await);
            next_run += seconds(47);
        }
        if at >= end {
            break;
        }
        let project_mode = project_modes[usize::try_from(draw(3)).unwrap()];
        all.push(scene.draw(project_mode, at, number).await);
    }
    assert!(all.len() > 50, "{}", all.len());
    desk.run_at(end).await;
    for project_mode in project_modes {
        for period in Period::ALL {
            let found = desk.overview(project_mode, period).await;
            let range = Range::last(period, end);
            let (window, before) = (range.window, range.before.unwrap());
            assert_eq!(
                told(&found.total),
                recount(&all, project_mode, window, None),
                "{project_mode:?} {period}"
            );
            let earlier = told(found.before.as_ref().unwrap());
            assert_eq!(earlier, recount(&all, project_mode, before, None), "before {period}");
            for (point, counts) in &found.series {
                let expected = recount(&all, project_mode, *point, None);
                assert_eq!(told(counts), expected, "{point:?} {period}");
            }
            for RouteFigures { channel, provider, counts, .. } in &found.routes {
                assert_eq!(*channel == Channel::Whatsapp, provider == "meta");
                assert_eq!(
                    told(counts),
                    recount(&all, project_mode, window, Some(provider)),
                    "{provider}"
                );
                assert!(counts.accepted + counts.failed >= counts.attempts);
                assert_eq!(counts.arrived, counts.delivered);
            }
        }
        let elsewhere = scene.another().await.in_mode(project_mode.mode);
        assert_eq!(desk.overview(elsewhere, Period::Day).await.total, Counts::default());
    }
    // The sums of many projects equal those of each project's overview.
    let settled = stores.console.figures.progress().await.unwrap().settled.unwrap();
    let spans = Range::last(Period::Day, end).window.spans(Grain::Hour, settled);
    let both = vec![scene.project, other];
    let traffic = stores.console.figures.traffic(both, KeyMode::Live, spans).await.unwrap();
    for project_mode in [project_modes[0], project_modes[2]] {
        let (total, sum) =
            (desk.overview(project_mode, Period::Day).await.total, traffic[&project_mode.project]);
        assert!(total.spent > Paise::ZERO);
        assert_eq!(
            (sum.requests, sum.verified, sum.spent),
            (total.requests, total.verified, total.spent)
        );
        assert_eq!(
            (sum.trusted, sum.trusted_verified),
            (total.guard.trusted, total.guard.trusted_verified)
        );
        assert!(sum.trusted > sum.trusted_verified && total.guard.refusable_verified > 0);
    }
    let (from, until) = (START + minutes(37), START + minutes(101));
    for project_mode in project_modes {
        let wanted = FiguresPeriod::Between(from, until);
        let found = desk.read.overview(&BY, project_mode, wanted).await.unwrap().overview;
        let Range { window, before, .. } = wanted.range(end).unwrap();
        assert_eq!(
            told(&found.total),
            recount(&all, project_mode, window, None),
            "{project_mode:?}"
        );
        let earlier = told(found.before.as_ref().unwrap());
        assert_eq!(
            earlier,
            recount(&all, project_mode, before.unwrap(), None),
            "before {project_mode:?}"
        );
    }
    let again = desk.overview(project_modes[0], Period::Month).await;
    desk.run_at(end).await;
    desk.run_at(end).await;
    assert_eq!(
        desk.overview(project_modes[0], Period::Month).await,
        again,
        "a repetition counted again"
    );
}

/// Refused sends are counted in their minute, hour and day, by reason, even if nothing was sent; delivery
/// times are counted beside them.
pub async fn what_was_refused_is_counted_by_its_reason(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let (desk, live) = (Desk::of(&scene, START), scene.project.in_mode(KeyMode::Live));
    desk.run_at(START).await;
    let minute = Grain::Minute.begin(START);
    let refuse = async |project_mode, reason, after: u64, count| {
        let (phone, at) = (Some(line.index), minute + minutes(after));
        let refused = RefusedSends { project_mode, phone, reason, minute: at, count };
        stores.refusals.count(scene.make.id(), vec![refused]).await.unwrap();
    };
    refuse(live, Refusal::Balance, 0, 2).await;
    refuse(live, Refusal::Balance, 0, 3).await;
    refuse(live, Refusal::Limit, 0, 1).await;
    refuse(live, Refusal::Limit, 61, 7).await;
    refuse(scene.project.in_mode(KeyMode::Test), Refusal::Stop, 0, 9).await;
    refuse(scene.another().await.in_mode(KeyMode::Live), Refusal::Stop, 0, 9).await;
    let otp = scene.send(&line, START).await;
    scene.reports(&otp, 0, Report::Delivered, START + seconds(4)).await.unwrap();
    let of_hour =
        |wanted: Refusal| RefusalFigure { project_mode: live, minute, reason: wanted, count: 0 };
    let window = Interval { from: minute, until: minute + minutes(120) };
    let found = stores.console.figures.refused(window).await.unwrap();
    let mut own: Vec<_> = found.iter().filter(|it| it.project_mode == live).copied().collect();
    own.sort_by_key(|it| it.reason);
    let expected = [
        RefusalFigure { count: 1, ..of_hour(Refusal::Limit) },
        RefusalFigure { count: 5, ..of_hour(Refusal::Balance) },
    ];
    assert_eq!(own, expected, "of the first hour alone");
    // Counted in minutes first, then in hours and days, and never twice.
    for after in [1, 62, 62 + 61, 62 + 61, 300] {
        desk.run_at(START + minutes(after)).await;
        let total = desk.overview(live, Period::Day).await.total;
        assert_eq!(total.requests, 1, "{after}");
        assert_eq!(total.causes.of(Cause::Refused(Refusal::Balance)), 5, "{after}");
        let of_limit = if after > 61 { 8 } else { 1 };
        assert_eq!(total.causes.of(Cause::Refused(Refusal::Limit)), of_limit, "{after}");
        assert_eq!(total.causes.sum(), 5 + of_limit, "{after}");
        assert_eq!(total.delivery_times.median().unwrap().as_secs(), 4);
    }
    let (grains, days) = (all_of(&scene, Grain::Hour).await, all_of(&scene, Grain::Day).await);
    for figures in [grains, days] {
        assert_eq!(figures.iter().map(|it| it.counts.causes.refused()).sum::<u64>(), 13);
    }
    let overview = desk.overview(live, Period::Day).await;
    assert_eq!(overview.routes.len(), 1, "{overview:?}");
}

/// A request counts in the minute, hour and day in which it was made, to the millisecond.
pub async fn a_request_counts_where_it_was_made_to_the_millisecond(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let midnight = Grain::Day.begin(START) + Grain::Day.length();
    for at in [midnight - MS, midnight, midnight + minutes(60) - MS] {
        scene.send(&scene.line(), at).await;
    }
    let desk = Desk::of(&scene, midnight + minutes(180));
    desk.run_at(midnight + minutes(180)).await;
    for (grain, expected) in [
        (Grain::Minute, vec![midnight - minutes(1), midnight, midnight + minutes(59)]),
        (Grain::Hour, vec![midnight - minutes(60), midnight]),
        (Grain::Day, vec![midnight - Grain::Day.length(), midnight]),
    ] {
        assert_eq!(began(&all_of(&scene, grain).await), expected, "{grain}");
    }
    let to_midnight =
        |from| FigureSpan { grain: Grain::Minute, window: Interval { from, until: midnight } };
    let spans = vec![to_midnight(midnight - minutes(1))];
    let found =
        stores.console.figures.figures(scene.project.in_mode(KeyMode::Live), spans).await.unwrap();
    assert_eq!(began(&found), [midnight - minutes(1)]);
}

async fn all_of(scene: &Scene, grain: Grain) -> Vec<Figure> {
    let window =
        Interval { from: START - minutes(60 * 24 * 70), until: START + minutes(60 * 24 * 70) };
    let spans = vec![FigureSpan { grain, window }];
    scene.stores.console.figures.figures(scene.project.in_mode(KeyMode::Live), spans).await.unwrap()
}

fn began(figures: &[Figure]) -> Vec<Timestamp> {
    let mut began: Vec<_> = figures.iter().map(|figure| figure.began).collect();
    began.sort();
    began
}

/// A receipt and a verification that come minutes later are counted when their minute is counted
/// again, five and fifteen minutes after the send; those that come after an hour are not.
pub async fn what_comes_late_is_counted_until_the_minute_is_settled(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let (desk, live) = (Desk::of(&scene, START), scene.project.in_mode(KeyMode::Live));
    let otp = scene.send(&line, START).await;
    let delivered = || async {
        let total = desk.overview(live, Period::Day).await.total;
        (total.requests, total.delivered, total.verified)
    };
    let run_until = async |from: u64, until: u64| {
        for second in (from..until).step_by(20) {
            desk.run_at(START + seconds(second)).await;
        }
    };
    run_until(0, 240).await;
    assert_eq!(delivered().await, (1, 0, 0));
    scene.tell(&otp, 0, Report::Delivered).await;
    run_until(240, 340).await;
    assert_eq!(delivered().await, (1, 0, 0));
    run_until(340, 400).await;
    assert_eq!(delivered().await, (1, 1, 0));
    scene.verify(&line, START + seconds(590)).await;
    run_until(400, 1_000).await;
    assert_eq!(delivered().await, (1, 1, 1));
    let late = scene.send(&scene.line(), START + seconds(1)).await;
    run_until(1_000, 3_740).await;
    assert_eq!(delivered().await, (2, 1, 1));
    let settled = all_of(&scene, Grain::Hour).await;
    assert_eq!(settled.iter().map(|figure| figure.counts.requests).sum::<u64>(), 2);
    scene.tell(&late, 0, Report::Delivered).await;
    run_until(3_740, 5_000).await;
    assert_eq!(delivered().await, (2, 1, 1));
    assert_eq!(all_of(&scene, Grain::Hour).await, settled);
}

/// After hours in which no keeper ran, every request is counted once, in minutes, hours and days.
pub async fn a_gap_of_hours_is_caught_up_with(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let (desk, live) = (Desk::of(&scene, START), scene.project.in_mode(KeyMode::Live));
    desk.run_at(START).await;
    let fresh = desk.read.overview(&BY, live, FiguresPeriod::Last(Period::Day)).await.unwrap();
    assert_eq!((fresh.age, fresh.catching_up), (Some(Duration::ZERO), false));
    let minute = Grain::Minute.begin(START);
    let sends: Vec<_> = (0..60).map(|number| minute + minutes(number * 7)).collect();
    for at in &sends {
        scene.send(&scene.line(), *at).await;
    }
    let now = START + minutes(9 * 60);
    let due =
        || async { desk.read.overview(&BY, live, FiguresPeriod::Last(Period::Day)).await.unwrap() };
    desk.clock.set(now);
    assert!(due().await.catching_up);
    desk.run_at(now).await;
    assert!(!due().await.catching_up);
    assert_eq!(due().await.overview.total.requests, 60);
    assert_eq!(due().await.age, Some(Duration::ZERO));
    assert_eq!(desk.overview(live, Period::Month).await.total.requests, 60);
    let other = Scene::open(stores).await;
    let both = || vec![scene.project, other.project];
    let traffic = desk.read.traffic(&BY, both()).await.unwrap();
    let sums: Vec<_> = traffic.iter().map(|(project, sum)| (*project, sum.requests)).collect();
    assert_eq!(sums, [(scene.project, 60)], "the other sent nothing");
    let figures = &stores.console.figures;
    assert_eq!(figures.traffic(both(), KeyMode::Test, Vec::new()).await.unwrap().len(), 0);
    assert_eq!(began(&all_of(&scene, Grain::Minute).await), sends);
    let sum =
        |figures: Vec<Figure>| figures.iter().map(|figure| figure.counts.requests).sum::<u64>();
    assert_eq!(sum(all_of(&scene, Grain::Hour).await), 60);
    assert_eq!(sum(all_of(&scene, Grain::Day).await), 60);
    desk.run_at(now + seconds(20)).await;
    assert_eq!(sum(all_of(&scene, Grain::Hour).await), 60);
}

/// The first run on a store that was in use counts the existing requests, over as many runs as it takes.
pub async fn what_was_there_before_is_counted_too(stores: &Stores) {
    let scene = Scene::open(stores).await;
    for number in 0..30_u32 {
        scene.send(&scene.line(), START - minutes(60 * 24) * number).await;
    }
    let desk = Desk::of(&scene, START + minutes(90));
    for run in 0..3 {
        desk.run_at(START + minutes(90) + seconds(20) * run).await;
    }
    let overview = desk.overview(scene.project.in_mode(KeyMode::Live), Period::Month).await;
    assert_eq!(overview.total.requests, 30);
    assert!(overview.series.iter().all(|(_, counts)| counts.requests == 1), "{overview:?}");
}

/// Requests are read in the order of creation and once each, with any page size, also several of one instant.
pub async fn requests_are_read_in_order_and_each_once(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let mut sends = Vec::new();
    for number in 0..20_u32 {
        let otp = scene.send(&scene.line(), START + MS * (number / 6)).await;
        scene.tell(&otp, 0, Report::Failed(Reason::NotOnChannel)).await;
        sends.push(otp.id);
    }
    sends.sort();
    let window = Interval { from: START, until: START + MS * 4 };
    for limit in [1, 3, 7, 20, 50] {
        let (mut seen, mut last) = (Vec::new(), None);
        loop {
            let page = stores.console.figures.sent(window, last, limit).await.unwrap();
            assert!(page.iter().all(|sent| sent.tried.len() == 2));
            let ids = page.iter().map(|sent| sent.id);
            last = ids.clone().next_back().or(last);
            seen.extend(ids);
            if page.is_empty() {
                break;
            }
        }
        assert_eq!(seen, sends, "{limit} at once");
    }
    let early = Interval { from: START, until: START + MS };
    assert_eq!(stores.console.figures.sent(early, None, 50).await.unwrap().len(), 6);
}

fn chunk_of(sent: &[RequestFacts], window: Interval) -> FigureChunk {
    let mut gathering = FiguresBuilder::of(window);
    sent.iter().for_each(|sent| assert!(gathering.push(sent).is_continue()));
    gathering.chunk()
}

/// While one keeper has the lease no other gets it, to the instant at which it ends; a keeper that lost it
/// writes nothing any more.
pub async fn one_keeper_works_and_who_lost_the_lease_writes_nothing(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.send(&scene.line(), START).await;
    let store = &stores.console.figures;
    let [first, second]: [KeeperId; 2] = [scene.make.id(), scene.make.id()];
    let lead = |keeper, now| store.acquire_lease(keeper, now, LEASE);
    assert_eq!(lead(first, START).await.unwrap(), Some(Progress::default()));
    assert_eq!(lead(second, START + LEASE - MS).await.unwrap(), None);
    assert!(lead(first, START + seconds(1)).await.unwrap().is_some());
    assert_eq!(lead(second, START + LEASE).await.unwrap(), None);
    let from = Grain::Minute.begin(START);
    let window = Interval { from, until: from + minutes(1) };
    let chunk = chunk_of(&store.sent(window, None, 9).await.unwrap(), window);
    assert!(store.replace(first, chunk.clone()).await.unwrap());
    assert!(store.refreshed(first, START).await.unwrap());
    assert!(lead(second, START + LEASE + seconds(1)).await.unwrap().is_some());
    let emptied = FigureChunk { minutes: Vec::new(), ..chunk.clone() };
    assert!(!store.replace(first, emptied.clone()).await.unwrap());
    assert!(!store.settle(first, emptied.clone()).await.unwrap());
    assert!(!store.refreshed(first, START + minutes(9)).await.unwrap());
    assert_eq!(store.progress().await.unwrap().as_of, Some(START));
    assert_eq!(all_of(&scene, Grain::Minute).await, chunk.minutes);
    assert!(store.settle(second, chunk.clone()).await.unwrap());
    assert_eq!(store.progress().await.unwrap().settled, Some(window.until));
    // Settled minutes are neither replaced nor settled again, and none may be skipped.
    assert!(!store.replace(second, emptied.clone()).await.unwrap());
    assert!(!store.settle(second, chunk.clone()).await.unwrap());
    let later = Interval { from: window.until + minutes(1), until: window.until + minutes(2) };
    assert!(!store.settle(second, FigureChunk { window: later, ..emptied }).await.unwrap());
    assert_eq!(all_of(&scene, Grain::Hour).await[0].counts.requests, 1);
}

pub async fn leads_at_once_go_to_one_keeper(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let led = race(16, |_| {
        let (store, keeper) = (stores.console.figures.clone(), scene.make.id());
        async move { store.acquire_lease(keeper, START, LEASE).await.unwrap().is_some() }
    });
    assert_eq!(count(&led.await, |led| *led), 1);
}

/// A chunk that is settled many times concurrently counts once in its hour.
pub async fn settlements_at_once_count_once(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.send(&scene.line(), START).await;
    let keeper = scene.make.id();
    stores.console.figures.acquire_lease(keeper, START, LEASE).await.unwrap();
    let from = Grain::Minute.begin(START);
    let window = Interval { from, until: from + minutes(1) };
    let sent = stores.console.figures.sent(window, None, 9).await.unwrap();
    let settled = race(16, |_| {
        let (store, chunk) = (stores.console.figures.clone(), chunk_of(&sent, window));
        async move { store.settle(keeper, chunk).await.unwrap() }
    });
    assert_eq!(count(&settled.await, |settled| *settled), 1);
    for grain in [Grain::Hour, Grain::Day] {
        let figures = all_of(&scene, grain).await;
        assert_eq!(figures.iter().map(|figure| figure.counts.requests).sum::<u64>(), 1);
    }
}

/// A sweep deletes figures that began before its instants, each grain by its own, and nothing else.
pub async fn a_sweep_drops_old_figures(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let hour = Grain::Hour.begin(START);
    for number in 0..5 {
        scene.send(&scene.line(), hour + minutes(60 * number)).await;
    }
    let desk = Desk::of(&scene, hour + minutes(60 * 7));
    desk.run_at(hour + minutes(60 * 7)).await;
    let swept = stores.console.figures.sweep(hour + minutes(180), hour + minutes(60));
    assert_eq!(swept.await.unwrap(), 5);
    let hours = |from: u64| (from..5).map(|number| hour + minutes(60 * number)).collect::<Vec<_>>();
    assert_eq!(began(&all_of(&scene, Grain::Minute).await), hours(3));
    assert_eq!(began(&all_of(&scene, Grain::Hour).await), hours(1));
    assert_eq!(all_of(&scene, Grain::Day).await, []);
}
