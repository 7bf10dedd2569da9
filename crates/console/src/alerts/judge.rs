//! Derives alerts from plain data.

use super::alert::{Alert, FAULTS};
use super::providers;
use dwar_activity::Ratio;
use dwar_activity::installation::{Backlog, COUNTED, OpenAlert, Queues, ReportedTrouble};
use dwar_event::Endpoint;
use dwar_kernel::{AlertKind, Paise, ProjectId, StoreError, Timestamp};
use dwar_otp::DeliveryAttempt;
use dwar_wallet::{Balance, BalanceLevel};
use std::time::Duration;

/// How long due work may wait, ...
pub const LATE: Duration = Duration::from_secs(300);
/// ... a hold may be open, ...
pub const LATE_HOLD: Duration = Duration::from_secs(900);
/// ... and a feed may be held back.
pub const LATE_FEED: Duration = Duration::from_secs(60);
/// Free bytes on the disk of the database below which an operator should act.
pub const LITTLE_DISK: u64 = 2 * 1_024 * 1_024 * 1_024;
/// How long a signing key may be in use.
pub const OLD_KEY: Duration = Duration::from_secs(180 * 86_400);
/// Sends of trusted visitors from which on their verifications are judged.
const ENOUGH_TRUSTED: u64 = 50;
/// Most alerts that are returned, the most urgent first, and most endpoints and queues of endpoints that are read for
/// them.
pub const MOST_ALERTS: u32 = 1_000;

/// The data of an installation at one moment, from which alerts are derived.
#[derive(Clone, Debug, Default)]
pub struct InstallationFacts {
    /// Attempts of live requests, newest first.
    pub attempts: Vec<DeliveryAttempt>,
    pub reported: Vec<ReportedTrouble>,
    pub wallets: Vec<WalletFacts>,
    /// Projects with sends of trusted visitors.
    pub trusted: Vec<TrustedSends>,
    pub endpoints: Vec<Endpoint>,
    pub queues: Queues,
    pub database: DatabaseState,
    /// When the present signing key began to sign.
    pub signs_since: Option<Timestamp>,
    /// Recorded alerts, which say since when they are open.
    pub open: Vec<OpenAlert>,
}

/// Whether the database accepts writes, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DatabaseState {
    #[default]
    Unknown,
    /// Writable; holds the free bytes of its disk, if known.
    Writable(Option<u64>),
    Full,
    ReadOnly,
}

/// A wallet with the facts that decide about its alerts.
#[derive(Clone, Debug)]
pub struct WalletFacts {
    pub project: ProjectId,
    pub name: String,
    pub balance: Balance,
    pub price: Paise,
    pub spent: Paise,
    pub low: Option<Paise>,
    /// Last change of the balance; `None` if the wallet never had money.
    pub moved_at: Option<Timestamp>,
}

/// The sends of a project in the last 24 hours for whose visitors its backend vouched.
#[derive(Clone, Debug)]
pub struct TrustedSends {
    pub project: ProjectId,
    pub name: String,
    /// Verified sends, as a share of all of them.
    pub verified: Ratio,
}

impl WalletFacts {
    /// Whether the balance is too low for the next send, for a day, or for the threshold of the project.
    pub fn is_short(&self) -> bool {
        self.state().is_some()
    }

    fn state(&self) -> Option<AlertKind> {
        match self.balance.level(self.price, self.low) {
            BalanceLevel::Empty => Some(AlertKind::WalletEmpty),
            _ if self.balance.available() < self.spent => Some(AlertKind::WalletEmptySoon),
            BalanceLevel::Low => Some(AlertKind::WalletLow),
            BalanceLevel::Enough => None,
        }
    }
}

/// All alerts that these facts give rise to, the most urgent first.
pub fn judge(facts: &InstallationFacts, now: Timestamp) -> Vec<Alert> {
    let mut alerts = providers::judge(&facts.attempts, &facts.reported);
    alerts.extend(facts.reported.iter().filter_map(reported));
    alerts.extend(facts.wallets.iter().filter_map(wallet));
    alerts.extend(facts.trusted.iter().filter_map(trusted));
    alerts.extend(facts.endpoints.iter().filter_map(endpoint));
    alerts.extend(queues(&facts.queues, now));
    alerts.extend(database(&facts.database));
    alerts.extend(facts.signs_since.filter(|since| *since + OLD_KEY < now).map(|since| {
        let detail = format!("in use since {}", since.format("%-d %B %Y"));
        Alert {
            since: Some(since),
            ..Alert::new(AlertKind::SigningKeyOld, "The signing key", detail)
        }
    }));
    for alert in &mut alerts {
        let same = |known: &&OpenAlert| (known.kind, &known.about) == (alert.kind, &alert.about);
        alert.since = facts.open.iter().find(same).map(|known| known.since).or(alert.since);
    }
    in_order(alerts)
}

/// Like [`judge`] while the database cannot be read: from the reports of this process, and the error of the read.
pub fn judge_without_database(cause: &StoreError, reported: &[ReportedTrouble]) -> Vec<Alert> {
    let mut alerts = match cause {
        // PostgreSQL may accept no new connection while its disk is full.
        StoreError::NoRoom => Vec::from_iter(database(&DatabaseState::Full)),
        _ => {
            let detail = "what is on record cannot be read, and most requests are answered 503";
            vec![Alert::new(AlertKind::DatabaseAway, "The database", detail.to_owned())]
        }
    };
    alerts.extend(providers::judge(&[], reported));
    alerts.extend(reported.iter().filter_map(self::reported));
    in_order(alerts)
}

