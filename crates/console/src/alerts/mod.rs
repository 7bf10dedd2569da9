//! Alerts: problems that need a person now, judged in one place for command line, admin API and pages.

mod alert;
mod judge;
mod local;
mod providers;

pub use alert::Alert;
pub use judge::{
    DatabaseState, InstallationFacts, LATE, LATE_FEED, LATE_HOLD, LITTLE_DISK, MOST_ALERTS,
    OLD_KEY, TrustedSends, WalletFacts, judge, judge_without_database,
};
pub use local::{
    CLOCK_DIFFERS, CLOCK_SET_FORWARD, ClockState, LocalFacts, LoopState, NoLocalFacts,
    ProviderCalls, STEADY_LOOP, troubles,
};

use crate::read_spend::set_aside;
use crate::{Control, ManageError, ReadFigures};
use dwar_activity::installation::{AlertStore, Instance, OpenAlert, QueueStore, ReportedTrouble};
use dwar_activity::{Ratio, Traffic};
use dwar_event::{Event, EventKind, EventStore, Subject};
use dwar_kernel::{
    AlertKind, Channel, KeyMode, Paise, PriceList, ProjectId, StoreError, TRACE, Timestamp,
};
use dwar_operator::{Command, Requester};
use dwar_otp::{AttemptHistory, DeliveryAttempt, Providers};
use dwar_project::Project;
use dwar_session::{SigningKey, SigningKeyStore};
use dwar_wallet::{Balance, LedgerStore, StatementFilter, WalletStore};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tracing::instrument;

/// How many of the newest attempts are read, and how old they may be, if there are fewer younger ones: without a
/// later attempt it is unknown whether a provider works again.
const ATTEMPTS: u32 = 500;
const MEMORIES: [Duration; 3] =
    [Duration::from_secs(600), Duration::from_secs(2 * 3_600), Duration::from_secs(24 * 3_600)];
/// How long the sums of a day are reused.
const PACE_KEPT: Duration = Duration::from_secs(60);
/// Wallets that cover fewer days than this are read in every pass: one may fall below a single day before the spend is
/// read again.
const DAYS_LOOKED_AT: i64 = 2;

/// Judges which problems need a person now. Clones share the last result.
#[derive(Clone)]
pub struct Alerts {
    pub(crate) control: Control,
    pub(crate) attempts: Arc<dyn AttemptHistory>,
    pub(crate) events: Arc<dyn EventStore>,
    pub(crate) wallets: Arc<dyn WalletStore>,
    pub(crate) ledger: Arc<dyn LedgerStore>,
    pub(crate) figures: ReadFigures,
    pub(crate) queues: Arc<dyn QueueStore>,
    pub(crate) keys: Arc<dyn SigningKeyStore>,
    pub(crate) alerts: Arc<dyn AlertStore>,
    pub(crate) providers: Arc<dyn Providers>,
    pub(crate) local: Arc<dyn LocalFacts>,
    pub(crate) prices: PriceList,
    pub(crate) known: Arc<Mutex<LastAlerts>>,
}

/// The last result, for callers that must not query the database.
#[derive(Default)]
pub(crate) struct LastAlerts {
    alerts: Arc<Vec<Alert>>,
    /// Time of the last balance change per project, valid while the balance is this one.
    moved: BTreeMap<ProjectId, (Balance, Option<Timestamp>)>,
    day: Option<(Timestamp, Arc<DayOfSends>)>,
}

/// The live sends of the last 24 hours.
#[derive(Default)]
struct DayOfSends {
    spent: BTreeMap<ProjectId, Paise>,
    trusted: Vec<TrustedSends>,
    /// Projects whose balance may fall below a day's spend before the spend is read again.
    fast: Vec<ProjectId>,
}

impl Alerts {
    /// The same alerts, with the facts of this process.
    #[must_use]
    pub fn with_local(self, local: Arc<dyn LocalFacts>) -> Self {
        Self { local, ..self }
    }

    /// All open alerts, the most urgent first. A database that does not answer is one of them.
    ///
    /// # Errors
    /// [`ManageError::Forbidden`].
    #[instrument(name = "alerts.list", target = TRACE, level = "error", skip_all)]
    pub async fn list(&self, by: &Requester) -> Result<Vec<Alert>, ManageError> {
        self.control.admit(by, Command::ListAlerts, None)?;
        Ok(self.judged().await.0)
    }

    /// The open alerts of one project: its own, and those of providers that carry its messages.
    ///
    /// # Errors
    /// [`ManageError::Forbidden`], [`ManageError::NoSuchProject`].
    #[instrument(name = "alerts.of_project", target = TRACE, level = "error", skip_all)]
    pub async fn of_project(
        &self,
        by: &Requester,
        project: ProjectId,
    ) -> Result<Vec<Alert>, ManageError> {
        let project = self.control.project(by, Command::ListProjectAlerts, project).await?;
        let mut alerts = self.judged().await.0;
        alerts.retain(|alert| self.is_of(alert, &project) && may_see(by, alert, project.id));
        Ok(alerts)
    }

