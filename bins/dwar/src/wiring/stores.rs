use super::error::WiringError;
use crate::bounds::database_url::{self, DatabaseUrl};
use crate::config::{self, invalid};
use async_trait::async_trait;
use dwar_activity::installation::{KeyHolder, StoredKeys};
use dwar_app::Stores;
use dwar_console::ConsoleStores;
use dwar_kernel::{StoreError, Timestamp};
use dwar_memory::MemoryStore;
use dwar_postgres::PostgresStore;
use dwar_ratelimit::QuotaLeases;
use dwar_sqlite::SqliteStore;
use dwar_turns::Load;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub const MIB: u64 = 1 << 20;

pub struct Opened {
    pub stores: Stores,
    pub console: ConsoleStores,
    pub database: Arc<dyn Database>,
    /// Shares of quotas among several instances; `None` if one process serves.
    pub leases: Option<Arc<dyn QuotaLeases>>,
}

/// The database as a whole, for its operator.
#[async_trait]
pub trait Database: Send + Sync {
    /// Migrates the schema and records the keys of this process, if the database belongs to them.
    /// Returns the applied migrations.
    async fn migrate(&self, keys: Arc<dyn KeyHolder>) -> Result<Vec<String>, StoreError>;
    /// Reads the record of the keys that the database belongs to. Changes nothing.
    async fn look_for_keys(&self) -> Result<StoredKeys, StoreError>;
    /// Lists the migrations that [`Database::migrate`] would apply.
    async fn pending_migrations(&self) -> Result<Vec<String>, StoreError>;
    /// Lists the tables of its schema, without the one of migrations.
    async fn tables(&self) -> Result<Vec<String>, StoreError>;
    async fn ping(&self) -> Result<(), StoreError>;
    /// Reads the database's own clock; `None` if it uses the clock of this machine.
    async fn clock(&self) -> Result<Option<Timestamp>, StoreError> {
        Ok(None)
    }
    /// Refuses a server that the service cannot rely on.
    async fn check_engine(&self) -> Result<(), StoreError> {
        Ok(())
    }
    /// Describes the parts of its set-up that the service cannot rely on.
    async fn cautions(&self) -> Result<Vec<String>, StoreError>;
    /// Returns an error for each row that cannot be decoded and that lists leave out.
    async fn unreadable(&self) -> Result<Vec<StoreError>, StoreError>;
    /// Checks that it has disk space, and returns the free bytes where that can be known.
    async fn room(&self) -> Result<Option<u64>, StoreError>;
    /// Tells whether it reports to be read-only. Does not write.
    async fn is_read_only(&self) -> Result<bool, StoreError> {
        Ok(false)
    }
    /// Proves that writes work with a write that is committed; otherwise as [`Database::room`].
    async fn prove_writable(&self) -> Result<Option<u64>, StoreError>;
    /// Returns the damage in its file, for SQLite. Reads the whole file.
    async fn damage(&self) -> Result<Option<String>, StoreError> {
        Ok(None)
    }
    /// Reports how its queues and connections are used, without a query.
    fn load(&self) -> Load;
}

macro_rules! is_database {
    ($store:ty $(, $own:ident -> $told:ty: $call:expr)*) => {
        #[async_trait]
        impl Database for $store {
            async fn migrate(&self, keys: Arc<dyn KeyHolder>) -> Result<Vec<String>, StoreError> {
                let applied = <$store>::migrate_for(self, keys).await?;
                if !applied.is_empty() {
                    tracing::info!(?applied, "database migrated");
                }
                Ok(applied)
            }

            async fn look_for_keys(&self) -> Result<StoredKeys, StoreError> {
                <$store>::look_for_keys(self).await
            }

            async fn pending_migrations(&self) -> Result<Vec<String>, StoreError> {
                <$store>::pending_migrations(self).await
            }

            async fn tables(&self) -> Result<Vec<String>, StoreError> {
                <$store>::tables(self).await
            }

            async fn ping(&self) -> Result<(), StoreError> {
                <$store>::ping(self).await
            }

            async fn cautions(&self) -> Result<Vec<String>, StoreError> {
                <$store>::cautions(self).await
            }

            async fn unreadable(&self) -> Result<Vec<StoreError>, StoreError> {
                <$store>::unreadable(self).await
            }

            async fn room(&self) -> Result<Option<u64>, StoreError> {
                <$store>::room(self).await
            }

            async fn prove_writable(&self) -> Result<Option<u64>, StoreError> {
                <$store>::prove_writable(self).await
            }

            fn load(&self) -> Load {
                <$store>::load(self)
            }

            $(async fn $own(&self) -> Result<$told, StoreError> {
                $call(self).await
            })*
        }

        impl From<$store> for Opened {
            fn from(store: $store) -> Self {
                let store = Arc::new(store);
                Self { stores: (&store).into(), console: (&store).into(), database: store, leases: None }
            }
        }
    };
}

