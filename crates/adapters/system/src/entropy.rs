use dwar_kernel::Entropy;

/// The operating system's cryptographically secure generator.
///
/// If it fails, the process ends at once: every caller would go on with predictable secrets.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that asks the system")]
    fn fill(&self, buffer: &mut [u8]) {
        if let Err(cause) = getrandom::fill(buffer) {
            // Not a panic: unwinding is caught around each request, and the server would live on.
            tracing::error!(%cause, "the operating system gives no random bytes; stopping");
            std::process::abort();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn fills_buffers_of_any_length_to_the_last_byte() {
        SystemEntropy.fill(&mut []);
        for length in [1, 31, 32, 257, 4_096] {
            // A byte that stays zero in 64 draws was never written (chance 2^-512 each).
            let mut seen = vec![0_u8; length];
            for _ in 0..64 {
                let mut draw = vec![0_u8; length];
                SystemEntropy.fill(&mut draw);
                seen.iter_mut().zip(draw).for_each(|(seen, byte)| *seen |= byte);
            }
            assert!(seen.iter().all(|byte| *byte != 0), "{length}");
        }
    }

    #[test]
    fn never_repeats_a_draw() {
        let draws: HashSet<[u8; 16]> = (0..10_000)
            .map(|_| {
                let mut draw = [0; 16];
                SystemEntropy.fill(&mut draw);
                draw
            })
            .collect();
        assert_eq!(draws.len(), 10_000);
    }
}
