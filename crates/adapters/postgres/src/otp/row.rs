//! Rows of one-time codes, their delivery attempts and the results.

use dwar_kernel::StoreError;
use dwar_otp::{DeliveryAttempt, Otp};
use dwar_sql::{AttemptRow, Id, OtpRow};

/// Stores the given attempts, each for the request at its place in `changed`.
macro_rules! attempted {
    () => {
        ", attempted AS ( \
             INSERT INTO otp_attempts (id, otp_id, position, channel, provider, provider_ref, \
                 status, reason, changed_at, accepted) \
             SELECT a.id, changed.id, a.position, a.channel, a.provider, a.provider_ref, \
                 a.status, a.reason, a.changed_at, a.accepted \
             FROM changed, given, unnest(given.places, given.positions, given.attempts, \
                 given.channels, given.providers, given.provider_refs, given.statuses, \
                 given.reasons, given.times, given.accepts) \
                 AS a (place, position, id, channel, provider, provider_ref, status, reason, \
                     changed_at, accepted) \
             WHERE a.place = changed.place \
             ON CONFLICT (id) DO UPDATE SET provider_ref = excluded.provider_ref, \
                 status = excluded.status, reason = excluded.reason, \
                 changed_at = excluded.changed_at, accepted = excluded.accepted \
             RETURNING otp_attempts.id \
         )"
    };
}

/// Gives a statement the parameters of `attempted!`: all attempts of each request, in order.
macro_rules! attempts {
    ($statement:expr, $requests:expr) => {{
        let attempts: Vec<(i64, i32, &DeliveryAttempt)> = placed($requests);
        let attempts = attempts.as_slice();
        $statement
            .given::<Array<BigInt>, _>("places", each(attempts, |a| a.0))
            .given::<Array<Integer>, _>("positions", each(attempts, |a| a.1))
            .given::<Array<Id>, _>("attempts", each(attempts, |a| Id::from(a.2.id)))
            .given::<Array<Text>, _>("channels", each(attempts, |a| a.2.channel.as_str()))
            .given::<Array<Text>, _>("providers", each(attempts, |a| a.2.provider.as_str()))
            .given::<Array<Nullable<Text>>, _>(
                "provider_refs",
                each(attempts, |a| a.2.provider_ref.as_deref()),
            )
            .given::<Array<Text>, _>("statuses", each(attempts, |a| a.2.status.as_str()))
            .given::<Array<Nullable<Text>>, _>(
                "reasons",
                each(attempts, |a| a.2.reason.map(Reason::as_str)),
            )
            .given::<Array<At>, _>("times", each(attempts, |a| At::from(a.2.at)))
            .given::<Array<Bool>, _>("accepts", each(attempts, |a| a.2.accepted))
    }};
}

/// The attempts of requests, each with the place of its request, from one, and its own place, from
/// zero.
pub(crate) fn placed<'a>(
    requests: impl IntoIterator<Item = &'a Otp>,
) -> Vec<(i64, i32, &'a DeliveryAttempt)> {
    let of_one = |(place, otp): (i64, &'a Otp)| {
        (0..).zip(&otp.delivery.attempts).map(move |(position, attempt)| (place, position, attempt))
    };
    (1..).zip(requests).flat_map(of_one).collect()
}

/// Gives a statement the parameters of `told!`: the event of each step, if there is one, and its
/// time.
macro_rules! events {
    ($statement:expr, $steps:expr) => {{
        let steps = $steps;
        $statement
            .given::<Array<Nullable<Text>>, _>(
                "events",
                each(steps, |step| step.event.as_ref().map(|event| event.id.as_str())),
            )
            .given::<Array<Nullable<Text>>, _>(
                "kinds",
                each(steps, |step| step.event.as_ref().map(|event| event.kind.as_str())),
            )
            .given::<Array<Nullable<Text>>, _>(
                "vias",
                each(steps, |step| step.event.as_ref().and_then(|event| event.channel.as_deref())),
            )
            .given::<Array<At>, _>("moments", each(steps, |step| At::from(step.now)))
    }};
}

/// Records the event of each changed request, if it has one and the project may have listeners.
macro_rules! told {
    ($of:literal) => {
        concat!(
            "(SELECT record_event(event => c.event, project => c.project_id, event_mode => c.mode, \
                 event_kind => c.kind, moment => c.at, subject => c.id, via => c.via, \
                 phone => c.phone_index, sealed => c.phone_sealed) FROM changed c \
             WHERE ",
            $of,
            " AND c.event IS NOT NULL \
             AND (EXISTS (SELECT FROM webhook_endpoints e WHERE e.project_id = c.project_id) \
                 OR EXISTS (SELECT FROM projects p WHERE p.id = c.project_id AND p.events_feed)))"
        )
    };
}

/// A request as read from the database, and the id of the step that wrote it last.
pub(crate) struct Found {
    pub(crate) otp: Otp,
    pub(crate) version: Id,
}

/// Rebuilds one request from its rows, one for each of its attempts.
pub(crate) fn rebuild(
    rows: impl IntoIterator<Item = (OtpRow, Id, Option<AttemptRow>)>,
) -> Result<Option<Found>, StoreError> {
    let mut request = None;
    let mut attempts = Vec::new();
    for (row, version, attempt) in rows {
        attempts.extend(attempt);
        request = Some((row, version));
    }
    let Some((row, version)) = request else { return Ok(None) };
    Ok(Some(Found { otp: row.into_otp(attempts)?, version }))
}
