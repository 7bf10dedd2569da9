//! A statement whose answer was lost is said again, and knows what it did the first time.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "everything here runs inside tests")]

mod support;

use dwar_kernel::{GuessPolicy, KeyMode};
use dwar_otp::{Charge, DeliveryStep, Otp, OtpState, OtpStore, Report, Reported, Verdict};
use dwar_postgres::{PostgresStore, Settings};
use dwar_ratelimit::{Quota, SendLimiter, SendQuota};
use dwar_testkit::{CODE, Fixtures, Line, START, WRONG_CODE, minutes};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use support::{Database, project};

/// Stands between store and server. Of the first statement that contains `needle` it takes the
/// answer away and hangs up: the server has done what the store does not know of.
struct Robber {
    address: String,
    has_robbed: Arc<AtomicBool>,
}

impl Robber {
    fn before(server: String, needle: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let has_robbed = Arc::new(AtomicBool::new(false));
        let robbed = Arc::clone(&has_robbed);
        thread::spawn(move || {
            for client in listener.incoming() {
                let (client, robbed) = (client.unwrap(), Arc::clone(&robbed));
                let server = TcpStream::connect(&server).unwrap();
                thread::spawn(move || rob(&client, &server, needle, &robbed));
            }
        });
        Self { address, has_robbed }
    }
}

/// The text of a statement comes once, when it is prepared; what the client says next runs it.
fn rob(client: &TcpStream, server: &TcpStream, needle: &str, has_robbed: &Arc<AtomicBool>) {
    let (taking, hang_up) = (Arc::new(AtomicBool::new(false)), Arc::clone(has_robbed));
    let (mut from, mut to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
    let takes = Arc::clone(&taking);
    thread::spawn(move || {
        let mut bytes = vec![0; 65_536];
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            if takes.load(Ordering::SeqCst) {
                hang_up.store(true, Ordering::SeqCst);
                break;
            }
            if to.write_all(&bytes[..count]).is_err() {
                break;
            }
        }
        let _gone = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
    });
    let (mut from, mut to, mut prepared) = (client, server, false);
    let mut bytes = vec![0; 65_536];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        if prepared && !has_robbed.load(Ordering::SeqCst) {
            taking.store(true, Ordering::SeqCst);
        }
        prepared |= String::from_utf8_lossy(&bytes[..count]).contains(needle);
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
}

struct Scene {
    database: Database,
    make: Fixtures,
    line: Line,
    honest: PostgresStore,
}

impl Scene {
    async fn open() -> Self {
        let (database, make) = (Database::create(), Fixtures::random());
        let honest = database.store().await;
        let line = make.line(project(&honest, &make).await.id, KeyMode::Live);
        Self { database, make, line, honest }
    }

    async fn issued(&self) -> Otp {
        let otp = self.make.otp(&self.line);
        self.honest.issue(otp.clone()).await.unwrap();
        otp
    }

    async fn stored(&self, otp: &Otp) -> Otp {
        self.honest.find(otp.project, otp.mode, otp.id).await.unwrap().unwrap()
    }

    /// A store whose first statement of that kind loses its answer.
    fn robbed(&self, needle: &'static str) -> (PostgresStore, Robber) {
        let settings = self.database.settings();
        let (head, rest) = settings.url.split_once('@').unwrap();
        let (server, name) = rest.split_once('/').unwrap();
        let robber = Robber::before(server.to_owned(), needle);
        let url = format!("{head}@{}/{name}", robber.address);
        let settings = Settings { url, pool_size: 1, ..settings };
        (PostgresStore::connect(settings).unwrap(), robber)
    }

    async fn judge(&self, store: &PostgresStore, code: &str) -> Verdict {
        let Line { project, mode, index, .. } = self.line;
        let guess = self.make.guess(code);
        store.judge(project, mode, index, guess, GuessPolicy::OFF, START).await.unwrap()
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn the_right_code_whose_answer_was_lost_is_accepted_once() {
    let scene = Scene::open().await;
    let otp = scene.issued().await;
    let (store, robber) = scene.robbed("guesses = given.guesses");
    assert!(matches!(scene.judge(&store, CODE).await, Verdict::Accepted(_)));
    assert!(robber.has_robbed.load(Ordering::SeqCst));
    assert_eq!(scene.stored(&otp).await.state, OtpState::Used);
    assert_eq!(scene.judge(&store, CODE).await, Verdict::NotFound);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn a_wrong_code_whose_answer_was_lost_is_counted_once() {
    let scene = Scene::open().await;
    let otp = scene.issued().await;
    let (store, robber) = scene.robbed("guesses = given.guesses");
    assert!(
        matches!(scene.judge(&store, WRONG_CODE).await, Verdict::Wrong(left) if left.remaining == 4)
    );
    assert!(robber.has_robbed.load(Ordering::SeqCst));
    assert_eq!(scene.stored(&otp).await.wrong, 1);
    let Line { project, mode, index, .. } = scene.line;
    let counted = scene.honest.forget_guesses(project, mode, index).await.unwrap();
    assert_eq!(counted.map(|counted| counted.wrong), Some(1));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn a_report_whose_answer_was_lost_is_answered_as_the_first_time() {
    let scene = Scene::open().await;
    let otp = scene.issued().await;
    let (store, robber) = scene.robbed("due_at = s.due");
    let (route, next) = (scene.make.route(), scene.make.id());
    let first = otp.delivery.attempts[0].id;
    let seen = Reported::Seen(Box::new(otp.clone()));
    let answer = store.report(seen, first, Report::Delivered, route, next, START).await.unwrap();
    assert!(robber.has_robbed.load(Ordering::SeqCst));
    let (after, step) = answer.unwrap();
    assert!(matches!(step, DeliveryStep::Settle(Charge::Channel(_))), "{step:?}");
    assert_eq!(scene.stored(&otp).await, after);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn a_code_whose_answer_was_lost_is_issued_once_and_supersedes_nothing_later() {
    let scene = Scene::open().await;
    let (store, robber) = scene.robbed("superseded AS");
    let otp = scene.make.otp(&scene.line);
    store.issue(otp.clone()).await.unwrap();
    assert!(robber.has_robbed.load(Ordering::SeqCst));
    assert_eq!(scene.stored(&otp).await, otp);
    // Said again after the next one, as by a slow network, it leaves that one alone.
    let newer = scene.issued().await;
    store.issue(otp.clone()).await.unwrap();
    assert_eq!(scene.stored(&newer).await.state, OtpState::Active);
    assert_eq!(scene.stored(&otp).await.state, OtpState::Superseded);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn a_place_whose_answer_was_lost_is_taken_once() {
    let scene = Scene::open().await;
    let (store, robber) = scene.robbed("take_place");
    let key = scene.line.send_key();
    let quota = SendQuota { places: Quota { limit: 2, window: minutes(10) }, reach: None };
    let admit = async |store: &PostgresStore| {
        let send = scene.make.id();
        store.admit(key, send, quota, GuessPolicy::OFF, START).await.unwrap().counted
    };
    let first = admit(&store).await;
    assert!(robber.has_robbed.load(Ordering::SeqCst));
    assert_eq!((first.admitted, first.remaining), (true, 1));
    let second = admit(&store).await;
    assert_eq!((second.admitted, second.remaining), (true, 0));
    assert!(!admit(&store).await.admitted);
}
