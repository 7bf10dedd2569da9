use super::message_text::{brand_of, language_of, sms_text_of};
use crate::{CommonPorts, Routes};
use dwar_kernel::{
    AttemptId, EntryId, KeyMode, OtpId, Phone, PriceList, Purpose, StoreError, TRACE, Unsealable,
};
use dwar_login::{LoginStore, SendReport};
use dwar_otp::{
    Charge, Code, DeliveryAttempt, DeliveryStep, FailureReach, Message, Otp, OtpStore, Outcome,
    Reason, Receipt, ReceiptTarget, Report, ReportedRequest, Route,
};
use dwar_project::{Project, ProjectStore};
use dwar_ratelimit::{SendKey, SendLimiter};
use dwar_wallet::{Settlement, WalletStore};
use std::sync::Arc;
use tracing::field::Empty;
use tracing::{Instrument, Span};
use zeroize::Zeroizing;

/// Sends a code along its route until a provider accepts it, and settles the money.
///
/// Each provider's answer is on disk before the next provider is called, so that a process that takes over
/// after a crash knows how far the delivery came.
pub struct Deliver {
    pub tools: CommonPorts,
    /// Begins sends, and keeps the outcome of each attempt and of the money.
    pub logins: Arc<dyn LoginStore>,
    pub otps: Arc<dyn OtpStore>,
    pub projects: Arc<dyn ProjectStore>,
    pub wallets: Arc<dyn WalletStore>,
    pub sends: Arc<dyn SendLimiter>,
    pub routes: Routes,
    /// Price of a message, unless the project has its own.
    pub prices: PriceList,
}

/// Values that are the same for every provider on the route.
pub(crate) struct DeliveryContext<'project> {
    pub(crate) project: &'project Project,
    pub(crate) route: Route,
    /// Content of the message, if the caller has it; otherwise it is unsealed from the request.
    pub(crate) contents: Option<MessageSecrets>,
}

/// The parts of a message that differ from send to send.
#[derive(Clone)]
pub(crate) struct MessageSecrets {
    pub(crate) phone: Phone,
    pub(crate) code: Code,
    /// The last line of the SMS, if the send named one.
    pub(crate) last_line: Option<String>,
}

impl MessageSecrets {
    /// Code and last line in the form that is sealed for a fallback.
    pub(crate) fn sealed_text(&self) -> Zeroizing<String> {
        let (code, line) = (self.code.expose(), self.last_line.as_deref());
        Zeroizing::new(line.map_or_else(|| code.to_owned(), |line| format!("{code} {line}")))
    }
}

impl Deliver {
    /// Calls the provider of `attempt`, and further providers as the route says.
    ///
    /// Returns the request as soon as nothing more can be done now. If the request was erased meanwhile,
    /// returns its last state.
    pub(crate) async fn attempt(
        &self,
        context: DeliveryContext<'_>,
        otp: Otp,
        attempt: DeliveryAttempt,
    ) -> Result<Otp, StoreError> {
        self.follow(&context, otp, DeliveryStep::Try(attempt)).await
    }

    /// Applies a provider's receipt (docs/contract.md, Delivery) and returns the attempt concerned; `None` if
    /// no attempt has its reference. Repetition is harmless.
    pub async fn receipt(&self, receipt: Receipt) -> Result<Option<ReceiptTarget>, StoreError> {
        let Receipt { provider, provider_ref, report } = receipt;
        match self.otps.find_attempt(provider, provider_ref).await? {
            Some(about) => Ok(self.report(about, report).await?.map(|_| about)),
            None => Ok(None),
        }
    }

    /// Applies a report from outside (a receipt, the sweep) and calls further providers as the route says;
    /// `None` if there is no such request.
    pub async fn report(
        &self,
        about: ReceiptTarget,
        report: Report,
    ) -> Result<Option<Otp>, StoreError> {
        let ReceiptTarget { project_mode, otp, attempt } = about;
        let Some(project) = self.projects.find(project_mode.project).await? else {
            return Ok(None);
        };
        let route = self.routes.of(&project, project_mode.mode);
        let context = DeliveryContext { project: &project, route, contents: None };
        let request = ReportedRequest::Id(project.id, otp);
        match self.record(&context, request, attempt, report).await? {
            Some((otp, step)) => self.follow(&context, otp, step).await.map(Some),
            None => Ok(None),
        }
    }

