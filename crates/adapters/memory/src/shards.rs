use dwar_ratelimit::RequestKey;
use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Number of maps. Enough that look-ups of different keys rarely meet at one lock.
const SHARDS: usize = 64;

/// A value per key, spread over several maps so that look-ups rarely wait for each other.
#[derive(Debug)]
pub(crate) struct Shards<T> {
    shards: [Mutex<Shard<T>>; SHARDS],
    hasher: RandomState,
}

pub(crate) type Shard<T> = HashMap<RequestKey, Arc<T>>;

impl<T> Default for Shards<T> {
    fn default() -> Self {
        Self { shards: std::array::from_fn(|_| Mutex::default()), hasher: RandomState::new() }
    }
}

impl<T: Default> Shards<T> {
    pub(crate) fn of(&self, key: RequestKey) -> Arc<T> {
        Arc::clone(lock(self.shard(&key)).entry(key).or_default())
    }
}

impl<T> Shards<T> {
    pub(crate) fn each(&self) -> impl Iterator<Item = (RequestKey, Arc<T>)> {
        self.shards.iter().flat_map(|shard| {
            let all = lock(shard);
            all.iter().map(|(key, value)| (*key, Arc::clone(value))).collect::<Vec<_>>()
        })
    }

    /// Shortens every value without the lock of a shard, then removes idle values.
    ///
    /// Nobody can get a value from the locked shard meanwhile, so an unshared value stays unshared.
    /// A shared value may be about to count a request and is kept.
    pub(crate) fn sweep(&self, shorten: impl Fn(&T), mut is_idle: impl FnMut(&mut T) -> bool) {
        for shard in &self.shards {
            let values: Vec<_> = lock(shard).values().map(Arc::clone).collect();
            values.iter().for_each(|value| shorten(value));
            drop(values);
            lock(shard).retain(|_, value| !Arc::get_mut(value).is_some_and(&mut is_idle));
        }
    }

    pub(crate) fn shard(&self, key: &RequestKey) -> &Mutex<Shard<T>> {
        let hash = self.hasher.hash_one(key);
        &self.shards[usize::try_from(hash % SHARDS as u64).unwrap_or_default()]
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.shards.iter().map(|shard| lock(shard).len()).sum()
    }
}

/// A panicking thread leaves at worst one admission uncounted, so a poisoned lock is used anyway.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
