//! Events and the endpoints they go to as rows.

use crate::convert::{Row, sealed_bytes, stored_count};
use crate::schema::{events, webhook_endpoints};
use diesel::prelude::*;
use dwar_event::{Endpoint, Event, EventKind, EventPhone, Failing, PreviousSecret, Subject};
use dwar_kernel::{Channel, Paise, Sealed, StoreError, Timestamp};
use uuid::Uuid;

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = webhook_endpoints, treat_none_as_null = true)]
pub(crate) struct EndpointRow {
    pub(crate) id: Uuid,
    project_id: Uuid,
    url: String,
    full_phone: bool,
    secret: Vec<u8>,
    previous_secret: Option<Vec<u8>>,
    previous_until: Option<Timestamp>,
    created_at: Timestamp,
    failures: i32,
    failing_since: Option<Timestamp>,
    disabled_at: Option<Timestamp>,
}

impl From<&Endpoint> for EndpointRow {
    fn from(endpoint: &Endpoint) -> Self {
        let previous = endpoint.previous.as_ref();
        Self {
            id: endpoint.id.uuid(),
            project_id: endpoint.project.uuid(),
            url: endpoint.url.clone(),
            full_phone: endpoint.full_phone,
            secret: endpoint.secret.0.clone(),
            previous_secret: sealed_bytes(previous.map(|previous| &previous.secret)),
            previous_until: previous.map(|previous| previous.until),
            created_at: endpoint.created_at,
            failures: endpoint.failing.map_or(0, |failing| stored_count(failing.failures)),
            failing_since: endpoint.failing.map(|failing| failing.since),
            disabled_at: endpoint.disabled_at,
        }
    }
}

impl TryFrom<EndpointRow> for Endpoint {
    type Error = StoreError;

    fn try_from(row: EndpointRow) -> Result<Self, StoreError> {
        let read = Row::new("webhook_endpoints", row.id);
        let previous = match row.previous_secret {
            Some(secret) => Some(PreviousSecret {
                secret: Sealed(secret),
                until: read.known("previous_until", row.previous_until)?,
            }),
            None => None,
        };
        let failures = read.count("failures", row.failures)?;
        Ok(Self {
            id: row.id.into(),
            project: row.project_id.into(),
            url: row.url,
            full_phone: row.full_phone,
            secret: Sealed(row.secret),
            previous,
            created_at: row.created_at,
            failing: row.failing_since.map(|since| Failing { since, failures }),
            disabled_at: row.disabled_at,
        })
    }
}

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = events)]
pub(crate) struct EventRow {
    pub(crate) id: String,
    pub(crate) project_id: Uuid,
    pub(crate) mode: String,
    pub(crate) kind: String,
    pub(crate) subject_id: Uuid,
    pub(crate) related_id: Option<Uuid>,
    pub(crate) channel: Option<String>,
    pub(crate) phone_index: Option<Vec<u8>>,
    pub(crate) phone_sealed: Option<Vec<u8>>,
    pub(crate) amount: Option<i64>,
    pub(crate) threshold: Option<i64>,
    pub(crate) happened_at: Timestamp,
    pub(crate) provider: Option<String>,
}

impl From<&Event> for EventRow {
    fn from(event: &Event) -> Self {
        let bare = |subject_id| Self {
            id: event.id(),
            project_id: event.project.uuid(),
            mode: event.mode.as_str().to_owned(),
            kind: event.kind.as_str().to_owned(),
            subject_id,
            related_id: None,
            channel: None,
            phone_index: None,
            phone_sealed: None,
            amount: None,
            threshold: None,
            happened_at: event.at,
            provider: None,
        };
        match &event.subject {
            Subject::Otp { otp, channel, phone } => Self {
                channel: channel.map(|channel| channel.as_str().to_owned()),
                phone_index: phone.as_ref().map(|phone| phone.index.0.to_vec()),
                phone_sealed: sealed_bytes(phone.as_ref().map(|phone| &phone.sealed)),
                ..bare(otp.uuid())
            },
            Subject::Session { session, identity } => {
                Self { related_id: Some(identity.uuid()), ..bare(session.uuid()) }
            }
            Subject::Identity { identity, sessions_revoked } => Self {
                amount: Some(i64::try_from(*sessions_revoked).unwrap_or(i64::MAX)),
                ..bare(identity.uuid())
            },
            Subject::Wallet { entry, balance, threshold } => {
                Self { amount: Some(balance.0), threshold: Some(threshold.0), ..bare(entry.uuid()) }
            }
            Subject::Endpoint { endpoint, failures, since } => Self {
                amount: Some((*failures).into()),
                threshold: Some(since.timestamp_millis()),
                ..bare(endpoint.uuid())
            },
            Subject::Provider { provider, failed, receipts } => Self {
                amount: Some((*failed).into()),
                threshold: Some((*receipts).into()),
                provider: Some(provider.clone()),
                ..bare(event.project.uuid())
            },
        }
    }
}

impl TryFrom<EventRow> for Event {
    type Error = StoreError;

    fn try_from(row: EventRow) -> Result<Self, StoreError> {
        let read = Row::new("events", &row.id);
        let kind = read.known("kind", EventKind::from_word(&row.kind))?;
        let count = |column, stored: Option<i64>| {
            read.known(column, stored.and_then(|stored| u32::try_from(stored).ok()))
        };
        let subject = match kind {
            EventKind::OtpSent
            | EventKind::OtpDelivered
            | EventKind::OtpFailed
            | EventKind::OtpVerified
            | EventKind::OtpUnderAttack => Subject::Otp {
                otp: row.subject_id.into(),
                channel: row
                    .channel
                    .map(|word| read.known("channel", Channel::from_word(&word)))
                    .transpose()?,
                // Both go when the phone is erased.
                phone: match row.phone_index.zip(row.phone_sealed) {
                    Some((index, sealed)) => Some(EventPhone {
                        index: read.index("phone_index", index)?,
                        sealed: Sealed(sealed),
                    }),
                    None => None,
                },
            },
            EventKind::SessionRevoked => Subject::Session {
                session: row.subject_id.into(),
                identity: read.known("related_id", row.related_id)?.into(),
            },
            EventKind::IdentityDeleted => Subject::Identity {
                identity: row.subject_id.into(),
                sessions_revoked: read
                    .known("amount", row.amount.and_then(|count| u64::try_from(count).ok()))?,
            },
            EventKind::WalletLow => Subject::Wallet {
                entry: row.subject_id.into(),
                balance: Paise(read.known("amount", row.amount)?),
                threshold: Paise(read.known("threshold", row.threshold)?),
            },
            EventKind::EndpointDisabled => Subject::Endpoint {
                endpoint: row.subject_id.into(),
                failures: count("amount", row.amount)?,
                since: read
                    .known("threshold", row.threshold.and_then(Timestamp::from_timestamp_millis))?,
            },
            EventKind::ProviderFailing => Subject::Provider {
                provider: read.known("provider", row.provider)?,
                failed: count("amount", row.amount)?,
                receipts: count("threshold", row.threshold)?,
            },
        };
        Ok(Self {
            project: row.project_id.into(),
            mode: read.parse("mode", &row.mode)?,
            kind,
            subject,
            at: row.happened_at,
        })
    }
}
