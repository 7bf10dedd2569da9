use crate::{Cause, Counts, Grain, GuardCounts, Interval};
use dwar_kernel::{
    Channel, GuardVerdict, OtpId, Paise, ProjectId, ProjectMode, Reason, Refusal, Timestamp,
};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

/// The facts of one request that figures are made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestFacts {
    pub id: OtpId,
    pub project_mode: ProjectMode,
    pub at: Timestamp,
    pub relayed: bool,
    /// Whether the message is known to have reached the phone.
    pub delivered: bool,
    pub verified: bool,
    /// How the guard judged the request; `None` if it did not.
    pub guard: Option<GuardVerdict>,
    /// `None` if the time is not on record.
    pub verified_at: Option<Timestamp>,
    pub spent: Paise,
    pub tried: Vec<AttemptFacts>,
}

/// A message that was handed to a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptFacts {
    pub channel: Channel,
    pub provider: String,
    pub accepted: bool,
    /// When the message reached the phone, if that was reported.
    pub arrived: Option<Timestamp>,
    /// Reason of a refusal or reported failure, if any.
    pub failed: Option<Reason>,
    /// Whether this attempt carried the request; at most one does.
    pub carried: bool,
}

/// Count of sends that were refused for one reason within one minute, before any provider was called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefusalFigure {
    pub project_mode: ProjectMode,
    pub minute: Timestamp,
    pub reason: Refusal,
    pub count: u64,
}

/// The key of a figure: project, mode, channel and provider.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    pub project_mode: ProjectMode,
    /// Channel and provider; `None` for sends without a provider.
    pub carrier: Option<(Channel, String)>,
}

/// The counts of one key in one period of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    pub key: Key,
    pub grain: Grain,
    pub began: Timestamp,
    pub counts: Counts,
}

/// The figures of consecutive minutes within one hour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FigureChunk {
    pub window: Interval,
    /// At most one figure per minute and key.
    pub minutes: Vec<Figure>,
}

impl RequestFacts {
    /// The counts that the request adds, with their keys.
    pub fn counts(&self) -> impl Iterator<Item = (Key, Counts)> {
        let nobody = self.tried.is_empty().then(|| {
            let mut counts = Counts::default();
            self.carry(&mut counts, None);
            counts.causes.note(Cause::NoProvider, 1);
            (Key { project_mode: self.project_mode, carrier: None }, counts)
        });
        self.tried.iter().map(|tried| self.by(tried)).chain(nobody)
    }

    fn by(&self, tried: &AttemptFacts) -> (Key, Counts) {
        let mut counts = Counts {
            attempts: 1,
            accepted: tried.accepted.into(),
            arrived: tried.arrived.is_some().into(),
            failed: tried.failed.is_some().into(),
            relay_attempts: self.relayed.into(),
            ..Counts::default()
        };
        if let Some(reason) = tried.failed {
            counts.causes.note(Cause::Failed(reason), 1);
        }
        if tried.carried {
            self.carry(&mut counts, tried.arrived);
        }
        let carrier = Some((tried.channel, tried.provider.clone()));
        (Key { project_mode: self.project_mode, carrier }, counts)
    }

    /// Adds the request itself, which counts where its carrier counts.
    fn carry(&self, counts: &mut Counts, arrived: Option<Timestamp>) {
        let took = |at: Timestamp| (at - self.at).to_std().unwrap_or_default();
        counts.requests = 1;
        counts.relays = self.relayed.into();
        counts.delivered = self.delivered.into();
        counts.verified = self.verified.into();
        counts.spent = self.spent;
        counts.guard = self.guard.map(|it| GuardCounts::of(it, self.verified)).unwrap_or_default();
        if let Some(at) = self.verified_at.filter(|_| self.verified) {
            counts.times.note(took(at));
        }
        if let Some(at) = arrived.filter(|_| self.delivered) {
            counts.delivery_times.note(took(at));
        }
    }
}

