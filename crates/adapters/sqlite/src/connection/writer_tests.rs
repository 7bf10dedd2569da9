use super::*;
use crate::connection::error::Failure;
use crate::{Settings, SqliteStore};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use dwar_kernel::ProjectId;
use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};
use tokio::task::JoinHandle;

diesel::table! {
    notes (text) {
        text -> Text,
    }
}

struct Scene {
    store: SqliteStore,
    _folder: tempfile::TempDir,
}

impl Scene {
    async fn open() -> Self {
        Self::with(|settings| settings).await
    }

    async fn with(change: impl FnOnce(Settings) -> Settings) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let settings = change(Settings::new(folder.path().join("t.db")));
        let store = SqliteStore::open(settings).unwrap();
        let table = "CREATE TABLE notes (text text PRIMARY KEY);
             CREATE TABLE remarks (text text REFERENCES notes (text) DEFERRABLE INITIALLY DEFERRED)";
        store.write("test", |connection| Ok(connection.batch_execute(table)?)).await.unwrap();
        Self { store, _folder: folder }
    }

    /// Keeps the writer busy until the sender is dropped, so that later writes share one commit.
    async fn hold(&self) -> (Sender<()>, JoinHandle<Result<(), StoreError>>) {
        let (release, held) = channel::<()>();
        let (begun, running) = oneshot::channel();
        let work = move |_: &mut SqliteConnection| {
            let _ = begun.send(());
            let _ = held.recv();
            Ok(())
        };
        let store = self.store.clone();
        let holder = tokio::spawn(async move { store.write("test", work).await });
        running.await.unwrap();
        (release, holder)
    }

    /// Puts work into the queue and returns once it is queued.
    async fn queue<F>(&self, work: F) -> JoinHandle<Result<(), StoreError>>
    where
        F: FnOnce(&mut SqliteConnection) -> Result<(), Failure> + Send + 'static,
    {
        let store = self.store.clone();
        let task = tokio::spawn(async move { store.write("test", work).await });
        tokio::task::yield_now().await;
        task
    }

    /// Like [`Scene::queue`], for a project; records its number when it is done.
    async fn number(
        &self,
        project: u8,
        number: u32,
        done: &Arc<Mutex<Vec<u32>>>,
    ) -> JoinHandle<Result<(), StoreError>> {
        let (store, done) = (self.store.of(project_id(project)), Arc::clone(done));
        let work = move |_: &mut SqliteConnection| {
            done.lock().unwrap().push(number);
            Ok(())
        };
        let task = tokio::spawn(async move { store.write("test", work).await });
        tokio::task::yield_now().await;
        task
    }

    async fn note(&self, text: &'static str) -> JoinHandle<Result<(), StoreError>> {
        self.queue(move |connection| insert(connection, text)).await
    }

    async fn notes(&self) -> Vec<String> {
        let all = notes::table.select(notes::text).order(notes::text);
        self.store.read("test", move |connection| Ok(all.load(connection)?)).await.unwrap()
    }
}

fn project_id(number: u8) -> ProjectId {
    format!("00000000-0000-4000-8000-0000000000{number:02x}").parse().unwrap()
}

fn insert(connection: &mut SqliteConnection, text: &str) -> Result<(), Failure> {
    diesel::insert_into(notes::table).values(notes::text.eq(text)).execute(connection)?;
    Ok(())
}

/// Inserts a row that breaks a constraint which SQLite checks only at the commit.
fn break_at_commit(connection: &mut SqliteConnection) -> Result<(), Failure> {
    Ok(connection.batch_execute("INSERT INTO remarks VALUES ('on nothing')")?)
}

#[tokio::test]
async fn failing_and_panicking_work_undoes_itself_alone() {
    let scene = Scene::open().await;
    let (release, _) = scene.hold().await;
    let first = scene.note("first").await;
    let refused = scene.note("first").await;
    let failed = scene
        .queue(|connection| {
            insert(connection, "failed")?;
            Err(Failure::Store(unavailable("on purpose")))
        })
        .await;
    let panicked = scene
        .queue(|connection| {
            insert(connection, "panicked")?;
            panic!("on purpose")
        })
        .await;
    let last = scene.note("last").await;
    drop(release);
    first.await.unwrap().unwrap();
    last.await.unwrap().unwrap();
    assert!(matches!(refused.await.unwrap(), Err(StoreError::Failed(_))));
    assert!(matches!(failed.await.unwrap(), Err(StoreError::Unavailable(_))));
    assert!(matches!(panicked.await.unwrap(), Err(StoreError::Failed(_))));
    assert_eq!(scene.notes().await, ["first", "last"]);
}

