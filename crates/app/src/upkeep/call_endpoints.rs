use super::tell_events::FinishedCall;
use crate::TellEvents;
use dwar_event::{CallPlaces, Dispatch, EndpointCall, SendFailure};
use dwar_kernel::{EndpointId, StoreError, Timestamp, with_causes};
use futures_util::future::{BoxFuture, Either, FutureExt, pending, select};
use futures_util::stream::{FuturesUnordered, Stream, StreamExt};
use std::collections::{HashMap, VecDeque};
use std::mem::take;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::time::Duration;

/// How long a claimed delivery waits for a place. After that it is left to its lease, so that a call uses a
/// recent state of the endpoint.
const WAITS: Duration = Duration::from_secs(5);

/// Calls endpoints with due events, each with as many concurrent calls as it handles ([`CallPlaces`]), until
/// the ticks end and all claimed work is done.
///
/// Deliveries are claimed at each tick, and as soon as few deliveries of an endpoint wait. Accepted calls are
/// recorded in batches: those that ended while the previous batch was being written. A failure of the store
/// is logged; unfinished deliveries become due again when their lease ends.
pub async fn call_endpoints(tell: &TellEvents, ticks: impl Stream<Item = ()> + Send) {
    let mut ticks = pin!(ticks);
    let mut calls = CallLoop::new(tell);
    loop {
        match select(ticks.next(), calls.running.next()).await {
            Either::Left((Some(()), _)) => calls.claim_soon = true,
            Either::Left((None, _)) => break,
            Either::Right((Some(end), _)) => calls.ended(end),
            Either::Right((None, _)) => {}
        }
        calls.claim();
        calls.go_on();
    }
    while calls.jobs > 0 {
        if let Some(end) = calls.running.next().await {
            calls.ended(end);
            calls.go_on();
        }
    }
}

enum CallStep {
    Claim(Result<Vec<Dispatch>, StoreError>),
    Call(EndpointId, Timestamp, Option<FinishedCall>),
    Write(Result<(), StoreError>),
    Trim(Result<(), StoreError>),
}

struct WaitingDispatch {
    since: Timestamp,
    dispatch: Dispatch,
}

struct CallLoop<'tell> {
    tell: &'tell TellEvents,
    places: CallPlaces,
    waiting: HashMap<EndpointId, VecDeque<WaitingDispatch>>,
    /// Accepted calls that are not on record yet.
    accepted: Vec<EndpointCall>,
    writing: u32,
    claiming: bool,
    claim_soon: bool,
    running: FuturesUnordered<BoxFuture<'tell, CallStep>>,
    /// Number of futures in `running` that will end.
    jobs: u32,
}

impl<'tell> CallLoop<'tell> {
    fn new(tell: &'tell TellEvents) -> Self {
        let running = FuturesUnordered::new();
        // A future that never ends keeps the set non-empty, so that waiting for the next end always waits.
        running.push(pending().boxed());
        Self {
            tell,
            places: CallPlaces::default(),
            waiting: HashMap::new(),
            accepted: Vec::new(),
            writing: 0,
            claiming: false,
            claim_soon: false,
            running,
            jobs: 0,
        }
    }

    fn run(&mut self, job: BoxFuture<'tell, CallStep>) {
        self.jobs += 1;
        self.running.push(job);
    }

    fn unwritten(&self) -> u32 {
        self.writing + u32::try_from(self.accepted.len()).unwrap_or(u32::MAX)
    }

    fn claim(&mut self) {
        if self.claiming || !take(&mut self.claim_soon) {
            return;
        }
        self.claiming = true;
        let (tell, now) = (self.tell, self.tell.tools.now());
        let room = self.places.room(self.unwritten(), now);
        self.run(async move { CallStep::Claim(tell.claim(room).await) }.boxed());
    }

    /// Begins the calls that have a place, and records accepted calls.
    fn go_on(&mut self) {
        self.begin_calls();
        let (in_progress, waiting) = self.places.held();
        self.tell.tools.observer.calling(in_progress, waiting);
        if self.writing > 0 || self.accepted.is_empty() {
            return;
        }
        let (tell, calls) = (self.tell, take(&mut self.accepted));
        self.writing = u32::try_from(calls.len()).unwrap_or(u32::MAX);
        self.trim(calls.clone());
        self.run(async move { CallStep::Write(tell.delivered(calls).await) }.boxed());
    }

