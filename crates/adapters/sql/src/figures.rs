//! Rows and statements for figures, their source and the instance that counts them.

use crate::schema::{figures, figures_lease};
use crate::{At, Id, Row};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Bool, Nullable, Text};
use dwar_activity::{
    AttemptFacts, Causes, Counts, DurationHistogram, Figure, FiguresLease, Grain, GuardCounts, Key,
    Progress, RequestFacts, Traffic,
};
use dwar_kernel::{Channel, GuardVerdict, Paise, ProjectId, Reason, StoreError};
use dwar_otp::{AttemptStatus, DeliveryStatus, OtpState};

/// Selects the requests between two ids in order of creation, one row per attempt. Parameters, as
/// this database writes them: the two ids (both exclusive) and the number of requests; then the
/// ledger as `e`, and the reference of an entry `e` to its request `o`.
///
/// The cost of a request is looked up by its reference with the unique key of the ledger. Each kind
/// has a `SELECT` of its own, so that the whole key is given.
#[macro_export]
macro_rules! sent_requests {
    ($after:literal, $before:literal, $limit:literal, $ledger:literal, $reference:literal) => {
        concat!(
            "SELECT o.id, o.project_id, o.mode, o.created_at, o.state, o.status, o.relayed, o.guesses, o.guard, \
                 (SELECT CAST(-sum(amount) AS bigint) FROM (SELECT e.amount FROM ",
            $ledger,
            " WHERE e.project_id = o.project_id AND e.kind = 'capture' AND e.reference = ",
            $reference,
            " UNION ALL SELECT e.amount FROM ",
            $ledger,
            " WHERE e.project_id = o.project_id AND e.kind = 'refund' AND e.reference = ",
            $reference,
            ") costs) AS spent, a.channel, a.provider, a.status AS attempt, a.accepted, a.reason, a.changed_at \
             FROM (SELECT id, project_id, mode, created_at, state, status, relayed, guesses, guard FROM otps \
                 WHERE id > ",
            $after,
            " AND id < ",
            $before,
            " ORDER BY id LIMIT ",
            $limit,
            ") o LEFT JOIN otp_attempts a ON a.otp_id = o.id ORDER BY o.id, a.position"
        )
    };
}

/// Deletes some figures of a grain that began before an instant. Parameters, as this database
/// writes them: grain, instant, number of rows.
#[macro_export]
macro_rules! sweep_figures {
    ($grain:literal, $before:literal, $limit:literal) => {
        concat!(
            "DELETE FROM figures WHERE (project_id, mode, grain, began_at, channel, provider) IN \
                 (SELECT project_id, mode, grain, began_at, channel, provider FROM figures \
                  WHERE grain = ",
            $grain,
            " AND began_at < ",
            $before,
            " LIMIT ",
            $limit,
            ")"
        )
    };
}

/// Row of `figures`: the counts of one period, channel and provider.
#[derive(Clone, Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = figures)]
pub struct FigureRow {
    pub project_id: Id,
    pub mode: String,
    pub grain: String,
    pub began_at: At,
    pub channel: String,
    pub provider: String,
    pub attempts: i64,
    pub accepted: i64,
    pub arrived: i64,
    pub failed: i64,
    pub requests: i64,
    pub delivered: i64,
    pub verified: i64,
    pub spent: i64,
    pub times: Vec<u8>,
    pub delivery_times: Vec<u8>,
    pub causes: String,
    pub relay_attempts: i64,
    pub relays: i64,
    pub guarded: i64,
    pub trusted: i64,
    pub trusted_verified: i64,
    pub over_address: i64,
    pub over_series: i64,
    pub over_project: i64,
    pub over_day: i64,
    pub refusable_verified: i64,
}

/// The sums of the figures of a project.
#[derive(Queryable)]
pub struct TrafficRow {
    pub project_id: Id,
    pub requests: i64,
    pub relays: i64,
    pub verified: i64,
    pub spent: i64,
    pub trusted: i64,
    pub trusted_verified: i64,
}

/// The only row of the lease: which instance keeps the figures.
#[derive(Queryable, Selectable, AsChangeset)]
#[diesel(table_name = figures_lease, treat_none_as_null = true)]
pub struct FiguresLeaseRow {
    pub settled_at: Option<At>,
    pub fresh_at: Option<At>,
    pub keeper_id: Option<Id>,
    pub leased_until: Option<At>,
}

