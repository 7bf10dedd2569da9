use crate::{Counts, Figure, Interval, Range};
use dwar_kernel::Channel;
use std::collections::BTreeMap;

/// The figures of one range for a project's first page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overview {
    pub range: Range,
    pub total: Counts,
    /// The preceding range; `None` if its figures are no longer kept.
    pub before: Option<Counts>,
    /// One entry per point, oldest first.
    pub series: Vec<(Interval, Counts)>,
    pub routes: Vec<RouteFigures>,
}

/// The counts of one provider over one channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteFigures {
    pub channel: Channel,
    pub provider: String,
    pub counts: Counts,
    /// Whether it accepted messages but reported the outcome of none, in this period and the preceding one:
    /// it sends no receipts, so its deliveries are unknown.
    pub silent: bool,
}

/// Comparison of a number with an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trend {
    New,
    Same,
    Percent(i64),
}

impl Trend {
    /// The change from `before` to `now`; [`Trend::New`] if only `before` is zero.
    pub fn between(before: u64, now: u64) -> Self {
        let (before, now) = (i128::from(before), i128::from(now));
        let twice = ((now - before) * 200).checked_div(before);
        match twice {
            None if now == 0 => Self::Same,
            None => Self::New,
            Some(_) if now == before => Self::Same,
            // Half a percent counts as one, upwards and downwards.
            Some(twice) => {
                let percent = (twice + twice.signum()) / 2;
                Self::Percent(i64::try_from(percent).unwrap_or(i64::MAX))
            }
        }
    }
}

impl Overview {
    /// Computes the overview from the figures of the range and of the preceding one.
    pub fn of(range: Range, figures: &[Figure], earlier: &[Figure]) -> Self {
        let mut series: Vec<_> = range.points().map(|it| (it, Counts::default())).collect();
        let mut routes: BTreeMap<(Channel, &str), Counts> = BTreeMap::new();
        let mut total = Counts::default();
        for Figure { key, began, counts, .. } in figures {
            total.add(counts);
            if let Some((channel, provider)) = &key.carrier {
                routes.entry((*channel, provider.as_str())).or_default().add(counts);
            }
            let point = range.point(*began);
            if let Some((_, sum)) = series.iter_mut().find(|(it, _)| it.from == point) {
                sum.add(counts);
            }
        }
        let before = range.before.map(|_| {
            let mut before = Counts::default();
            earlier.iter().for_each(|figure| before.add(&figure.counts));
            before
        });
        let route = |((channel, provider), counts): ((Channel, &str), Counts)| {
            let mut both = counts.clone();
            let of_route = |it: &&Figure| {
                let carrier = it.key.carrier.as_ref();
                carrier.is_some_and(|(by, name)| *by == channel && name == provider)
            };
            earlier.iter().filter(of_route).for_each(|figure| both.add(&figure.counts));
            let silent = both.accepted > 0 && !both.has_receipts();
            RouteFigures { channel, provider: provider.to_owned(), counts, silent }
        };
        Self { range, total, before, series, routes: routes.into_iter().map(route).collect() }
    }
}

impl Overview {
    /// The counts of the providers that send receipts, so that their deliveries are known.
    pub fn with_receipts(&self) -> Counts {
        let mut sum = Counts::default();
        let told = self.routes.iter().filter(|route| !route.silent);
        told.for_each(|route| sum.add(&route.counts));
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_in_percent_and_rounded_away_from_zero_at_the_half() {
        for (before, now, trend) in [
            (0, 0, Trend::Same),
            (0, 5, Trend::New),
            (5, 5, Trend::Same),
            (100, 150, Trend::Percent(50)),
            (100, 0, Trend::Percent(-100)),
            (200, 201, Trend::Percent(1)),
            (200, 199, Trend::Percent(-1)),
            (1_000, 1_004, Trend::Percent(0)),
            (3, 4, Trend::Percent(33)),
            (1, u64::MAX, Trend::Percent(i64::MAX)),
        ] {
            assert_eq!(Trend::between(before, now), trend, "{before} {now}");
        }
    }
}
