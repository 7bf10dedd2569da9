//! Settings that production refuses, and secrets that the process, its files and its log never
//! reveal.

use crate::common::{Database, Service, World, wrong};
use serde_json::Value;
use std::fs::{self, Permissions};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

on_both_databases! {
    the_log_names_phones_masked_whatever_became_of_the_request;
}

const NOBODY: u32 = 65_534;
const KEY: &str = "Vg4Xk0rYfFz1P8mJq7yq2cS0hVd3Zk9uLw5t1oRb6nE=";

/// Settings that production accepts: test keys only, and the key in a file.
fn production() -> World {
    World::new(Database::sqlite())
        .with("DWAR__ENVIRONMENT", "production")
        .with("DWAR__GATEWAYS__WHATSAPP", "")
        .with("DWAR__GATEWAYS__SMS", "")
        .with("DWAR__TOKENS__ISSUER", "https://otp.example.com")
}

/// Starts the service where it should refuse; ends it if it runs.
fn refused(world: &World, arguments: &[&str]) -> String {
    let mut command = world.command(arguments);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let until = Instant::now() + Duration::from_secs(20);
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > until {
            child.kill().unwrap();
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    let told = [stdout, stderr].concat();
    let told = String::from_utf8(told).unwrap();
    assert_eq!(status.code(), Some(1), "{arguments:?}: {told}");
    told
}

#[test]
fn a_start_with_an_unsafe_setting_is_refused_by_key_value_bound_and_reason() {
    let zeros = "0".repeat(64);
    for (variable, value, sentence) in [
        (
            "SECRETS__MASTER_KEY",
            zeros.as_str(),
            "secrets.master_key: repeats one pattern (production takes 32 random bytes",
        ),
        (
            "LIMITS__GUESSES__STOP_AT",
            "0",
            "limits.guesses.stop_at: 0 is less than the minimum, 1; ",
        ),
        ("LIMITS__LIVE__VERIFY_ATTEMPTS", "1000000", "1000000 is more than the maximum, 10; "),
        ("OTP__LIFETIME_SECONDS", "864000", "864000 is more than the maximum, 900; "),
        ("SESSION__ACCESS_SECONDS", "315360000", "315360000 is more than the maximum, 3600; "),
        (
            "EVENTS__ALLOW_PRIVATE",
            "true",
            "events.allow_private: is true (production takes `false`); ",
        ),
        (
            "LOG__LEVEL",
            "trace",
            "log.level: \"trace\" asks for debug or trace (production takes `info` at the most); ",
        ),
        (
            "TOKENS__PUBLISH_BEFORE_SECONDS",
            "0",
            "tokens.publish_before_seconds: 0 is less than the minimum, 600",
        ),
        (
            "GATEWAYS__MSG91__WEBHOOK_TOKEN",
            "x",
            "webhook_token: has fewer than 16 characters (production takes 16 characters, 6 of them",
        ),
        (
            "GATEWAYS__TWILIO__BASE_URL",
            "http://localhost:x@evil.example",
            "gateways.twilio.base_url: it must name no user and no password",
        ),
        (
            "HTTP__CLIENT_TIMEOUT_SECONDS",
            "0",
            "http.client_timeout_seconds: 0 is less than the minimum, 1; ",
        ),
        ("GATEWAYS__SMS", "sandbox", "`sandbox` is not configured to carry sms"),
    ] {
        let told = refused(&production().with(&format!("DWAR__{variable}"), value), &["serve"]);
        assert!(told.contains(sentence), "{told}");
        assert!(!told.contains(&zeros), "{told}");
    }
}

#[test]
fn a_key_that_nobody_drew_is_refused_from_a_file_too() {
    let world = production();
    let file = world.database.folder().join("dwar.db.key");
    fs::write(&file, "0".repeat(64)).unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    let told = refused(&world, &["serve"]);
    assert!(told.contains("secrets.master_key_file: the key repeats one pattern"), "{told}");
}

#[tokio::test]
async fn safe_production_starts_and_doctor_has_no_word_against_it() {
    let service = Service::start_in(production().with("DWAR__SECRETS__MASTER_KEY", KEY));
    let project = service.world.project("0");
    service.log_in(&project.test, &service.world.phone()).await;
    let report = service.world.cli(&["doctor"]);
    for name in ["production", "files"] {
        let checks = report["checks"].as_array().unwrap();
        let check = checks.iter().find(|check| check["name"] == name).unwrap();
        assert_eq!(check["status"], "ok", "{check}");
    }
    // Files that it created belong to it alone.
    for file in ["dwar.db", "dwar.db-wal", "dwar.db-shm"] {
        let file = service.world.database.folder().join(file);
        assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600, "{}", file.display());
    }
}

