//! What one connection may cost: how much it queues, how long it may take, which one has to go.
//!
//! The HTTP/1 parser of actix-http decodes all that it is given, keeps up to 128 KiB of what it
//! cannot decode yet, and has a clock for the first head only. So it is given little: a [`Gate`]
//! sits between it and the socket, and [`Visit::serve`] around both.

mod body;
mod chunks;
mod edge;
mod gate;
mod head;
mod state;

pub(crate) use body::begin;
pub(crate) use edge::Edge;
pub(crate) use gate::Gate;
pub use state::Connection;

use actix_web::http::StatusCode;
use state::Phase;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep_until};

/// How long to wait for a client.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// For a whole head, from its first byte.
    pub head: Duration,
    /// For all of an answer to be taken, from the moment that some of it was not.
    pub write: Duration,
    /// For the first byte of a head.
    pub keep_alive: Duration,
}

/// One connection, from accept to close.
pub(crate) struct Visit {
    edge: Rc<Edge>,
    id: u64,
    connection: Rc<Connection>,
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.edge.leave(self.id);
    }
}

impl Visit {
    pub(crate) fn connection(&self) -> Rc<Connection> {
        Rc::clone(&self.connection)
    }

    /// Lives as long as the connection may. `http` reads and answers its requests, over a
    /// [`Gate`]; dropping it closes the connection.
    pub(crate) async fn serve(self, http: impl Future) {
        let Self { connection, edge, .. } = &self;
        let mut http = pin!(http);
        let mut alarm = pin!(sleep_until(Instant::now() + connection.patience().keep_alive));
        let mut dawdled = true;
        poll_fn(|context| {
            connection.woken_by(context.waker());
            if connection.is_dropped() || http.as_mut().poll(context).is_ready() {
                return Poll::Ready(());
            }
            let dawdles = connection.dawdles_since().is_some();
            if dawdles && !dawdled {
                edge.make_room_for(0);
            }
            dawdled = dawdles;
            watch(connection, alarm.as_mut(), context)
        })
        .await;
    }
}

/// Ends the connection when patience with its client runs out.
///
/// The alarm is not moved for each request: to an earlier deadline at once, and to a later one only
/// when it rings.
fn watch(
    connection: &Connection,
    mut alarm: Pin<&mut Sleep>,
    context: &mut Context<'_>,
) -> Poll<()> {
    if connection.is_dropped() {
        return Poll::Ready(());
    }
    if let Some(deadline) = connection.deadline().filter(|deadline| *deadline < alarm.deadline()) {
        alarm.as_mut().reset(deadline);
    }
    while alarm.as_mut().poll(context).is_ready() {
        let now = Instant::now();
        let due = connection.deadline();
        let late = due.is_some_and(|due| due <= now);
        let slow_head = late && connection.phase() == Phase::Head;
        match due {
            Some(_) if slow_head && connection.refuse(StatusCode::REQUEST_TIMEOUT) => {
                context.waker().wake_by_ref();
                alarm.as_mut().reset(now + state::LAST_WORDS);
            }
            Some(_) if late => return Poll::Ready(()),
            due => {
                let later = now + connection.patience().keep_alive;
                alarm.as_mut().reset(due.map_or(later, |due| due.min(later)));
            }
        }
    }
    Poll::Pending
}

#[cfg(test)]
mod tests;
