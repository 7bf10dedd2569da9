use std::time::Duration;

/// Bins per octave, and bins of the first second.
const STEPS: usize = 8;
/// Octaves from one second on: up to 1,024 s.
const OCTAVES: usize = 10;
const BINS: usize = STEPS * (1 + OCTAVES);
const UNIT_MS: u64 = 125;

/// A histogram of durations, in bins an eighth of their octave wide: a time read from it is off by at most a
/// sixteenth of itself, below one second by 63 ms. All times from 1,024 s on share one bin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DurationHistogram([u64; BINS]);

impl Default for DurationHistogram {
    fn default() -> Self {
        Self([0; BINS])
    }
}

impl DurationHistogram {
    /// Adds one duration to the bin that it falls into.
    pub fn note(&mut self, took: Duration) {
        self.add(bin(took), 1);
    }

    /// Adds all durations of `other`, bin by bin.
    pub fn merge(&mut self, other: &Self) {
        for (count, more) in self.0.iter_mut().zip(other.0) {
            *count = count.saturating_add(more);
        }
    }

    /// The median; of an even number the shorter of the two in the middle.
    pub fn median(&self) -> Option<Duration> {
        let total: u64 = self.0.iter().sum();
        let mut rank = total.div_ceil(2).checked_sub(1)?;
        for (index, count) in self.0.iter().enumerate() {
            match rank.checked_sub(*count) {
                None => return Some(middle(index)),
                Some(rest) => rank = rest,
            }
        }
        None
    }

    /// Stored form: for each non-empty bin its number in one byte and its count in four, big-endian.
    pub fn to_bytes(&self) -> Vec<u8> {
        let filled = self.0.iter().enumerate().filter(|(_, count)| **count > 0);
        let bytes = filled.flat_map(|(index, count)| {
            let [a, b, c, d] = u32::try_from(*count).unwrap_or(u32::MAX).to_be_bytes();
            [u8::try_from(index).unwrap_or(u8::MAX), a, b, c, d]
        });
        bytes.collect()
    }

    /// Parses what [`DurationHistogram::to_bytes`] wrote; `None` for other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (bins, rest) = bytes.as_chunks::<5>();
        let mut times = Self::default();
        for [index, count @ ..] in bins {
            *times.0.get_mut(usize::from(*index))? = u32::from_be_bytes(*count).into();
        }
        rest.is_empty().then_some(times)
    }

    fn add(&mut self, bin: usize, more: u64) {
        if let Some(count) = self.0.get_mut(bin) {
            *count = count.saturating_add(more);
        }
    }
}

fn bin(took: Duration) -> usize {
    let units = usize::try_from(took.as_millis() / u128::from(UNIT_MS)).unwrap_or(usize::MAX);
    if units < STEPS {
        return units;
    }
    let octave = (units.ilog2() - STEPS.ilog2()) as usize;
    (STEPS * octave + (units >> octave)).min(BINS - 1)
}

fn middle(bin: usize) -> Duration {
    let octave = (bin / STEPS).saturating_sub(1);
    let low = if bin < STEPS { bin } else { (STEPS + bin % STEPS) << octave };
    let ms = |units: usize| u64::try_from(units).unwrap_or_default() * UNIT_MS;
    Duration::from_millis(ms(low) + ms(1 << octave) / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_found_again_within_a_sixteenth() {
        let mut took = 0;
        while took < 1_024_000 {
            let found = middle(bin(Duration::from_millis(took)));
            let off = found.as_millis().abs_diff(took.into());
            let most = u128::from(took / 16).max(63) + 1;
            assert!(off <= most, "{took} ms was found as {found:?}");
            took += 1 + took / 500;
        }
        assert_eq!(bin(Duration::from_secs(1_023)), BINS - 1);
        assert_eq!(bin(Duration::MAX), BINS - 1);
    }

    #[test]
    fn bins_follow_each_other_without_a_gap() {
        let at = |ms| bin(Duration::from_millis(ms));
        assert_eq!([at(0), at(124), at(125), at(999), at(1_000)], [0, 0, 1, 7, 8]);
        assert_eq!([at(1_999), at(2_000), at(2_249), at(2_250)], [15, 16, 16, 17]);
    }

    #[test]
    fn the_median_is_the_one_in_the_middle() {
        let of = |seconds: &[u64]| {
            let mut times = DurationHistogram::default();
            seconds.iter().for_each(|took| times.note(Duration::from_secs(*took)));
            times.median().map(|median| median.as_secs())
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[4]), Some(4));
        assert_eq!(of(&[4, 100]), Some(4));
        assert_eq!(of(&[600, 4, 4, 4, 600]), Some(4));
        assert_eq!(of(&[4, 4, 8, 600, 600]), Some(8));
    }

    #[test]
    fn is_read_as_it_was_written_and_nothing_else_is() {
        let mut times = DurationHistogram::default();
        for took in [0, 3, 3, 70, 4_000] {
            times.note(Duration::from_secs(took));
        }
        let bytes = times.to_bytes();
        assert_eq!(bytes.len(), 4 * 5);
        assert_eq!(DurationHistogram::from_bytes(&bytes), Some(times));
        assert_eq!(DurationHistogram::from_bytes(&[]), Some(DurationHistogram::default()));
        assert_eq!(DurationHistogram::from_bytes(&bytes[1..]), None);
        assert_eq!(DurationHistogram::from_bytes(&[200, 0, 0, 0, 1]), None);
    }
}
