use serde::Deserialize;
use serde_json::Value;

use crate::Mode;

/// Data of an event, by its `type`; docs/events.md lists them. Events of a relay are about a code
/// that you made yourself.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "type", content = "data")]
#[non_exhaustive]
pub enum EventData {
    /// A provider accepted the code.
    #[serde(rename = "otp.sent")]
    OtpSent(OtpEvent),
    /// A receipt says that it arrived.
    #[serde(rename = "otp.delivered")]
    OtpDelivered(OtpEvent),
    /// Every channel failed.
    #[serde(rename = "otp.failed")]
    OtpFailed(OtpEvent),
    /// The code was used.
    #[serde(rename = "otp.verified")]
    OtpVerified(OtpEvent),
    /// Too many wrong codes for this phone.
    #[serde(rename = "otp.under_attack")]
    OtpUnderAttack(OtpEvent),
    /// A provider accepted a code of your own.
    #[serde(rename = "relay.sent")]
    RelaySent(OtpEvent),
    /// A receipt says that it arrived.
    #[serde(rename = "relay.delivered")]
    RelayDelivered(OtpEvent),
    /// Every channel failed for a code of your own.
    #[serde(rename = "relay.failed")]
    RelayFailed(OtpEvent),
    /// The session ended before its time.
    #[serde(rename = "session.revoked")]
    SessionRevoked(SessionEvent),
    /// The person was erased.
    #[serde(rename = "identity.deleted")]
    IdentityDeleted(IdentityEvent),
    /// The balance fell below the threshold of the project.
    #[serde(rename = "wallet.low")]
    WalletLow(WalletEvent),
    /// The spend of a day reached a part of the project's limit.
    #[serde(rename = "spend.reached")]
    SpendReached(SpendEvent),
    /// A level of the project's guard is empty.
    #[serde(rename = "guard.emptied")]
    GuardEmptied(GuardEvent),
    /// Another endpoint of the project was disabled after failing for too long.
    #[serde(rename = "endpoint.disabled")]
    EndpointDisabled(EndpointEvent),
    /// A provider's receipts report many more failures than before.
    #[serde(rename = "provider.failing")]
    ProviderFailing(ProviderEvent),
    /// An alert of the project was opened.
    #[serde(rename = "alert.opened")]
    AlertOpened(AlertEvent),
    /// An alert of the project was resolved.
    #[serde(rename = "alert.resolved")]
    AlertResolved(AlertEvent),
    /// A test of this endpoint, on request.
    #[serde(rename = "webhook.test")]
    WebhookTest(WebhookTestEvent),
    /// An event that this version does not know.
    #[serde(skip)]
    Unknown(Value),
}

macro_rules! event_data {
    ($($about:literal $kind:ident { $($text:literal $field:ident: $of:ty),* })*) => { $(
        #[doc = $about]
        #[derive(Clone, Debug, Deserialize)]
        #[non_exhaustive]
        pub struct $kind {
            /// Project of the event.
            pub project_id: String,
            /// Mode of the event.
            pub mode: Mode,
            $(#[doc = $text] pub $field: $of,)*
        }
    )* };
}

event_data! {
    "A login code or a relayed code." OtpEvent {
        "The send." otp_id: String,
        "`whatsapp` or `sms`: the channel that carried the code, or was tried last." channel: Option<String>,
        "Masked, unless the endpoint gets full numbers; nothing after the person was erased." phone: Option<String>
    }
    "A session." SessionEvent {
        "The session." session_id: String,
        "The person." identity_id: String
    }
    "A person." IdentityEvent {
        "The person." identity_id: String,
        "Number of sessions that ended with it." sessions_revoked: u64
    }
    "The wallet of the project." WalletEvent {
        "Balance in paise." balance_paise: i64,
        "Threshold of a low balance, in paise." threshold_paise: i64
    }
    "The spend of a day in Indian time." SpendEvent {
        "The part of the limit that is reached: 50, 80 or 100." percent: u64,
        "Spend of the day in paise." spent_paise: i64,
        "Limit of the day in paise." limit_paise: i64
    }
    "A level of the project's guard." GuardEvent {
        "`address`, `series` or `project`: what the level is of." subject: String,
        "`watch` or `enforce`: the mode of the guard." guard: String
    }
    "An endpoint of the project." EndpointEvent {
        "The endpoint." webhook_id: String,
        "Consecutive failures." failures: u64,
        "RFC 3339 in UTC." failing_since: String
    }
    "A provider that carries messages of the project." ProviderEvent {
        "Name of the provider in the service." provider: String,
        "How many of its last receipts report a failure." failed: u64,
        "Number of these receipts." receipts: u64
    }
    "An alert of the project, opened or resolved." AlertEvent {
        "Kind of the alert, such as `wallet_empty`." alert: String,
        "`page` or `ticket`." severity: String,
        "The endpoint, for alerts about one." webhook_id: Option<String>,
        "RFC 3339 in UTC." since: String
    }
    "A test of an endpoint." WebhookTestEvent {
        "The endpoint." webhook_id: String
    }
}
