//! Rows of events and of the endpoints that receive them.

use crate::schema::{events, webhook_endpoints};
use crate::{At, Id, Row, SecretColumns, sealed_bytes, stored_count};
use diesel::prelude::*;
use diesel::sql_types::Bool;
use dwar_event::{Endpoint, Event, EventKind, EventPhone, Failing, Subject, WaitingEndpoint};
use dwar_kernel::{
    AlertKind, Channel, GuardMode, GuardSubjectKind, Paise, Sealed, StoreError, Timestamp,
};

/// Row of `webhook_endpoints`: an endpoint with its secrets and its failures.
#[derive(Queryable, Selectable, Insertable, AsChangeset, Identifiable)]
#[diesel(table_name = webhook_endpoints, treat_none_as_null = true)]
pub struct EndpointRow {
    pub id: Id,
    pub project_id: Id,
    pub url: String,
    pub full_phone: bool,
    pub secret: Vec<u8>,
    pub previous_secret: Option<Vec<u8>>,
    pub previous_until: Option<At>,
    pub created_at: At,
    pub failures: i32,
    pub failing_since: Option<At>,
    pub disabled_at: Option<At>,
}

impl From<&Endpoint> for EndpointRow {
    fn from(endpoint: &Endpoint) -> Self {
        let SecretColumns { secret, previous_secret, previous_until } = (&endpoint.secret).into();
        Self {
            id: endpoint.id.into(),
            project_id: endpoint.project.into(),
            url: endpoint.url.clone(),
            full_phone: endpoint.full_phone,
            secret,
            previous_secret,
            previous_until,
            created_at: endpoint.created_at.into(),
            failures: endpoint.failing.map_or(0, |failing| stored_count(failing.failures)),
            failing_since: endpoint.failing.map(|failing| failing.since.into()),
            disabled_at: endpoint.disabled_at.map(At::from),
        }
    }
}

impl TryFrom<EndpointRow> for Endpoint {
    type Error = StoreError;

    fn try_from(row: EndpointRow) -> Result<Self, StoreError> {
        let read = Row::new("webhook_endpoints", row.id);
        let failures = read.count("failures", row.failures)?;
        let since = read.maybe_at("failing_since", row.failing_since)?;
        Ok(Self {
            id: read.id("id", row.id)?,
            project: read.id("project_id", row.project_id)?,
            url: row.url,
            full_phone: row.full_phone,
            secret: read.secret(SecretColumns {
                secret: row.secret,
                previous_secret: row.previous_secret,
                previous_until: row.previous_until,
            })?,
            created_at: read.at("created_at", row.created_at)?,
            failing: since.map(|since| Failing { since, failures }),
            disabled_at: read.maybe_at("disabled_at", row.disabled_at)?,
        })
    }
}

/// Row of `events`. The kind of the event decides which columns are used.
#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = events)]
pub struct EventRow {
    pub id: String,
    pub project_id: Id,
    pub mode: String,
    pub kind: String,
    pub subject_id: Id,
    pub related_id: Option<Id>,
    pub channel: Option<String>,
    pub phone_index: Option<Vec<u8>>,
    pub phone_sealed: Option<Vec<u8>>,
    pub amount: Option<i64>,
    pub threshold: Option<i64>,
    pub happened_at: At,
    pub provider: Option<String>,
}

impl From<&Event> for EventRow {
    fn from(event: &Event) -> Self {
        let bare = |subject_id: Id| Self {
            id: event.id(),
            project_id: event.project_mode.project.into(),
            mode: event.project_mode.mode.as_str().to_owned(),
            kind: event.kind.as_str().to_owned(),
            subject_id,
            related_id: None,
            channel: None,
            phone_index: None,
            phone_sealed: None,
            amount: None,
            threshold: None,
            happened_at: event.at.into(),
            provider: None,
        };
        match &event.subject {
            Subject::Otp { otp, channel, phone } => Self {
                channel: channel.map(|channel| channel.as_str().to_owned()),
                phone_index: phone.as_ref().map(|phone| phone.index.0.to_vec()),
                phone_sealed: sealed_bytes(phone.as_ref().map(|phone| &phone.sealed)),
                ..bare((*otp).into())
            },
            Subject::Session { session, identity } => {
                Self { related_id: Some((*identity).into()), ..bare((*session).into()) }
            }
            Subject::Identity { identity, sessions_revoked } => Self {
                amount: Some(i64::try_from(*sessions_revoked).unwrap_or(i64::MAX)),
                ..bare((*identity).into())
            },
            Subject::Wallet { entry, balance, threshold } => Self {
                amount: Some(balance.0),
                threshold: Some(threshold.0),
                ..bare((*entry).into())
            },
            Subject::Spend { entry, percent, spent, limit } => Self {
                amount: Some(spent.0),
                threshold: Some(limit.0),
                provider: Some(percent.to_string()),
                ..bare((*entry).into())
            },
            Subject::Guard { subject, guard } => Self {
                channel: Some(guard.as_str().to_owned()),
                provider: Some(subject.as_str().to_owned()),
                ..bare(event.project_mode.project.into())
            },
            Subject::Endpoint { endpoint, failures, since } => Self {
                amount: Some((*failures).into()),
                threshold: Some(since.timestamp_millis()),
                ..bare((*endpoint).into())
            },
            Subject::Provider { provider, failed, receipts } => Self {
                amount: Some((*failed).into()),
                threshold: Some((*receipts).into()),
                provider: Some(provider.clone()),
                ..bare(event.project_mode.project.into())
            },
            Subject::Alert { alert, endpoint, since } => Self {
                related_id: endpoint.map(Id::from),
                threshold: Some(since.timestamp_millis()),
                provider: Some(alert.as_str().to_owned()),
                ..bare(event.project_mode.project.into())
            },
            Subject::Test { endpoint } => bare((*endpoint).into()),
        }
    }
}

