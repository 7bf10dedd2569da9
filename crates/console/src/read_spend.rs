use crate::{Control, ManageError};
use dwar_activity::{Counts, Figure, FiguresStore, Grain, Interval, SETTLED_AFTER};
use dwar_kernel::{Channel, KeyMode, Paise, PriceList, StoreError, TRACE, Timestamp};
use dwar_operator::{Command, Requester};
use dwar_otp::Providers;
use dwar_project::Project;
use dwar_wallet::{Balance, BalanceLevel, Month, WalletStore};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tracing::instrument;

/// Whole days over which daily spending is averaged.
const DAYS: u32 = 7;

/// Computes what a project spends, and how long its balance lasts.
#[derive(Clone)]
pub struct ReadSpend {
    pub(crate) control: Control,
    pub(crate) figures: Arc<dyn FiguresStore>,
    pub(crate) wallets: Arc<dyn WalletStore>,
    pub(crate) providers: Arc<dyn Providers>,
    pub(crate) prices: PriceList,
}

/// Cost of a project's live sends, less refunds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spend {
    /// This month and the previous one, in Indian time, newest first. Each has the requests that each channel
    /// carried, and their cost. A month without requests is left out.
    pub months: Vec<(Month, BTreeMap<Channel, ChannelSpend>)>,
    /// Whole days until the available balance is spent, if spending continues as in the last seven days; `None`
    /// if nothing was spent in these.
    pub days_left: Option<u64>,
    /// What counts for the project's limit of the day in Indian time: its holds, and what they became. Refunds do
    /// not lower it.
    pub today: Paise,
    /// The balance compared with one send and with the project's threshold.
    pub level: BalanceLevel,
}

/// Requests that one channel carried, and their cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChannelSpend {
    pub requests: u64,
    pub spent: Paise,
}

impl ReadSpend {
    /// Computed from a bounded number of figures; `balance` is the project's balance.
    #[instrument(name = "read_spend.of", target = TRACE, level = "error", skip_all)]
    pub async fn of(
        &self,
        by: &Requester,
        project: &Project,
        balance: Balance,
    ) -> Result<Spend, ManageError> {
        self.control.admit(by, Command::ShowWallet, Some(project.id))?;
        let now = self.control.tools.now();
        let figures = self.of_two_months(project, now).await?;
        let today = self.wallets.day_spend(project.id).await?.on(now).spent;
        Ok(Spend {
            today,
            months: by_month(&figures),
            days_left: days_left(&figures, balance, now),
            level: balance.level(
                set_aside(project, self.prices, self.providers.as_ref()),
                project.low_balance,
            ),
        })
    }

    async fn of_two_months(
        &self,
        project: &Project,
        now: Timestamp,
    ) -> Result<Vec<Figure>, StoreError> {
        let previous = Month::of(now).and_then(|month| Month::of(month.since() - MOMENT));
        let Some(previous) = previous else { return Ok(Vec::new()) };
        let settled = self.figures.progress().await?.settled;
        let window = Interval { from: previous.since(), until: now };
        let spans = window.spans(Grain::Day, settled.unwrap_or(now - SETTLED_AFTER));
        self.figures.figures(project.id.in_mode(KeyMode::Live), spans).await
    }
}

/// The amount that a live send of the project holds: the price of the most expensive channel on its route.
pub(crate) fn set_aside(project: &Project, prices: PriceList, providers: &dyn Providers) -> Paise {
    let prices = project.prices.over(prices);
    let routing = &project.routing;
    let carried = [(Channel::Whatsapp, &routing.whatsapp), (Channel::Sms, &routing.sms)];
    let carried = carried.into_iter().filter(|(channel, own)| match own {
        Some(own) => !own.is_empty(),
        None => !providers.defaults(*channel).is_empty(),
    });
    carried.map(|(channel, _)| prices.of(channel)).max().unwrap_or(Paise::ZERO)
}

const MOMENT: Duration = Duration::from_millis(1);

