//! What support people read: each reason, refusal and turn of events in words.

use crate::format::rupees;
use dwar_app::{Fact, FellBack};
use dwar_kernel::{KeyMode, Timestamp};
use dwar_otp::{Channel, DeliveryStatus, OtpState, Reason, Refusal};
use dwar_ratelimit::{Quota, SendBound};
use std::time::Duration;

pub(crate) const TITLE: &str = "Activity";
pub(crate) const LEAD: &str =
    "Codes as they are asked for, and why one did or did not arrive. Numbers are masked.";
pub(crate) const SEARCH: &str = "Why did a code not arrive?";
pub(crate) const SEARCH_HINT: &str =
    "Enter the number. It travels in the form alone, never in an address, and is not kept.";
pub(crate) const PHONE: &str = "Phone number";
pub(crate) const MODE: &str = "Mode";
pub(crate) const FIND_OUT: &str = "Find out";
pub(crate) const INVALID_PHONE: &str =
    "That is no Indian mobile number: ten digits, the first 6 to 9, with or without +91.";
pub(crate) const FILTERS: &str = "Show";
pub(crate) const ALL: &str = "All";
pub(crate) const LIVE: &str = "Live";
pub(crate) const TEST: &str = "Test";
pub(crate) const STATUS: &str = "Status";
pub(crate) const CHANNEL: &str = "Channel";
pub(crate) const PROVIDER: &str = "Provider";
pub(crate) const APPLY: &str = "Apply";
pub(crate) const CLEAR: &str = "Show all";
pub(crate) const LATEST: &str = "Latest requests";
pub(crate) const WHEN: &str = "When";
pub(crate) const WAY: &str = "Sent by";
pub(crate) const CODE: &str = "Code";
pub(crate) const COST: &str = "Cost";
pub(crate) const UNREADABLE: &str = "cannot be read";
pub(crate) const NO_WAY: &str = "no provider";
pub(crate) const THROUGH: &str = "through";
pub(crate) const OLDER: &str = "Older requests";
pub(crate) const GO_ON: &str = "Look further back";
pub(crate) const LOOKED: &str = "Looked through";
pub(crate) const REQUESTS: &str = "requests";
pub(crate) const EMPTY: &str =
    "No code has been asked for yet. Send one in the playground, or with a key of this project.";
pub(crate) const TO_PLAYGROUND: &str = "Open the playground";
pub(crate) const NOTHING_OLDER: &str = "There are no older requests on record.";
pub(crate) const NONE_WANTED: &str = "None of the requests looked through is one of these.";
pub(crate) const REFUSED_LATELY: &str = "Refused in the last hour";
pub(crate) const PAUSE: &str = "Pause";
pub(crate) const GOES_ON: &str = "Live";
pub(crate) const PAUSED: &str = "Paused";
pub(crate) const OFFLINE: &str = "Not live: reload to see what is new";
pub(crate) const GAP: &str = "More came than fit on this page: reload to see all";
pub(crate) const FREE: &str = "free";

pub(crate) const STORY: &str = "What happened";
pub(crate) const STORY_LEAD: &str = "All that is on record about one number, newest first.";
pub(crate) const BACK: &str = "All activity";
pub(crate) const NEXT: &str = "The next code";
pub(crate) const NUMBER: &str = "Number";
pub(crate) const UNMASK: &str = "Show the number";
pub(crate) const UNMASK_HINT: &str = "That you looked is written into the audit log.";
pub(crate) const WRONG_CODES: &str = "Wrong codes that count";
pub(crate) const IN_A_ROW: &str = "in a row";
pub(crate) const IN_PERIOD: &str = "in this period";
pub(crate) const REFUSED: &str = "Refused";
pub(crate) const AT: &str = "at";
pub(crate) const BETWEEN: &str = "between";
pub(crate) const AND: &str = "and";
pub(crate) const NEXT_AT: &str = "The next is allowed at";
pub(crate) const NOTHING: &str = "Nothing is on record about this number here: no code was asked for lately, and none was refused.";
pub(crate) const NOTHING_NEXT: [&str; 3] = [
    "Compare the number with the one in the app, digit by digit.",
    "Look in the other mode: test keys and live keys know nothing of each other.",
    "If the app says that it asked, the request never came here: look for errors of the app's own server.",
];
pub(crate) const LIFT: &str = "Lift what wrong codes put in the way…";
pub(crate) const LIFT_NOW: &str = "Lift it now";
pub(crate) const LIFT_WORD: &str = "lift";
pub(crate) const LIFT_STOPS: [&str; 3] = [
    "The count of wrong codes for this number begins anew, so whoever guesses may guess again.",
    "Make sure that you talk to the owner of the number.",
    "A code that is locked stays locked: the person asks for a new one.",
];
pub(crate) const LIFTED: &str = "Lifted. The next code can be asked for as usual.";
pub(crate) const NOT_LIFTED: &str = "The word you typed is another one, so nothing was changed.";

/// How something went, for its colour and sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Good,
    Bad,
    Warn,
    Plain,
}

