//! Writes are on disk before they are answered: a crash of the server alone must not undo them.

use crate::support::{Database, project};
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use dwar_kernel::KeyMode;
use dwar_otp::{GuessPolicy, GuessVerdict};
use dwar_testkit::{CODE, Fixtures, START};

#[derive(QueryableByName)]
struct Position {
    #[diesel(sql_type = BigInt)]
    bytes: i64,
}

fn position(conn: &mut PgConnection, of: &str) -> i64 {
    let query =
        format!("SELECT pg_wal_lsn_diff(pg_current_wal_{of}_lsn(), '0/0')::bigint AS bytes");
    diesel::sql_query(query).get_result::<Position>(conn).unwrap().bytes
}

/// A provider is called for the send, and the session is handed out. A crashing server must forget
/// neither.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn a_send_and_a_right_guess_are_on_disk() {
    let (database, make) = (Database::create(), Fixtures::random());
    let store = database.store().await;
    let mut conn = database.connection();
    let line = make.line(project(&store, &make).await.id.in_mode(KeyMode::Live));
    // Writes of others are flushed now and then too, so a single check might pass by chance.
    for _ in 0..20 {
        let before = position(&mut conn, "insert");
        make.issue(&store, make.otp(&line)).await;
        assert!(position(&mut conn, "flush") > before, "the send is not on disk");
        let before = position(&mut conn, "insert");
        let verdict = make.judge(&store, &line, CODE, GuessPolicy::OFF, START).await;
        assert!(matches!(verdict, GuessVerdict::Accepted(_)));
        assert!(position(&mut conn, "flush") > before, "the guess is not on disk");
    }
}