impl FigureChunk {
    /// The projects with figures in the chunk, each once.
    pub fn projects(&self) -> Vec<ProjectId> {
        let projects = self.minutes.iter().map(|minute| minute.key.project_mode.project);
        projects.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The hour and the day that contain the chunk; empty without figures.
    pub fn parents(&self) -> Vec<(Grain, Timestamp)> {
        let began = self.minutes.first().map(|minute| minute.began);
        let of = |began| [Grain::Hour, Grain::Day].map(|grain: Grain| (grain, grain.begin(began)));
        began.map(of).into_iter().flatten().collect()
    }

    /// The figures of its hour and its day: `present`, with the minutes of the chunk added.
    pub fn rolled_up(&self, present: Vec<Figure>) -> Vec<Figure> {
        let mut sums: BTreeMap<(Grain, Timestamp, &Key), Counts> = BTreeMap::new();
        for minute in &self.minutes {
            for (grain, began) in self.parents() {
                sums.entry((grain, began, &minute.key)).or_default().add(&minute.counts);
            }
        }
        for Figure { key, grain, began, counts } in &present {
            if let Some(sum) = sums.get_mut(&(*grain, *began, key)) {
                sum.add(counts);
            }
        }
        let figure = |((grain, began, key), counts): ((Grain, Timestamp, &Key), Counts)| Figure {
            key: key.clone(),
            grain,
            began,
            counts,
        };
        sums.into_iter().map(figure).collect()
    }
}

/// Builds a chunk from requests, in the order in which they were made.
///
/// The chunk ends with an hour of the clock, or with the minute in which it became large, so that it is
/// quickly written.
#[derive(Clone, Debug)]
pub struct FiguresBuilder {
    window: Interval,
    requests: usize,
    minutes: BTreeMap<(Timestamp, Key), Counts>,
}

impl FiguresBuilder {
    /// Figures, or requests, from which on a chunk is large.
    const LARGE: (usize, usize) = (500, 10_000);

    /// For a window that begins and ends with a whole minute.
    pub const fn of(window: Interval) -> Self {
        Self { window, requests: 0, minutes: BTreeMap::new() }
    }

    /// Counts the next request; breaks if the chunk ended before it.
    pub fn push(&mut self, sent: &RequestFacts) -> ControlFlow<()> {
        let minute = Grain::Minute.begin(sent.at);
        if let Some(((latest, _), _)) = self.minutes.last_key_value()
            && *latest != minute
        {
            let is_large = self.minutes.len() >= Self::LARGE.0 || self.requests >= Self::LARGE.1;
            let same_hour = Grain::Hour.begin(*latest) == Grain::Hour.begin(minute);
            if is_large || !same_hour {
                self.window.until = minute;
                return ControlFlow::Break(());
            }
        }
        self.requests += 1;
        for (key, counts) in sent.counts() {
            self.minutes.entry((minute, key)).or_default().add(&counts);
        }
        ControlFlow::Continue(())
    }

    /// Counts refused sends in their minutes, in any order.
    pub fn refused(&mut self, all: &[RefusalFigure]) {
        for RefusalFigure { project_mode, minute, reason, count } in all {
            let key = Key { project_mode: *project_mode, carrier: None };
            let counts = self.minutes.entry((*minute, key)).or_default();
            counts.causes.note(Cause::Refused(*reason), *count);
        }
    }

    /// The chunk. It ends at the request that ended it; else, if there is something after the hour of its
    /// first minute, with that hour; else with the window.
    pub fn chunk(mut self) -> FigureChunk {
        if let Some(((first, _), _)) = self.minutes.first_key_value() {
            let hour_ends = Grain::Hour.begin(*first) + Grain::Hour.length();
            let until = self.window.until;
            if self.minutes.last_key_value().is_some_and(|((last, _), _)| *last >= hour_ends) {
                self.window.until = until.min(hour_ends);
            }
        }
        let until = self.window.until;
        self.minutes.retain(|(began, _), _| *began < until);
        let figure = |((began, key), counts)| Figure { key, grain: Grain::Minute, began, counts };
        FigureChunk { window: self.window, minutes: self.minutes.into_iter().map(figure).collect() }
    }

    /// The window, up to where requests are gathered so far.
    pub const fn window(&self) -> Interval {
        self.window
    }
}

#[cfg(test)]
#[path = "gather_tests.rs"]
mod tests;
