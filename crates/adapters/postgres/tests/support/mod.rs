//! A schema of its own for every test, dropped at its end.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "everything here runs inside tests")]
#![allow(dead_code, reason = "each test file compiles this module for itself")]

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Text};
use dwar_kernel::StoreError;
use dwar_postgres::{PostgresStore, Settings};
use dwar_project::{NewProject, ProjectChange, ProjectStore};
use dwar_testkit::Fixtures;
use std::time::Duration;

/// An empty schema on the server that `DWAR_TEST_POSTGRES_URL` names.
pub struct Database {
    server: String,
    schema: String,
}

#[derive(QueryableByName)]
struct Name {
    #[diesel(sql_type = Text)]
    name: String,
}

#[derive(QueryableByName)]
struct Count {
    #[diesel(sql_type = BigInt)]
    count: i64,
}

impl Database {
    pub fn create() -> Self {
        let server = std::env::var("DWAR_TEST_POSTGRES_URL")
            .expect("DWAR_TEST_POSTGRES_URL names a server for tests");
        let mut conn = PgConnection::establish(&server).unwrap();
        let random = "SELECT 'dwar_test_' || md5(gen_random_uuid()::text) AS name";
        let schema = diesel::sql_query(random).get_result::<Name>(&mut conn).unwrap().name;
        conn.batch_execute(&format!("CREATE SCHEMA {schema}")).unwrap();
        Self { server, schema }
    }

    pub fn schema(&self) -> &str {
        &self.schema
    }

    /// Settings for the schema; every connection has the schema's name as `application_name`.
    pub fn settings(&self) -> Settings {
        let mark = if self.server.contains('?') { '&' } else { '?' };
        let (server, schema) = (&self.server, &self.schema);
        let options = format!("application_name={schema}&options=-c%20search_path%3D{schema}");
        Settings {
            pool_size: 8,
            // Two hundred concurrent calls have to queue for eight connections of a debug build.
            acquire_timeout: Duration::from_secs(60),
            statement_timeout: Duration::from_secs(5),
            lock_timeout: Duration::from_secs(3),
            call_timeout: Duration::from_secs(60),
            ..Settings::new(format!("{server}{mark}{options}"))
        }
    }

    pub async fn store(&self) -> PostgresStore {
        let store = PostgresStore::connect(self.settings()).unwrap();
        store.migrate().await.unwrap();
        store
    }

    /// A connection to the schema outside of any pool.
    pub fn connection(&self) -> PgConnection {
        let mut conn = PgConnection::establish(&self.server).unwrap();
        conn.batch_execute(&format!("SET search_path = {}", self.schema)).unwrap();
        conn
    }

    /// Cuts the store's connections, and returns their number.
    pub fn cut_connections(&self) -> i64 {
        // Not as a condition, because that might be evaluated for other rows too.
        self.count(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
                    WHERE application_name = $1",
        )
    }

    /// Number of the store's connections that wait for a lock.
    pub fn blocked(&self) -> i64 {
        self.count(
            "SELECT count(*) FROM pg_stat_activity \
                    WHERE application_name = $1 AND wait_event_type = 'Lock'",
        )
    }

    /// Number of the store's connections with an open transaction.
    pub fn in_transaction(&self) -> i64 {
        self.count(
            "SELECT count(*) FROM pg_stat_activity \
                    WHERE application_name = $1 AND xact_start IS NOT NULL",
        )
    }

    pub fn rows(&self, table: &str) -> i64 {
        let query = diesel::sql_query(format!("SELECT count(*) FROM {table}"));
        query.get_result::<Count>(&mut self.connection()).unwrap().count
    }

    /// Number of rows of a table with the blind index of a phone.
    pub fn phones(&self, table: &str, index: &[u8]) -> i64 {
        let query = format!("SELECT count(*) FROM {table} WHERE phone_index = $1");
        let query = diesel::sql_query(query).bind::<Binary, _>(index);
        query.get_result::<Count>(&mut self.connection()).unwrap().count
    }

    pub fn run_with(&self, query: &str, parameter: i64) {
        let query = diesel::sql_query(query).bind::<BigInt, _>(parameter);
        query.execute(&mut self.connection()).unwrap();
    }

    fn count(&self, query: &str) -> i64 {
        let query = diesel::sql_query(query).bind::<Text, _>(&self.schema);
        query.get_result::<Count>(&mut self.connection()).unwrap().count
    }

    /// Waits until `number` of the store's connections wait for a lock.
    pub async fn until_blocked(&self, number: i64) {
        while self.blocked() < number {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let mut conn = self.connection();
        conn.batch_execute(&format!("DROP SCHEMA {} CASCADE", self.schema)).unwrap();
    }
}

pub async fn project(store: &PostgresStore, make: &Fixtures) -> NewProject {
    let project = make.project();
    store.create(project.clone(), make.keys()).await.unwrap();
    project
}

pub fn renamed() -> ProjectChange {
    ProjectChange { name: Some("Renamed".to_owned()), ..ProjectChange::default() }
}

/// Asserts that the answer is [`StoreError::Unavailable`].
pub fn assert_unavailable<T: std::fmt::Debug>(answer: Result<T, StoreError>) {
    let is_away = |cause: &StoreError| {
        matches!(cause, StoreError::Unavailable(_) | StoreError::Unreachable { .. })
    };
    assert!(answer.as_ref().is_err_and(is_away), "{answer:?}");
}
