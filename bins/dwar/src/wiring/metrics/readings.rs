//! Counts of other parts of the process, read at each scrape.

use super::super::background::Restarts;
use super::super::gateways::Carriers;
use super::super::stores::Database;
use super::DatabaseFigures;
use crate::telemetry::LostLines;
use dwar_app::ClockWatch;
use dwar_console::alerts::Alerts;
use dwar_http::LoopHealth;
use dwar_kernel::AlertKind;
use dwar_metrics::{Clock, Histogram, Loop, Pool, Queue, Snapshot, SnapshotSource};
use dwar_turns::{PoolLoad, QueueLoad, Times};
use std::sync::Arc;

pub struct Measured {
    pub database: Arc<dyn Database>,
    pub figures: Arc<DatabaseFigures>,
    pub carriers: Arc<Carriers>,
    pub restarts: Arc<Restarts>,
    pub watch: Arc<ClockWatch>,
    pub alerts: Alerts,
    pub lost: LostLines,
}

impl SnapshotSource for Measured {
    fn read(&self) -> Snapshot {
        let load = self.database.load();
        let breakers = self.carriers.breakers.iter();
        let open = breakers.map(|(name, it)| (name.clone(), it.state().open_for.is_some()));
        let state = |LoopHealth { name, restarts, running }| Loop { name, restarts, running };
        let told = self.alerts.latest();
        let count = |kind| told.iter().filter(|it| it.kind == kind).count() as u64;
        let alerts =
            AlertKind::ALL.map(|kind| (kind.as_str(), kind.severity().as_str(), count(kind)));
        Snapshot {
            alerts: alerts.to_vec(),
            queues: load.queues.into_iter().map(queue).collect(),
            pools: load.pools.into_iter().map(pool).collect(),
            database: self.figures.shown(),
            breakers: open.collect(),
            loops: self.restarts.all().into_iter().map(state).collect(),
            clock: Clock {
                ahead: self.watch.ahead_ms().unwrap_or_default() as f64 / 1_000.0,
                sweeps_behind: self.watch.sweeps_behind(),
            },
            lost_lines: self.lost.dropped_lines() as u64,
        }
    }
}

fn queue((name, load): (&'static str, QueueLoad)) -> Queue {
    let QueueLoad { waiting, waited, worked, left } = load;
    Queue { name, waiting, waited: histogram(&waited), worked: histogram(&worked), left }
}

fn pool((name, load): (&'static str, PoolLoad)) -> Pool {
    let PoolLoad { used, idle, most } = load;
    Pool { name, used, idle, most }
}

fn histogram(times: &Times) -> Histogram {
    let buckets = times.buckets();
    let buckets =
        buckets.map(|(bound, count)| (bound.map_or(f64::INFINITY, |it| it.as_secs_f64()), count));
    Histogram { buckets: buckets.collect(), sum: times.sum().as_secs_f64() }
}
