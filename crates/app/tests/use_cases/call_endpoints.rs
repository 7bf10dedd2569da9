use async_trait::async_trait;
use dwar_app::{Observer, Stores, TellEvents, call_endpoints};
use dwar_event::{
    CallFailure, CallFilter, Endpoint, Event, EventKind, EventStore, SendFailure, Subject,
    WebhookRequest, WebhookSecret, WebhookSender,
};
use dwar_kernel::{KeyMode, Purpose, Vault};
use dwar_memory::MemoryStore;
use dwar_testkit::{ClearVault, FixedClock, Fixtures, START, SeededEntropy, seconds};
use futures_util::stream::unfold;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::{JoinHandle, yield_now};

#[derive(Default)]
struct Receivers {
    held: Mutex<HashMap<String, Arc<Semaphore>>>,
    refusing: Mutex<HashMap<String, u16>>,
    /// By URL: the calls under way now, and the most there ever were.
    calls: Mutex<HashMap<String, (usize, usize)>>,
    /// By URL: the `webhook-id`s in the order of the calls.
    told: Mutex<HashMap<String, Vec<String>>>,
}

impl Receivers {
    fn most(&self, endpoint: &Endpoint) -> usize {
        self.calls.lock().unwrap().get(&endpoint.url).map_or(0, |(_, most)| *most)
    }

    fn under_way(&self, endpoint: &Endpoint) -> usize {
        self.calls.lock().unwrap().get(&endpoint.url).map_or(0, |(now, _)| *now)
    }

    fn told(&self, endpoint: &Endpoint) -> Vec<String> {
        self.told.lock().unwrap().get(&endpoint.url).cloned().unwrap_or_default()
    }

    /// Blocks every call to this endpoint until the semaphore has a permit for it.
    fn hold(&self, endpoint: &Endpoint) -> Arc<Semaphore> {
        let permits = Arc::new(Semaphore::new(0));
        self.held.lock().unwrap().insert(endpoint.url.clone(), Arc::clone(&permits));
        permits
    }
}

#[async_trait]
impl WebhookSender for Receivers {
    fn body(&self, _: &Event, _: Option<String>) -> Vec<u8> {
        Vec::new()
    }

    fn sign(&self, _: &WebhookSecret, _: &str, _: i64, _: &[u8]) -> String {
        "v1,x".to_owned()
    }

    async fn post(&self, request: WebhookRequest) -> Result<u16, CallFailure> {
        let url = &request.url;
        self.told.lock().unwrap().entry(url.clone()).or_default().push(request.id);
        {
            let mut calls = self.calls.lock().unwrap();
            let (now, most) = calls.entry(url.clone()).or_default();
            *now += 1;
            *most = (*most).max(*now);
        }
        yield_now().await;
        let held = self.held.lock().unwrap().get(url).cloned();
        if let Some(held) = held {
            held.acquire().await.unwrap().forget();
        }
        self.calls.lock().unwrap().get_mut(url).unwrap().0 -= 1;
        let refuses = self.refusing.lock().unwrap().get(url).copied();
        assert_ne!(refuses, Some(13), "no such floor");
        refuses.map_or(Ok(204), |status| Err(SendFailure::Status(status).into()))
    }

    fn allows(&self, _: &str) -> Result<(), SendFailure> {
        Ok(())
    }
}

struct House {
    make: Fixtures,
    clock: Arc<FixedClock>,
    store: Arc<MemoryStore>,
    receivers: Arc<Receivers>,
    tell: Arc<TellEvents>,
}

impl House {
    fn new() -> Self {
        let (store, clock) = (Arc::<MemoryStore>::default(), Arc::new(FixedClock::at(START)));
        let receivers = Arc::<Receivers>::default();
        let tell = dwar_testkit::parts(Stores::from(&store), &clock).tell_events(receivers.clone());
        Self { make: Fixtures::random(), clock, store, receivers, tell: Arc::new(tell) }
    }

    /// An endpoint of a new project with this many waiting events.
    async fn endpoint(&self, events: usize) -> Endpoint {
        let mut endpoint = self.make.endpoint(self.make.id());
        let secret = WebhookSecret::generate(&SeededEntropy::new(1));
        let context = endpoint.id.uuid();
        endpoint.secret.present =
            ClearVault.seal(Purpose::WebhookSecret, context.as_bytes(), secret.expose().as_bytes());
        assert!(self.store.add_endpoint(endpoint.clone()).await.unwrap());
        self.happen(&endpoint, events).await;
        endpoint
    }

