//! How statements are planned by a server that has no statistics, or old ones.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "everything here runs inside tests")]

mod support;

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use dwar_activity::{FiguresStore, Window};
use dwar_kernel::OtpId;
use dwar_otp::OtpStore;
use dwar_testkit::{Fixtures, START, minutes};
use std::time::{Duration, Instant};
use support::{Database, project};

const SENT: &str = dwar_sql::sent_requests!("$1", "$2", "$3", "ledger_entries e", "o.id::text");

#[derive(QueryableByName)]
struct Line {
    #[diesel(sql_type = Text, column_name = "QUERY PLAN")]
    text: String,
}

/// By what the index finds the entry that captured what a request cost.
fn how_costs_are_found(conn: &mut PgConnection) -> String {
    let id = "'01a20545-78be-76a8-82b4-3e9e7cf42389'";
    let plan = diesel::sql_query(format!("EXPLAIN EXECUTE sent ({id}, {id}, 1000)"));
    let mut lines = plan.load::<Line>(conn).unwrap().into_iter().map(|line| line.text);
    lines.find(|line| line.contains("Index Cond") && line.contains("'capture'")).unwrap()
}

/// Else each request that is counted would cost a look at every entry of its project.
#[tokio::test]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn figures_find_what_a_request_cost_by_the_whole_key() {
    let database = Database::create();
    let (store, make) = (database.store().await, Fixtures::random());
    let project = project(&store, &make).await.id;
    let mut conn = database.connection();
    conn.batch_execute(&format!("PREPARE sent (uuid, uuid, bigint) AS {SENT}")).unwrap();
    // As the service's own connections have it.
    conn.batch_execute("SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off")
        .unwrap();
    let entries = |kind: &str, from: u32, to: u32| {
        format!(
            "INSERT INTO ledger_entries (id, project_id, position, kind, amount, held, balance_after, \
             held_after, reference, made_at) SELECT gen_random_uuid(), '{project}', n, '{kind}', 1, 0, 0, 0, \
             n, now() FROM generate_series({from}, {to}) n"
        )
    };
    let window = Window { from: START, until: START + minutes(1) };
    // The plan is made while nothing is known but a credit.
    conn.batch_execute(&(entries("credit", 10, 10) + "; ANALYZE ledger_entries")).unwrap();
    how_costs_are_found(&mut conn);
    for grown in [entries("capture", 100, 6_000), entries("capture", 6_001, 20_000)] {
        conn.batch_execute(&grown).unwrap();
        assert!(store.sent(window, None, 1_000).await.unwrap().is_empty());
        let found_by = how_costs_are_found(&mut conn);
        assert!(found_by.contains("kind") && found_by.contains("reference"), "{found_by}");
    }
}

#[derive(QueryableByName)]
struct Read {
    #[diesel(sql_type = BigInt)]
    gone: i64,
    #[diesel(sql_type = BigInt)]
    read: i64,
}

/// Else each turn of a sweep would read all requests there are.
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
    let until = Instant::now() + Duration::from_secs(60);
    let read = loop {
        let query = "SELECT n_tup_del AS gone, idx_tup_fetch + seq_tup_read AS read \
                     FROM pg_stat_user_tables WHERE relname = 'otps'";
        let found: Read = diesel::sql_query(query).get_result(&mut conn).unwrap();
        // The server tells after a while.
        if found.gone == OLD {
            break found.read;
        }
        assert!(Instant::now() < until, "nothing was told");
        tokio::time::sleep(Duration::from_millis(200)).await;
    };
    assert!(read < 5_000, "{read} rows were read");
}