    /// The alerts of the last [`Alerts::refresh`] for a page: of a project, or of the installation, where all
    /// alerts are shown that the operator may see. Queries no store.
    pub fn of_page(&self, by: &Requester, project: Option<&Project>) -> Vec<Alert> {
        let all = self.latest();
        let is_shown = |alert: &&Alert| match (project, alert.project) {
            (Some(project), _) => self.is_of(alert, project) && may_see(by, alert, project.id),
            (None, _) if by.may(Command::ListAlerts, None) => true,
            (None, Some(of)) => may_see(by, alert, of),
            (None, None) => false,
        };
        all.iter().filter(is_shown).cloned().collect()
    }

    /// The alerts of the last [`Alerts::refresh`]. Queries no store.
    pub fn latest(&self) -> Arc<Vec<Alert>> {
        Arc::clone(&self.known().alerts)
    }

    /// Judges again, records opened and resolved alerts, and makes events for the projects concerned.
    ///
    /// # Errors
    /// The store failed. [`Alerts::latest`] has the new result all the same.
    pub async fn refresh(&self) -> Result<(), StoreError> {
        let now = self.control.tools.now();
        let (mut alerts, open) = self.judged().await;
        let last = self.latest();
        for alert in &mut alerts {
            let same = |it: &&Alert| (it.kind, &it.about) == (alert.kind, &alert.about);
            let since = alert.since.or_else(|| last.iter().find(same)?.since);
            alert.since = Some(since.unwrap_or(now));
        }
        self.known().alerts = Arc::new(alerts.clone());
        match open {
            Some(open) => self.settle(&alerts, &open, now).await,
            None => Ok(()),
        }
    }

    async fn settle(
        &self,
        alerts: &[Alert],
        known: &[OpenAlert],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let open = |it: &Alert| OpenAlert {
            kind: it.kind,
            about: it.about.clone(),
            project: it.project,
            since: it.since.unwrap_or(now),
        };
        let open: Vec<_> = alerts.iter().map(open).collect();
        let is_in = |all: &[OpenAlert], one: &OpenAlert| {
            all.iter().any(|it| (it.kind, &it.about) == (one.kind, &one.about))
        };
        if known.iter().all(|it| is_in(&open, it)) && open.iter().all(|it| is_in(known, it)) {
            return Ok(());
        }
        let changes = self.alerts.settle_alerts(open).await?;
        for (kind, told) in
            [(EventKind::AlertOpened, &changes.opened), (EventKind::AlertResolved, &changes.over)]
        {
            for alert in told {
                if let Some(event) = event(kind, alert, now) {
                    self.events.record(event).await?;
                }
            }
        }
        Ok(())
    }

    /// All alerts, and the recorded ones. If the database cannot be read, only the alerts of this process.
    async fn judged(&self) -> (Vec<Alert>, Option<Vec<OpenAlert>>) {
        let now = self.control.tools.now();
        let mut facts = self.facts(now).await;
        if facts.is_err() {
            // A single query may have waited in vain.
            facts = self.facts(now).await;
        }
        match facts {
            Ok(facts) => (judge(&facts, now), Some(facts.open)),
            // The store has logged the cause, which must not be shown here.
            Err(cause) => (judge_without_database(&cause, &own(self.local.as_ref())), None),
        }
    }

    async fn facts(&self, now: Timestamp) -> Result<InstallationFacts, StoreError> {
        let open = self.alerts.open_alerts().await?;
        let alive = Instance::alive_since(self.control.tools.watch.shared_now());
        let mut endpoints = self.events.disabled_endpoints(MOST_ALERTS).await?;
        endpoints.extend(self.events.failing_endpoints(MOST_ALERTS).await?);
        let keys = self.keys.keys(now).await?;
        let mut reported = self.alerts.reported(alive).await?;
        reported.extend(own(self.local.as_ref()));
        Ok(InstallationFacts {
            attempts: self.newest_attempts(now).await?,
            reported,
            wallets: self.wallets(now).await?,
            trusted: self.day(now).await?.trusted.clone(),
            endpoints,
            queues: self.queues.queues(now, MOST_ALERTS).await?,
            database: self.local.database().await,
            signs_since: SigningKey::active(&keys, now).map(|key| key.signs_from),
            open,
        })
    }

    /// The newest attempts. A busy installation need not look at all of a day for them.
    async fn newest_attempts(&self, now: Timestamp) -> Result<Vec<DeliveryAttempt>, StoreError> {
        let mut newest = Vec::new();
        for memory in MEMORIES {
            newest = self.attempts.newest_attempts(now - memory, ATTEMPTS).await?;
            if newest.len() == ATTEMPTS as usize {
                break;
            }
        }
        Ok(newest)
    }

