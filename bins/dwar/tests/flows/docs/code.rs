//! Lists of code in the pages match the code.

use crate::docs::{Repository, links, quoted};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const GUIDE: &str = "docs/adding-an-adapter.md";
/// The call of each operation in each client, held to the clients by their own tests.
const CALLS: &str = "crates/adapters/dashboard/src/reference/clients.json";

/// The rows of the table that begins with this line, cell by cell.
fn table(page: &str, head: &str) -> Vec<Vec<String>> {
    let (_, rest) = page.split_once(head).unwrap();
    let rows = rest.lines().skip(2).take_while(|line| line.starts_with('|'));
    let cells =
        |row: &str| row.trim_matches('|').split('|').map(|it| it.trim().to_owned()).collect();
    rows.map(cells).collect()
}

/// Every port, and the file of its trait.
fn ports(repository: &Repository) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for file in repository.ending_in(".rs").filter(|file| file.starts_with("crates/domain/")) {
        let text = repository.read(file);
        let traits = text.lines().filter_map(|line| line.strip_prefix("pub trait "));
        for name in traits.filter_map(|line| line.split([':', ' ']).next()) {
            found.insert(name.to_owned(), file.clone());
        }
    }
    found
}

#[test]
fn the_guide_names_every_port_of_a_store_and_where_it_is() {
    let repository = Repository::open();
    let stores = ["app", "console"]
        .map(|name| repository.read(&format!("crates/{name}/src/stores.rs")))
        .concat();
    let wanted: BTreeSet<String> = stores
        .split("Arc<dyn ")
        .skip(1)
        .filter_map(|rest| Some(rest.split_once('>')?.0.to_owned()))
        .collect();
    let ports = ports(&repository);
    let mut named = BTreeSet::new();
    for row in table(&repository.read(GUIDE), "| Port | In | Keeps |") {
        let [domain] = quoted(&row[1]).try_into().unwrap();
        for port in quoted(&row[0]) {
            let file = ports.get(&port).cloned().unwrap_or_default();
            assert!(file.starts_with(&format!("crates/{domain}/")), "{port} is in {file}");
            assert!(named.insert(port.clone()), "{port} is listed twice");
        }
    }
    assert_eq!(named, wanted);
}

#[test]
fn the_guide_names_every_event_and_a_method_that_records_it() {
    let repository = Repository::open();
    let words = repository.read("crates/domain/kernel/src/event.rs");
    let kinds = words.split("EventKind {").nth(1).unwrap().split_once("\n    }").unwrap().0;
    let wanted: BTreeSet<String> = kinds.split('"').skip(1).step_by(2).map(str::to_owned).collect();
    let ports = ports(&repository);
    let mut told = BTreeSet::new();
    for row in table(&repository.read(GUIDE), "| Method | Event |") {
        let methods: Vec<_> = quoted(&row[0]).into_iter().filter(|it| it.contains("::")).collect();
        assert!(!methods.is_empty(), "{row:?}");
        for method in methods {
            let (port, name) = method.split_once("::").unwrap();
            let file = repository.read(&ports[port]);
            let (_, body) = file.split_once(&format!("pub trait {port}")).unwrap();
            let body = body.split_once("\n}").unwrap().0;
            assert!(body.contains(&format!("fn {name}(")), "{method}");
        }
        told.extend(quoted(&row[1]));
    }
    assert_eq!(told, wanted);
}

/// The guide's whole example is compiled and tested as a source file.
#[test]
fn the_guides_example_is_the_one_that_is_tested() {
    let repository = Repository::open();
    let example = repository.read("crates/adapters/gateways/src/tests/telepost.rs");
    assert!(repository.read(GUIDE).contains(&format!("```rust\n{example}```\n")));
}

/// Below each heading of the page stand the calls of its operations, as the reference of the dashboard has them.
#[test]
fn the_page_of_the_api_has_the_calls_of_every_client() {
    let repository = Repository::open();
    let calls: BTreeMap<String, BTreeMap<String, String>> =
        serde_json::from_str(&repository.read(CALLS)).unwrap();
    let document: Value = serde_json::from_str(&repository.read("docs/openapi.json")).unwrap();
    let operation = |call: &String| {
        let (method, path) = call.split_once(' ')?;
        let path = path.split('?').next()?;
        let operation = &document["paths"][path][method.to_lowercase()]["operationId"];
        operation.as_str().filter(|id| calls.contains_key(*id))
    };
    let (page, mut shown) = (repository.read("docs/api.md"), BTreeSet::new());
    for section in page.split("\n### ").skip(1) {
        let (heading, rest) = section.split_once('\n').unwrap();
        let rest = rest.split("\n## ").next().unwrap_or_default();
        let heading = quoted(heading);
        let ids: Vec<&str> = heading.iter().filter_map(operation).collect();
        for language in ids.first().iter().flat_map(|id| calls[**id].keys()) {
            let cell = ids.iter().map(|id| format!("`{}`", calls[*id][language]));
            let row = format!("| {language} | {} |", cell.collect::<Vec<_>>().join(", "));
            assert!(rest.contains(&row), "{heading:?} lacks {row}");
        }
        shown.extend(ids.into_iter().map(str::to_owned));
    }
    assert_eq!(shown, calls.into_keys().collect());
}