    /// Ends a send whose request cannot get any more reports: settles its money, and returns its place if
    /// certainly no message was sent.
    pub async fn conclude(
        &self,
        project: &Project,
        otp: &Otp,
        charge: Charge,
    ) -> Result<(), StoreError> {
        self.settle(project, otp.project_mode.mode, otp.id, charge).await?;
        let key = SendKey { project_mode: otp.project_mode, phone: otp.phone };
        match otp.delivery.reach() {
            FailureReach::Refused => self.sends.forgive(key, otp.id).await,
            FailureReach::NoProvider | FailureReach::Possible => Ok(()),
        }
    }

    /// Settles the money of a send, without its request. Repeated calls settle once.
    pub async fn settle(
        &self,
        project: &Project,
        mode: KeyMode,
        send: OtpId,
        charge: Charge,
    ) -> Result<(), StoreError> {
        if mode.is_test() {
            return Ok(());
        }
        let settlement = match charge {
            Charge::Channel(channel) => {
                Settlement::Capture(project.prices.over(self.prices).of(channel))
            }
            Charge::Nothing => Settlement::Release,
        };
        let (entries, now) = (self.entries(), self.tools.now());
        let ended = self.wallets.settle(project.id, send, settlement, entries, now).await?;
        // The send was charged before its request was erased, and now it turns out that nobody was reached.
        if !ended && charge == Charge::Nothing {
            self.wallets.refund(project.id, send, entries[0], now).await?;
        }
        Ok(())
    }

    /// Ids of the entries that a settlement may write.
    fn entries(&self) -> [EntryId; 2] {
        [(); 2].map(|()| EntryId::new(self.tools.now(), self.tools.entropy.as_ref()))
    }

    async fn follow(
        &self,
        context: &DeliveryContext<'_>,
        mut otp: Otp,
        mut step: DeliveryStep,
    ) -> Result<Otp, StoreError> {
        while let DeliveryStep::Try(attempt) = step {
            let report = self.hand_over(context, &otp, &attempt).await;
            self.tools.observer.attempted(&attempt, &report);
            let (told, seen) = (report.clone(), ReportedRequest::Seen(Box::new(otp.clone())));
            match self.record(context, seen, attempt.id, report).await? {
                Some((then, next)) => (otp, step) = (then, next),
                None => {
                    self.settle_erased_request(context.project, &mut otp, attempt.id, told).await?;
                    break;
                }
            }
        }
        Ok(otp)
    }

    /// Ends a request that was erased during the call to its provider: no further provider is called and no
    /// receipt is awaited; only the money is settled by the provider's answer.
    async fn settle_erased_request(
        &self,
        project: &Project,
        otp: &mut Otp,
        attempt: AttemptId,
        report: Report,
    ) -> Result<(), StoreError> {
        let lease = self.routes.live.lease;
        let over = Route { hops: Vec::new(), receipt_window: None, lease };
        match otp.report(attempt, report, &over, attempt, self.tools.now()) {
            DeliveryStep::Settle(charge) => self.conclude(project, otp, charge).await,
            DeliveryStep::Wait | DeliveryStep::Try(_) => Ok(()),
        }
    }

    async fn record(
        &self,
        context: &DeliveryContext<'_>,
        request: ReportedRequest,
        attempt: AttemptId,
        report: Report,
    ) -> Result<Option<(Otp, DeliveryStep)>, StoreError> {
        let now = self.tools.now();
        let next = AttemptId::new(now, self.tools.entropy.as_ref());
        let (route, prices) = (context.route.clone(), context.project.prices.over(self.prices));
        let entries = self.entries();
        let arrived = report == Report::Delivered;
        let report = SendReport { attempt, report, route, next, prices, entries };
        let done = self.logins.report(request, report, now).await?;
        if let Some((otp, step)) = &done {
            let news = otp.delivery.attempts.iter().find(|it| it.id == attempt && it.at == now);
            self.observe(otp, news.filter(|_| arrived), step);
        }
        Ok(done)
    }

    /// Reports to the observer; `arrived` is the attempt that has newly arrived, if any.
    fn observe(&self, otp: &Otp, arrived: Option<&DeliveryAttempt>, step: &DeliveryStep) {
        let observer = &self.tools.observer;
        if matches!(step, DeliveryStep::Try(_)) {
            observer.fell_back();
        }
        if let Some(attempt) = arrived.filter(|_| !otp.project_mode.mode.is_test()) {
            let after = (attempt.at - otp.created_at).to_std().unwrap_or_default();
            observer.delivered(attempt.channel, after);
        }
    }

