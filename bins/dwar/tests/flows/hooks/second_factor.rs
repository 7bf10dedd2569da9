//! Codes of Supabase's second factor, which have their own lifetime.

use super::{Hook, done, hook, messages, signed};
use crate::common::{Database, Project, Service, answer};
use serde_json::{Value, json};

on_both_databases! {
    a_code_of_the_second_factor_names_minutes_of_its_own;
    what_has_no_second_factor_has_no_lifetime_of_it;
}

/// The body that Supabase posts for a challenge of a phone factor: the user may have another
/// number, or none.
fn challenge(phone: &str, code: &str) -> String {
    let user = json!({ "id": "6481a5c1-3d37-4a56-9f6a-bee08c554965", "phone": "" });
    let sms = json!({ "otp": code, "sms_type": "mfa", "phone": format!("91{phone}") });
    json!({ "user": user, "sms": sms }).to_string()
}

fn login(phone: &str, code: &str) -> String {
    let user = json!({ "phone": format!("91{phone}") });
    json!({ "user": user, "sms": { "otp": code, "phone": format!("91{phone}") } }).to_string()
}

async fn text(
    service: &Service,
    project: &Project,
    hook: &Hook,
    phone: &str,
    body: &str,
) -> String {
    done(&answer(signed(service, hook, body)).await);
    let newest = messages(service, project, phone).await[0].clone();
    newest["text"].as_str().unwrap().to_owned()
}

async fn a_code_of_the_second_factor_names_minutes_of_its_own(database: Database) {
    let service = Service::start(database);
    let project = service.world.project("0");
    let add = |seconds: &[&str]| {
        let new = ["hook", "add", "--project", &project.id, "--kind", "supabase", "--mode", "test"];
        let made = service.world.cli(&[new.as_slice(), seconds].concat());
        let named = |value: &Value| value.as_str().unwrap().to_owned();
        let id = named(&made["hook"]["hook_id"]);
        (Hook { id, secret: named(&made["secret"]) }, made["hook"]["mfa_expires_in"].clone())
    };
    let (hook, mfa) = add(&["--expires-in", "3600"]);
    assert_eq!(mfa, 300, "as Supabase has it unless told otherwise");
    let phone = service.world.phone();
    let said = text(&service, &project, &hook, &phone, &challenge(&phone, "111111")).await;
    assert!(said.contains("111111") && said.contains("valid for 5 min."), "{said}");
    let said = text(&service, &project, &hook, &phone, &login(&phone, "222222")).await;
    assert!(said.contains("valid for 60 min."), "{said}");

    // The next call uses the changed lifetime; the other one stays.
    let of = ["hook", "set", "--project", &project.id, "--hook", &hook.id];
    let changed = service.world.cli(&[of.as_slice(), &["--mfa-expires-in", "60"]].concat());
    assert_eq!((&changed["expires_in"], &changed["mfa_expires_in"]), (&json!(3_600), &json!(60)));
    let said = text(&service, &project, &hook, &phone, &challenge(&phone, "333333")).await;
    assert!(said.contains("valid for 1 min."), "{said}");
    let changed = service.world.cli(&[of.as_slice(), &["--expires-in", "90"]].concat());
    assert_eq!((&changed["expires_in"], &changed["mfa_expires_in"]), (&json!(90), &json!(60)));
    let said = text(&service, &project, &hook, &phone, &login(&phone, "444444")).await;
    assert!(said.contains("valid for 1 min."), "{said}");

    let (given, mfa) = add(&["--expires-in", "60", "--mfa-expires-in", "120"]);
    assert_eq!(mfa, 120);
    let said = text(&service, &project, &given, &phone, &challenge(&phone, "555555")).await;
    assert!(said.contains("valid for 2 min."), "{said}");
    let log = service.world.run(&["audit", "--project", &project.id, "--json"]).stdout;
    let entries = std::str::from_utf8(&log).unwrap().lines();
    let mut entries = entries.map(|line| serde_json::from_str::<Value>(line).unwrap());
    let entry = entries.find(|entry| entry["action"] == "hook.changed").unwrap();
    let (before, after) = (&entry["before"], &entry["after"]);
    assert_eq!((before, after), (&json!({ "expires_in": "3600" }), &json!({ "expires_in": "90" })));
}

async fn what_has_no_second_factor_has_no_lifetime_of_it(database: Database) {
    let service = Service::start(database);
    let project = service.world.project("0");
    let logto = hook(&service, &project, "logto", "test");
    let listed = service.world.cli(&["hook", "list", "--project", &project.id]);
    assert_eq!(listed["items"][0]["mfa_expires_in"], Value::Null);
    let of = ["--project", project.id.as_str()];
    let one = [of.as_slice(), &["--hook", &logto.id]].concat();
    let new =
        ["--kind", "logto", "--mode", "test", "--expires-in", "600", "--mfa-expires-in", "60"];
    for (command, options, status, said) in [
        ("add", [of.as_slice(), &new].concat(), 1, "only Supabase has a second factor"),
        ("set", [one.as_slice(), &["--mfa-expires-in", "60"]].concat(), 1, "only Supabase"),
        ("set", [one.as_slice(), &["--expires-in", "59"]].concat(), 1, "from 60 to 3600"),
        ("set", one.clone(), 2, "--expires-in"),
    ] {
        let output = service.world.run(&[&["hook", command], options.as_slice()].concat());
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(status) && error.contains(said), "{error}");
    }
    let changed =
        service.world.cli(&[&["hook", "set"], one.as_slice(), &["--expires-in", "60"]].concat());
    assert_eq!((&changed["expires_in"], &changed["mfa_expires_in"]), (&json!(60), &Value::Null));
}