#[tokio::test]
async fn a_failed_commit_fails_every_write_in_it_and_none_after_it() {
    let scene = Scene::open().await;
    let (release, holder) = scene.hold().await;
    let first = scene.note("first").await;
    let breaker = scene.queue(break_at_commit).await;
    let last = scene.note("last").await;
    drop(release);
    holder.await.unwrap().unwrap();
    for task in [first, breaker, last] {
        assert!(matches!(task.await.unwrap(), Err(StoreError::Unreachable { .. })));
    }
    assert!(scene.notes().await.is_empty());
    scene.note("after").await.await.unwrap().unwrap();
    assert_eq!(scene.notes().await, ["after"]);
}

/// SQLite ends the whole transaction by itself when the disk is full or failing.
#[tokio::test]
async fn a_transaction_that_ended_under_its_writes_fails_them_and_none_that_waited() {
    let scene = Scene::open().await;
    let (release, _) = scene.hold().await;
    let first = scene.note("first").await;
    let lost = scene.queue(|connection| Ok(connection.batch_execute("ROLLBACK")?)).await;
    let last = scene.note("last").await;
    drop(release);
    for task in [first, lost] {
        assert!(matches!(task.await.unwrap(), Err(StoreError::Unreachable { .. })));
    }
    last.await.unwrap().unwrap();
    scene.note("after").await.await.unwrap().unwrap();
    assert_eq!(scene.notes().await, ["after", "last"]);
}

/// Lets the file grow by this many pages at most.
fn limit(connection: &mut SqliteConnection, more: i64) -> Result<(), Failure> {
    #[derive(QueryableByName)]
    struct Count {
        #[diesel(sql_type = diesel::sql_types::BigInt)]
        page_count: i64,
    }
    let now = diesel::sql_query("PRAGMA page_count").get_result::<Count>(connection)?;
    let max = now.page_count + more;
    Ok(connection.batch_execute(&format!("PRAGMA max_page_count = {max}"))?)
}

fn fill(connection: &mut SqliteConnection) -> Result<(), Failure> {
    let filler = "INSERT INTO notes SELECT hex(zeroblob(100000))";
    Ok(connection.batch_execute(filler)?)
}

/// SQLite reports the same error for a full disk and for a file at its maximum size.
#[tokio::test]
async fn a_write_without_room_fails_alone_and_the_store_knows() {
    let scene = Scene::open().await;
    assert!(scene.store.room().await.is_ok());
    let (release, _) = scene.hold().await;
    let limited = scene.queue(|connection| limit(connection, 10)).await;
    let first = scene.note("first").await;
    let too_long = scene.queue(fill).await;
    let last = scene.note("last").await;
    drop(release);
    for fits in [limited, first, last] {
        fits.await.unwrap().unwrap();
    }
    assert!(matches!(too_long.await.unwrap(), Err(StoreError::NoRoom)));
    assert_eq!(scene.notes().await, ["first", "last"]);
    // Nothing else is tried, and the store is still full; reads continue.
    for _ in 0..3 {
        assert!(matches!(scene.store.room().await, Err(StoreError::NoRoom)));
    }
    assert_eq!(scene.notes().await, ["first", "last"]);
    scene.store.write("test", |connection| limit(connection, 1_000)).await.unwrap();
    assert!(scene.store.room().await.is_ok());
    scene.store.write("test", fill).await.unwrap();
}

/// SQLite undoes the whole transaction when a plain insert finds no room.
#[tokio::test]
async fn a_transaction_that_ends_for_want_of_room_fails_them_and_none_that_waited() {
    let scene = Scene::open().await;
    let (release, holder) = scene.hold().await;
    let limited = scene.queue(|connection| limit(connection, 10)).await;
    let first = scene.note("first").await;
    let too_long = scene
        .queue(|connection| {
            let plain = "INSERT INTO notes VALUES (hex(zeroblob(100000)))";
            Ok(connection.batch_execute(plain)?)
        })
        .await;
    let last = scene.note("last").await;
    drop(release);
    holder.await.unwrap().unwrap();
    for lost in [limited, first, too_long] {
        assert!(matches!(lost.await.unwrap(), Err(StoreError::NoRoom)));
    }
    last.await.unwrap().unwrap();
    assert_eq!(scene.notes().await, ["last"]);
    // The limit ended with the connection, so the first check finds space.
    assert!(scene.store.room().await.is_ok());
}

#[tokio::test]
async fn too_little_that_is_free_is_no_room_until_there_is_more() {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings::new(folder.path().join("t.db"));
    let store = SqliteStore::open(Settings { min_free: u64::MAX, ..settings.clone() }).unwrap();
    assert!(matches!(store.room().await, Err(StoreError::NoRoom)));
    // SQLite itself has no such limit.
    store.write("test", |c| Ok(c.batch_execute("CREATE TABLE t (x)")?)).await.unwrap();
    let store = SqliteStore::open(Settings { min_free: 1, ..settings }).unwrap();
    assert!(store.room().await.unwrap().is_some_and(|free| free > 0));
}