#[test]
fn files_that_others_can_read_are_refused_in_production_and_told_in_development() {
    let chmod =
        |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    let world = production();
    let folder = world.database.folder().to_path_buf();
    world.cli(&["migrate"]);
    let config = folder.join("dwar.toml");
    fs::write(&config, "[metrics]\ntoken = \"4fd1c0a96e7b3825\"\n").unwrap();
    chmod(&config, 0o600);
    world.cli(&["migrate"]);
    for file in ["dwar.db.key", "dwar.db", "dwar.toml"] {
        let path = folder.join(file);
        chmod(&path, 0o644);
        let told = refused(&world, &["serve"]);
        assert!(told.contains(file) && told.contains("has mode 0644"), "{told}");
        let report = String::from_utf8(world.run(&["doctor"]).stdout).unwrap();
        assert!(report.contains("failed    files") && report.contains("chmod 600"), "{report}");
        chmod(&path, 0o600);
    }
    world.cli(&["migrate"]);

    let mut development = World::new(world.database);
    chmod(&folder.join("dwar.db"), 0o644);
    let output = development.run(&["migrate"]);
    assert!(output.status.success());
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("has mode 0644") && told.contains("WARN"), "{told}");
    let report = String::from_utf8(development.run(&["doctor"]).stdout).unwrap();
    assert!(report.contains("warning   files"), "{report}");

    // A file without a secret may be readable by everyone.
    chmod(&folder.join("dwar.db"), 0o600);
    fs::write(&config, "[log]\nformat = \"json\"\n").unwrap();
    chmod(&config, 0o644);
    development.settings.push(("DWAR__LOG__LEVEL".to_owned(), "info".to_owned()));
    let told = String::from_utf8(development.run(&["migrate"]).stderr).unwrap();
    assert!(!told.contains("has mode"), "{told}");
}

/// Files on a volume with `fsGroup`, and a secret that is mounted for it, count as closed. Files of
/// a foreign owner, or with access for a foreign group, do not.
#[test]
fn files_are_for_us_and_root_and_a_group_of_ours() {
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        return;
    }
    const STRANGER: u32 = 12_345;
    let world = production();
    let folder = world.database.folder().to_path_buf();
    let binary = folder.join("dwar");
    fs::copy(env!("CARGO_BIN_EXE_dwar"), &binary).unwrap();
    let chmod =
        |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    let give = |name: &str, owner: u32, group: u32, mode: u32| {
        chown(folder.join(name), Some(owner), Some(group)).unwrap();
        chmod(&folder.join(name), mode);
    };
    give("", 0, NOBODY, 0o2770);
    give("dwar", 0, NOBODY, 0o750);
    fs::write(folder.join("dwar.toml"), "[metrics]\ntoken = \"4fd1c0a96e7b3825\"\n").unwrap();
    fs::write(folder.join("dwar.env"), "DWAR__METRICS__TOKEN=4fd1c0a96e7b3825\n").unwrap();
    give("dwar.toml", 0, NOBODY, 0o440);
    give("dwar.env", 0, NOBODY, 0o440);
    let run = || {
        let mut command = Command::new(&binary);
        command.args(["migrate", "--env-file", "dwar.env"]).current_dir(&folder).env_clear();
        command.env("DWAR__DATABASE__URL", world.database.url());
        command.envs(world.settings.iter().map(|(name, value)| (name, value)));
        let output = command.uid(NOBODY).gid(NOBODY).output().unwrap();
        (output.status.success(), String::from_utf8(output.stderr).unwrap())
    };
    let (done, told) = run();
    assert!(done, "{told}");
    for (owner, mode) in [(NOBODY, 0o660), (0, 0o660), (NOBODY, 0o600)] {
        for name in ["dwar.db", "dwar.db.key"] {
            give(name, owner, NOBODY, mode);
        }
        let (done, told) = run();
        assert!(done, "{owner} {mode:o}: {told}");
    }
    for (name, owner, group, mode, remedy) in [
        ("dwar.db", NOBODY, STRANGER, 0o660, "chmod 600 "),
        ("dwar.db.key", NOBODY, NOBODY, 0o604, "chmod 600 "),
        ("dwar.db.key", STRANGER, NOBODY, 0o440, "chown 65534 "),
        ("dwar.toml", 0, NOBODY, 0o444, "chmod 440 "),
        ("dwar.env", 0, 0, 0o444, "chgrp 65534 "),
    ] {
        let path = folder.join(name);
        let found = fs::metadata(&path).unwrap();
        give(name, owner, group, mode);
        let (done, told) = run();
        let says =
            format!("{name} belongs to user {owner} and group {group} and has mode {mode:04o}");
        assert!(!done && told.contains(&says) && told.contains(remedy), "{says}: {told}");
        give(name, found.uid(), found.gid(), found.mode() & 0o777);
    }
    assert!(run().0);
}

