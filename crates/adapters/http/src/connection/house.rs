use super::state::Connection;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use tokio::time::Instant;

/// The connections of one worker, and how many there may be.
pub(super) struct House {
    places: usize,
    guests: RefCell<BTreeMap<u64, Rc<Connection>>>,
    next: Cell<u64>,
}

/// A place in the house, free again when this is dropped.
pub(super) struct Place {
    house: Rc<House>,
    id: u64,
}

impl House {
    pub(super) fn new(places: usize) -> Self {
        Self { places, guests: RefCell::default(), next: Cell::default() }
    }

    /// Takes a connection in. If it takes the last place, the one that has dawdled longest goes.
    pub(super) fn admit(self: &Rc<Self>, connection: &Rc<Connection>) -> Place {
        let id = self.next.replace(self.next.get() + 1);
        self.make_room_for(1);
        self.guests.borrow_mut().insert(id, Rc::clone(connection));
        Place { house: Rc::clone(self), id }
    }

    /// If no place is left once `coming` more are in, closes the connection that has been longest
    /// without a whole request being worked on. If there is none, new ones wait in the backlog.
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

impl Drop for Place {
    fn drop(&mut self) {
        self.house.guests.borrow_mut().remove(&self.id);
    }
}
