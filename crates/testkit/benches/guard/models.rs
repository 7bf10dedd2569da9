//! Small models of what others do in place of the guard, in front of the limits of phones that every project has.

use crate::calendar::{DAY, HOUR, Happening};
use crate::defence::{Answer, Defence, SendRequest};
use crate::numbers::{Number, prefix_of};
use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;

/// Ten sends an hour from an address.
const OF_AN_ADDRESS: u32 = 10;
/// A prefix is blocked for twelve hours once fewer than a quarter of its sends of the last hour were verified, of
/// twenty or more.
const BLOCKED_FOR: u64 = 12 * HOUR;
const FEWEST: usize = 20;
const VERIFIED: usize = 4;

/// The limits of phones without the guard (docs/contract.md): three codes in ten minutes, and pauses after wrong guesses.
#[derive(Default)]
struct Phones {
    second: u64,
    provider_fails: bool,
    lines: HashMap<Number, Line>,
}

#[derive(Default)]
struct Line {
    sends: VecDeque<u64>,
    /// Wrong guesses at the newest code; `None` if it is used up.
    code: Option<u32>,
    wrong_in_a_row: u32,
    wrong_in_period: u32,
    stopped_at: Option<u64>,
}

impl Line {
    const CODES: usize = 3;
    const WINDOW: u64 = 600;

    fn admits(&self, now: u64) -> bool {
        let last = self.sends.back().copied();
        let pause = match (self.wrong_in_a_row, self.stopped_at) {
            (_, Some(at)) if now < at + DAY => return false,
            (_, Some(_)) => 12 * HOUR,
            (60.., None) => HOUR,
            (30.., None) => Self::WINDOW,
            _ => 0,
        };
        let within = self.sends.iter().filter(|at| now < **at + Self::WINDOW).count();
        within < Self::CODES && last.is_none_or(|last| last + pause <= now)
    }
}

impl Phones {
    fn begin_second(&mut self, second: u64, happening: Happening) {
        self.second = second;
        self.provider_fails = happening == Happening::ProviderFails;
        if second.is_multiple_of(DAY) {
            let quiet = |line: &Line| line.sends.back().is_none_or(|last| last + HOUR < second);
            self.lines.retain(|_, line| line.wrong_in_period > 0 || !quiet(line));
        }
    }

    fn send(&mut self, number: Number) -> Answer {
        let line = self.lines.entry(number).or_default();
        if !line.admits(self.second) {
            return Answer::Limited;
        }
        if self.provider_fails {
            return Answer::NotSent;
        }
        line.sends.push_back(self.second);
        if line.sends.len() > Line::CODES {
            line.sends.pop_front();
        }
        line.code = Some(0);
        Answer::Sent
    }

    fn enter(&mut self, number: Number) -> bool {
        let Some(line) = self.lines.get_mut(&number) else { return false };
        let is_right = line.code.is_some_and(|wrong| wrong < 5);
        if is_right {
            (line.code, line.wrong_in_a_row) = (None, 0);
        }
        is_right
    }

    fn guess_wrong(&mut self, number: Number) {
        let now = self.second;
        let Some(line) = self.lines.get_mut(&number) else { return };
        let Some(wrong) = line.code.as_mut().filter(|wrong| **wrong < 5) else { return };
        *wrong += 1;
        line.wrong_in_a_row += 1;
        line.wrong_in_period += 1;
        if line.wrong_in_period >= 100 {
            line.stopped_at = line.stopped_at.or(Some(now));
        }
    }
}

/// So many sends an hour from each address, and no more.
#[derive(Default)]
pub struct FixedLimits {
    phones: Phones,
    addresses: HashMap<IpAddr, u32>,
}

impl Defence for FixedLimits {
    const TAKES_PROOFS: bool = false;

    fn begin_second(&mut self, second: u64, happening: Happening) {
        self.phones.begin_second(second, happening);
        if second.is_multiple_of(HOUR) {
            self.addresses.clear();
        }
    }

    async fn send(&mut self, request: &SendRequest) -> Answer {
        let count = self.addresses.entry(request.address).or_default();
        if *count >= OF_AN_ADDRESS {
            return Answer::Stopped;
        }
        let answer = self.phones.send(request.number);
        *count += u32::from(answer == Answer::Sent);
        answer
    }

    async fn enter(&mut self, number: Number, _by_device: bool) -> bool {
        self.phones.enter(number)
    }

    async fn guess_wrong(&mut self, number: Number) {
        self.phones.guess_wrong(number);
    }

    async fn delete(&mut self, _: Number) {}

    async fn end_second(&mut self) {}
}

/// A prefix whose numbers verify too seldom is blocked, with the real people in it.
#[derive(Default)]
pub struct PrefixBlock {
    phones: Phones,
    prefixes: HashMap<u64, Prefix>,
}

#[derive(Default)]
struct Prefix {
    /// The sends of the last hour, and whether each was verified.
    sends: VecDeque<(u64, Number, bool)>,
    blocked_until: u64,
}

impl Defence for PrefixBlock {
    const TAKES_PROOFS: bool = false;

    fn begin_second(&mut self, second: u64, happening: Happening) {
        self.phones.begin_second(second, happening);
    }

    async fn send(&mut self, request: &SendRequest) -> Answer {
        let now = self.phones.second;
        let prefix = self.prefixes.entry(prefix_of(request.number)).or_default();
        if now < prefix.blocked_until {
            return Answer::Stopped;
        }
        let answer = self.phones.send(request.number);
        if answer != Answer::Sent {
            return answer;
        }
        prefix.sends.push_back((now, request.number, false));
        while prefix.sends.front().is_some_and(|(at, ..)| at + HOUR < now) {
            prefix.sends.pop_front();
        }
        let verified = prefix.sends.iter().filter(|(.., verified)| *verified).count();
        if prefix.sends.len() >= FEWEST && verified * VERIFIED < prefix.sends.len() {
            prefix.blocked_until = now + BLOCKED_FOR;
            prefix.sends.clear();
        }
        answer
    }

    async fn enter(&mut self, number: Number, _by_device: bool) -> bool {
        let is_in = self.phones.enter(number);
        let prefix = self.prefixes.entry(prefix_of(number)).or_default();
        let sent = prefix.sends.iter_mut().rfind(|(_, sent, _)| *sent == number);
        if let Some((.., verified)) = sent.filter(|_| is_in) {
            *verified = true;
        }
        is_in
    }

    async fn guess_wrong(&mut self, number: Number) {
        self.phones.guess_wrong(number);
    }

    async fn delete(&mut self, _: Number) {}

    async fn end_second(&mut self) {}
}
