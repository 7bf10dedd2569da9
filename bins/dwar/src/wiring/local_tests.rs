use super::*;
use dwar_activity::installation::{KeyHolder, StoredKeys};
use dwar_turns::Load;

/// A database whose attempts to write, and whose word on being read-only, have these results in turn.
struct Played {
    writes: Mutex<Vec<Result<Option<u64>, StoreError>>>,
    is_read_only: Option<bool>,
}

#[async_trait]
impl Database for Played {
    async fn migrate(&self, _: Arc<dyn KeyHolder>) -> Result<Vec<String>, StoreError> {
        Ok(Vec::new())
    }

    async fn look_for_keys(&self) -> Result<StoredKeys, StoreError> {
        Ok(StoredKeys::default())
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
        self.prove_writable().await
    }

    async fn is_read_only(&self) -> Result<bool, StoreError> {
        self.is_read_only.ok_or_else(busy)
    }

    async fn prove_writable(&self) -> Result<Option<u64>, StoreError> {
        self.writes.lock().unwrap().remove(0)
    }

    fn load(&self) -> Load {
        Load::default()
    }
}

fn busy() -> StoreError {
    StoreError::Unavailable("every connection is in use".to_owned())
}

fn locked() -> StoreError {
    StoreError::Unreachable { told: "SQLite is locked", cause: "database is locked".into() }
}

#[tokio::test]
async fn one_write_in_vain_does_not_make_a_database_read_only() {
    let free = || Ok(Some(7));
    let (refused, writable) = (DatabaseState::ReadOnly, DatabaseState::Writable(Some(7)));
    for (writes, says, by_writing, by_reading) in [
        (vec![free()], Some(false), writable.clone(), writable.clone()),
        (vec![Err(locked()), free()], Some(false), writable.clone(), DatabaseState::Unknown),
        (vec![Err(busy()), free()], Some(false), writable, DatabaseState::Unknown),
        (vec![Err(locked()), Err(busy())], Some(false), refused.clone(), DatabaseState::Unknown),
        (vec![Err(busy())], Some(true), refused.clone(), refused),
        (vec![Err(busy())], None, DatabaseState::Unknown, DatabaseState::Unknown),
        (vec![Err(StoreError::NoRoom)], Some(false), DatabaseState::Full, DatabaseState::Full),
        (
            vec![Err(busy()), Err(StoreError::NoRoom)],
            Some(false),
            DatabaseState::Full,
            DatabaseState::Unknown,
        ),
    ] {
        let told = format!("{writes:?} {says:?}");
        let mut again = Vec::new();
        for write in &writes {
            again.push(match write {
                Ok(free) => Ok(*free),
                Err(StoreError::NoRoom) => Err(StoreError::NoRoom),
                Err(_) => Err(busy()),
            });
        }
        let played = |writes| Played { writes: Mutex::new(writes), is_read_only: says };
        assert_eq!(by_writes(&played(writes)).await, by_writing, "{told}");
        assert_eq!(by_reads(&played(again)).await, by_reading, "{told}");
    }
}
