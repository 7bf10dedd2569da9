//! Two processes behind a PgBouncer in transaction mode, which has fewer connections than they use.

use crate::common::{Database, Service, World, at_once, tally};
use dwar_testkit::Pooler;
use serde_json::json;

const KEY: &str = "Vg4Xk0rYfFz1P8mJq7yq2cS0hVd3Zk9uLw5t1oRb6nE=";
/// As in docs/operations/postgresql.md, with a recognisable time-out.
const SESSION: &str = "SET statement_timeout = 1987; SET lock_timeout = 2000; \
    SET idle_in_transaction_session_timeout = 4000; SET plan_cache_mode = force_generic_plan; \
    SET enable_seqscan = off; SET enable_hashjoin = off; \
    SET enable_mergejoin = off; SET jit = off";
/// Most server connections of the pooler.
const CONNECTIONS: u32 = 3;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs DWAR_TEST_POSTGRES_URL and DWAR_TEST_PGBOUNCER"]
async fn through_a_pooler_two_processes_serve_as_they_do_without() {
    let database = Database::postgres().await;
    let direct = database.url();
    let pooler = Pooler::start(&direct, database.folder(), CONNECTIONS, SESSION);
    let pooled = pooler.url(direct.rsplit_once('/').unwrap().1);
    let world = |database| {
        World::new(database)
            .with("DWAR__SECRETS__MASTER_KEY", KEY)
            .with("DWAR__DATABASE__URL", &pooled)
            .with("DWAR__DATABASE__DIRECT_URL", &direct)
            .with("DWAR__DATABASE__TIMEOUT_MS", "20000")
            .with("DWAR__GATEWAYS__WHATSAPP", "")
            .with("DWAR__LIMITS__TEST__GENERAL_PER_MINUTE", "320")
    };
    let one = Service::start_in(world(database));
    let two = Service::start_in(world(Database::None));
    let project = one.world.project("1000");
    let switches = ["--identity-lookup", "on", "--identity-delete", "on"];
    one.world.cli(&[&["project", "set", "--project", &project.id][..], &switches[..]].concat());

    // Every endpoint, for many users at once, with the two halves on different processes.
    let users = (0..24).map(|number| {
        let (key, phone) = (project.test.clone(), format!("98765{number:05}"));
        let (first, second) = if number % 2 == 0 { (&one, &two) } else { (&two, &one) };
        async move {
            first.send(&key, &phone).await.ok();
            let code = second.code(&key, &phone).await;
            let pair = first.verify(&key, &phone, &code).await.ok();
            assert!(second.validate(&key, &pair["access_token"]).await.ok()["valid"] == true);
            let pair = first.refresh(&key, &pair["refresh_token"]).await.ok();
            let identity = format!("/v1/identity/{}", pair["identity_id"].as_str().unwrap());
            second.get(&key, &identity).await.ok();
            first.logout(&key, &pair["access_token"]).await.ok();
            second.delete(&key, &identity).await.ok();
        }
    });
    futures_util::future::join_all(users).await;

    // Of many right codes at once one counts, and money is held and captured.
    let phone = one.world.phone();
    one.send(&project.live, &phone).await.ok();
    let code = one.code(&project.live, &phone).await;
    let body = json!({ "phone": phone, "code": code });
    let guesses =
        (0..60).map(|number| [&one, &two][number % 2].call(&project.live, "/v1/otp/verify", &body));
    assert_eq!(tally(&at_once(guesses).await)["200"], 1);
    one.world.audit();
    let report = one.world.cli(&["doctor"]);
    let set_up = report["checks"].as_array().unwrap().iter().find(|it| it["name"] == "set-up");
    let told = "statement_timeout is 1987, but should be 20000";
    assert!(set_up.unwrap()["detail"].as_str().unwrap().contains(told), "{report}");

    // No session state was left behind for the next, and there were no more connections than
    // allowed.
    let held = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = \
        (SELECT oid FROM pg_database WHERE datname = current_database())";
    assert_eq!(one.world.database.number(held).await, 0);
    let sessions = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
        AND pid <> pg_backend_pid()";
    assert!(one.world.database.number(sessions).await <= i64::from(CONNECTIONS));
    let (client, connection) =
        tokio_postgres::connect(&pooled, tokio_postgres::NoTls).await.unwrap();
    let driving = tokio::spawn(connection);
    for _ in 0..20 {
        let row = client.query_one("SELECT current_setting('statement_timeout')", &[]).await;
        assert_eq!(row.unwrap().get::<_, String>(0), "1987ms");
    }
    driving.abort();
}
