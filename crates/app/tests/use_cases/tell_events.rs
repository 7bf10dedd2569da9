use crate::common::{World, down};
use dwar_app::{EndpointPauses, TellEvents};
use dwar_event::{
    CallFailure, CallPlaces, ClaimCapacity, DisablePolicy, Dispatch, Endpoint, EndpointCall, Event,
    EventKind, EventPhone, Failing, MockCallLog, MockEventStore, MockWebhookSender, NewSecret,
    SendFailure, Subject, WebhookRequest, WebhookSecret,
};
use dwar_kernel::{KeyMode, Purpose, Sealed, StoreError, Timestamp, Vault};
use dwar_testkit::{ClearVault, MS, START, SeededEntropy, seconds};
use futures_util::future::join_all;
use std::sync::{Arc, Mutex};
use std::time::Duration;

fn secret(seed: u64) -> WebhookSecret {
    WebhookSecret::generate(&SeededEntropy::new(seed))
}

fn sealed(endpoint: &Endpoint, secret: &WebhookSecret) -> Sealed {
    let context = endpoint.id.uuid();
    ClearVault.seal(Purpose::WebhookSecret, context.as_bytes(), secret.expose().as_bytes())
}

/// A delivery of a sent code's event to an endpoint with the secret of seed 1.
fn dispatch(world: &World) -> Dispatch {
    let mut endpoint = world.make.endpoint(world.line.project_mode.project);
    endpoint.secret.present = sealed(&endpoint, &secret(1));
    let subject = Subject::Otp {
        otp: world.make.id(),
        channel: Some(dwar_otp::Channel::Sms),
        phone: Some(EventPhone {
            index: world.line.index,
            sealed: ClearVault.seal_phone(world.line.project_mode.project, &world.line.phone),
        }),
    };
    let (project, kind) = (world.line.project_mode.project, EventKind::OtpDelivered);
    let event = Event {
        project_mode: project.in_mode(KeyMode::Live),
        kind,
        subject,
        at: START - seconds(9),
    };
    Dispatch { endpoint, event, failures: 0 }
}

/// The room of a process without calls under way.
fn all() -> ClaimCapacity {
    CallPlaces::default().room(0, START)
}

const RULE: DisablePolicy = DisablePolicy { after: seconds(3_600), failures: 10 };

/// A store in which these deliveries are due now.
fn due(dispatches: Vec<Dispatch>) -> MockEventStore {
    let mut events = MockEventStore::new();
    let claim =
        events.expect_claim_due().withf(|_, lease, room| *lease == seconds(60) && *room == all());
    claim.times(1).returning(move |_, _, _| Ok(dispatches.clone()));
    events
}

/// Whether a call reports this outcome of this dispatch; the clock stands still meanwhile.
fn says(
    dispatch: &Dispatch,
    outcome: Result<u16, SendFailure>,
    again: Option<Timestamp>,
) -> impl Fn(&EndpointCall) -> bool + Send + 'static {
    let Dispatch { endpoint, event, failures } = dispatch.clone();
    move |call| {
        let wanted = EndpointCall {
            id: call.id,
            endpoint: endpoint.id,
            event: event.id(),
            kind: event.kind,
            number: failures + 1,
            at: call.at,
            took: Duration::ZERO,
            outcome,
            again,
        };
        *call == wanted
    }
}

fn delivers(events: &mut MockEventStore, dispatch: &Dispatch) {
    let said = says(dispatch, Ok(204), None);
    let delivered = events.expect_delivered().withf(move |calls| calls.iter().all(&said));
    delivered.times(1).returning(|_| Ok(()));
}

fn fails(
    events: &mut MockEventStore,
    dispatch: &Dispatch,
    cause: SendFailure,
    again: Option<Timestamp>,
) {
    let said = says(dispatch, Err(cause), again);
    let failed = events.expect_failed();
    failed
        .withf(move |call, rule| said(call) && *rule == Some(RULE))
        .times(1)
        .returning(|_, _| Ok(None));
}

fn gives_up(events: &mut MockEventStore, dispatch: &Dispatch) {
    let said = says(dispatch, Err(SendFailure::Unsigned), None);
    events.expect_give_up().withf(said).times(1).returning(|_| Ok(()));
}

/// A sender whose body is the phone, and whose signature names its secret; every request ends like this.
fn sender(
    answer: impl Fn(&WebhookRequest) -> Result<u16, SendFailure> + Send + 'static,
) -> (MockWebhookSender, Arc<Mutex<Vec<WebhookRequest>>>) {
    answering(move |request| Ok(answer(request)?))
}

