//! What each call of a port is.

use super::{AT_ONCE, LIFETIMES, NOW, PRICE, PortCall, RECEIPTS, ROTATION, Stage, paid};
use crate::scene::Scene;
use crate::{CODE, Line, WRONG_CODE, any_project, minutes, seconds};
use dwar_event::{ClaimCapacity, Event, EventKind, FeedBound, NewSecret, Subject};
use dwar_kernel::{EntryId, KeyMode, StoreError};
use dwar_login::{Cost, NewSend, Redemption};
use dwar_otp::{AttemptStatus, GuessPolicy, MAX_UNKNOWN, Otp, Reason, Report, ReportedRequest};
use dwar_project::ProjectChange;
use dwar_session::Session;
use dwar_wallet::{Adjustment, Paise, Settlement};

impl Stage {
    pub(super) async fn run(&self, step: PortCall) -> Result<(), StoreError> {
        match step {
            PortCall::Prepare
            | PortCall::PrepareFree
            | PortCall::Redeem
            | PortCall::RedeemWrong
            | PortCall::RedeemToTheStop
            | PortCall::ReportAccepted
            | PortCall::ReportDelivered
            | PortCall::ReportFailed
            | PortCall::ReportRefused
            | PortCall::ReportOverdue
            | PortCall::ReportFailedLate => self.of_a_login(step).await,
            PortCall::ForgetGuesses
            | PortCall::ClaimDueCodes
            | PortCall::SweepCodes
            | PortCall::Deposit
            | PortCall::Forgive
            | PortCall::SweepSends => self.on_the_sends(step).await,
            PortCall::Erase | PortCall::Rotate | PortCall::Revoke | PortCall::SweepSessions => {
                self.on_the_identity(step).await
            }
            PortCall::Credit | PortCall::Settle | PortCall::Refund | PortCall::Adjust => {
                self.on_the_wallet(step).await
            }
            PortCall::Begin | PortCall::Complete | PortCall::Abandon | PortCall::SweepAnswers => {
                self.on_the_answer(step).await
            }
            _ => self.on_the_project(step).await,
        }
    }

    async fn of_a_login(&self, step: PortCall) -> Result<(), StoreError> {
        let Scene { stores, make, .. } = &*self.scene;
        let logins = &stores.logins;
        let redeem = async |code: &str, policy| {
            let redemption = Redemption { policy, ..make.redemption(&self.line, code) };
            logins.redeem(redemption, NOW).await.map(drop)
        };
        let report_on = async |otp: &Otp, report, hops| {
            let mut report = make.send_report(otp.delivery.attempts[0].id, report);
            report.route.hops.truncate(hops);
            let request = ReportedRequest::Id(otp.project_mode.project, otp.id);
            logins.report(request, report, NOW).await.map(drop)
        };
        let stop_at_one = GuessPolicy {
            stop_at: 1,
            stop_for: minutes(1),
            period: minutes(2),
            ..GuessPolicy::OFF
        };
        let blocked = Report::Failed(Reason::Blocked);
        match step {
            PortCall::Prepare => logins.prepare(paid(make, &self.line), NOW).await.map(drop),
            PortCall::PrepareFree => {
                let free = NewSend { cost: Cost::Nothing, ..paid(make, &self.line) };
                logins.prepare(free, NOW).await.map(drop)
            }
            PortCall::Redeem => redeem(CODE, GuessPolicy::OFF).await,
            PortCall::RedeemWrong => redeem(WRONG_CODE, GuessPolicy::OFF).await,
            PortCall::RedeemToTheStop => redeem(WRONG_CODE, stop_at_one).await,
            PortCall::ReportAccepted => {
                let taken = Report::Accepted { provider_ref: None, awaits_receipt: false };
                report_on(&self.otp, taken, 2).await
            }
            PortCall::ReportDelivered => report_on(&self.otp, Report::Delivered, 2).await,
            PortCall::ReportFailed => report_on(&self.otp, blocked, 2).await,
            PortCall::ReportRefused => report_on(&self.otp, blocked, 1).await,
            PortCall::ReportOverdue => {
                let seen = AttemptStatus::Queued;
                report_on(&self.otp, Report::Overdue { seen }, 2).await
            }
            _ => report_on(&self.old, blocked, 1).await,
        }
    }

    async fn on_the_sends(&self, step: PortCall) -> Result<(), StoreError> {
        let Scene { stores, make, .. } = &*self.scene;
        let Line { project_mode, index, .. } = self.line;
        let (otps, sends) = (&stores.otps, &stores.sends);
        let later = NOW + seconds(1);
        match step {
            PortCall::ForgetGuesses => otps.forget_guesses(project_mode, index).await.map(drop),
            PortCall::ClaimDueCodes => {
                otps.claim_due(NOW + minutes(1), seconds(30), 100).await.map(drop)
            }
            PortCall::SweepCodes => otps.sweep(later, later).await.map(drop),
            PortCall::Deposit => {
                stores.inbox.deposit(project_mode.project, make.message(&self.otp, NOW)).await
            }
            PortCall::Forgive => sends.forgive(self.line.send_key(), self.otp.id).await,
            _ => sends.sweep(later).await.map(drop),
        }
    }

    async fn on_the_identity(&self, step: PortCall) -> Result<(), StoreError> {
        let Scene { stores, make, .. } = &*self.scene;
        let Line { project_mode, .. } = self.line;
        let Session { identity, access, .. } = self.session;
        let (identities, sessions) = (&stores.identities, &stores.sessions);
        match step {
            PortCall::Erase => identities.erase(project_mode, identity, NOW).await.map(drop),
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
        let (paid, entries) = (Settlement::Capture(PRICE), [make.id(), make.id()]);
        match step {
            PortCall::Credit => {
                wallets.credit(*project, make.credit(Paise(1)), NOW).await.map(drop)
            }
            PortCall::Settle => {
                wallets.settle(*project, self.otp.id, paid, entries, NOW).await.map(drop)
            }
            PortCall::Refund => {
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
                events.claim_due(NOW, seconds(60), ClaimCapacity::of(50)).await.map(drop)
            }
            PortCall::EventDelivered => events.delivered(vec![make.call(endpoint, &event)]).await,
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
                let (project_mode, kind) = (project.in_mode(KeyMode::Live), EventKind::WebhookTest);
                let test =
                    Event { project_mode, kind, subject: Subject::Test { endpoint }, at: NOW };
                stores.calls.address(test, endpoint, NOW).await.map(drop)
            }
            PortCall::TrimCalls => stores.calls.trim_calls(endpoint, 0).await.map(drop),
            PortCall::SweepCalls => stores.calls.sweep_calls(NOW + seconds(1)).await.map(drop),
            PortCall::TrimFeeds => {
                let none = FeedBound { live: 0, test: 0 };
                stores.feed.trim_feeds(none, NOW).await.map(drop)
            }
            PortCall::DropUntold => events.drop_undelivered().await.map(drop),
            PortCall::ChangeProject => {
                let change = ProjectChange {
                    name: Some("Chai & Co".to_owned()),
                    ..ProjectChange::default()
                };
                stores.projects.change(project, change, any_project()).await.map(drop)
            }
            PortCall::ArchiveProject => {
                // Restored, because the records are read with its keys afterwards.
                stores.projects.set_archived(project, Some(NOW)).await?;
                stores.projects.set_archived(project, None).await.map(drop)
            }
            _ => stores.projects.replace_key(project, make.key(KeyMode::Live)).await.map(drop),
        }
    }
}
