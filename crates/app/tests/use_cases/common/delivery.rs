use super::{World, limits};
use dwar_app::{Deliver, Guard, Idempotency, Routes, SendOtp};
use dwar_event::MockEventStore;
use dwar_login::{Cost, MoneyOutcome, Prepared, ReportOutcome};
use dwar_otp::idempotency::Lifetimes;
use dwar_otp::{Channel, Hop, Message, MockGateway, Otp, Outcome, Reason, Report, Route};
use dwar_ratelimit::{MockGuardStore, SendLog};
use dwar_testkit::{START, minutes, seconds};
use dwar_wallet::{HoldOutcome, Paise, Settlement};
use mockall::predicate::{always, eq};
use std::collections::HashMap;
use std::mem::take;
use std::sync::{Arc, Mutex};

pub const LIFETIMES: Lifetimes = Lifetimes { lease: seconds(60), keep: minutes(24 * 60) };

/// The provider accepts the message and will not report delivery.
pub fn accepted() -> Outcome {
    Outcome::Accepted { provider_ref: Some("ref".to_owned()), awaits_receipt: false }
}

/// The provider accepts the message and will report delivery.
pub fn awaiting_receipt() -> Outcome {
    Outcome::Accepted { provider_ref: Some("ref".to_owned()), awaits_receipt: true }
}

pub fn refused() -> Outcome {
    Outcome::Refused(Reason::NotOnChannel)
}

/// How a report ended a send: the end of its money, and whether its place was returned.
pub type End = (Option<MoneyOutcome>, bool);

pub const fn charged(paise: i64) -> End {
    (Some(MoneyOutcome::Settle(Settlement::Capture(Paise(paise)))), false)
}

/// Nothing is charged, but the phone may have got the message.
pub const FREE: End = (Some(MoneyOutcome::Settle(Settlement::Release)), false);

/// Nothing is charged, and the phone certainly got nothing.
pub const FORGIVEN: End = (Some(MoneyOutcome::Settle(Settlement::Release)), true);

/// Expectations of the ports of a send, each exactly once unless noted.
impl World {
    /// A send of this cost begins: limit and wallet admit it.
    pub fn begins(&mut self, cost: Cost) -> &mut Self {
        self.prepares(cost, HoldOutcome::Held).applies_reports()
    }

    /// A send of this cost is refused, since the wallet does not cover it.
    pub fn cannot_afford(&mut self, cost: Cost) -> &mut Self {
        self.prepares(cost, HoldOutcome::Insufficient)
    }

    /// A send of this cost is refused by the limit on the spend of the day.
    pub fn spends_too_much(&mut self, cost: Cost) -> &mut Self {
        self.prepares(cost, HoldOutcome::SpendLimited)
    }

    fn prepares(&mut self, cost: Cost, wallet: HoldOutcome) -> &mut Self {
        let (mode, key) = (self.caller.mode, self.line.send_key());
        let asked = (key, limits().of(mode).send, limits().guesses(mode), cost);
        let kept = Arc::clone(&self.kept);
        self.logins
            .expect_prepare()
            .withf(move |send, _| (send.key(), send.quota, send.guesses, send.cost) == asked)
            .times(1)
            .returning(move |send, now| {
                let prepared = send.judge(&mut SendLog::default(), |_| Ok(wallet), now);
                if matches!(prepared, Ok(Prepared::Ready(_))) {
                    kept.lock().unwrap().push(send.otp);
                }
                prepared
            });
        self
    }

    /// The store applies reports to its requests by [`SendReport::apply`].
    ///
    /// [`SendReport::apply`]: dwar_login::SendReport::apply
    pub fn applies_reports(&mut self) -> &mut Self {
        let (kept, ends) = (Arc::clone(&self.kept), Arc::clone(&self.ends));
        self.logins.expect_report().returning(move |request, report, now| {
            let mut kept = kept.lock().unwrap();
            let row =
                kept.iter_mut().find(|row| (row.project_mode.project, row.id) == request.key());
            Ok(row.map(|row| {
                let ReportOutcome { step, ending, is_forgiven, .. } = report.apply(row, now);
                if ending.is_some() || is_forgiven {
                    ends.lock().unwrap().push((ending, is_forgiven));
                }
                (row.clone(), step)
            }))
        });
        self
    }

    /// The money of a send without a request is settled like this.
    pub fn settles(&mut self, settlement: Settlement) -> &mut Self {
        self.wallets
            .expect_settle()
            .with(eq(self.line.project_mode.project), always(), eq(settlement), always(), always())
            .times(1)
            .returning(|_, _, _, _, _| Ok(true));
        self
    }

