use super::deliver::Way;
use super::idempotency::Begun;
use super::sent_otp::{SendRefusal, again, first_answer};
use super::tokens::seconds;
use crate::{
    Deliver, Idempotency, Limits, SendEnd, SendOtpError, SentOtp, Tally, Toolbox, dearest,
};
use dwar_kernel::{
    AttemptId, BlindIndex, EntryId, OtpId, Paise, Phone, Purpose, StoreError, TRACE, Timestamp,
    Unsealable,
};
use dwar_login::{Cost, NewSend, Prepared};
use dwar_otp::idempotency::IdempotencyKey;
use dwar_otp::sandbox::Scenario;
use dwar_otp::{
    Code, CodeDigest, CodeKeys, Delivery, DeliveryStatus, Otp, OtpState, Reach, Refusal, Route,
};
use dwar_project::Caller;
use dwar_ratelimit::{SendAdmission, SendBound};
use std::sync::Arc;
use std::time::Duration;
use tracing::instrument;
use zeroize::Zeroizing;

/// What is sent to a phone.
pub(crate) enum Errand {
    /// A login code, made here.
    LogIn,
    /// A code of somebody else, and how long it works.
    Relay(Code, Duration),
}

/// Sends a code to a phone: prepare, deliver, report (`POST /v1/otp/send`).
pub struct SendOtp {
    /// Keeps the first answer to a key.
    pub idempotency: Idempotency,
    /// Takes the code to the phone, and keeps what became of it.
    pub deliver: Arc<Deliver>,
    /// What codes are digested with.
    pub codes: Arc<CodeKeys>,
    /// How long they live.
    pub policy: OtpPolicy,
    /// How often one phone may be sent to.
    pub limits: Limits,
    /// Counts what is refused, for people who ask why no code came.
    pub tally: Arc<Tally>,
}

/// What holds for every code.
#[derive(Clone, Copy, Debug)]
pub struct OtpPolicy {
    /// How long a code is active; 10 minutes (docs/contract.md, Codes).
    pub lifetime: Duration,
}

impl SendOtp {
    /// Sends a fresh code to `phone`, which supersedes its present one; or, with a `key` that came
    /// before, gives the first answer again and sends nothing.
    ///
    /// # Errors
    /// [`SendOtpError::InsufficientBalance`] uses up none of the phone's allowance. Nor does
    /// [`SendOtpError::Undeliverable`] if every provider refused outright; if one may have sent
    /// something, the send keeps its place.
    #[instrument(name = "send_otp", target = TRACE, level = "error", skip_all)]
    pub async fn send(
        &self,
        caller: &Caller,
        phone: &Phone,
        key: Option<&IdempotencyKey>,
    ) -> Result<SentOtp, SendOtpError> {
        self.run(caller, phone, &Errand::LogIn, key).await
    }

    /// Does an errand, once for each key.
    pub(crate) async fn run(
        &self,
        caller: &Caller,
        phone: &Phone,
        errand: &Errand,
        key: Option<&IdempotencyKey>,
    ) -> Result<SentOtp, SendOtpError> {
        let index = self.deliver.tools.vault.phone_index(caller.project.id, caller.mode, phone);
        let outcome = self.run_once(caller, (phone, index), errand, key).await;
        if let Some(reason) = outcome.as_ref().err().and_then(reason_of) {
            self.tally.refused((caller.project.id, caller.mode), Some(index), reason);
        }
        self.deliver.tools.observer.sent(caller.mode, SendEnd::from(&outcome));
        outcome
    }

    async fn run_once(
        &self,
        caller: &Caller,
        (phone, index): (&Phone, BlindIndex),
        errand: &Errand,
        key: Option<&IdempotencyKey>,
    ) -> Result<SentOtp, SendOtpError> {
        let Some(key) = key else {
            return self.run_fresh(caller, (phone, index), errand).await;
        };
        let asked = errand.asked(phone);
        let asked = (asked.as_str(), index);
        let ticket = match self.idempotency.begin(caller, errand.route(), key, asked).await? {
            Begun::Fresh(ticket) => ticket,
            Begun::Running => return Err(SendOtpError::Conflict),
            Begun::Reused => return Err(SendOtpError::Reused),
            Begun::Replay(answer) => {
                let unreadable = || Err(StoreError::from(Unsealable).into());
                return again(&answer, caller.mode).unwrap_or_else(unreadable);
            }
        };
        let outcome = self.run_fresh(caller, (phone, index), errand).await;
        self.idempotency.end(ticket, first_answer(&outcome).as_deref()).await;
        outcome
    }

