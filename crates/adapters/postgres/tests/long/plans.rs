//! Plans of statements on a server without statistics, or with old ones.

use crate::support::{Database, project};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use dwar_activity::{FiguresStore, Interval};
use dwar_event::{ClaimCapacity, EventStore};
use dwar_kernel::{GuessPolicy, KeyMode, OtpId, ProjectId};
use dwar_otp::{OtpHistory, OtpStore, Report, ReportedRequest};
use dwar_postgres::{PostgresStore, Settings};
use dwar_project::ProjectStore;
use dwar_testkit::{CODE, Fixtures, START, WRONG_CODE, minutes};
use dwar_wallet::{ChargeStore, Paise, WalletStore};
use std::time::{Duration, Instant};

const SENT: &str = dwar_sql::sent_requests!("$1", "$2", "$3", "ledger_entries e", "o.id::text");

#[derive(QueryableByName)]
struct Line {
    #[diesel(sql_type = Text, column_name = "QUERY PLAN")]
    text: String,
}

/// The index condition that finds the entry with the charge of a request.
fn how_costs_are_found(conn: &mut PgConnection) -> String {
    let id = "'01a20545-78be-76a8-82b4-3e9e7cf42389'";
    let plan = diesel::sql_query(format!("EXPLAIN EXECUTE sent ({id}, {id}, 1000)"));
    let mut lines = plan.load::<Line>(conn).unwrap().into_iter().map(|line| line.text);
    lines.find(|line| line.contains("Index Cond") && line.contains("'capture'")).unwrap()
}

/// Otherwise each counted request would read every entry of its project.
#[tokio::test]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn figures_find_what_a_request_cost_by_the_whole_key() {
    let database = Database::create();
    let (store, make) = (database.store().await, Fixtures::random());
    let project = project(&store, &make).await.id;
    let mut conn = database.connection();
    conn.batch_execute(&format!("PREPARE sent (uuid, uuid, bigint) AS {SENT}")).unwrap();
    // As on the service's own connections.
    conn.batch_execute(
        "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; \
         SET enable_hashjoin = off; SET enable_mergejoin = off",
    )
    .unwrap();
    let entries = |kind: &str, from: u32, to: u32| {
        format!(
            "INSERT INTO ledger_entries (id, project_id, position, kind, amount, held, balance_after, \
             held_after, reference, made_at) SELECT gen_random_uuid(), '{project}', n, '{kind}', 1, 0, 0, 0, \
             n, now() FROM generate_series({from}, {to}) n"
        )
    };
    let window = Interval { from: START, until: START + minutes(1) };
    // The plan is made when only one credit exists.
    conn.batch_execute(&(entries("credit", 10, 10) + "; ANALYZE ledger_entries")).unwrap();
    how_costs_are_found(&mut conn);
    for grown in [entries("capture", 100, 6_000), entries("capture", 6_001, 20_000)] {
        conn.batch_execute(&grown).unwrap();
        assert!(store.sent(window, None, 1_000).await.unwrap().is_empty());
        let found_by = how_costs_are_found(&mut conn);
        assert!(found_by.contains("kind") && found_by.contains("reference"), "{found_by}");
    }
}

/// Otherwise a list of requests would read every entry of a project that is larger than most.
#[tokio::test]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn charges_of_a_large_project_among_small_ones_are_found_by_the_whole_key() {
    const LISTED: i64 = 50;
    let (database, make) = (Database::create(), Fixtures::random());
    let store = database.store().await;
    let large = project(&store, &make).await.id;
    let mut conn = database.connection();
    let mut enter = |project: &str| {
        conn.batch_execute(&format!(
            "INSERT INTO ledger_entries (id, project_id, position, kind, amount, held, balance_after, \
             held_after, reference, made_at) SELECT gen_random_uuid(), {project}, n, 'capture', -1, 0, \
             0, 0, '01a20545-78be-76a8-82b4-' || lpad(n::text, 12, '0'), now() FROM generate_series(1, 20000) n"
        ))
        .unwrap();
    };
    enter("('01a20545-78be-76a8-82b4-' || lpad((n % 2000)::text, 12, '0'))::uuid");
    enter(&format!("'{large}'"));
    conn.batch_execute("ANALYZE ledger_entries").unwrap();
    let mut read = || {
        let query = "SELECT 0::bigint AS changed, idx_tup_fetch + seq_tup_read AS read \
                     FROM pg_stat_user_tables \
                     WHERE schemaname = current_schema AND relname = 'ledger_entries'";
        diesel::sql_query(query).get_result::<Read>(&mut conn).unwrap().read
    };
    let before = read();
    let listed = (10_001..=10_000 + LISTED).map(|n| format!("01a20545-78be-76a8-82b4-{n:012}"));
    let listed: Vec<OtpId> = listed.map(|id| id.parse().unwrap()).collect();
    assert_eq!(store.charges(large, listed.clone()).await.unwrap().len(), listed.len());
    assert_eq!(store.steps(large, listed.clone()).await.unwrap().len(), listed.len());
    // A connection reports its work to the server's statistics when it ends, or after ten idle
    // seconds.
    drop(store);
    let until = Instant::now() + Duration::from_secs(60);
    while read() < before + 2 * LISTED {
        assert!(Instant::now() < until, "nothing was told");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let found = read() - before;
    assert!(found < 20 * LISTED, "{found} entries were read");
}