/// Row of `sent_requests!`: a request, joined with one of its attempts.
#[derive(QueryableByName)]
pub struct SentRow {
    #[diesel(sql_type = Id)]
    id: Id,
    #[diesel(sql_type = Id)]
    project_id: Id,
    #[diesel(sql_type = Text)]
    mode: String,
    #[diesel(sql_type = At)]
    created_at: At,
    #[diesel(sql_type = Text)]
    state: String,
    #[diesel(sql_type = Text)]
    status: String,
    #[diesel(sql_type = Bool)]
    relayed: bool,
    #[diesel(sql_type = Nullable<Binary>)]
    guesses: Option<Vec<u8>>,
    #[diesel(sql_type = Nullable<Text>)]
    guard: Option<String>,
    #[diesel(sql_type = Nullable<BigInt>)]
    spent: Option<i64>,
    #[diesel(sql_type = Nullable<Text>)]
    channel: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    provider: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    attempt: Option<String>,
    #[diesel(sql_type = Nullable<Bool>)]
    accepted: Option<bool>,
    #[diesel(sql_type = Nullable<Text>)]
    reason: Option<String>,
    #[diesel(sql_type = Nullable<At>)]
    changed_at: Option<At>,
}

impl From<Figure> for FigureRow {
    fn from(Figure { key, grain, began, counts }: Figure) -> Self {
        let stored = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        let (channel, provider) = key.carrier.unzip();
        let guard = counts.guard;
        Self {
            project_id: key.project_mode.project.into(),
            mode: key.project_mode.mode.as_str().to_owned(),
            grain: grain.as_str().to_owned(),
            began_at: began.into(),
            channel: channel.map_or("", Channel::as_str).to_owned(),
            provider: provider.unwrap_or_default(),
            attempts: stored(counts.attempts),
            accepted: stored(counts.accepted),
            arrived: stored(counts.arrived),
            failed: stored(counts.failed),
            requests: stored(counts.requests),
            delivered: stored(counts.delivered),
            verified: stored(counts.verified),
            spent: counts.spent.0,
            times: counts.times.to_bytes(),
            delivery_times: counts.delivery_times.to_bytes(),
            causes: counts.causes.to_text(),
            relay_attempts: stored(counts.relay_attempts),
            relays: stored(counts.relays),
            guarded: stored(guard.judged),
            trusted: stored(guard.trusted),
            trusted_verified: stored(guard.trusted_verified),
            over_address: stored(guard.over_address),
            over_series: stored(guard.over_series),
            over_project: stored(guard.over_project),
            over_day: stored(guard.over_day),
            refusable_verified: stored(guard.refusable_verified),
        }
    }
}

impl TryFrom<FigureRow> for Figure {
    type Error = StoreError;

    fn try_from(row: FigureRow) -> Result<Self, StoreError> {
        let read = Row::new("figures", row.project_id);
        let count = |column, stored: i64| read.known(column, u64::try_from(stored).ok());
        let carrier = match row.channel.as_str() {
            "" => None,
            word => Some((read.known("channel", Channel::from_word(word))?, row.provider)),
        };
        Ok(Self {
            key: Key { project_mode: read.project_mode(row.project_id, &row.mode)?, carrier },
            grain: read.known("grain", Grain::from_word(&row.grain))?,
            began: read.at("began_at", row.began_at)?,
            counts: Counts {
                attempts: count("attempts", row.attempts)?,
                accepted: count("accepted", row.accepted)?,
                arrived: count("arrived", row.arrived)?,
                failed: count("failed", row.failed)?,
                relay_attempts: count("relay_attempts", row.relay_attempts)?,
                requests: count("requests", row.requests)?,
                relays: count("relays", row.relays)?,
                delivered: count("delivered", row.delivered)?,
                verified: count("verified", row.verified)?,
                spent: Paise(row.spent),
                times: read.known("times", DurationHistogram::from_bytes(&row.times))?,
                delivery_times: read
                    .known("delivery_times", DurationHistogram::from_bytes(&row.delivery_times))?,
                causes: read.known("causes", Causes::from_text(&row.causes))?,
                guard: GuardCounts {
                    judged: count("guarded", row.guarded)?,
                    trusted: count("trusted", row.trusted)?,
                    trusted_verified: count("trusted_verified", row.trusted_verified)?,
                    over_address: count("over_address", row.over_address)?,
                    over_series: count("over_series", row.over_series)?,
                    over_project: count("over_project", row.over_project)?,
                    over_day: count("over_day", row.over_day)?,
                    refusable_verified: count("refusable_verified", row.refusable_verified)?,
                },
            },
        })
    }
}

impl TryFrom<TrafficRow> for (ProjectId, Traffic) {
    type Error = StoreError;

