//! A pseudo-terminal with a person at it.

use nix::pty::openpty;
use std::fs::File;
use std::io::{Read, Write};
use std::process::Command;

/// Runs a command at a terminal where a person has typed something. Returns its exit status and
/// everything that the terminal shows, including the typed text.
pub fn at_terminal(mut command: Command, typed: &str) -> (Option<i32>, String) {
    let pair = openpty(None, None).unwrap();
    let mut person = File::from(pair.master);
    person.write_all(typed.as_bytes()).unwrap();
    let ends = [pair.slave.try_clone().unwrap(), pair.slave.try_clone().unwrap(), pair.slave];
    let [input, output, error] = ends;
    let mut running = command.stdin(input).stdout(output).stderr(error).spawn().unwrap();
    // It holds the terminal open.
    drop(command);
    let mut shown = Vec::new();
    let mut piece = [0; 4096];
    // Reading fails once no process holds the other side of the terminal.
    while let Ok(length @ 1..) = person.read(&mut piece) {
        shown.extend_from_slice(&piece[..length]);
    }
    let shown = String::from_utf8_lossy(&shown).replace("\r\n", "\n");
    (running.wait().unwrap().code(), shown)
}