impl Tone {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Bad => "bad",
            Self::Warn => "warn",
            Self::Plain => "plain",
        }
    }
}

/// A sentence, what can be done about it, and an instant that ends it.
#[derive(Debug)]
pub(crate) struct Sentence {
    pub(crate) tone: Tone,
    pub(crate) text: String,
    pub(crate) advice: &'static str,
    pub(crate) until: Option<Timestamp>,
}

impl Sentence {
    fn new(tone: Tone, text: impl Into<String>) -> Self {
        Self { tone, text: text.into(), advice: "", until: None }
    }

    fn advise(self, advice: &'static str) -> Self {
        Self { advice, ..self }
    }

    fn until(self, at: Timestamp) -> Self {
        Self { until: Some(at), ..self }
    }
}

pub(crate) const fn channel(channel: Channel) -> &'static str {
    match channel {
        Channel::Whatsapp => "WhatsApp",
        Channel::Sms => "SMS",
    }
}

pub(crate) const fn mode(mode: KeyMode) -> &'static str {
    match mode {
        KeyMode::Live => LIVE,
        KeyMode::Test => TEST,
    }
}

/// Every status, with its words.
pub(crate) const STATUSES: [DeliveryStatus; 4] = [
    DeliveryStatus::Queued,
    DeliveryStatus::Sent,
    DeliveryStatus::Delivered,
    DeliveryStatus::Failed,
];

pub(crate) const fn status(status: DeliveryStatus) -> (Tone, &'static str) {
    match status {
        DeliveryStatus::Queued => (Tone::Warn, "On its way"),
        DeliveryStatus::Sent => (Tone::Plain, "Sent"),
        DeliveryStatus::Delivered => (Tone::Good, "Delivered"),
        DeliveryStatus::Failed => (Tone::Bad, "Failed"),
    }
}

pub(crate) const fn state(state: OtpState) -> (Tone, &'static str) {
    match state {
        OtpState::Active => (Tone::Plain, "Not used"),
        OtpState::Locked => (Tone::Bad, "Locked"),
        OtpState::Used => (Tone::Good, "Verified"),
        OtpState::Superseded => (Tone::Plain, "Replaced"),
        OtpState::Void => (Tone::Plain, "Void"),
    }
}

/// What a reason means, and what to do about it.
pub(crate) const fn reason(reason: Reason) -> (&'static str, &'static str) {
    match reason {
        Reason::NotOnChannel => (
            "the number has no account on WhatsApp",
            "Nothing to do: the SMS takes over where one is set up.",
        ),
        Reason::RejectedNumber => (
            "the provider will not send to this number",
            "Check the number. If it is right, ask the provider, who may have it on a list.",
        ),
        Reason::Blocked => (
            "the person or their operator blocks such messages",
            "Ask the person whether they blocked the sender or are on the do-not-disturb list.",
        ),
        Reason::TemplateRejected => (
            "the text of the message was not accepted",
            "Everybody is affected. Tell whoever runs the project: the registered template and the text under Settings must match.",
        ),
        Reason::ProviderAuth => (
            "the provider did not accept our credentials",
            "Everybody is affected. Tell whoever runs the service at once: the provider's key is wrong or over.",
        ),
        Reason::ProviderThrottled => (
            "the provider asked for fewer messages",
            "Wait a few minutes and have the person ask again.",
        ),
        Reason::ProviderRefused => (
            "the provider refused it, for a reason that is not known here",
            "Look for the message in the provider's console. If every code ends like this, tell whoever runs the service.",
        ),
        Reason::ProviderUnavailable => (
            "the provider could not be reached",
            "Have the person ask again; if it goes on, tell whoever runs the service.",
        ),
        Reason::Timeout => (
            "the provider did not answer in time, so the message may have gone out or not",
            "Have the person look for it, then ask again.",
        ),
        Reason::Unknown => (
            "what the provider answered is not known, so the message may have gone out or not",
            "Have the person look for it, then ask again.",
        ),
    }
}

/// Why sends were refused, and what to do about it.
pub(crate) fn refusal(refusal: Refusal, limit: Option<Quota>) -> (String, &'static str) {
    let (text, advice) = match refusal {
        Refusal::Limit => {
            let limit = limit.map_or(String::new(), |quota| {
                format!(" of {} per {}", quota.limit, span(quota.window))
            });
            return (format!("limit{limit} for one number"), "Have the person wait and ask once.");
        }
        Refusal::Pace => (
            "fewer codes for this number, after many wrong ones",
            "Somebody guesses. If it is the owner, the lock can be lifted.",
        ),
        Refusal::Stop => (
            "no codes for this number for a while, after too many wrong ones",
            "Somebody guesses. If it is the owner, the lock can be lifted.",
        ),
        Refusal::Balance => (
            "the wallet could not pay for it",
            "Everybody is affected. Tell whoever pays: money has to be paid in under Wallet.",
        ),
        Refusal::KeyReused => (
            "the app used one Idempotency-Key for two different requests",
            "A defect of the app: tell its developers.",
        ),
        Refusal::Ceiling => (
            "the API key asked more often than it may in one minute",
            "Everybody is affected. Somebody may be pumping messages: tell whoever runs the project.",
        ),
    };
    (text.to_owned(), advice)
}

