//! How projects, operators and commands can be referred to.

use crate::common::{Database, Service, World};
use serde_json::json;

fn refused(world: &World, arguments: &[&str]) -> (Option<i32>, String) {
    let output = world.run(arguments);
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_project_is_called_by_its_name_or_by_how_its_id_begins() {
    let world = World::new(Database::sqlite());
    let made = |name: &str| {
        let made = world.cli(&["project", "create", "--name", name, "--balance-rupees", "1"]);
        made["project_id"].as_str().unwrap().to_owned()
    };
    let (shop, first, second) = (made("Shop India"), made("Twin"), made("Twin"));
    let start = (4..36).find(|end| !first.starts_with(&shop[..*end])).unwrap();
    for called in ["Shop India", "shop india", &shop[..start], &shop.to_uppercase()] {
        let of = ["--project", called];
        let shown = world.cli(&[&["project", "show"], &of[..]].concat());
        assert_eq!(shown["project_id"], json!(shop), "{called}");
        for command in [
            vec!["wallet", "balance"],
            vec!["wallet", "credit", "--rupees", "1"],
            vec!["key", "regenerate", "--mode", "test"],
            vec!["project", "archive"],
            vec!["project", "restore"],
        ] {
            let answer = world.cli(&[&command[..], &of].concat());
            assert_eq!(answer.to_string().matches(&shop).count(), 1, "{command:?}: {answer}");
        }
        for command in [vec!["wallet", "statement"], vec!["webhook", "list"], vec!["hook", "list"]]
        {
            world.cli(&[&command[..], &of].concat());
        }
        assert!(!world.run(&[&["--json", "audit"], &of[..]].concat()).stdout.is_empty());
        let support = ["--name", called, "--project", called, "--role", "viewer"];
        let token = world.cli(&[&["admin-token", "add"], &support[..]].concat());
        let role = json!([{ "project_id": shop, "role": "viewer" }]);
        assert_eq!(token["token"]["access"]["projects"], role);
    }
    let (status, error) =
        refused(&world, &["key", "regenerate", "--project", "Twin", "--mode", "live"]);
    assert_eq!(status, Some(1));
    assert!(error.contains(&first) && error.contains(&second) && !error.contains(&shop), "{error}");
    let (status, error) = refused(&world, &["project", "show", "--project", "Nowhere"]);
    assert_eq!(
        (status, error.as_str()),
        (Some(1), "dwar: there is no project Nowhere; see `dwar project list`\n")
    );
    // An unset shell variable refers to no project, even if there is only one.
    assert_eq!(refused(&world, &["project", "archive", "--project", ""]).0, Some(2));
}

#[test]
fn an_id_wins_over_a_project_that_is_called_like_it() {
    let world = World::new(Database::sqlite());
    let project = world.project("0");
    let liar = world.cli(&["project", "create", "--name", &project.id]);
    let liar_start = world.cli(&["project", "create", "--name", &project.id[..30]]);
    assert_ne!(liar["project_id"], json!(project.id));
    assert_ne!(liar_start["project_id"], json!(project.id));
    for called in [&project.id[..], &project.id[..30]] {
        let shown = world.cli(&["project", "show", "--project", called]);
        assert_eq!(shown["project_id"], json!(project.id), "{called}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn operators_are_named_by_a_flag_and_things_are_added_and_removed() {
    let url = ("DWAR__DASHBOARD__PUBLIC_URL", "https://dwar.example.com/");
    let service = Service::start_in(World::new(Database::sqlite()).with(url.0, url.1));
    let world = &service.world;
    for add in ["add", "invite"] {
        let name = ["--name", "Asha"];
        world.cli(&[&["operator", add], &name[..], &["--owner"]].concat());
        world.cli(&[&["operator", "renew"], &name[..]].concat());
        world.cli(&[&["operator", "reset"], &name[..]].concat());
        assert_eq!(world.cli(&[&["operator", "remove"], &name[..]].concat())["removed"], true);
        world.cli(&["operator", add, "--name", "Ravi", "--owner"]);
        for command in ["renew", "reset", "remove"] {
            world.cli(&["operator", command, "Ravi"]);
        }
    }
    assert_eq!(refused(world, &["operator", "remove"]).0, Some(2));
    assert_eq!(refused(world, &["operator", "remove", "Asha", "--name", "Ravi"]).0, Some(2));
    for remove in ["remove", "revoke"] {
        let made = world.cli(&["admin-token", "add", "--name", "deploy", "--everything"]);
        let id = made["token"]["token_id"].as_str().unwrap();
        assert_eq!(world.cli(&["admin-token", remove, "--token", id])["revoked"], true);
    }
    assert!(world.cli(&["project", "add", "--name", "Shop"])["live_key"].is_string());
    for (command, shown, hidden) in [
        ("operator", ["  add ", "  remove "], "invite"),
        ("admin-token", ["  add ", "  remove "], "revoke"),
        ("project", ["  create ", "  archive "], "  add "),
        ("webhook", ["  add ", "  remove "], "  delete "),
        ("hook", ["  add ", "  remove "], "  delete "),
    ] {
        let help = world.run(&[command, "--help"]).stdout;
        let help = String::from_utf8(help).unwrap();
        assert!(shown.iter().all(|word| help.contains(word)), "{help}");
        assert!(!help.contains(hidden), "{help}");
    }
}

#[test]
fn the_two_checks_of_wallets_say_what_tells_them_apart() {
    let world = World::new(Database::sqlite());
    let help =
        |command| String::from_utf8(world.run(&["wallet", command, "--help"]).stdout).unwrap();
    for (command, other, says) in [
        ("verify", "`dwar wallet prove` checks one", "all projects and record nothing"),
        ("prove", "`dwar wallet verify` checks all", "one project and record the result"),
    ] {
        let help = help(command).replace('\n', " ");
        assert!(help.contains(other) && help.contains(says), "{help}");
    }
}
