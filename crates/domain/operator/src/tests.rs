//! Shared by the tests of this crate.

use dwar_kernel::{Digest, Entropy, Purpose, Sealed, Unsealable, Vault};

/// A vault that seals nothing; a digest is a sum that depends on the purpose.
pub(crate) struct Sums;

impl Vault for Sums {
    fn seal(&self, _: Purpose, _: &[u8], plain: &[u8]) -> Sealed {
        Sealed(plain.to_vec())
    }

    fn open(&self, _: Purpose, _: &[u8], sealed: &Sealed) -> Result<Vec<u8>, Unsealable> {
        Ok(sealed.0.clone())
    }

    fn digest(&self, purpose: Purpose, parts: &[&[u8]]) -> Digest {
        let mut sum = purpose as u64;
        for part in parts {
            for byte in part.iter().chain(&[0xff]) {
                sum = (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
        let mut digest = [0; 32];
        for (lane, out) in (1_u64..).zip(digest.chunks_mut(8)) {
            out.copy_from_slice(&sum.wrapping_mul(lane).to_be_bytes());
        }
        Digest(digest)
    }
}

pub(crate) struct Ones;

impl Entropy for Ones {
    fn fill(&self, buffer: &mut [u8]) {
        buffer.fill(1);
    }
}
