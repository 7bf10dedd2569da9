//! Every way in has a row: each operation of the admin API, each address of the management pages,
//! each subcommand.

use crate::common::answer;
use crate::doors::asking::{Call, Case, Given};
use crate::doors::rows::{Door, Row, row};
use crate::doors::stage::Stage;
use dwar_operator::Command;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The source file with the addresses of the pages.
const PAGES: &str = "../../crates/adapters/dashboard/src/pages/mod.rs";
/// Addresses for sign-in, for the operator's own account, and for navigation.
const OWN: [&str; 9] = [
    "/sign-out",
    "/account",
    "/theme",
    "/language",
    "/mode",
    "/find",
    "/playground",
    "/reference",
    "/help",
];
/// Subcommands that run the program and manage nothing.
const RUNNING: [&str; 8] =
    ["serve", "migrate", "backup", "restore", "doctor", "health", "try", "completion"];

pub async fn every_way_in_has_a_row(stage: &Stage) {
    operations(stage).await;
    pages(stage);
    subcommands(stage);
}

/// The requests of an interface in the valid case.
fn asked(stage: &Stage, row: &Row, door: &Door) -> Vec<Call> {
    let Door::Calls(ways) = door else { return Vec::new() };
    let (case, subject) = (Case::Right, stage.kept(row.about, Case::Right));
    let (word, phone) = (stage.word(), stage.service.world.phone());
    let it = Given { case, stage, subject, word, phone };
    // Some ways express only invalid cases.
    ways.iter().filter_map(|way| way(&it)).collect()
}

/// Tells whether a path matches the pattern; the more specific pattern comes first.
fn fits(pattern: &str, path: &str) -> bool {
    let path = path.split('?').next().unwrap_or_default();
    let (pattern, path): (Vec<_>, Vec<_>) =
        (pattern.split('/').collect(), path.split('/').collect());
    let part = |(wanted, given): (&&str, &&str)| wanted.starts_with('{') || wanted == given;
    pattern.len() == path.len() && pattern.iter().zip(&path).all(part)
}

/// The most specific of the patterns that a path matches.
fn pattern_of<'a>(
    patterns: &'a BTreeSet<(String, String)>,
    method: &str,
    path: &str,
) -> &'a (String, String) {
    let fitting = patterns.iter().filter(|(known, pattern)| known == method && fits(pattern, path));
    let exact = fitting.min_by_key(|(_, pattern)| pattern.matches('{').count());
    exact.unwrap_or_else(|| panic!("{method} {path} leads nowhere"))
}

async fn operations(stage: &Stage) {
    let document =
        stage.service.client.get(format!("{}/admin/v1/openapi.json", stage.service.dashboard()));
    let document = answer(document).await.ok();
    let mut offered = BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let id = operation["operationId"].as_str().unwrap();
            let command = Command::from_word(id).unwrap_or_else(|| panic!("no command {id}"));
            let row = row(command);
            assert!(
                matches!(row.api, Door::Calls(_)),
                "{command} has no way through the admin API"
            );
            for call in asked(stage, &row, &row.api) {
                let Call::Api(used, asked, _) = call else {
                    panic!("{command} is asked elsewhere")
                };
                let asked = format!("/admin/v1{asked}");
                assert!(used.as_str().eq_ignore_ascii_case(method), "{command}: {used} {asked}");
                assert!(fits(path, &asked), "{command}: {asked} is not {path}");
            }
            offered.insert(command);
        }
    }
    for command in Command::ALL {
        let row = row(command);
        let has = matches!(row.api, Door::Calls(_));
        assert_eq!(has, offered.contains(&command), "{command}");
        for door in [&row.api, &row.pages, &row.cli] {
            let said = !matches!(door, Door::None(""));
            assert!(said, "{command} is not offered at a door, and nobody says why");
        }
    }
}

/// Method and pattern of each address of the management pages, from the source.
fn addresses() -> BTreeSet<(String, String)> {
    let source = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGES)).unwrap();
    let block = |head: String| {
        let (_, rest) = source.split_once(&head).unwrap_or_else(|| panic!("no {head}"));
        rest.split("\n}\n").next().unwrap()
    };
    let mut addresses = BTreeSet::new();
    for (base, part) in [("", "installation"), ("/p/{project}", "project")] {
        let pages = block(format!("pages! {{ pages_of_{part},")).split("\n    \"").skip(1);
        let pages = pages.map(|page| ("GET".to_owned(), page.split('"').next().unwrap()));
        let rest = block(format!("fn forms_of_{part}("));
        let forms = rest.split("(form(").skip(1);
        let forms = forms.map(|form| ("POST".to_owned(), form.split('"').nth(1).unwrap()));
        let routes = rest.split(".route(\"").skip(1).map(|route| {
            let (path, rest) = route.split_once("\", ").unwrap();
            (rest.split("()").next().unwrap().to_uppercase(), path)
        });
        for (method, path) in pages.chain(forms).chain(routes) {
            let own = base.is_empty() && OWN.iter().any(|own| path.starts_with(own));
            let own = own || path == "/";
            if !own {
                addresses.insert((method, format!("{base}{path}")));
            }
        }
    }
    assert!(addresses.len() > 40, "{addresses:?}");
    addresses
}

fn pages(stage: &Stage) {
    let addresses = addresses();
    let mut used = BTreeSet::new();
    for command in Command::ALL {
        let row = row(command);
        for call in asked(stage, &row, &row.pages) {
            used.insert(match call {
                Call::Page(path) => pattern_of(&addresses, "GET", &path),
                Call::Form(path, _) | Call::Json(path, _) => pattern_of(&addresses, "POST", &path),
                _ => panic!("{command} is asked elsewhere"),
            });
        }
    }
    let left_out: Vec<_> = addresses.iter().filter(|address| !used.contains(address)).collect();
    assert!(left_out.is_empty(), "no row asks for {left_out:?}");
}

fn leaves(stage: &Stage, words: &[&str]) -> Vec<String> {
    let help = stage.service.world.run(&[words, &["--help"]].concat());
    let help = String::from_utf8(help.stdout).unwrap();
    let Some((_, rest)) = help.split_once("Commands:\n") else { return vec![words.join(" ")] };
    let listed = rest.lines().take_while(|line| line.starts_with("  "));
    let names = listed.filter(|line| !line.starts_with("   "));
    let names =
        names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
    names.flat_map(|name| leaves(stage, &[words, &[name]].concat())).collect()
}

fn subcommands(stage: &Stage) {
    let leaves = leaves(stage, &[]);
    assert!(leaves.len() > 30, "{leaves:?}");
    let mut used = BTreeSet::new();
    for command in Command::ALL {
        let row = row(command);
        for call in asked(stage, &row, &row.cli) {
            let Call::Cli(arguments) = call else { panic!("{command} is asked elsewhere") };
            let asked = format!("{} ", arguments.join(" "));
            let leaf = leaves.iter().find(|leaf| asked.starts_with(&format!("{leaf} ")));
            used.insert(leaf.unwrap_or_else(|| panic!("there is no `dwar {asked}`")));
        }
    }
    let managing = leaves.iter().filter(|leaf| !RUNNING.contains(&leaf.as_str()));
    let left_out: Vec<_> = managing.filter(|leaf| !used.contains(leaf)).collect();
    assert!(left_out.is_empty(), "no row asks for {left_out:?}");
}
