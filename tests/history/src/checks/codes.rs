//! A code opens one session, once; not after a newer one was sent, nor after it was locked.

use super::Finding;
use crate::history::{Action, History, Message, Micros, Op, Outcome};
use std::collections::{HashMap, HashSet};

type Numbered<'a> = (usize, &'a Op);

/// A phone in a project.
type Phone<'a> = (usize, &'a str);

pub fn check(history: &History) -> Vec<Finding> {
    let phones = phones(history);
    let mut found = Vec::new();
    for phone in phones.values() {
        found.extend(phone.single_use());
        found.extend(phone.superseded());
        found.extend(phone.locks(history.settings.max_wrong));
        found.extend(phone.refused(history));
    }
    found
}

/// Everything about one phone.
#[derive(Default)]
struct Story<'a> {
    sends: Vec<Numbered<'a>>,
    guesses: Vec<Numbered<'a>>,
    /// By `otp_id`.
    messages: HashMap<&'a str, &'a Message>,
    deletions: Vec<&'a Op>,
}

fn phones(history: &History) -> HashMap<Phone<'_>, Story<'_>> {
    let mut stories = HashMap::<Phone<'_>, Story<'_>>::new();
    let mut homes = HashMap::<&str, Phone<'_>>::new();
    for (number, op) in history.numbered() {
        match &op.action {
            Action::Send { phone, .. } => {
                stories.entry((op.project, phone)).or_default().sends.push((number, op));
            }
            Action::Verify { phone, .. } => {
                let home = (op.project, phone.as_str());
                stories.entry(home).or_default().guesses.push((number, op));
                if let Some(pair) = op.pair() {
                    homes.insert(&pair.identity, home);
                }
            }
            _ => {}
        }
    }
    for op in &history.ops {
        let Action::Delete { identity } = &op.action else { continue };
        let story = homes.get(identity.as_str()).and_then(|home| stories.get_mut(home));
        story.into_iter().for_each(|story| story.deletions.push(op));
    }
    let projects = history.ops.iter().map(|op| op.project + 1).max().unwrap_or_default();
    for message in &history.messages {
        // A message does not name its project; in another project no client asks for its request.
        for project in 0..projects {
            if let Some(story) = stories.get_mut(&(project, message.phone.as_str())) {
                story.messages.insert(&message.otp, message);
            }
        }
    }
    stories
}

impl<'a> Story<'a> {
    fn guess(op: &Op) -> (&str, Option<&str>) {
        match &op.action {
            Action::Verify { code, otp, .. } => (code, otp.as_deref()),
            _ => ("", None),
        }
    }

    /// The only request whose code a guess can mean.
    fn meant(&self, op: &'a Op) -> Option<&'a str> {
        let (code, named) = Self::guess(op);
        let mut meant = self.messages.values().filter(|message| {
            message.code == code && named.is_none_or(|named| named == message.otp)
        });
        meant.next().filter(|_| meant.next().is_none()).map(|message| message.otp.as_str())
    }

    fn single_use(&self) -> Vec<Finding> {
        let mut opened: HashMap<&str, Vec<usize>> = HashMap::new();
        for (number, op) in self.guesses.iter().filter(|(_, op)| op.pair().is_some()) {
            opened.entry(Self::guess(op).0).or_default().push(*number);
        }
        let excess = |(code, ops): (&str, Vec<usize>)| {
            let sent = self.messages.values().filter(|message| message.code == code).count();
            let what = match sent {
                0 => "a code that nobody was sent opened a session",
                _ => "a code opened more than one session",
            };
            (ops.len() > sent).then(|| (what.to_owned(), ops))
        };
        opened.into_iter().filter_map(excess).collect()
    }

    /// Tells whether a send was answered with this request.
    fn is_of(op: &Op, otp: &str) -> bool {
        matches!(&op.outcome, Outcome::Sent { otp: told, .. } if told == otp)
    }

    /// The send that first returned a request.
    fn send(&self, otp: &str) -> Option<Numbered<'a>> {
        let told = |(_, op): &&Numbered<'a>| Self::is_of(op, otp);
        self.sends.iter().filter(told).min_by_key(|(_, op)| op.ended).copied()
    }

    fn superseded(&self) -> Vec<Finding> {
        let opened = self.guesses.iter().filter(|(_, op)| op.pair().is_some());
        let wrong = |(number, op): &Numbered<'a>| {
            let (sent, by) = self.send(self.meant(op)?)?;
            let newer = self.sends.iter().find(|(_, send)| {
                matches!(send.outcome, Outcome::Sent { replayed: false, .. })
                    && send.began > by.ended
                    && send.ended < op.began
            })?;
            Some(("a superseded code opened a session".to_owned(), vec![sent, newer.0, *number]))
        };
        opened.filter_map(wrong).collect()
    }

    fn locks(&self, most: usize) -> Vec<Finding> {
        let named: HashSet<&str> =
            self.guesses.iter().filter_map(|(_, op)| Self::guess(op).1).collect();
        let of = |otp: &str| {
            let at = self.guesses.iter().filter(|(_, op)| Self::guess(op).1 == Some(otp));
            at.copied().collect::<Vec<_>>()
        };
        named.into_iter().flat_map(|otp| lock(&of(otp), most)).collect()
    }

    /// The right code of an acknowledged send was refused without an explanation.
    fn refused(&self, history: &History) -> Vec<Finding> {
        let wrong = |(number, op): &Numbered<'a>| {
            let refusal = op.refusal()?;
            let otp = self.meant(op).filter(|_| Self::guess(op).1.is_some())?;
            let (sent, by) = self.send(otp)?;
            let explained = match refusal {
                "INVALID_OTP" => false,
                "OTP_NOT_FOUND" => {
                    self.is_over(otp, by, *number, op, history.settings.code_lifetime)
                }
                _ => true,
            };
            let what = format!("the right code was refused: {refusal}");
            (op.began > by.ended && !explained).then(|| (what, vec![sent, *number]))
        };
        self.guesses.iter().filter_map(wrong).collect()
    }

    fn is_over(&self, otp: &str, by: &Op, number: usize, op: &Op, lifetime: Micros) -> bool {
        let used = self.guesses.iter().any(|(other, guess)| {
            *other != number
                && guess.may_have_worked()
                && guess.began < op.ended
                && Self::guess(guess).0 == Self::guess(op).0
        });
        let newer = self.sends.iter().any(|(_, send)| {
            let may = send.may_have_worked() || send.refusal() == Some("SMS_FAILED");
            !Self::is_of(send, otp)
                && may
                && send.began < op.ended
                && (send.is_unknown() || send.ended > by.began)
        });
        let erased = self.deletions.iter().any(|one| one.may_have_worked() && one.began < op.ended);
        used || newer || erased || op.ended > by.began + lifetime
    }
}

