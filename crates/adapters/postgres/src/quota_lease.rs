use crate::PostgresStore;
use crate::connection::error::{Failure, unavailable};
use crate::connection::statement::Statement;
use async_trait::async_trait;
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Nullable, Text, Timestamptz};
use dwar_kernel::{InstanceId, StoreError, Timestamp};
use dwar_ratelimit::{
    Grant, LeaseRequest, QuotaLeases, QuotaShare, QuotaShares, RequestKey, RequestScope,
};
use dwar_sql::{At, Id};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Most attempts to grant lease requests. Each repetition means that another instance's request was
/// granted meanwhile, so there are about as many as instances.
const TRIES: u32 = 100;

/// Reads the shares and the server's time, which is never earlier than the state that was read.
const SNAPSHOT: &str = ", asked AS ( \
        SELECT u.* FROM given, unnest(keys, scopes) WITH ORDINALITY AS u (key, scope, nr) \
    ) SELECT clock_timestamp() AS now, q.shares::text AS shares \
    FROM asked LEFT JOIN quota_shares q ON q.api_key_id = key AND q.scope = asked.scope \
    ORDER BY nr";

/// Writes where nothing has changed since the read, and returns the places written. Locks rows in
/// the order of their keys; new rows come last.
const PUT: &str = ", put AS ( \
        SELECT key, u.scope, was::jsonb, becomes::jsonb, over, nr FROM given, \
        unnest(keys, scopes, seen, shares, ends) WITH ORDINALITY \
        AS u (key, scope, was, becomes, over, nr) \
    ), held AS ( \
        SELECT p.* FROM put p JOIN quota_shares q ON q.api_key_id = p.key AND q.scope = p.scope \
        WHERE q.shares = p.was ORDER BY p.key, p.scope FOR NO KEY UPDATE OF q \
    ), changed AS ( \
        UPDATE quota_shares q SET shares = h.becomes, over_at = h.over FROM held h \
        WHERE q.api_key_id = h.key AND q.scope = h.scope AND q.shares = h.was RETURNING h.nr \
    ), added AS ( \
        INSERT INTO quota_shares (api_key_id, scope, shares, over_at) \
        SELECT key, scope, becomes, over FROM put WHERE was IS NULL ORDER BY key, scope \
        ON CONFLICT DO NOTHING RETURNING api_key_id, scope \
    ) SELECT nr FROM changed UNION ALL \
    SELECT nr FROM put p JOIN added a ON a.api_key_id = p.key AND a.scope = p.scope";

#[async_trait]
impl QuotaLeases for PostgresStore {
    async fn exchange(
        &self,
        requests: Vec<(RequestKey, LeaseRequest)>,
    ) -> Result<Vec<Option<Grant>>, StoreError> {
        self.write_one("ratelimit.exchange", move |conn| exchange(conn, &requests)).await
    }

    async fn sweep_shares(&self) -> Result<u64, StoreError> {
        self.in_batches(|conn| {
            diesel::sql_query(
                "DELETE FROM quota_shares WHERE (api_key_id, scope) IN ( \
                     SELECT api_key_id, scope FROM quota_shares WHERE over_at <= clock_timestamp() \
                     LIMIT $1 FOR UPDATE SKIP LOCKED)",
            )
            .bind::<BigInt, _>(crate::connection::sweep::SWEEP_BATCH)
            .execute(conn)
        })
        .await
    }
}

/// Reads, then writes with a guard, for all keys at once; repeats for the keys that changed in
/// between.
///
/// Repetition is harmless: a request that is already recorded is granted again with the same
/// result.
fn exchange(
    conn: &mut PgConnection,
    requests: &[(RequestKey, LeaseRequest)],
) -> Result<Vec<Option<Grant>>, Failure> {
    let mut grants = vec![None; requests.len()];
    let mut open: Vec<usize> = (0..requests.len()).collect();
    for _ in 0..TRIES {
        if open.is_empty() {
            return Ok(grants);
        }
        let snapshots = read_snapshots(conn, open.iter().map(|number| requests[*number].0))?;
        let mut changes = Vec::new();
        for (number, ShareSnapshot { now, shares: seen }) in open.drain(..).zip(snapshots) {
            let (key, lease_request) = &requests[number];
            let mut shares = read(*key, seen.as_deref())?;
            // A later request was granted before this one: nothing to write, and no answer.
            let Some(grant) = shares.exchange(lease_request, now) else { continue };
            grants[number] = Some(grant);
            if seen.is_some() || !shares.as_slice().is_empty() {
                let over_at = shares.over_at().unwrap_or(now);
                changes.push(ShareUpdate {
                    number,
                    key: *key,
                    seen,
                    shares: written(&shares),
                    over_at,
                });
            }
        }
        let done = put(conn, &changes)?;
        open = (1_i64..)
            .zip(changes)
            .filter(|(nr, _)| !done.contains(nr))
            .map(|it| it.1.number)
            .collect();
    }
    Err(unavailable("the shares of a quota change too fast").into())
}