/// `clients/suite/first-login.sh` runs them where they come from.
#[test]
fn the_programs_of_the_page_of_clients_are_those_of_their_readmes() {
    let repository = Repository::open();
    let page = repository.read("docs/clients.md");
    for (folder, fence, language) in [
        ("typescript", "ts", "ts"),
        ("python", "python", "python"),
        ("go", "go", "go"),
        ("rust", "rust,no_run", "rust"),
    ] {
        let readme = repository.read(&format!("clients/{folder}/README.md"));
        let (_, program) = readme.split_once(&format!("```{fence}\n")).unwrap();
        let (program, _) = program.split_once("```").unwrap();
        assert!(page.contains(&format!("```{language}\n{program}```\n")), "{folder}");
    }
}

/// The dependencies of an inner crate are those in its manifest.
#[test]
fn the_inside_uses_what_the_page_says() {
    let repository = Repository::open();
    let page = repository.read("docs/architecture.md");
    let mut allowed = BTreeMap::new();
    for row in table(&page, "| Crate | May use | Never |") {
        let words = row[1].split([',', ' ', ';']).map(|word| word.trim_matches('`').to_owned());
        allowed.insert(row[0].clone(), words.collect::<BTreeSet<_>>());
    }
    let mut used: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for manifest in repository.ending_in("/Cargo.toml") {
        let row = match manifest.as_str() {
            "crates/domain/kernel/Cargo.toml" => "`domain/kernel`",
            "crates/app/Cargo.toml" | "crates/console/Cargo.toml" => "`app`, `console`",
            other if other.starts_with("crates/domain/") => "other `domain/*`",
            _ => continue,
        };
        let text = repository.read(manifest);
        let section = text.split("[dependencies]\n").nth(1).unwrap();
        let lines = section.lines().take_while(|line| !line.starts_with('['));
        let names = lines.filter_map(|line| line.split(['.', ' ']).next());
        let foreign = names.filter(|name| {
            !name.is_empty() && !name.starts_with(['#', '[']) && !name.starts_with("dwar-")
        });
        used.entry(row).or_default().extend(foreign.map(str::to_owned));
    }
    for (row, used) in used {
        let unnamed: Vec<_> = used.difference(&allowed[row]).collect();
        assert!(unnamed.is_empty(), "{row}: {unnamed:?}");
    }
}

/// The documentation of a crate of the domain begins with an example, which `cargo test --doc` runs.
#[test]
fn every_crate_of_the_domain_begins_with_an_example() {
    let repository = Repository::open();
    let roots = repository.ending_in("/src/lib.rs").filter(|it| it.starts_with("crates/domain/"));
    let roots: Vec<_> = roots.collect();
    assert!(roots.len() > 10, "{roots:?}");
    for root in roots {
        let text = repository.read(root);
        let mut head = text.lines().take_while(|line| line.starts_with("//!"));
        assert!(head.any(|line| line == "//! ```"), "{root} has none");
    }
}

/// A decision is either in force or names the one that replaced it, which is in force.
#[test]
fn every_decision_has_a_status() {
    let repository = Repository::open();
    let status = |file: &str| {
        let text = repository.read(file);
        text.lines().find_map(|line| line.strip_prefix("Status: ")).unwrap_or_default().to_owned()
    };
    for file in repository.ending_in(".md").filter(|file| file.starts_with("docs/adr/")) {
        let said = status(file);
        match said.split([' ', ';', ',']).next() {
            Some("accepted") => {}
            Some("superseded") => {
                let by = links(&said).next().map(|link| status(&format!("docs/adr/{link}")));
                assert!(by.is_some_and(|by| by.starts_with("accepted")), "{file}: {said:?}");
            }
            _ => panic!("{file}: {said:?} is not a status"),
        }
    }
}

/// A new reader of the page follows one request through at most 25 files.
#[test]
fn a_send_is_followed_through_files_that_are_there() {
    let repository = Repository::open();
    let page = repository.read("docs/architecture.md");
    let (_, walk) = page.split_once("## A send, from the socket to the provider and back").unwrap();
    let (walk, _) = walk.split_once("\n## ").unwrap();
    let steps: Vec<_> = walk.lines().filter_map(|line| line.split_once(". `")).collect();
    assert!((20..=25).contains(&steps.len()), "{} files", steps.len());
    for (at, (number, step)) in steps.iter().enumerate() {
        assert_eq!(*number, (at + 1).to_string());
        let (file, sentence) = step.split_once("`: ").unwrap();
        let text = repository.read(file);
        assert_eq!(sentence.matches(". ").count(), 0, "{file}: more than one sentence");
        let names = quoted(sentence);
        assert!(!names.is_empty(), "{file}: nothing in it is named");
        for name in names {
            let is_defined = ["fn", "struct"].iter().any(|kind| {
                let definition = format!("{kind} {name}");
                text.match_indices(&definition).any(|(at, _)| {
                    !text[at + definition.len()..]
                        .starts_with(|next: char| next.is_alphanumeric() || next == '_')
                })
            });
            assert!(is_defined, "{file} defines no {name}");
        }
    }
}
