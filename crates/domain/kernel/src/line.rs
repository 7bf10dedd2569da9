/// Whether a text is readable on one line: it has a visible character, at most `longest` characters, and none
/// that controls its display.
///
/// So it contains no NUL (PostgreSQL cannot store one), no line break of any kind, and no mark that changes
/// the direction of the surrounding text.
pub fn is_line(text: &str, longest: usize) -> bool {
    let marks = |letter: char| matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    // A character takes at most four bytes, so a text that is far too long is refused without counting
    // characters.
    text.len() <= 4 * longest
        && !text.trim().is_empty()
        && text.chars().count() <= longest
        && !text.chars().any(|letter| letter.is_control() || marks(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_visible_bounded_and_one() {
        for good in ["a", " a ", "दुकान", "₹ 9.50 – é", &"x".repeat(7), &"\u{10348}".repeat(7)]
        {
            assert!(is_line(good, 11), "{good:?}");
        }
        let bad = [
            "",
            "  ",
            "a\0",
            "a\nb",
            "a\rb",
            "\u{85}a",
            "a\u{7f}",
            "a\u{2028}b",
            "a\u{202e}b",
            "a\u{2066}",
            "a\u{61c}",
            "\u{200f}a",
        ];
        for bad in bad {
            assert!(!is_line(bad, 7), "{bad:?}");
        }
        assert!(!is_line(&"x".repeat(8), 7) && !is_line(&"x".repeat(100_000), 7));
    }
}
