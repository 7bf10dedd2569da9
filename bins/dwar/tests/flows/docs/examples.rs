//! The examples of docs/embedding.md, built and run as its reader would: in a crate of their own, outside the workspace,
//! with the manifest of the page, each in the file that the page names above it. The program for production is built
//! with this test, since its OpenSSL and SQLite would take minutes to compile once more.

use crate::docs::{Repository, quoted};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The blocks of a page in this language, each with the text before it.
fn blocks<'a>(page: &'a str, language: &str) -> Vec<(&'a str, &'a str)> {
    let begin = format!("```{language}\n");
    let parts: Vec<&str> = page.split(&begin).collect();
    let block = |pair: &[&'a str]| Some((pair[0], pair[1].split_once("```")?.0));
    parts.windows(2).filter_map(block).collect()
}

/// The target folder of this test, which already contains the dependencies.
fn target() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    program.ancestors().nth(3).unwrap().to_owned()
}

fn cargo(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(folder).args(arguments).arg("--offline");
    let output = command.env("CARGO_TARGET_DIR", target()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_examples_of_the_embedding_page_run_outside_the_workspace() {
    let repository = Repository::open();
    let page = repository.read("docs/embedding.md");
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (_, manifest) = blocks(&page, "toml")[0];
    let here = format!("path = \"{}/", repository.root.display());
    fs::write(folder.join("Cargo.toml"), manifest.replace("path = \"dwar/", &here)).unwrap();
    // The tested versions, which need no network.
    fs::copy(repository.root.join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    fs::create_dir(folder.join("src")).unwrap();
    fs::write(folder.join("src/lib.rs"), "//! Mine.\n").unwrap();
    fs::create_dir(folder.join("examples")).unwrap();
    let mut examples = Vec::new();
    for (before, program) in blocks(&page, "rust") {
        let (_, before) = before.rsplit_once("```\n").unwrap();
        let named = quoted(before).into_iter().rev().find(|it| it.ends_with(".rs")).unwrap();
        let Some(example) = named.strip_prefix("examples/") else { continue };
        fs::write(folder.join(&named), program).unwrap();
        examples.push(example.trim_end_matches(".rs").to_owned());
    }
    assert_eq!(examples.len(), 4, "{examples:?}");
    cargo(folder, &["build", "--examples"]);
    for example in examples {
        cargo(folder, &["run", "--quiet", "--example", &example]);
    }
}

/// The program of the page, which is `main`.
#[cfg(test)]
mod embedded {
    include!("embedded_program.rs");

    /// Of a process that the test below starts.
    #[test]
    fn runs_where_it_is_wanted() {
        if std::env::var_os("MASTER_KEY").is_some() {
            main().unwrap();
        }
    }
}

#[test]
fn the_program_for_production_logs_in_the_owner_of_a_phone() {
    let page = Repository::open().read("docs/embedding.md");
    let program = include_str!("embedded_program.rs");
    assert!(page.contains(&format!("`src/main.rs`:\n\n```rust\n{program}```\n")));
    let (folder, provider) =
        (tempfile::tempdir().unwrap(), TcpListener::bind("127.0.0.1:0").unwrap());
    let mut process = Command::new(std::env::current_exe().unwrap());
    process.args(["--exact", "--nocapture", "docs::examples::embedded::runs_where_it_is_wanted"]);
    process.current_dir(folder.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
    process.env("MASTER_KEY", "Vg4Xk0rYfFz1P8mJq7yq2cS0hVd3Zk9uLw5t1oRb6nE=");
    process.env("GUPSHUP_URL", format!("http://{}", provider.local_addr().unwrap()));
    for name in ["GUPSHUP_USER", "GUPSHUP_PASSWORD", "DLT_ENTITY", "DLT_TEMPLATE"] {
        process.env(name, "1101000000000000001");
    }
    let mut running = process.spawn().unwrap();
    let mut keyboard = running.stdin.take().unwrap();
    keyboard.write_all(b"9876543210\n").unwrap();
    let code = code_of(&take_message(&provider, &mut running));
    keyboard.write_all(format!("{code}\n").as_bytes()).unwrap();
    let output = running.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains(" is logged in\n"), "{said}");
}

/// Takes one call as Gupshup does, and gives its body.
fn take_message(provider: &TcpListener, caller: &mut Child) -> String {
    const ANSWER: &str =
        r#"{"response":{"id":"1","phone":"919876543210","details":"","status":"success"}}"#;
    provider.set_nonblocking(true).unwrap();
    let mut connection = loop {
        if let Ok((connection, _)) = provider.accept() {
            break connection;
        }
        assert_eq!(caller.try_wait().unwrap(), None, "it ended without a call");
        std::thread::sleep(Duration::from_millis(20));
    };
    connection.set_nonblocking(false).unwrap();
    let mut call = Vec::new();
    let body = loop {
        let mut part = [0; 4_096];
        let count = connection.read(&mut part).unwrap();
        assert_ne!(count, 0, "the call was cut off");
        call.extend_from_slice(&part[..count]);
        let text = String::from_utf8_lossy(&call).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.to_lowercase();
        let length = length.split("content-length: ").nth(1).unwrap().lines().next().unwrap();
        if body.len() >= length.parse::<usize>().unwrap() {
            break body.to_owned();
        }
    };
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
    let answer = format!("{head}\r\ncontent-length: {}\r\n\r\n{ANSWER}", ANSWER.len());
    connection.write_all(answer.as_bytes()).unwrap();
    body
}

/// The six digits of the text in a form.
fn code_of(form: &str) -> String {
    let text = form.split('&').find_map(|field| field.strip_prefix("msg=")).unwrap();
    text.split(|it: char| !it.is_ascii_digit()).find(|word| word.len() == 6).unwrap().to_owned()
}
