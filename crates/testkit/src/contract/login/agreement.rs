use super::WINDOW;
use crate::contract::draw::Draw;
use crate::contract::wallet::Books;
use crate::scene::{Scene, stored_session};
use crate::{CODE, Line, MS, START, Stores, WRONG_CODE, any_project, minutes, seconds};
use dwar_event::Event;
use dwar_identity::Identity;
use dwar_kernel::{GuessBudget, GuessPolicy, KeyMode, OtpId, Timestamp};
use dwar_login::{
    Cost, MoneyOutcome, NewSend, Prepared, Redeemed, Redemption, ReportOutcome, SendReport,
};
use dwar_otp::{
    AttemptStatus, CodeDigest, Delivery, DeliveryStatus, DeliveryStep, GuessVerdict, Otp, OtpState,
    Reason, Report, ReportedRequest,
};
use dwar_project::ProjectChange;
use dwar_ratelimit::{Quota, SendLog, SendQuota, SendSlot};
use dwar_session::Session;
use dwar_wallet::{Paise, Settlement};
use std::collections::BTreeMap;
use std::fmt::Debug;

const CASES: u64 = 24;
const STEPS: u32 = 60;
/// Three places, and five sends that reach a provider.
const QUOTA: SendQuota = SendQuota {
    places: Quota { limit: 3, window: WINDOW },
    reach: Some(Quota { limit: 5, window: WINDOW }),
};
const POLICY: GuessPolicy = GuessPolicy {
    slow_from: 3,
    slow_pace: minutes(2),
    stop_at: 5,
    stop_for: minutes(5),
    stop_pace: minutes(3),
    period: minutes(60),
    device_stop_at: 4,
    ..GuessPolicy::OFF
};

struct Phone {
    line: Line,
    places: Vec<(OtpId, SendSlot)>,
    budget: GuessBudget,
    otps: Vec<Otp>,
    identity: Option<Identity>,
}

/// The expected result of all steps so far: the rules of [`dwar_login`] over plain values.
struct Model {
    books: Books,
    phones: Vec<Phone>,
    sessions: Vec<Session>,
    views: Vec<Otp>,
}

impl Phone {
    fn log(&self) -> SendLog {
        SendLog::new(self.places.iter().map(|(_, slot)| *slot), self.budget)
    }
}

impl Model {
    fn prepare(&mut self, phone: usize, send: &NewSend, now: Timestamp) -> Prepared {
        let Self { books, phones, .. } = self;
        let (phone, id) = (&mut phones[phone], send.otp.id);
        let hold = |own| Ok::<_, ()>(books.hold(own, send.entry));
        let prepared = send.judge(&mut phone.log(), hold, now).unwrap();
        if let Prepared::Ready(admission) = &prepared {
            if send.takes_place() {
                phone.places.push((id, SendSlot { at: now, forgiven: false }));
            }
            if send.supersedes() {
                phone.otps.iter_mut().for_each(Otp::supersede);
            }
            phone.otps.push(send.recorded(admission));
        }
        prepared
    }

    fn report(
        &mut self,
        (phone, place): (usize, usize),
        report: &SendReport,
        now: Timestamp,
    ) -> (Otp, DeliveryStep) {
        let Self { books, phones, .. } = self;
        let phone = &mut phones[phone];
        let otp = &mut phone.otps[place];
        let ReportOutcome { step, ending, is_forgiven, event } = report.apply(otp, now);
        books.events.extend(event);
        if let Some(ending) = ending {
            let money = books.of_send(otp.id);
            if let MoneyOutcome::Settle(_) = ending {
                books.holds.retain(|hold| hold.send != otp.id);
            }
            let moved = ending.book(&mut books.wallet, money, report.entries, now);
            books.enter(moved);
        }
        if is_forgiven {
            let own = phone.places.iter_mut().filter(|(send, _)| *send == otp.id);
            own.for_each(|(_, slot)| slot.forgiven = true);
        }
        (otp.clone(), step)
    }

