use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use tempfile::TempDir;
use tokio_postgres::NoTls;

/// A new database, which is deleted when this is dropped.
pub enum Database {
    Sqlite(TempDir),
    Postgres {
        folder: TempDir,
        server: String,
        name: String,
        /// The tablespace of its tables, which is deleted too.
        tablespace: Option<String>,
    },
    /// The database was deleted.
    None,
}

impl Database {
    pub fn sqlite() -> Self {
        Self::Sqlite(tempfile::tempdir().unwrap())
    }

    /// A file in a new folder below this one.
    pub fn sqlite_in(folder: &Path) -> Self {
        Self::Sqlite(tempfile::tempdir_in(folder).unwrap())
    }

    /// A new database on the server of DWAR_TEST_POSTGRES_URL.
    pub async fn postgres() -> Self {
        Self::postgres_with(None).await
    }

    /// Like [`Database::postgres`], with its tables in this folder of the server's machine.
    pub async fn postgres_in(folder: &Path) -> Self {
        Self::postgres_with(Some(folder)).await
    }

    async fn postgres_with(tables: Option<&Path>) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let server = postgres_server();
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("dwar_binary_{}_{count}", std::process::id());
        let tablespace = tables.map(|_| format!("{name}_tables"));
        let mut create = format!("CREATE DATABASE {name}");
        if let (Some(tables), Some(tablespace)) = (tables, &tablespace) {
            let sql = format!("CREATE TABLESPACE {tablespace} LOCATION '{}'", tables.display());
            execute(&server, &sql).await;
            create.push_str(&format!(" TABLESPACE {tablespace}"));
        }
        execute(&server, &create).await;
        Self::Postgres { folder: tempfile::tempdir().unwrap(), server, name, tablespace }
    }

    /// The data folder of the server of DWAR_TEST_POSTGRES_URL, if it is on this machine.
    pub async fn postgres_folder() -> Option<String> {
        let (client, connection) =
            tokio_postgres::connect(&postgres_server(), NoTls).await.unwrap();
        let driving = tokio::spawn(connection);
        let folder: String = client.query_one("SHOW data_directory", &[]).await.unwrap().get(0);
        driving.abort();
        Path::new(&folder).exists().then_some(folder)
    }

    pub fn folder(&self) -> &Path {
        match self {
            Self::Sqlite(folder) | Self::Postgres { folder, .. } => folder.path(),
            Self::None => Path::new("."),
        }
    }

    pub fn url(&self) -> String {
        match self {
            Self::Sqlite(folder) => format!("sqlite://{}/dwar.db", folder.path().display()),
            Self::Postgres { server, name, .. } => {
                let (base, _) = server.rsplit_once('/').unwrap();
                format!("{base}/{name}")
            }
            Self::None => String::new(),
        }
    }

    /// Checks a database file from its first page to its last; PostgreSQL checks its own.
    pub fn check(&self) {
        let Self::Sqlite(folder) = self else { return };
        let file = rusqlite::Connection::open(folder.path().join("dwar.db")).unwrap();
        let verdict = file.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0));
        assert_eq!(verdict.unwrap(), "ok");
        let mut orphans = file.prepare("PRAGMA foreign_key_check").unwrap();
        assert!(!orphans.exists([]).unwrap());
    }

    /// Every row of every table of a PostgreSQL database, as text.
    pub async fn rows(&self) -> Vec<(String, String)> {
        let Self::Postgres { .. } = self else { return Vec::new() };
        let (client, connection) = tokio_postgres::connect(&self.url(), NoTls).await.unwrap();
        let driving = tokio::spawn(connection);
        let tables =
            "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename";
        let mut found = Vec::new();
        for table in client.query(tables, &[]).await.unwrap() {
            let table: String = table.get(0);
            let rows = format!("SELECT coalesce(string_agg(t::text, E'\\n'), '') FROM {table} t");
            found.push((table, client.query_one(&rows, &[]).await.unwrap().get(0)));
        }
        driving.abort();
        assert!(!found.is_empty());
        found
    }

    /// The number that a query returns, without using the service.
    pub async fn number(&self, sql: &str) -> i64 {
        self.value(sql).await
    }

    /// Bytes of the only row that a query returns, without using the service.
    pub async fn bytes(&self, sql: &str) -> Vec<u8> {
        self.value(sql).await
    }

    async fn value<T>(&self, sql: &str) -> T
    where
        T: Default + rusqlite::types::FromSql + for<'row> tokio_postgres::types::FromSql<'row>,
    {
        match self {
            Self::Sqlite(folder) => {
                let file = rusqlite::Connection::open(folder.path().join("dwar.db")).unwrap();
                file.query_row(sql, [], |row| row.get(0)).unwrap()
            }
            Self::Postgres { .. } => {
                let connected = tokio_postgres::connect(&self.url(), NoTls).await;
                let (client, connection) = connected.unwrap();
                let driving = tokio::spawn(connection);
                let value = client.query_one(sql, &[]).await.unwrap().get(0);
                driving.abort();
                value
            }
            Self::None => T::default(),
        }
    }

    /// An id as an SQL literal of this database.
    pub fn id(&self, id: &str) -> String {
        match self {
            Self::Sqlite(_) => format!("x'{}'", id.replace('-', "")),
            _ => format!("'{id}'"),
        }
    }

    /// Drops a table while the service is running.
    pub async fn lose(&self, table: &str) {
        self.run(&format!("DROP TABLE {table}")).await;
    }

    pub async fn run(&self, sql: &str) {
        match self {
            Self::Sqlite(folder) => {
                let file = rusqlite::Connection::open(folder.path().join("dwar.db")).unwrap();
                file.execute(sql, []).unwrap();
            }
            Self::Postgres { .. } => execute(&self.url(), sql).await,
            Self::None => {}
        }
    }

    /// Closes every connection to a PostgreSQL database and refuses new ones.
    pub async fn shut(&self) {
        let Self::Postgres { server, name, .. } = self else { return };
        execute(server, &format!("ALTER DATABASE {name} ALLOW_CONNECTIONS false")).await;
        let others = format!("FROM pg_stat_activity WHERE datname = '{name}'");
        execute(server, &format!("SELECT pg_terminate_backend(pid) {others}")).await;
    }

    /// Undoes [`Database::shut`].
    pub async fn reopen(&self) {
        let Self::Postgres { server, name, .. } = self else { return };
        execute(server, &format!("ALTER DATABASE {name} ALLOW_CONNECTIONS true")).await;
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if let Self::Postgres { server, name, tablespace, .. } = self {
            let mut steps = vec![format!("DROP DATABASE {name} WITH (FORCE)")];
            steps.extend(tablespace.iter().map(|name| format!("DROP TABLESPACE {name}")));
            let server = server.clone();
            // A separate runtime, because this one may be shutting down.
            let dropping = std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                let runtime = runtime.unwrap();
                steps.iter().for_each(|sql| runtime.block_on(execute(&server, sql)));
            });
            let _a_failed_drop_only_leaves_litter = dropping.join();
        }
    }
}

fn postgres_server() -> String {
    std::env::var("DWAR_TEST_POSTGRES_URL")
        .expect("DWAR_TEST_POSTGRES_URL names a server; scripts/test.sh starts one")
}

async fn execute(url: &str, sql: &str) {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    let driving = tokio::spawn(connection);
    client.batch_execute(sql).await.unwrap();
    driving.abort();
}
