//! Resources of this process, on systems that report them as Linux does.

use std::fs;
use std::time::Duration;

/// Resident memory of this process, in bytes; `None` where unknown.
pub fn resident_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1_024)
}

pub(crate) fn open_files() -> Option<u64> {
    // One of them is the folder that is being read.
    let open = fs::read_dir("/proc/self/fd").ok()?.count().saturating_sub(1);
    u64::try_from(open).ok()
}

pub(crate) fn processor_time() -> Duration {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(used).unwrap_or_default()
}
