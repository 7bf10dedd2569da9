use super::MasterKey;
use std::collections::HashSet;

/// Of 32 random bytes about 30 are different; fewer than 16 have a probability below 10^-18.
const DISTINCT: usize = 16;

impl MasterKey {
    /// Why these bytes are unlikely to be random, as the end of a sentence; `None` for every random
    /// key.
    ///
    /// No test can detect a key that is known to others. These detect keys that people invent:
    /// zeros, a pattern, a sequence of numbers, a text.
    pub fn weakness(&self) -> Option<&'static str> {
        let bytes = &self.0;
        let distinct = |bytes: &mut dyn Iterator<Item = u8>| bytes.collect::<HashSet<_>>().len();
        if (1..=16).any(|period| bytes[period..] == bytes[..32 - period]) {
            return Some("repeats one pattern");
        }
        if distinct(&mut bytes.iter().copied()) < DISTINCT {
            return Some("has too few different bytes to be random");
        }
        if distinct(&mut bytes.windows(2).map(|pair| pair[1].wrapping_sub(pair[0]))) < DISTINCT {
            return Some("is a row of numbers");
        }
        // A random byte is one of 95 printable ones with a probability of 37 %, all 32 with 10^-14.
        let text = bytes.iter().all(|byte| byte.is_ascii_graphic() || *byte == b' ');
        text.then_some("is text, not random bytes")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn keys_that_nobody_drew_are_told() {
        let row = |step: u8| std::array::from_fn(|i| u8::try_from(i).unwrap().wrapping_mul(step));
        let half = |i: usize| u8::try_from(i % 16 * 11 % 251).unwrap();
        let mut last = [0; 32];
        last[31] = 1;
        for (bytes, why) in [
            ([0; 32], "repeats one pattern"),
            ([0xff; 32], "repeats one pattern"),
            (std::array::from_fn(half), "repeats one pattern"),
            (last, "has too few different bytes to be random"),
            (row(1), "is a row of numbers"),
            (row(7), "is a row of numbers"),
            (*b"correct horse battery staple 42!", "is text, not random bytes"),
        ] {
            assert_eq!(MasterKey(bytes).weakness(), Some(why), "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn drawn_keys_pass(bytes in any::<u64>()) {
            // Proptest likes small and repeated numbers; these come from a digest instead.
            use sha2::{Digest, Sha256};
            let bytes: [u8; 32] = Sha256::digest(bytes.to_be_bytes()).into();
            prop_assert_eq!(MasterKey(bytes).weakness(), None);
        }
    }
}
