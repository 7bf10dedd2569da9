use super::state::Connection;
use super::{Patience, Visit};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use tokio::time::Instant;

/// The connections of one worker, and how many there may be.
pub(crate) struct Edge {
    patience: Patience,
    places: usize,
    guests: RefCell<BTreeMap<u64, Rc<Connection>>>,
    next: Cell<u64>,
}

impl Edge {
    /// At most `places` connections; the last place is kept free as long as a connection dawdles.
    pub(crate) fn new(patience: Patience, places: usize) -> Rc<Self> {
        Rc::new(Self { patience, places, guests: RefCell::default(), next: Cell::default() })
    }

    /// Admits a connection that was just accepted. If it takes the last place, the one that has
    /// dawdled longest is closed.
    pub(crate) fn admit(self: &Rc<Self>) -> Visit {
        let id = self.next.replace(self.next.get() + 1);
        let connection = Rc::new(Connection::new(self.patience));
        self.make_room_for(1);
        self.guests.borrow_mut().insert(id, Rc::clone(&connection));
        Visit { edge: Rc::clone(self), id, connection }
    }

    /// Frees the place of a connection that is closed.
    pub(super) fn leave(&self, id: u64) {
        self.guests.borrow_mut().remove(&id);
    }

    /// If no place is left once `coming` more are in, closes the connection that has been longest
    /// without a whole request in progress. If there is none, new ones wait in the backlog.
    pub(super) fn make_room_for(&self, coming: usize) {
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
