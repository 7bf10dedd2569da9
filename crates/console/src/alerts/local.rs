//! Facts that only one process can see: its calls to providers, its loops, its clock, and whether it can
//! write.

use super::alert::FAULTS;
use super::judge::DatabaseState;
use async_trait::async_trait;
use dwar_activity::installation::InstanceTrouble;
use dwar_kernel::{AlertKind, Timestamp};
use dwar_otp::Reason;
use std::time::Duration;

/// Least difference between the clocks of machine and database that causes an alert. From 30 s on the
/// instance serves nothing.
pub const CLOCK_DIFFERS: Duration = Duration::from_secs(20);
/// Most that a clock may be set forward without an alert.
pub const CLOCK_SET_FORWARD: Duration = Duration::from_secs(30);
/// A loop that has run for this long counts as recovered.
pub const STEADY_LOOP: Duration = Duration::from_secs(300);

/// Facts that only this process can see, for its alerts.
#[async_trait]
pub trait LocalFacts: Send + Sync {
    fn host(&self) -> String;

    /// Present problems, from [`troubles`]. Must not call anything outside this process.
    fn troubles(&self) -> Vec<InstanceTrouble>;

    async fn database(&self) -> DatabaseState;
}

/// An implementation that reports no problems, for tests and commands.
#[derive(Clone, Copy, Debug)]
pub struct NoLocalFacts;

#[async_trait]
impl LocalFacts for NoLocalFacts {
    fn host(&self) -> String {
        String::new()
    }

    fn troubles(&self) -> Vec<InstanceTrouble> {
        Vec::new()
    }

    async fn database(&self) -> DatabaseState {
        DatabaseState::Unknown
    }
}

/// Failed calls of this process to a provider since the last success.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderCalls {
    pub provider: String,
    /// Failed calls in a row, and the time of the first.
    pub faults: u32,
    pub since: Timestamp,
    /// Reason of the last failure, with status and code of the provider's answer, if it answered.
    pub reason: Reason,
    pub status: Option<u16>,
    pub code: Option<i64>,
    pub paused: Option<Duration>,
}

/// A loop of this process that restarted at least once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopState {
    pub name: &'static str,
    pub restarts: u64,
    pub running: bool,
    pub ended: Duration,
}

/// The clock of this machine, compared with that of the database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockState {
    /// Milliseconds by which it is ahead of the database's clock; negative if it is behind.
    pub ahead_ms: i64,
    pub set_forward: Duration,
}

/// The problems that these facts show: of providers, loops and clock.
pub fn troubles(
    providers: &[ProviderCalls],
    loops: &[LoopState],
    clock: ClockState,
) -> Vec<InstanceTrouble> {
    let providers = providers.iter().filter_map(provider);
    let loops = loops.iter().filter_map(fallen);
    providers.chain(loops).chain(clock_troubles(clock)).collect()
}

fn provider(calls: &ProviderCalls) -> Option<InstanceTrouble> {
    let kind = match calls.reason {
        Reason::ProviderAuth => AlertKind::ProviderAuth,
        _ if calls.faults as usize >= FAULTS => AlertKind::ProviderFailing,
        _ => return None,
    };
    let mut detail = match (calls.status, calls.reason) {
        (Some(status), _) => format!("HTTP {status}"),
        (None, Reason::Timeout) => "no answer in time".to_owned(),
        (None, Reason::ProviderUnavailable) => "no connection".to_owned(),
        (None, reason) => reason.as_str().to_owned(),
    };
    if let Some(code) = calls.code {
        detail += &format!(", code {code}");
    }
    if calls.status.is_some() {
        detail += &format!(" ({})", calls.reason.as_str());
    }
    detail += &match calls.faults {
        1 => " to the last call".to_owned(),
        faults => format!(" to the last of {faults} calls that failed in a row"),
    };
    if calls.paused.is_some() {
        detail += "; not called for a while";
    }
    let (about, since) = (calls.provider.clone(), Some(calls.since));
    Some(InstanceTrouble { kind, about, detail, since })
}

/// A single end is over within seconds: it is reported while the loop is down, and from the second end on.
fn fallen(it: &LoopState) -> Option<InstanceTrouble> {
    let is_told = !it.running || it.restarts > 1 && it.ended < STEADY_LOOP;
    let state = if it.running { "runs again" } else { "waits to be started again" };
    let detail = format!("ended and was started again {} times; it {state}", it.restarts);
    let (kind, about) = (AlertKind::LoopRestarting, it.name.to_owned());
    is_told.then_some(InstanceTrouble { kind, about, detail, since: None })
}

fn clock_troubles(clock: ClockState) -> impl Iterator<Item = InstanceTrouble> {
    let by = Duration::from_millis(clock.ahead_ms.unsigned_abs());
    let side = if clock.ahead_ms < 0 { "behind" } else { "ahead" };
    let told = |kind, detail| InstanceTrouble { kind, about: String::new(), detail, since: None };
    let differs = (by >= CLOCK_DIFFERS)
        .then(|| told(AlertKind::ClockDiffers, format!("{} s {side}", by.as_secs())));
    let forward = clock.set_forward;
    let set = (forward > CLOCK_SET_FORWARD).then(|| {
        let detail = format!("by {} s; sweeps leave that time out", forward.as_secs());
        told(AlertKind::ClockSetForward, detail)
    });
    differs.into_iter().chain(set)
}

#[cfg(test)]
#[path = "local_tests.rs"]
mod tests;