is_database!(SqliteStore, damage -> Option<String>: SqliteStore::damage);
is_database!(
    PostgresStore,
    clock -> Option<Timestamp>: server_clock,
    is_read_only -> bool: PostgresStore::is_read_only,
    check_engine -> (): PostgresStore::check_engine
);

async fn server_clock(store: &PostgresStore) -> Result<Option<Timestamp>, StoreError> {
    store.clock().await.map(Some)
}

/// Always migrated and reachable. Only this process uses it, so it is never opened with other keys.
#[async_trait]
impl Database for MemoryStore {
    async fn migrate(&self, keys: Arc<dyn KeyHolder>) -> Result<Vec<String>, StoreError> {
        keys.claim(&StoredKeys { is_empty: true, ..StoredKeys::default() }).map(|_| Vec::new())
    }

    async fn look_for_keys(&self) -> Result<StoredKeys, StoreError> {
        Ok(StoredKeys { is_empty: true, ..StoredKeys::default() })
    }

    async fn pending_migrations(&self) -> Result<Vec<String>, StoreError> {
        Ok(Vec::new())
    }

    async fn tables(&self) -> Result<Vec<String>, StoreError> {
        Ok(Vec::new())
    }

    async fn ping(&self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn cautions(&self) -> Result<Vec<String>, StoreError> {
        Ok(Vec::new())
    }

    async fn unreadable(&self) -> Result<Vec<StoreError>, StoreError> {
        Ok(Vec::new())
    }

    async fn room(&self) -> Result<Option<u64>, StoreError> {
        Ok(None)
    }

    async fn prove_writable(&self) -> Result<Option<u64>, StoreError> {
        Ok(None)
    }

    fn load(&self) -> Load {
        Load::default()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Changes and creates nothing: no file, no key.
    Read,
    /// Creates the database if it does not exist.
    Write,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    Sqlite(PathBuf),
    Postgres,
    /// The memory of this process, while it runs.
    Memory,
}

impl Location {
    /// Parses `database.url`.
    pub fn of(database: &config::Database) -> Result<Self, WiringError> {
        let read = database_url::read(database.url.expose());
        match read.map_err(|problem| invalid("database.url", problem))? {
            DatabaseUrl::Sqlite(path) => Ok(Self::Sqlite(PathBuf::from(path))),
            DatabaseUrl::Postgres => Ok(Self::Postgres),
            DatabaseUrl::Memory => Ok(Self::Memory),
        }
    }
}

impl Opened {
    /// Opens the configured database. PostgreSQL is connected at first use.
    pub fn open(
        location: &Location,
        database: &config::Database,
        access: Access,
    ) -> Result<Self, WiringError> {
        let patience = Duration::from_millis(database.timeout_ms);
        match location {
            Location::Sqlite(path) => {
                let settings = dwar_sqlite::Settings {
                    readers: database.connections,
                    busy_timeout: patience,
                    patience,
                    min_free: database.min_free_mb.saturating_mul(MIB),
                    read_only: access == Access::Read,
                    ..dwar_sqlite::Settings::new(path)
                };
                Ok(SqliteStore::open(settings)?.into())
            }
            Location::Postgres => {
                let direct = Some(database.direct_url.expose()).filter(|url| !url.is_empty());
                let settings = dwar_postgres::Settings {
                    direct_url: direct.map(str::to_owned),
                    pool_size: database.connections,
                    ..dwar_postgres::Settings::within(patience, database.url.expose())
                };
                let direct = settings.direct();
                direct.map_err(|e| invalid("database.direct_url", e.to_string()))?;
                let connected = PostgresStore::connect(settings);
                let store = connected.map_err(|e| invalid("database.url", e.to_string()))?;
                let leases: Arc<dyn QuotaLeases> = Arc::new(store.clone());
                Ok(Self { leases: Some(leases), ..store.into() })
            }
            Location::Memory => {
                let store = Arc::new(MemoryStore::default());
                Ok(Self {
                    stores: (&store).into(),
                    console: (&store).into(),
                    database: store,
                    leases: None,
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    #[test]
    fn both_databases_have_the_same_migrations() {
        let names = |database: &str| -> BTreeSet<String> {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations");
            let entries = std::fs::read_dir(folder.join(database)).unwrap();
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
        };
        assert!(!names("sqlite").is_empty());
        assert_eq!(names("sqlite"), names("postgres"));
    }

    /// Programs that open a store themselves, and tests, get the settings of an unconfigured
    /// service.
    #[test]
    fn the_stores_by_default_are_those_of_the_manual() {
        let manual = config::built_in([]).unwrap().database;
        let (sqlite, postgres) =
            (dwar_sqlite::Settings::new("x"), dwar_postgres::Settings::new("x"));
        assert_eq!([sqlite.readers, postgres.pool_size], [manual.connections; 2]);
        let patience = Duration::from_millis(manual.timeout_ms);
        assert_eq!([sqlite.patience, sqlite.busy_timeout], [patience; 2]);
        assert_eq!([postgres.acquire_timeout, postgres.statement_timeout], [patience; 2]);
        assert_eq!(sqlite.min_free, manual.min_free_mb * MIB);
    }
}