fn by_month(figures: &[Figure]) -> Vec<(Month, BTreeMap<Channel, ChannelSpend>)> {
    let mut months: BTreeMap<Month, BTreeMap<Channel, ChannelSpend>> = BTreeMap::new();
    for Figure { key, began, counts, .. } in figures {
        let Some((channel, _)) = &key.carrier else { continue };
        let Counts { requests, spent, .. } = *counts;
        let month = Month::of(*began).filter(|_| requests > 0 || spent != Paise::ZERO);
        if let Some(month) = month {
            let sum = months.entry(month).or_default().entry(*channel).or_default();
            sum.requests = sum.requests.saturating_add(requests);
            sum.spent.0 = sum.spent.0.saturating_add(spent.0);
        }
    }
    months.into_iter().rev().collect()
}

/// Divides the available balance by the average daily spending of the last [`DAYS`] whole days. If the project
/// began to spend within these days, only the days since then are averaged; if it began today, only today.
fn days_left(figures: &[Figure], balance: Balance, now: Timestamp) -> Option<u64> {
    let day = Grain::Day.length();
    let today = Grain::Day.begin(now);
    let spent = |from: Timestamp, until: Timestamp| {
        let within = figures.iter().filter(|it| from <= it.began && it.began < until);
        Paise(within.map(|figure| figure.counts.spent.0).sum())
    };
    let charged = figures.iter().filter(|it| it.counts.spent > Paise::ZERO);
    let first = Grain::Day.begin(charged.map(|figure| figure.began).min()?);
    if first == today {
        return balance.days_left(spent(today, now), 1);
    }
    let days = (1..DAYS).find(|days| today - day * *days <= first).unwrap_or(DAYS);
    balance.days_left(spent(today - day * days, today), days)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dwar_activity::Key;
    use dwar_kernel::{ProjectId, read_instant};

    fn at(text: &str) -> Timestamp {
        read_instant(text).unwrap()
    }

    fn figure(channel: Channel, began: &str, requests: u64, paise: i64) -> Figure {
        let project: ProjectId = "0192f000-0000-7000-8000-000000000001".parse().unwrap();
        let project_mode = project.in_mode(KeyMode::Live);
        Figure {
            key: Key { project_mode, carrier: Some((channel, "one".to_owned())) },
            grain: Grain::Hour,
            began: at(began),
            counts: Counts { requests, spent: Paise(paise), ..Counts::default() },
        }
    }

    #[test]
    fn months_are_those_of_india_and_the_newest_is_first() {
        let figures = [
            figure(Channel::Sms, "2026-10-31T18:00:00Z", 2, 50),
            figure(Channel::Sms, "2026-10-31T18:30:00Z", 3, 75),
            figure(Channel::Whatsapp, "2026-11-02T00:30:00Z", 4, 80),
            figure(Channel::Whatsapp, "2026-11-03T00:30:00Z", 1, -20),
            figure(Channel::Whatsapp, "2026-09-03T00:30:00Z", 0, 0),
        ];
        let told = by_month(&figures).into_iter().map(|(month, channels)| {
            let of = |channel| channels.get(&channel).map(|it| (it.requests, it.spent.0));
            (month.to_string(), of(Channel::Whatsapp), of(Channel::Sms))
        });
        let wanted = [
            ("2026-11".to_owned(), Some((5, 60)), Some((3, 75))),
            ("2026-10".to_owned(), None, Some((2, 50))),
        ];
        assert_eq!(told.collect::<Vec<_>>(), wanted);
    }

    #[test]
    fn days_left_go_by_the_last_whole_days_or_by_those_since_the_first_charge() {
        let now = at("2026-11-20T06:30:00Z");
        let balance = Balance { balance: Paise(1_000), held: Paise(300) };
        let sms = |began, paise| figure(Channel::Sms, began, 1, paise);
        let left = |figures: &[Figure]| days_left(figures, balance, now);
        assert_eq!(left(&[]), None);
        assert_eq!(left(&[sms("2026-11-20T00:30:00Z", 100)]), Some(7), "today alone");
        assert_eq!(left(&[sms("2026-11-18T00:30:00Z", 100)]), Some(14), "two days");
        let week = [sms("2026-10-01T00:30:00Z", 9_000), sms("2026-11-13T00:30:00Z", 700)];
        assert_eq!(left(&week), Some(7), "seven days");
        assert_eq!(left(&[sms("2026-10-01T00:30:00Z", 9_000)]), None, "long ago");
        let overdrawn = Balance { balance: Paise(1), held: Paise(1) };
        assert_eq!(days_left(&week, overdrawn, now), Some(0));
    }
}