    async fn run_fresh(
        &self,
        caller: &Caller,
        (phone, index): (&Phone, BlindIndex),
        errand: &Errand,
    ) -> Result<SentOtp, SendOtpError> {
        let Deliver { tools, logins, routes, .. } = self.deliver.as_ref();
        let now = tools.now();
        let mode = caller.mode;
        let route = routes.of(&caller.project, mode);
        let (otp, code) = self.compose(caller, (phone, index), errand, &route, now);

        let cost = self.cost(caller, phone, &route);
        let entry = EntryId::new(now, tools.entropy.as_ref());
        let guesses = self.limits.guesses(mode);
        let quota = self.limits.of(mode).send;
        let send = NewSend { otp: otp.clone(), quota, guesses, cost, entry };
        let admission = match logins.prepare(send, now).await? {
            Prepared::Ready(admission) => admission,
            Prepared::Limited(SendAdmission { refused_by, counted, .. }) => {
                let bound = refused_by.unwrap_or(SendBound::Limit);
                return Err(SendOtpError::RateLimited(SendRefusal { bound, admission: counted }));
            }
            Prepared::Unaffordable(admission) => {
                return Err(SendOtpError::InsufficientBalance(Some(admission.withdrawn)));
            }
        };
        let way = Way { project: &caller.project, route, contents: Some((phone.clone(), code)) };
        let otp = match otp.delivery.attempts.last().cloned() {
            Some(first) => self.deliver.attempt(way, otp, first).await?,
            None => otp,
        };
        if otp.delivery.status == DeliveryStatus::Failed {
            let allowance = match otp.delivery.reach() {
                Reach::NoProvider => admission.withdrawn,
                Reach::Refused => admission.forgiven,
                Reach::Possible => admission.counted,
            };
            return Err(SendOtpError::Undeliverable(Some(allowance)));
        }
        Ok(SentOtp {
            otp: otp.id,
            mode,
            status: otp.delivery.status,
            channel: otp.delivery.channel(),
            expires_at: otp.expires_at,
            expires_in: seconds(otp.expires_at, tools.now()),
            admission: Some(admission.counted),
        })
    }

    /// What has to be set aside for a send: the price of the dearest provider it may take. Test keys cost
    /// nothing, but play an empty wallet for the number that stands for it.
    fn cost(&self, caller: &Caller, phone: &Phone, route: &Route) -> Cost {
        if caller.mode.is_test() {
            let poor = Scenario::of(phone) == Scenario::InsufficientBalance;
            return if poor { Cost::Unaffordable } else { Cost::Nothing };
        }
        match dearest(caller.project.prices.over(self.deliver.prices), route) {
            Paise::ZERO => Cost::Nothing,
            price => Cost::Hold(price),
        }
    }

    fn compose(
        &self,
        caller: &Caller,
        (phone, index): (&Phone, BlindIndex),
        errand: &Errand,
        route: &Route,
        now: Timestamp,
    ) -> (Otp, Code) {
        let Toolbox { entropy, vault, .. } = &self.deliver.tools;
        let (project, mode) = (caller.project.id, caller.mode);
        let id = OtpId::new(now, entropy.as_ref());
        let (code, digest, state, lifetime) = match errand {
            Errand::LogIn => {
                let code = Code::generate(entropy.as_ref());
                let binding = Otp::binding_of(id, project, mode, &index);
                let digest = self.codes.digest(&binding, &code);
                (code, digest, OtpState::Active, self.policy.lifetime)
            }
            Errand::Relay(code, lifetime) => {
                (code.clone(), CodeDigest::NONE, OtpState::Relayed, *lifetime)
            }
        };
        let digits = code.expose().as_bytes();
        let delivery = Delivery::begin(route, AttemptId::new(now, entropy.as_ref()), now);
        let mut otp = Otp {
            id,
            project,
            mode,
            phone: index,
            sealed_phone: vault.seal_phone(project, phone),
            code: digest,
            sealed_code: Some(vault.seal(Purpose::Code, id.uuid().as_bytes(), digits)),
            state,
            wrong: 0,
            max_wrong: self.limits.of(mode).max_wrong,
            guesses: Vec::new(),
            created_at: now,
            expires_at: now + lifetime,
            delivery,
        };
        if otp.delivery.attempts.is_empty() {
            // A login code supersedes the phone's present one like any other, and leaves no active one.
            tracing::error!(%project, "no provider is configured");
            otp.give_up();
        }
        (otp, code)
    }
}

impl Errand {
    /// The word that distinguishes its answers from those of others.
    const fn route(&self) -> &'static str {
        match self {
            Self::LogIn => "otp/send",
            Self::Relay(..) => "otp/relay",
        }
    }

    /// All that it asks for, for a digest alone.
    fn asked(&self, phone: &Phone) -> Zeroizing<String> {
        Zeroizing::new(match self {
            Self::LogIn => phone.national().to_owned(),
            Self::Relay(code, lifetime) => {
                format!("{} {} {}", phone.national(), code.expose(), lifetime.as_secs())
            }
        })
    }
}

/// What to tell somebody who waits for the code; nothing if a request is on record, or another one
/// is under way.
const fn reason_of(refused: &SendOtpError) -> Option<Refusal> {
    match refused {
        SendOtpError::RateLimited(refusal) => Some(match refusal.bound {
            SendBound::Limit => Refusal::Limit,
            SendBound::Pace => Refusal::Pace,
            SendBound::Stop => Refusal::Stop,
        }),
        SendOtpError::InsufficientBalance(_) => Some(Refusal::Balance),
        SendOtpError::Reused => Some(Refusal::KeyReused),
        SendOtpError::Undeliverable(_) | SendOtpError::Conflict | SendOtpError::Store(_) => None,
    }
}
