//! Concurrent steps on one phone, its identity and its project's wallet never make each other fail.

mod calls;

use crate::scene::Scene;
use crate::{Fixtures, Line, START, Stores, any_project, minutes, race, seconds};
use dwar_event::{DisablePolicy, Endpoint};
use dwar_kernel::Timestamp;
use dwar_login::{Cost, NewSend, Prepared};
use dwar_otp::idempotency::{IdempotencySlot, Lifetimes};
use dwar_otp::{Channel, Charge, DeliveryStep, Otp, ReceiptRoom, Report};
use dwar_project::ProjectChange;
use dwar_ratelimit::{Quota, SendQuota};
use dwar_session::{RotationPolicy, Session};
use dwar_wallet::Paise;
use std::sync::Arc;
use std::time::Duration;

macro_rules! steps {
    ($($(#[$doc:meta])* $step:ident,)+) => {
        /// One call of a port method that writes or locks.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum PortCall { $($(#[$doc])* $step,)+ }

        impl PortCall {
            pub const ALL: &'static [Self] = &[$(Self::$step,)+];
        }
    };
}

steps! {
    /// Reaches a part of the limit of the day, whose event it records.
    Prepare,
    PrepareFree,
    Redeem,
    RedeemWrong,
    RedeemToTheStop,
    ReportAccepted, ReportDelivered,
    /// Another provider is tried, if the code is still wanted.
    ReportFailed,
    /// There is no other provider: nobody was reached.
    ReportRefused,
    ReportOverdue,
    ReportFailedLate,
    ForgetGuesses, ClaimDueCodes, SweepCodes, Deposit,
    Erase, Rotate, Revoke, SweepSessions,
    Credit, Settle, Refund, Adjust,
    Forgive, SweepSends,
    Begin, Complete, Abandon, SweepAnswers,
    KeepReceipts, ClaimReceipts, DoneReceipt, ReviewReceipts,
    AddEndpoint, RemoveEndpoint, ReplaceSecret, EnableEndpoint,
    ClaimEvents, EventDelivered, EventFailed, GiveUpEvent, SwitchOffEndpoint, DropUntold,
    Resend, AddressEvent, TrimCalls, SweepCalls, TrimFeeds,
    ChangeProject, ArchiveProject, ReplaceKey,
}

impl PortCall {
    /// Steps that take further locks while they hold one on the phone, the identity or the wallet. Left out
    /// are [`Self::ReportDelivered`], which locks like [`Self::ReportAccepted`], and [`Self::ReportOverdue`],
    /// which locks like [`Self::ReportRefused`].
    pub const HOLDING: &'static [Self] = &[
        Self::Prepare,
        Self::PrepareFree,
        Self::Redeem,
        Self::RedeemToTheStop,
        Self::ReportAccepted,
        Self::ReportFailed,
        Self::ReportRefused,
        Self::ReportFailedLate,
        Self::SweepCodes,
        Self::Deposit,
        Self::Erase,
        Self::Rotate,
        Self::Revoke,
        Self::Settle,
        Self::Refund,
        Self::RemoveEndpoint,
    ];
}

/// The records of one phone when a round begins: a logged-in identity, an old charged send, and a send whose
/// provider is being called.
struct Stage {
    scene: Arc<Scene>,
    line: Line,
    old: Otp,
    otp: Otp,
    session: Session,
    slot: IdempotencySlot,
    endpoint: Endpoint,
    event: String,
    /// What the project may spend on the day.
    limit: Paise,
}

const NOW: Timestamp = START;
const LIFETIMES: Lifetimes = Lifetimes { lease: minutes(1), keep: minutes(1_440) };
const ROTATION: RotationPolicy = RotationPolicy { leeway: seconds(10), replay: seconds(60) };
const RECEIPTS: ReceiptRoom = ReceiptRoom { calling: 50, others: 50 };
const AT_ONCE: DisablePolicy = DisablePolicy { after: Duration::ZERO, failures: 1 };
/// Room for the sends of the stage and two more, so that some sends of a round are refused.
const QUOTA: SendQuota = SendQuota { places: Quota { limit: 5, window: minutes(10) }, reach: None };
/// Twenty thousand rupees, more than any round spends.
const PLENTY: Paise = Paise(2_000_000);
const PRICE: Paise = Paise(20);

pub struct Together {
    scene: Arc<Scene>,
}

impl Together {
    pub async fn open(stores: &Stores) -> Self {
        let scene = Arc::new(Scene::open(stores).await);
        stores.wallets.credit(scene.project, scene.make.credit(PLENTY), NOW).await.unwrap();
        let feeding = ProjectChange { events_feed: Some(true), ..ProjectChange::default() };
        stores.projects.change(scene.project, feeding, any_project()).await.unwrap();
        Self { scene }
    }

    pub fn pairs() -> Vec<Vec<PortCall>> {
        let from =
            |first| PortCall::ALL[first..].iter().map(move |two| vec![PortCall::ALL[first], *two]);
        (0..PortCall::ALL.len()).flat_map(from).collect()
    }

    /// All combinations of three different steps of [`PortCall::HOLDING`].
    pub fn triples() -> Vec<Vec<PortCall>> {
        let all = PortCall::HOLDING;
        let mut triples = Vec::new();
        for (one, first) in all.iter().enumerate() {
            for (two, second) in all.iter().enumerate().skip(one + 1) {
                triples.extend(all[two + 1..].iter().map(|third| vec![*first, *second, *third]));
            }
        }
        triples
    }

    /// Runs each of the steps twice on one phone, all concurrently.
    ///
    /// # Panics
    /// If a step fails.
    pub async fn round(&self, steps: &[PortCall]) {
        let stage = Arc::new(self.stage().await);
        race(steps.len() * 2, |number| {
            let (stage, step) = (Arc::clone(&stage), steps[number % steps.len()]);
            async move {
                let done = stage.run(step).await;
                assert!(done.is_ok(), "{step:?}: {done:?}");
            }
        })
        .await;
        // Free sends may have taken both places that are left.
        if steps.contains(&PortCall::Prepare) && !steps.contains(&PortCall::PrepareFree) {
            stage.assert_told().await;
        }
        let Stage { endpoint, .. } = &*stage;
        self.scene.stores.events.remove_endpoint(self.scene.project, endpoint.id).await.unwrap();
    }

    async fn stage(&self) -> Stage {
        let scene = Arc::clone(&self.scene);
        let Scene { stores, make, project } = &*scene;
        let line = scene.line();
        let endpoint = make.endpoint(*project);
        stores.events.add_endpoint(endpoint.clone()).await.unwrap();
        let session = scene.session(&line).await;
        let (old, otp) = (make.otp(&line), make.otp(&line));
        self.spends_at_most(None).await;
        for otp in [&old, &otp] {
            let send = NewSend { otp: otp.clone(), ..paid(make, &line) };
            let prepared = stores.logins.prepare(send, NOW).await.unwrap();
            assert!(matches!(prepared, Prepared::Ready(_)), "{prepared:?}");
        }
        let provider_ref = Some(format!("old {}", old.id));
        let taken = Report::Accepted { provider_ref, awaits_receipt: false };
        let (_, step) = scene.reports(&old, 0, taken, NOW).await.unwrap();
        assert_eq!(step, DeliveryStep::Settle(Charge::Channel(Channel::Whatsapp)));
        let slot = make.slot(&line);
        stores.idempotency.begin(slot, make.record(&line), LIFETIMES).await.unwrap();
        let event = format!("otp_sent_{}", old.id.uuid().simple());
        let limit = self.limit_the_day().await;
        Stage { line, old, otp, session, slot, endpoint, event, limit, scene }
    }

    /// Leaves room for two sends in the day. A new limit is told anew, so each of them records an event.
    async fn limit_the_day(&self) -> Paise {
        let Scene { stores, project, .. } = &*self.scene;
        let spent = stores.wallets.day_spend(*project).await.unwrap().on(NOW).spent;
        let limit = Paise(spent.0 + 2 * PRICE.0);
        self.spends_at_most(Some(limit)).await;
        limit
    }

    async fn spends_at_most(&self, limit: Option<Paise>) {
        let Scene { stores, project, .. } = &*self.scene;
        let change = ProjectChange { daily_spend: Some(limit), ..ProjectChange::default() };
        stores.projects.change(*project, change, any_project()).await.unwrap();
    }
}

pub async fn every_pair_of_steps_gets_along(stores: &Stores) {
    let together = Together::open(stores).await;
    for pair in Together::pairs() {
        together.round(&pair).await;
    }
}

/// No combination of three locking steps makes a step fail.
pub async fn every_triple_of_locking_steps_gets_along(stores: &Stores) {
    let together = Together::open(stores).await;
    for triple in Together::triples() {
        together.round(&triple).await;
    }
}

/// A send of a phone that holds money.
fn paid(make: &Fixtures, line: &Line) -> NewSend {
    NewSend { quota: QUOTA, cost: Cost::Hold(PRICE), ..make.new_send(line) }
}

impl Stage {
    /// Checks that a send of the round reached half of the limit of the day at least, and that this was told.
    async fn assert_told(&self) {
        let Scene { stores, project, .. } = &*self.scene;
        let day = stores.wallets.day_spend(*project).await.unwrap();
        assert!(day.told >= 50 && day.told_of == self.limit, "{day:?}");
    }
}