#[derive(QueryableByName)]
struct Read {
    #[diesel(sql_type = BigInt)]
    changed: i64,
    #[diesel(sql_type = BigInt)]
    read: i64,
}

/// Otherwise an endpoint that is down would slow down the calls to all others, and more so the longer it
/// is down.
#[tokio::test]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn a_claim_of_events_reads_little_more_than_it_gives_out() {
    const DUE: u32 = 20;
    let (database, make) = (Database::create(), Fixtures::random());
    let store = database.store().await;
    let project = project(&store, &make).await.id;
    let endpoint = make.endpoint(project);
    assert!(store.add_endpoint(endpoint.clone()).await.unwrap());
    let mut conn = database.connection();
    let add = |from: u32, to: u32, due: &str| {
        format!(
            "INSERT INTO events (id, project_id, mode, kind, subject_id, amount, threshold, happened_at) \
             SELECT 'wallet_low_' || lpad(n::text, 32, '0'), '{project}', 'live', 'wallet.low', '{project}', 1, 2, \
             now() FROM generate_series({from}, {to}) n; \
             INSERT INTO event_deliveries (event_id, endpoint_id, failures, due_at) \
             SELECT 'wallet_low_' || lpad(n::text, 32, '0'), '{}', 0, {due} FROM generate_series({from}, {to}) n;",
            endpoint.id
        )
    };
    let (now, later) = (format!("'{START}'"), format!("'{START}'::timestamptz + interval '1 day'"));
    conn.batch_execute(&(add(1, DUE, &now) + &add(DUE + 1, 20_000, &later) + "ANALYZE")).unwrap();
    let mut read = || {
        let query = "SELECT 0::bigint AS changed, idx_tup_fetch + seq_tup_read AS read \
                     FROM pg_stat_user_tables \
                     WHERE schemaname = current_schema AND relname = 'event_deliveries'";
        diesel::sql_query(query).get_result::<Read>(&mut conn).unwrap().read
    };
    let before = read();
    let due =
        EventStore::claim_due(&store, START, minutes(1), ClaimCapacity::of(100)).await.unwrap();
    assert_eq!(due.len(), DUE as usize);
    let again = Some(START + minutes(5));
    let calls = due.iter().map(|due| make.failed_call(endpoint.id, &due.event.id(), again));
    let calls: Vec<_> = calls.collect();
    store.delivered(calls[1..].to_vec()).await.unwrap();
    store.failed(calls[0].clone(), None).await.unwrap();
    // A connection reports its work to the server's statistics when it ends, or after ten idle
    // seconds.
    drop(store);
    let until = Instant::now() + Duration::from_secs(60);
    while read() < before + i64::from(DUE) {
        assert!(Instant::now() < until, "nothing was told");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let found = read() - before;
    assert!(found < 20 * i64::from(DUE), "{found} deliveries were read");
}