/// Root works for the service that owns the folder, from any folder.
#[test]
fn files_of_the_service_are_no_strangers_to_root() {
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        return;
    }
    let world = production();
    let folder = world.database.folder();
    chown(folder, Some(NOBODY), Some(NOBODY)).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let copy = elsewhere.path().join("copy.db");
    let copy = copy.to_str().unwrap();
    for arguments in [&["migrate"][..], &["backup", copy], &["restore", copy], &["doctor"]] {
        let mut command = world.command(arguments);
        let output = command.current_dir(elsewhere.path()).output().unwrap();
        let told = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(output.status.success(), "{arguments:?}: {told}");
        assert_eq!(fs::metadata(folder.join("dwar.db")).unwrap().uid(), NOBODY, "{arguments:?}");
    }
}

#[test]
fn development_stays_on_this_machine_unless_it_is_told_twice() {
    let world = World::new(Database::sqlite()).with("DWAR__HTTP__ADDRESS", "0.0.0.0:0");
    let told = refused(&world, &["serve"]);
    assert!(told.contains("DWAR__HTTP__ALLOW_PUBLIC_DEVELOPMENT"), "{told}");
    Service::start_in(world.with("DWAR__HTTP__ALLOW_PUBLIC_DEVELOPMENT", "true"));
}

