//! Colours for output at a terminal.

use std::ffi::OsStr;
use std::io::IsTerminal;

/// A colour with its number in ECMA-48.
#[derive(Clone, Copy)]
pub enum Colour {
    Green,
    Yellow,
    Red,
    Dim,
}

#[derive(Clone, Copy)]
pub struct Colours(bool);

impl Colours {
    /// Enables colours if the stream is a terminal that supports them and the environment does not
    /// turn them off: `NO_COLOR` is set and not empty (no-color.org), or `TERM` is `dumb`.
    pub fn of(stream: &impl IsTerminal) -> Self {
        let (no_color, term) = (std::env::var_os("NO_COLOR"), std::env::var_os("TERM"));
        Self(stream.is_terminal() && wanted(no_color.as_deref(), term.as_deref()))
    }

    pub const fn are_on(self) -> bool {
        self.0
    }

    /// The text in a colour, or unchanged if colours are off.
    pub fn paint(self, colour: Colour, text: &str) -> String {
        let code = match colour {
            Colour::Green => "32",
            Colour::Yellow => "33",
            Colour::Red => "31",
            Colour::Dim => "2",
        };
        if self.0 { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

fn wanted(no_color: Option<&OsStr>, term: Option<&OsStr>) -> bool {
    no_color.is_none_or(OsStr::is_empty) && term.is_none_or(|term| term != "dumb")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_turns_colours_off() {
        let wanted = |no_color: Option<&str>, term: Option<&str>| {
            wanted(no_color.map(OsStr::new), term.map(OsStr::new))
        };
        assert!(wanted(None, None) && wanted(Some(""), Some("xterm-256color")));
        assert!(!wanted(Some("1"), None) && !wanted(Some("0"), Some("xterm")));
        assert!(!wanted(None, Some("dumb")));
    }
}
