//! The output of `--json` has the fields of the admin API's answers: it is compared with the
//! document.

use crate::common::{Database, Project, Service, World};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

struct Document(Value);

impl Document {
    fn new() -> Self {
        Self(serde_json::from_str(&dwar_admin::document()).unwrap())
    }

    /// Fails unless the answer has exactly the fields of the schema, at any depth.
    fn describes(&self, answer: &Value, schema: &str) {
        let schema = json!({ "$ref": format!("#/components/schemas/{schema}") });
        self.compare(answer, &schema, &schema["$ref"]);
    }

    fn compare(&self, answer: &Value, schema: &Value, at: &Value) {
        if let Some(named) = schema["$ref"].as_str() {
            let named = self.0.pointer(named.trim_start_matches('#'));
            self.compare(answer, named.unwrap_or_else(|| panic!("no schema: {at}")), at);
        } else if let Some(properties) = schema["properties"].as_object() {
            assert_eq!(fields(answer), fields(&schema["properties"]), "{at}");
            for (name, schema) in properties {
                self.compare(&answer[name], schema, &json!(format!("{at}.{name}")));
            }
        } else if schema["items"].is_object() {
            for item in answer.as_array().into_iter().flatten() {
                self.compare(item, &schema["items"], at);
            }
        }
    }
}

fn fields(object: &Value) -> BTreeSet<&str> {
    object.as_object().unwrap_or_else(|| panic!("{object}")).keys().map(String::as_str).collect()
}

/// A service with a project that has sent once and paid for it.
async fn busy() -> (Service, Project, String) {
    let world = World::new(Database::sqlite());
    let url = ("DWAR__DASHBOARD__PUBLIC_URL", "https://dwar.example.com");
    let service = Service::start_in(world.with(url.0, url.1));
    let project = service.world.project("10");
    let sent = service.send(&project.live, &service.world.phone()).await.ok();
    let otp = sent["otp_id"].as_str().unwrap().to_owned();
    (service, project, otp)
}

#[tokio::test]
async fn projects_keys_and_wallets_are_as_the_admin_api_has_them() {
    let (document, (service, project, otp)) = (Document::new(), busy().await);
    let (world, of) = (&service.world, ["--project", project.id.as_str()]);
    let on = |command: &[&str], more: &[&str]| world.cli(&[command, &of, more].concat());
    for (answer, schema) in [
        (world.cli(&["project", "create", "--name", "Bazaar"]), "CreatedProject"),
        (world.cli(&["project", "list"]), "ProjectSummaryPage"),
        (on(&["project", "set"], &["--identity-lookup", "on"]), "ProjectSettings"),
        (on(&["project", "unlock"], &["--phone", "9876543210"]), "UnlockedPhone"),
        (on(&["key", "regenerate"], &["--mode", "test"]), "NewKey"),
        (on(&["wallet", "balance"], &[]), "Wallet"),
        (on(&["wallet", "credit"], &["--rupees", "1"]), "MovedWallet"),
        (on(&["wallet", "adjust"], &["--rupees", "-1", "--reference", "typo"]), "MovedWallet"),
        (on(&["wallet", "refund"], &["--otp", &otp]), "MovedWallet"),
        (on(&["wallet", "statement"], &["--limit", "2"]), "WalletEntryPage"),
        (on(&["wallet", "prove"], &[]), "LedgerProof"),
        (world.cli(&["wallet", "verify"]), "WalletProof"),
    ] {
        document.describes(&answer, schema);
    }
    let mut shown = on(&["project", "show"], &[]);
    for key in shown.as_object_mut().unwrap().remove("keys").unwrap().as_array().unwrap() {
        document.describes(key, "Key");
    }
    document.describes(&shown, "ProjectSettings");
}

#[tokio::test]
async fn webhooks_are_as_the_admin_api_has_them() {
    let (document, (service, project, _)) = (Document::new(), busy().await);
    let (world, of) = (&service.world, ["--project", project.id.as_str()]);
    let add = ["webhook", "add", "--url", "https://nobody.invalid/events"];
    let added = world.cli(&[&add, &of[..]].concat());
    document.describes(&added, "AddedWebhook");
    document.describes(&world.cli(&[&["webhook", "list"], &of[..]].concat()), "WebhookPage");
    let endpoint = ["--webhook", added["webhook"]["webhook_id"].as_str().unwrap()];
    let on = |command: &'static str| [&["webhook", command], &of[..], &endpoint].concat();
    // It exits with 1, because nobody was reached.
    let tested = world.run(&[&on("test")[..], &["--json"]].concat());
    document.describes(&serde_json::from_slice(&tested.stdout).unwrap(), "WebhookCall");
    let log = world.cli(&on("log"));
    document.describes(&log, "LoggedWebhookCallPage");
    let event = log["items"][0]["call"]["event_id"].as_str().unwrap();
    let resend = [&on("resend")[..], &["--event", event, "--json"]].concat();
    let until = Instant::now() + Duration::from_secs(30);
    let mut resent = world.run(&resend);
    while !resent.status.success() {
        assert!(Instant::now() < until, "{resent:?}");
        tokio::time::sleep(Duration::from_millis(500)).await;
        resent = world.run(&resend);
    }
    document.describes(&serde_json::from_slice(&resent.stdout).unwrap(), "ResentEvent");
    for (command, schema) in [
        ("enable", "EnabledWebhook"),
        ("rotate-secret", "WebhookSecret"),
        ("remove", "RemovedWebhook"),
    ] {
        document.describes(&world.cli(&on(command)), schema);
    }
}

