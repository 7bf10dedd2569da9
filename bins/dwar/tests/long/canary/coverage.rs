//! The coverage that a run needs for its result to be meaningful.

use crate::canary::house::House;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const PUBLIC: &str = include_str!("../../../../../docs/openapi.json");
const ADMIN: &str = include_str!("../../../../../docs/admin-openapi.json");
const LEAST: usize = 30;

/// Fails the test unless each operation of both documents was called and, where it can fail,
/// refused; and unless the log was detailed.
pub fn assert_whole(house: &House) {
    let log: Vec<Value> = house
        .service()
        .stderr()
        .iter()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    let mut answered: BTreeMap<(String, String), BTreeSet<u64>> = BTreeMap::new();
    for line in log.iter().filter(|line| line["message"] == "answered") {
        let text = |field: &str| line[field].as_str().unwrap_or_default().to_owned();
        let of_route = answered.entry((text("method"), text("route"))).or_default();
        of_route.extend(line["status"].as_u64());
    }
    let mut missing = Vec::new();
    for (method, path, refusals) in operations(PUBLIC).chain(operations(ADMIN)) {
        let statuses = answered.get(&(method.clone(), path.clone())).cloned().unwrap_or_default();
        let was_done = statuses.iter().any(|status| *status < 300);
        let was_refused = !refusals || statuses.iter().any(|status| *status >= 400);
        if !was_done || !was_refused {
            missing.push(format!("{method} {path}: {statuses:?}"));
        }
    }
    assert!(missing.is_empty(), "not walked through:\n{}", missing.join("\n"));
    for levels in [&["WARN"][..], &["INFO"], &["DEBUG", "TRACE"]] {
        let is_of = |line: &Value| levels.iter().any(|level| line["level"] == *level);
        assert!(log.iter().any(is_of), "no line of {levels:?}");
    }
    let known = house.secrets().count();
    assert!(known.iter().all(|kind| *kind > LEAST), "{known:?}");
}

/// Method, path, and whether the operation has refusals of its own.
fn operations(document: &str) -> impl Iterator<Item = (String, String, bool)> {
    let document: Value = serde_json::from_str(document).unwrap();
    let mut operations = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let Some(responses) = operation["responses"].as_object() else { continue };
            let refuses =
                responses.keys().any(|status| ["400", "401", "404"].contains(&status.as_str()));
            operations.push((method.to_uppercase(), path.clone(), refuses));
        }
    }
    operations.into_iter()
}
