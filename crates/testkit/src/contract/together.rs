//! Whatever happens to one phone, its identity and its project's wallet at once, no step fails for
//! another's sake.

use crate::scene::Scene;
use crate::{CODE, Line, START, Stores, WRONG_CODE, any_project, minutes, race, seconds};
use dwar_event::{Endpoint, Event, EventKind, NewSecret, Room, Subject, SwitchOff};
use dwar_kernel::{EntryId, KeyMode, StoreError, Timestamp};
use dwar_otp::idempotency::{Lifetimes, Slot};
use dwar_otp::{
    AttemptStatus, GuessPolicy, MAX_UNKNOWN, Otp, Reason, ReceiptRoom, Report, Reported,
};
use dwar_project::ProjectChange;
use dwar_ratelimit::{Quota, SendQuota};
use dwar_session::{RotationPolicy, Session};
use dwar_wallet::{Adjustment, Paise, Settlement};
use std::sync::Arc;
use std::time::Duration;

macro_rules! steps {
    ($($(#[$doc:meta])* $step:ident,)+) => {
        /// One call of a port method that writes or locks.
        #[allow(missing_docs, reason = "each is the method of its name")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum PortCall { $($(#[$doc])* $step,)+ }

        impl PortCall {
            /// Every one of them.
            pub const ALL: &'static [Self] = &[$(Self::$step,)+];
        }
    };
}

steps! {
    Issue, GuessRight, GuessWrong, GuessToTheStop, ForgetGuesses,
    ReportAccepted, ReportFailed, ReportOverdue, ClaimDueCodes, SweepCodes, Deposit, Erase,
    Start, Rotate, Revoke, SweepSessions,
    Credit, Hold, Settle, Refund, Adjust,
    Admit, Forgive, Withdraw, SweepSends,
    Begin, Complete, Abandon, SweepAnswers,
    KeepReceipts, ClaimReceipts, DoneReceipt, ReviewReceipts,
    AddEndpoint, RemoveEndpoint, ReplaceSecret, EnableEndpoint,
    ClaimEvents, EventDelivered, EventFailed, GiveUpEvent, SwitchOffEndpoint, DropUntold,
    Resend, AddressEvent, TrimCalls, SweepCalls,
    ChangeProject, ArchiveProject, ReplaceKey,
}

impl PortCall {
    /// Those that hold one lock on the phone, the identity or the wallet while they ask for more.
    pub const HOLDING: &'static [Self] = &[
        Self::Issue,
        Self::GuessRight,
        Self::GuessToTheStop,
        Self::ReportFailed,
        Self::SweepCodes,
        Self::Deposit,
        Self::Erase,
        Self::Start,
        Self::Rotate,
        Self::Revoke,
        Self::Settle,
        Self::Refund,
        Self::RemoveEndpoint,
    ];
}

/// What is on record when a round begins, all of one phone.
struct Stage {
    scene: Arc<Scene>,
    line: Line,
    old: Otp,
    otp: Otp,
    session: Session,
    slot: Slot,
    endpoint: Endpoint,
    event: String,
}

const NOW: Timestamp = START;
const LIFETIMES: Lifetimes = Lifetimes { lease: minutes(1), keep: minutes(1_440) };
const ROTATION: RotationPolicy = RotationPolicy { leeway: seconds(10), replay: seconds(60) };
const RECEIPTS: ReceiptRoom = ReceiptRoom { calling: 50, others: 50 };
const AT_ONCE: SwitchOff = SwitchOff { after: Duration::ZERO, failures: 1 };
const QUOTA: SendQuota = SendQuota { places: Quota { limit: 3, window: minutes(10) }, reach: None };
/// Twenty thousand rupees: no round ever runs out of them.
const PLENTY: Paise = Paise(2_000_000);

/// One project whose steps can be set against each other.
pub struct Together {
    scene: Arc<Scene>,
}

impl Together {
    /// A project with a wallet.
    pub async fn open(stores: &Stores) -> Self {
        let scene = Arc::new(Scene::open(stores).await);
        stores.wallets.credit(scene.project, scene.make.credit(PLENTY), NOW).await.unwrap();
        Self { scene }
    }

    /// Every two steps, and each with itself.
    pub fn pairs() -> Vec<Vec<PortCall>> {
        let from =
            |first| PortCall::ALL[first..].iter().map(move |two| vec![PortCall::ALL[first], *two]);
        (0..PortCall::ALL.len()).flat_map(from).collect()
    }

    /// Every three different steps of those that hold a lock while they ask for more.
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

    /// Runs each of the steps twice on one phone, all at the same moment.
    ///
    /// # Panics
    /// When a step fails.
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
        let Stage { endpoint, .. } = &*stage;
        self.scene.stores.events.remove_endpoint(self.scene.project, endpoint.id).await.unwrap();
    }

    async fn stage(&self) -> Stage {
        let scene = Arc::clone(&self.scene);
        let Scene { stores, make, project } = &*scene;
        let line = scene.line();
        let endpoint = make.endpoint(*project);
        stores.events.add_endpoint(endpoint.clone()).await.unwrap();
        let (old, otp) = (make.otp(&line), make.otp(&line));
        for (otp, name) in [(&old, "old"), (&otp, "new")] {
            stores
                .sends
                .admit(line.send_key(), otp.id, QUOTA, GuessPolicy::OFF, NOW)
                .await
                .unwrap();
            let entry = make.id();
            stores.wallets.hold(*project, otp.id, Paise(20), entry, NOW).await.unwrap();
            stores.otps.issue(otp.clone()).await.unwrap();
            let reference = Some(format!("{name} {}", otp.id));
            let accepted = Report::Accepted { provider_ref: reference, awaits_receipt: true };
            let (first, route) = (otp.delivery.attempts[0].id, make.route());
            let next = make.id();
            let report = stores.otps.report(
                Reported::Id(*project, otp.id),
                first,
                accepted,
                route,
                next,
                NOW,
            );
            report.await.unwrap();
        }
        let session = scene.session(&line).await;
        let slot = make.slot(&line);
        stores.idempotency.begin(slot, make.record(&line), LIFETIMES).await.unwrap();
        let event = format!("otp_sent_{}", otp.id.uuid().simple());
        Stage { line, old, otp, session, slot, endpoint, event, scene }
    }
}

