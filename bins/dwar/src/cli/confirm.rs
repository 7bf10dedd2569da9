//! Asks a person at a terminal before a command destroys something.

use super::failure::Failure;
use std::io::{self, BufRead, IsTerminal, Read, Write};

/// Longest answer that is read; a yes is shorter.
const LONGEST_LINE: u64 = 64;

/// Whether a person can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Person {
    Present,
    /// A program runs the command, so nothing is asked.
    Absent,
}

impl Person {
    /// Present if standard input is a terminal and the answer is not for a program.
    pub fn of(json: bool) -> Self {
        if !json && io::stdin().is_terminal() { Self::Present } else { Self::Absent }
    }
}

/// The flag of a command that asks.
#[derive(clap::Args)]
pub struct Confirm {
    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,
}

impl Confirm {
    /// Tells whether the person has to be asked.
    pub fn asks(&self, person: Person) -> bool {
        !self.yes && person == Person::Present
    }

    /// Continues if no confirmation is needed, or if the answer to the question is yes.
    ///
    /// # Errors
    /// The answer was not yes.
    pub fn ask(&self, person: Person, question: &str) -> Result<(), Failure> {
        if !self.asks(person) {
            return Ok(());
        }
        // On standard error, because the answer may go to a file.
        write!(io::stderr(), "{question} [y/N] ")?;
        let mut line = String::new();
        io::stdin().lock().take(LONGEST_LINE).read_line(&mut line)?;
        if is_yes(&line) {
            return Ok(());
        }
        if !line.ends_with('\n') {
            writeln!(io::stderr())?;
        }
        Err(Failure::Refused("cancelled".to_owned()))
    }
}

fn is_yes(line: &str) -> bool {
    ["y", "yes"].contains(&line.trim().to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_yes_counts() {
        for line in ["y\n", "Y\r\n", " yes \n", "YES"] {
            assert!(is_yes(line), "{line:?}");
        }
        for line in ["", "\n", "n\n", "yy\n", "yesterday\n", "ja\n"] {
            assert!(!is_yes(line), "{line:?}");
        }
    }

    #[test]
    fn nobody_is_asked_with_yes_or_by_a_program() {
        assert!(Confirm { yes: false }.asks(Person::Present));
        assert!(!Confirm { yes: true }.asks(Person::Present));
        assert!(!Confirm { yes: false }.asks(Person::Absent));
    }
}
