//! Samples on pages can be parsed, use existing settings, and quote existing code.

use crate::pages::blocks::{Block, Kind, blocks, pages, root};
use serde_json::{Deserializer, Value};
use std::collections::BTreeSet;
use std::fs;

fn samples(info: &'static str) -> impl Iterator<Item = Block> {
    let all: Vec<Block> = pages().iter().flat_map(|page| blocks(page)).collect();
    all.into_iter().filter(move |block| block.info == info)
}

#[test]
fn every_sample_of_json_is_json() {
    for block in samples("json") {
        let values = Deserializer::from_str(&block.text).into_iter::<Value>();
        let values: Result<Vec<_>, _> = values.collect();
        assert!(values.is_ok_and(|values| !values.is_empty()), "{}", block.place());
    }
}

/// Collects the dotted names of the settings in a configuration. A table whose own name is in `known` is one
/// setting; any other table is a section, whose settings are collected.
fn keys(prefix: &str, table: &toml::Table, known: &BTreeSet<String>, found: &mut Vec<String>) {
    for (key, value) in table {
        let name = format!("{prefix}{key}");
        match value {
            toml::Value::Table(table) if !known.contains(&name) => {
                keys(&format!("{name}."), table, known, found);
            }
            _ => found.push(name),
        }
    }
}

/// The settings of `config.default.toml`, both set ones and those in comments.
fn settings() -> BTreeSet<String> {
    let text = fs::read_to_string(root().join("config.default.toml")).unwrap();
    let (mut section, mut found) = (String::new(), BTreeSet::new());
    for line in text.lines().map(|line| line.trim_start_matches("# ").trim()) {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = format!("{name}.");
        } else if let Some((key, _)) = line.split_once(" = ") {
            let key = key.split('.').next().unwrap_or(key);
            found.insert(format!("{section}{key}"));
        }
    }
    found
}

#[test]
fn every_sample_of_toml_is_toml_and_a_configuration_has_settings_that_there_are() {
    let known = settings();
    for block in samples("toml") {
        let table: toml::Table = block.text.parse().unwrap();
        // The samples of these pages are not Dwar's configuration: a crate's manifest, and files that
        // describe a provider.
        if ["docs/embedding.md", "docs/providers.md"].contains(&block.page.as_str()) {
            continue;
        }
        let mut used = Vec::new();
        keys("", &table, &known, &mut used);
        let unknown: Vec<_> = used.iter().filter(|key| !known.contains(*key)).collect();
        assert!(unknown.is_empty(), "{}: {unknown:?}", block.place());
    }
}

/// A line without formatting, comments and an ellipsis.
fn bare(line: &str) -> String {
    line.split("//")
        .next()
        .unwrap_or_default()
        .split('…')
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .collect()
}

#[test]
fn code_in_the_guide_to_adapters_stands_in_the_code() {
    let (mut code, mut folders) = (Vec::new(), vec![root().join("crates"), root().join("bins")]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(path).unwrap();
                code.push(text.lines().map(bare).collect::<String>());
            }
        }
    }
    for block in samples("rust").filter(|block| block.page == "docs/adding-an-adapter.md") {
        assert_eq!(block.kind(), Kind::Program);
        let lines: Vec<String> = block.text.lines().map(bare).collect();
        let is_quoted = code.iter().any(|file| lines.iter().all(|line| file.contains(line)));
        assert!(is_quoted, "{}: no file of code has all its lines", block.place());
    }
}
