//! Seven attackers. None of them brings a proof; each does without it what it can.

use crate::defence::{Answer, SendRequest};
use crate::dice::Dice;
use crate::numbers::{Number, OF_A_PREFIX, any_home, anyone, first_of_prefix, rented, shared};

/// Messages a second that the attackers ask for who are in a hurry.
const FLOOD: usize = 20;
/// After so many refusals one after the other, a walk goes on with the next prefix.
const PATIENCE: u64 = 50;
const WRONG_GUESSES: usize = 5;

/// What an attacker does.
#[derive(Clone, Copy, Debug)]
pub enum Move {
    Send(SendRequest),
    /// Enters the code that came to a SIM card of its own.
    Enter(Number),
    GuessWrong(Number),
    /// Deletes the account of a SIM card of its own.
    Delete(Number),
}

pub trait Attacker {
    /// What it does in this second.
    fn moves(&mut self, second: u64) -> Vec<Move>;

    /// What one of its sends was answered.
    fn learn(&mut self, _order: &SendRequest, _answer: Answer, _second: u64) {}
}

/// In the order of [`crate::calendar::PARTS`].
pub fn all(seed: u64, victims: &[Number]) -> [Box<dyn Attacker>; 7] {
    let dice = |index: u64| Dice::new(seed, 100 + index);
    let picked = dice(20);
    [
        Box::new(Walk {
            dice: dice(0),
            prefix: 0,
            number: first_of_prefix(0),
            refused: 0,
            rounds: 0,
        }),
        Box::new(Series(dice(1))),
        Box::new(Drip(dice(2))),
        Box::new(Bomber { phones: [(); 5].map(|()| anyone(&picked)), dice: dice(3) }),
        Box::new(LockOut { dice: dice(4), victims: victims.to_vec(), guesses: Vec::new() }),
        Box::new(OwnSims {
            sims: [(); 20].map(|()| anyone(&picked)),
            dice: dice(5),
            next: Vec::new(),
        }),
        Box::new(UnderTheLine { dice: dice(6), wait: 10.0, due: 0.0 }),
    ]
}

const fn send(number: Number, address: std::net::IpAddr) -> Move {
    Move::Send(SendRequest { number, address, proven: false, by_device: false })
}

/// Numbers in sequence, from 2,000 rented addresses.
struct Walk {
    dice: Dice,
    prefix: u64,
    number: Number,
    refused: u64,
    rounds: u64,
}

impl Attacker for Walk {
    fn moves(&mut self, _: u64) -> Vec<Move> {
        let step = |_| {
            self.number += 1;
            send(self.number, rented(self.dice.below(2_000)))
        };
        (0..FLOOD).map(step).collect()
    }

    fn learn(&mut self, _: &SendRequest, answer: Answer, _: u64) {
        self.refused = if answer == Answer::Sent { 0 } else { self.refused + 1 };
        if self.refused >= PATIENCE {
            (self.prefix, self.rounds, self.refused) = (self.prefix + 1, self.rounds + 1, 0);
            self.number = first_of_prefix(self.prefix) + self.rounds * PATIENCE % (OF_A_PREFIX / 2);
        }
    }
}

/// Three series of an operator who shares what it earns by their messages, over the same carrier as others.
struct Series(Dice);

impl Attacker for Series {
    fn moves(&mut self, _: u64) -> Vec<Move> {
        let any = |_| {
            let series = first_of_prefix(400 + self.0.below(3)) + 770_000;
            send(series + self.0.below(10_000), shared(self.0.below(4)))
        };
        (0..FLOOD).map(any).collect()
    }
}

/// One number every forty seconds, anywhere, from homes.
struct Drip(Dice);

impl Attacker for Drip {
    fn moves(&mut self, second: u64) -> Vec<Move> {
        let now = second.is_multiple_of(40);
        Vec::from_iter(now.then(|| send(anyone(&self.0), any_home(&self.0))))
    }
}

/// Each of five phones every ten seconds, from 500 rented addresses.
struct Bomber {
    dice: Dice,
    phones: [Number; 5],
}

impl Attacker for Bomber {
    fn moves(&mut self, second: u64) -> Vec<Move> {
        let now = second.is_multiple_of(10);
        let bomb = |phone: &Number| send(*phone, rented(10_000 + self.dice.below(500)));
        self.phones.iter().filter(|_| now).map(bomb).collect()
    }
}

/// Codes and wrong guesses for ten customers, every twenty seconds, from 500 rented addresses.
struct LockOut {
    dice: Dice,
    victims: Vec<Number>,
    guesses: Vec<Move>,
}

impl Attacker for LockOut {
    fn moves(&mut self, second: u64) -> Vec<Move> {
        let mut moves = std::mem::take(&mut self.guesses);
        if second.is_multiple_of(20) {
            let request = |victim: &Number| send(*victim, rented(20_000 + self.dice.below(500)));
            moves.extend(self.victims.iter().map(request));
        }
        moves
    }

    fn learn(&mut self, request: &SendRequest, answer: Answer, _: u64) {
        if answer == Answer::Sent {
            self.guesses.extend([Move::GuessWrong(request.number); WRONG_GUESSES]);
        }
    }
}

/// Invented: floods from 200 addresses, and logs in from them with twenty SIM cards of its own, which earns tokens for
/// them. It deletes each account at once, so that the number is new again.
struct OwnSims {
    dice: Dice,
    sims: [Number; 20],
    next: Vec<Move>,
}

impl Attacker for OwnSims {
    fn moves(&mut self, second: u64) -> Vec<Move> {
        let mut moves = std::mem::take(&mut self.next);
        let address = || rented(30_000 + self.dice.below(200));
        let due = self.sims.iter().zip(0..).filter(|(_, index)| second % 210 == index * 10);
        moves.extend(due.map(|(sim, _)| send(*sim, address())));
        moves.extend((0..FLOOD).map(|_| send(anyone(&self.dice), address())));
        moves
    }

    fn learn(&mut self, request: &SendRequest, answer: Answer, _: u64) {
        if answer == Answer::Sent && self.sims.contains(&request.number) {
            self.next.extend([Move::Enter(request.number), Move::Delete(request.number)]);
        }
    }
}

/// Invented: from homes to numbers of all series, as fast as it is not asked for a proof, and slower as soon as it is.
struct UnderTheLine {
    dice: Dice,
    /// Seconds between two sends.
    wait: f64,
    due: f64,
}

impl Attacker for UnderTheLine {
    fn moves(&mut self, second: u64) -> Vec<Move> {
        let mut moves = Vec::new();
        let now = second as f64;
        self.due = self.due.max(now);
        while self.due < now + 1.0 {
            moves.push(send(anyone(&self.dice), any_home(&self.dice)));
            self.due += self.wait;
        }
        moves
    }

    fn learn(&mut self, _: &SendRequest, answer: Answer, second: u64) {
        if answer == Answer::Sent {
            self.wait = (self.wait * 0.98).max(0.1);
        } else {
            self.wait = (self.wait * 1.5).min(120.0);
            self.due = second as f64 + 60.0;
        }
    }
}
