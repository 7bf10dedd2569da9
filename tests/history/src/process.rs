//! Shared by the processes of a run.

use crate::Outcome;
use rustix::process::{Pid, Signal, kill_process};
use tokio::process::Child;

/// A port on loopback on which no process listens.
pub fn free_port() -> Outcome<u16> {
    Ok(std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// Sends a signal to a process, if it is still running.
pub fn signal(child: &Child, signal: Signal) {
    let pid = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
    if let Some(pid) = pid {
        let _already_gone = kill_process(pid, signal);
    }
}