/// Otherwise each turn of a sweep would read all requests.
#[tokio::test]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn a_sweep_reads_little_more_than_what_it_drops() {
    const OLD: i64 = 500;
    let database = Database::create();
    let (store, make) = (database.store().await, Fixtures::random());
    let project = project(&store, &make).await.id;
    let mut conn = database.connection();
    let instant = |at| make.id_at::<OtpId>(at).to_string()[..13].to_owned();
    let (before, after) = (instant(START - minutes(1)), instant(START));
    conn.batch_execute(&format!(
        "INSERT INTO otps (id, project_id, mode, phone_index, phone_sealed, code_key, code_mac, state, wrong, \
         max_wrong, status, created_at, expires_at, version) \
         SELECT (CASE WHEN n <= {OLD} THEN '{before}' ELSE '{after}' END || '-7000-8000-' || \
         lpad(to_hex(n), 12, '0'))::uuid, '{project}', 'live', int4send(n), '', 1, '', 'verified', 0, 5, \
         'sent', now(), now(), gen_random_uuid() FROM generate_series(1, 20000) n; ANALYZE otps"
    ))
    .unwrap();
    assert_eq!(OtpStore::sweep(&store, START, START).await.unwrap(), 500);
    // A connection reports its work to the server's statistics when it ends, or after ten idle
    // seconds.
    drop(store);
    let until = Instant::now() + Duration::from_secs(60);
    let read = loop {
        let query = "SELECT n_tup_del AS changed, idx_tup_fetch + seq_tup_read AS read \
                     FROM pg_stat_user_tables \
                     WHERE schemaname = current_schema AND relname = 'otps'";
        let found: Read = diesel::sql_query(query).get_result(&mut conn).unwrap();
        if found.changed == OLD {
            break found.read;
        }
        assert!(Instant::now() < until, "nothing was told");
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    assert!(read < 5_000, "{read} rows were read");
}

#[derive(QueryableByName)]
struct Walked {
    #[diesel(sql_type = BigInt)]
    scans: i64,
    #[diesel(sql_type = BigInt)]
    blocks: i64,
}

/// Otherwise the list of a rarely used mode would walk past all codes of the other mode, or of
/// other projects.
#[tokio::test]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn a_list_of_one_mode_reads_little_more_than_it_shows() {
    let database = Database::create();
    let (store, make) = (database.store().await, Fixtures::random());
    let mut conn = database.connection();
    let projects = [project(&store, &make).await.id, project(&store, &make).await.id];
    let [own, other] = projects;
    let add = |project: ProjectId, mode: &str, from: u32, to: u32| {
        format!(
            "INSERT INTO otps (id, project_id, mode, phone_index, phone_sealed, code_key, code_mac, state, \
             wrong, max_wrong, status, created_at, expires_at, version) \
             SELECT ('01a20545-78be-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, '{project}', '{mode}', \
             sha256(int4send(n)), '', 1, sha256(int4send(n)), 'used', 0, 5, 'sent', now(), now(), gen_random_uuid() \
             FROM generate_series({from}, {to}) n;"
        )
    };
    let codes =
        [add(own, "test", 1, 9), add(own, "live", 10, 20_000), add(other, "test", 20_001, 40_000)];
    conn.batch_execute(&(codes.concat() + "ANALYZE otps; SELECT pg_stat_force_next_flush()"))
        .unwrap();
    let mut walked = || -> Walked {
        let query = "SELECT coalesce(sum(idx_scan), 0)::bigint AS scans, \
                     coalesce(sum(idx_blks_hit + idx_blks_read), 0)::bigint AS blocks \
                     FROM pg_stat_user_indexes JOIN pg_statio_user_indexes USING (indexrelid) \
                     WHERE pg_stat_user_indexes.schemaname = current_schema \
                     AND pg_stat_user_indexes.relname = 'otps'";
        diesel::sql_query(query).get_result(&mut conn).unwrap()
    };
    let before = walked();
    let project_mode = own.in_mode(KeyMode::Test);
    assert_eq!(store.newest(project_mode, false, None, 50).await.unwrap().len(), 9);
    assert!(store.newest(project_mode, true, None, 50).await.unwrap().is_empty());
    // A connection reports its work to the server's statistics when it ends, or after ten idle
    // seconds.
    drop(store);
    let until = Instant::now() + Duration::from_secs(60);
    let blocks = loop {
        let after = walked();
        if after.scans >= before.scans + 2 {
            break after.blocks - before.blocks;
        }
        assert!(Instant::now() < until, "nothing was told");
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    assert!(blocks < 40, "{blocks} blocks were read");
}

const COUNTED: GuessPolicy = GuessPolicy { period: Duration::from_secs(3_600), ..GuessPolicy::OFF };