    async fn happen(&self, endpoint: &Endpoint, events: usize) {
        for _ in 0..events {
            let subject = Subject::Session { session: self.make.id(), identity: self.make.id() };
            let (project_mode, kind) =
                (endpoint.project.in_mode(KeyMode::Live), EventKind::SessionRevoked);
            self.store.record(Event { project_mode, kind, subject, at: START }).await.unwrap();
        }
    }

    /// Starts the calls; each message on the channel is a tick, and closing it ends the calls.
    fn start(&self) -> (mpsc::UnboundedSender<()>, JoinHandle<()>) {
        let (tick, ticks) = mpsc::unbounded_channel();
        let ticks = unfold(ticks, |mut ticks| async { ticks.recv().await.map(|()| ((), ticks)) });
        let tell = Arc::clone(&self.tell);
        tick.send(()).unwrap();
        (tick, tokio::spawn(async move { call_endpoints(&tell, ticks).await }))
    }

    async fn on_record(&self, endpoint: &Endpoint) -> usize {
        let (calls, all) = (&self.tell.calls, CallFilter::default());
        calls.calls(endpoint.project, endpoint.id, all, 9_999).await.unwrap().len()
    }
}

/// Runs all tasks until each waits for something outside.
async fn settle() {
    for _ in 0..5_000 {
        yield_now().await;
    }
}

#[tokio::test]
async fn a_backlog_is_told_at_one_tick_by_more_and_more_calls_at_once() {
    let house = House::new();
    let endpoint = house.endpoint(600).await;
    let (tick, running) = house.start();
    settle().await;
    let mut told = house.receivers.told(&endpoint);
    assert_eq!((told.len(), house.on_record(&endpoint).await), (600, 600));
    told.sort();
    told.dedup();
    assert_eq!(told.len(), 600, "each once");
    let most = house.receivers.most(&endpoint);
    assert!((32..=64).contains(&most), "{most} calls at once");
    drop(tick);
    running.await.unwrap();
}

#[tokio::test]
async fn one_that_does_not_answer_gets_one_call_and_holds_up_nobody() {
    let house = House::new();
    let (hangs, other) = (house.endpoint(300).await, house.endpoint(300).await);
    let permits = house.receivers.hold(&hangs);
    let (tick, running) = house.start();
    settle().await;
    assert_eq!(house.receivers.under_way(&hangs), 4);
    assert_eq!(house.receivers.told(&other).len(), 300);
    house.clock.set(START + seconds(1));
    permits.add_permits(3);
    settle().await;
    // The three calls that were answered late were followed by no others: one call hangs, and an endpoint
    // that hangs has one place.
    assert_eq!((house.receivers.under_way(&hangs), house.receivers.told(&hangs).len()), (1, 4));
    house.happen(&other, 300).await;
    tick.send(()).unwrap();
    settle().await;
    assert_eq!(house.receivers.told(&other).len(), 600);
    assert_eq!(house.receivers.under_way(&hangs), 1);
    // The endpoint answers again.
    permits.add_permits(1_000);
    settle().await;
    assert_eq!(house.receivers.told(&hangs).len(), 300);
    drop(tick);
    running.await.unwrap();
}

/// Records how many calls are under way, and how many deliveries wait.
#[derive(Default)]
struct RecordedUse(Mutex<Vec<(u32, u32)>>);

impl Observer for RecordedUse {
    fn calling(&self, in_progress: u32, waiting: u32) {
        self.0.lock().unwrap().push((in_progress, waiting));
    }
}

#[tokio::test]
async fn an_observer_is_told_how_many_calls_are_in_progress() {
    let mut house = House::new();
    let noted = Arc::<RecordedUse>::default();
    Arc::get_mut(&mut house.tell).unwrap().tools.observer = Arc::<RecordedUse>::clone(&noted);
    let endpoint = house.endpoint(60).await;
    let permits = house.receivers.hold(&endpoint);
    let (tick, running) = house.start();
    let last = || *noted.0.lock().unwrap().last().unwrap();
    settle().await;
    assert_eq!(last(), (4, 0));
    permits.add_permits(4);
    settle().await;
    let (in_progress, waiting) = last();
    assert_eq!(in_progress as usize, house.receivers.under_way(&endpoint));
    assert!(in_progress > 4 && waiting > 0, "{in_progress}, {waiting}");
    permits.add_permits(60);
    settle().await;
    assert_eq!(last(), (0, 0));
    drop(tick);
    running.await.unwrap();
}

