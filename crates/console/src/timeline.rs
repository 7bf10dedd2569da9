use dwar_app::Limits;
use dwar_kernel::{GuardVerdict, GuessBudget, KeyMode, OtpId, Paise, Timestamp};
use dwar_otp::{
    AttemptStatus, Channel, DeliveryAttempt, DeliveryStatus, Otp, OtpState, Reason, Refusal,
    RefusedSends,
};
use dwar_ratelimit::{Quota, SendBound, SendLog};
use dwar_wallet::{EntryKind, LedgerEntry, Reference};
use std::cmp::Reverse;
use std::time::Duration;

/// Refusals for one reason that are at most this far apart are shown as one.
const TOGETHER: Duration = Duration::from_secs(5 * 60);

/// The records of one phone in one project and mode.
#[derive(Clone, Debug)]
pub struct PhoneHistory {
    pub mode: KeyMode,
    pub requests: Vec<Otp>,
    pub charges: Vec<LedgerEntry>,
    pub refused: Vec<RefusedSends>,
    pub log: SendLog,
}

/// What happened to the codes of a phone, to explain why a code did or did not arrive.
///
/// Holds facts, not sentences; [`crate::explain`] makes the sentences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeline {
    pub next: NextSend,
    pub guesses: GuessBudget,
    /// Newest first.
    pub entries: Vec<Entry>,
}

/// When the next code can be sent, as [`SendLog::admit`] will judge it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextSend {
    Now {
        remaining: u32,
    },
    /// At this instant; until then this bound delays it.
    At(Timestamp, SendBound),
    Never,
}

/// One line of the timeline: a request, or a run of refused sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    Request(RequestHistory),
    Refused(RefusalGroup),
}

/// A request and its outcome, told as facts in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestHistory {
    pub otp: OtpId,
    pub at: Timestamp,
    pub status: DeliveryStatus,
    pub state: OtpState,
    /// Oldest first; `None` if the time is not on record.
    pub facts: Vec<(Option<Timestamp>, TimelineFact)>,
}

/// Consecutive sends that were refused for one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefusalGroup {
    pub first: Timestamp,
    pub last: Timestamp,
    pub count: u32,
    pub reason: Refusal,
    /// The limit that was reached, if that was the reason.
    pub limit: Option<Quota>,
}

/// One fact about a code, without its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimelineFact {
    Asked,
    /// The guard did not simply admit it.
    Guarded(GuardVerdict),
    NoProvider,
    Handed {
        channel: Channel,
        provider: String,
        /// Why this provider came after another one; `None` for the first.
        after: Option<FallbackReason>,
    },
    Unanswered,
    /// The provider accepted the message; no receipt has come.
    Accepted,
    /// The provider refused, or gave no reliable answer.
    Refused(Reason),
    /// The provider accepted the message, and reported a failure later.
    FailedLater(Reason),
    Delivered,
    NobodyReached,
    Free,
    Charged(Paise),
    NotCharged,
    Refunded(Paise),
    /// Wrong codes whose times are not on record.
    EarlierWrong(u32),
    /// A wrong code, with the number of remaining attempts.
    WrongCode {
        left: u32,
    },
    RightCode,
    /// Locked after too many wrong guesses of this code.
    Locked {
        until: Timestamp,
    },
    Stopped {
        until: Timestamp,
    },
    Superseded,
    Expired,
    /// Another system made the code and checks it.
    Relayed {
        /// The first instant at which it is not sent any more.
        until: Timestamp,
    },
    Usable {
        /// The first instant at which it no longer works.
        until: Timestamp,
    },
}

/// Why the next provider on the route was called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FallbackReason {
    Failed,
    /// The previous provider accepted the message, but no receipt came in time.
    Silent,
}

impl Timeline {
    /// Builds the timeline from these records, as of `now`.
    pub fn of(on_record: PhoneHistory, limits: &Limits, now: Timestamp) -> Self {
        let PhoneHistory { mode, mut requests, charges, refused, log } = on_record;
        let (send, policy) = (&limits.of(mode).send, limits.guesses(mode));
        requests.sort_by_key(|otp| Reverse((otp.created_at, otp.id)));
        // A relayed code replaces no other code.
        let newer = |index: usize| {
            let newer = requests[..index].iter().rev().find(|otp| !otp.is_relayed());
            newer.map(|otp| otp.created_at)
        };
        let mut entries: Vec<Entry> = requests
            .iter()
            .enumerate()
            .map(|(index, otp)| Entry::Request(story(otp, &charges, newer(index), now)))
            .chain(runs(refused, send.places).into_iter().map(Entry::Refused))
            .collect();
        entries.sort_by_key(|entry| Reverse(entry.at()));
        let next = match log.opens(send, &policy, now) {
            None => NextSend::Never,
            Some(opening) => match opening.bound {
                Some(bound) => NextSend::At(opening.at, bound),
                None => NextSend::Now { remaining: opening.remaining },
            },
        };
        Self { next, guesses: log.guesses().at(&policy, now), entries }
    }
}

impl Entry {
    /// The time of the entry. For refusals it is the end of their last minute, since a refused send comes
    /// after the sends that used up the limit.
    pub fn at(&self) -> Timestamp {
        match self {
            Self::Request(story) => story.at,
            Self::Refused(refused) => refused.last + Duration::from_secs(60),
        }
    }
}

