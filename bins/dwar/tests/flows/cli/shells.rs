//! Shell completion, and output at terminals.

use super::terminal::at_terminal;
use crate::common::{Database, Service, World};
use serde_json::json;
use std::path::Path;
use std::process::{Command, Stdio};

/// The completions that Bash offers with the script in this file for these words, the last of them
/// incomplete.
fn offered(script: &Path, words: &[&str]) -> Vec<String> {
    let last = words.len() - 1;
    let asks = format!(
        "source '{}'; COMP_WORDS=({}); COMP_CWORD={last}; _dwar dwar '{}' '{}'; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        script.display(),
        words.join(" "),
        words[last],
        words[last - 1]
    );
    let output = Command::new("bash").args(["--norc", "-c", &asks]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn shells_complete_commands_and_options() {
    // Neither a configuration nor a database is read.
    let world = World::new(Database::sqlite());
    std::fs::write(world.database.folder().join("dwar.toml"), "nonsense = 1\n").unwrap();
    let script = |shell: &str| {
        let output = world.run(&["completion", shell]);
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let bash = world.database.folder().join("dwar.bash");
    std::fs::write(&bash, script("bash")).unwrap();
    assert_eq!(offered(&bash, &["dwar", "wal"]), ["wallet"]);
    assert_eq!(offered(&bash, &["dwar", "operator", "re"]), ["renew", "reset", "remove"]);
    assert_eq!(offered(&bash, &["dwar", "completion", "z"]), ["zsh"]);
    let options = offered(&bash, &["dwar", "project", "archive", "--"]);
    assert!(options.iter().any(|it| it == "--project") && options.iter().any(|it| it == "--yes"));
    assert!(script("zsh").starts_with("#compdef dwar\n"));
    assert!(script("fish").contains("complete -c dwar"));
    for (shell, checks) in [("bash", "-n"), ("zsh", "-n"), ("fish", "-n")] {
        let file = world.database.folder().join(shell);
        std::fs::write(&file, script(shell)).unwrap();
        // The test of the package loads them in each shell.
        if let Ok(checked) = Command::new(shell).arg(checks).arg(&file).status() {
            assert!(checked.success(), "{shell}");
        }
    }
    assert_eq!(world.cli(&["completion", "zsh"])["shell"], json!("zsh"));
    assert_eq!(world.run(&["completion", "tcsh"]).status.code(), Some(2));
}

#[test]
fn doctor_is_coloured_at_a_terminal_and_nowhere_else() {
    let world = World::new(Database::sqlite());
    world.cli(&["migrate"]);
    let doctor = |more: &[&str]| world.command(&[&["doctor"], more].concat());
    let (status, shown) = at_terminal(doctor(&[]), "");
    assert_eq!(status, Some(0), "{shown}");
    assert!(shown.contains("\u{1b}[32mok ") && shown.contains("\u{1b}[33mwarning "), "{shown:?}");
    let plain = String::from_utf8(world.run(&["doctor"]).stdout).unwrap();
    let mut bare = shown.clone();
    for code in ["0", "2", "31", "32", "33"] {
        bare = bare.replace(&format!("\u{1b}[{code}m"), "");
    }
    // Free space and clocks differ from run to run.
    let words = |text: &str| text.replace(|it: char| it.is_ascii_digit(), "");
    assert_eq!(words(&bare), words(&plain), "colours alone tell them apart");
    for (name, value, coloured) in
        [("NO_COLOR", "1", false), ("NO_COLOR", "", true), ("TERM", "dumb", false)]
    {
        let mut command = doctor(&[]);
        command.env(name, value);
        let (_, shown) = at_terminal(command, "");
        assert_eq!(shown.contains('\u{1b}'), coloured, "{name}={value}: {shown:?}");
    }
    let (_, shown) = at_terminal(doctor(&["--json"]), "");
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
    let broken = world.with("DWAR__DATABASE__URL", "postgres://nobody@127.0.0.1:1/x");
    let (status, shown) = at_terminal(broken.command(&["doctor"]), "");
    assert_eq!(status, Some(1), "{shown}");
    assert!(shown.contains("\u{1b}[31mfailed "), "{shown:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_of_several_lines_is_shown_as_it_arrives() {
    let service = Service::start(Database::sqlite());
    let project = service.world.project("0");
    let domain = ["--webotp-domain", "login.example.com"];
    service.world.cli(&[&["project", "set", "--project", &project.id], &domain[..]].concat());
    let trying = |more: &[&str]| {
        let mut command = service.world.command(&[&["try", "--url", &service.base], more].concat());
        command.env("DWAR_KEY", &project.test).stdin(Stdio::null());
        command.output().unwrap()
    };
    let report = String::from_utf8(trying(&[]).stdout).unwrap();
    assert!(!report.contains('\u{fffd}'), "{report}");
    let last = report.lines().find(|line| line.trim().starts_with("@login.example.com #"));
    let note = report.lines().find_map(|line| line.find("over ")).unwrap();
    assert!(last.is_some_and(|line| line.starts_with(&" ".repeat(note))), "{report}");
    let told: serde_json::Value = serde_json::from_slice(&trying(&["--json"]).stdout).unwrap();
    let text = told["steps"][1]["note"].as_str().unwrap();
    assert!(text.contains("\n@login.example.com #"), "{text}");
}
