use crate::Quota;
use dwar_kernel::{InstanceId, Timestamp};
use std::time::Duration;

/// How many slots a window is cut into when an instance reports its admissions.
const SLOTS: u32 = 30;

/// What several instances may admit of one key's quota, together never more than that.
///
/// A share is a number of places in the window: its holder admits that many in any window, and asks
/// nobody while it does. A share that is in force counts in full. One that is over counts for one
/// more window, less what is known to have left it.
///
/// Every instant here is by one clock, that of the store of the shares. An instance reports how
/// long ago something was, so its own clock need not be right.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shares(Vec<Share>);

/// One instance's part of a key's quota.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    pub holder: InstanceId,
    /// The number of the holder's wish that it granted.
    pub number: u64,
    /// How many admissions of the holder may lie in any window.
    pub places: u32,
    pub told_at: Timestamp,
    /// From then on the holder admits nothing by it.
    pub until: Timestamp,
    /// The length of the window that its admissions occupy.
    pub window: Duration,
    /// How many admissions were that old when they were reported, by thirtieths of the window: the youngest come first.
    pub uses: Vec<u32>,
}

/// What an instance wants to hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish {
    pub holder: InstanceId,
    /// Grows from wish to wish: an older one that arrives late changes nothing.
    pub number: u64,
    /// The whole that it is a part of.
    pub quota: Quota,
    /// Its own admissions in the present window, by age, as [`Share::uses`].
    pub uses: Vec<u32>,
    /// What it relies on until it has an answer: never fewer places are put on record.
    pub hold: u32,
    /// How many places it would like to have besides those in use.
    pub spare: u32,
    /// How long it wants to hold them; nothing to give them up.
    pub lasts: Duration,
}

/// What an instance got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    pub places: u32,
    pub others: u32,
    /// Until others may have fewer; `None` if they have none.
    pub relief: Option<Duration>,
}

/// The length of a slot: entry `i` of [`Share::uses`] counts those that were at least `i` of these
/// old, and younger than `i + 1`.
pub fn slot_length(window: Duration) -> Duration {
    (window + Duration::from_nanos(u64::from(SLOTS - 1))) / SLOTS
}

impl Shares {
    /// The shares that are on record.
    pub const fn new(shares: Vec<Share>) -> Self {
        Self(shares)
    }

    /// The shares to put on record.
    pub fn as_slice(&self) -> &[Share] {
        &self.0
    }

    /// When none of them counts any more; `None` if there are none.
    pub fn over_at(&self) -> Option<Timestamp> {
        self.0.iter().map(|share| share.until + share.window).max()
    }

    /// Replaces the holder's last share with a new one, as large as wanted if the others leave that
    /// much. On record it is never smaller than what the holder already relies on, and neither is the
    /// grant if the last share is still in force; a wish that comes after its end may find that others
    /// have the places. `None` if a later wish of the holder was granted before. Repeating a wish
    /// changes nothing more.
    pub fn exchange(&mut self, wish: &Wish, now: Timestamp) -> Option<Grant> {
        if self.0.iter().any(|it| it.holder == wish.holder && it.number > wish.number) {
            return None;
        }
        self.0.iter_mut().for_each(|share| share.count_from(now));
        let window = wish.quota.window;
        // What it relies on is its own for as long as it could not be given to another.
        let own = self.0.iter().find(|it| it.holder == wish.holder && it.number < wish.number);
        let keeps = own.is_some_and(|it| now < it.until);
        self.0.retain(|it| it.holder != wish.holder && it.occupies(window, now) > 0);
        let occupied = self.0.iter().map(|it| it.occupies(window, now));
        let others = occupied.fold(0, u32::saturating_add);
        let used: u32 = wish.uses.iter().sum();
        let wanted = used.saturating_add(wish.spare);
        let free = wanted.min(wish.quota.limit.saturating_sub(others));
        // What it admitted meanwhile still counts on record.
        let places = free.max(wish.hold);
        let relief = self.0.iter().filter_map(|it| it.relief(window, now)).min();
        if places > 0 {
            self.0.push(Share {
                holder: wish.holder,
                number: wish.number,
                places,
                told_at: now,
                until: now + wish.lasts,
                window,
                uses: wish.uses.clone(),
            });
        }
        Some(Grant { places: if keeps { places } else { free }, others, relief })
    }
}

impl Share {
    /// If the clock was set back since this was told: as if it were told now, since nobody knows how old it is.
    fn count_from(&mut self, now: Timestamp) {
        if now < self.told_at {
            self.until -= self.told_at - now;
            self.told_at = now;
        }
    }

    /// How many places of a window that ends `now` it may occupy, at most.
    fn occupies(&self, window: Duration, now: Timestamp) -> u32 {
        let window = window.max(self.window);
        if now < self.until {
            return self.places;
        }
        if self.until + window <= now {
            return 0;
        }
        // When it ended, no more admissions than places lay in the window. Some of those are known,
        // and some of these have left it since.
        let began = self.until - self.window;
        let gone = self.slots().filter(|slot| began <= slot.after && slot.to + window <= now);
        self.places.saturating_sub(gone.map(|slot| slot.uses).sum())
    }

    /// Until it may occupy fewer places.
    fn relief(&self, window: Duration, now: Timestamp) -> Option<Duration> {
        let window = window.max(self.window);
        let known = self.slots().filter(|slot| slot.uses > 0).map(|slot| slot.to + window);
        let ends = known.chain([self.until + window]).filter(|end| now < *end);
        ends.min().and_then(|end| (end - now).to_std().ok())
    }

    fn slots(&self) -> impl Iterator<Item = Slot> {
        let length = slot_length(self.window);
        self.uses.iter().zip(0_u32..).map(move |(uses, number)| Slot {
            after: self.told_at - length * (number + 1),
            to: self.told_at - length * number,
            uses: *uses,
        })
    }
}

/// Admissions later than `after`, and not later than `to`.
struct Slot {
    after: Timestamp,
    to: Timestamp,
    uses: u32,
}

#[cfg(test)]
#[path = "share_tests.rs"]
mod tests;
