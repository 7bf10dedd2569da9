use super::deliver::{DeliveryContext, MessageSecrets};
use super::idempotency::{IdempotencyOutcome, RepeatKey};
use super::sent_otp::{SendRefusal, again, first_answer};
use super::tokens::seconds;
use crate::guard::{GuardTake, ProofRequired};
use crate::{
    CommonPorts, Deliver, Guard, Idempotency, KnownDevices, Limits, SendEnd, SendKind,
    SendOtpError, SentOtp, UsageRecorder, dearest,
};
use dwar_identity::DeviceToken;
use dwar_kernel::{
    ApiKeyId, AttemptId, BlindIndex, EntryId, GuardMode, KeyMode, OtpId, Paise, Phone, Purpose,
    StoreError, TRACE, Timestamp, Unsealable,
};
use dwar_login::{Cost, NewSend, Prepared};
use dwar_otp::idempotency::IdempotencyKey;
use dwar_otp::sandbox::Scenario;
use dwar_otp::{
    Code, CodeDigest, CodeKeys, Delivery, DeliveryStatus, FailureReach, Hop, Otp, OtpState,
    Refusal, Route,
};
use dwar_project::{Caller, LastLine, Project};
use dwar_ratelimit::guard::{GuardPass, Visitor};
use dwar_ratelimit::{DayBound, SendAdmission, SendBound};
use std::sync::Arc;
use std::time::Duration;
use tracing::instrument;
use zeroize::Zeroizing;

pub(crate) enum SendPurpose {
    /// A login code, made here, with the last line of its SMS if that is not the project's own.
    LogIn(Option<String>),
    /// A code of another system, with its lifetime.
    Relay(Code, Duration),
}

/// A send and all that is known of it before it begins.
pub(crate) struct SendRequest<'a> {
    pub(crate) caller: &'a Caller,
    pub(crate) phone: &'a Phone,
    pub(crate) purpose: SendPurpose,
    pub(crate) repeat: Option<RepeatKey<'a>>,
    /// What a client shows as the token of a known device.
    pub(crate) device: Option<DeviceToken>,
    /// Called once the send is on record: after that a crash of this process does not lose it.
    pub(crate) recorded: &'a (dyn Fn() + Send + Sync),
    /// The only provider to use; `None` means the project's route.
    pub(crate) only: Option<&'a Hop>,
    /// Who asks for the code; `None` if the guard has nothing to judge.
    pub(crate) visitor: Option<Visitor>,
}

/// What a caller may add to a send.
#[derive(Clone, Debug, Default)]
pub struct SendExtras {
    /// The last line of an SMS, if it is not the project's own.
    pub last_line: Option<LastLine>,
    pub visitor: Visitor,
    /// What a client shows as the token of a known device.
    pub device: Option<DeviceToken>,
}

/// Sends a code to a phone in three steps: prepare, deliver, report (`POST /v1/otp/send`).
pub struct SendOtp {
    pub idempotency: Idempotency,
    pub deliver: Arc<Deliver>,
    pub codes: Arc<CodeKeys>,
    pub devices: KnownDevices,
    pub lifetime: Duration,
    pub limits: Limits,
    /// Counts refused sends, for operators who look for the reason why a code did not come.
    pub usage_recorder: Arc<UsageRecorder>,
    pub guard: Arc<Guard>,
}

