use dwar_kernel::Entropy;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// Number of bytes that are drawn ahead for ids. A system call for each id would take more time than
/// everything else that makes the id.
const AHEAD: usize = 1_024;

/// The operating system's cryptographically secure generator.
///
/// If it fails, the process ends at once, because callers would otherwise continue with predictable
/// secrets. Bytes drawn ahead are used only for ids, which are not secret. Every secret is drawn
/// when it is needed.
pub struct SystemEntropy {
    ahead: Mutex<EntropyBuffer>,
}

/// Bytes that were drawn and not used yet.
struct EntropyBuffer {
    bytes: [u8; AHEAD],
    used: usize,
}

impl Default for SystemEntropy {
    fn default() -> Self {
        Self { ahead: Mutex::new(EntropyBuffer { bytes: [0; AHEAD], used: AHEAD }) }
    }
}

impl fmt::Debug for SystemEntropy {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        text.write_str("SystemEntropy")
    }
}

impl Entropy for SystemEntropy {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that asks the system")]
    fn fill(&self, buffer: &mut [u8]) {
        if let Err(cause) = getrandom::fill(buffer) {
            // Not a panic, because unwinding is caught around each request and the server would
            // continue.
            tracing::error!(%cause, "the operating system gives no random bytes; stopping");
            std::process::abort();
        }
    }

    fn fill_public(&self, buffer: &mut [u8]) {
        let mut ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        if buffer.len() > AHEAD - ahead.used {
            self.fill(&mut ahead.bytes);
            ahead.used = 0;
        }
        let used = ahead.used;
        match ahead.bytes.get(used..used + buffer.len()) {
            Some(drawn) => buffer.copy_from_slice(drawn),
            None => return self.fill(buffer),
        }
        ahead.used += buffer.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dwar_kernel::Timestamp;
    use std::collections::HashSet;

    #[test]
    fn fills_buffers_of_any_length_to_the_last_byte() {
        SystemEntropy::default().fill(&mut []);
        for length in [1, 31, 32, 257, 4_096] {
            // A byte that stays zero in 64 draws was never written (chance 2^-512 each).
            let mut seen = vec![0_u8; length];
            for _ in 0..64 {
                let mut draw = vec![0_u8; length];
                SystemEntropy::default().fill(&mut draw);
                seen.iter_mut().zip(draw).for_each(|(seen, byte)| *seen |= byte);
            }
            assert!(seen.iter().all(|byte| *byte != 0), "{length}");
        }
    }

    #[test]
    fn never_repeats_an_id() {
        let (entropy, now) = (SystemEntropy::default(), Timestamp::default());
        let draw = || (0..5_000).map(|_| entropy.uuid(now)).collect::<Vec<_>>();
        let both = std::thread::scope(|threads| {
            let (one, other) = (threads.spawn(draw), threads.spawn(draw));
            [one.join().unwrap(), other.join().unwrap()].concat()
        });
        assert_eq!(both.iter().collect::<HashSet<_>>().len(), 10_000);
        assert!(both.iter().all(|id| id.get_version_num() == 7));
    }

    #[test]
    fn fills_what_is_longer_than_what_it_draws_ahead() {
        let (entropy, mut long) = (SystemEntropy::default(), vec![0; AHEAD + 64]);
        entropy.fill_public(&mut long);
        assert!(long.chunks(64).all(|part| part.iter().any(|byte| *byte != 0)));
    }

    #[test]
    fn never_repeats_a_draw() {
        let draws: HashSet<[u8; 16]> = (0..10_000)
            .map(|_| {
                let mut draw = [0; 16];
                SystemEntropy::default().fill(&mut draw);
                draw
            })
            .collect();
        assert_eq!(draws.len(), 10_000);
    }
}