/// Guesses that named one request.
fn lock(guesses: &[Numbered<'_>], most: usize) -> Vec<Finding> {
    let told = |code: &str| {
        let all = guesses.iter().filter(|(_, op)| op.refusal() == Some(code));
        all.copied().collect::<Vec<_>>()
    };
    let (mut wrong, locked) = (told("INVALID_OTP"), told("VERIFY_RATE_LIMITED"));
    wrong.sort_by_key(|(_, op)| op.ended);
    let numbers = |ops: &[Numbered<'_>]| ops.iter().map(|(number, _)| *number).collect::<Vec<_>>();
    let mut found = Vec::new();
    if wrong.len() > most {
        found.push(("more wrong codes were judged than lock a code".to_owned(), numbers(&wrong)));
    }
    let last = most.checked_sub(1).and_then(|last| wrong.get(last));
    let lock = last.into_iter().chain(&locked).min_by_key(|(_, op)| op.ended);
    if let Some((number, lock)) = lock {
        let opened = guesses.iter().filter(|(_, op)| op.pair().is_some() && op.began > lock.ended);
        found.extend(opened.map(|(later, _)| {
            ("a locked code opened a session".to_owned(), vec![*number, *later])
        }));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::sample::*;
    use super::*;

    fn sent() -> History {
        history([send("9", 0, 1).sent("o")]).got([message("9", "123456", "o", 0)])
    }

    fn after(ops: impl IntoIterator<Item = Op>) -> History {
        let mut all = sent();
        all.ops.extend(ops);
        all.ops.sort_by_key(|op| op.began);
        all
    }

    fn right(began: u64, ended: u64) -> Op {
        verify("9", "123456", began, ended)
    }

    fn wrong(began: u64) -> Op {
        verify("9", "000000", began, began + 1).named("o").refused(400, "INVALID_OTP")
    }

    #[test]
    fn a_code_that_opens_twice_is_found() {
        let twice = [right(2, 4).paired("s", "a", "r"), right(3, 4).paired("t", "b", "q")];
        assert_eq!(check(&after(twice)).len(), 1);
        let unsent = verify("9", "777777", 2, 3).paired("s", "a", "r");
        assert_eq!(check(&after([unsent])).len(), 1);
    }

    #[test]
    fn once_and_an_unknown_one_are_fine() {
        let fine = [
            right(2, 4).paired("s", "a", "r"),
            right(3, 4).lost(),
            right(5, 6).named("o").refused(400, "OTP_NOT_FOUND"),
        ];
        assert_eq!(check(&after(fine)), []);
    }

    #[test]
    fn a_superseded_code_that_opens_is_found() {
        let newer = |began, ended| {
            let newer = send("9", began, ended).sent("p");
            after([newer, right(6, 7).paired("s", "a", "r")]).got([message("9", "654321", "p", 4)])
        };
        assert_eq!(check(&newer(3, 4)).len(), 1);
        assert_eq!(check(&newer(3, 7)), []);
    }

    #[test]
    fn guesses_beyond_the_lock_are_found() {
        assert_eq!(check(&after((2..8).map(wrong))).len(), 1);
        let opened = (2..7).map(wrong).chain([right(9, 10).named("o").paired("s", "a", "r")]);
        assert_eq!(check(&after(opened)).len(), 1);
        let told = right(2, 3).named("o").refused(429, "VERIFY_RATE_LIMITED");
        let opened = [told, right(9, 10).named("o").paired("s", "a", "r")];
        assert_eq!(check(&after(opened)).len(), 1);
    }

    #[test]
    fn five_guesses_and_a_lock_are_fine() {
        let locked = right(9, 10).named("o").refused(429, "VERIFY_RATE_LIMITED");
        assert_eq!(check(&after((2..7).map(wrong).chain([locked]))), []);
        // The lock of one code does not affect the next.
        let next = send("9", 9, 10).sent("p");
        let opened = verify("9", "654321", 11, 12).named("p").paired("s", "a", "r");
        let fine = after((2..7).map(wrong).chain([next, opened]));
        assert_eq!(check(&fine.got([message("9", "654321", "p", 9)])), []);
    }

    #[test]
    fn a_good_code_that_is_refused_is_found() {
        let missing = || right(2, 3).named("o").refused(400, "OTP_NOT_FOUND");
        assert_eq!(check(&after([missing()])).len(), 1);
        assert_eq!(check(&after([right(2, 3).named("o").refused(400, "INVALID_OTP")])).len(), 1);
        assert_eq!(check(&after([send("9", 1, 2).lost(), missing()])), []);
        assert_eq!(
            check(&after([send("9", 1, 2).refused(429, "OTP_RATE_LIMITED"), missing()])).len(),
            1
        );
    }
}
