//! Each step has the name of its port and method, so that a test can make a chosen one fail.

use std::path::Path;

/// The text after `before` in `line`, up to a character that no name contains.
fn name<'line>(line: &'line str, before: &str) -> Option<&'line str> {
    let rest = line.trim_start().strip_prefix(before)?;
    rest.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next()
}

#[test]
fn steps_are_named_as_their_methods() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut steps = 0;
    for file in std::fs::read_dir(sources).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let (mut port, mut method) = ("", "");
        for line in text.lines() {
            port = name(line, "impl ").unwrap_or(port);
            method = name(line, "async fn ").unwrap_or(method);
            if let Some((_, step)) = line.split_once(".step(\"") {
                let step = step.split('"').next().unwrap();
                assert_eq!(step, format!("{port}::{method}"));
                steps += 1;
            }
        }
    }
    assert!(steps > 60, "{steps}");
}