    async fn hand_over(
        &self,
        context: &DeliveryContext<'_>,
        otp: &Otp,
        attempt: &DeliveryAttempt,
    ) -> Report {
        let Some(gateway) = self.routes.gateways.get(&attempt.provider) else {
            tracing::error!(provider = %attempt.provider, "no gateway of this name is configured");
            return Report::Failed(Reason::ProviderUnavailable);
        };
        let message = match self.message(context, otp, attempt) {
            Ok(message) => message,
            Err(reason) => return Report::Failed(reason),
        };
        let phone = message.phone.clone();
        let call = span_of(attempt);
        let lines = call.in_scope(|| context.span_about(&phone));
        let outcome = gateway.deliver(message).instrument(lines).await;
        // Logs only the kind of the outcome: a provider's message reference is text of the provider.
        let (outcome_kind, reason) = outcome.words();
        call.record("dwar.outcome", outcome_kind).record("error.type", reason);
        tracing::info!(otp = %otp.id, attempt = %attempt.id, %phone, provider = %attempt.provider,
            channel = attempt.channel.as_str(), outcome = outcome_kind, reason, "provider answered");
        match outcome {
            Outcome::Accepted { provider_ref, awaits_receipt } => {
                Report::Accepted { provider_ref, awaits_receipt }
            }
            Outcome::Refused(reason) | Outcome::Busy(reason, _) => Report::Failed(reason),
        }
    }

    /// Composes the message. A failure is logged with its cause.
    fn message(
        &self,
        context: &DeliveryContext<'_>,
        otp: &Otp,
        attempt: &DeliveryAttempt,
    ) -> Result<Message, Reason> {
        let project = context.project;
        let opened = context.contents.clone().map_or_else(|| self.open(otp), Ok);
        let opened = opened.inspect_err(|cause| {
            tracing::error!(otp = %otp.id, error = %cause, "a stored code or phone cannot be read");
        });
        // No provider was called, so certainly nothing was sent.
        let opened = opened.map_err(|_| Reason::ProviderUnavailable)?;
        let MessageSecrets { phone, code, last_line } = opened;
        let text = sms_text_of(project, last_line.as_deref()).inspect_err(|cause| {
            tracing::error!(project = %project.id, %cause, "the project's text cannot be used");
        });
        let text = text.map_err(|_| Reason::TemplateRejected)?;
        let minutes = u32::try_from((otp.expires_at - otp.created_at).num_minutes());
        let minutes = minutes.unwrap_or_default();
        Ok(Message {
            otp: otp.id,
            attempt: attempt.id,
            project_mode: otp.project_mode,
            channel: attempt.channel,
            phone,
            phone_index: otp.phone,
            text: text.compose(&code, minutes),
            code,
            brand: brand_of(project),
            language: language_of(project).to_owned(),
            minutes,
            template_id: project.messages.template_id.clone(),
        })
    }

    fn open(&self, otp: &Otp) -> Result<MessageSecrets, Unsealable> {
        let vault = &self.tools.vault;
        let phone = vault.open_phone(otp.project_mode.project, &otp.sealed_phone)?;
        let sealed = otp.sealed_code.as_ref().ok_or(Unsealable)?;
        let plain = Zeroizing::new(vault.open(Purpose::Code, otp.id.uuid().as_bytes(), sealed)?);
        let text = std::str::from_utf8(&plain).map_err(|_| Unsealable)?;
        let (digits, line) =
            text.split_once(' ').map_or((text, None), |(digits, line)| (digits, Some(line)));
        let code = Code::relayed(digits).map_err(|_| Unsealable)?;
        Ok(MessageSecrets { phone, code, last_line: line.map(str::to_owned) })
    }
}

impl DeliveryContext<'_> {
    /// Span for the gateway's log lines: the span of the request, which knows the phone, or a new one if no
    /// request waits for the send (receipts, the sweep).
    fn span_about(&self, phone: &Phone) -> Span {
        match self.contents {
            Some(_) => Span::current(),
            None => tracing::error_span!("delivery", %phone),
        }
    }
}

/// The span of a provider call in a trace.
fn span_of(attempt: &DeliveryAttempt) -> Span {
    tracing::error_span!(
        target: TRACE,
        "provider call",
        otel.kind = "client",
        otel.name = %format_args!("{} {}", attempt.provider, attempt.channel.as_str()),
        dwar.provider = %attempt.provider,
        dwar.channel = attempt.channel.as_str(),
        dwar.outcome = Empty,
        error.r#type = Empty,
    )
}