/// Like [`sender`], with the `Retry-After` of the endpoint.
fn answering(
    answer: impl Fn(&WebhookRequest) -> Result<u16, CallFailure> + Send + 'static,
) -> (MockWebhookSender, Arc<Mutex<Vec<WebhookRequest>>>) {
    let (mut sender, posted) = (MockWebhookSender::new(), Arc::default());
    sender.expect_body().returning(|_, phone| phone.unwrap_or_default().into_bytes());
    sender.expect_sign().returning(|secret, id, timestamp, body| {
        let body = String::from_utf8_lossy(body);
        format!("v1,{}|{id}|{timestamp}|{body}", secret.expose())
    });
    let seen: Arc<Mutex<Vec<WebhookRequest>>> = Arc::clone(&posted);
    sender.expect_post().returning(move |request| {
        let answer = answer(&request);
        seen.lock().unwrap().push(request);
        answer
    });
    (sender, posted)
}

fn tell(world: &World, events: MockEventStore, sender: MockWebhookSender) -> TellEvents {
    let (events, sender) = (Arc::new(events), Arc::new(sender));
    let mut calls = MockCallLog::new();
    calls.expect_trim_calls().returning(|_, _| Ok(0));
    let calls = Arc::new(calls);
    let (tools, disable_policy, resting) = (world.tools(), Some(RULE), EndpointPauses::default());
    TellEvents { tools, events, calls, sender, disable_policy, resting }
}

/// Claims the due deliveries and makes all of them; returns how many.
async fn tell_due(tell: &TellEvents) -> Result<usize, StoreError> {
    let due = tell.claim(all()).await?;
    let told = join_all(due.iter().map(|dispatch| tell.tell(dispatch))).await;
    told.into_iter().collect::<Result<Vec<_>, StoreError>>().map(|told| told.len())
}

async fn told(world: &World, dispatch: &Dispatch) -> WebhookRequest {
    let mut events = due(vec![dispatch.clone()]);
    delivers(&mut events, dispatch);
    let (sender, posted) = sender(|_| Ok(204));
    assert_eq!(tell_due(&tell(world, events, sender)).await.unwrap(), 1);
    posted.lock().unwrap().remove(0)
}

#[tokio::test]
async fn an_endpoint_gets_a_signed_request() {
    let world = World::live();
    let dispatch = dispatch(&world);
    let request = told(&world, &dispatch).await;
    let (id, timestamp) = (dispatch.event.id(), START.timestamp());
    assert_eq!((&request.url, &request.id), (&dispatch.endpoint.url, &id));
    assert_eq!(request.timestamp, timestamp);
    let body = String::from_utf8(request.body).unwrap();
    let signature = format!("v1,{}|{id}|{timestamp}|{body}", secret(1).expose());
    assert_eq!(request.signature, signature);
}

#[tokio::test]
async fn a_phone_is_masked_unless_the_endpoint_is_to_know_it() {
    let world = World::live();
    let mut dispatch = dispatch(&world);
    for full_phone in [false, true] {
        dispatch.endpoint.full_phone = full_phone;
        let phone = &world.line.phone;
        let wanted = if full_phone { phone.e164() } else { phone.to_string() };
        assert_eq!(told(&world, &dispatch).await.body, wanted.into_bytes());
    }
}

#[tokio::test]
async fn what_has_no_phone_or_has_it_no_more_is_told_without() {
    let world = World::live();
    let mut subjects = vec![
        Subject::Session { session: world.make.id(), identity: world.make.id() },
        Subject::Identity { identity: world.make.id(), sessions_revoked: 2 },
        Subject::Wallet {
            entry: world.make.id(),
            balance: dwar_wallet::Paise(1),
            threshold: dwar_wallet::Paise(2),
        },
    ];
    let mut dispatch = dispatch(&world);
    dispatch.endpoint.full_phone = true;
    if let Subject::Otp { phone, .. } = &mut dispatch.event.subject {
        *phone = None;
    }
    subjects.push(dispatch.event.subject.clone());
    for subject in subjects {
        dispatch.event.subject = subject;
        assert_eq!(told(&world, &dispatch).await.body, b"");
    }
}

