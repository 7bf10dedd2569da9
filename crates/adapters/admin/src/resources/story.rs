//! History of one phone number, as facts for programs and as sentences for people.

use crate::views::{id, instant};
use dwar_console::explain;
use dwar_console::{
    Entry, FallbackReason, NextSend, RefusalGroup, RequestHistory, Timeline, TimelineFact,
};
use dwar_kernel::{KeyMode, Phone, Timestamp};
use dwar_ratelimit::SendBound;
use serde::Serialize;
use utoipa::ToSchema;

/// History of a phone number's codes.
#[derive(Serialize, ToSchema)]
pub(crate) struct PhoneStory {
    /// Masked.
    phone: String,
    /// `live` or `test`.
    mode: String,
    next_send: NextSendBody,
    /// Wrong codes since the last right one.
    wrong_in_a_row: u32,
    /// Wrong codes in the current period; a right code does not reset it.
    wrong_in_period: u32,
    /// Requested codes, newest first.
    requests: Vec<RequestStory>,
    /// Refused sends, newest first.
    refused: Vec<RefusedRun>,
}

/// Whether and when the next code can be sent.
#[derive(Serialize, ToSchema)]
#[schema(as = NextSend)]
struct NextSendBody {
    /// `now`, `later` or `never`.
    when: String,
    /// How many more codes can be sent now.
    remaining: Option<u32>,
    /// From when a code can be sent.
    #[schema(format = "date-time")]
    at: Option<String>,
    /// What prevents a send until then: `limit`, `pace` or `stop`.
    bound: Option<String>,
    sentence: String,
}

/// A requested code and what happened to it.
#[derive(Serialize, ToSchema)]
struct RequestStory {
    #[schema(format = "uuid")]
    request_id: String,
    #[schema(format = "date-time")]
    at: String,
    /// `queued`, `sent`, `delivered` or `failed`.
    status: String,
    /// `active`, `locked`, `used`, `superseded` or `void`.
    state: String,
    /// Oldest first.
    facts: Vec<RequestFact>,
}

/// One event in the life of a code. Members that do not belong to the kind of fact are absent.
#[derive(Default, Serialize, ToSchema)]
struct RequestFact {
    /// `asked`, `guarded`, `no_provider`, `handed`, `unanswered`, `accepted`, `refused`, `failed_later`,
    /// `delivered`, `nobody_reached`, `free`, `charged`, `not_charged`, `refunded`,
    /// `earlier_wrong`, `wrong_code`, `right_code`, `locked`, `stopped`, `superseded`, `expired` or
    /// `usable`. Later versions may add kinds.
    fact: String,
    /// When it happened; null if not recorded.
    #[schema(format = "date-time")]
    at: Option<String>,
    /// A sentence for people, in English.
    sentence: String,
    /// What to do about it; empty if nothing.
    advice: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    channel: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider: Option<String>,
    /// Why another provider was tried: the previous one `failed` or was `silent`.
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<String>,
    /// How the guard judged the send: `trusted`, `device`, or, for what it refuses in `enforce`, `address`, `series`,
    /// `project` or `day`.
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<String>,
    /// Why it failed, as a `reason` of the public API.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    amount_paise: Option<i64>,
    /// Number of wrong codes.
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u32>,
    /// Attempts left after this wrong code.
    #[serde(skip_serializing_if = "Option::is_none")]
    left: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = "date-time")]
    until: Option<String>,
}

/// Consecutive sends refused for one reason.
#[derive(Serialize, ToSchema)]
struct RefusedRun {
    /// Minute of the first refused send.
    #[schema(format = "date-time")]
    first_at: String,
    /// Minute of the last refused send.
    #[schema(format = "date-time")]
    last_at: String,
    count: u32,
    /// `limit`, `day`, `proof`, `pace`, `stop`, `balance`, `spend_limit` or `key_reused`.
    reason: String,
    /// A sentence for people, in English.
    sentence: String,
    /// What to do about it.
    advice: String,
}

/// The records of a number. The number is masked for every caller.
pub(crate) fn story(mode: KeyMode, phone: &Phone, timeline: Timeline) -> PhoneStory {
    let Timeline { next, guesses, entries } = timeline;
    let (mut requests, mut refused) = (Vec::new(), Vec::new());
    for entry in entries {
        match entry {
            Entry::Request(story) => requests.push(request(story)),
            Entry::Refused(run) => refused.push(refusals(&run)),
        }
    }
    PhoneStory {
        phone: phone.to_string(),
        mode: id(mode),
        next_send: next_send(next),
        wrong_in_a_row: guesses.wrong,
        wrong_in_period: guesses.period.map_or(0, |period| period.wrong),
        requests,
        refused,
    }
}