/// What is in the way of the next send.
pub(crate) const fn bound(bound: SendBound) -> &'static str {
    match bound {
        SendBound::Limit => {
            "This number has had the codes it may get for now. The next is allowed at"
        }
        SendBound::Pace => "After many wrong codes this number gets fewer. The next is allowed at",
        SendBound::Stop => {
            "After too many wrong codes this number gets none. The next is allowed at"
        }
    }
}

pub(crate) fn now(remaining: u32) -> String {
    format!("Allowed now; {remaining} left in this window.")
}

pub(crate) const NEVER: &str = "The limit of this mode admits none.";

/// What happened, as a sentence without its time.
pub(crate) fn fact(fact: &Fact) -> Sentence {
    use Tone::{Bad, Good, Plain, Warn};
    match fact {
        Fact::Asked => Sentence::new(Plain, "A code was asked for."),
        Fact::NoProvider => Sentence::new(Bad, "No provider is set up to carry it.")
            .advise("Everybody is affected. Tell whoever runs the service."),
        Fact::Handed { channel: by, provider, after } => {
            let way = format!("{} {THROUGH} {provider}", channel(*by));
            match after {
                None => Sentence::new(Plain, format!("Sent by {way}.")),
                Some(FellBack::Failed) => Sentence::new(Plain, format!("Fell back to {way}.")),
                Some(FellBack::Silent) => {
                    Sentence::new(Plain, format!("No receipt came in time: fell back to {way}."))
                }
            }
        }
        Fact::Unanswered => Sentence::new(Warn, "The provider has not answered yet."),
        Fact::Accepted => Sentence::new(Plain, "The provider took it; no receipt has come.")
            .advise("If it did not arrive: is the phone on, in reach, and the number right?"),
        Fact::Refused(why) => {
            let (words, advice) = reason(*why);
            Sentence::new(Bad, format!("It failed: {words}.")).advise(advice)
        }
        Fact::FailedLater(why) => {
            let (words, advice) = reason(*why);
            let text = format!("The provider took it, then reported that it failed: {words}.");
            Sentence::new(Bad, text).advise(advice)
        }
        Fact::Delivered => Sentence::new(Good, "Delivered to the phone."),
        Fact::NobodyReached => Sentence::new(Bad, "Every way failed: no code reached the phone."),
        Fact::Free => Sentence::new(Plain, "Test mode: nothing left this machine, nothing was charged."),
        Fact::Charged(paise) => Sentence::new(Plain, format!("Charged {}.", rupees(*paise))),
        Fact::NotCharged => Sentence::new(Plain, "Nothing was charged."),
        Fact::Refunded(paise) => Sentence::new(Plain, format!("{} came back.", rupees(*paise))),
        Fact::EarlierWrong(1) => Sentence::new(Warn, "One wrong code before that."),
        Fact::EarlierWrong(count) => Sentence::new(Warn, format!("{count} wrong codes before that.")),
        Fact::WrongCode { left: 0 } => Sentence::new(Bad, "Wrong code: the last one that it takes."),
        Fact::WrongCode { left } => Sentence::new(Warn, format!("Wrong code; {left} more are taken.")),
        Fact::RightCode => Sentence::new(Good, "Right code: verified."),
        Fact::Locked { until } => {
            Sentence::new(Bad, "Locked after too many wrong codes. Have the person ask for a new one. This one is over at").until(*until)
        }
        Fact::Stopped { until } => {
            Sentence::new(Bad, "Locked: too many wrong codes for this number. This one is over at").until(*until)
        }
        Fact::Superseded => Sentence::new(Plain, "A newer code took its place: this one no longer works.")
            .advise("Only the newest message counts; the person may have typed an older one."),
        Fact::Expired => Sentence::new(Plain, "Nobody used it in time: it expired."),
        Fact::Usable { until } => Sentence::new(Plain, "It can be used until").until(*until),
    }
}

/// How many sends were refused.
pub(crate) fn refused(count: u32) -> String {
    if count == 1 {
        "One send was refused".to_owned()
    } else {
        format!("{count} sends were refused")
    }
}

/// A window in words.
fn span(window: Duration) -> String {
    let seconds = window.as_secs();
    match (seconds / 3_600, seconds / 60) {
        (1, _) if seconds == 3_600 => "hour".to_owned(),
        (hours, _) if hours > 0 && seconds.is_multiple_of(3_600) => format!("{hours} hours"),
        (_, 1) if seconds == 60 => "minute".to_owned(),
        (_, minutes) if minutes > 0 && seconds.is_multiple_of(60) => format!("{minutes} minutes"),
        _ => format!("{seconds} seconds"),
    }
}

/// What is said to whoever sees numbers masked, before the instant at which one more is free.
pub(crate) fn searches_left(remaining: u32) -> String {
    let numbers = if remaining == 1 { "number" } else { "numbers" };
    format!(
        "Each number you search for is in the audit log. You can search for {remaining} more {numbers} \
         now; another is free at"
    )
}
