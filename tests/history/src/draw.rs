//! A small seeded generator: the same seed draws the same operations and faults.

/// `SplitMix64`; good enough to choose the next operation.
#[derive(Clone, Debug)]
pub struct Draw(u64);

impl Draw {
    /// The generator of one client of a run.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut draw = Self(seed ^ stream.wrapping_mul(0xA076_1D64_78BD_642F));
        draw.next();
        draw
    }

    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// One of `0..count`; 0 if `count` is 0.
    pub const fn below(&mut self, count: u64) -> u64 {
        if count == 0 { 0 } else { self.next() % count }
    }

    pub const fn between(&mut self, from: u64, to: u64) -> u64 {
        from + self.below(to.saturating_sub(from))
    }

    /// An index in a list of `length`.
    pub fn place(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap_or_default()
    }

    /// True with a probability of `chance` percent.
    pub const fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }

    /// One of the choices, by weight.
    pub fn weighted<T: Copy>(&mut self, choices: &[(u64, T)]) -> Option<T> {
        let mut left = self.below(choices.iter().map(|(weight, _)| weight).sum());
        for (weight, choice) in choices {
            if left < *weight {
                return Some(*choice);
            }
            left -= weight;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_draws_the_same() {
        let drawn = |seed, stream| {
            let mut draw = Draw::new(seed, stream);
            [draw.next(), draw.next(), draw.below(10), draw.between(5, 9)]
        };
        assert_eq!(drawn(7, 1), drawn(7, 1));
        assert_ne!(drawn(7, 1), drawn(7, 2));
        assert_ne!(drawn(7, 1), drawn(8, 1));
    }

    #[test]
    fn weights_of_nothing_draw_nothing() {
        assert_eq!(Draw::new(1, 1).weighted::<u8>(&[]), None);
        assert_eq!(Draw::new(1, 1).weighted(&[(0, 'a'), (3, 'b')]), Some('b'));
    }
}
