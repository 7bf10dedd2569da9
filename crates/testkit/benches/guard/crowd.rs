//! Honest people: new numbers every day, and the customers whom one attacker wants to lock out. Every second of these
//! logs in on a device that is known.

use crate::calendar::{DAY, HOUR, Happening, LOCK_OUT, happening, people, share_that_enters};
use crate::defence::{Answer, Defence, SendRequest};
use crate::dice::Dice;
use crate::numbers::{Number, any_home, any_shared, anyone};
use crate::tally::Tally;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Of a hundred people, so many come over a mobile carrier.
const MOBILE: f64 = 0.6;
/// So many of those who are asked for a proof bring it.
const PROVE: f64 = 0.95;
/// So many of those who get no code in a minute ask again.
const ASK_AGAIN: f64 = 0.5;
const MISTYPE: f64 = 0.05;
const VICTIMS: u64 = 10;
/// Hours of each day of the lock-out at which its victims log in.
const VICTIMS_LOG_IN: [u64; 3] = [9, 14, 20];
/// How often a person asks again when the service says that nothing was sent.
const RETRIES: u8 = 3;
/// A new customer of a common day does not come back: after this time nothing depends on the account, and the
/// store in memory, which searches its rows one by one, stays small.
const DONE_AFTER: u64 = 2 * HOUR;

pub struct Crowd {
    dice: Dice,
    a_day: f64,
    victims: Vec<Number>,
    /// By the second at which it is due, and a number that keeps steps of one second apart.
    steps: BTreeMap<(u64, u64), Step>,
    added: u64,
}

enum Step {
    Ask(Person),
    Enter(Person),
    Done(Number),
}

#[derive(Clone)]
struct Person {
    number: Number,
    address: IpAddr,
    /// Whether the attacker of the lock-out is after this person, and the logins count.
    is_victim: bool,
    /// Whether the person shows the device of the last login.
    has_device: bool,
    enters: bool,
    mistypes: bool,
    proven: bool,
    stopped: bool,
    asked_again: bool,
    retries: u8,
}

impl Crowd {
    pub fn new(seed: u64, a_day: f64) -> Self {
        let dice = Dice::new(seed, 1);
        let victims: Vec<_> = (0..VICTIMS).map(|_| anyone(&dice)).collect();
        let mut crowd = Self { dice, a_day, victims, steps: BTreeMap::new(), added: 0 };
        crowd.plan_victims();
        crowd
    }

    pub fn victims(&self) -> &[Number] {
        &self.victims
    }

    /// They become customers on the first day, and log in three times a day during the lock-out.
    fn plan_victims(&mut self) {
        let during = LOCK_OUT.busy();
        let first_day = during.start / DAY * DAY;
        let days = (0..LOCK_OUT.days()).map(|day| first_day + day * DAY);
        let logins = days.flat_map(|day| VICTIMS_LOG_IN.map(|hour| day + hour * HOUR));
        let times: Vec<_> = logins.filter(|at| during.contains(at)).collect();
        for (number, minute) in self.victims.clone().into_iter().zip(0..) {
            let address = any_home(&self.dice);
            let person = Person {
                is_victim: true,
                has_device: minute % 2 == 1,
                enters: true,
                mistypes: false,
                ..self.person(number, address, 0)
            };
            for at in [12 * HOUR].into_iter().chain(times.clone()) {
                self.later(at + minute * 60, Step::Ask(person.clone()));
            }
        }
    }

    fn person(&self, number: Number, address: IpAddr, second: u64) -> Person {
        Person {
            number,
            address,
            is_victim: false,
            has_device: false,
            enters: self.dice.chance(share_that_enters(second)),
            mistypes: self.dice.chance(MISTYPE),
            proven: false,
            stopped: false,
            asked_again: false,
            retries: 0,
        }
    }

    /// Everything that honest people do in this second.
    pub async fn act<D: Defence>(&mut self, second: u64, defence: &mut D, tally: &mut Tally) {
        for _ in 0..self.dice.arrivals(people(second, self.a_day)) {
            let is_mobile = self.dice.chance(MOBILE);
            let address = if is_mobile { any_shared(&self.dice) } else { any_home(&self.dice) };
            let person = self.person(anyone(&self.dice), address, second);
            tally.at(second).people += 1;
            self.ask(person, second, defence, tally).await;
        }
        while let Some(step) = self.due(second) {
            match step {
                Step::Ask(person) => {
                    let is_login = person.is_victim && LOCK_OUT.busy().contains(&second);
                    let logins = &mut tally.victims[usize::from(person.has_device)];
                    logins.tried += u32::from(is_login && !person.proven && person.retries == 0);
                    self.ask(person, second, defence, tally).await;
                }
                Step::Enter(person) => self.enter(person, second, defence, tally).await,
                Step::Done(number) => defence.delete(number).await,
            }
        }
    }

    async fn ask<D: Defence>(
        &mut self,
        mut person: Person,
        second: u64,
        defence: &mut D,
        tally: &mut Tally,
    ) {
        let Person { number, address, proven, has_device: by_device, .. } = person;
        match defence.send(&SendRequest { number, address, proven, by_device }).await {
            Answer::Sent if happening(second) == Happening::MessagesLost => {
                self.retry(person, second, 60..180);
            }
            Answer::Sent if person.enters => {
                self.later(second + self.dice.between(8, 45), Step::Enter(person));
            }
            Answer::Sent if !person.asked_again && self.dice.chance(ASK_AGAIN) => {
                person.asked_again = true;
                self.later(second + self.dice.between(60, 90), Step::Ask(person));
            }
            Answer::NotSent => self.retry(person, second, 60..300),
            Answer::Stopped => {
                if !person.stopped {
                    tally.stopped(second);
                }
                person.stopped = true;
                if D::TAKES_PROOFS && !proven && self.dice.chance(PROVE) {
                    person.proven = true;
                    self.later(second + self.dice.between(5, 30), Step::Ask(person));
                } else {
                    tally.at(second).lost += 1;
                }
            }
            Answer::Sent | Answer::Limited => {}
        }
    }

    async fn enter<D: Defence>(
        &mut self,
        mut person: Person,
        second: u64,
        defence: &mut D,
        tally: &mut Tally,
    ) {
        if person.mistypes {
            person.mistypes = false;
            defence.guess_wrong(person.number).await;
            return self.later(second + self.dice.between(5, 15), Step::Enter(person));
        }
        let is_in = defence.enter(person.number, person.has_device).await;
        if person.is_victim {
            let logins = &mut tally.victims[usize::from(person.has_device)];
            logins.succeeded += u32::from(is_in && LOCK_OUT.busy().contains(&second));
        } else if is_in {
            self.later(second + DONE_AFTER, Step::Done(person.number));
        }
    }

    fn retry(&mut self, mut person: Person, second: u64, wait: std::ops::Range<u64>) {
        if person.retries < RETRIES {
            person.retries += 1;
            self.later(second + self.dice.between(wait.start, wait.end), Step::Ask(person));
        }
    }

    fn later(&mut self, second: u64, step: Step) {
        self.added += 1;
        self.steps.insert((second, self.added), step);
    }

    fn due(&mut self, second: u64) -> Option<Step> {
        let first = self.steps.first_entry()?;
        (first.key().0 <= second).then(|| first.remove())
    }
}
