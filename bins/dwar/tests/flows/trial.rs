//! `dwar try`: a login from the command line, with a service in memory and with a running one.

use crate::common::{Database, Service, World};
use dwar_testkit::reserved_port;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::{Command, Output, Stdio};

/// Every step with a test key, and its status.
const STEPS: [(&str, u16); 8] = [
    ("send", 200),
    ("message", 200),
    ("verify", 200),
    ("validate", 200),
    ("refresh", 200),
    ("validate new", 200),
    ("log out", 200),
    ("validate ended", 401),
];
/// Longer than any shown part of a key or token; an id is shorter.
const CUT: usize = 40;

fn told(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

fn trying(world: &World, url: &str, key: &str, more: &[&str]) -> Command {
    let mut command = world.command(&[&["try", "--url", url], more].concat());
    command.env("DWAR_KEY", key).stdin(Stdio::null());
    command
}

/// Mark, name and status of each step of a report for people.
fn steps(report: &str) -> Vec<(&str, &str, &str)> {
    let lines = report.lines().filter(|line| line.starts_with("ok ") || line.starts_with("failed"));
    lines.map(|line| (line[..8].trim(), line[8..22].trim(), line[22..27].trim())).collect()
}

fn assert_all_well(report: &str, without: &[&str]) {
    let wanted = STEPS.iter().filter(|(name, _)| !without.contains(name));
    let wanted: Vec<_> = wanted.map(|(name, status)| ("ok", *name, status.to_string())).collect();
    let found: Vec<_> =
        steps(report).into_iter().map(|(mark, name, it)| (mark, name, it.to_owned())).collect();
    assert_eq!(found, wanted, "{report}");
    assert_eq!(report.matches("    curl -s ").count(), wanted.len(), "{report}");
    assert_eq!(report.matches("X-Api-Key: $DWAR_KEY\"").count(), wanted.len(), "{report}");
    assert!(report.contains("\nAll steps went well, in "), "{report}");
}

/// Neither keys nor whole tokens, and no colours.
fn assert_discreet(text: &str) {
    assert!(!text.contains("svc_test_") && !text.contains("svc_live_"), "{text}");
    assert!(!text.contains('\u{1b}'), "{text:?}");
    let part = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    assert!(text.split(|letter| !part(letter)).all(|word| word.len() < CUT), "{text}");
}

#[test]
fn a_login_in_memory_needs_nothing_and_leaves_nothing_behind() {
    let world = World::new(Database::sqlite()).with("DWAR__ENVIRONMENT", "production");
    std::fs::write(world.database.folder().join("dwar.toml"), "nonsense = 1\n").unwrap();
    let (status, report, log) = told(&world.run(&["try"]));
    assert_eq!((status, log.as_str()), (Some(0), ""), "{report}");
    assert!(report.starts_with("A service in memory at http://127.0.0.1:"), "{report}");
    assert_all_well(&report, &[]);
    assert_discreet(&report);
    assert!(report.contains("verification code"), "the message is shown: {report}");
    assert_eq!(std::fs::read_dir(world.database.folder()).unwrap().count(), 1);
}

#[test]
fn a_program_reads_the_same_as_one_object() {
    let report = World::new(Database::sqlite()).cli(&["try"]);
    assert_eq!(report["ok"], true, "{report}");
    let steps = report["steps"].as_array().unwrap().iter();
    let name = |step: &Value| step["name"].as_str().unwrap().to_owned();
    let found: Vec<_> = steps.map(|step| (name(step), step["status"].clone())).collect();
    let wanted: Vec<_> =
        STEPS.iter().map(|(name, status)| ((*name).to_owned(), Value::from(*status))).collect();
    assert_eq!(found, wanted, "{report}");
    assert!(report["steps"][0]["ms"].as_f64().unwrap() > 0.0, "{report}");
    assert_discreet(&report.to_string());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_running_service_is_tried_with_the_test_key_of_the_environment_again_and_again() {
    let service = Service::start(Database::sqlite());
    let project = service.world.project("0");
    // More often than one number could get a code.
    for _ in 0..21 {
        let output = trying(&service.world, &service.base, &project.test, &[]).output().unwrap();
        let (status, report, log) = told(&output);
        assert_eq!((status, log.as_str()), (Some(0), ""), "{report}");
        assert!(report.starts_with(&format!("{}, with the test key", service.base)), "{report}");
        assert_all_well(&report, &[]);
        assert_discreet(&report);
    }
    let mut named = service.world.command(&["try"]);
    named.env("DWAR_URL", &service.base).env("DWAR_KEY", &project.test);
    assert!(named.output().unwrap().status.success());
    let people = service.world.database.number("SELECT count(*) FROM identities").await;
    assert_eq!(people, 22);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_refusal_ends_it_with_its_code_and_request_id() {
    let service = Service::start(Database::sqlite());
    let stranger = World::new(Database::sqlite()).project("0").test;
    let output = trying(&service.world, &service.base, &stranger, &[]).output().unwrap();
    let (status, report, error) = told(&output);
    assert_eq!(status, Some(1), "{report}");
    assert_eq!(steps(&report), [("failed", "send", "401")], "{report}");
    let said = "dwar: send: INVALID_API_KEY: The API key is not recognised. (request_id ";
    assert!(error.starts_with(said), "{error}");
    let id = error[said.len()..].trim_end().trim_end_matches(')');
    assert!(service.stderr().iter().any(|line| line.contains(id)), "{id} is not in the log");
    assert_discreet(&format!("{report}{error}"));

    let json = trying(&service.world, &service.base, &stranger, &["--json"]).output().unwrap();
    let report: Value = serde_json::from_slice(&json.stdout).unwrap();
    let step = &report["steps"][0];
    assert_eq!((json.status.code(), &report["ok"]), (Some(1), &false.into()));
    assert_eq!((&step["ok"], &step["code"]), (&false.into(), &"INVALID_API_KEY".into()));
    assert!(step["request_id"].is_string(), "{report}");
}

#[test]
fn a_service_that_is_away_is_named() {
    let world = World::new(Database::sqlite());
    let url = format!("http://127.0.0.1:{}", reserved_port());
    let key = world.project("0").test;
    let (status, report, error) = told(&trying(&world, &url, &key, &[]).output().unwrap());
    assert_eq!((status, steps(&report)), (Some(1), vec![("failed", "send", "-")]), "{report}");
    assert!(error.starts_with(&format!("dwar: send: {url} cannot be reached: ")), "{error}");
    assert_discreet(&error);
}

#[test]
fn a_redirect_is_not_followed() {
    let (first, second) = (listener(), listener());
    let (here, there) = (first.local_addr().unwrap(), second.local_addr().unwrap());
    let answering = std::thread::spawn(move || {
        let (mut stream, _) = first.accept().unwrap();
        let mut head = [0; 4_096];
        assert!(stream.read(&mut head).unwrap() > 0);
        let answer = format!(
            "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://{there}/\r\nContent-Length: 0\r\n\r\n"
        );
        stream.write_all(answer.as_bytes()).unwrap();
    });
    let world = World::new(Database::sqlite());
    let key = world.project("0").test;
    let output = trying(&world, &format!("http://{here}"), &key, &[]).output().unwrap();
    let (status, report, error) = told(&output);
    answering.join().unwrap();
    assert_eq!((status, steps(&report)), (Some(1), vec![("failed", "send", "307")]), "{report}");
    assert!(error.contains("no redirect is followed"), "{error}");
    second.set_nonblocking(true).unwrap();
    assert!(second.accept().is_err(), "the key went to another address");
}

fn listener() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_live_login_takes_the_code_from_standard_input() {
    let service = Service::start(Database::sqlite());
    let (project, phone) = (service.world.project("10"), service.world.phone());
    let live =
        |phone: &str| trying(&service.world, &service.base, &project.live, &["--live", phone]);
    let mut child = live(&phone)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let code = service.code(&project.live, &phone).await;
    writeln!(child.stdin.take().unwrap(), " {code} ").unwrap();
    let (status, report, log) = told(&child.wait_with_output().unwrap());
    assert_eq!((status, log.as_str()), (Some(0), ""), "{report}");
    assert_all_well(&report, &["message"]);
    assert_discreet(&report);
    assert!(!report.contains(&phone) && !report.contains(&code), "{report}");
    assert!(report.contains("over whatsapp"), "{report}");
    assert_eq!(service.world.balance(&project)["balance_paise"], 980);

    let other = service.world.phone();
    let (status, report, error) = told(&live(&other).output().unwrap());
    assert_eq!((status, steps(&report)), (Some(1), vec![("ok", "send", "200")]), "{report}");
    assert_eq!(error, "dwar: no code was given on standard input\n");
}

#[test]
fn a_key_of_the_wrong_kind_or_place_is_wrong_usage() {
    let world = World::new(Database::sqlite());
    let project = world.project("0");
    let (here, phone) = ("http://127.0.0.1:9", &["--live", "9876543210"][..]);
    for (url, key, more, sentence) in [
        (here, "", &[][..], "DWAR_KEY is not set"),
        (here, "secret", &[], "DWAR_KEY is not an API key"),
        (here, &project.live, &[], "DWAR_KEY is a live key"),
        (here, &project.test, phone, "DWAR_KEY is a test key"),
        (here, &project.live, &["--live", "1234567890"], "not a valid Indian mobile number"),
        ("http://otp.example.com", &project.test, &[], "can read the API key"),
        ("otp.example.com", &project.test, &[], "it begins with https://"),
    ] {
        let (status, report, error) = told(&trying(&world, url, key, more).output().unwrap());
        assert_eq!((status, report.as_str()), (Some(2), ""), "{sentence}: {error}");
        assert!(error.contains(sentence), "{sentence}: {error}");
        assert!(key.is_empty() || !error.contains(key), "{error}");
    }
    let (status, _, error) = told(&world.run(&["try", "--live", "9876543210"]));
    assert!(status == Some(2) && error.contains("--url"), "{error}");
}
