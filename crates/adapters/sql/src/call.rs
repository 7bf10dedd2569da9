//! Rows of calls to endpoints.

use crate::schema::webhook_calls;
use crate::{At, Id, Row, stored_count};
use diesel::prelude::*;
use dwar_event::{EndpointCall, SendFailure};
use dwar_kernel::{EventKind, StoreError};
use std::time::Duration;

const TAKEN: &str = "taken";

/// Row of `webhook_calls`: one call to an endpoint and its outcome.
#[derive(Clone, Queryable, Selectable, Insertable)]
#[diesel(table_name = webhook_calls)]
pub struct CallRow {
    pub id: Id,
    pub endpoint_id: Id,
    pub event_id: String,
    pub kind: String,
    pub number: i32,
    pub called_at: At,
    pub took_ms: i64,
    pub outcome: String,
    pub status: Option<i32>,
    pub again_at: Option<At>,
    pub failed: bool,
}

impl From<&EndpointCall> for CallRow {
    fn from(call: &EndpointCall) -> Self {
        let (outcome, status) = match &call.outcome {
            Ok(status) => (TAKEN, Some(*status)),
            Err(cause) => cause.word(),
        };
        Self {
            id: call.id.into(),
            endpoint_id: call.endpoint.into(),
            event_id: call.event.clone(),
            kind: call.kind.as_str().to_owned(),
            number: stored_count(call.number),
            called_at: call.at.into(),
            took_ms: i64::try_from(call.took.as_millis()).unwrap_or(i64::MAX),
            outcome: outcome.to_owned(),
            status: status.map(i32::from),
            again_at: call.again.map(At::from),
            failed: call.outcome.is_err(),
        }
    }
}

impl TryFrom<CallRow> for EndpointCall {
    type Error = StoreError;

    fn try_from(row: CallRow) -> Result<Self, StoreError> {
        let read = Row::new("webhook_calls", row.id);
        let status = row.status.and_then(|status| u16::try_from(status).ok());
        let outcome = match row.outcome.as_str() {
            TAKEN => Ok(read.known("status", status)?),
            word => Err(read.known("outcome", SendFailure::from_word(word, status))?),
        };
        let took = read.known("took_ms", u64::try_from(row.took_ms).ok())?;
        Ok(Self {
            id: read.id("id", row.id)?,
            endpoint: read.id("endpoint_id", row.endpoint_id)?,
            event: row.event_id,
            kind: read.known("kind", EventKind::from_word(&row.kind))?,
            number: read.count("number", row.number)?,
            at: read.at("called_at", row.called_at)?,
            took: Duration::from_millis(took),
            outcome,
            again: read.maybe_at("again_at", row.again_at)?,
        })
    }
}