    fn redeem(&mut self, phone: usize, redemption: &Redemption, now: Timestamp) -> Redeemed {
        let phone = &mut self.phones[phone];
        let Some(otp) = phone.otps.iter_mut().find(|otp| otp.state.is_open()) else {
            return Redeemed::NotFound;
        };
        let (verdict, event) = redemption.judge(otp, &mut phone.budget, now);
        self.books.events.extend(event);
        let mut id = None;
        if let (GuessVerdict::Accepted(_), Some(_)) = (verdict, redemption.session()) {
            let (identity, session) = redemption.log_in(phone.identity.take()).unwrap();
            id = Some(identity.id);
            phone.identity = Some(identity);
            self.sessions.push(session);
        }
        Redeemed::of(verdict, id, None)
    }

    /// This phone if it has a code in force, else the first one that has.
    fn busy(&self, phone: usize, now: Timestamp) -> usize {
        let is_busy = |phone: &Phone| phone.otps.iter().any(|otp| otp.in_force(now));
        let first = || self.phones.iter().position(is_busy);
        if is_busy(&self.phones[phone]) { phone } else { first().unwrap_or(phone) }
    }

    /// A moment later, or close to an instant at which an answer changes: a code expires, a place becomes
    /// free, a stop ends.
    fn later(&self, draw: &Draw, phone: usize, now: Timestamp) -> Timestamp {
        let Phone { places, budget, otps, .. } = &self.phones[phone];
        let edge = match draw.below(24) {
            0 => otps.last().map(|otp| otp.expires_at),
            1 => places.iter().rev().nth(2).map(|(_, slot)| slot.at + WINDOW),
            2 => budget.period.and_then(|it| it.stopped_at).map(|at| at + POLICY.stop_for),
            3 => budget.last_wrong_at.map(|at| at + POLICY.slow_pace),
            5 => budget.devices.map(|it| it.began_at + POLICY.period),
            4 => Some(now + seconds(21)),
            _ => None,
        };
        let edge = edge.map(|edge| edge + MS * draw.small(3) - MS);
        edge.filter(|at| *at >= now).unwrap_or(now + MS * draw.small(3))
    }
}

impl Draw {
    fn small(&self, bound: i64) -> u32 {
        u32::try_from(self.below(bound)).unwrap()
    }

    fn phone(&self) -> usize {
        usize::try_from(self.below(4) - 1).unwrap_or_default()
    }

    fn place(&self, count: usize) -> Option<usize> {
        let back = usize::try_from(self.below(4)).unwrap();
        count.checked_sub(1).map(|last| last - back.min(last))
    }
}

/// Asks the store and the model for the same step; returns both answers.
async fn ask(scene: &Scene, draw: &Draw, model: &mut Model, now: Timestamp) -> [String; 2] {
    let (logins, make) = (&scene.stores.logins, &scene.make);
    let mut phone = draw.phone();
    if draw.below(5) > 0 {
        phone = model.busy(phone, now);
    }
    let line = model.phones[phone].line.clone();
    let free = model.books.wallet.balance.available().0;
    match draw.below(16) {
        0..=3 => {
            let send = new_send(scene, draw, &line, free, now);
            let wanted = model.prepare(phone, &send, now);
            let said = logins.prepare(send.clone(), now).await.unwrap();
            if draw.below(4) == 0 {
                let again = logins.prepare(send, now).await.unwrap();
                assert_eq!(again, said, "asked for again");
            }
            both(said, wanted)
        }
        4..=7 => {
            let Some(place) = draw.place(model.phones[phone].otps.len()) else {
                return both("nothing", "nothing");
            };
            let seen = model.phones[phone].otps[place].clone();
            let mut views = model.views.iter().rev();
            let stale = views.find(|view| view.id == seen.id).unwrap_or(&seen).clone();
            let report = new_report(scene, draw, &seen);
            model.views.push(seen.clone());
            let request = match draw.below(3) {
                0 => ReportedRequest::Id(seen.project_mode.project, seen.id),
                1 => ReportedRequest::Seen(Box::new(seen)),
                _ => ReportedRequest::Seen(Box::new(stale)),
            };
            let wanted = model.report((phone, place), &report, now);
            both(logins.report(request, report, now).await.unwrap(), Some(wanted))
        }
        8..=13 => {
            let code = if draw.below(4) == 0 { CODE } else { WRONG_CODE };
            let session = Session { created_at: now, ..make.login(&line).session };
            let mut login = Redemption {
                policy: POLICY,
                login: (draw.below(2) > 0).then(|| make.login_of(&line, session)),
                ..make.redemption(&line, code)
            };
            let otps = &model.phones[phone].otps;
            if let Some(place) = draw.place(otps.len()).filter(|_| draw.below(4) == 0) {
                login.guess = login.guess.meant_for(Some(otps[place].id));
            }
            login.guess = login.guess.by_device(draw.below(3) == 0);
            model.views.extend(otps.iter().cloned());
            let wanted = model.redeem(phone, &login, now);
            both(logins.redeem(login, now).await.unwrap(), wanted)
        }
        14 => {
            let credit = make.credit(Paise(1 + draw.below(150)));
            let wanted = model.books.wallet.credit(&credit, false, now);
            let wanted = model.books.enter(wanted);
            let said = scene.stores.wallets.credit(scene.project, credit, now).await;
            both(said.unwrap(), wanted)
        }
        _ => {
            let otps = &model.phones[phone].otps;
            let send = draw.place(otps.len()).map_or_else(|| make.id(), |place| otps[place].id);
            let held = model.books.of_send(send).0.map(|hold| hold.amount);
            let captured = Paise(draw.around(held.unwrap_or_default().0));
            let settlement = [Settlement::Release, Settlement::Capture(captured)];
            let settlement = settlement[usize::from(draw.below(2) == 0)];
            let entries = [make.id(), make.id()];
            let wanted = model.books.settle(send, settlement, entries, now);
            let wallets = &scene.stores.wallets;
            let said = wallets.settle(scene.project, send, settlement, entries, now).await;
            both(said.unwrap(), wanted)
        }
    }
}