    fn trim(&mut self, calls: Vec<EndpointCall>) {
        if calls.iter().any(EndpointCall::asks_for_a_trim) {
            let tell = self.tell;
            self.run(async move { CallStep::Trim(tell.trim(&calls).await) }.boxed());
        }
    }

    fn begin_calls(&mut self) {
        let now = self.tell.tools.now();
        let endpoints: Vec<EndpointId> = self.waiting.keys().copied().collect();
        for endpoint in endpoints {
            let Some(mut waiting) = self.waiting.remove(&endpoint) else { continue };
            let late = |it: &WaitingDispatch| now > it.since + WAITS;
            while waiting.front().is_some_and(late) {
                waiting.pop_front();
                self.places.dropped(endpoint);
            }
            while !waiting.is_empty() && self.places.begin(endpoint, now) {
                if let Some(WaitingDispatch { dispatch, .. }) = waiting.pop_front() {
                    self.begin(dispatch, now);
                }
            }
            if !waiting.is_empty() {
                self.waiting.insert(endpoint, waiting);
            }
        }
    }

    fn begin(&mut self, dispatch: Dispatch, began: Timestamp) {
        let (tell, endpoint) = (self.tell, dispatch.endpoint.id);
        let call = async move {
            // A panic must not end the other calls, some of which are under way.
            let called = AssertUnwindSafe(tell.call(&dispatch)).catch_unwind().await;
            CallStep::Call(endpoint, began, called.ok())
        };
        self.run(call.boxed());
    }

    fn ended(&mut self, end: CallStep) {
        self.jobs -= 1;
        let outcome = match end {
            CallStep::Claim(claimed) => {
                self.claiming = false;
                claimed.map(|dispatches| self.claimed(dispatches))
            }
            CallStep::Call(endpoint, began, called) => self.called(endpoint, began, called),
            CallStep::Write(written) => {
                self.writing = 0;
                written
            }
            CallStep::Trim(trimmed) => trimmed,
        };
        if let Err(error) = outcome
            // A store without room logs that itself, once.
            && !matches!(error, StoreError::NoRoom)
        {
            tracing::warn!(error = %with_causes(&error), "events could not be delivered");
        }
    }

    fn claimed(&mut self, dispatches: Vec<Dispatch>) {
        let since = self.tell.tools.now();
        for dispatch in dispatches {
            let endpoint = &dispatch.endpoint;
            self.places.claimed(endpoint.id, endpoint.failing.is_some(), since);
            let waiting = self.waiting.entry(endpoint.id).or_default();
            waiting.push_back(WaitingDispatch { since, dispatch });
        }
    }

    fn called(
        &mut self,
        endpoint: EndpointId,
        began: Timestamp,
        called: Option<FinishedCall>,
    ) -> Result<(), StoreError> {
        let Some(FinishedCall { call, written }) = called else {
            self.places.ended(endpoint, began, None, Duration::ZERO);
            tracing::error!("a task panicked and will be tried again when its lease ends");
            return Ok(());
        };
        // A call that could not be signed with our keys says nothing about the endpoint.
        let accepted = (call.outcome != Err(SendFailure::Unsigned)).then_some(call.outcome.is_ok());
        self.places.ended(endpoint, began, accepted, call.took);
        self.claim_soon |= written.is_ok() && self.places.runs_low(endpoint);
        let (tell, was_accepted) = (self.tell, call.outcome.is_ok());
        if was_accepted {
            self.accepted.push(call);
        } else {
            self.trim(vec![call]);
        }
        // Deliveries claimed before the endpoint asked for a pause have to wait; later ones may be
        // sent.
        let resting = !was_accepted && tell.resting.at(tell.tools.now()).contains(&endpoint);
        if written? || resting {
            for _ in self.waiting.remove(&endpoint).unwrap_or_default() {
                self.places.dropped(endpoint);
            }
        }
        Ok(())
    }
}