fn in_order(mut alerts: Vec<Alert>) -> Vec<Alert> {
    let key = |it: &Alert| (it.kind.severity(), it.kind, it.project, it.about.clone());
    alerts.sort_by_key(key);
    alerts.dedup_by(|one, other| (one.kind, &one.about) == (other.kind, &other.about));
    alerts.truncate(MOST_ALERTS as usize);
    alerts
}

/// The alert of an instance's report. Provider problems are judged from the attempts of all instances
/// instead.
fn reported(it: &ReportedTrouble) -> Option<Alert> {
    let ReportedTrouble { host, trouble } = it;
    let subject = match trouble.kind {
        AlertKind::ProviderAuth | AlertKind::ProviderFailing => return None,
        AlertKind::LoopRestarting => format!("The loop {} on {host}", trouble.about),
        _ => format!("The clock of {host}"),
    };
    let since = trouble.since;
    Some(Alert { since, ..Alert::new(trouble.kind, subject, trouble.detail.clone()) })
}

fn wallet(it: &WalletFacts) -> Option<Alert> {
    // A project that never had money uses its test key only.
    let moved_at = it.moved_at?;
    let kind = it.state()?;
    let detail = match kind {
        AlertKind::WalletEmpty => {
            format!("{} available, and a live send sets {} aside", it.balance.available(), it.price)
        }
        AlertKind::WalletEmptySoon => {
            format!(
                "{} available, and {} were spent in the last 24 hours",
                it.balance.available(),
                it.spent
            )
        }
        _ => format!("{} left, below {}", it.balance.balance, it.low.unwrap_or_default()),
    };
    // The pace of spending has no recorded instant at which it became too high.
    let since = (kind != AlertKind::WalletEmptySoon).then_some(moved_at);
    Some(Alert {
        kind,
        project: Some(it.project),
        about: it.project.to_string(),
        subject: format!("The wallet of {}", it.name),
        detail,
        since,
    })
}

/// Visitors who passed a challenge verify about as often as others; bots never do.
fn trusted(it: &TrustedSends) -> Option<Alert> {
    let Ratio { part, whole } = it.verified;
    if whole < ENOUGH_TRUSTED || part.saturating_mul(2) >= whole {
        return None;
    }
    Some(Alert {
        kind: AlertKind::TrustedUnverified,
        project: Some(it.project),
        about: it.project.to_string(),
        subject: format!("The backend of {}", it.name),
        detail: format!("{part} of {whole} sends of trusted visitors were verified in 24 hours"),
        since: None,
    })
}

fn endpoint(it: &Endpoint) -> Option<Alert> {
    let (kind, detail, since) = match (it.disabled_at, it.failing) {
        (Some(at), failing) => {
            let calls = failing.map(|it| format!(", after {} calls failed in a row", it.failures));
            let detail = format!("no events since it was disabled{}", calls.unwrap_or_default());
            (AlertKind::EndpointDisabled, detail, at)
        }
        (None, Some(failing)) if failing.failures as usize >= FAULTS => {
            let detail = format!("{} calls failed in a row", failing.failures);
            (AlertKind::EndpointFailing, detail, failing.since)
        }
        (None, _) => return None,
    };
    // The query may contain a secret of the receiver, and output of `doctor` is passed on to others.
    let subject = it.url.split('?').next().unwrap_or_default().to_owned();
    let about = it.id.to_string();
    Some(Alert { kind, project: Some(it.project), about, subject, detail, since: Some(since) })
}

fn queues(queues: &Queues, now: Timestamp) -> Vec<Alert> {
    let late = |kind, subject: &str, backlog: &Backlog, patience| {
        let oldest = backlog.oldest.filter(|oldest| *oldest + patience < now)?;
        let more = if backlog.count > COUNTED { "more than " } else { "" };
        let detail = format!("waiting: {more}{}", backlog.count.min(COUNTED));
        Some(Alert { since: Some(oldest), ..Alert::new(kind, subject, detail) })
    };
    let of_all = [
        (AlertKind::SendsBehind, "Sends", &queues.overdue_sends, LATE),
        (AlertKind::ReceiptsBehind, "Delivery reports", &queues.receipts, LATE),
        (AlertKind::HoldsBehind, "Money", &queues.open_holds, LATE_HOLD),
        (AlertKind::FeedHeldBack, "Feeds of events", &queues.feed, LATE_FEED),
    ];
    let of_all =
        of_all.into_iter().filter_map(|(kind, name, it, late_at)| late(kind, name, it, late_at));
    let events = queues.events.iter().filter_map(|(of, it)| {
        let alert = late(AlertKind::EventsBehind, "Events", it, LATE)?;
        Some(Alert { project: Some(*of), about: of.to_string(), ..alert })
    });
    of_all.chain(events).collect()
}

fn database(state: &DatabaseState) -> Option<Alert> {
    let told = |kind, detail: String| Some(Alert::new(kind, "The database", detail));
    match state {
        DatabaseState::Writable(Some(free)) if *free < LITTLE_DISK => {
            told(AlertKind::DiskFills, format!("{} MiB are free", free >> 20))
        }
        DatabaseState::Unknown | DatabaseState::Writable(_) => None,
        DatabaseState::Full => {
            let detail = "reads go on, and calls that write are answered 503".to_owned();
            told(AlertKind::DiskFull, detail)
        }
        DatabaseState::ReadOnly => {
            let detail = "it answers reads; calls that write are answered 503".to_owned();
            told(AlertKind::DatabaseReadOnly, detail)
        }
    }
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