    fn try_from(row: TrafficRow) -> Result<Self, StoreError> {
        let read = Row::new("figures", row.project_id);
        let count = |column, stored: i64| read.known(column, u64::try_from(stored).ok());
        let traffic = Traffic {
            requests: count("requests", row.requests)?,
            relays: count("relays", row.relays)?,
            verified: count("verified", row.verified)?,
            spent: Paise(row.spent),
            trusted: count("trusted", row.trusted)?,
            trusted_verified: count("trusted_verified", row.trusted_verified)?,
        };
        Ok((read.id("project_id", row.project_id)?, traffic))
    }
}

impl From<&FiguresLease> for FiguresLeaseRow {
    fn from(figures_lease: &FiguresLease) -> Self {
        Self {
            settled_at: figures_lease.progress.settled.map(At::from),
            fresh_at: figures_lease.progress.as_of.map(At::from),
            keeper_id: figures_lease.led.map(|(keeper, _)| keeper.into()),
            leased_until: figures_lease.led.map(|(_, until)| until.into()),
        }
    }
}

impl TryFrom<FiguresLeaseRow> for FiguresLease {
    type Error = StoreError;

    fn try_from(row: FiguresLeaseRow) -> Result<Self, StoreError> {
        let read = Row::new("figures_lease", 1);
        let led = match (row.keeper_id, row.leased_until) {
            (Some(keeper), Some(until)) => {
                Some((read.id("keeper_id", keeper)?, read.at("leased_until", until)?))
            }
            _ => None,
        };
        let progress = Progress {
            settled: read.maybe_at("settled_at", row.settled_at)?,
            as_of: read.maybe_at("fresh_at", row.fresh_at)?,
        };
        Ok(Self { progress, led })
    }
}

/// Groups the rows by request. The rows of a request have to be adjacent.
pub fn requests(rows: &[SentRow]) -> impl Iterator<Item = Result<RequestFacts, StoreError>> {
    let same = |a: &SentRow, b: &SentRow| a.id == b.id;
    rows.chunk_by(same).filter_map(|rows| Some(sent(rows.first()?, rows)))
}

impl SentRow {
    /// The id of the row's request, which all rows of its attempts share.
    pub const fn id(&self) -> Id {
        self.id
    }
}

fn sent(first: &SentRow, rows: &[SentRow]) -> Result<RequestFacts, StoreError> {
    let read = Row::new("otps", first.id);
    let attempt = |row: &SentRow| {
        let word = row.attempt.as_deref()?;
        Some(read.known("otp_attempts.status", AttemptStatus::from_word(word)))
    };
    let statuses = rows.iter().filter_map(attempt).collect::<Result<Vec<_>, _>>()?;
    let carrier = AttemptStatus::carrier(&statuses);
    let why = |row: &SentRow| {
        let word = row.reason.as_deref().unwrap_or(Reason::Unknown.as_str());
        read.known("otp_attempts.reason", Reason::from_word(word))
    };
    let tried = rows.iter().zip(&statuses).enumerate().map(|(place, (row, status))| {
        let channel = row.channel.as_deref().and_then(Channel::from_word);
        Ok(AttemptFacts {
            channel: read.known("otp_attempts.channel", channel)?,
            provider: row.provider.clone().unwrap_or_default(),
            accepted: row.accepted.unwrap_or_default(),
            arrived: match status {
                AttemptStatus::Delivered => {
                    read.maybe_at("otp_attempts.changed_at", row.changed_at)?
                }
                _ => None,
            },
            failed: (*status == AttemptStatus::Failed).then(|| why(row)).transpose()?,
            carried: carrier == Some(place),
        })
    });
    let status = read.known("status", DeliveryStatus::from_word(&first.status))?;
    let verified = read.known("state", OtpState::from_word(&first.state))? == OtpState::Used;
    let verdict = |word: &String| read.known("guard", GuardVerdict::from_word(word));
    let guesses = read.known("guesses", crate::guesses(first.guesses.as_deref()))?;
    Ok(RequestFacts {
        id: read.id("id", first.id)?,
        project_mode: read.project_mode(first.project_id, &first.mode)?,
        at: read.at("created_at", first.created_at)?,
        relayed: first.relayed,
        delivered: status == DeliveryStatus::Delivered,
        verified,
        guard: first.guard.as_ref().map(verdict).transpose()?,
        verified_at: guesses.last().copied().filter(|_| verified),
        spent: Paise(first.spent.unwrap_or_default()),
        tried: tried.collect::<Result<_, StoreError>>()?,
    })
}
