//! The number of round trips to the server per step.

use crate::support::{Database, project};
use dwar_kernel::{GuessPolicy, KeyMode};
use dwar_login::{LoginStore, NewSend};
use dwar_otp::{AttemptStatus, Otp, OtpStore, Report, ReportedRequest};
use dwar_postgres::{PostgresStore, Settings};
use dwar_ratelimit::{Quota, SendQuota};
use dwar_testkit::{CODE, Fixtures, Line, START, WRONG_CODE, minutes};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// Counts the traffic between store and server: a round trip is everything that the store sends
/// before it gets an answer.
struct Wire {
    address: String,
    trips: Arc<AtomicU64>,
}

impl Wire {
    fn before(server: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let trips = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&trips);
        thread::spawn(move || {
            for client in listener.incoming() {
                let (client, server) = (client.unwrap(), TcpStream::connect(&server).unwrap());
                let (trips, heard) = (Arc::clone(&counted), Arc::new(AtomicBool::new(true)));
                let (from, to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
                let answered = Arc::clone(&heard);
                thread::spawn(move || pass(&from, &to, || answered.store(true, Ordering::SeqCst)));
                thread::spawn(move || {
                    pass(&client, &server, || {
                        let first = heard.swap(false, Ordering::SeqCst);
                        trips.fetch_add(u64::from(first), Ordering::SeqCst);
                    });
                });
            }
        });
        Self { address, trips }
    }
}

fn pass(mut from: &TcpStream, mut to: &TcpStream, note: impl Fn()) {
    let mut bytes = vec![0; 65_536];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        note();
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
}

struct Scene {
    store: PostgresStore,
    wire: Wire,
    make: Fixtures,
    line: Line,
    _database: Database,
}

impl Scene {
    async fn open() -> Self {
        let (database, make) = (Database::create(), Fixtures::random());
        let line =
            make.line(project(&database.store().await, &make).await.id.in_mode(KeyMode::Live));
        let settings = database.settings();
        let (head, rest) = settings.url.split_once('@').unwrap();
        let (server, name) = rest.split_once('/').unwrap();
        let wire = Wire::before(server.to_owned());
        let url = format!("{head}@{}/{name}", wire.address);
        let store = PostgresStore::connect(Settings { url, pool_size: 1, ..settings }).unwrap();
        store.ping().await.unwrap();
        // Connections are opened in the background; their round trips are not counted.
        let mut seen = 0;
        while seen != wire.trips.load(Ordering::SeqCst) {
            seen = wire.trips.load(Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        Self { store, wire, make, line, _database: database }
    }

    /// The round trips of `step`, once its statements are prepared.
    async fn trips<T>(&self, step: impl AsyncFn() -> T) -> u64 {
        for _ in 0..2 {
            step().await;
        }
        let before = self.wire.trips.load(Ordering::SeqCst);
        step().await;
        self.wire.trips.load(Ordering::SeqCst) - before
    }

    async fn issued(&self) -> Otp {
        self.make.issue(&self.store, self.make.otp(&self.line)).await
    }

    /// As above, for a phone without any record.
    async fn issued_first(&self) -> Otp {
        let line = self.make.line(self.line.project_mode.project.in_mode(KeyMode::Live));
        self.make.issue(&self.store, self.make.otp(&line)).await
    }

    async fn report(&self, request: ReportedRequest, otp: &Otp) {
        let reported = self.make.report(&self.store, request, otp, Report::Delivered, START);
        reported.await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn each_step_of_a_login_takes_as_few_trips_as_it_says() {
    let scene = Scene::open().await;
    let first = scene.trips(async || scene.issued_first().await).await;
    assert_eq!(first, 1, "a send to a phone that nothing is known of");
    let issue = scene.trips(async || scene.issued().await).await;
    assert_eq!(issue, 2, "a send to another one");
    let none = SendQuota { places: Quota { limit: 0, window: minutes(10) }, reach: None };
    let refused = async || {
        let send = NewSend { quota: none, ..scene.make.new_send(&scene.line) };
        scene.store.prepare(send, START).await.unwrap()
    };
    assert_eq!(scene.trips(refused).await, 1, "a send that is refused");
    let sent = async || {
        let otp = scene.issued_first().await;
        scene.report(ReportedRequest::Seen(Box::new(otp.clone())), &otp).await;
    };
    assert_eq!(scene.trips(sent).await - first, 1, "the report of the process that began it");
    let reported = async || {
        let otp = scene.issued_first().await;
        scene.report(ReportedRequest::Id(otp.project_mode.project, otp.id), &otp).await;
    };
    assert_eq!(scene.trips(reported).await - first, 2, "the report of a receipt");
    let otp = scene.issued().await;
    let late = async || {
        let overdue = Report::Overdue { seen: AttemptStatus::Sent };
        let request = ReportedRequest::Id(otp.project_mode.project, otp.id);
        scene.make.report(&scene.store, request, &otp, overdue, START).await.unwrap()
    };
    assert_eq!(scene.trips(late).await, 1, "a report that changes nothing");

    for code in [CODE, WRONG_CODE] {
        let judged = async || {
            scene.issued().await;
            scene.make.judge(&scene.store, &scene.line, code, GuessPolicy::OFF, START).await
        };
        assert_eq!(scene.trips(judged).await - issue, 2, "{code}");
    }
    let nobody = scene.make.line(otp.project_mode.project.in_mode(KeyMode::Live));
    let nothing =
        async || scene.make.judge(&scene.store, &nobody, CODE, GuessPolicy::OFF, START).await;
    assert_eq!(scene.trips(nothing).await, 1, "a guess at no code");
    let found = async || scene.store.find(otp.project_mode, otp.id).await.unwrap();
    assert_eq!(scene.trips(found).await, 1, "the status of a request");
}

/// Otherwise a plan that suited a new service would be kept as long as the connection is open.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn plans_are_made_anew_each_time_a_connection_was_used_twice_as_often() {
    let scene = Scene::open().await;
    let otp = scene.issued().await;
    let found = async || scene.store.find(otp.project_mode, otp.id).await.unwrap();
    scene.trips(found).await;
    let before = scene.wire.trips.load(Ordering::SeqCst);
    for _ in 0..500 {
        found().await;
    }
    let more = scene.wire.trips.load(Ordering::SeqCst) - before - 500;
    assert_eq!(more, 3, "one each at 64, 128 and 256 uses");
}
