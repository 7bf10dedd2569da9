use crate::connection::error::Failure;
use crate::{Settings, SqliteStore};
use diesel::connection::InstrumentationEvent;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use dwar_kernel::StoreError;
use dwar_testkit::contract::together::{PortCall, Together};
use dwar_testkit::{Fixtures, START, Stores};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Calls that a request waits for. Background loops may prepare statements that they run rarely.
const OF_REQUESTS: &[PortCall] = &[
    PortCall::Prepare,
    PortCall::PrepareFree,
    PortCall::Redeem,
    PortCall::RedeemWrong,
    PortCall::ReportAccepted,
    PortCall::ReportFailed,
    PortCall::ReportRefused,
    PortCall::ReportFailedLate,
    PortCall::Deposit,
    PortCall::Rotate,
    PortCall::Revoke,
    PortCall::Begin,
    PortCall::Complete,
    PortCall::Abandon,
];

/// A prepared statement of a connection, as SQLite lists it.
#[derive(QueryableByName)]
struct Prepared {
    #[diesel(sql_type = Text)]
    sql: String,
    #[diesel(sql_type = BigInt)]
    run: i64,
    #[diesel(sql_type = BigInt)]
    reprep: i64,
}

type Counts = Arc<Mutex<BTreeMap<String, i64>>>;

fn watch(connection: &mut SqliteConnection, counts: &Counts) -> Result<(), Failure> {
    let counts = Arc::clone(counts);
    connection.set_instrumentation(move |event: InstrumentationEvent<'_>| {
        if let InstrumentationEvent::StartQuery { query, .. } = event {
            let text = query.to_string();
            let sql = text.split(" -- binds: ").next().unwrap_or_default().to_owned();
            *counts.lock().unwrap().entry(sql).or_default() += 1;
        }
    });
    Ok(())
}

/// Runs since the start: diesel's count minus SQLite's count of completed runs of its prepared
/// statements. Also how often SQLite had to prepare one of those again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Unprepared {
    run: BTreeMap<String, i64>,
    again: BTreeMap<String, i64>,
}

fn unprepared(connection: &mut SqliteConnection, counts: &Counts) -> Result<Unprepared, Failure> {
    let mut run = counts.lock().unwrap().clone();
    let mut again = BTreeMap::new();
    let prepared: Vec<Prepared> =
        diesel::sql_query("SELECT sql, run, reprep FROM sqlite_stmt").load(connection)?;
    for Prepared { sql, run: ran, reprep } in prepared {
        *run.entry(sql.clone()).or_default() -= ran;
        again.insert(sql, reprep);
    }
    // SQLite applies this pragma during parsing, so it has to be parsed each time. No request changes a project: a
    // round does, to leave room for two sends below the limit of the day.
    let of_test = ["PRAGMA synchronous", "UPDATE `projects`"];
    let is_of_test = |sql: &str| of_test.iter().any(|start| sql.starts_with(start));
    run.retain(|sql, _| !sql.contains("sqlite_stmt") && !is_of_test(sql));
    again.retain(|_, reprep| *reprep > 0);
    Ok(Unprepared { run, again })
}

struct Scene {
    store: SqliteStore,
    together: Together,
    stores: Stores,
    make: Fixtures,
    written: Counts,
    read: Counts,
    _folder: tempfile::TempDir,
}

impl Scene {
    async fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings { readers: 1, ..Settings::new(folder.path().join("t.db")) };
        let store = SqliteStore::open(settings).unwrap();
        store.migrate().await.unwrap();
        let (written, read) = (Counts::default(), Counts::default());
        let counts = Arc::clone(&written);
        store.write("test", move |writer| watch(writer, &counts)).await.unwrap();
        let counts = Arc::clone(&read);
        store.read("test", move |reader| watch(reader, &counts)).await.unwrap();
        let stores = Stores::from(&Arc::new(store.clone()));
        let together = Together::open(&stores).await;
        let make = Fixtures::random();
        Self { store, together, stores, make, written, read, _folder: folder }
    }

    /// Runs every step of a request, and every read of requests.
    async fn go_round(&self) -> Result<(), StoreError> {
        for step in OF_REQUESTS {
            self.together.round(&[*step]).await;
        }
        let Self { stores, make, .. } = self;
        let line = make.line(make.project().id.in_mode(dwar_kernel::KeyMode::Live));
        let (project_mode, phone) = (line.project_mode, line.index);
        stores.projects.caller(make.digest()).await?;
        stores.otps.find(project_mode, make.id()).await?;
        stores.sessions.find_key_and_session(make.digest(), Some(make.id())).await?;
        stores.identities.find(project_mode, make.id()).await?;
        stores.identities.find_by_phone(project_mode, phone).await?;
        stores.signing_keys.keys(START).await?;
        Ok(())
    }

    async fn unprepared(&self) -> [Unprepared; 2] {
        let (written, read) = (Arc::clone(&self.written), Arc::clone(&self.read));
        let writer =
            self.store.write("test", move |writer| unprepared(writer, &written)).await.unwrap();
        let reader =
            self.store.read("test", move |reader| unprepared(reader, &read)).await.unwrap();
        [writer, reader]
    }
}

/// diesel prepares some statements at each use (`sql_query`, lists of variable length, batched
/// commands), and SQLite prepares a statement again if it was planned for other values (a bound
/// `LIMIT`). No statement of a request may do either.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_statement_of_a_request_is_prepared_twice() {
    let scene = Scene::open().await;
    for _ in 0..2 {
        scene.go_round().await.unwrap();
    }
    let before = scene.unprepared().await;
    for _ in 0..3 {
        scene.go_round().await.unwrap();
    }
    let after = scene.unprepared().await;
    let pairs = before.into_iter().zip(after);
    for (connection, (before, after)) in ["writer", "reader"].into_iter().zip(pairs) {
        let grown = |before: &BTreeMap<String, i64>, after: &BTreeMap<String, i64>| {
            let more = |(sql, count): (&String, &i64)| {
                (*count > before.get(sql).copied().unwrap_or_default()).then(|| sql.clone())
            };
            after.iter().filter_map(more).collect::<Vec<String>>()
        };
        let run = grown(&before.run, &after.run);
        assert!(run.is_empty(), "prepared at each use by the {connection}:\n{}", run.join("\n"));
        let again = grown(&before.again, &after.again);
        assert!(again.is_empty(), "expired and prepared anew by the {connection}:\n{again:#?}");
    }
}
