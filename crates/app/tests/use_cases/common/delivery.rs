use super::{World, limits};
use dwar_app::{Deliver, Idempotency, OtpPolicy, Routes, SendOtp};
use dwar_otp::idempotency::Lifetimes;
use dwar_otp::{Channel, Hop, Message, MockGateway, Otp, Outcome, Reason, Report, Route};
use dwar_ratelimit::SendLog;
use dwar_testkit::{START, minutes, seconds};
use dwar_wallet::{HoldOutcome, Paise, Settlement};
use mockall::predicate::{always, eq};
use std::collections::HashMap;
use std::mem::take;
use std::sync::{Arc, Mutex};

/// For how long first answers are kept.
pub const LIFETIMES: Lifetimes = Lifetimes { lease: seconds(60), keep: minutes(24 * 60) };

/// A provider takes the message and will not report on it.
pub fn accepted() -> Outcome {
    Outcome::Accepted { provider_ref: Some("ref".to_owned()), awaits_receipt: false }
}

/// A provider takes the message and will report what became of it.
pub fn awaiting_receipt() -> Outcome {
    Outcome::Accepted { provider_ref: Some("ref".to_owned()), awaits_receipt: true }
}

pub fn refused() -> Outcome {
    Outcome::Refused(Reason::NotOnChannel)
}

/// What the ports of a send are told to expect, each exactly once unless it says otherwise.
impl World {
    /// The phone has room for one more code.
    pub fn admits(&mut self) -> &mut Self {
        let (mode, key) = (self.caller.mode, self.line.send_key());
        let asked = (key, limits().of(mode).send, limits().guesses(mode));
        self.sends
            .expect_admit()
            .withf(move |key, _, quota, guesses, _| (*key, *quota, *guesses) == asked)
            .times(1)
            .returning(|_, _, quota, guesses, _| {
                Ok(SendLog::default().admit(&quota, &guesses, START))
            });
        self
    }

    pub fn holds(&mut self, amount: Paise) -> &mut Self {
        self.hold(amount, HoldOutcome::Held)
    }

    pub fn hold(&mut self, amount: Paise, outcome: HoldOutcome) -> &mut Self {
        self.wallets
            .expect_hold()
            .with(eq(self.line.project), always(), eq(amount), always(), always())
            .times(1)
            .returning(move |_, _, _, _, _| Ok(outcome));
        self
    }

    pub fn settles(&mut self, settlement: Settlement) -> &mut Self {
        self.wallets
            .expect_settle()
            .with(eq(self.line.project), always(), eq(settlement), always(), always())
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

    /// The place is taken off the record.
    pub fn withdraws(&mut self) -> &mut Self {
        self.sends
            .expect_withdraw()
            .with(eq(self.line.send_key()), always())
            .times(1)
            .returning(|_, _| Ok(()));
        self
    }

    /// A request that is on record already, just made.
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

    /// The store takes one new request and applies reports to it.
    pub fn issues(&mut self) -> &mut Self {
        let kept = Arc::clone(&self.kept);
        let issue = move |otp| {
            kept.lock().unwrap().push(otp);
            Ok(())
        };
        self.otps.expect_issue().times(0..=1).returning(issue.clone());
        self.otps.expect_issue_held().times(0..=1).returning(issue);
        self.applies_reports()
    }

    /// The store applies reports to what it keeps, by the rule of [`Otp::report`].
    pub fn applies_reports(&mut self) -> &mut Self {
        let kept = Arc::clone(&self.kept);
        self.otps.expect_report().returning(move |request, attempt, report, route, next, now| {
            let mut kept = kept.lock().unwrap();
            let row = kept.iter_mut().find(|row| (row.project, row.id) == request.key());
            Ok(row.map(|row| {
                let step = row.report(attempt, report, &route, next, now);
                (row.clone(), step)
            }))
        });
        self
    }

    /// The request is erased before the provider has answered.
    pub fn issues_and_loses(&mut self) -> &mut Self {
        self.otps.expect_issue_held().times(1).returning(|_| Ok(()));
        self.otps.expect_report().times(1).returning(|_, _, _, _, _, _| Ok(None));
        self
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

    /// Every message that a gateway was given, oldest first.
    pub fn messages(&self) -> Vec<Message> {
        self.messages.lock().unwrap().clone()
    }

    /// The newest request as the store keeps it.
    pub fn stored(&self) -> Otp {
        self.kept.lock().unwrap().last().unwrap().clone()
    }

    /// The use case over the mocks as they were told.
    pub fn send_otp(&mut self) -> SendOtp {
        SendOtp {
            idempotency: Idempotency {
                tools: self.tools(),
                store: Arc::new(take(&mut self.answers)),
                lifetimes: LIFETIMES,
            },
            deliver: self.deliver(),
            codes: Arc::clone(&self.make.codes),
            policy: OtpPolicy { lifetime: minutes(10) },
            limits: limits(),
            tally: self.tally(),
        }
    }

    /// The use case over the mocks as they were told.
    pub fn deliver(&mut self) -> Arc<Deliver> {
        Arc::new(Deliver {
            tools: self.tools(),
            otps: Arc::new(take(&mut self.otps)),
            projects: Arc::new(take(&mut self.projects)),
            wallets: Arc::new(take(&mut self.wallets)),
            sends: Arc::new(take(&mut self.sends)),
            routes: self.routes(),
            prices: self.prices,
        })
    }

    /// Live over the two providers, test over the sandbox.
    pub fn routes(&mut self) -> Routes {
        let hop = |channel| Hop { channel, provider: "sandbox".to_owned() };
        let live = self.make.route();
        let test =
            Route { hops: [Channel::Whatsapp, Channel::Sms].map(hop).to_vec(), ..live.clone() };
        let gateways = [
            ("meta", take(&mut self.meta)),
            ("msg91", take(&mut self.msg91)),
            ("sandbox", take(&mut self.sandbox)),
        ];
        let gateways = gateways.map(|(name, gateway)| (name.to_owned(), Arc::new(gateway) as _));
        Routes { live, test, gateways: HashMap::from(gateways) }
    }
}

fn answer(gateway: &mut MockGateway, messages: &Arc<Mutex<Vec<Message>>>, outcome: Outcome) {
    let messages = Arc::clone(messages);
    gateway.expect_deliver().times(1).returning(move |message| {
        messages.lock().unwrap().push(message);
        outcome.clone()
    });
}