/// Every pair of steps gets along.
pub async fn every_pair_of_steps_gets_along(stores: &Stores) {
    let together = Together::open(stores).await;
    for pair in Together::pairs() {
        together.round(&pair).await;
    }
}

/// Every triple of the steps that hold a lock while they ask for more gets along.
pub async fn every_triple_of_locking_steps_gets_along(stores: &Stores) {
    let together = Together::open(stores).await;
    for triple in Together::triples() {
        together.round(&triple).await;
    }
}

impl Stage {
    async fn run(&self, step: PortCall) -> Result<(), StoreError> {
        match step {
            PortCall::Issue
            | PortCall::GuessRight
            | PortCall::GuessWrong
            | PortCall::GuessToTheStop
            | PortCall::ForgetGuesses
            | PortCall::ReportAccepted
            | PortCall::ReportFailed
            | PortCall::ReportOverdue
            | PortCall::ClaimDueCodes
            | PortCall::SweepCodes
            | PortCall::Deposit => self.on_the_code(step).await,
            PortCall::Erase
            | PortCall::Start
            | PortCall::Rotate
            | PortCall::Revoke
            | PortCall::SweepSessions => self.on_the_identity(step).await,
            PortCall::Credit
            | PortCall::Hold
            | PortCall::Settle
            | PortCall::Refund
            | PortCall::Adjust => self.on_the_wallet(step).await,
            PortCall::Admit | PortCall::Forgive | PortCall::Withdraw | PortCall::SweepSends => {
                self.on_the_sends(step).await
            }
            PortCall::Begin | PortCall::Complete | PortCall::Abandon | PortCall::SweepAnswers => {
                self.on_the_answer(step).await
            }
            _ => self.on_the_project(step).await,
        }
    }

