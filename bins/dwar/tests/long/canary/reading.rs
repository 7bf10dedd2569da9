//! Ways to read a line: as a URL, as numbers that people write, as separate digits.

use std::borrow::Cow;

/// A line unchanged and, if it has an encoding, decoded as part of a URL and as a form.
pub fn readings(line: &[u8]) -> Vec<Cow<'_, [u8]>> {
    let mut readings = vec![Cow::Borrowed(line)];
    if line.contains(&b'%') {
        readings.push(Cow::Owned(decoded(line)));
    }
    if line.contains(&b'+') {
        let spaced: Vec<u8> =
            line.iter().map(|byte| if *byte == b'+' { b' ' } else { *byte }).collect();
        readings.push(Cow::Owned(decoded(&spaced)));
    }
    readings
}

/// Decodes percent-encoding; keeps invalid sequences.
fn decoded(text: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, others)) = rest.split_first() {
        let digits = (*first == b'%').then(|| others.get(..2)).flatten();
        let byte = digits.and_then(|digits| {
            let digits = std::str::from_utf8(digits).ok()?;
            u8::from_str_radix(digits, 16).ok()
        });
        decoded.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &others[2..] } else { others };
    }
    decoded
}

/// The digits of each number, with its place. Between two digits may be separators that people use.
pub fn numbers(text: &[u8]) -> impl Iterator<Item = (usize, Vec<u8>)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        at += text[at..].iter().position(u8::is_ascii_digit)?;
        let begin = at;
        let mut digits = Vec::new();
        while let Some(next) = next_digit(&text[at..], digits.is_empty()) {
            at += next;
            digits.push(text[at]);
            at += 1;
        }
        Some((begin, digits))
    })
}

/// The distance to the next digit of a number: none, one separator, or two.
fn next_digit(rest: &[u8], first: bool) -> Option<usize> {
    let most = if first { 0 } else { 2 };
    let gap = rest.iter().take(most).take_while(|byte| b" -.()/".contains(byte)).count();
    rest.get(gap).filter(|byte| byte.is_ascii_digit()).map(|_| gap)
}

/// Every six digits that are not part of a word, of a longer number or of a fraction and not an amount of money, with
/// their place.
pub fn standing_codes(text: &[u8]) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    let words = std::iter::from_fn(move || {
        at += text[at..].iter().position(u8::is_ascii_alphanumeric)?;
        let begin = at;
        at += text[at..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        Some((begin, &text[begin..at]))
    });
    words.filter_map(move |(begin, word)| {
        let code = std::str::from_utf8(word).ok()?;
        let is_code = word.len() == 6 && word.iter().all(u8::is_ascii_digit);
        let is_other = || is_fraction(text, begin, begin + 6) || is_amount(text, begin);
        (is_code && !is_other()).then_some((begin, code))
    })
}

/// Tells whether these digits are the value of a field in paise. A random code may equal the balance of a wallet.
fn is_amount(text: &[u8], begin: usize) -> bool {
    text[..begin].ends_with(b"_paise\":")
}

/// Tells whether these digits are before or after a decimal point.
fn is_fraction(text: &[u8], begin: usize, end: usize) -> bool {
    let before = &text[begin.saturating_sub(2)..begin];
    let behind = &text[end..text.len().min(end + 2)];
    matches!(before, [b'0'..=b'9', b'.']) || matches!(behind, [b'.', b'0'..=b'9'])
}