/// Both columns are emptied when the phone is erased.
fn phone(
    read: &Row<&String>,
    columns: Option<(Vec<u8>, Vec<u8>)>,
) -> Result<Option<EventPhone>, StoreError> {
    let phone = columns.map(|(index, sealed)| {
        Ok(EventPhone { index: read.index("phone_index", index)?, sealed: Sealed(sealed) })
    });
    phone.transpose()
}

impl TryFrom<EventRow> for Event {
    type Error = StoreError;

    fn try_from(row: EventRow) -> Result<Self, StoreError> {
        let read = Row::new("events", &row.id);
        let kind = read.known("kind", EventKind::from_word(&row.kind))?;
        let count = |column, stored: Option<i64>| {
            read.known(column, stored.and_then(|stored| u32::try_from(stored).ok()))
        };
        let instant = |column, stored: Option<i64>| {
            read.known(column, stored.and_then(Timestamp::from_timestamp_millis))
        };
        let (subject, amount) = (row.subject_id, row.amount);
        let subject = match kind {
            EventKind::OtpSent
            | EventKind::OtpDelivered
            | EventKind::OtpFailed
            | EventKind::RelaySent
            | EventKind::RelayDelivered
            | EventKind::RelayFailed
            | EventKind::OtpVerified
            | EventKind::OtpUnderAttack => Subject::Otp {
                otp: read.id("subject_id", subject)?,
                channel: row
                    .channel
                    .map(|word| read.known("channel", Channel::from_word(&word)))
                    .transpose()?,
                phone: phone(&read, row.phone_index.zip(row.phone_sealed))?,
            },
            EventKind::SessionRevoked => Subject::Session {
                session: read.id("subject_id", subject)?,
                identity: read.id("related_id", read.known("related_id", row.related_id)?)?,
            },
            EventKind::IdentityDeleted => Subject::Identity {
                identity: read.id("subject_id", subject)?,
                sessions_revoked: read
                    .known("amount", amount.and_then(|count| u64::try_from(count).ok()))?,
            },
            EventKind::WalletLow => Subject::Wallet {
                entry: read.id("subject_id", subject)?,
                balance: Paise(read.known("amount", amount)?),
                threshold: Paise(read.known("threshold", row.threshold)?),
            },
            EventKind::SpendReached => Subject::Spend {
                entry: read.id("subject_id", subject)?,
                percent: read.known(
                    "provider",
                    row.provider.as_deref().and_then(|percent| percent.parse().ok()),
                )?,
                spent: Paise(read.known("amount", amount)?),
                limit: Paise(read.known("threshold", row.threshold)?),
            },
            EventKind::GuardEmptied => Subject::Guard {
                subject: read.known(
                    "provider",
                    row.provider.as_deref().and_then(GuardSubjectKind::from_word),
                )?,
                guard: read
                    .known("channel", row.channel.as_deref().and_then(GuardMode::from_word))?,
            },
            EventKind::EndpointDisabled => Subject::Endpoint {
                endpoint: read.id("subject_id", subject)?,
                failures: count("amount", amount)?,
                since: instant("threshold", row.threshold)?,
            },
            EventKind::ProviderFailing => Subject::Provider {
                provider: read.known("provider", row.provider)?,
                failed: count("amount", amount)?,
                receipts: count("threshold", row.threshold)?,
            },
            EventKind::AlertOpened | EventKind::AlertResolved => Subject::Alert {
                alert: read
                    .known("provider", row.provider.as_deref().and_then(AlertKind::from_word))?,
                endpoint: row.related_id.map(|id| read.id("related_id", id)).transpose()?,
                since: instant("threshold", row.threshold)?,
            },
            EventKind::WebhookTest => Subject::Test { endpoint: read.id("subject_id", subject)? },
        };
        Ok(Self {
            project_mode: read.project_mode(row.project_id, &row.mode)?,
            kind,
            subject,
            at: read.at("happened_at", row.happened_at)?,
        })
    }
}

/// An endpoint with a delivery that is due.
#[derive(QueryableByName)]
pub struct WaitingRow {
    #[diesel(sql_type = Id)]
    id: Id,
    #[diesel(sql_type = Bool)]
    failing: bool,
    #[diesel(sql_type = At)]
    due_at: At,
}

impl TryFrom<WaitingRow> for WaitingEndpoint {
    type Error = StoreError;

    fn try_from(row: WaitingRow) -> Result<Self, StoreError> {
        Ok(Self {
            endpoint: Row::new("webhook_endpoints", row.id).id("id", row.id)?,
            failing: row.failing,
            due_at: Row::new("event_deliveries", row.id).at("due_at", row.due_at)?,
        })
    }
}
