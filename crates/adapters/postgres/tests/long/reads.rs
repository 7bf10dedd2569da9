//! How much of tables that have grown is read for pages and alerts.

use crate::support::{Database, project};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use dwar_activity::{FigureSpan, FiguresStore, Grain, Interval};
use dwar_kernel::{KeyMode, OtpId, ProjectId};
use dwar_otp::AttemptHistory;
use dwar_postgres::{PostgresStore, Settings};
use dwar_testkit::{Fixtures, START, minutes};
use std::time::{Duration, Instant};

#[derive(QueryableByName)]
struct Read {
    #[diesel(sql_type = BigInt)]
    rows: i64,
}

/// What `look` gives, and how many rows of these tables it read.
async fn rows_read<T>(
    database: &Database,
    tables: &str,
    look: impl AsyncFnOnce(&PostgresStore) -> T,
) -> (T, i64) {
    let mut conn = database.connection();
    let mut read = || {
        let query = format!(
            "SELECT coalesce(sum(idx_tup_fetch + seq_tup_read), 0)::bigint AS rows \
             FROM pg_stat_user_tables WHERE schemaname = current_schema AND relname IN ({tables})"
        );
        diesel::sql_query(query).get_result::<Read>(&mut conn).unwrap().rows
    };
    let before = read();
    let store = PostgresStore::connect(Settings { pool_size: 1, ..database.settings() }).unwrap();
    let found = look(&store).await;
    // A connection tells the server's statistics what it did when it ends, and else after ten idle seconds.
    drop(store);
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let rows = read() - before;
        if rows > 0 {
            return (found, rows);
        }
        assert!(Instant::now() < until, "nothing was told");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Hours of two projects and of many others.
fn figures([own, other]: [ProjectId; 2], until: &str) -> String {
    format!(
        "INSERT INTO figures (project_id, mode, grain, began_at, channel, provider, attempts, accepted, \
         arrived, failed, requests, delivered, verified, spent, times, delivery_times, causes) \
         SELECT CASE p WHEN 0 THEN '{own}' WHEN 1 THEN '{other}' ELSE md5(p::text)::uuid END, 'live', \
         'hour', '{until}'::timestamptz - h * interval '1 hour', 'sms', 'meta', 1, 1, 1, 0, 1, 1, 1, 20, '', '', '' \
         FROM generate_series(0, 299) p, generate_series(1, 100) h; \
         ANALYZE figures; SELECT pg_stat_force_next_flush()"
    )
}

/// Codes in the order of their ids, each with an attempt; all but the oldest are of test keys.
fn codes(project: ProjectId, id: &str) -> String {
    format!(
        "INSERT INTO otps (id, project_id, mode, phone_index, phone_sealed, code_key, code_mac, state, wrong, \
         max_wrong, status, created_at, expires_at, version) \
         SELECT ('{id}-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, '{project}', \
         CASE WHEN n <= 1000 THEN 'live' ELSE 'test' END, int4send(n), '', 1, '', 'used', 0, 5, 'sent', now(), \
         now(), gen_random_uuid() FROM generate_series(1, 20000) n; \
         INSERT INTO otp_attempts (id, otp_id, position, channel, provider, status, changed_at) \
         SELECT gen_random_uuid(), id, 0, 'sms', 'meta', 'sent', now() FROM otps; \
         ANALYZE otps; ANALYZE otp_attempts; SELECT pg_stat_force_next_flush()"
    )
}

/// Else an overview, the list of projects and each look for what is wrong would slow down as a service grows.
#[tokio::test]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn figures_traffic_and_the_newest_attempts_are_found_by_an_index() {
    const NEWEST: u32 = 500;
    let (database, make) = (Database::create(), Fixtures::random());
    let store = database.store().await;
    let projects = [project(&store, &make).await.id, project(&store, &make).await.id];
    drop(store);
    let until = Grain::Hour.begin(START);
    let mut conn = database.connection();
    conn.batch_execute(&figures(projects, &until.to_rfc3339())).unwrap();
    let id = make.id_at::<OtpId>(START).to_string()[..13].to_owned();
    conn.batch_execute(&codes(projects[0], &id)).unwrap();
    drop(conn);

    let day = || {
        let window = Interval { from: until - minutes(24 * 60), until };
        vec![FigureSpan { grain: Grain::Hour, window }]
    };
    let project_mode = projects[0].in_mode(KeyMode::Live);
    let overview =
        async |store: &PostgresStore| store.figures(project_mode, day()).await.unwrap().len();
    assert_eq!(rows_read(&database, "'figures'", overview).await, (24, 24));
    let traffic = async |store: &PostgresStore| {
        let traffic = store.traffic(projects.to_vec(), KeyMode::Live, day()).await.unwrap();
        traffic.values().map(|sum| sum.requests).collect::<Vec<_>>()
    };
    assert_eq!(rows_read(&database, "'figures'", traffic).await, (vec![24, 24], 48));
    let newest = async |store: &PostgresStore| {
        store.newest_attempts(START - minutes(1), NEWEST).await.unwrap().len()
    };
    let (found, rows) = rows_read(&database, "'otps', 'otp_attempts'", newest).await;
    assert_eq!(found, 500);
    // Each of these has an attempt; of the many test codes since, none is read.
    assert!(rows <= 2 * i64::from(NEWEST) + 2, "{rows} rows were read");
}