fn story(
    otp: &Otp,
    charges: &[LedgerEntry],
    newer: Option<Timestamp>,
    now: Timestamp,
) -> RequestHistory {
    let mut facts = vec![(Some(otp.created_at), TimelineFact::Asked)];
    let verdict = otp.guard.filter(|verdict| *verdict != GuardVerdict::Admitted);
    facts.extend(verdict.map(|verdict| (None, TimelineFact::Guarded(verdict))));
    facts.extend(on_its_way(otp));
    facts.extend(money(otp, charges));
    facts.extend(guesses(otp));
    facts.extend(ending(otp, newer, now));
    // A receipt may come after the code was used. Facts without a time stay after the previous fact.
    let mut last = otp.created_at;
    let mut placed: Vec<_> = facts
        .into_iter()
        .map(|(at, fact)| {
            last = at.unwrap_or(last);
            (last, at, fact)
        })
        .collect();
    placed.sort_by_key(|(place, ..)| *place);
    let facts = placed.into_iter().map(|(_, at, fact)| (at, fact)).collect();
    let (status, state) = (otp.delivery.status, otp.state);
    RequestHistory { otp: otp.id, at: otp.created_at, status, state, facts }
}

fn on_its_way(otp: &Otp) -> Vec<(Option<Timestamp>, TimelineFact)> {
    let attempts = &otp.delivery.attempts;
    let mut facts = Vec::new();
    if attempts.is_empty() {
        facts.push((None, TimelineFact::NoProvider));
    }
    let before = std::iter::once(None).chain(attempts.iter().map(Some));
    for (attempt, before) in attempts.iter().zip(before) {
        let (channel, provider) = (attempt.channel, attempt.provider.clone());
        let after = before.map(|before| match before.status {
            AttemptStatus::Failed => FallbackReason::Failed,
            _ => FallbackReason::Silent,
        });
        facts.push((attempt.id.made_at(), TimelineFact::Handed { channel, provider, after }));
        facts.push((Some(attempt.at), outcome(attempt)));
    }
    if otp.delivery.status == DeliveryStatus::Failed {
        facts.push((None, TimelineFact::NobodyReached));
    }
    facts
}

fn outcome(attempt: &DeliveryAttempt) -> TimelineFact {
    let reason = attempt.reason.unwrap_or(Reason::Unknown);
    match attempt.status {
        AttemptStatus::Queued => TimelineFact::Unanswered,
        AttemptStatus::Sent => TimelineFact::Accepted,
        AttemptStatus::Delivered => TimelineFact::Delivered,
        AttemptStatus::Failed if attempt.accepted => TimelineFact::FailedLater(reason),
        AttemptStatus::Failed => TimelineFact::Refused(reason),
    }
}

fn money(otp: &Otp, charges: &[LedgerEntry]) -> Vec<(Option<Timestamp>, TimelineFact)> {
    if otp.project_mode.mode.is_test() {
        return vec![(None, TimelineFact::Free)];
    }
    let send = Reference::from(otp.id);
    let mut own: Vec<_> = charges.iter().filter(|entry| entry.reference == send).collect();
    own.sort_by_key(|entry| entry.at);
    if own.is_empty() && otp.delivery.status == DeliveryStatus::Failed {
        return vec![(None, TimelineFact::NotCharged)];
    }
    let fact = |entry: &LedgerEntry| match entry.kind {
        EntryKind::Refund => TimelineFact::Refunded(entry.amount),
        _ => TimelineFact::Charged(Paise(-entry.amount.0)),
    };
    own.into_iter().map(|entry| (Some(entry.at), fact(entry))).collect()
}

fn guesses(otp: &Otp) -> Vec<(Option<Timestamp>, TimelineFact)> {
    let right = otp.verified_at();
    let noted = otp.guesses.len() - usize::from(right.is_some());
    let noted = u32::try_from(noted).unwrap_or(u32::MAX);
    let earlier = otp.wrong.saturating_sub(noted);
    let mut facts = Vec::new();
    if earlier > 0 {
        facts.push((None, TimelineFact::EarlierWrong(earlier)));
    }
    let wrong = otp.guesses.iter().take(noted as usize);
    for (number, at) in (earlier + 1..).zip(wrong) {
        facts.push((
            Some(*at),
            TimelineFact::WrongCode { left: otp.max_wrong.saturating_sub(number) },
        ));
    }
    if otp.state == OtpState::Used {
        facts.push((right, TimelineFact::RightCode));
    }
    facts
}

fn ending(
    otp: &Otp,
    newer: Option<Timestamp>,
    now: Timestamp,
) -> Option<(Option<Timestamp>, TimelineFact)> {
    let until = otp.expires_at;
    match otp.state {
        OtpState::Used | OtpState::Void => None,
        OtpState::Relayed => Some((None, TimelineFact::Relayed { until })),
        OtpState::Superseded => Some((newer, TimelineFact::Superseded)),
        OtpState::Locked => {
            let of_code = otp.wrong >= otp.max_wrong;
            let fact = if of_code {
                TimelineFact::Locked { until }
            } else {
                TimelineFact::Stopped { until }
            };
            Some((otp.guesses.last().copied(), fact))
        }
        OtpState::Active if now < until => Some((None, TimelineFact::Usable { until })),
        OtpState::Active => Some((Some(until), TimelineFact::Expired)),
    }
}

/// Joins refusals for one reason that are close together.
fn runs(mut refused: Vec<RefusedSends>, places: Quota) -> Vec<RefusalGroup> {
    refused.sort_by_key(|it| (it.reason, it.minute));
    let mut runs: Vec<RefusalGroup> = Vec::new();
    for it in refused {
        let limit = (it.reason == Refusal::Limit).then_some(places);
        match runs.last_mut() {
            Some(run) if run.reason == it.reason && it.minute <= run.last + TOGETHER => {
                run.last = it.minute;
                run.count = run.count.saturating_add(it.count);
            }
            _ => runs.push(RefusalGroup {
                first: it.minute,
                last: it.minute,
                count: it.count,
                reason: it.reason,
                limit,
            }),
        }
    }
    runs
}
