use async_trait::async_trait;
use dwar_app::{ClaimedWork, keep_going};
use dwar_kernel::StoreError;
use futures_util::stream::unfold;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use tokio::sync::{Notify, mpsc};

/// Numbers as work, at most `places` at a time; odd numbers end when they are released.
struct Numbers {
    places: usize,
    due: Mutex<VecDeque<u32>>,
    done: Mutex<Vec<u32>>,
    changed: Notify,
    release: Notify,
    outages: Mutex<u32>,
}

impl Numbers {
    fn new(places: usize, due: impl IntoIterator<Item = u32>) -> Arc<Self> {
        Arc::new(Self {
            places,
            due: Mutex::new(due.into_iter().collect()),
            done: Mutex::default(),
            changed: Notify::new(),
            release: Notify::new(),
            outages: Mutex::new(0),
        })
    }

    async fn done(&self, count: usize) -> Vec<u32> {
        loop {
            let changed = self.changed.notified();
            let done = self.done.lock().unwrap().clone();
            if done.len() >= count {
                return done;
            }
            changed.await;
        }
    }
}

#[async_trait]
impl ClaimedWork for Numbers {
    type Piece = u32;

    async fn claim(&self, under_way: &[Arc<u32>]) -> Result<Vec<u32>, StoreError> {
        let mut outages = self.outages.lock().unwrap();
        if *outages > 0 {
            *outages -= 1;
            self.changed.notify_one();
            return Err(crate::common::down());
        }
        let mut due = self.due.lock().unwrap();
        let count = due.len().min(self.places - under_way.len());
        Ok(due.drain(..count).collect())
    }

    async fn perform(&self, number: &u32) -> Result<(), StoreError> {
        assert_ne!(*number, 13, "no such floor");
        if number % 2 == 1 {
            self.release.notified().await;
        }
        self.done.lock().unwrap().push(*number);
        self.changed.notify_one();
        Ok(())
    }
}

/// Starts the work; each message on the channel is a tick, and closing it ends the work.
fn start(work: &Arc<Numbers>) -> (mpsc::UnboundedSender<()>, tokio::task::JoinHandle<()>) {
    let (tick, ticks) = mpsc::unbounded_channel();
    let ticks = unfold(ticks, |mut ticks| async { ticks.recv().await.map(|()| ((), ticks)) });
    let work = Arc::clone(work);
    (tick, tokio::spawn(async move { keep_going(work.as_ref(), ticks, "trouble").await }))
}

#[tokio::test]
async fn a_slow_piece_holds_up_nothing_but_its_own_place() {
    // One of two places is blocked; the other one does all the rest after a single tick.
    let work = Numbers::new(2, std::iter::once(1).chain((2..=200).step_by(2)));
    let (tick, running) = start(&work);
    tick.send(()).unwrap();
    assert_eq!(work.done(100).await, (2..=200).step_by(2).collect::<Vec<_>>());
    drop(tick);
    work.release.notify_one();
    running.await.unwrap();
    assert_eq!(work.done(101).await[100], 1);
}

#[tokio::test]
async fn at_the_end_nothing_new_is_begun_and_what_is_under_way_is_finished() {
    let work = Numbers::new(2, [2, 1, 3, 5, 4]);
    let (tick, running) = start(&work);
    tick.send(()).unwrap();
    assert_eq!(work.done(1).await, [2]);
    // 1 was begun together with 2, and 3 took the place of 2.
    drop(tick);
    tokio::task::yield_now().await;
    for _ in 0..2 {
        work.release.notify_one();
        tokio::task::yield_now().await;
    }
    running.await.unwrap();
    assert_eq!(*work.done.lock().unwrap(), [2, 1, 3]);
    assert_eq!(*work.due.lock().unwrap(), [5, 4]);
}

#[tokio::test]
async fn a_store_out_of_reach_is_asked_again_at_the_next_tick_only() {
    let work = Numbers::new(2, [2, 4]);
    *work.outages.lock().unwrap() = 1;
    let (tick, running) = start(&work);
    tick.send(()).unwrap();
    work.changed.notified().await;
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    assert_eq!(work.done.lock().unwrap().len(), 0);
    tick.send(()).unwrap();
    assert_eq!(work.done(2).await, [2, 4]);
    drop(tick);
    running.await.unwrap();
}

#[tokio::test]
async fn a_piece_that_panics_takes_no_other_with_it() {
    let work = Numbers::new(2, [1, 13, 2, 4]);
    let (tick, working) = start(&work);
    tick.send(()).unwrap();
    assert_eq!(work.done(2).await, [2, 4]);
    work.release.notify_one();
    assert_eq!(work.done(3).await, [2, 4, 1]);
    drop(tick);
    working.await.unwrap();
}
