use crate::calendar::{PARTS, part_at};

/// What happened with one defence.
pub struct Tally {
    pub parts: [PartTally; PARTS.len()],
    /// Of the victims of the lock-out without a known device, and of those with one.
    pub victims: [Logins; 2],
}

/// Logins that were tried during the lock-out.
#[derive(Clone, Copy, Default)]
pub struct Logins {
    pub tried: u32,
    pub succeeded: u32,
}

#[derive(Clone, Copy, Default)]
pub struct PartTally {
    /// Honest people who came.
    pub people: u64,
    /// Those who were asked for a proof, or refused.
    pub stopped: u64,
    /// Those who got no code in the end, since they were stopped.
    pub lost: u64,
    /// Messages that the attacker got.
    pub messages: u64,
    /// How many seconds after the end the last honest person was stopped.
    pub stopped_after: Option<u64>,
}

impl Tally {
    pub fn new() -> Self {
        Self { parts: [PartTally::default(); PARTS.len()], victims: [Logins::default(); 2] }
    }

    pub fn at(&mut self, second: u64) -> &mut PartTally {
        &mut self.parts[part_at(second)]
    }

    /// An honest person is stopped for the first time.
    pub fn stopped(&mut self, second: u64) {
        let end = PARTS[part_at(second)].busy().end;
        let part = self.at(second);
        part.stopped += 1;
        part.stopped_after = second.checked_sub(end).or(part.stopped_after);
    }
}
