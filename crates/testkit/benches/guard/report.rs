use crate::calendar::{Happening, PARTS, Part};
use crate::tally::{PartTally, Tally};
use dwar_kernel::PriceList;
use std::fmt::{self, Display, Formatter};

/// Asking ends this many seconds after a flood or an outage, at the latest.
const ENDS_WITHIN: u64 = 300;

pub struct Report {
    pub a_day: u32,
    pub seed: u64,
    pub guard: Tally,
    pub limits: Tally,
    pub blocks: Tally,
}

impl Report {
    /// What the guard promises and did not keep.
    pub fn broken(&self) -> Vec<String> {
        let mut broken = Vec::new();
        for (part, tally) in PARTS.iter().zip(&self.guard.parts) {
            if let Some(after) = late(part, tally).filter(|after| *after > ENDS_WITHIN) {
                broken.push(format!("{}: asked {after} s after the end", part.name));
            }
            if part.happening == Happening::Sale && tally.stopped > 0 {
                broken.push(format!("{} people were asked on the day of the sale", tally.stopped));
            }
        }
        broken
    }
}

impl Display for Report {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let (a_day, seed) = (grouped(self.a_day.into()), self.seed);
        writeln!(out, "30 days, {a_day} new numbers on a common day, seed {seed}.\n")?;
        writeln!(
            out,
            "| | Honest people | Guard: messages | paise | asked | Fixed limits: messages | paise | refused \
             | Prefix block: messages | paise | refused |\n\
             |---|---|---|---|---|---|---|---|---|---|---|"
        )?;
        for (index, part) in PARTS.iter().enumerate() {
            write!(out, "| {} | {} |", titled(part), grouped(self.guard.parts[index].people))?;
            for tally in [&self.guard, &self.limits, &self.blocks] {
                cells(out, part, &tally.parts[index])?;
            }
            writeln!(out)?;
        }
        writeln!(out, "\nAsking ended after its cause, in seconds:")?;
        for (part, tally) in PARTS.iter().zip(&self.guard.parts) {
            if !part.busy().is_empty() {
                let after =
                    late(part, tally).map_or("at once".to_owned(), |after| after.to_string());
                writeln!(out, "- {}: {after}", part.name)?;
            }
        }
        let logins = |tally: &Tally| {
            let [without, with] =
                tally.victims.map(|it| format!("{} of {}", it.succeeded, it.tried));
            format!("{without} and {with}")
        };
        let [guard, limits, blocks] = [&self.guard, &self.limits, &self.blocks].map(logins);
        writeln!(
            out,
            "\nLogins of the lock-out's five victims without a known device, and of the five with one: {guard} \
             with the guard, {limits} with fixed limits, {blocks} with the prefix block."
        )?;
        let lost: u64 = self.guard.parts.iter().map(|part| part.lost).sum();
        write!(out, "Asked people who brought no proof: {}.", grouped(lost))
    }
}

fn titled(part: &Part) -> String {
    match part.days() {
        1 => part.name.to_owned(),
        days => format!("{}, {days} days", part.name),
    }
}

fn cells(out: &mut Formatter<'_>, part: &Part, tally: &PartTally) -> fmt::Result {
    let PartTally { people, stopped, messages, .. } = *tally;
    match part.happening {
        Happening::Attack(_) => {
            let paise = messages * PriceList::default().sms.0.unsigned_abs();
            write!(out, " {} | {} |", grouped(messages), grouped(paise))?;
        }
        _ => write!(out, " | |")?,
    }
    let percent = 100.0 * stopped as f64 / people.max(1) as f64;
    match stopped {
        0 => write!(out, " 0 |"),
        _ => write!(out, " {} ({percent:.1} %) |", grouped(stopped)),
    }
}

fn late(part: &Part, tally: &PartTally) -> Option<u64> {
    tally.stopped_after.filter(|_| !part.busy().is_empty())
}

/// With a comma after each three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let lead = digits.len() % 3;
    let mut text = digits[..lead].to_owned();
    for group in digits.as_bytes()[lead..].chunks(3) {
        if !text.is_empty() {
            text.push(',');
        }
        text.extend(group.iter().map(|digit| char::from(*digit)));
    }
    text
}