#[tokio::test]
async fn one_that_refuses_gets_fewer_calls_at_once() {
    let house = House::new();
    let endpoint = house.endpoint(900).await;
    house.receivers.refusing.lock().unwrap().insert(endpoint.url.clone(), 500);
    let permits = house.receivers.hold(&endpoint);
    let (tick, running) = house.start();
    for wanted in [4, 2, 1, 1] {
        settle().await;
        assert_eq!(house.receivers.under_way(&endpoint), wanted);
        permits.add_permits(house.receivers.under_way(&endpoint).div_ceil(2).max(1));
    }
    house.receivers.refusing.lock().unwrap().clear();
    permits.add_permits(10_000);
    settle().await;
    tick.send(()).unwrap();
    settle().await;
    assert!(house.receivers.most(&endpoint) > 16);
    drop(tick);
    running.await.unwrap();
}

#[tokio::test]
async fn what_is_claimed_is_done_after_a_stop_and_nothing_more() {
    let house = House::new();
    let endpoint = house.endpoint(50).await;
    let permits = house.receivers.hold(&endpoint);
    let (tick, running) = house.start();
    settle().await;
    drop(tick);
    settle().await;
    permits.add_permits(100);
    running.await.unwrap();
    assert_eq!(house.receivers.told(&endpoint).len(), 4);
    assert_eq!(house.on_record(&endpoint).await, 4);
}

#[tokio::test]
async fn what_waited_too_long_for_a_place_is_left_to_its_lease() {
    let house = House::new();
    let endpoint = house.endpoint(20).await;
    let (tick, running) = house.start();
    settle().await;
    // More deliveries are claimed than there are places.
    let permits = house.receivers.hold(&endpoint);
    house.happen(&endpoint, 400).await;
    tick.send(()).unwrap();
    settle().await;
    let under_way = house.receivers.under_way(&endpoint);
    assert!(under_way > 4, "{under_way}");
    house.clock.set(START + seconds(6));
    permits.add_permits(1_000);
    settle().await;
    house.clock.set(START + seconds(67));
    tick.send(()).unwrap();
    settle().await;
    let mut told = house.receivers.told(&endpoint);
    told.sort();
    told.dedup();
    assert_eq!((told.len(), house.on_record(&endpoint).await), (420, 420));
    drop(tick);
    running.await.unwrap();
}

#[tokio::test]
async fn a_call_that_panics_takes_no_other_with_it() {
    let house = House::new();
    let (bad, good) = (house.endpoint(3).await, house.endpoint(3).await);
    house.receivers.refusing.lock().unwrap().insert(bad.url.clone(), 13);
    let (tick, running) = house.start();
    settle().await;
    assert_eq!((house.on_record(&bad).await, house.on_record(&good).await), (0, 3));
    // Its places are free again, and its events are due when their lease ends.
    house.receivers.refusing.lock().unwrap().clear();
    house.clock.set(START + seconds(60));
    tick.send(()).unwrap();
    settle().await;
    assert_eq!(house.on_record(&bad).await, 3);
    drop(tick);
    running.await.unwrap();
}

#[tokio::test]
async fn one_that_is_gone_is_called_no_more() {
    let house = House::new();
    let endpoint = house.endpoint(300).await;
    let (tick, running) = house.start();
    settle().await;
    house.happen(&endpoint, 300).await;
    let permits = house.receivers.hold(&endpoint);
    tick.send(()).unwrap();
    settle().await;
    house.receivers.refusing.lock().unwrap().insert(endpoint.url.clone(), 410);
    let (before, waiting) =
        (house.receivers.told(&endpoint).len(), house.receivers.under_way(&endpoint));
    assert!(before < 600, "some wait for a place");
    permits.add_permits(waiting);
    settle().await;
    assert_eq!(house.receivers.told(&endpoint).len(), before);
    drop(tick);
    running.await.unwrap();
}