    async fn on_the_code(&self, step: PortCall) -> Result<(), StoreError> {
        let Scene { stores, make, .. } = &*self.scene;
        let Line { project, mode, index, .. } = self.line;
        let otps = &stores.otps;
        let guess = async |code: &str, policy| {
            let guess = make.guess(code);
            otps.judge(project, mode, index, guess, policy, NOW).await.map(drop)
        };
        let report = async |report| {
            let (attempt, id) = (self.otp.delivery.attempts[0].id, self.otp.id);
            let (route, next) = (make.route(), make.id());
            otps.report(Reported::Id(project, id), attempt, report, route, next, NOW)
                .await
                .map(drop)
        };
        let stop_at_one = GuessPolicy {
            stop_at: 1,
            stop_for: minutes(1),
            period: minutes(2),
            ..GuessPolicy::OFF
        };
        match step {
            PortCall::Issue => otps.issue(make.otp(&self.line)).await,
            PortCall::GuessRight => guess(CODE, GuessPolicy::OFF).await,
            PortCall::GuessWrong => guess(WRONG_CODE, GuessPolicy::OFF).await,
            PortCall::GuessToTheStop => guess(WRONG_CODE, stop_at_one).await,
            PortCall::ForgetGuesses => otps.forget_guesses(project, mode, index).await.map(drop),
            PortCall::ReportAccepted => {
                report(Report::Accepted { provider_ref: None, awaits_receipt: true }).await
            }
            PortCall::ReportFailed => report(Report::Failed(Reason::Blocked)).await,
            PortCall::ReportOverdue => report(Report::Overdue { seen: AttemptStatus::Sent }).await,
            PortCall::ClaimDueCodes => {
                otps.claim_due(NOW + minutes(1), seconds(30), 100).await.map(drop)
            }
            PortCall::SweepCodes => otps.sweep(NOW + seconds(1), NOW + seconds(1)).await.map(drop),
            _ => stores.inbox.deposit(project, make.message(&self.otp, NOW)).await,
        }
    }

    async fn on_the_identity(&self, step: PortCall) -> Result<(), StoreError> {
        let Scene { stores, make, .. } = &*self.scene;
        let Line { project, mode, .. } = self.line;
        let Session { identity, access, .. } = self.session;
        let (identities, sessions) = (&stores.identities, &stores.sessions);
        match step {
            PortCall::Erase => identities.erase(project, mode, identity, NOW).await.map(drop),
            PortCall::Start => sessions.start(make.login(&self.line)).await.map(drop),
            PortCall::Rotate => {
                let (presented, next) =
                    (make.presented(&self.session), make.successor(&self.session, NOW));
                let seen = self.session.clone();
                sessions.rotate(seen, presented, next, ROTATION, NOW).await.map(drop)
            }
            PortCall::Revoke => {
                sessions.revoke(self.session.clone(), access.token, NOW).await.map(drop)
            }
            _ => sessions.sweep(NOW + minutes(365 * 24 * 60)).await.map(drop),
        }
    }

    async fn on_the_wallet(&self, step: PortCall) -> Result<(), StoreError> {
        let Scene { stores, make, project } = &*self.scene;
        let wallets = &stores.wallets;
        let (paid, entries) = (Settlement::Capture(Paise(20)), [make.id(), make.id()]);
        match step {
            PortCall::Credit => {
                wallets.credit(*project, make.credit(Paise(1)), NOW).await.map(drop)
            }
            PortCall::Hold => {
                wallets.hold(*project, make.id(), Paise(20), make.id(), NOW).await.map(drop)
            }
            PortCall::Settle => {
                wallets.settle(*project, self.otp.id, paid, entries, NOW).await.map(drop)
            }
            PortCall::Refund => {
                wallets.settle(*project, self.old.id, paid, entries, NOW).await?;
                wallets.refund(*project, self.old.id, make.id(), NOW).await.map(drop)
            }
            _ => {
                let id: EntryId = make.id();
                let (amount, reference) = ((-1).try_into().unwrap(), id.into());
                let adjustment = Adjustment { id, amount, reference };
                wallets.adjust(*project, adjustment, NOW).await.map(drop)
            }
        }
    }

    async fn on_the_sends(&self, step: PortCall) -> Result<(), StoreError> {
        let (sends, key) = (&self.scene.stores.sends, self.line.send_key());
        match step {
            PortCall::Admit => {
                sends.admit(key, self.scene.make.id(), QUOTA, GuessPolicy::OFF, NOW).await.map(drop)
            }
            PortCall::Forgive => sends.forgive(key, self.otp.id).await,
            PortCall::Withdraw => sends.withdraw(key, self.otp.id).await,
            _ => sends.sweep(NOW + seconds(1)).await.map(drop),
        }
    }