impl SendOtp {
    /// Sends a new code to `phone`, which supersedes its active one. With a known `key` it returns the first
    /// answer again and sends nothing.
    ///
    /// # Errors
    /// [`SendOtpError::ProofRequired`] neither counts nor costs anything, and is not stored under the key.
    /// [`SendOtpError::InsufficientBalance`] and [`SendOtpError::SpendLimitReached`] do not count against the
    /// limit of the phone. Nor does [`SendOtpError::Undeliverable`] if every provider refused; if one may have sent a message, the send
    /// keeps its place.
    #[instrument(name = "send_otp", target = TRACE, level = "error", skip_all)]
    pub async fn send(
        &self,
        caller: &Caller,
        phone: &Phone,
        extras: Option<SendExtras>,
        key: Option<&IdempotencyKey>,
    ) -> Result<SentOtp, SendOtpError> {
        let repeat = key.map(|key| self.repeat(key));
        let SendExtras { last_line, visitor, device } = extras.unwrap_or_default();
        let purpose = SendPurpose::LogIn(last_line.map(String::from));
        let (recorded, visitor, only) = (&|| (), Some(visitor), None);
        let request =
            SendRequest { caller, phone, purpose, repeat, recorded, only, visitor, device };
        self.run(&request).await
    }

    /// Sends a live code of a project by one provider only, to test whether it arrives. Limits and price are
    /// those of any other send; if the provider fails, no other one is tried.
    ///
    /// # Errors
    /// Those of [`SendOtp::send`]; also [`SendOtpError::Undeliverable`] if no such provider is configured.
    #[instrument(name = "send_test", target = TRACE, level = "error", skip_all)]
    pub async fn send_by(
        &self,
        project: Project,
        phone: &Phone,
        hop: &Hop,
    ) -> Result<SentOtp, SendOtpError> {
        let CommonPorts { entropy, .. } = &self.deliver.tools;
        let key = ApiKeyId::new(self.deliver.tools.now(), entropy.as_ref());
        let caller = &Caller { project, mode: KeyMode::Live, key };
        let (purpose, only) = (SendPurpose::LogIn(None), Some(hop));
        let (repeat, recorded, visitor, device) = (None, &|| (), None, None);
        let request =
            SendRequest { caller, phone, purpose, repeat, recorded, only, visitor, device };
        self.run(&request).await
    }

