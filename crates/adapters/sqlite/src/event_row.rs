//! An event and the endpoints that are told, from their rows and back.

use crate::convert::{Row, millis, sealed_bytes, stored_count};
use crate::schema::{events, webhook_endpoints};
use diesel::prelude::*;
use dwar_event::{Endpoint, Event, EventKind, EventPhone, Failing, PreviousSecret, Subject};
use dwar_kernel::{Channel, Paise, Sealed, StoreError};

#[derive(Queryable, Selectable, Insertable, AsChangeset, Identifiable)]
#[diesel(table_name = webhook_endpoints, treat_none_as_null = true)]
pub(crate) struct EndpointRow {
    pub(crate) id: String,
    project_id: String,
    url: String,
    full_phone: bool,
    secret: Vec<u8>,
    previous_secret: Option<Vec<u8>>,
    previous_until: Option<i64>,
    created_at: i64,
    failures: i32,
    failing_since: Option<i64>,
    disabled_at: Option<i64>,
}

impl From<Endpoint> for EndpointRow {
    fn from(endpoint: Endpoint) -> Self {
        let previous = endpoint.previous.as_ref();
        Self {
            id: endpoint.id.to_string(),
            project_id: endpoint.project.to_string(),
            url: endpoint.url,
            full_phone: endpoint.full_phone,
            secret: endpoint.secret.0,
            previous_secret: sealed_bytes(previous.map(|previous| &previous.secret)),
            previous_until: millis(previous.map(|previous| previous.until)),
            created_at: endpoint.created_at.timestamp_millis(),
            failures: endpoint.failing.map_or(0, |failing| stored_count(failing.failures)),
            failing_since: millis(endpoint.failing.map(|failing| failing.since)),
            disabled_at: millis(endpoint.disabled_at),
        }
    }
}

impl TryFrom<EndpointRow> for Endpoint {
    type Error = StoreError;

    fn try_from(stored: EndpointRow) -> Result<Self, StoreError> {
        let row = Row::new("webhook_endpoints", &stored.id);
        let previous = match stored.previous_secret {
            Some(secret) => Some(PreviousSecret {
                secret: Sealed(secret),
                until: row.instant(
                    "previous_until",
                    row.known("previous_until", stored.previous_until)?,
                )?,
            }),
            None => None,
        };
        let failures = row.count("failures", stored.failures)?;
        let since = row.maybe_instant("failing_since", stored.failing_since)?;
        Ok(Self {
            id: row.parse("id", &stored.id)?,
            project: row.parse("project_id", &stored.project_id)?,
            full_phone: stored.full_phone,
            previous,
            created_at: row.instant("created_at", stored.created_at)?,
            failing: since.map(|since| Failing { since, failures }),
            disabled_at: row.maybe_instant("disabled_at", stored.disabled_at)?,
            url: stored.url,
            secret: Sealed(stored.secret),
        })
    }
}

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = events)]
pub(crate) struct EventRow {
    pub(crate) id: String,
    project_id: String,
    mode: String,
    kind: String,
    subject_id: String,
    related_id: Option<String>,
    channel: Option<String>,
    phone_index: Option<Vec<u8>>,
    phone_sealed: Option<Vec<u8>>,
    amount: Option<i64>,
    threshold: Option<i64>,
    happened_at: i64,
    provider: Option<String>,
}