    /// Reads only projects that may be short of money: an installation has thousands of others.
    async fn wallets(&self, now: Timestamp) -> Result<Vec<WalletFacts>, StoreError> {
        let day = self.day(now).await?;
        let projects = self.control.projects.short_of_money(self.prices, day.fast.clone()).await?;
        let balances = self.wallets.balances(projects.iter().map(|it| it.id).collect()).await?;
        let mut found = Vec::new();
        for project in projects {
            let price = set_aside(&project, self.prices, self.providers.as_ref());
            let Project { id, name, low_balance, .. } = project;
            let balance = balances.get(&id).copied().unwrap_or_default();
            let mut wallet = WalletFacts {
                project: id,
                name,
                balance,
                price,
                spent: day.spent.get(&id).copied().unwrap_or_default(),
                low: low_balance,
                moved_at: None,
            };
            if wallet.is_short() {
                wallet.moved_at = self.moved_at(id, balance).await?;
                found.push(wallet);
            }
        }
        Ok(found)
    }

    /// When this balance came about. Queries the ledger once per balance.
    async fn moved_at(
        &self,
        project: ProjectId,
        balance: Balance,
    ) -> Result<Option<Timestamp>, StoreError> {
        let known = self.known().moved.get(&project).copied();
        if let Some((_, moved_at)) = known.filter(|(of, _)| *of == balance) {
            return Ok(moved_at);
        }
        let newest = self.ledger.lines(project, StatementFilter::default(), None, 1).await?;
        let moved_at = newest.first().map(|line| line.entry.at);
        self.known().moved.insert(project, (balance, moved_at));
        Ok(moved_at)
    }

    /// The live sends of the last 24 hours, at most a minute old.
    async fn day(&self, now: Timestamp) -> Result<Arc<DayOfSends>, StoreError> {
        let known = self.known().day.clone();
        if let Some((_, day)) = known.filter(|(at, _)| *at <= now && now < *at + PACE_KEPT) {
            return Ok(day);
        }
        let projects = self.control.projects.list().await?;
        let ids = projects.iter().map(|it| it.id).collect();
        let traffic = self.figures.traffic(&Requester::command_line(), ids).await?;
        let trusted = projects.into_iter().filter_map(|Project { id, name, .. }| {
            let Traffic { trusted, trusted_verified, .. } = *traffic.get(&id)?;
            let verified = Ratio { part: trusted_verified, whole: trusted };
            (trusted > 0).then_some(TrustedSends { project: id, name, verified })
        });
        let trusted = trusted.collect();
        let mut spent: BTreeMap<_, _> =
            traffic.iter().map(|(project, traffic)| (*project, traffic.spent)).collect();
        spent.retain(|_, spent| *spent > Paise::ZERO);
        let balances = self.wallets.balances(spent.keys().copied().collect()).await?;
        let is_fast = |&(project, spent): &(&ProjectId, &Paise)| {
            let left = balances.get(project).copied().unwrap_or_default().available();
            left.0 < spent.0.saturating_mul(DAYS_LOOKED_AT)
        };
        let fast = spent.iter().filter(is_fast).map(|(project, _)| *project).collect();
        let day = Arc::new(DayOfSends { spent, trusted, fast });
        self.known().day = Some((now, Arc::clone(&day)));
        Ok(day)
    }

    /// Whether the alert concerns the project: its own, or of a provider that carries its messages.
    fn is_of(&self, alert: &Alert, project: &Project) -> bool {
        if alert.project.is_some() {
            return alert.project == Some(project.id);
        }
        let carries = |channel, own: &Option<Vec<String>>| match own {
            Some(names) => names.contains(&alert.about),
            None => self.providers.defaults(channel).contains(&alert.about),
        };
        matches!(alert.kind, AlertKind::ProviderAuth | AlertKind::ProviderFailing)
            && (carries(Channel::Whatsapp, &project.routing.whatsapp)
                || carries(Channel::Sms, &project.routing.sms))
    }

    /// Nothing panics while the lock is held; if it did, the values would still be valid.
    fn known(&self) -> MutexGuard<'_, LastAlerts> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The problems that this process would report with its next heartbeat.
fn own(local: &dyn LocalFacts) -> Vec<ReportedTrouble> {
    let host = local.host();
    local
        .troubles()
        .into_iter()
        .map(|trouble| ReportedTrouble { host: host.clone(), trouble })
        .collect()
}

/// Whether the caller may see an alert of this kind in the project.
fn may_see(by: &Requester, alert: &Alert, project: ProjectId) -> bool {
    let command = match alert.kind {
        AlertKind::WalletEmpty | AlertKind::WalletEmptySoon | AlertKind::WalletLow => {
            Command::ShowWallet
        }
        AlertKind::EndpointDisabled | AlertKind::EndpointFailing | AlertKind::EventsBehind => {
            Command::ListWebhooks
        }
        _ => Command::ListProjectAlerts,
    };
    by.may(command, Some(project))
}

/// The event for a project about an alert of its own; `None` for alerts of the installation.
fn event(kind: EventKind, alert: &OpenAlert, now: Timestamp) -> Option<Event> {
    let subject = Subject::Alert {
        alert: alert.kind,
        endpoint: alert.about.parse().ok().filter(|_| {
            matches!(alert.kind, AlertKind::EndpointDisabled | AlertKind::EndpointFailing)
        }),
        since: alert.since,
    };
    Some(Event { project_mode: alert.project?.in_mode(KeyMode::Live), kind, subject, at: now })
}