    /// The `Idempotency-Key` of a client, with the default lifetimes.
    pub(crate) fn repeat<'a>(&self, key: &'a IdempotencyKey) -> RepeatKey<'a> {
        RepeatKey { key: key.expose().as_bytes(), lifetimes: self.idempotency.lifetimes }
    }

    /// Does the send, once per idempotency key.
    pub(crate) async fn run(&self, request: &SendRequest<'_>) -> Result<SentOtp, SendOtpError> {
        let project_mode = request.caller.project_mode();
        let index = self.deliver.tools.vault.phone_index(project_mode, request.phone);
        let outcome = self.once(request, index).await;
        if let Some(reason) = outcome.as_ref().err().and_then(reason_of) {
            self.usage_recorder.refused(project_mode, Some(index), reason);
        }
        self.deliver.tools.observer.sent(
            project_mode.mode,
            request.purpose.kind(),
            SendEnd::from(&outcome),
        );
        outcome
    }

    async fn once(
        &self,
        request: &SendRequest<'_>,
        index: BlindIndex,
    ) -> Result<SentOtp, SendOtpError> {
        let Some(repeat) = request.repeat else { return self.fresh(request, index).await };
        let asked = request.purpose.asked(request.phone);
        let asked = (asked.as_str(), index);
        let begun =
            self.idempotency.begin(request.caller, request.purpose.route(), repeat, asked).await?;
        let ticket = match begun {
            IdempotencyOutcome::Fresh(ticket) => ticket,
            IdempotencyOutcome::Running => return Err(SendOtpError::Conflict),
            IdempotencyOutcome::Reused => return Err(SendOtpError::Reused),
            IdempotencyOutcome::Replay(answer) => {
                let unreadable = || Err(StoreError::from(Unsealable).into());
                return again(&answer, request.caller.mode).unwrap_or_else(unreadable);
            }
        };
        let outcome = self.fresh(request, index).await;
        self.idempotency.end(ticket, first_answer(&outcome).as_deref()).await;
        outcome
    }

    async fn fresh(
        &self,
        request: &SendRequest<'_>,
        index: BlindIndex,
    ) -> Result<SentOtp, SendOtpError> {
        let SendRequest { caller, phone, .. } = *request;
        let by_device = self.devices.knows(caller, &index, request.device.as_ref()).await?;
        let mut take = self.judged(request, by_device)?;
        let Deliver { tools, logins, routes, .. } = self.deliver.as_ref();
        let now = tools.now();
        let mode = caller.mode;
        let mut route = request.purpose.restrict(routes.of(&caller.project, mode));
        if let Some(only) = request.only {
            let known = routes.gateways.contains_key(&only.provider);
            route.hops = Vec::from_iter(Some(only.clone()).filter(|_| known));
        }
        let (otp, contents) = self.compose(request, index, &route, now);

        let cost = self.cost(caller, phone, &route);
        let entry = EntryId::new(now, tools.entropy.as_ref());
        let guesses = self.limits.guesses(mode);
        let quota = self.limits.of(mode).send;
        let guard = take.as_ref().map(|take| take.send);
        let day = day_bound(caller);
        let send = NewSend { otp: otp.clone(), by_device, quota, guesses, cost, guard, day, entry };
        let admission = match logins.prepare(send, now).await? {
            Prepared::Ready(admission) => admission,
            Prepared::Limited(SendAdmission { refused_by, counted, .. }) => {
                let bound = refused_by.unwrap_or(SendBound::Limit);
                return Err(SendOtpError::RateLimited(SendRefusal { bound, admission: counted }));
            }
            Prepared::Unaffordable(admission) => {
                return Err(SendOtpError::InsufficientBalance(Some(admission.withdrawn)));
            }
            Prepared::SpendLimited(admission) => {
                return Err(SendOtpError::SpendLimitReached(Some(admission.withdrawn)));
            }
        };
        if let Some(take) = &mut take {
            take.keep(admission.guard.as_ref(), now);
        }
        if let Some(verdict) = admission.verdict(guard) {
            tools.observer.guarded(verdict);
        }
        (request.recorded)();
        let context = DeliveryContext { project: &caller.project, route, contents: Some(contents) };
        let otp = match otp.delivery.attempts.last().cloned() {
            Some(first) => self.deliver.attempt(context, otp, first).await?,
            None => otp,
        };
        // A number that no provider took a message for takes no token.
        let is_accepted = otp.delivery.attempts.iter().any(|attempt| attempt.accepted);
        if let Some(take) = take.as_mut().filter(|_| is_accepted) {
            take.stand();
        }
        if otp.delivery.status == DeliveryStatus::Failed {
            let allowance = match otp.delivery.reach() {
                FailureReach::NoProvider => admission.withdrawn,
                FailureReach::Refused => admission.forgiven,
                FailureReach::Possible => admission.counted,
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

    /// What the guard takes for the send; `None` if it has nothing to judge.
    fn judged(
        &self,
        request: &SendRequest<'_>,
        by_device: bool,
    ) -> Result<Option<GuardTake<'_>>, SendOtpError> {
        let SendRequest { caller, phone, .. } = *request;
        let Some(visitor) = &request.visitor else { return Ok(None) };
        let is_asked = caller.mode.is_test()
            && visitor.pass.is_none()
            && Scenario::of(phone) == Scenario::ProofRequired;
        if is_asked {
            return Err(SendOtpError::ProofRequired);
        }
        let pass = visitor.pass.or(by_device.then_some(GuardPass::Device));
        let take = self.guard.admit(caller, phone, &Visitor { pass, ..*visitor });
        take.map_err(|ProofRequired| SendOtpError::ProofRequired)
    }

    /// The amount to hold for a send: the price of the most expensive provider on its route. Test keys pay
    /// nothing, but one test number simulates an empty wallet.
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
        request: &SendRequest<'_>,
        index: BlindIndex,
        route: &Route,
        now: Timestamp,
    ) -> (Otp, MessageSecrets) {
        let SendRequest { caller, phone, purpose, .. } = request;
        let CommonPorts { entropy, vault, .. } = &self.deliver.tools;
        let project_mode = caller.project_mode();
        let id = OtpId::new(now, entropy.as_ref());
        let (code, digest, state, lifetime, last_line) = match purpose {
            SendPurpose::LogIn(last_line) => {
                let code = Code::generate(entropy.as_ref());
                let binding = Otp::binding_of(project_mode, id, &index);
                let digest = self.codes.digest(&binding, &code);
                (code, digest, OtpState::Active, self.lifetime, last_line.clone())
            }
            SendPurpose::Relay(code, lifetime) => {
                (code.clone(), CodeDigest::NONE, OtpState::Relayed, *lifetime, None)
            }
        };
        let contents = MessageSecrets { phone: (*phone).clone(), code, last_line };
        let sealed = contents.sealed_text();
        let delivery = Delivery::begin(route, AttemptId::new(now, entropy.as_ref()), now);
        let mut otp = Otp {
            id,
            project_mode,
            phone: index,
            sealed_phone: vault.seal_phone(project_mode.project, phone),
            code: digest,
            sealed_code: Some(vault.seal(Purpose::Code, id.uuid().as_bytes(), sealed.as_bytes())),
            state,
            wrong: 0,
            max_wrong: self.limits.of(project_mode.mode).max_wrong,
            device_only: false,
            guard: None,
            guesses: Vec::new(),
            created_at: now,
            expires_at: now + lifetime,
            delivery,
        };
        if otp.delivery.attempts.is_empty() {
            // Like any login code it supersedes the phone's active one, so the phone has no active code now.
            tracing::error!(project = %project_mode.project, "no provider is configured");
            otp.give_up();
        }
        (otp, contents)
    }
}