/// Sends twice to one phone, the second time with a charge, and logs in after a wrong guess.
async fn log_in(store: &PostgresStore, make: &Fixtures, project: ProjectId) {
    let line = make.line(project.in_mode(KeyMode::Live));
    make.issue(store, make.otp(&line)).await;
    let otp = make.otp(&line);
    assert!(make.hold(store, otp.clone(), Paise(12)).await);
    let request = ReportedRequest::Seen(Box::new(otp.clone()));
    make.report(store, request, &otp, Report::Delivered, START).await.unwrap();
    for code in [WRONG_CODE, CODE] {
        make.judge(store, &line, code, COUNTED, START).await;
    }
}

/// Existing records: `number` requests, sessions and movements of money.
fn recorded(project: ProjectId, number: u32) -> String {
    [
        "otps (id, project_id, mode, phone_index, phone_sealed, code_key, code_mac, state, wrong, \
         max_wrong, status, created_at, expires_at, version) \
         SELECT id, project, 'live', phone, '', 1, '', 'active', 0, 5, 'sent', at, at, id",
        "otp_attempts (id, otp_id, position, channel, provider, status, changed_at) \
         SELECT id, id, 0, 'sms', 'meta', 'sent', at",
        "send_slots (send_id, project_id, mode, phone_index, taken_at) \
         SELECT id, project, 'live', phone, at",
        "guess_budgets (project_id, mode, phone_index, wrong, last_wrong_at) \
         SELECT project, 'live', phone, 1, at",
        "identities (id, project_id, mode, phone_index, phone_sealed, created_at, last_verified_at) \
         SELECT id, project, 'live', phone, '', at, at",
        "sessions (id, project_id, mode, identity_id, created_at, expires_at, refresh_digest, \
         refresh_expires_at, access_token_id, access_issued_at, access_expires_at) \
         SELECT id, project, 'live', id, at, at, phone, at, id, at, at",
        "wallet_holds (send_id, project_id, amount, held_since) SELECT id, project, 12, at",
        "ledger_entries (id, project_id, position, kind, amount, held, balance_after, held_after, \
         reference, made_at) SELECT id, project, 1000000 + n, 'hold', 0, 12, 0, 0, id::text, at",
    ]
    .map(|table| {
        format!(
            "INSERT INTO {table} FROM (SELECT gen_random_uuid() AS id, '{project}'::uuid \
             AS project, int8send(n) AS phone, now() AS at, n FROM generate_series(1, {number}) n) AS made"
        )
    })
    .join(";")
}

/// The blocks read so far, once the server's statistics contain this many sessions. The only
/// connection of the store reports its work when it does something a second later, or after ten
/// idle seconds.
async fn read_until(
    store: &PostgresStore,
    project: ProjectId,
    conn: &mut PgConnection,
    sessions: i64,
) -> i64 {
    loop {
        let query = "SELECT (SELECT sum(heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read) \
                     FROM pg_statio_user_tables WHERE schemaname = current_schema)::bigint AS read, \
                     (SELECT n_tup_ins FROM pg_stat_user_tables WHERE schemaname = current_schema \
                     AND relname = 'sessions') AS changed";
        let found: Read = diesel::sql_query(query).get_result(conn).unwrap();
        if found.changed == sessions {
            return found.read;
        }
        tokio::time::sleep(Duration::from_millis(1_100)).await;
        ProjectStore::find(store, project).await.unwrap();
    }
}

/// Otherwise logins would slow down as a service grows, until the server updates its statistics.
#[tokio::test]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn a_login_reads_its_own_rows_alone_by_plans_of_empty_tables() {
    const GROWN: u32 = 20_000;
    let (database, make) = (Database::create(), Fixtures::random());
    let project = project(&database.store().await, &make).await.id;
    let mut conn = database.connection();
    let tables = "otps otp_attempts send_slots guess_budgets identities sessions wallet_holds \
                  ledger_entries wallets";
    for table in tables.split_whitespace() {
        let unseen = format!("ALTER TABLE {table} SET (autovacuum_enabled = off)");
        conn.batch_execute(&unseen).unwrap();
    }
    let store = PostgresStore::connect(Settings { pool_size: 1, ..database.settings() }).unwrap();
    store.credit(project, make.credit(Paise(1_000)), START).await.unwrap();
    log_in(&store, &make, project).await;
    conn.batch_execute(&recorded(project, GROWN)).unwrap();
    let before = read_until(&store, project, &mut conn, i64::from(GROWN) + 1).await;
    log_in(&store, &make, project).await;
    let read = read_until(&store, project, &mut conn, i64::from(GROWN) + 2).await - before;
    // Less than 300 are normal, and one scan of an index would need as many again.
    assert!(read < 450, "{read} blocks were read");
}