    pub fn forgives(&mut self) -> &mut Self {
        self.sends
            .expect_forgive()
            .with(eq(self.line.send_key()), always())
            .times(1)
            .returning(|_, _| Ok(()));
        self
    }

    /// A new request that is already on record.
    pub fn on_record(&mut self) -> Otp {
        let otp = self.make.otp(&self.line);
        self.kept.lock().unwrap().push(otp.clone());
        otp
    }

    /// A request on record that WhatsApp accepted just now and will report on.
    pub fn sent_by_whatsapp(&mut self) -> Otp {
        let otp = self.on_record();
        let accepted = Report::Accepted { provider_ref: None, awaits_receipt: true };
        let mut kept = self.kept.lock().unwrap();
        let (first, row) = (otp.delivery.attempts[0].id, kept.last_mut().unwrap());
        row.report(first, accepted, &self.make.route(), first, START);
        row.clone()
    }

    pub fn whatsapp(&mut self, outcome: Outcome) -> &mut Self {
        answer(&mut self.meta, &self.messages, outcome);
        self
    }

    pub fn sms(&mut self, outcome: Outcome) -> &mut Self {
        answer(&mut self.msg91, &self.messages, outcome);
        self
    }

    pub fn sandbox(&mut self, outcome: Outcome) -> &mut Self {
        answer(&mut self.sandbox, &self.messages, outcome);
        self
    }

    /// The request is erased while this provider is called.
    pub fn erased_during(&mut self, provider: &str, outcome: Outcome) -> &mut Self {
        let gateway = match provider {
            "meta" => &mut self.meta,
            "msg91" => &mut self.msg91,
            _ => &mut self.sandbox,
        };
        let kept = Arc::clone(&self.kept);
        gateway.expect_deliver().times(1).returning(move |_| {
            kept.lock().unwrap().clear();
            outcome.clone()
        });
        self
    }

    /// All messages that the gateways got, oldest first.
    pub fn messages(&self) -> Vec<Message> {
        self.messages.lock().unwrap().clone()
    }

    pub fn ends(&self) -> Vec<End> {
        self.ends.lock().unwrap().clone()
    }

    pub fn stored(&self) -> Otp {
        self.kept.lock().unwrap().last().unwrap().clone()
    }

    pub fn send_otp(&mut self) -> SendOtp {
        SendOtp {
            idempotency: Idempotency {
                tools: self.tools(),
                store: Arc::new(take(&mut self.answers)),
                lifetimes: LIFETIMES,
            },
            deliver: self.deliver(),
            codes: Arc::clone(&self.make.codes),
            devices: self.known_devices(),
            lifetime: minutes(10),
            limits: limits(),
            usage_recorder: self.usage_recorder(),
            guard: self.guard(),
        }
    }

    /// A guard of no project.
    pub fn guard(&self) -> Arc<Guard> {
        Arc::new(Guard::new(
            self.tools(),
            Arc::new(MockGuardStore::new()),
            Arc::new(MockEventStore::new()),
        ))
    }

    pub fn deliver(&mut self) -> Arc<Deliver> {
        Arc::new(Deliver {
            tools: self.tools(),
            logins: Arc::new(take(&mut self.logins)),
            otps: Arc::new(take(&mut self.otps)),
            projects: Arc::new(take(&mut self.projects)),
            wallets: Arc::new(take(&mut self.wallets)),
            sends: Arc::new(take(&mut self.sends)),
            routes: self.routes(),
            prices: self.prices,
        })
    }

    /// Live routes use the two providers, test routes the sandbox.
    pub fn routes(&mut self) -> Routes {
        let hop = |channel| Hop::new(channel, "sandbox");
        let live = self.make.route();
        let test =
            Route { hops: [Channel::Whatsapp, Channel::Sms].map(hop).to_vec(), ..live.clone() };
        let gateways = [
            ("meta", take(&mut self.meta)),
            ("msg91", take(&mut self.msg91)),
            ("sandbox", take(&mut self.sandbox)),
        ];
        let gateways = gateways.map(|(name, gateway)| (name.to_owned(), Arc::new(gateway) as _));
        let fixed_minutes = self.fixed_minutes.clone();
        let gateways = HashMap::from(gateways);
        Routes { live, test, gateways, fixed_minutes, login_lifetime: minutes(10) }
    }
}

fn answer(gateway: &mut MockGateway, messages: &Arc<Mutex<Vec<Message>>>, outcome: Outcome) {
    let messages = Arc::clone(messages);
    gateway.expect_deliver().times(1).returning(move |message| {
        messages.lock().unwrap().push(message);
        outcome.clone()
    });
}