/// A send that costs about `free`, nothing, or more than there is. Sometimes it calls no provider, sometimes
/// its code is relayed.
fn new_send(scene: &Scene, draw: &Draw, line: &Line, free: i64, now: Timestamp) -> NewSend {
    let max_wrong = 2 + draw.small(3);
    let mut otp = Otp { max_wrong, ..scene.make.otp_with(line, CODE, now) };
    let mut cost = match draw.below(8) {
        0 => Cost::Nothing,
        1 => Cost::Unaffordable,
        _ if line.project_mode.mode.is_test() => Cost::Nothing,
        _ => Cost::Hold(Paise(draw.around(free.min(40)).max(1))),
    };
    if draw.below(4) == 0 {
        (otp.state, otp.code) = (OtpState::Relayed, CodeDigest::NONE);
    }
    if draw.below(10) == 0 {
        let (attempts, status) = (Vec::new(), DeliveryStatus::Failed);
        (otp.delivery, cost) = (Delivery { status, attempts, due_at: None }, Cost::Nothing);
        otp.give_up();
    }
    let by_device = draw.below(3) == 0;
    NewSend { by_device, quota: QUOTA, guesses: POLICY, cost, ..scene.make.new_send_of(otp) }
}

/// Any report on any attempt of a request, or on an unknown attempt.
fn new_report(scene: &Scene, draw: &Draw, otp: &Otp) -> SendReport {
    let attempts = &otp.delivery.attempts;
    let attempt = draw.place(attempts.len()).map(|place| &attempts[place]);
    let provider_ref = (draw.below(2) == 0).then(|| scene.make.id::<OtpId>().to_string());
    let report = match draw.below(9) {
        0..=1 => Report::Accepted { provider_ref, awaits_receipt: false },
        2..=3 => Report::Accepted { provider_ref, awaits_receipt: true },
        4 => Report::Failed(Reason::Timeout),
        5..=6 => Report::Failed(Reason::NotOnChannel),
        7 => Report::Delivered,
        _ => {
            let seen = attempt.map_or(AttemptStatus::Queued, |attempt| attempt.status);
            Report::Overdue { seen: [seen, AttemptStatus::Queued][usize::from(draw.below(4) == 0)] }
        }
    };
    let attempt = attempt.map_or_else(|| scene.make.id(), |attempt| attempt.id);
    let mut report = scene.make.send_report(attempt, report);
    report.route.hops.truncate(1 + usize::from(draw.below(3) > 0));
    report
}

fn both<T: Debug, E: Debug>(said: T, wanted: E) -> [String; 2] {
    [format!("{said:?}"), format!("{wanted:?}")]
}