impl SendPurpose {
    /// Separates the stored answers of sends from those of relays.
    const fn route(&self) -> &'static str {
        match self {
            Self::LogIn(_) => "otp/send",
            Self::Relay(..) => "otp/relay",
        }
    }

    /// The part of a route that a send with this purpose may take.
    fn restrict(&self, route: Route) -> Route {
        match self {
            Self::LogIn(_) => route,
            Self::Relay(_, lifetime) => route.of_lifetime(*lifetime),
        }
    }

    const fn kind(&self) -> SendKind {
        match self {
            Self::LogIn(_) => SendKind::Otp,
            Self::Relay(..) => SendKind::Relay,
        }
    }

    /// The content of the request; only to make a digest of it.
    fn asked(&self, phone: &Phone) -> Zeroizing<String> {
        Zeroizing::new(match self {
            Self::LogIn(None) => phone.national().to_owned(),
            Self::LogIn(Some(last_line)) => format!("{} {last_line}", phone.national()),
            Self::Relay(code, lifetime) => {
                format!("{} {} {}", phone.national(), code.expose(), lifetime.as_secs())
            }
        })
    }
}

/// The places that a phone may keep in a day. Codes that are only delivered count too.
fn day_bound(caller: &Caller) -> Option<DayBound> {
    caller.is_guarded().then(|| DayBound::new(caller.project.guard == GuardMode::Enforce))
}

/// The refusal to show to an operator; `None` if a request is on record, or another one is under way.
const fn reason_of(refused: &SendOtpError) -> Option<Refusal> {
    match refused {
        SendOtpError::RateLimited(refusal) => Some(match refusal.bound {
            SendBound::Limit => Refusal::Limit,
            SendBound::Day => Refusal::Day,
            SendBound::Pace => Refusal::Pace,
            SendBound::Stop => Refusal::Stop,
        }),
        SendOtpError::InsufficientBalance(_) => Some(Refusal::Balance),
        SendOtpError::SpendLimitReached(_) => Some(Refusal::SpendLimit),
        SendOtpError::ProofRequired => Some(Refusal::Proof),
        SendOtpError::Reused => Some(Refusal::KeyReused),
        SendOtpError::Undeliverable(_) | SendOtpError::Conflict | SendOtpError::Store(_) => None,
    }
}
