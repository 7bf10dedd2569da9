//! Every fenced command of README and docs/ is run with the binary of this test: the blocks of a
//! page in order, in one shell, with a service of their own. The output on a page is compared with
//! the real output. Samples are parsed, and programs are compiled or run elsewhere.
//!
//! A block that cannot be run says why in the line above it: `<!-- not run: needs an account at Meta -->`. One that
//! another test runs names its file: `<!-- run by bins/dwar/tests/flows/backups.rs -->`.

mod blocks;
mod samples;
mod session;
mod shape;
mod stages;

use blocks::{Kind, blocks, pages, root};
use std::sync::Mutex;

/// Number of blocks that cannot be run. It may only decrease.
const EXCUSED: usize = 11;
/// Number of pages that run at once; each has a service.
const AT_ONCE: usize = 4;

/// Programs on pages, and the test that runs each.
const PROGRAMS: [(&str, &str); 16] = [
    ("docs/adding-an-adapter.md", "rust"), // in this test: they stand in the code
    ("docs/embedding.md", "rust"),         // bins/dwar/tests/flows/docs/examples.rs
    ("docs/clients.md", "ts"),             // clients/suite/first-login.sh, where they come from
    ("docs/clients.md", "python"),
    ("docs/clients.md", "go"),
    ("docs/clients.md", "rust"),
    ("docs/api.md", "js"), // tests/interop/pages.sh
    ("docs/api.md", "python"),
    ("docs/events.md", "js"),
    ("docs/events.md", "python"),
    ("docs/reading-events.md", "python"),
    ("docs/proxies.md", "nginx"), // tests/interop/proxies.sh
    ("docs/proxies.md", "caddyfile"),
    ("docs/operations/reverse-proxy.md", "nginx"), // tests/interop/proxies.sh
    ("docs/operations/reverse-proxy.md", "caddyfile"),
    ("docs/hooks.md", "jsonnet"), // tests/interop/kratos.sh
];

#[test]
fn every_command_does_what_its_page_shows() {
    let waiting = Mutex::new(pages());
    let failures = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(page) = { waiting.lock().unwrap().pop() } {
                    if let Err(failure) = session::run(&page, &blocks(&page)) {
                        failures.lock().unwrap().push(failure);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
fn blocks_that_cannot_be_run_become_fewer() {
    let excused: Vec<String> = pages()
        .iter()
        .flat_map(|page| blocks(page))
        .filter_map(|block| Some(format!("{}: {}", block.place(), block.excuse.as_ref()?)))
        .collect();
    assert!(excused.len() <= EXCUSED, "{excused:#?}");
    assert_eq!(excused.len(), EXCUSED, "fewer than before: lower EXCUSED");
}

#[test]
fn a_test_that_runs_a_block_elsewhere_reads_its_page() {
    for block in pages().iter().flat_map(|page| blocks(page)) {
        let Some(file) = &block.run_by else { continue };
        let test = std::fs::read_to_string(root().join(file)).unwrap_or_default();
        assert!(test.contains(&block.page), "{}: {file} does not", block.place());
    }
}

#[test]
fn every_program_is_run_by_somebody() {
    for block in pages().iter().flat_map(|page| blocks(page)) {
        let runs = block.excuse.is_some()
            || block.kind() != Kind::Program
            || PROGRAMS.contains(&(block.page.as_str(), block.info.as_str()));
        assert!(runs, "{}: nobody runs it", block.place());
    }
}
