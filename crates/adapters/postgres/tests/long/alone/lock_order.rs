//! Locks are always taken in one order: there are no deadlocks and no long waits.

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Double, Text};
use dwar_postgres::{PostgresStore, Settings};
use dwar_testkit::Stores;
use dwar_testkit::contract::together::{PortCall, Together};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Longest allowed wait for a lock.
const BOUND_MS: u64 = 100;
/// A wait caused by a busy machine does not recur with the same steps; one caused by the order of
/// locks does.
const TRIES: usize = 4;

/// A database of its own, because deadlocks are counted per database.
struct Database {
    server: String,
    name: String,
}

#[derive(QueryableByName)]
struct Number {
    #[diesel(sql_type = BigInt)]
    number: i64,
}

#[derive(QueryableByName)]
struct Waiting {
    #[diesel(sql_type = Double)]
    millis: f64,
}

impl Database {
    fn create(purpose: &str) -> Self {
        let server = std::env::var("DWAR_TEST_POSTGRES_URL")
            .expect("DWAR_TEST_POSTGRES_URL names a server for tests");
        let name = format!("dwar_locks_{purpose}_{}", std::process::id());
        let mut conn = PgConnection::establish(&server).unwrap();
        conn.batch_execute(&format!("CREATE DATABASE {name}")).unwrap();
        Self { server, name }
    }

    /// A deadlock is detected and counted long before any call times out.
    async fn store(&self) -> PostgresStore {
        let (base, _) = self.server.rsplit_once('/').unwrap();
        let options = "options=-c%20deadlock_timeout%3D200ms";
        let settings = Settings {
            pool_size: 8,
            acquire_timeout: Duration::from_secs(60),
            statement_timeout: Duration::from_secs(5),
            lock_timeout: Duration::from_secs(3),
            call_timeout: Duration::from_secs(60),
            ..Settings::new(format!("{base}/{}?{options}", self.name))
        };
        let store = PostgresStore::connect(settings).unwrap();
        store.migrate().await.unwrap();
        store
    }

    fn outside(&self) -> PgConnection {
        PgConnection::establish(&self.server).unwrap()
    }

    fn number(&self, query: &str) -> i64 {
        let query = diesel::sql_query(query).bind::<Text, _>(&self.name);
        query.get_result::<Number>(&mut self.outside()).unwrap().number
    }

    /// Number of deadlocks. A connection reports its own when it ends.
    fn deadlocks(&self) -> i64 {
        let connections = "SELECT count(*) AS number FROM pg_stat_activity WHERE datname = $1";
        while self.number(connections) > 0 {
            std::thread::sleep(Duration::from_millis(20));
        }
        self.number("SELECT deadlocks AS number FROM pg_stat_database WHERE datname = $1")
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let drop = format!("DROP DATABASE {} WITH (FORCE)", self.name);
        let _litter = self.outside().batch_execute(&drop);
    }
}

/// Checks every few milliseconds how long any connection has been waiting for a lock.
struct Watch {
    longest_ms: Arc<AtomicU64>,
    over: Arc<AtomicBool>,
}

impl Watch {
    fn start(database: &Database) -> Self {
        let watch = Self { longest_ms: Arc::default(), over: Arc::default() };
        let (longest, over) = (Arc::clone(&watch.longest_ms), Arc::clone(&watch.over));
        let (mut conn, name) = (database.outside(), database.name.clone());
        std::thread::spawn(move || {
            while !over.load(Ordering::Relaxed) {
                let waiting = diesel::sql_query(
                    "SELECT coalesce(max(extract(epoch FROM clock_timestamp() - l.waitstart)), 0) \
                     ::float8 * 1000 AS millis FROM pg_locks l \
                     JOIN pg_stat_activity a USING (pid) \
                     WHERE NOT l.granted AND a.datname = $1",
                );
                let found = waiting.bind::<Text, _>(&name).get_result::<Waiting>(&mut conn);
                #[allow(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "a time"
                )]
                longest.fetch_max(found.map_or(0.0, |w| w.millis) as u64, Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        watch
    }

    /// The longest wait since the last call, in milliseconds.
    fn longest(&self) -> u64 {
        self.longest_ms.swap(0, Ordering::Relaxed)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

async fn get_along(purpose: &str, rounds: usize, all: Vec<Vec<PortCall>>) {
    let database = Database::create(purpose);
    let store = Arc::new(database.store().await);
    let together = Together::open(&Stores::from(&store)).await;
    let watch = Watch::start(&database);
    for steps in all {
        let mut waits = Vec::new();
        for round in 0..rounds * TRIES {
            together.round(&steps).await;
            waits.push(watch.longest());
            let long = waits.iter().filter(|wait| **wait > BOUND_MS).count();
            assert!(long < TRIES, "{steps:?} wait for each other: {waits:?} ms");
            if long == 0 && round + 1 == rounds {
                break;
            }
        }
    }
    drop(watch);
    drop(together);
    drop(store);
    assert_eq!(database.deadlocks(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn no_pair_of_steps_deadlocks_or_waits_long() {
    get_along("pairs", 2, Together::pairs()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn no_triple_of_locking_steps_deadlocks_or_waits_long() {
    get_along("triples", 3, Together::triples()).await;
}
