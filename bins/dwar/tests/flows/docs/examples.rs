//! The examples of docs/embedding.md, built and run as its reader would: in a separate crate
//! outside the workspace, with the manifest of the page.

use crate::docs::Repository;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// The blocks of a page in this language.
fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let begin = format!("```{language}\n");
    page.split(&begin).skip(1).filter_map(|rest| Some(rest.split_once("```")?.0)).collect()
}

/// The target folder of this test, which already contains the dependencies.
fn target() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    program.ancestors().nth(3).unwrap().to_owned()
}

#[test]
fn the_examples_of_the_embedding_page_run_outside_the_workspace() {
    let repository = Repository::open();
    let page = repository.read("docs/embedding.md");
    let folder = tempfile::tempdir().unwrap();
    let [manifest] = blocks(&page, "toml").try_into().unwrap();
    let here = format!("path = \"{}/", repository.root.display());
    fs::write(folder.path().join("Cargo.toml"), manifest.replace("path = \"dwar/", &here)).unwrap();
    // The tested versions, which need no network.
    fs::copy(repository.root.join("Cargo.lock"), folder.path().join("Cargo.lock")).unwrap();
    fs::create_dir(folder.path().join("src")).unwrap();
    fs::write(folder.path().join("src/lib.rs"), "//! Mine.\n").unwrap();
    let examples = blocks(&page, "rust");
    fs::create_dir(folder.path().join("examples")).unwrap();
    for (number, example) in examples.iter().enumerate() {
        fs::write(folder.path().join(format!("examples/example_{number}.rs")), example).unwrap();
    }
    assert!(examples.len() > 3, "{} examples", examples.len());
    let cargo = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO"));
        command.current_dir(folder.path()).args(arguments).arg("--offline");
        let output = command.env("CARGO_TARGET_DIR", target()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    cargo(&["build", "--examples"]);
    for number in 0..examples.len() {
        cargo(&["run", "--quiet", "--example", &format!("example_{number}")]);
    }
}