#[tokio::test]
async fn operators_tokens_signing_keys_and_logs_are_as_the_admin_api_has_them() {
    let (document, (service, project, otp)) = (Document::new(), busy().await);
    let world = &service.world;
    let role = ["--project", project.id.as_str(), "--role", "member"];
    let invite = [&["operator", "invite", "--name", "Asha"], &role[..]].concat();
    let add = [&["admin-token", "add", "--name", "deploy"], &role[..]].concat();
    let made = world.cli(&add);
    let revoke = ["admin-token", "revoke", "--token", made["token"]["token_id"].as_str().unwrap()];
    for (answer, schema) in [
        (world.cli(&invite), "InvitedOperator"),
        (world.cli(&["operator", "list"]), "OperatorPage"),
        (world.cli(&["operator", "reset", "Asha"]), "InvitedOperator"),
        (world.cli(&["operator", "remove", "Asha"]), "RemovedOperator"),
        (made.clone(), "MadeToken"),
        (world.cli(&["admin-token", "list"]), "TokenPage"),
        (world.cli(&revoke), "RevokedToken"),
        (world.cli(&["signing-key", "list"]), "SigningKeyPage"),
        (world.cli(&["signing-key", "rotate"]), "SigningKey"),
    ] {
        document.describes(&answer, schema);
    }
    let audit = world.run(&["audit", "--json"]);
    let lines = String::from_utf8(audit.stdout).unwrap();
    assert!(lines.lines().count() > 5, "{lines}");
    for line in lines.lines() {
        document.describes(&serde_json::from_str(line).unwrap(), "AuditLine");
    }
    let told = |more: &[&str]| {
        let of = ["activity", "--project", project.id.as_str()];
        String::from_utf8(world.run(&[&of, more].concat()).stdout).unwrap()
    };
    let request: Value = serde_json::from_str(&told(&["--json"])).unwrap();
    document.describes(&request, "Request");
    assert_eq!((&request["request_id"], &request["mode"]), (&json!(otp), &json!("live")));
    let (list, csv) = (told(&["--mode", "live", "--limit", "5"]), told(&["--csv"]));
    assert!(list.contains(&otp) && list.lines().count() == 1, "{list}");
    assert!(
        csv.starts_with("at,otp_id,") && csv.lines().count() == 2 && csv.contains(&otp),
        "{csv}"
    );
    for nothing in [["--mode", "test"], ["--reason", "any"], ["--until", "2026-01-01"]] {
        assert_eq!(told(&nothing), "", "{nothing:?}");
    }
}

/// Scripts rely on these names, whatever names the admin API uses.
#[tokio::test]
async fn what_scripts_rely_on_keeps_its_name() {
    let (service, project, _) = busy().await;
    let (world, of) = (&service.world, ["--project", project.id.as_str()]);
    let create = ["project", "create", "--name", "Bazaar", "--balance-rupees", "100"];
    let created = world.cli(&create);
    let pinned = ["project_id", "name", "live_key", "test_key", "balance_paise"];
    assert_eq!(fields(&created), pinned.into());
    assert_eq!((&created["name"], &created["balance_paise"]), (&json!("Bazaar"), &json!(10_000)));
    let key = world.cli(&[&["key", "regenerate"], &of[..], &["--mode", "live"]].concat());
    assert_eq!(fields(&key), ["project_id", "mode", "key"].into());
    assert_eq!((&key["project_id"], &key["mode"]), (&json!(project.id), &json!("live")));
    let set = world.cli(&[&["project", "set"], &of[..], &["--identity-delete", "on"]].concat());
    let switches = (&set["identity_lookup"], &set["identity_delete"]);
    assert_eq!(switches, (&json!(false), &json!(true)));
    let balance = world.balance(&project);
    let pinned = ["project_id", "balance_paise", "held_paise", "available_paise"];
    assert_eq!(fields(&balance), pinned.into());
    assert_eq!(balance["project_id"], json!(project.id));
    let verified = world.cli(&["wallet", "verify"]);
    assert_eq!(verified, json!({ "projects": 2, "difference_paise": 0 }));
}