/// Fresh: for any steps in any order, answers and records are those of [`NewSend`], [`SendReport`] and
/// [`Redemption`] over the aggregates.
pub async fn every_step_of_a_login_is_what_the_domain_says(stores: &Stores) {
    let mut answers = BTreeMap::new();
    let mut kinds = BTreeMap::new();
    for seed in 0..CASES {
        let (scene, draw) = (Scene::open(stores).await, Draw::new(seed));
        scene.endpoint().await;
        let mut model = Model::open(&scene).await;
        let mut now = START;
        for step in 0..STEPS {
            now = model.later(&draw, draw.phone(), now);
            let [said, wanted] = ask(&scene, &draw, &mut model, now).await;
            assert_eq!(said, wanted, "seed {seed}, step {step}");
            let balance = stores.wallets.balance(scene.project).await.unwrap();
            assert_eq!(balance, model.books.wallet.balance, "seed {seed}, step {step}: {said}");
            let spend = stores.wallets.day_spend(scene.project).await.unwrap();
            assert_eq!(spend, model.books.wallet.spend, "seed {seed}, step {step}: {said}");
            let name = said.split(['(', ' ', ',']).next().unwrap_or_default().to_owned();
            *answers.entry(name).or_insert(0) += 1;
        }
        model.check(&scene, now, &format!("seed {seed}")).await;
        for event in model.books.events {
            *kinds.entry(event.kind.as_str()).or_insert(0) += 1;
        }
    }
    for name in [
        "Ready",
        "Limited",
        "Unaffordable",
        "SpendLimited",
        "LoggedIn",
        "Verified",
        "Wrong",
        "Locked",
        "NotFound",
    ] {
        assert!(answers.get(name).is_some_and(|count| *count > 9), "{name}: {answers:?}");
    }
    assert_eq!(kinds.len(), 10, "not everything that can be told was: {kinds:?}");
}

impl Model {
    /// Two live phones, one of a test key, and a project with a low-balance threshold of 60 and a limit of 80 on the
    /// spend of a day.
    async fn open(scene: &Scene) -> Self {
        let low_balance = Some(Paise(60));
        let daily_spend = Some(Paise(80));
        let change = ProjectChange {
            low_balance: Some(low_balance),
            daily_spend: Some(daily_spend),
            ..ProjectChange::default()
        };
        scene.stores.projects.change(scene.project, change, any_project()).await.unwrap();
        let mut books = Books::of(scene.project);
        (books.wallet.low_balance, books.wallet.daily_spend) = (low_balance, daily_spend);
        let phone = |mode| Phone {
            line: scene.make.line(scene.project.in_mode(mode)),
            places: Vec::new(),
            budget: GuessBudget::default(),
            otps: Vec::new(),
            identity: None,
        };
        let phones = [KeyMode::Live, KeyMode::Live, KeyMode::Test].map(phone).into();
        Self { books, phones, sessions: Vec::new(), views: Vec::new() }
    }

    /// Asserts that the store has the same records and the same events.
    async fn check(&mut self, scene: &Scene, now: Timestamp, case: &str) {
        let stores = &scene.stores;
        self.books.check(stores, now + MS, case).await;
        for Phone { line, otps, identity, .. } in &self.phones {
            for otp in otps {
                let found = stores.otps.find(otp.project_mode, otp.id).await.unwrap();
                assert_eq!(found.as_ref(), Some(otp), "{case}");
            }
            let Line { project_mode, index, .. } = *line;
            let found = stores.identities.find_by_phone(project_mode, index).await.unwrap();
            assert_eq!(found, *identity, "{case}");
        }
        for phone in &self.phones {
            let log = stores.sends.log(phone.line.send_key()).await.unwrap();
            assert_eq!(format!("{log:?}"), format!("{:?}", phone.log()), "{case}");
        }
        for session in &self.sessions {
            let project_mode = session.project_mode;
            let found = stored_session(stores, project_mode, session.id).await;
            assert_eq!(found.as_ref(), Some(session), "{case}");
        }
        self.books.events.sort_by_key(|event| (event.at, Event::id(event)));
        assert_eq!(scene.told_events().await, self.books.events, "{case}");
    }
}