#[tokio::test]
async fn a_replaced_secret_signs_along_until_its_end() {
    let world = World::live();
    let mut dispatch = dispatch(&world);
    let new = sealed(&dispatch.endpoint, &secret(2));
    let end = START + seconds(60);
    dispatch.endpoint.secret.replace(NewSecret { secret: new, previous_until: end });
    for (now, seeds) in [(end - MS, vec![2, 1]), (end, vec![2])] {
        world.clock.set(now);
        let signature = told(&world, &dispatch).await.signature;
        // The parts of a stand-in signature contain no blanks, except the one of a masked phone; here there
        // is none.
        let parts: Vec<&str> = signature.split(' ').collect();
        assert_eq!(parts.len(), seeds.len());
        for (part, seed) in parts.iter().zip(seeds) {
            assert!(part.starts_with(&format!("v1,{}|", secret(seed).expose())), "{part}");
        }
    }
}

#[tokio::test]
async fn a_failure_is_tried_again_after_longer_and_longer_waits_and_then_no_more() {
    let world = World::live();
    for (failures, wait) in [(0, Some(5)), (1, Some(30)), (9, Some(28_800)), (10, None)] {
        for failure in [SendFailure::Unreachable, SendFailure::Status(500)] {
            let dispatch = Dispatch { failures, ..dispatch(&world) };
            let mut events = due(vec![dispatch.clone()]);
            fails(&mut events, &dispatch, failure, wait.map(|wait| START + seconds(wait)));
            let (sender, _) = sender(move |_| Err(failure));
            assert_eq!(tell_due(&tell(&world, events, sender)).await.unwrap(), 1);
        }
    }
}

#[tokio::test]
async fn an_address_that_is_not_allowed_or_is_gone_is_given_up_at_once() {
    let world = World::live();
    for cause in [SendFailure::AddressNotAllowed, SendFailure::Status(410)] {
        let dispatch = dispatch(&world);
        let mut events = due(vec![dispatch.clone()]);
        fails(&mut events, &dispatch, cause, None);
        let (sender, _) = sender(move |_| Err(cause));
        assert_eq!(tell_due(&tell(&world, events, sender)).await.unwrap(), 1);
    }
}

#[tokio::test]
async fn an_endpoint_that_asks_for_it_is_left_alone_for_longer_and_altogether() {
    let world = World::live();
    for (asked, wait, rests) in [(0, 5, 0), (3, 5, 3), (120, 120, 120), (86_400, 28_800, 28_800)] {
        world.clock.set(START);
        let dispatch = dispatch(&world);
        let mut events = MockEventStore::new();
        let due = vec![dispatch.clone()];
        let claim = events.expect_claim_due().withf(|_, _, room| room.resting.is_empty());
        claim.times(1).returning(move |_, _, _| Ok(due.clone()));
        let cause = SendFailure::Status(429);
        fails(&mut events, &dispatch, cause, Some(START + seconds(wait)));
        let (sender, _) = answering(move |_| {
            Err(CallFailure { cause, retry_after: Some(Duration::from_secs(asked)) })
        });
        // The endpoint is left alone until its pause ends, to the millisecond.
        let end = START + seconds(rests);
        let id = dispatch.endpoint.id;
        let claim = events
            .expect_claim_due()
            .withf(move |now, _, room| room.resting.contains(&id) == (rests > 0 && *now < end));
        claim.times(3).returning(|_, _, _| Ok(Vec::new()));
        let tell = tell(&world, events, sender);
        assert_eq!(tell_due(&tell).await.unwrap(), 1);
        for now in [START, end - MS, end] {
            world.clock.set(now);
            assert_eq!(tell_due(&tell).await.unwrap(), 0);
        }
    }
}

#[tokio::test]
async fn what_cannot_be_opened_is_given_up_and_posted_to_nobody() {
    let world = World::live();
    let good = dispatch(&world);
    let mut no_secret = good.clone();
    no_secret.endpoint.secret.present = Sealed(b"of another key".to_vec());
    let mut garbled = good.clone();
    let context = garbled.endpoint.id.uuid();
    garbled.endpoint.secret.present =
        ClearVault.seal(Purpose::WebhookSecret, context.as_bytes(), b"?");
    let mut no_phone = good;
    if let Subject::Otp { phone: Some(phone), .. } = &mut no_phone.event.subject {
        phone.sealed = Sealed(b"of another project".to_vec());
    }
    for dispatch in [no_secret, garbled, no_phone] {
        let mut events = due(vec![dispatch.clone()]);
        gives_up(&mut events, &dispatch);
        let (sender, posted) = sender(|_| Ok(204));
        assert_eq!(tell_due(&tell(&world, events, sender)).await.unwrap(), 1);
        assert_eq!(posted.lock().unwrap().len(), 0);
    }
}

