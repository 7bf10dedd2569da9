//! What is on disk before it is answered: a crash of the server alone must not undo it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "everything here runs inside tests")]

mod support;

use diesel::prelude::*;
use diesel::sql_types::BigInt;
use dwar_kernel::KeyMode;
use dwar_otp::{GuessPolicy, OtpStore, Verdict};
use dwar_testkit::{CODE, Fixtures, START};
use support::{Database, project};

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

/// The session comes in a statement of its own: a server that crashed before it would give the code
/// out again.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn a_right_guess_is_on_disk() {
    let (database, make) = (Database::create(), Fixtures::random());
    let store = database.store().await;
    let mut conn = database.connection();
    let line = make.line(project(&store, &make).await.id, KeyMode::Live);
    // What others write is flushed now and then, too: one look might be lucky.
    for _ in 0..20 {
        store.issue(make.otp(&line)).await.unwrap();
        let before = position(&mut conn, "insert");
        let guess = make.guess(CODE);
        let verdict =
            store.judge(line.project, line.mode, line.index, guess, GuessPolicy::OFF, START).await;
        assert!(matches!(verdict.unwrap(), Verdict::Accepted(_)));
        assert!(position(&mut conn, "flush") > before, "the guess is not on disk");
    }
}
