use crate::{
    AlertKind, BlindIndex, Channel, EndpointId, EntryId, GuardMode, GuardSubjectKind, IdentityId,
    OtpId, Paise, ProjectMode, Sealed, SessionId, Timestamp, words,
};

words! {
    /// Kind of an event; the word is the `type` in the event's body.
    EventKind {
        OtpSent = "otp.sent",
        OtpDelivered = "otp.delivered",
        OtpFailed = "otp.failed",
        /// A provider accepted a relayed code.
        RelaySent = "relay.sent",
        /// A relayed code reached its phone.
        RelayDelivered = "relay.delivered",
        /// Every channel failed for a relayed code.
        RelayFailed = "relay.failed",
        OtpVerified = "otp.verified",
        /// Too many wrong codes for one phone; its codes are stopped for a while.
        OtpUnderAttack = "otp.under_attack",
        /// A session was ended by logout or theft detection.
        SessionRevoked = "session.revoked",
        /// An identity was deleted with its sessions.
        IdentityDeleted = "identity.deleted",
        /// A balance fell below the project's threshold.
        WalletLow = "wallet.low",
        /// The spend of a day reached a part of the project's limit.
        SpendReached = "spend.reached",
        /// The guard found a level without a whole token.
        GuardEmptied = "guard.emptied",
        /// An endpoint was disabled after failing for too long.
        EndpointDisabled = "endpoint.disabled",
        /// The receipts of a provider report many more failures than before.
        ProviderFailing = "provider.failing",
        /// An alert of the project was opened.
        AlertOpened = "alert.opened",
        /// An alert of the project was resolved.
        AlertResolved = "alert.resolved",
        /// A test of an endpoint, on request.
        WebhookTest = "webhook.test",
    }
}

/// The thing that an event is about, with the values of its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    Otp {
        otp: OtpId,
        /// Channel that carried the code, else the channel tried last; `None` once it is not known any more.
        channel: Option<Channel>,
        /// Phone of the request; erased together with its identity.
        phone: Option<EventPhone>,
    },
    Session {
        session: SessionId,
        identity: IdentityId,
    },
    Identity {
        identity: IdentityId,
        sessions_revoked: u64,
    },
    Wallet {
        /// The ledger entry after which the balance was low.
        entry: EntryId,
        balance: Paise,
        threshold: Paise,
    },
    Spend {
        /// The ledger entry of the hold that reached it, or that the limit refused.
        entry: EntryId,
        /// The part of the limit that is reached: 50, 80 or 100.
        percent: u8,
        spent: Paise,
        limit: Paise,
    },
    /// A level of the guard. It names no visitor and no number.
    Guard {
        subject: GuardSubjectKind,
        guard: GuardMode,
    },
    Endpoint {
        endpoint: EndpointId,
        failures: u32,
        since: Timestamp,
    },
    Provider {
        provider: String,
        /// Recent receipts that report a failure.
        failed: u32,
        receipts: u32,
    },
    /// An alert of the project, open or resolved.
    Alert {
        alert: AlertKind,
        /// The endpoint that the alert is about, if any.
        endpoint: Option<EndpointId>,
        since: Timestamp,
    },
    Test {
        endpoint: EndpointId,
    },
}

/// The phone that an event is about; erased with its identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventPhone {
    /// Blind index, so that erasing the phone erases it here too.
    pub index: BlindIndex,
    pub sealed: Sealed,
}

/// An event, kept until every endpoint has received it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The project and mode whose endpoints receive the event; wallet events belong to live mode.
    pub project_mode: ProjectMode,
    pub kind: EventKind,
    pub subject: Subject,
    pub at: Timestamp,
}

impl Event {
    /// The `webhook-id`. It stays the same however often the event is recorded or delivered, so that both
    /// sides recognise a repetition.
    ///
    /// An endpoint can be disabled, and a provider can fail, more than once: these ids include the time.
    /// Instances that notice a failing provider within the same five minutes make one event. So do tests of
    /// one endpoint within the same five seconds, and instances whose guards find levels of one kind of subject
    /// empty within the same hour.
    pub fn id(&self) -> String {
        let subject = match &self.subject {
            Subject::Otp { otp, .. } => otp.uuid().simple().to_string(),
            Subject::Session { session, .. } => session.uuid().simple().to_string(),
            Subject::Identity { identity, .. } => identity.uuid().simple().to_string(),
            Subject::Wallet { entry, .. } => entry.uuid().simple().to_string(),
            Subject::Spend { entry, percent, .. } => {
                format!("{}_{percent}", entry.uuid().simple())
            }
            Subject::Guard { subject, .. } => {
                format!(
                    "{}_{subject}_{}",
                    self.project_mode.project.uuid().simple(),
                    self.at.timestamp() / 3_600
                )
            }
            Subject::Endpoint { endpoint, .. } => {
                format!("{}_{}", endpoint.uuid().simple(), self.at.timestamp_millis())
            }
            Subject::Provider { provider, .. } => {
                format!(
                    "{}_{provider}_{}",
                    self.project_mode.project.uuid().simple(),
                    self.at.timestamp() / 300
                )
            }
            Subject::Alert { alert, endpoint, since } => {
                let about = endpoint.map_or(self.project_mode.project.uuid(), |it| it.uuid());
                format!("{alert}_{}_{}", about.simple(), since.timestamp_millis())
            }
            Subject::Test { endpoint } => {
                format!("{}_{}", endpoint.uuid().simple(), self.at.timestamp() / 5)
            }
        };
        format!("{}_{subject}", self.kind.as_str().replace('.', "_"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{KeyMode, ProjectId};

    fn revoked() -> Event {
        let project: ProjectId = "00000000-0000-7000-8000-000000000001".parse().unwrap();
        Event {
            project_mode: project.in_mode(KeyMode::Live),
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
        let later = Event { at: revoked().at + std::time::Duration::from_secs(9), ..revoked() };
        assert_eq!(revoked().id(), "session_revoked_00000000000070008000000000000002");
        assert_eq!(revoked().id(), later.id());
    }

    #[test]
    fn an_empty_level_has_one_id_per_hour_and_kind_of_subject() {
        let emptied = |subject, guard, at| Event {
            kind: EventKind::GuardEmptied,
            subject: Subject::Guard { subject, guard },
            at,
            ..revoked()
        };
        let (series, hour) = (GuardSubjectKind::Series, revoked().at);
        let first = emptied(series, GuardMode::Watch, hour);
        assert_eq!(first.id(), "guard_emptied_00000000000070008000000000000001_series_500000");
        let end = hour + std::time::Duration::from_millis(3_599_999);
        assert_eq!(emptied(series, GuardMode::Enforce, end).id(), first.id());
        let next = end + std::time::Duration::from_millis(1);
        assert_ne!(emptied(series, GuardMode::Watch, next).id(), first.id());
        let other = emptied(GuardSubjectKind::Project, GuardMode::Watch, hour);
        assert_ne!(other.id(), first.id());
    }
}
