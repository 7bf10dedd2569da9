use crate::HttpClient;
use crate::http_client::Answer;
use async_trait::async_trait;
use dwar_otp::{
    Channel, Gateway, Message, Outcome, Probe, Reason, Receipt, ReceiptSource, Report,
    WebhookAdmission, WebhookCall, WebhookError, WebhookHead,
};
use reqwest::RequestBuilder;

/// What is particular to one provider that is called over HTTP; [`HttpGateway`] does the rest.
pub trait Vendor: Send + Sync {
    /// Its name; also the last part of the address that it calls.
    fn name(&self) -> &str;

    /// An address that it is called at, of which only scheme and host count; `None` if it cannot be probed.
    fn address(&self) -> Option<&str> {
        None
    }

    /// The call that hands `message` over.
    ///
    /// # Errors
    /// Why there is none; it is logged already.
    fn call(&self, client: &HttpClient, message: &Message) -> Result<RequestBuilder, Reason>;

    /// What it calls the message that it took.
    ///
    /// # Errors
    /// Why it took none, from [`Answer::refused`].
    fn judge(&self, channel: Channel, answer: &Answer) -> Result<Option<String>, Reason>;

    /// Whether it will report what became of a message that has a name.
    fn reports(&self) -> bool;

    /// [`ReceiptSource::admit`], and its errors.
    fn admit(&self, head: &WebhookHead) -> Result<WebhookAdmission, WebhookError>;

    /// Whether a call that its head alone does not prove carries the provider's signature, judged
    /// in constant time.
    fn is_signed(&self, _call: &WebhookCall) -> bool {
        false
    }

    /// What an authentic call reports, by what the provider calls the messages; `None` if nothing of it can be read
    /// (see [`reports_of`]).
    fn read(&self, call: &WebhookCall) -> Option<Vec<(String, Report)>>;

    /// [`ReceiptSource::handshake`], and its errors.
    fn handshake(&self, _head: &WebhookHead) -> Result<String, WebhookError> {
        Err(WebhookError::Unauthenticated)
    }
}

/// Sends codes over a [`Vendor`] and reads its receipts.
pub struct HttpGateway<V> {
    pub(crate) vendor: V,
    pub(crate) client: HttpClient,
}

impl<V: Vendor> HttpGateway<V> {
    /// A gateway whose calls go through `client`.
    pub fn new(vendor: V, client: HttpClient) -> Self {
        Self { vendor, client }
    }

    async fn hand_over(&self, message: &Message) -> Result<Option<String>, Outcome> {
        let call = self.vendor.call(&self.client, message).map_err(Outcome::Refused)?;
        let answer = self.client.send(self.vendor.name(), call).await.map_err(Outcome::Refused)?;
        self.vendor.judge(message.channel, &answer).map_err(|reason| match answer.rest(reason) {
            Some(rest) => Outcome::Busy(reason, rest),
            None => Outcome::Refused(reason),
        })
    }
}

#[async_trait]
impl<V: Vendor> Gateway for HttpGateway<V> {
    fn provider(&self) -> String {
        self.vendor.name().to_owned()
    }

    async fn deliver(&self, message: Message) -> Outcome {
        match self.hand_over(&message).await {
            Ok(provider_ref) => {
                let awaits_receipt = provider_ref.is_some() && self.vendor.reports();
                Outcome::Accepted { provider_ref, awaits_receipt }
            }
            Err(refused) => refused,
        }
    }

    async fn probe(&self) -> Option<Probe> {
        self.client.reach(self.vendor.name(), self.vendor.address()?).await
    }
}

impl<V: Vendor> ReceiptSource for HttpGateway<V> {
    fn provider(&self) -> String {
        self.vendor.name().to_owned()
    }

    fn admit(&self, head: &WebhookHead) -> Result<WebhookAdmission, WebhookError> {
        self.vendor.admit(head)
    }

    fn receipts(&self, call: &WebhookCall) -> Result<Vec<Receipt>, WebhookError> {
        if !self.vendor.admit(&call.head)?.proven && !self.vendor.is_signed(call) {
            return Err(WebhookError::Unauthenticated);
        }
        let reports = self.vendor.read(call).ok_or(WebhookError::Unreadable)?;
        let receipt = |(provider_ref, report)| {
            let provider = self.vendor.name().to_owned();
            Receipt { provider, provider_ref, report }
        };
        Ok(reports.into_iter().map(receipt).collect())
    }

    fn handshake(&self, head: &WebhookHead) -> Result<String, WebhookError> {
        self.vendor.handshake(head)
    }
}

/// What one entry of a call says of a message, by what the provider calls that; `None` if it means nothing to us.
pub(crate) type Entry = Result<Option<(String, Report)>, Odd>;

/// An entry that is not as the provider describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Odd;

/// The reports among the entries of a call. Odd ones are noted in the log, and take none of the others with them;
/// `None` if all of them are odd.
pub(crate) fn reports_of(
    provider: &str,
    entries: impl IntoIterator<Item = Entry>,
) -> Option<Vec<(String, Report)>> {
    let (mut reports, mut understood, mut odd) = (Vec::new(), 0_usize, 0_usize);
    for entry in entries {
        match entry {
            Ok(report) => {
                understood += 1;
                reports.extend(report);
            }
            Err(Odd) => odd += 1,
        }
    }
    if odd > 0 {
        tracing::warn!(provider, odd, understood, "entries of a provider's call cannot be read");
    }
    (understood > 0 || odd == 0).then_some(reports)
}

/// A message that was not delivered, as the provider's error code was `understood`; noted in the
/// log with that code.
pub(crate) fn undelivered(provider: &str, code: Option<i64>, understood: Option<Reason>) -> Report {
    let reason = understood.unwrap_or(Reason::Unknown);
    tracing::info!(provider, code, reason = reason.as_str(), "a message was not delivered");
    Report::Failed(reason)
}
