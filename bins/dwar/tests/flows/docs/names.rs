//! Holds the names of types and the length of comments to what CONTRIBUTING.md says of them.

use crate::docs::Repository;
use std::collections::BTreeMap;

/// Doc comments of seven words or fewer, at most: such a comment seldom says more than the name beside it.
const SHORT: usize = 900;
const SHORT_WORDS: usize = 7;

/// A name means one thing in the domain and in the use cases, so that nobody has to ask which one is meant.
#[test]
fn each_type_of_the_domain_and_the_use_cases_has_a_name_of_its_own() {
    let repository = Repository::open();
    let roots = ["crates/domain/", "crates/app/src/", "crates/console/src/"];
    let is_source = |file: &&String| {
        let is_test = file.contains("/tests/") || file.ends_with("tests.rs");
        roots.iter().any(|root| file.starts_with(root)) && !is_test
    };
    let mut files: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for file in repository.ending_in(".rs").filter(is_source) {
        let text = repository.read(file);
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        for name in text.lines().filter_map(type_name) {
            files.entry(name.to_owned()).or_default().push(file);
        }
    }
    assert!(files.len() > 500, "only {} types were found", files.len());
    files.retain(|_, files| files.len() > 1);
    assert!(files.is_empty(), "{files:#?}");
}

/// The type that a line of a module's own level defines.
fn type_name(line: &str) -> Option<&str> {
    let item = line.strip_prefix("pub(crate) ").or(line.strip_prefix("pub ")).unwrap_or(line);
    let kinds = ["struct ", "enum ", "trait ", "type "];
    let name = kinds.iter().find_map(|kind| item.strip_prefix(kind))?;
    name.split(|it: char| !it.is_alphanumeric()).next()
}

#[test]
fn few_doc_comments_are_too_short_to_say_more_than_a_name() {
    let repository = Repository::open();
    let is_source = |file: &&String| file.starts_with("crates/") || file.starts_with("bins/");
    let mut short = 0;
    for file in repository.ending_in(".rs").filter(is_source) {
        let mut words = 0;
        for line in repository.read(file).lines().map(str::trim_start).chain([""]) {
            match line.strip_prefix("///") {
                Some(text) => words += text.split_whitespace().count(),
                None => {
                    short += usize::from((1..=SHORT_WORDS).contains(&words));
                    words = 0;
                }
            }
        }
    }
    assert!(short <= SHORT, "{short} doc comments have {SHORT_WORDS} words or fewer");
}
