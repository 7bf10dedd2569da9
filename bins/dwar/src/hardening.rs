//! Protects the memory and environment of the process from other processes.

use rustix::process::{Resource, Rlimit};

/// Takes this process out of the reach of debuggers and core files.
///
/// No core file is written (RLIMIT_CORE, both limits, so that nothing raises it again), and on
/// Linux the process is not dumpable (prctl(2), PR_SET_DUMPABLE): other processes of the same user
/// can neither attach to it nor read its memory or its environment in `/proc`. Root still can.
///
/// # Errors
/// The error of the operating system if it refuses either step. The caller should then not load a key.
pub fn seal_process() -> std::io::Result<()> {
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    rustix::process::setrlimit(Resource::Core, none)?;
    #[cfg(target_os = "linux")]
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)?;
    Ok(())
}
