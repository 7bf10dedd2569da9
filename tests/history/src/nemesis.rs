//! The faults: chosen, caused, undone and recorded.

use crate::cluster::Cluster;
use crate::database::Trouble;
use crate::draw::Draw;
use crate::proxy::Proxy;
use crate::recorder::Recorder;
use rustix::process::Signal;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::sleep;

const BACK: Duration = Duration::from_secs(120);

/// One of two: faults of instances, and faults of the database and its proxies, happen
/// concurrently.
pub struct Nemesis {
    pub cluster: Arc<Cluster>,
    pub recorder: Arc<Recorder>,
    pub draw: Draw,
}

impl Nemesis {
    /// Kills and stops instances, one at a time, until `until`.
    pub async fn trouble_instances(mut self, until: Instant) {
        while self.pause(until).await {
            let number = self.draw.place(self.cluster.instances.len());
            let began = self.recorder.now();
            let kind = match self.draw.percent(self.cluster.setup.database.kills()) {
                true => self.kill(number).await,
                false => self.stop(number).await,
            };
            self.recorder.fault(kind, Some(number), began);
        }
    }

    /// Causes faults of the database and of the proxies until `until`.
    pub async fn trouble_database(mut self, until: Instant) {
        let cluster = Arc::clone(&self.cluster);
        while self.pause(until).await {
            let one = self.draw.place(cluster.instances.len());
            let target = Some(one).filter(|_| self.draw.percent(60));
            let proxies = chosen(cluster.instances.iter().map(|one| &one.way.proxy), target);
            let troubles = cluster.setup.database.troubles();
            let Some((trouble, kind)) = self.draw.weighted(troubles) else { return };
            let began = self.recorder.now();
            match trouble {
                Trouble::Restart(mode) => self.restart(mode).await,
                Trouble::Cut => cut(&proxies),
                Trouble::Freeze => self.freeze(&proxies).await,
            }
            let target = target.filter(|_| !matches!(trouble, Trouble::Restart(_)));
            self.recorder.fault(kind, target, began);
        }
    }

    /// Waits for the next fault; `false` at the end.
    async fn pause(&mut self, until: Instant) -> bool {
        let next = Instant::now() + Duration::from_millis(self.draw.between(800, 5_000));
        sleep(next.min(until).saturating_duration_since(Instant::now())).await;
        next < until
    }

    async fn kill(&mut self, number: usize) -> &'static str {
        self.cluster.signal(number, Signal::KILL).await;
        sleep(Duration::from_millis(self.draw.below(2_000))).await;
        if self.cluster.run(number).await.is_ok() {
            self.cluster.is_ready(number, BACK).await;
        }
        "kill -9 and restart"
    }

    /// Sometimes for longer than every time-out and than the lease of a send.
    async fn stop(&mut self, number: usize) -> &'static str {
        let long = self.draw.percent(40);
        let time =
            if long { self.draw.between(6_500, 12_000) } else { self.draw.between(100, 2_500) };
        self.cluster.signal(number, Signal::STOP).await;
        sleep(Duration::from_millis(time)).await;
        self.cluster.signal(number, Signal::CONT).await;
        if long { "SIGSTOP for longer than time-outs" } else { "SIGSTOP" }
    }

    async fn restart(&self, mode: &str) {
        // A failed restart leaves the database down, so retry until it is up.
        while self.cluster.setup.database.restart(mode).await.is_err() {
            sleep(Duration::from_millis(500)).await;
        }
    }

    /// Holds back the traffic of these proxies for a while, and sometimes cuts it then.
    async fn freeze(&mut self, proxies: &[&Proxy]) {
        let long = self.draw.percent(50);
        let time =
            if long { self.draw.between(4_500, 10_000) } else { self.draw.between(200, 3_000) };
        proxies.iter().for_each(|proxy| proxy.freeze(true));
        sleep(Duration::from_millis(time)).await;
        if self.draw.percent(50) {
            cut(proxies);
        }
        proxies.iter().for_each(|proxy| proxy.freeze(false));
    }
}

/// The proxy with this number, or all of them.
fn chosen<'a>(proxies: impl Iterator<Item = &'a Proxy>, target: Option<usize>) -> Vec<&'a Proxy> {
    let numbered = proxies.enumerate();
    let wanted = numbered.filter(|(number, _)| target.is_none_or(|target| target == *number));
    wanted.map(|(_, proxy)| proxy).collect()
}

fn cut(proxies: &[&Proxy]) {
    proxies.iter().for_each(|proxy| proxy.cut());
}