#[tokio::test]
async fn one_endpoint_that_fails_holds_up_nobody() {
    let world = World::live();
    let dispatches = [dispatch(&world), dispatch(&world), dispatch(&world)];
    let mut events = due(dispatches.to_vec());
    let [one, failing, two] = &dispatches;
    delivers(&mut events, one);
    delivers(&mut events, two);
    fails(&mut events, failing, SendFailure::Unreachable, Some(START + seconds(5)));
    let down = failing.endpoint.url.clone();
    let (sender, posted) =
        sender(
            move |request| {
                if request.url == down { Err(SendFailure::Unreachable) } else { Ok(204) }
            },
        );
    assert_eq!(tell_due(&tell(&world, events, sender)).await.unwrap(), 3);
    assert_eq!(posted.lock().unwrap().len(), 3);
}

#[tokio::test]
async fn a_store_failure_is_told_after_everybody_was_tried() {
    let world = World::live();
    let dispatches = [dispatch(&world), dispatch(&world)];
    let mut events = due(dispatches.to_vec());
    let first = dispatches[0].endpoint.id;
    events
        .expect_delivered()
        .times(2)
        .returning(move |calls| if calls[0].endpoint == first { Err(down()) } else { Ok(()) });
    let (sender, posted) = sender(|_| Ok(204));
    assert!(tell_due(&tell(&world, events, sender)).await.is_err());
    assert_eq!(posted.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn nothing_due_is_nobody_told() {
    let world = World::live();
    let told = tell(&world, due(Vec::new()), MockWebhookSender::new());
    assert_eq!(tell_due(&told).await.unwrap(), 0);
    let mut events = MockEventStore::new();
    events.expect_claim_due().returning(|_, _, _| Err(down()));
    assert!(tell_due(&tell(&world, events, MockWebhookSender::new())).await.is_err());
}

#[tokio::test]
async fn an_endpoint_that_this_switches_off_is_rid_of_what_waits() {
    let world = World::live();
    let dispatch = dispatch(&world);
    let mut events = due(vec![dispatch.clone()]);
    let off = Endpoint {
        failing: Some(Failing { since: START - seconds(3_600), failures: 10 }),
        disabled_at: Some(START),
        ..dispatch.endpoint.clone()
    };
    events.expect_failed().times(1).returning(move |_, _| Ok(Some(off.clone())));
    events.expect_drop_undelivered().times(1).returning(|| Ok(7));
    let (sender, _) = sender(|_| Err(SendFailure::Status(500)));
    assert_eq!(tell_due(&tell(&world, events, sender)).await.unwrap(), 1);
}

#[tokio::test]
async fn a_test_is_called_once() {
    let world = World::live();
    let Dispatch { endpoint, event, .. } = dispatch(&world);
    let subject = Subject::Test { endpoint: endpoint.id };
    let event = Event { kind: EventKind::WebhookTest, subject, ..event };
    let dispatch = Dispatch { endpoint, event, failures: 0 };
    let mut events = due(vec![dispatch.clone()]);
    fails(&mut events, &dispatch, SendFailure::TimedOut, None);
    let (sender, _) = sender(|_| Err(SendFailure::TimedOut));
    assert_eq!(tell_due(&tell(&world, events, sender)).await.unwrap(), 1);
}

#[tokio::test]
async fn the_log_of_an_endpoint_stays_near_its_bound() {
    let store = Arc::<dwar_memory::MemoryStore>::default();
    let clock = Arc::new(dwar_testkit::FixedClock::at(START));
    let parts = dwar_testkit::parts(dwar_app::Stores::from(&store), &clock);
    let world = World::live();
    let told = dispatch(&world);
    parts.stores.events.add_endpoint(told.endpoint.clone()).await.unwrap();
    let tell = parts.tell_events(Arc::<dwar_testkit::Post>::default());
    let mut most = 0;
    for number in 0..1_700_u32 {
        clock.set(START + MS * number);
        tell.tell(&told).await.unwrap();
        let (project, id) = (told.endpoint.project, told.endpoint.id);
        if number % 50 == 0 {
            let calls = &parts.stores.calls;
            let kept = calls.calls(project, id, dwar_event::CallFilter::default(), 5_000).await;
            most = most.max(kept.unwrap().len());
        }
    }
    assert!((1_000..1_600).contains(&most), "{most} calls are on record");
}
