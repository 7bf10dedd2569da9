//! Commands that destroy something ask for confirmation, but only a person at a terminal.

use super::terminal::at_terminal;
use crate::common::old_sends::OldSends;
use crate::common::{Database, World};
use serde_json::Value;
use std::process::Command;

const LINK: (&str, &str) = ("DWAR__DASHBOARD__PUBLIC_URL", "https://dwar.example.com");

/// A database with one of everything that can be removed.
struct Stage {
    world: World,
    project: String,
    exports: String,
    webhook: String,
    hook: String,
    token: String,
}

impl Stage {
    async fn new() -> Self {
        let world = World::new(Database::sqlite()).with(LINK.0, LINK.1);
        let made = world.project("100");
        let october_2020 = 1_601_490_600_000;
        let old = OldSends { name: "october", sends: 1, since: october_2020, apart: 1 };
        world.book_old_sends(&made, old).await;
        let (project, exports) = (made.id, world.database.folder().join("exports"));
        std::fs::create_dir(&exports).unwrap();
        let id =
            |made: &Value, path: &str| made.pointer(path).unwrap().as_str().unwrap().to_owned();
        let of = ["--project", &project];
        let url = ["--url", "https://shop.example.com/events"];
        let webhook = world.cli(&[&["webhook", "add"], &of[..], &url].concat());
        let kind = ["--kind", "logto", "--mode", "test", "--expires-in", "600"];
        let hook = world.cli(&[&["hook", "add"], &of[..], &kind].concat());
        world.cli(&["operator", "invite", "--name", "Asha", "--owner"]);
        let token = world.cli(&["admin-token", "add", "--name", "deploy", "--everything"]);
        Self {
            exports: exports.to_str().unwrap().to_owned(),
            webhook: id(&webhook, "/webhook/webhook_id"),
            hook: id(&hook, "/hook/hook_id"),
            token: id(&token, "/token/token_id"),
            project,
            world,
        }
    }

    /// Each destructive command, and the name in its question.
    fn commands(&self) -> Vec<(Vec<&str>, &str)> {
        let Self { project, exports, webhook, hook, token, .. } = self;
        vec![
            (vec!["key", "regenerate", "--project", project, "--mode", "live"], "Acme"),
            (vec!["webhook", "remove", "--project", project, "--webhook", webhook], "/events"),
            (vec!["hook", "remove", "--project", project, "--hook", hook], "logto"),
            (vec!["operator", "reset", "asha"], "Asha"),
            (vec!["operator", "remove", "asha"], "Asha"),
            (vec!["admin-token", "revoke", "--token", token], "deploy"),
            (vec!["wallet", "close", "--before", "2020-11", "--to", exports], "/exports"),
            (vec!["project", "archive", "--project", project], "Acme"),
        ]
    }

    fn command(&self, arguments: &[&str]) -> Command {
        self.world.command(arguments)
    }

    /// The records that may be destroyed, and the audit log.
    fn state(&self) -> (Vec<Value>, String) {
        let of = ["--project", &self.project];
        let listed = [
            &[&["project", "show"], &of[..]].concat()[..],
            &[&["webhook", "list"], &of[..]].concat(),
            &[&["hook", "list"], &of[..]].concat(),
            &[&["wallet", "statement"], &of[..]].concat(),
            &["operator", "list"],
            &["admin-token", "list"],
        ]
        .map(|arguments| self.world.cli(arguments));
        let audit = self.world.run(&["audit"]).stdout;
        (listed.to_vec(), String::from_utf8(audit).unwrap())
    }
}

#[tokio::test]
async fn a_person_who_does_not_say_yes_loses_nothing() {
    let stage = Stage::new().await;
    let before = stage.state();
    for (arguments, named) in stage.commands() {
        let typed = if named == "Acme" { &["n\n", "\n", "yess\n", "\u{4}"][..] } else { &["no\n"] };
        for typed in typed {
            let (status, shown) = at_terminal(stage.command(&arguments), typed);
            assert_eq!(status, Some(1), "{arguments:?} {typed:?}: {shown}");
            assert!(shown.contains("? ") && shown.contains("[y/N]"), "{arguments:?}: {shown}");
            assert!(shown.contains(named), "{arguments:?}: {shown}");
            assert!(shown.ends_with("dwar: cancelled\n"), "{arguments:?} {typed:?}: {shown:?}");
            assert!(!shown.contains("svc_"), "{arguments:?}: {shown}");
        }
    }
    assert_eq!(stage.state(), before);
}

#[tokio::test]
async fn a_person_who_says_yes_is_obeyed() {
    let stage = Stage::new().await;
    for (arguments, _) in stage.commands() {
        let before = stage.state();
        let (status, shown) = at_terminal(stage.command(&arguments), "y\n");
        assert_eq!(status, Some(0), "{arguments:?}: {shown}");
        assert_ne!(stage.state(), before, "{arguments:?}: {shown}");
    }
}

#[tokio::test]
async fn nobody_is_asked_with_yes_for_a_program_or_away_from_a_terminal() {
    for more in ["--yes", "-y", "--json"] {
        let stage = Stage::new().await;
        for (arguments, _) in stage.commands() {
            let (status, shown) =
                at_terminal(stage.command(&[&arguments[..], &[more]].concat()), "");
            assert_eq!(status, Some(0), "{arguments:?} {more}: {shown}");
            assert!(!shown.contains("[y/N]"), "{arguments:?} {more}: {shown}");
        }
    }
    let stage = Stage::new().await;
    for (arguments, _) in stage.commands() {
        let output = stage.world.run(&arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), error.as_ref()), (Some(0), ""), "{arguments:?}");
    }
}

#[tokio::test]
async fn what_is_not_there_is_refused_without_a_question() {
    let stage = Stage::new().await;
    let nothing = "0199a000-0000-7000-8000-000000000000";
    for arguments in [
        vec!["key", "regenerate", "--project", nothing, "--mode", "live"],
        vec!["webhook", "remove", "--project", &stage.project, "--webhook", nothing],
        vec!["hook", "remove", "--project", &stage.project, "--hook", nothing],
        vec!["operator", "remove", "nobody"],
        vec!["admin-token", "revoke", "--token", nothing],
        vec!["project", "archive", "--project", nothing],
    ] {
        let (status, shown) = at_terminal(stage.command(&arguments), "");
        assert_eq!(status, Some(1), "{arguments:?}: {shown}");
        assert!(shown.contains("there is no ") && !shown.contains("[y/N]"), "{shown}");
    }
}

#[test]
fn a_backup_takes_the_place_of_a_database_only_after_a_yes() {
    let world = World::new(Database::sqlite());
    let project = world.project("0");
    let backup = world.database.folder().join("backup.db");
    let file = backup.to_str().unwrap();
    world.cli(&["backup", file]);
    world.cli(&["project", "set", "--project", &project.id, "--name", "After"]);
    let name = || world.cli(&["project", "show", "--project", &project.id])["name"].clone();
    for arguments in [vec!["restore", file], vec!["restore", "--in-place"]] {
        let (status, shown) = at_terminal(world.command(&arguments), "n\n");
        assert_eq!((status, name()), (Some(1), "After".into()), "{shown}");
        assert!(shown.contains("every session ends"), "{shown}");
    }
    let (status, shown) = at_terminal(world.command(&["restore", file]), "yes\n");
    assert_eq!((status, name()), (Some(0), "Acme".into()), "{shown}");
}