impl From<&Event> for EventRow {
    fn from(event: &Event) -> Self {
        let row = Self {
            id: event.id(),
            project_id: event.project.to_string(),
            mode: event.mode.to_string(),
            kind: event.kind.as_str().to_owned(),
            subject_id: String::new(),
            related_id: None,
            channel: None,
            phone_index: None,
            phone_sealed: None,
            amount: None,
            threshold: None,
            happened_at: event.at.timestamp_millis(),
            provider: None,
        };
        match &event.subject {
            Subject::Otp { otp, channel, phone } => Self {
                subject_id: otp.to_string(),
                channel: channel.map(|channel| channel.as_str().to_owned()),
                phone_index: phone.as_ref().map(|phone| phone.index.0.to_vec()),
                phone_sealed: sealed_bytes(phone.as_ref().map(|phone| &phone.sealed)),
                ..row
            },
            Subject::Session { session, identity } => Self {
                subject_id: session.to_string(),
                related_id: Some(identity.to_string()),
                ..row
            },
            Subject::Identity { identity, sessions_revoked } => Self {
                subject_id: identity.to_string(),
                amount: Some(i64::try_from(*sessions_revoked).unwrap_or(i64::MAX)),
                ..row
            },
            Subject::Wallet { entry, balance, threshold } => Self {
                subject_id: entry.to_string(),
                amount: Some(balance.0),
                threshold: Some(threshold.0),
                ..row
            },
            Subject::Endpoint { endpoint, failures, since } => Self {
                subject_id: endpoint.to_string(),
                amount: Some((*failures).into()),
                threshold: Some(since.timestamp_millis()),
                ..row
            },
            Subject::Provider { provider, failed, receipts } => Self {
                subject_id: event.project.to_string(),
                amount: Some((*failed).into()),
                threshold: Some((*receipts).into()),
                provider: Some(provider.clone()),
                ..row
            },
        }
    }
}

impl TryFrom<EventRow> for Event {
    type Error = StoreError;

    fn try_from(stored: EventRow) -> Result<Self, StoreError> {
        let row = Row::new("events", &stored.id);
        let kind = row.known("kind", EventKind::from_word(&stored.kind))?;
        Ok(Self {
            project: row.parse("project_id", &stored.project_id)?,
            mode: row.parse("mode", &stored.mode)?,
            kind,
            at: row.instant("happened_at", stored.happened_at)?,
            subject: subject(kind, &stored, &row)?,
        })
    }
}

fn subject(kind: EventKind, stored: &EventRow, row: &Row<'_>) -> Result<Subject, StoreError> {
    Ok(match kind {
        EventKind::OtpSent
        | EventKind::OtpDelivered
        | EventKind::OtpFailed
        | EventKind::OtpVerified
        | EventKind::OtpUnderAttack => Subject::Otp {
            otp: row.parse("subject_id", &stored.subject_id)?,
            channel: stored
                .channel
                .as_deref()
                .map(|word| row.known("channel", Channel::from_word(word)))
                .transpose()?,
            phone: phone(stored, row)?,
        },
        EventKind::SessionRevoked => Subject::Session {
            session: row.parse("subject_id", &stored.subject_id)?,
            identity: row
                .parse("related_id", row.known("related_id", stored.related_id.as_deref())?)?,
        },
        EventKind::IdentityDeleted => Subject::Identity {
            identity: row.parse("subject_id", &stored.subject_id)?,
            sessions_revoked: row
                .known("amount", stored.amount.and_then(|amount| u64::try_from(amount).ok()))?,
        },
        EventKind::WalletLow => Subject::Wallet {
            entry: row.parse("subject_id", &stored.subject_id)?,
            balance: Paise(row.known("amount", stored.amount)?),
            threshold: Paise(row.known("threshold", stored.threshold)?),
        },
        EventKind::EndpointDisabled => Subject::Endpoint {
            endpoint: row.parse("subject_id", &stored.subject_id)?,
            failures: count(row, "amount", stored.amount)?,
            since: row.instant("threshold", row.known("threshold", stored.threshold)?)?,
        },
        EventKind::ProviderFailing => Subject::Provider {
            provider: row.known("provider", stored.provider.clone())?,
            failed: count(row, "amount", stored.amount)?,
            receipts: count(row, "threshold", stored.threshold)?,
        },
    })
}

fn count(row: &Row<'_>, column: &'static str, stored: Option<i64>) -> Result<u32, StoreError> {
    row.known(column, stored.and_then(|count| u32::try_from(count).ok()))
}

/// None once the phone was erased.
fn phone(stored: &EventRow, row: &Row<'_>) -> Result<Option<EventPhone>, StoreError> {
    let stored = stored.phone_index.as_deref().zip(stored.phone_sealed.clone());
    let read = |(index, sealed)| {
        Ok(EventPhone { index: row.index("phone_index", index)?, sealed: Sealed(sealed) })
    };
    stored.map(read).transpose()
}
