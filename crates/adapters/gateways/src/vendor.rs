use crate::HttpClient;
use crate::http_client::Answer;
use async_trait::async_trait;
use dwar_otp::{
    Channel, Gateway, Message, Outcome, Probe, Reason, Receipt, ReceiptSource, Report,
    WebhookAdmission, WebhookCall, WebhookError, WebhookHead,
};
use reqwest::RequestBuilder;

/// The parts that differ between providers called over HTTP; [`HttpGateway`] implements the rest.
pub trait Vendor: Send + Sync {
    /// The provider's name, also the last part of its webhook's address.
    fn name(&self) -> &str;

    /// An address of its API, of which only scheme and host matter; `None` if it cannot be probed.
    fn address(&self) -> Option<&str> {
        None
    }

    /// Builds the call that hands over `message`.
    ///
    /// # Errors
    /// Why no call is possible; already logged.
    fn call(&self, client: &HttpClient, message: &Message) -> Result<RequestBuilder, Reason>;

    /// The provider's reference of an accepted message.
    ///
    /// # Errors
    /// Why the message was refused, from [`Answer::refused`].
    fn judge(&self, channel: Channel, answer: &Answer) -> Result<Option<String>, Reason>;

    /// Tells whether it will send a receipt for a message with a reference.
    fn reports(&self) -> bool;

    /// [`ReceiptSource::admit`], and its errors.
    fn admit(&self, head: &WebhookHead) -> Result<WebhookAdmission, WebhookError>;

    /// Tells whether a call that its head does not authenticate has the provider's signature;
    /// compares in constant time.
    fn is_signed(&self, _call: &WebhookCall) -> bool {
        false
    }

    /// The reports of an authentic call, by the provider's reference of each message; `None` if
    /// none of it can be parsed (see [`reports_of`]).
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
    /// Makes a gateway that calls the vendor through `client`, which gateways share.
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

/// The report in one entry of a call, with the provider's reference of the message; `None` if the
/// entry is irrelevant.
pub(crate) type Entry = Result<Option<(String, Report)>, MismatchedEntry>;

/// An entry that differs from the provider's description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MismatchedEntry;

/// Collects the reports of a call's entries. Odd entries are logged and do not affect the others;
/// `None` if all entries are odd.
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
            Err(MismatchedEntry) => odd += 1,
        }
    }
    if odd > 0 {
        tracing::warn!(provider, odd, understood, "entries of a provider's call cannot be read");
    }
    (understood > 0 || odd == 0).then_some(reports)
}

/// The report of a message that was not delivered, with the reason that the provider's code was
/// `understood` as. Logs that code.
pub(crate) fn undelivered(provider: &str, code: Option<i64>, understood: Option<Reason>) -> Report {
    let reason = understood.unwrap_or(Reason::Unknown);
    tracing::info!(provider, code, reason = reason.as_str(), "a message was not delivered");
    Report::Failed(reason)
}
