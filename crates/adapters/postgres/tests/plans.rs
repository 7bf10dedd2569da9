//! How statements are planned by a server that has no statistics, or old ones.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "everything here runs inside tests")]

mod support;

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::Text;
use dwar_activity::{FiguresStore, Window};
use dwar_testkit::{Fixtures, START, minutes};
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