#[tokio::test]
async fn a_write_that_nobody_waits_for_is_done_all_the_same() {
    let scene = Scene::open().await;
    let (release, _) = scene.hold().await;
    scene.note("abandoned").await.abort();
    drop(release);
    scene.note("after").await.await.unwrap().unwrap();
    assert_eq!(scene.notes().await, ["abandoned", "after"]);
}

#[tokio::test]
async fn a_full_queue_is_unavailable_after_the_patience() {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings {
        queue: 1,
        patience: Duration::from_millis(20),
        ..Settings::new(folder.path().join("t.db"))
    };
    let store = SqliteStore::open(settings).unwrap();
    let scene = Scene { store, _folder: folder };
    let (release, _) = scene.hold().await;
    let waiting = scene.queue(|_| Ok(())).await;
    let refused = scene.store.write("test", |_| Ok(())).await;
    assert!(matches!(refused, Err(StoreError::Unavailable(_))));
    drop(release);
    waiting.await.unwrap().unwrap();
}

/// Within one batch as between batches: a job that arrives during a flood waits only for the
/// running batch.
#[tokio::test]
async fn a_flood_of_one_project_lets_another_go_first_but_one() {
    let scene = Scene::open().await;
    let done = Arc::default();
    let (release, _) = scene.hold().await;
    let mut flood = Vec::new();
    for number in 0..500 {
        flood.push(scene.number(1, number, &done).await);
    }
    let other = scene.number(2, 1_000, &done).await;
    let nobody = scene.queue(|_| Ok(())).await;
    drop(release);
    other.await.unwrap().unwrap();
    nobody.await.unwrap().unwrap();
    for task in flood {
        task.await.unwrap().unwrap();
    }
    let expected: Vec<u32> = [0, 1_000].into_iter().chain(1..500).collect();
    assert_eq!(*done.lock().unwrap(), expected);
}

#[tokio::test]
async fn a_full_queue_lets_another_project_in_for_the_newest_of_the_flood() {
    let scene = Scene::with(|settings| Settings { queue: 4, ..settings }).await;
    let done = Arc::default();
    let (release, _) = scene.hold().await;
    let mut flood = Vec::new();
    for number in 0..4 {
        flood.push(scene.number(1, number, &done).await);
    }
    // Two more arrive and wait for space: one of another project, and one that no longer fits.
    let waits = scene.number(1, 4, &done).await;
    let other = scene.number(2, 10, &done).await;
    let pushed_out = tokio::time::timeout(Duration::from_secs(10), flood.pop().unwrap()).await;
    assert!(matches!(pushed_out.unwrap().unwrap(), Err(StoreError::Unavailable(_))));
    assert!(!waits.is_finished() && !other.is_finished());
    drop(release);
    other.await.unwrap().unwrap();
    waits.await.unwrap().unwrap();
    for task in flood {
        task.await.unwrap().unwrap();
    }
    assert_eq!(*done.lock().unwrap(), [0, 10, 1, 2, 4]);
}

/// More than one batch, so that not only the first check of the queue finds space.
#[tokio::test]
async fn all_who_wait_for_room_get_it() {
    let scene = Scene::with(|settings| Settings { queue: 3, ..settings }).await;
    let done = Arc::default();
    let (release, _) = scene.hold().await;
    let mut tasks = Vec::new();
    for number in 0..400 {
        tasks.push(scene.number(1, number, &done).await);
    }
    drop(release);
    for task in tasks {
        task.await.unwrap().unwrap();
    }
    assert_eq!(done.lock().unwrap().len(), 400);
}

#[tokio::test]
async fn what_is_queued_is_done_before_the_file_is_at_rest() {
    let scene = Scene::open().await;
    let done = Arc::default();
    let (release, holder) = scene.hold().await;
    let mut tasks = vec![holder];
    for number in 0..300 {
        tasks.push(scene.number(1, number, &done).await);
    }
    for task in tasks {
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
    }
    let closing = std::thread::spawn(move || drop(scene));
    drop(release);
    closing.join().unwrap();
    assert_eq!(done.lock().unwrap().len(), 300);
}

/// The thread survives panicking work, so only a fault of its own can end it.
#[tokio::test]
async fn when_the_thread_has_ended_nobody_waits_for_it() {
    let scene = Scene::with(|settings| Settings { queue: 1, ..settings }).await;
    let done = Arc::default();
    let (release, _) = scene.hold().await;
    let queued = scene.number(1, 0, &done).await;
    let waits_for_room = scene.number(1, 1, &done).await;
    drop(WriterGuard(Arc::clone(&scene.store.writer().writes)));
    for lost in [queued, waits_for_room, scene.number(2, 2, &done).await] {
        assert!(matches!(lost.await.unwrap(), Err(StoreError::Unavailable(_))));
    }
    drop(release);
}

#[tokio::test]
async fn a_reader_cannot_write() {
    let scene = Scene::open().await;
    let refused = scene.store.read("test", |connection| insert(connection, "sneaked in")).await;
    assert!(refused.is_err());
    assert!(scene.notes().await.is_empty());
}
