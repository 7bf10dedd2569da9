use dwar_kernel::Entropy;
use dwar_testkit::SeededEntropy;

/// Random draws that repeat themselves for an equal seed and purpose.
pub struct Dice(SeededEntropy);

impl Dice {
    pub fn new(seed: u64, purpose: u64) -> Self {
        Self(SeededEntropy::new(seed.wrapping_mul(0x9E37_79B9).wrapping_add(purpose << 48)))
    }

    fn draw(&self) -> u64 {
        let mut bytes = [0; 8];
        self.0.fill(&mut bytes);
        u64::from_le_bytes(bytes)
    }

    pub fn below(&self, bound: u64) -> u64 {
        self.draw() % bound
    }

    pub fn between(&self, from: u64, until: u64) -> u64 {
        from + self.below(until - from)
    }

    pub fn chance(&self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// How many people come within a second, if `mean` come on average (Poisson, after Knuth).
    pub fn arrivals(&self, mean: f64) -> u32 {
        let (limit, mut product, mut count) = ((-mean).exp(), self.unit(), 0);
        while product > limit {
            product *= self.unit();
            count += 1;
        }
        count
    }

    fn unit(&self) -> f64 {
        (self.draw() >> 11) as f64 / (1_u64 << 53) as f64
    }
}
