//! How settings are read: blanks around a value, invalid values, and files of variables.

use crate::common::{Database, Service, World, answer};
use reqwest::Method;
use serde_json::{Value, json};

on_both_databases! {
    what_mounted_files_and_editors_leave_around_a_value_is_no_part_of_it;
    a_file_of_variables_is_read_as_systemd_reads_it_and_wins;
}

/// With a line break after the value, each of these once caused a new database, a 401 or a failed
/// send.
async fn what_mounted_files_and_editors_leave_around_a_value_is_no_part_of_it(database: Database) {
    const TOKEN: &str = "4fd1c0a96e7b3825";
    let world = World::new(database);
    let project = world.project("10");
    let url = format!("{}\r\n", world.database.url());
    let token = format!("{TOKEN}\n");
    let world = world
        .with("DWAR__DATABASE__URL", &url)
        .with("DWAR__METRICS__ADDRESS", " 127.0.0.1:0\n")
        .with("DWAR__METRICS__TOKEN", &token)
        .with("DWAR__GATEWAYS__MSG91__AUTH_KEY", "9c3e71f2b804\r\n")
        .with("DWAR__GATEWAYS__MSG91__SMS_TEMPLATE_ID", "flow\r")
        .with("DWAR__GATEWAYS__MSG91__WEBHOOK_TOKEN", &token);
    let service = Service::start_in(world);
    service.log_in(&project.test, &service.world.phone()).await;
    let scrape = reqwest::Client::new().get(service.metrics()).bearer_auth(TOKEN);
    let scraped = scrape.send().await.unwrap();
    assert_eq!(scraped.status(), 200);
    let receipt = |token: &str| {
        let path = format!("/webhooks/msg91?token={token}");
        answer(service.request(Method::POST, &path).json(&json!([])))
    };
    assert_eq!(receipt("other").await.status, 401);
    assert_ne!(receipt(TOKEN).await.status, 401);
}

/// Like `secrets.env` of the package: a shell that sources it drops everything after the `&`.
async fn a_file_of_variables_is_read_as_systemd_reads_it_and_wins(database: Database) {
    let mut world = World::new(database);
    let url = match world.database.url() {
        url if url.starts_with("postgres") => {
            format!(
                "{url}{}connect_timeout=2&application_name=a",
                if url.contains('?') { "&" } else { "?" }
            )
        }
        url => url,
    };
    let file = world.database.folder().join("secrets.env");
    let text = format!(
        "# of the service\r\n\r\n; and more\nDWAR__DATABASE__URL={url}\r\n\
         DWAR__DEMO = \"false\"\nDWAR__TOKENS__ISSUER='https://otp.example.com/$a'\n\
         DWAR__GATEWAYS__SMS=con\\\nsole\n"
    );
    std::fs::write(&file, text).unwrap();
    let key = "Vg4Xk0rYfFz1P8mJq7yq2cS0hVd3Zk9uLw5t1oRb6nE=";
    world = world.with("DWAR__SECRETS__MASTER_KEY", key);
    let plain = world.settings.clone();
    world = world.with("DWAR__DATABASE__URL", "sqlite://elsewhere.db").with("DWAR__DEMO", "true");
    let create = ["project", "create", "--name", "Acme", "--env-file", "secrets.env"];
    let made = world.cli(&create);
    assert!(!world.database.folder().join("elsewhere.db").exists());
    world.settings = plain;
    let listed = world.cli(&["project", "list"]);
    assert!(listed.to_string().contains(made["project_id"].as_str().unwrap()), "{listed}");
    assert_eq!(listed["items"].as_array().map(Vec::len), Some(1), "no demo project: {listed}");
}

