//! `dwar wallet close`: entries that leave the ledger are in a file first, and nothing else
//! changes.

use crate::common::old_sends::OldSends;
use crate::common::{Database, Project, Service, World};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

on_both_databases! {
    months_leave_for_files_and_the_balance_stays;
    nothing_leaves_without_its_file;
}

/// The first millisecond of October 2020 in India.
const OCTOBER: i64 = 1_601_490_600_000;
const BEFORE: [&str; 2] = ["--before", "2020-11"];

fn old(name: &str, sends: u32, since: i64) -> OldSends<'_> {
    OldSends { name, sends, since, apart: 1 }
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The lines of an export, each with the digest of the previous one.
fn chained(file: &Path, first: &Value) -> Vec<Value> {
    let text = fs::read_to_string(file).unwrap();
    assert!(text.ends_with('\n'));
    let mut previous = first.clone();
    let lines = text.lines().map(|line| {
        let object: Value = serde_json::from_str(line).unwrap();
        assert_eq!(object["previous_sha256"], previous, "{line}");
        previous = sha256(line.as_bytes()).into();
        object
    });
    lines.collect()
}

/// Asserts that a command was refused with a sentence that contains these words.
fn assert_refused(world: &World, arguments: &[&str], words: &[&str]) {
    let output = world.run(arguments);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {error}");
    for word in words {
        assert!(error.contains(word), "{word} in {error}");
    }
}

struct Scene {
    world: World,
    project: Project,
    folder: PathBuf,
}

impl Scene {
    /// A project with sends on both sides of midnight in India.
    async fn open(database: Database) -> Self {
        let world = World::new(database);
        let project = world.project("1000");
        world.book_old_sends(&project, old("september", 2, OCTOBER - 2)).await;
        world.book_old_sends(&project, old("october", 3, OCTOBER)).await;
        let folder = world.database.folder().join("exports");
        fs::create_dir(&folder).unwrap();
        Self { world, project, folder }
    }