    async fn on_the_answer(&self, step: PortCall) -> Result<(), StoreError> {
        let Scene { stores, make, .. } = &*self.scene;
        let answers = &stores.idempotency;
        match step {
            PortCall::Begin => {
                let record = make.record(&self.line);
                answers.begin(self.slot, record, LIFETIMES).await.map(drop)
            }
            PortCall::Complete => answers.complete(self.slot, NOW, make.sealed()).await,
            PortCall::Abandon => answers.abandon(self.slot, NOW).await,
            _ => answers.sweep(NOW + seconds(1)).await.map(drop),
        }
    }

    async fn on_the_project(&self, step: PortCall) -> Result<(), StoreError> {
        let Scene { stores, make, project } = &*self.scene;
        let (project, events) = (*project, &stores.events);
        let (endpoint, event) = (self.endpoint.id, self.event.clone());
        match step {
            PortCall::KeepReceipts => {
                let receipts = [(); 3].map(|()| make.receipt(Report::Delivered));
                stores.receipts.keep(receipts.to_vec()).await
            }
            PortCall::ClaimReceipts => {
                let claimed = stores.receipts.claim(NOW, seconds(10), RECEIPTS).await?;
                for kept in claimed {
                    stores.receipts.done(kept.id).await?;
                }
                Ok(())
            }
            PortCall::DoneReceipt => stores.receipts.done(make.id()).await,
            PortCall::ReviewReceipts => stores.receipts.review(NOW, MAX_UNKNOWN).await.map(drop),
            PortCall::AddEndpoint => {
                let endpoint = make.endpoint(project);
                events.add_endpoint(endpoint.clone()).await?;
                events.remove_endpoint(project, endpoint.id).await.map(drop)
            }
            PortCall::RemoveEndpoint => events.remove_endpoint(project, endpoint).await.map(drop),
            PortCall::ReplaceSecret => {
                let secret = NewSecret { secret: make.sealed(), previous_until: NOW };
                events.replace_secret(project, endpoint, secret).await.map(drop)
            }
            PortCall::EnableEndpoint => events.enable_endpoint(project, endpoint).await.map(drop),
            PortCall::ClaimEvents => {
                events.claim_due(NOW, seconds(60), Room::of(50)).await.map(drop)
            }
            PortCall::EventDelivered => events.delivered(make.call(endpoint, &event)).await,
            PortCall::EventFailed => {
                let call = make.failed_call(endpoint, &event, Some(NOW + minutes(1)));
                events.failed(call, None).await.map(drop)
            }
            PortCall::SwitchOffEndpoint => {
                let call = make.failed_call(endpoint, &event, None);
                events.failed(call, Some(AT_ONCE)).await.map(drop)
            }
            PortCall::GiveUpEvent => events.give_up(make.call(endpoint, &event)).await,
            PortCall::Resend => {
                let now = NOW + minutes(1);
                stores.calls.resend(project, endpoint, event, now).await.map(drop)
            }
            PortCall::AddressEvent => {
                let (mode, kind) = (KeyMode::Live, EventKind::WebhookTest);
                let test =
                    Event { project, mode, kind, subject: Subject::Test { endpoint }, at: NOW };
                stores.calls.address(test, endpoint, NOW).await.map(drop)
            }
            PortCall::TrimCalls => stores.calls.trim_calls(endpoint, 0).await.map(drop),
            PortCall::SweepCalls => stores.calls.sweep_calls(NOW + seconds(1)).await.map(drop),
            PortCall::DropUntold => events.drop_untold().await.map(drop),
            PortCall::ChangeProject => {
                let change = ProjectChange {
                    name: Some("Chai & Co".to_owned()),
                    ..ProjectChange::default()
                };
                stores.projects.change(project, change, any_project()).await.map(drop)
            }
            PortCall::ArchiveProject => {
                // Restored, because what is on record is then read with its keys.
                stores.projects.set_archived(project, Some(NOW)).await?;
                stores.projects.set_archived(project, None).await.map(drop)
            }
            _ => stores.projects.replace_key(project, make.key(KeyMode::Live)).await.map(drop),
        }
    }
}
