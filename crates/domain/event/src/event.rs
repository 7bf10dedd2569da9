use dwar_kernel::{
    BlindIndex, EndpointId, EntryId, IdentityId, KeyMode, OtpId, ProjectId, Sealed, SessionId,
    Timestamp,
};
use std::time::Duration;

/// What kind of thing happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// A provider accepted a code.
    OtpSent,
    /// A code reached its phone.
    OtpDelivered,
    /// Every channel failed.
    OtpFailed,
    /// A code was used.
    OtpVerified,
    /// So many wrong codes for one phone that its codes are stopped for a while.
    OtpUnderAttack,
    /// A session was ended by logout or theft detection.
    SessionRevoked,
    /// An identity was deleted, its sessions with it.
    IdentityDeleted,
    /// A balance fell below the project's threshold.
    WalletLow,
    /// An endpoint failed for so long that it was switched off.
    EndpointDisabled,
    /// The receipts of a provider fail as they did not before.
    ProviderFailing,
}

impl EventKind {
    const ALL: [Self; 10] = [
        Self::OtpSent,
        Self::OtpDelivered,
        Self::OtpFailed,
        Self::OtpVerified,
        Self::OtpUnderAttack,
        Self::SessionRevoked,
        Self::IdentityDeleted,
        Self::WalletLow,
        Self::EndpointDisabled,
        Self::ProviderFailing,
    ];

    /// The `type` of the event's body.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OtpSent => "otp.sent",
            Self::OtpDelivered => "otp.delivered",
            Self::OtpFailed => "otp.failed",
            Self::OtpVerified => "otp.verified",
            Self::OtpUnderAttack => "otp.under_attack",
            Self::SessionRevoked => "session.revoked",
            Self::IdentityDeleted => "identity.deleted",
            Self::WalletLow => "wallet.low",
            Self::EndpointDisabled => "endpoint.disabled",
            Self::ProviderFailing => "provider.failing",
        }
    }

    /// The kind a stored word stands for.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    /// The event of a delivery status, given as its word; `queued` is none.
    pub fn of_delivery(status: &str) -> Option<Self> {
        match status {
            "sent" => Some(Self::OtpSent),
            "delivered" => Some(Self::OtpDelivered),
            "failed" => Some(Self::OtpFailed),
            _ => None,
        }
    }
}

/// What an event is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A request to send a code.
    Otp {
        /// The request.
        otp: OtpId,
        /// The channel that carried it, or the one tried last; none once it is not known.
        channel: Option<String>,
        /// The phone it went to; gone with the identity.
        phone: Option<EventPhone>,
    },
    /// A session.
    Session {
        /// The session.
        session: SessionId,
        /// Whose it was.
        identity: IdentityId,
    },
    /// An identity.
    Identity {
        /// The identity.
        identity: IdentityId,
        /// How many of its sessions ended with it.
        sessions_revoked: u64,
    },
    /// A wallet.
    Wallet {
        /// The ledger entry after which the balance was low.
        entry: EntryId,
        /// The balance after it, in paise.
        balance: i64,
        /// The threshold it fell below, in paise.
        threshold: i64,
    },
    /// An endpoint of the project.
    Endpoint {
        /// The endpoint.
        endpoint: EndpointId,
        /// How many calls to it failed in a row.
        failures: u32,
        /// When the first of them failed.
        since: Timestamp,
    },
    /// A provider that carries messages of the project.
    Provider {
        /// Its name, as configured.
        provider: String,
        /// How many of its latest receipts say that a message failed.
        failed: u32,
        /// How many receipts that is out of.
        receipts: u32,
    },
}

/// The phone an event is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventPhone {
    /// Its look-up form, so that erasing the phone erases it here.
    pub index: BlindIndex,
    /// The number, unreadable at rest.
    pub sealed: Sealed,
}

/// Something that happened, as it is kept until everybody has been told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The tenant.
    pub project: ProjectId,
    /// The world; wallets belong to the live one.
    pub mode: KeyMode,
    /// What kind of thing.
    pub kind: EventKind,
    /// What it is about.
    pub subject: Subject,
    /// When it happened.
    pub at: Timestamp,
}

impl Event {
    /// The `webhook-id`: the same however often the event is recorded or told, so that both sides
    /// know a repetition.
    ///
    /// An endpoint can be switched off, and a provider fail, more than once: their ids tell when.
    /// Instances that notice a failing provider within the same five minutes name one event.
    pub fn id(&self) -> String {
        let subject = match &self.subject {
            Subject::Otp { otp, .. } => otp.uuid().simple().to_string(),
            Subject::Session { session, .. } => session.uuid().simple().to_string(),
            Subject::Identity { identity, .. } => identity.uuid().simple().to_string(),
            Subject::Wallet { entry, .. } => entry.uuid().simple().to_string(),
            Subject::Endpoint { endpoint, .. } => {
                format!("{}_{}", endpoint.uuid().simple(), self.at.timestamp_millis())
            }
            Subject::Provider { provider, .. } => {
                format!("{}_{provider}_{}", self.project.uuid().simple(), self.at.timestamp() / 300)
            }
        };
        format!("{}_{subject}", self.kind.as_str().replace('.', "_"))
    }

    /// How long to wait after the `failures`th failed delivery (1 is the first); `None` gives up,
    /// about a day after the first.
    pub fn wait_after(failures: u32) -> Option<Duration> {
        const MINUTE: u64 = 60;
        const HOUR: u64 = 60 * MINUTE;
        const WAITS: [u64; 10] = [
            5,
            30,
            2 * MINUTE,
            10 * MINUTE,
            30 * MINUTE,
            HOUR,
            2 * HOUR,
            4 * HOUR,
            8 * HOUR,
            8 * HOUR,
        ];
        let index = usize::try_from(failures).ok()?.checked_sub(1)?;
        WAITS.get(index).copied().map(Duration::from_secs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn revoked() -> Event {
        Event {
            project: "00000000-0000-7000-8000-000000000001".parse().unwrap(),
            mode: KeyMode::Live,
            kind: EventKind::SessionRevoked,
            subject: Subject::Session {
                session: "00000000-0000-7000-8000-000000000002".parse().unwrap(),
                identity: "00000000-0000-7000-8000-000000000003".parse().unwrap(),
            },
            at: Timestamp::from_timestamp(1_800_000_000, 0).unwrap(),
        }
    }

    #[test]
    fn has_the_same_id_whenever_it_is_recorded() {
        let later = Event { at: revoked().at + Duration::from_secs(9), ..revoked() };
        assert_eq!(revoked().id(), "session_revoked_00000000000070008000000000000002");
        assert_eq!(revoked().id(), later.id());
    }

    #[test]
    fn every_kind_is_read_as_it_is_written() {
        for kind in EventKind::ALL {
            assert_eq!(EventKind::from_word(kind.as_str()), Some(kind));
        }
        assert_eq!(EventKind::of_delivery("queued"), None);
    }

    #[test]
    fn gives_up_after_about_a_day() {
        let waits: Vec<Duration> = (1..).map_while(Event::wait_after).collect();
        let total: Duration = waits.iter().sum();
        assert!((23..=25).contains(&(total.as_secs() / 3_600)), "{total:?}");
        assert!(waits.is_sorted());
        assert_eq!(Event::wait_after(0), None);
    }
}
