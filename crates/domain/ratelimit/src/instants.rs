use dwar_kernel::Timestamp;
use std::collections::VecDeque;

/// Instants in order, to the millisecond.
///
/// Stores the gaps between them, seven bits to a byte (LEB128): an instant within 127 ms of the previous one
/// costs one byte. `n` instants inside a window of `w` milliseconds take at most `n + w / 128` bytes while
/// gaps are below 16 s, so the 12,000 of a minute take 12.5 kB.
#[derive(Clone, Debug, Default)]
pub(crate) struct Instants {
    first: i64,
    last: i64,
    count: usize,
    gaps: VecDeque<u8>,
}

const MORE: u8 = 0x80;
const SLACK: usize = 64;

impl Instants {
    pub(crate) const fn len(&self) -> usize {
        self.count
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The earliest instant, in milliseconds since 1970.
    pub(crate) fn first(&self) -> Option<i64> {
        (self.count > 0).then_some(self.first)
    }

    /// The instant with `before` earlier ones; takes that many steps.
    pub(crate) fn nth(&self, before: usize) -> Option<i64> {
        if before >= self.count {
            return None;
        }
        let mut bytes = self.gaps.iter().copied();
        Some((0..before).fold(self.first, |at, _| at + gap(|| bytes.next())))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = i64> {
        let mut bytes = self.gaps.iter().copied();
        let mut at = self.first;
        (0..self.count).map(move |number| {
            at += if number == 0 { 0 } else { gap(|| bytes.next()) };
            at
        })
    }

    /// Adds an instant. If the clock was set back, it counts as equal to the last one.
    pub(crate) fn push(&mut self, at: Timestamp) {
        let at = at.timestamp_millis();
        if self.is_empty() {
            (self.first, self.last) = (at, at);
        } else {
            let at = at.max(self.last);
            self.push_gap(at.abs_diff(self.last));
            self.last = at;
        }
        self.count += 1;
    }

    pub(crate) fn pop_first(&mut self) {
        self.count = self.count.saturating_sub(1);
        if self.is_empty() {
            self.gaps.clear();
        } else {
            self.first += gap(|| self.gaps.pop_front());
        }
    }

    /// Frees the memory of a burst once most of it is unused.
    pub(crate) fn shrink(&mut self) {
        if self.gaps.capacity() > 4 * self.gaps.len() + SLACK {
            self.gaps.shrink_to_fit();
        }
    }

    fn push_gap(&mut self, mut gap: u64) {
        while gap >= u64::from(MORE) {
            self.gaps.push_back(low_seven(gap) | MORE);
            gap >>= 7;
        }
        self.gaps.push_back(low_seven(gap));
    }
}

const fn low_seven(gap: u64) -> u8 {
    (gap & 0x7f) as u8
}

fn gap(mut next: impl FnMut() -> Option<u8>) -> i64 {
    let (mut gap, mut shift) = (0, 0);
    while let Some(byte) = next() {
        gap |= i64::from(byte & !MORE) << shift;
        shift += 7;
        if byte & MORE == 0 {
            break;
        }
    }
    gap
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_timestamp_millis(1_800_000_000_000 + millis).unwrap()
    }

    /// Compares with a plain queue, with gaps of every length.
    #[test]
    fn gives_back_what_was_put_in() {
        let gaps = [0, 1, 127, 128, 5, 16_383, 16_384, 0, 59_999, 3_600_000, 1, 2_097_152, 0];
        let (mut instants, mut plain) = (Instants::default(), VecDeque::new());
        let mut now = 0;
        for round in 0..200 {
            for gap in gaps {
                now += gap + round % 3;
                instants.push(at(now));
                plain.push_back(at(now).timestamp_millis());
            }
            for _ in 0..round % 20 {
                instants.pop_first();
                plain.pop_front();
            }
            instants.shrink();
            assert_eq!((instants.len(), instants.first()), (plain.len(), plain.front().copied()));
            assert!(instants.iter().eq(plain.iter().copied()));
            for before in [0, 1, plain.len() / 2, plain.len().saturating_sub(1), plain.len()] {
                assert_eq!(instants.nth(before), plain.get(before).copied());
            }
        }
        while !plain.is_empty() {
            assert_eq!(instants.first(), plain.pop_front());
            instants.pop_first();
        }
        assert_eq!((instants.is_empty(), instants.first(), instants.gaps.len()), (true, None, 0));
    }

    #[test]
    fn an_instant_costs_a_byte_and_a_burst_gives_its_memory_back() {
        let mut instants = Instants::default();
        for number in 0..12_000 {
            instants.push(at(number * 5));
        }
        assert!(instants.gaps.len() <= 12_000 + 60_000 / 128, "{}", instants.gaps.len());
        assert!(instants.gaps.capacity() <= 2 * instants.gaps.len());
        for _ in 0..11_999 {
            instants.pop_first();
        }
        instants.shrink();
        assert!(instants.gaps.capacity() <= SLACK, "{}", instants.gaps.capacity());
    }

    #[test]
    fn a_clock_that_steps_back_keeps_the_order() {
        let mut instants = Instants::default();
        [10, 4, 12].into_iter().for_each(|millis| instants.push(at(millis)));
        let offset = |before| instants.nth(before).map(|ms| ms - at(0).timestamp_millis());
        assert_eq!([0, 1, 2].map(offset), [Some(10), Some(10), Some(12)]);
    }
}
