//! Runs the commands of one page, in order, in one shell.

use crate::pages::blocks::{Block, Kind, root};
use crate::pages::shape;
use crate::pages::stages::{Stage, stage};
use dwar_testkit::reserved_port;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};

/// A command of a page, or all of a block, and the output that the page shows.
#[derive(Debug, Default)]
struct Step {
    place: String,
    command: String,
    shown: String,
    json: Option<String>,
    /// It follows `$ `: a page may show refusals.
    may_fail: bool,
}

/// The steps of a page's blocks that are run.
fn steps(blocks: &[Block]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for block in blocks.iter().filter(|block| block.is_run_here()) {
        match block.kind() {
            Kind::Commands => {
                // A line with … is for the reader to fill in.
                let lines = block.text.lines().filter(|line| !line.contains('…'));
                let command = lines.collect::<Vec<_>>().join("\n");
                steps.push(Step { place: block.place(), command, ..Step::default() });
            }
            Kind::Transcript => steps.extend(transcript(block)),
            Kind::Output => {
                let Some(step) = steps.last_mut() else { continue };
                match block.info.as_str() {
                    "json" => step.json = Some(block.text.clone()),
                    _ => step.shown.clone_from(&block.text),
                }
            }
            Kind::Sample | Kind::Program => {}
        }
    }
    steps
}

fn transcript(block: &Block) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for line in block.text.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            let command = if command.contains('…') { "" } else { command }.to_owned();
            let place = block.place();
            steps.push(Step { place, command, may_fail: true, ..Step::default() });
        } else if let Some(step) = steps.last_mut() {
            step.shown.push_str(line);
            step.shown.push('\n');
        }
    }
    steps
}

/// Replaces the addresses and folders of a page with those of this session.
fn placed(text: &str, base: &str, dashboard: &str, work: &Path) -> String {
    text.replace("http://127.0.0.1:8080", base)
        .replace("http://127.0.0.1:8081", dashboard)
        .replace("https://otp.example.com", base)
        .replace("/etc/dwar", &format!("{}/etc", work.display()))
}

/// Runs every command of a page.
///
/// # Errors
/// The first output that differs from the page.
pub fn run(page: &str, blocks: &[Block]) -> Result<(), String> {
    let steps = steps(blocks);
    if steps.is_empty() {
        return Ok(());
    }
    let Stage { settings, prologue, before } = stage(page);
    let folder = tempfile::tempdir().unwrap();
    let work = folder.path();
    let (api, pages) = (reserved_port(), reserved_port());
    let (base, dashboard) =
        (format!("http://127.0.0.1:{api}"), format!("http://127.0.0.1:{pages}"));
    let there = |text: &str| placed(text, &base, &dashboard, work);

    fs::create_dir(work.join("steps")).unwrap();
    fs::create_dir(work.join("bin")).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_dwar"), work.join("bin/dwar")).unwrap();
    let samples: Vec<_> = blocks.iter().filter(|block| block.info == "toml").collect();
    let mut script = format!("{}\n", include_str!("session.sh"));
    for (number, sample) in samples.iter().enumerate() {
        fs::write(work.join(format!("steps/{number}.toml")), there(&sample.text)).unwrap();
    }
    writeln!(script, "toml() {{ cat $WORK/steps/$1.toml; }}\n{prologue}").unwrap();
    for (number, step) in steps.iter().enumerate() {
        let file = |kind: &str| work.join(format!("steps/{number}.{kind}"));
        fs::write(file("sh"), there(&step.command) + "\n").unwrap();
        // `$ ` distinguishes a transcript from the same words in a block of commands.
        let command =
            if step.may_fail { format!("$ {}", step.command) } else { step.command.clone() };
        let hooks = before.iter().filter(|(text, _)| command.contains(text));
        let hooks: Vec<&str> = hooks.map(|(_, shell)| *shell).collect();
        if !hooks.is_empty() {
            fs::write(file("before"), hooks.join("\n")).unwrap();
        }
        if step.may_fail {
            fs::write(file("may_fail"), "").unwrap();
        }
        writeln!(script, "step {number}").unwrap();
    }
    fs::write(work.join("script.sh"), script).unwrap();

    let path = format!("{}:{}", work.join("bin").display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("bash");
    shell.arg("script.sh").current_dir(work).env_clear().stdin(Stdio::null());
    shell.env("PATH", path).env("HOME", work).env("WORK", work).env("ROOT", root());
    let outside = outside();
    shell.env("BASE", &base).env("OUTSIDE", &outside);
    for (name, value) in [
        ("DWAR__HTTP__ADDRESS", format!("127.0.0.1:{api}")),
        ("DWAR__DASHBOARD__ADDRESS", format!("127.0.0.1:{pages}")),
        ("DWAR__HTTP__WORKERS", "1".to_owned()),
        ("DWAR__LOG__FORMAT", "json".to_owned()),
        ("DWAR__DEMO", "false".to_owned()),
    ] {
        shell.env(name, value);
    }
    shell.envs(settings.iter().map(|(name, value)| (name, value.replace("$OUTSIDE", &outside))));
    let output = shell.output().unwrap();
    let rest = [output.stdout, output.stderr].concat();

    for (number, step) in steps.iter().enumerate() {
        let read = |kind: &str| fs::read_to_string(work.join(format!("steps/{number}.{kind}")));
        let said = read("said").unwrap_or_default();
        let failed = |why: &str| {
            let log = fs::read_to_string(work.join("service.log")).unwrap_or_default();
            let Step { place, command, .. } = step;
            let rest = String::from_utf8_lossy(&rest);
            format!(
                "{place}: {why}\n{command}\n--- said\n{said}\n--- beside\n{rest}\n--- log\n{log}"
            )
        };
        if read("status").is_err() {
            return Err(failed("it failed"));
        }
        if !step.may_fail && said.contains(r#""error":"#) {
            return Err(failed("it was refused"));
        }
        shape::said(&there(&step.shown), &said).map_err(|why| failed(&why))?;
        if let Some(json) = &step.json {
            shape::answered(json, &said).map_err(|why| failed(&why))?;
        }
    }
    Ok(())
}

/// Starts the outside systems that the service calls and returns their address. They accept every
/// message as Meta does, with references from `wamid.1` on. They refuse the first event.
fn outside() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for (number, stream) in (1..).zip(listener.incoming()) {
            let mut reader = BufReader::new(stream.unwrap());
            let (mut line, mut length) = (String::new(), 0);
            reader.read_line(&mut line).unwrap();
            let status = match line.contains("/dwar-events") && number == 1 {
                true => "500 Internal Server Error",
                false => "200 OK",
            };
            line.clear();
            while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                let head = line.to_ascii_lowercase();
                if let Some(value) = head.strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                line.clear();
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let body = format!(r#"{{"messages":[{{"id":"wamid.{number}"}}]}}"#);
            let answer = format!(
                "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
                 Connection: close\r\n\r\n{body}",
                body.len()
            );
            reader.get_mut().write_all(answer.as_bytes()).unwrap();
        }
    });
    address
}
