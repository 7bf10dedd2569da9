//! A flag has the same name as in `--json` and in the admin API.

use super::Args;
use clap::{Command, CommandFactory};
use serde_json::Value;
use std::collections::BTreeSet;

/// Flags that no answer shows, or that are shown in another unit.
const OTHERWISE: [(&str, &str); 18] = [
    ("balance-rupees", "shown in paise"),
    ("low-balance-rupees", "shown in paise"),
    ("daily-spend-rupees", "shown in paise"),
    ("rupees", "shown in paise"),
    ("days", "shown as an instant"),
    ("owner", "shown as a role"),
    ("limit", "how much is listed"),
    ("failed", "what is listed"),
    ("since", "what is listed"),
    ("csv", "how a list is printed"),
    ("to", "the folder of the files that are shown"),
    ("dry-run", "whether anything is done"),
    ("in-place", "how a backup is restored"),
    ("keep-sessions", "how a backup is restored"),
    ("online", "what the doctor does"),
    ("live", "what is tried"),
    ("yes", "whether it is asked"),
    ("env-file", "what is configured"),
];

/// Collects the names of all members in a JSON schema, at any depth.
fn members(of: &Value, names: &mut BTreeSet<String>) {
    match of {
        Value::Object(all) => {
            let own = all.get("properties").and_then(Value::as_object);
            names.extend(own.into_iter().flat_map(|own| own.keys().cloned()));
            all.values().for_each(|value| members(value, names));
        }
        Value::Array(all) => all.iter().for_each(|value| members(value, names)),
        _ => {}
    }
}

/// Collects the flags of a command and of its subcommands that change its effect.
fn flags(of: &Command, path: &str, found: &mut Vec<(String, String)>) {
    let path = format!("{path} {}", of.get_name());
    let own = of.get_arguments().filter(|flag| !flag.is_global_set());
    let named = own.filter_map(|flag| Some((path.clone(), flag.get_long()?.to_owned())));
    found.extend(named);
    of.get_subcommands().for_each(|below| flags(below, &path, found));
}

#[test]
fn a_flag_and_the_member_of_an_answer_have_one_name() {
    let document: Value = serde_json::from_str(&dwar_admin::document()).unwrap();
    let mut shown = BTreeSet::new();
    members(&document["components"]["schemas"], &mut shown);
    let mut found = Vec::new();
    flags(&Args::command(), "", &mut found);
    assert!(found.len() > 80, "{}", found.len());
    for (command, flag) in found {
        if OTHERWISE.iter().any(|(known, _)| *known == flag) {
            continue;
        }
        let name = flag.replace('-', "_");
        let is_shown = shown.contains(&name) || shown.contains(&format!("{name}_id"));
        assert!(is_shown, "{command} --{flag}: no answer has {name} or {name}_id");
    }
}
