//! Compares output with a page, except ids, times, amounts and tokens.

use serde_json::{Deserializer, Value};

/// A line without its variable parts: every word with a digit in it, or cut by a page. An HTTP
/// status stays.
fn shape(line: &str) -> String {
    let is_status = |word: &str| word.parse().is_ok_and(|number| (200..600).contains(&number));
    let varies =
        |word: &str| word.contains(|it: char| it.is_ascii_digit() || it == '…') && !is_status(word);
    let words = line.split_whitespace().map(|word| if varies(word) { "#" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

/// Checks that a command printed these lines in this order; a page may omit others.
///
/// # Errors
/// The first line that was not printed.
pub fn said(shown: &str, actual: &str) -> Result<(), String> {
    let mut lines = actual.lines().map(shape);
    for line in shown.lines().filter(|line| !line.trim().is_empty() && line.trim() != "…") {
        let wanted = shape(line);
        if !lines.any(|line| line == wanted) {
            return Err(format!("it did not say\n  {line}\nbut\n{actual}"));
        }
    }
    Ok(())
}

/// Checks that the last JSON value of an output has the members that a page shows, of the same
/// types.
///
/// # Errors
/// The first difference.
pub fn answered(shown: &str, actual: &str) -> Result<(), String> {
    let shown: Value = serde_json::from_str(shown).map_err(|error| error.to_string())?;
    let last = actual.find(['{', '[']).and_then(|from| {
        let values = Deserializer::from_str(&actual[from..]).into_iter::<Value>();
        values.map_while(Result::ok).last()
    });
    let last = last.ok_or_else(|| format!("no JSON: {actual}"))?;
    alike("", &shown, &last)
}

fn alike(path: &str, shown: &Value, actual: &Value) -> Result<(), String> {
    match (shown, actual) {
        (Value::Object(shown), Value::Object(actual)) => {
            let (mut left, mut right): (Vec<_>, Vec<_>) =
                (shown.keys().collect(), actual.keys().collect());
            left.sort();
            right.sort();
            if left != right {
                return Err(format!("{path}: the page has {left:?}, the answer {right:?}"));
            }
            shown.iter().try_for_each(|(key, it)| alike(&format!("{path}.{key}"), it, &actual[key]))
        }
        (Value::Array(shown), Value::Array(actual)) => match (shown.first(), actual.first()) {
            (Some(shown), Some(actual)) => alike(&format!("{path}[0]"), shown, actual),
            (None, _) => Ok(()),
            (Some(_), None) => Err(format!("{path}: the answer has none")),
        },
        (Value::Null, _) | (_, Value::Null) => Ok(()),
        (shown, actual) => {
            let kind = std::mem::discriminant::<Value>;
            let same = kind(shown) == kind(actual);
            same.then_some(())
                .ok_or_else(|| format!("{path}: {shown} is shown, {actual} is answered"))
        }
    }
}

#[test]
fn what_differs_each_time_is_no_difference_and_anything_else_is_one() {
    let shown = "Refunded ₹0.25.\n…\nAvailable  ₹0.80\n";
    assert_eq!(said(shown, "Refunded ₹1.20.\nOn hold ₹1\nAvailable  ₹2.00\n"), Ok(()));
    assert!(said(shown, "Refused ₹1.20.\nAvailable  ₹2.00\n").is_err());
    assert!(said("401\n", "200\n").is_err());
    assert!(said(shown, "Available  ₹2.00\nRefunded ₹1.20.\n").is_err());
    let shown = r#"{"id":"1","at":null,"of":[{"a":1}]}"#;
    assert_eq!(answered(shown, r#"{"x":1}{"id":"2","at":"3","of":[{"a":4},{"a":5}]}"#), Ok(()));
    for other in [r#"{"id":"2","at":"3"}"#, r#"{"id":2,"at":"3","of":[{"a":4}]}"#, "{", ""] {
        assert!(answered(shown, other).is_err(), "{other}");
    }
}