fn next_send(next: NextSend) -> NextSendBody {
    let body = |when: &str, sentence| NextSendBody {
        when: when.to_owned(),
        remaining: None,
        at: None,
        bound: None,
        sentence,
    };
    match next {
        NextSend::Now { remaining } => {
            NextSendBody { remaining: Some(remaining), ..body("now", explain::now(remaining)) }
        }
        NextSend::At(at, bound) => {
            let sentence = format!("{} {}.", explain::bound(bound), instant(at));
            let bound = match bound {
                SendBound::Limit => "limit",
                SendBound::Day => "day",
                SendBound::Pace => "pace",
                SendBound::Stop => "stop",
            };
            let (at, bound) = (Some(instant(at)), Some(bound.to_owned()));
            NextSendBody { at, bound, ..body("later", sentence) }
        }
        NextSend::Never => body("never", explain::NEVER.to_owned()),
    }
}

fn request(story: RequestHistory) -> RequestStory {
    RequestStory {
        request_id: id(story.otp),
        at: instant(story.at),
        status: id(story.status),
        state: id(story.state),
        facts: story.facts.iter().map(|(at, fact)| told(*at, fact)).collect(),
    }
}

fn refusals(run: &RefusalGroup) -> RefusedRun {
    let (why, advice) = explain::refusal(run.reason, run.limit);
    RefusedRun {
        first_at: instant(run.first),
        last_at: instant(run.last),
        count: run.count,
        reason: id(run.reason),
        sentence: format!("{}: {why}.", explain::refused(run.count)),
        advice: advice.to_owned(),
    }
}

fn told(at: Option<Timestamp>, fact: &TimelineFact) -> RequestFact {
    let words = explain::fact(fact);
    let sentence = match words.until {
        Some(until) => format!("{} {}.", words.text, instant(until)),
        None => words.text,
    };
    let advice = words.advice.to_owned();
    RequestFact { at: at.map(instant), sentence, advice, ..plain(fact) }
}

fn plain(fact: &TimelineFact) -> RequestFact {
    let kind = |kind: &str| RequestFact { fact: kind.to_owned(), ..RequestFact::default() };
    let amount = |of: &str, paise: i64| RequestFact { amount_paise: Some(paise), ..kind(of) };
    let reason = |of: &str, why: String| RequestFact { reason: Some(why), ..kind(of) };
    let until = |of: &str, end| RequestFact { until: Some(instant(end)), ..kind(of) };
    match fact {
        TimelineFact::Asked => kind("asked"),
        TimelineFact::Guarded(verdict) => {
            RequestFact { verdict: Some(id(verdict)), ..kind("guarded") }
        }
        TimelineFact::NoProvider => kind("no_provider"),
        TimelineFact::Handed { channel, provider, after } => RequestFact {
            channel: Some(id(channel)),
            provider: Some(provider.clone()),
            after: after.map(|why| fell_back(why).to_owned()),
            ..kind("handed")
        },
        TimelineFact::Unanswered => kind("unanswered"),
        TimelineFact::Accepted => kind("accepted"),
        TimelineFact::Refused(why) => reason("refused", id(why)),
        TimelineFact::FailedLater(why) => reason("failed_later", id(why)),
        TimelineFact::Delivered => kind("delivered"),
        TimelineFact::NobodyReached => kind("nobody_reached"),
        TimelineFact::Free => kind("free"),
        TimelineFact::Charged(paise) => amount("charged", paise.0),
        TimelineFact::NotCharged => kind("not_charged"),
        TimelineFact::Refunded(paise) => amount("refunded", paise.0),
        TimelineFact::EarlierWrong(count) => {
            RequestFact { count: Some(*count), ..kind("earlier_wrong") }
        }
        TimelineFact::WrongCode { left } => RequestFact { left: Some(*left), ..kind("wrong_code") },
        TimelineFact::RightCode => kind("right_code"),
        TimelineFact::Locked { until: end } => until("locked", *end),
        TimelineFact::Stopped { until: end } => until("stopped", *end),
        TimelineFact::Superseded => kind("superseded"),
        TimelineFact::Expired => kind("expired"),
        TimelineFact::Relayed { until: end } => until("relayed", *end),
        TimelineFact::Usable { until: end } => until("usable", *end),
    }
}

const fn fell_back(why: FallbackReason) -> &'static str {
    match why {
        FallbackReason::Failed => "failed",
        FallbackReason::Silent => "silent",
    }
}
