//! Thirty days: what happens when. Seconds are counted from the first midnight.

use std::ops::Range;

pub const HOUR: u64 = 3_600;
pub const DAY: u64 = 24 * HOUR;
pub const DAYS: u64 = 30;

/// How busy each hour of a day is.
const CURVE: [f64; 24] = [
    0.5, 0.3, 0.2, 0.15, 0.15, 0.25, 0.5, 0.8, 1.1, 1.3, 1.5, 1.6, 1.5, 1.4, 1.3, 1.3, 1.35, 1.4,
    1.5, 1.6, 1.65, 1.5, 1.1, 0.8,
];
const SALE_TIMES: f64 = 20.0;
/// Of a hundred people, so many enter the code.
const ENTERED: f64 = 0.88;
const ENTERED_IN_A_SALE: f64 = 0.75;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happening {
    Nothing,
    Sale,
    /// Every call to the provider fails.
    ProviderFails,
    /// The provider accepts every message, and none arrives.
    MessagesLost,
    /// By the attacker with this index.
    Attack(usize),
}

/// Some days, and what happens in them.
pub struct Part {
    pub name: &'static str,
    pub happening: Happening,
    days: Range<u64>,
    /// Hours from the beginning of the first day.
    hours: Range<u64>,
}

/// An attack lasts from six in the morning of the first day to six in the evening of the third.
const fn attack(index: usize, name: &'static str) -> Part {
    let first = 9 + 3 * index as u64;
    Part { name, happening: Happening::Attack(index), days: first..first + 3, hours: 6..66 }
}

pub const PARTS: [Part; 12] = [
    part("quiet", Happening::Nothing, 0..5, 0..0),
    part("sale", Happening::Sale, 5..6, 18..20),
    part("calls to the provider fail", Happening::ProviderFails, 6..7, 10..16),
    part("messages are lost", Happening::MessagesLost, 7..8, 10..16),
    part("quiet again", Happening::Nothing, 8..9, 0..0),
    attack(0, "walk"),
    attack(1, "series"),
    attack(2, "drip"),
    attack(3, "bomber"),
    attack(4, "lock-out"),
    attack(5, "own SIM cards"),
    attack(6, "under the line"),
];
pub const LOCK_OUT: &Part = &PARTS[9];

const fn part(
    name: &'static str,
    happening: Happening,
    days: Range<u64>,
    hours: Range<u64>,
) -> Part {
    Part { name, happening, days, hours }
}

impl Part {
    /// When it happens.
    pub const fn busy(&self) -> Range<u64> {
        let begin = self.days.start * DAY;
        begin + self.hours.start * HOUR..begin + self.hours.end * HOUR
    }

    pub const fn days(&self) -> u64 {
        self.days.end - self.days.start
    }
}

/// The index of the part that a second belongs to.
pub fn part_at(second: u64) -> usize {
    let day = second / DAY;
    PARTS.iter().position(|part| part.days.contains(&day)).unwrap_or(PARTS.len() - 1)
}

pub fn happening(second: u64) -> Happening {
    let part = &PARTS[part_at(second)];
    if part.busy().contains(&second) { part.happening } else { Happening::Nothing }
}

/// How many people come in this second on average, if so many come on a common day.
pub fn people(second: u64, a_day: f64) -> f64 {
    let hour = second % DAY / HOUR;
    let share = CURVE[hour as usize] / CURVE.iter().sum::<f64>() / 3_600.0;
    let times = if happening(second) == Happening::Sale { SALE_TIMES } else { 1.0 };
    a_day * share * times
}

pub fn share_that_enters(second: u64) -> f64 {
    if happening(second) == Happening::Sale { ENTERED_IN_A_SALE } else { ENTERED }
}