/// The message of a command that refuses to start.
fn refusal(world: &World, arguments: &[&str]) -> String {
    let output = world.run(arguments);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

#[test]
fn a_value_that_cannot_be_meant_is_refused_by_its_name_and_leaves_nothing_behind() {
    for (variable, value, says) in [
        ("DATABASE__URL", "\"sqlite://x.db\"", "database.url: has quotes around it"),
        ("DATABASE__URL", "sqlite://x\r.db", "database.url: holds a line break"),
        ("DATABASE__URL", "sqlite://x.db?mode=rwc", "database.url: takes no options"),
        (
            "DATABASE__URL",
            "postgres://dwar@127.0.0.1:x/d",
            "database.url: the database URL has a port",
        ),
        ("GATEWAYS__PROXY", "'http://proxy:3128'", "gateways.proxy: has quotes around it"),
        ("GATEWAYS__PROXY", "proxy:3128", "gateways.proxy: it is http:// or https:// and a host"),
        ("TOKENS__ISSUER", "\"dwar\"", "tokens.issuer: has quotes around it"),
        ("METRICS__TOKEN", "Sup3rS3cret\u{201d}", "metrics.token: goes into an HTTP header"),
        ("DASHBOARD__PUBLIC_URL", "console.example.com", "dashboard.public_url: is the address"),
        ("TRACES__HEADER", "Authorization Bearer x", "traces.header: is a name, a colon"),
    ] {
        let world = World::new(Database::sqlite()).with(&format!("DWAR__{variable}"), value);
        for command in ["serve", "doctor", "migrate"] {
            let told = refusal(&world, &[command]);
            assert!(told.contains(says) && !told.contains("Sup3rS3cret"), "{told}");
        }
        let left = std::fs::read_dir(world.database.folder()).unwrap().count();
        assert_eq!(left, 0, "{variable} = {value}");
    }
}

#[test]
fn a_file_of_variables_with_a_slip_is_told_by_its_line_and_never_by_its_content() {
    let world = World::new(Database::sqlite());
    let file = world.database.folder().join("dwar.env");
    for (text, says) in [
        ("A=1\nexport DWAR__METRICS__TOKEN=Sup3rS3cret\n", "dwar.env: line 2 is not NAME=value"),
        ("DWAR__METRICS__TOKEN=\"Sup3rS3cret\nB=1\n", "line 1 begins with a quote that is never"),
        ("DWAR__METRICS__TOKEN=Sup3rS3cret\\\n\u{1}\n", "metrics.token: holds a line break"),
        ("DWAR__METRICS__TOKEN='\"Sup3rS3cret\"'", "dwar.env: metrics.token: has quotes around it"),
        ("PGHOST=Sup3rS3cret", "PGHOST is not a setting: use DWAR__DATABASE__URL"),
    ] {
        std::fs::write(&file, text).unwrap();
        let told = refusal(&world, &["--env-file", "dwar.env", "migrate"]);
        assert!(told.contains(says) && !told.contains("Sup3r"), "{told}");
    }
    let told = refusal(&world, &["migrate", "--env-file", "none.env"]);
    assert!(told.contains("cannot read none.env"), "{told}");
}

#[test]
fn minutes_that_a_provider_fixed_can_be_said_everywhere() {
    const MINUTES: &str = "{ whatsapp_cloud = 10, msg91 = 5 }";
    let configured = |world: &World, arguments: &[&str]| {
        let report: Value = serde_json::from_slice(&world.run(arguments).stdout).unwrap();
        assert_eq!(report["checks"][0]["status"], "ok", "{report}");
        let gateways = report["checks"].as_array().unwrap().last().unwrap();
        assert_eq!((&gateways["name"], &gateways["status"]), (&json!("gateways"), &json!("ok")));
    };
    let world = World::new(Database::sqlite());
    world.cli(&["migrate"]);
    let write = |name: &str, text: String| {
        std::fs::write(world.database.folder().join(name), text).unwrap();
    };
    write("minutes.env", format!("DWAR__GATEWAYS__FIXED_MINUTES={MINUTES}\n"));
    write("inline.toml", format!("[gateways]\nfixed_minutes = {MINUTES}\n"));
    write("table.toml", "[gateways.fixed_minutes]\nwhatsapp_cloud = 10\n".to_owned());
    for (option, file) in
        [("--env-file", "minutes.env"), ("--config", "inline.toml"), ("--config", "table.toml")]
    {
        configured(&world, &["doctor", "--json", option, file]);
    }
    let world = world.with("DWAR__GATEWAYS__FIXED_MINUTES", MINUTES);
    configured(&world, &["doctor", "--json"]);
    let world = world.with("DWAR__GATEWAYS__FIXED_MINUTES", "{ whatsapp = 10 }");
    let told = refusal(&world, &["serve"]);
    assert!(
        told.contains("gateways.fixed_minutes: there is no provider called `whatsapp`"),
        "{told}"
    );
}
