//! The cost of a service and its database, as Linux counts it.

use crate::Outcome;
use std::fs;
use std::time::Duration;

/// Linux counts the time of processes in hundredths of a second.
const TICK: Duration = Duration::from_millis(10);

/// The processes of one contestant.
pub struct Meter {
    /// Of the service, one per instance.
    pub service: Vec<u32>,
    /// Of PostgreSQL, if it is the database.
    pub postmaster: Option<u32>,
}

/// Processor time since the processes began.
#[derive(Clone, Copy)]
pub struct Spent {
    /// By all instances.
    pub service: Duration,
    /// By PostgreSQL, with all its processes.
    pub database: Duration,
}

impl Meter {
    /// Reads the processor time until now.
    pub fn spent(&self) -> Outcome<Spent> {
        let mut service = 0;
        for pid in &self.service {
            service += Stat::of(*pid)?.own;
        }
        let database = self.postmaster.map_or(Ok(0), with_children)?;
        Ok(Spent { service: TICK * service, database: TICK * database })
    }

    /// Resident memory of the instances, in MiB.
    pub fn resident_mib(&self) -> Outcome<f64> {
        let mut kib = 0.0;
        for pid in &self.service {
            let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
            let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
            let words = line.and_then(|line| line.split_whitespace().next());
            kib += words.ok_or("no VmRSS")?.parse::<f64>()?;
        }
        Ok(kib / 1_024.0)
    }
}

/// A process's line in `/proc` (proc_pid_stat(5)), in ticks.
struct Stat {
    parent: u32,
    own: u32,
    /// By children that have ended.
    of_children: u32,
}

impl Stat {
    fn of(pid: u32) -> Outcome<Self> {
        let line = fs::read_to_string(format!("/proc/{pid}/stat"))?;
        let (_, after_name) = line.rsplit_once(')').ok_or("an odd /proc")?;
        let fields: Vec<&str> = after_name.split_whitespace().collect();
        let number =
            |place: usize| -> Outcome<u32> { Ok(fields.get(place).ok_or("short")?.parse()?) };
        let (own, of_children) = (number(11)? + number(12)?, number(13)? + number(14)?);
        Ok(Self { parent: number(1)?, own, of_children })
    }
}

fn with_children(parent: u32) -> Outcome<u32> {
    let stat = Stat::of(parent)?;
    let mut ticks = stat.own + stat.of_children;
    for entry in fs::read_dir("/proc")? {
        let pid = entry?.file_name().to_string_lossy().parse();
        // A process that ends meanwhile is counted with its parent the next time.
        if let Some(stat) = pid.ok().and_then(|pid| Stat::of(pid).ok())
            && stat.parent == parent
        {
            ticks += stat.own;
        }
    }
    Ok(ticks)
}