/// Runs the service as an unprivileged user, if these tests run as root.
fn as_nobody(world: &World) -> (std::process::Child, u32) {
    let folder = world.database.folder();
    let own = fs::metadata("/proc/self").unwrap().uid();
    let user = if own == 0 { NOBODY } else { own };
    let binary = folder.join("dwar");
    fs::copy(env!("CARGO_BIN_EXE_dwar"), &binary).unwrap();
    fs::set_permissions(&binary, Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(folder, Permissions::from_mode(0o777)).unwrap();
    let mut command = Command::new(binary);
    command.current_dir(folder).env_clear().env("DWAR__DATABASE__URL", world.database.url());
    command.envs(world.settings.iter().map(|(name, value)| (name, value)));
    if own == 0 {
        command.uid(user).gid(user);
    }
    (command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap(), user)
}

#[cfg(target_os = "linux")]
#[test]
fn the_process_cannot_be_read_by_its_own_user_and_leaves_no_core() {
    let world = World::new(Database::sqlite());
    let (mut child, user) = as_nobody(&world);
    let mut heard = String::new();
    let mut stderr = child.stderr.take().unwrap();
    while !heard.contains("Dwar is listening") {
        let mut bytes = [0; 512];
        let count = stderr.read(&mut bytes).unwrap();
        assert!(count > 0, "{heard}");
        heard.push_str(&String::from_utf8_lossy(&bytes[..count]));
    }
    let mut plain = Command::new("sleep");
    if user == NOBODY {
        plain.uid(user).gid(user);
    }
    let mut plain = plain.arg("60").spawn().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let proc = |pid: u32, file: &str| format!("/proc/{pid}/{file}");
    // The kernel gives these to root once a process is not dumpable (proc(5)).
    for file in ["mem", "environ", "maps"] {
        assert_eq!(fs::metadata(proc(child.id(), file)).unwrap().uid(), 0, "{file}");
        assert_eq!(fs::metadata(proc(plain.id(), file)).unwrap().uid(), user, "{file}");
    }
    let limits = fs::read_to_string(proc(child.id(), "limits")).unwrap();
    let core = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
    let sizes: Vec<&str> = core.split_whitespace().skip(4).take(2).collect();
    assert_eq!(sizes, ["0", "0"], "{core}");
    for child in [&mut child, &mut plain] {
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

#[test]
fn a_file_that_cannot_be_read_is_told_by_its_place_and_never_by_its_content() {
    let secret = "kQ3nF0wqkV7c2Zp8yH1tXe5RbJm9uLs4";
    let world = World::new(Database::sqlite());
    let file = world.database.folder().join("dwar.toml");
    for text in [
        format!("[secrets]\nmaster_key = \"{secret}\n"),
        format!("[secrets]\nmaster_key = {secret}\n"),
        format!("[secrets]\nmaster_key = '{secret}' x\n"),
        format!("[secrets]\nmaster_key \"{secret}\"\n"),
        format!("[secrets]\nmaster_key = [\"{secret}\"]\n"),
        format!("[secrets]\nmaster_key = {{ {secret} = 1 }}\n"),
        format!("[secrets]\n{secret} = 1\n"),
        format!("[{secret}]\na = 1\n"),
        format!("[secrets]\nmaster_key = \"\\{secret}\"\n"),
        format!("environment = \"{secret}\"\n"),
        format!("[http]\nworkers = \"{secret}\"\n"),
        format!("[database]\nurl = \"postgres://dwar:{secret}/x@127.0.0.1/d\"\n"),
        format!("[database]\nurl = \"mysql://dwar:{secret}@127.0.0.1/d\"\n"),
        format!("[gateways]\nproxy = \"{secret}\"\n"),
        format!("[secrets]\nmaster_key = \"{secret}\"\n"),
        format!("[secrets]\nmaster_key = \"{KEY}\"\nolder_master_keys = \"{secret}\"\n"),
        format!("[secrets]\nmaster_key = \"{KEY}\"\nolder_master_keys = [\"{secret}\"]\n"),
    ] {
        fs::write(&file, &text).unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
        for command in ["serve", "doctor", "migrate"] {
            let mut world = World::new(Database::None);
            world.settings.clear();
            let mut command = world.command(&[command]);
            command.env_remove("DWAR__DATABASE__URL").current_dir(file.parent().unwrap());
            command.env("DWAR__HTTP__ADDRESS", "127.0.0.1:0").stdout(Stdio::piped());
            let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
            // A proxy is checked at its first use, so such a service has to be stopped.
            let until = Instant::now() + Duration::from_secs(4);
            while child.try_wait().unwrap().is_none() && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(10));
            }
            let _ended = child.kill();
            let output = child.wait_with_output().unwrap();
            let told = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
            for part in secret.as_bytes().windows(8) {
                let part = std::str::from_utf8(part).unwrap();
                assert!(!told.contains(part), "{text}\n{told}");
            }
        }
    }
}

async fn the_log_names_phones_masked_whatever_became_of_the_request(database: Database) {
    let service = Service::start_in(World::new(database).with("DWAR__LOG__LEVEL", "trace"));
    let (rich, poor) = (service.world.project("100"), service.world.project("0"));
    let mut expected: Vec<(String, &str, &str)> = Vec::new();
    let mut phones = Vec::new();
    let mut phone = || {
        phones.push(service.world.phone());
        phones.last().unwrap().clone()
    };

    let busy = phone();
    for _ in 0..3 {
        service.send(&rich.live, &busy).await.ok();
    }
    service.send(&rich.live, &busy).await.refused(429, "OTP_RATE_LIMITED");
    expected.push((busy.clone(), "/v1/otp/send", "OTP_RATE_LIMITED"));
    let code = service.code(&rich.live, &busy).await;
    for n in 0..5 {
        service.verify(&rich.live, &busy, &wrong(&code, n)).await.refused(400, "INVALID_OTP");
    }
    service.verify(&rich.live, &busy, &code).await.refused(429, "VERIFY_RATE_LIMITED");
    expected.push((busy.clone(), "/v1/otp/verify", "INVALID_OTP"));
    expected.push((busy, "/v1/otp/verify", "VERIFY_RATE_LIMITED"));
    let broke = phone();
    service.send(&poor.live, &broke).await.refused(402, "INSUFFICIENT_BALANCE");
    service.verify(&poor.live, &broke, "123456").await.refused(400, "OTP_NOT_FOUND");
    expected.push((broke.clone(), "/v1/otp/send", "INSUFFICIENT_BALANCE"));
    expected.push((broke, "/v1/otp/verify", "OTP_NOT_FOUND"));
    let unreachable = "9000000002".to_owned();
    service.send(&rich.test, &unreachable).await.refused(500, "SMS_FAILED");
    expected.push((unreachable, "/v1/otp/send", "SMS_FAILED"));
    let happy = phone();
    service.log_in(&rich.live, &happy).await;
    tokio::time::sleep(Duration::from_millis(300)).await;

    let log = service.stderr();
    for phone in &phones {
        assert!(log.iter().all(|line| !line.contains(phone.as_str())), "{phone} is in the log");
    }
    let lines: Vec<Value> = log.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let masked = |phone: &str| format!("+91{}••••{}", &phone[..2], &phone[6..]);
    for (phone, route, code) in &expected {
        let found = lines.iter().find(|line| {
            line["message"] == "answered"
                && line["code"] == *code
                && line["route"] == *route
                && line["phone"] == masked(phone)
        });
        assert!(found.is_some(), "no line for {code} of {phone}");
    }
    // The successes and the provider's answers, whatever other lines are written in between.
    for (message, count) in [("answered", 2), ("provider answered", 1)] {
        let of_phone =
            |line: &&Value| line["message"] == message && line["phone"] == masked(&happy);
        assert_eq!(lines.iter().filter(of_phone).count(), count, "{message}");
    }
    let on_the_way = |line: &&Value| line["message"] == "provider answered";
    for line in lines.iter().filter(on_the_way) {
        assert_eq!(line["span"]["phone"], line["phone"], "{line}");
    }
}
