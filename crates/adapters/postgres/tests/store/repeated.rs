//! A statement whose answer was lost is repeated, and recognises its own first run.

use crate::support::{Database, project};
use dwar_identity::IdentityStore;
use dwar_kernel::{GuessPolicy, KeyMode, Paise, StoreError};
use dwar_login::{Cost, LoginStore, NewSend, Prepared, Redeemed};
use dwar_otp::idempotency::{IdempotencyDecision, IdempotencyRecord, IdempotencyStore, Lifetimes};
use dwar_otp::{
    Charge, DeliveryStep, GuessVerdict, Otp, OtpState, OtpStore, Report, ReportedRequest,
};
use dwar_postgres::{PostgresStore, Settings};
use dwar_ratelimit::{Quota, SendQuota};
use dwar_testkit::{CODE, Fixtures, Line, START, WRONG_CODE, minutes};
use dwar_wallet::WalletStore;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// A proxy between store and server. It drops the answer to the first statement that contains
/// `needle` and closes the connection: the server has done something that the store does not know.
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

/// The text of a statement is sent once, when it is prepared; the next message of the client runs
/// it.
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
        let line = make.line(project(&honest, &make).await.id.in_mode(KeyMode::Live));
        Self { database, make, line, honest }
    }

    async fn issued(&self) -> Otp {
        self.make.issue(&self.honest, self.make.otp(&self.line)).await
    }

    async fn stored(&self, otp: &Otp) -> Otp {
        OtpStore::find(&self.honest, otp.project_mode, otp.id).await.unwrap().unwrap()
    }

    /// A store that loses the answer to its first statement of that kind.
    fn robbed(&self, needle: &'static str) -> (PostgresStore, Robber) {
        let settings = self.database.settings();
        let (head, rest) = settings.url.split_once('@').unwrap();
        let (server, name) = rest.split_once('/').unwrap();
        let robber = Robber::before(server.to_owned(), needle);
        let url = format!("{head}@{}/{name}", robber.address);
        let settings = Settings { url, pool_size: 1, ..settings };
        (PostgresStore::connect(settings).unwrap(), robber)
    }

    async fn judge(&self, store: &PostgresStore, code: &str) -> GuessVerdict {
        self.make.judge(store, &self.line, code, GuessPolicy::OFF, START).await
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn the_right_code_whose_answer_was_lost_is_accepted_once() {
    let scene = Scene::open().await;
    let otp = scene.issued().await;
    let (store, robber) = scene.robbed("guesses = s.guesses");
    let redemption = scene.make.redemption(&scene.line, CODE);
    let redeemed = store.redeem(redemption.clone(), START).await.unwrap();
    assert!(robber.has_robbed.load(Ordering::SeqCst));
    assert_eq!(scene.stored(&otp).await.state, OtpState::Used);
    // It found the session that it had begun before.
    let Line { project_mode, index, .. } = scene.line;
    let known = scene.honest.find_by_phone(project_mode, index).await.unwrap().unwrap();
    assert!(matches!(redeemed, Redeemed::LoggedIn(_, identity, _) if identity == known.id));
    assert_eq!(scene.database.rows("sessions"), 1);
    assert_eq!(scene.judge(&store, CODE).await, GuessVerdict::NotFound);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn a_check_whose_answer_was_lost_is_accepted_once() {
    let scene = Scene::open().await;
    let otp = scene.issued().await;
    let (store, robber) = scene.robbed("guesses = s.guesses");
    let redeemed = store.redeem(scene.make.check(&scene.line, CODE), START).await.unwrap();
    assert!(robber.has_robbed.load(Ordering::SeqCst));
    assert!(matches!(redeemed, Redeemed::Verified(..)), "{redeemed:?}");
    assert_eq!(scene.stored(&otp).await.state, OtpState::Used);
    assert_eq!(scene.database.rows("sessions"), 0);
    let again = store.redeem(scene.make.check(&scene.line, CODE), START).await.unwrap();
    assert_eq!(again, Redeemed::NotFound);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn a_wrong_code_whose_answer_was_lost_is_counted_once() {
    let scene = Scene::open().await;
    let otp = scene.issued().await;
    let (store, robber) = scene.robbed("guesses = s.guesses");
    assert!(
        matches!(scene.judge(&store, WRONG_CODE).await, GuessVerdict::Wrong(left) if left.remaining == 4)
    );
    assert!(robber.has_robbed.load(Ordering::SeqCst));
    assert_eq!(scene.stored(&otp).await.wrong, 1);
    let Line { project_mode, index, .. } = scene.line;
    let counted = scene.honest.forget_guesses(project_mode, index).await.unwrap();
    assert_eq!(counted.map(|counted| counted.wrong), Some(1));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn a_report_whose_answer_was_lost_is_answered_as_the_first_time() {
    let scene = Scene::open().await;
    let otp = scene.issued().await;
    let (store, robber) = scene.robbed("due_at = s.due");
    let report = scene.make.send_report(otp.delivery.attempts[0].id, Report::Delivered);
    let seen = ReportedRequest::Seen(Box::new(otp.clone()));
    let answer = store.report(seen, report, START).await.unwrap();
    assert!(robber.has_robbed.load(Ordering::SeqCst));
    let (after, step) = answer.unwrap();
    assert!(matches!(step, DeliveryStep::Settle(Charge::Channel(_))), "{step:?}");
    assert_eq!(scene.stored(&otp).await, after);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn a_send_whose_answer_was_lost_begins_once_and_supersedes_nothing_later() {
    let scene = Scene::open().await;
    let (store, robber) = scene.robbed("prepare_sends");
    let project = scene.line.project_mode.project;
    scene.honest.credit(project, scene.make.credit(Paise(100)), START).await.unwrap();
    let quota = SendQuota { places: Quota { limit: 2, window: minutes(10) }, reach: None };
    let send = |otp: &Otp| NewSend {
        cost: Cost::Hold(Paise(60)),
        quota,
        ..scene.make.new_send_of(otp.clone())
    };
    let otp = scene.make.otp(&scene.line);
    let first = send(&otp);
    let prepared = store.prepare(first.clone(), START).await.unwrap();
    assert!(robber.has_robbed.load(Ordering::SeqCst));
    assert!(matches!(prepared, Prepared::Ready(admission) if admission.counted.remaining == 1));
    assert_eq!(scene.stored(&otp).await, otp);
    assert_eq!(scene.honest.balance(project).await.unwrap().held, Paise(60));
    assert_eq!(scene.database.rows("send_slots"), 1);
    // There is no money for another one. A free one comes next.
    let poor = store.prepare(send(&scene.make.otp(&scene.line)), START).await.unwrap();
    assert!(matches!(poor, Prepared::Unaffordable(_)), "{poor:?}");
    let newer = scene.issued().await;
    // A late repetition, as on a slow network, leaves the newer one unchanged.
    let late = store.prepare(first, START).await;
    assert!(matches!(late, Err(StoreError::Unavailable(_))), "{late:?}");
    assert_eq!(scene.stored(&newer).await.state, OtpState::Active);
    assert_eq!(scene.stored(&otp).await.state, OtpState::Superseded);
}

/// The slot may be its own or that of a concurrent request, and only one of them may send.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn a_slot_whose_taking_lost_its_answer_is_not_said_to_be_of_another_request() {
    let scene = Scene::open().await;
    let (store, robber) = scene.robbed("INSERT INTO idempotency_records");
    let (slot, record) = (scene.make.slot(&scene.line), scene.make.record(&scene.line));
    let lifetimes = Lifetimes { lease: minutes(1), keep: minutes(1_440) };
    let begin = async |store: &PostgresStore, began_at| {
        let record = IdempotencyRecord { began_at, ..record.clone() };
        store.begin(slot, record, lifetimes).await
    };
    let lost = begin(&store, START).await;
    assert!(robber.has_robbed.load(Ordering::SeqCst));
    assert!(matches!(lost, Err(StoreError::Unavailable(_))), "{lost:?}");
    assert_eq!(scene.database.rows("idempotency_records"), 1);
    // A repeated request gets the current state, and may do the work when the lease is over.
    assert_eq!(begin(&store, START).await.unwrap(), IdempotencyDecision::Running);
    assert_eq!(begin(&store, START + lifetimes.lease).await.unwrap(), IdempotencyDecision::Fresh);
}