#[derive(QueryableByName)]
struct ShareSnapshot {
    #[diesel(sql_type = Timestamptz)]
    now: Timestamp,
    #[diesel(sql_type = Nullable<Text>)]
    shares: Option<String>,
}

struct ShareUpdate {
    number: usize,
    key: RequestKey,
    seen: Option<String>,
    shares: String,
    over_at: Timestamp,
}

#[derive(QueryableByName)]
struct AffectedRows {
    #[diesel(sql_type = BigInt)]
    nr: i64,
}

fn read_snapshots(
    conn: &mut PgConnection,
    keys: impl Iterator<Item = RequestKey>,
) -> QueryResult<Vec<ShareSnapshot>> {
    let (keys, scopes): (Vec<Id>, Vec<&str>) =
        keys.map(|it| (Id::from(it.key), name(it.scope))).unzip();
    Statement::new(SNAPSHOT)
        .given::<Array<Id>, _>("keys", keys)
        .given::<Array<Text>, _>("scopes", scopes)
        .load(conn)
}

/// Returns the numbers, from 1, of the changes that were written.
fn put(conn: &mut PgConnection, changes: &[ShareUpdate]) -> QueryResult<Vec<i64>> {
    if changes.is_empty() {
        return Ok(Vec::new());
    }
    let each = |column: fn(&ShareUpdate) -> &str| changes.iter().map(column).collect::<Vec<_>>();
    let keys: Vec<Id> = changes.iter().map(|it| it.key.key.into()).collect();
    let seen: Vec<Option<&str>> = changes.iter().map(|it| it.seen.as_deref()).collect();
    let ends: Vec<At> = changes.iter().map(|it| it.over_at.into()).collect();
    let done: Vec<AffectedRows> = Statement::new(PUT)
        .given::<Array<Id>, _>("keys", keys)
        .given::<Array<Text>, _>("scopes", each(|it| name(it.key.scope)))
        .given::<Array<Nullable<Text>>, _>("seen", seen)
        .given::<Array<Text>, _>("shares", each(|it| &it.shares))
        .given::<Array<At>, _>("ends", ends)
        .load(conn)?;
    Ok(done.into_iter().map(|it| it.nr).collect())
}

/// A share as stored; instants and durations in microseconds.
#[derive(Serialize, Deserialize)]
struct StoredShare {
    holder: String,
    number: u64,
    places: u32,
    told_at: i64,
    until: i64,
    window: u64,
    uses: Vec<u32>,
}

fn written(shares: &QuotaShares) -> String {
    let stored = |share: &QuotaShare| StoredShare {
        holder: share.holder.to_string(),
        number: share.number,
        places: share.places,
        told_at: share.told_at.timestamp_micros(),
        until: share.until.timestamp_micros(),
        window: u64::try_from(share.window.as_micros()).unwrap_or(u64::MAX),
        uses: share.uses.clone(),
    };
    let stored: Vec<StoredShare> = shares.as_slice().iter().map(stored).collect();
    serde_json::to_string(&stored).unwrap_or_default()
}

fn read(key: RequestKey, stored: Option<&str>) -> Result<QuotaShares, StoreError> {
    let Some(stored) = stored else { return Ok(QuotaShares::default()) };
    let read = || {
        let stored: Vec<StoredShare> = serde_json::from_str(stored).ok()?;
        stored.into_iter().map(share).collect::<Option<Vec<_>>>()
    };
    let row = || format!("{}, {}", key.key, name(key.scope));
    let inconsistent =
        || StoreError::Inconsistent { table: "quota_shares", column: "shares", row: row() };
    read().map(QuotaShares::new).ok_or_else(inconsistent)
}

fn share(stored: StoredShare) -> Option<QuotaShare> {
    let holder: InstanceId = stored.holder.parse().ok()?;
    Some(QuotaShare {
        holder,
        number: stored.number,
        places: stored.places,
        told_at: Timestamp::from_timestamp_micros(stored.told_at)?,
        until: Timestamp::from_timestamp_micros(stored.until)?,
        window: Duration::from_micros(stored.window),
        uses: stored.uses,
    })
}

const fn name(scope: RequestScope) -> &'static str {
    match scope {
        RequestScope::Send => "send",
        RequestScope::Verify => "verify",
        RequestScope::Validate => "validate",
        RequestScope::General => "general",
    }
}