    fn arguments<'own>(&'own self, more: &[&'own str]) -> Vec<&'own str> {
        let to = ["--to", self.folder.to_str().unwrap()];
        [&["wallet", "close"], &BEFORE[..], &to, more].concat()
    }

    fn close(&self) -> Value {
        self.world.cli(&self.arguments(&[]))
    }

    fn file(&self, month: &str) -> PathBuf {
        self.folder.join(format!("ledger-{}-{month}.jsonl", self.project.id))
    }

    fn statement(&self) -> Vec<Value> {
        let page = self.world.cli(&["wallet", "statement", "--project", &self.project.id]);
        page["items"].as_array().unwrap().clone()
    }

    async fn entries(&self) -> i64 {
        self.world.database.number("SELECT count(*) FROM ledger_entries").await
    }
}

async fn months_leave_for_files_and_the_balance_stays(database: Database) {
    let scene = Scene::open(database).await;
    let Scene { world, project, .. } = &scene;
    let before = world.balance(project);
    let plan = world.cli(&scene.arguments(&["--dry-run"]));
    assert_eq!(plan["months"].as_array().unwrap().len(), 2);
    assert_eq!((plan["months"][0]["month"].as_str(), scene.entries().await), (Some("2020-09"), 16));
    assert_eq!(fs::read_dir(&scene.folder).unwrap().count(), 0, "a dry run writes nothing");

    let closed = scene.close();
    let [september, october] = &closed["closed"].as_array().unwrap()[..] else {
        panic!("{closed}")
    };
    assert_eq!((&september["entries"], &october["entries"]), (&6.into(), &9.into()));
    assert_eq!(
        (&september["amount_paise"], &october["amount_paise"]),
        (&(-40).into(), &(-60).into())
    );
    assert_eq!(scene.entries().await, 1, "the credit");
    assert_eq!(world.balance(project), before);
    world.audit();
    let proof = world.cli(&["wallet", "prove", "--project", &project.id]);
    assert_eq!((&proof["sound"], &proof["entries"]), (&true.into(), &16.into()));

    let mut previous = Value::Null;
    for (month, closing, sends) in [("2020-09", september, 2), ("2020-10", october, 3)] {
        let file = scene.file(month);
        assert_eq!(closing["file"], file.to_str().unwrap());
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(closing["sha256"], sha256(&fs::read(&file).unwrap()));
        let lines = chained(&file, &previous);
        previous = closing["sha256"].clone();
        assert_eq!(lines.len(), 3 * sends + 2);
        assert_eq!((&lines[0]["dwar_ledger"], &lines[0]["month"]), (&1.into(), &month.into()));
        let paise =
            |field| lines[1..=3 * sends].iter().map(|it| it[field].as_i64().unwrap()).sum::<i64>();
        assert_eq!(closing["amount_paise"], paise("amount_paise"));
        assert_eq!(lines.last().unwrap()["entries"], 3 * sends);
        let shown = scene.statement();
        let entry = shown.iter().find(|entry| entry["reference"] == month).unwrap();
        assert_eq!(
            (&entry["kind"], &entry["amount_paise"]),
            (&"closed".into(), &closing["amount_paise"])
        );
        assert_eq!(entry["closed"]["sha256"], closing["sha256"]);
        assert_eq!(entry["position"], closing["last_position"]);
    }
    assert_eq!(scene.close()["closed"], serde_json::json!([]), "there is nothing left");
    let log = world.run(&["audit"]);
    let log = String::from_utf8_lossy(&log.stdout).into_owned();
    assert_eq!(log.matches("ledger.closed").count(), 2, "{log}");

    // Work that continues: a login, its charge, and another proof from where the last one ended.
    let Scene { world, project, .. } = scene;
    let service = Service::start_in(world);
    service.log_in(&project.live, &service.world.phone()).await;
    service.world.audit();
    let proof = service.world.cli(&["wallet", "prove", "--project", &project.id]);
    assert_eq!(proof["sound"], true);
}

async fn nothing_leaves_without_its_file(database: Database) {
    let mut scene = Scene::open(database).await;
    let rows = scene.entries().await;
    let future = ["wallet", "close", "--before", "2199-01"];
    assert_refused(&scene.world, &future, &["2199-01", "from"]);
    let output = scene.world.run(&["wallet", "close", "--before", "2020-13"]);
    assert_eq!(output.status.code(), Some(2));
    let unknown = "00000000-0000-7000-8000-000000000001";
    assert_refused(&scene.world, &scene.arguments(&["--project", unknown]), &["no project"]);

    let there = std::mem::replace(&mut scene.folder, PathBuf::from("/nowhere"));
    assert_refused(&scene.world, &scene.arguments(&[]), &["/nowhere", "No such file"]);
    scene.folder = there;

    let september = scene.file("2020-09");
    fs::write(&september, "something else\n").unwrap();
    assert_refused(&scene.world, &scene.arguments(&[]), &["exists", "nothing is overwritten"]);
    assert_eq!(fs::read_to_string(&september).unwrap(), "something else\n");
    fs::remove_file(&september).unwrap();

    // Another process is working on it, or was killed.
    let draft = scene.folder.join(format!("ledger-{}-2020-09.jsonl.part", scene.project.id));
    let other = fs::File::create(&draft).unwrap();
    other.lock().unwrap();
    assert_refused(&scene.world, &scene.arguments(&[]), &["another run"]);
    drop(other);
    fs::write(&draft, "half a li").unwrap();

    // A hold of that month is open.
    let hold = scene.world.database.id("01990000-0000-7000-8000-000000000001");
    let project = scene.world.database.id(&scene.project.id);
    let at = match scene.world.database {
        Database::Postgres { .. } => "to_timestamp(1600000000)",
        _ => "1600000000000",
    };
    let open = format!(
        "INSERT INTO wallet_holds (send_id, project_id, amount, held_since) VALUES ({hold}, {project}, 0, {at})"
    );
    scene.world.database.run(&open).await;
    assert_refused(&scene.world, &scene.arguments(&[]), &["open hold", "2020-09"]);
    scene.world.database.run("DELETE FROM wallet_holds").await;

    // A wallet with a wrong balance is not closed.
    scene.world.database.run("UPDATE wallets SET balance = balance + 1").await;
    assert_refused(&scene.world, &scene.arguments(&[]), &["wallet verify"]);
    scene.world.database.run("UPDATE wallets SET balance = balance - 1").await;
    assert_eq!(scene.entries().await, rows);
    assert!(!september.exists());

    // A closing that a killed run began continues only with its export.
    let closed = scene.close();
    assert_eq!(closed["closed"].as_array().unwrap().len(), 2);
    assert!(!draft.exists());
    let inode = fs::metadata(&september).unwrap().ino();
    assert_eq!(scene.close()["closed"], serde_json::json!([]));
    assert_eq!(fs::metadata(&september).unwrap().ino(), inode);
    scene.world.audit();
}
