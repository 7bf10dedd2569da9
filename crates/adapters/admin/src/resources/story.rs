//! Every record of one number, as facts for programs and as sentences for people.

use crate::views::{id, instant};
use dwar_console::explain;
use dwar_console::{Entry, Fact, FellBack, NextSend, Refused, Story, Timeline};
use dwar_kernel::{KeyMode, Phone, Timestamp};
use dwar_ratelimit::SendBound;
use serde::Serialize;
use utoipa::ToSchema;

/// What happened to the codes of a number.
#[derive(Serialize, ToSchema)]
pub(crate) struct PhoneStory {
    /// Masked.
    phone: String,
    /// `live` or `test`.
    mode: String,
    next_send: NextSendBody,
    /// Wrong codes that count: since the last right one.
    wrong_in_a_row: u32,
    /// Those of the period that is under way, right codes or not.
    wrong_in_period: u32,
    /// Codes that were asked for, newest first.
    requests: Vec<RequestStory>,
    /// Sends that were refused, newest first.
    refused: Vec<RefusedRun>,
}

/// When the next code can be sent.
#[derive(Serialize, ToSchema)]
#[schema(as = NextSend)]
struct NextSendBody {
    /// `now`, `later` or `never`.
    when: String,
    /// So many more now.
    remaining: Option<u32>,
    /// From when on.
    #[schema(format = "date-time")]
    at: Option<String>,
    /// What is in the way until then: `limit`, `pace` or `stop`.
    bound: Option<String>,
    sentence: String,
}

/// A code that was asked for, and what became of it.
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

/// One thing that happened to a code. What does not go with the kind of fact is left out.
#[derive(Default, Serialize, ToSchema)]
struct RequestFact {
    /// `asked`, `no_provider`, `handed`, `unanswered`, `accepted`, `refused`, `failed_later`,
    /// `delivered`, `nobody_reached`, `free`, `charged`, `not_charged`, `refunded`,
    /// `earlier_wrong`, `wrong_code`, `right_code`, `locked`, `stopped`, `superseded`, `expired` or
    /// `usable`; there may be more one day.
    fact: String,
    /// When; null where nobody wrote it down.
    #[schema(format = "date-time")]
    at: Option<String>,
    /// For people, in English.
    sentence: String,
    /// What to do about it; empty where there is nothing to do.
    advice: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    channel: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider: Option<String>,
    /// Why it was handed on: the one before `failed`, or was `silent`.
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<String>,
    /// Why it failed, by the words of the public API.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    amount_paise: Option<i64>,
    /// How many wrong codes.
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u32>,
    /// How many more wrong codes it takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    left: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = "date-time")]
    until: Option<String>,
}

/// Sends that were refused for one reason, one soon after the other.
#[derive(Serialize, ToSchema)]
struct RefusedRun {
    /// The minute of the first.
    #[schema(format = "date-time")]
    first_at: String,
    /// The minute of the last.
    #[schema(format = "date-time")]
    last_at: String,
    count: u32,
    /// `limit`, `pace`, `stop`, `balance` or `key_reused`.
    reason: String,
    /// For people, in English.
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
                SendBound::Pace => "pace",
                SendBound::Stop => "stop",
            };
            let (at, bound) = (Some(instant(at)), Some(bound.to_owned()));
            NextSendBody { at, bound, ..body("later", sentence) }
        }
        NextSend::Never => body("never", explain::NEVER.to_owned()),
    }
}

fn request(story: Story) -> RequestStory {
    RequestStory {
        request_id: id(story.otp),
        at: instant(story.at),
        status: id(story.status),
        state: id(story.state),
        facts: story.facts.iter().map(|(at, fact)| told(*at, fact)).collect(),
    }
}

fn refusals(run: &Refused) -> RefusedRun {
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

fn told(at: Option<Timestamp>, fact: &Fact) -> RequestFact {
    let words = explain::fact(fact);
    let sentence = match words.until {
        Some(until) => format!("{} {}.", words.text, instant(until)),
        None => words.text,
    };
    let advice = words.advice.to_owned();
    RequestFact { at: at.map(instant), sentence, advice, ..plain(fact) }
}

fn plain(fact: &Fact) -> RequestFact {
    let kind = |kind: &str| RequestFact { fact: kind.to_owned(), ..RequestFact::default() };
    let amount = |of: &str, paise: i64| RequestFact { amount_paise: Some(paise), ..kind(of) };
    let reason = |of: &str, why: String| RequestFact { reason: Some(why), ..kind(of) };
    let until = |of: &str, end| RequestFact { until: Some(instant(end)), ..kind(of) };
    match fact {
        Fact::Asked => kind("asked"),
        Fact::NoProvider => kind("no_provider"),
        Fact::Handed { channel, provider, after } => RequestFact {
            channel: Some(id(channel)),
            provider: Some(provider.clone()),
            after: after.map(|why| fell_back(why).to_owned()),
            ..kind("handed")
        },
        Fact::Unanswered => kind("unanswered"),
        Fact::Accepted => kind("accepted"),
        Fact::Refused(why) => reason("refused", id(why)),
        Fact::FailedLater(why) => reason("failed_later", id(why)),
        Fact::Delivered => kind("delivered"),
        Fact::NobodyReached => kind("nobody_reached"),
        Fact::Free => kind("free"),
        Fact::Charged(paise) => amount("charged", paise.0),
        Fact::NotCharged => kind("not_charged"),
        Fact::Refunded(paise) => amount("refunded", paise.0),
        Fact::EarlierWrong(count) => RequestFact { count: Some(*count), ..kind("earlier_wrong") },
        Fact::WrongCode { left } => RequestFact { left: Some(*left), ..kind("wrong_code") },
        Fact::RightCode => kind("right_code"),
        Fact::Locked { until: end } => until("locked", *end),
        Fact::Stopped { until: end } => until("stopped", *end),
        Fact::Superseded => kind("superseded"),
        Fact::Expired => kind("expired"),
        Fact::Relayed { until: end } => until("relayed", *end),
        Fact::Usable { until: end } => until("usable", *end),
    }
}

const fn fell_back(why: FellBack) -> &'static str {
    match why {
        FellBack::Failed => "failed",
        FellBack::Silent => "silent",
    }
}
