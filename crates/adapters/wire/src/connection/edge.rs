use super::state::{ClientTimeouts, Connection, LAST_WORDS, Phase};
use actix_web::http::StatusCode;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll};
use tokio::time::{Instant, Sleep, sleep_until};

/// The connections of one worker, and their maximum number.
pub(crate) struct Edge {
    patience: ClientTimeouts,
    places: usize,
    guests: RefCell<BTreeMap<u64, Rc<Connection>>>,
    next: Cell<u64>,
}

impl Edge {
    /// Makes an edge for at most `places` connections. The last place stays free while any
    /// connection has no whole request in progress.
    pub(crate) fn new(patience: ClientTimeouts, places: usize) -> Rc<Self> {
        Rc::new(Self { patience, places, guests: RefCell::default(), next: Cell::default() })
    }

    /// Admits a newly accepted connection. If it takes the last place, closes the connection that
    /// has been longest without a whole request in progress.
    pub(crate) fn admit(self: &Rc<Self>) -> Visit {
        let id = self.next.replace(self.next.get() + 1);
        let connection = Rc::new(Connection::new(self.patience));
        self.make_room_for(1);
        self.guests.borrow_mut().insert(id, Rc::clone(&connection));
        Visit { edge: Rc::clone(self), id, connection }
    }

    fn leave(&self, id: u64) {
        self.guests.borrow_mut().remove(&id);
    }

    /// If `coming` more connections would fill every place, closes the one that has been longest
    /// without a whole request in progress. If there is none, new connections wait in the backlog.
    fn make_room_for(&self, coming: usize) {
        let guests = self.guests.borrow();
        if guests.len() + coming < self.places {
            return;
        }
        let leaving = guests.values().filter(|guest| guest.is_dropped()).count();
        if guests.len() - leaving + coming < self.places {
            return;
        }
        let dawdler = |guest: &Rc<Connection>| Some((guest.dawdles_since()?, Rc::clone(guest)));
        let longest: Option<(Instant, Rc<Connection>)> =
            guests.values().filter_map(dawdler).min_by_key(|(since, _)| *since);
        drop(guests);
        if let Some((_, guest)) = longest {
            guest.drop_it();
        }
    }
}

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

    /// Serves the connection for its whole life. `http` reads and answers its requests over a
    /// [`Gate`](super::Gate); dropping it closes the connection.
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

/// Ends the connection when one of its time limits expires.
///
/// The alarm is not reset for each request. It moves to an earlier deadline at once, but to a later
/// one only when it rings.
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
                alarm.as_mut().reset(now + LAST_WORDS);
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
