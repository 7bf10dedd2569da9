use dwar_kernel::HookId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tokio::sync::Semaphore;

/// Most long bodies in memory at once for each of [`BodyOwner`].
const AT_ONCE: usize = 4;

/// The owner of places for long bodies. Owners do not share places.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum BodyOwner {
    /// An existing hook, for a call whose head may be genuine.
    Hook(HookId),
    Provider(String),
    /// A provider, for a caller that is not authenticated yet.
    StrangersAt(String),
}

/// The places for long bodies of all connections.
#[derive(Debug, Default)]
pub(crate) struct BodyPlaces(Mutex<HashMap<BodyOwner, Weak<Semaphore>>>);

impl BodyPlaces {
    /// The places of one owner. They exist while a body holds one or waits for one, so there are
    /// never more entries than connections.
    pub(crate) fn of(&self, whose: &BodyOwner) -> Arc<Semaphore> {
        let mut rooms = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(room) = rooms.get(whose).and_then(Weak::upgrade) {
            return room;
        }
        rooms.retain(|_, room| room.strong_count() > 0);
        let room = Arc::new(Semaphore::new(AT_ONCE));
        rooms.insert(whose.clone(), Arc::downgrade(&room));
        room
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_kept_apart_and_go_with_whoever_is_in_them() {
        let rooms = BodyPlaces::default();
        let [one, other] = ["wa", "text"].map(|name| BodyOwner::StrangersAt(name.to_owned()));
        let mut inside: Vec<_> =
            (0..AT_ONCE).map(|_| rooms.of(&one).try_acquire_owned().unwrap()).collect();
        assert!(rooms.of(&one).try_acquire_owned().is_err());
        assert!(rooms.of(&BodyOwner::Provider("wa".to_owned())).try_acquire_owned().is_ok());
        assert!(rooms.of(&other).try_acquire_owned().is_ok());
        inside.pop();
        assert!(rooms.of(&one).try_acquire_owned().is_ok());
        drop(inside);
        drop(rooms.of(&other));
        assert_eq!(rooms.0.lock().unwrap().len(), 1, "nobody is in the others");
    }
}
