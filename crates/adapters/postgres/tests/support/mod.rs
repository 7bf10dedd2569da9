//! A schema of its own for every test, dropped at its end.

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::Text;
use dwar_postgres::{PostgresStore, Settings};
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

impl Database {
    /// Makes the schema.
    pub fn create() -> Self {
        let server = std::env::var("DWAR_TEST_POSTGRES_URL")
            .expect("DWAR_TEST_POSTGRES_URL names a server for tests");
        let mut conn = PgConnection::establish(&server).unwrap();
        let random = "SELECT 'dwar_test_' || md5(gen_random_uuid()::text) AS name";
        let schema = diesel::sql_query(random).get_result::<Name>(&mut conn).unwrap().name;
        conn.batch_execute(&format!("CREATE SCHEMA {schema}")).unwrap();
        Self { server, schema }
    }

    /// Settings that lead to the schema; every connection carries its name as `application_name`.
    pub fn settings(&self) -> Settings {
        let mark = if self.server.contains('?') { '&' } else { '?' };
        let (server, schema) = (&self.server, &self.schema);
        let options = format!("application_name={schema}&options=-c%20search_path%3D{schema}");
        Settings {
            pool_size: 8,
            // Two hundred at once have to queue for eight connections of a debug build.
            acquire_timeout: Duration::from_secs(60),
            call_timeout: Duration::from_secs(60),
            ..Settings::new(format!("{server}{mark}{options}"))
        }
    }

    /// A store with an up-to-date schema.
    pub async fn store(&self) -> PostgresStore {
        let store = PostgresStore::connect(self.settings()).unwrap();
        store.migrate().await.unwrap();
        store
    }

    /// A connection to the schema that belongs to nobody's pool.
    pub fn connection(&self) -> PgConnection {
        let mut conn = PgConnection::establish(&self.server).unwrap();
        conn.batch_execute(&format!("SET search_path = {}", self.schema)).unwrap();
        conn
    }

    /// The name that [`Database::settings`] gives to its connections.
    #[allow(dead_code, reason = "each test file compiles this module for itself")]
    pub fn application_name(&self) -> &str {
        &self.schema
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let mut conn = self.connection();
        conn.batch_execute(&format!("DROP SCHEMA {} CASCADE", self.schema)).unwrap();
    }
}
