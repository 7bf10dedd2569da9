//! What happened to a code, in words for people who support users; the same in the admin API and on pages.

use crate::{Fact, FellBack};
use dwar_kernel::Timestamp;
use dwar_otp::{Channel, Reason, Refusal};
use dwar_ratelimit::{Quota, SendBound};
use std::time::Duration;

/// How something went, for its colour and sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// As it should be.
    Good,
    /// Something failed, or somebody was refused.
    Bad,
    /// Not as hoped, and nothing failed.
    Warn,
    /// Neither.
    Plain,
}

impl Tone {
    /// One word for it.
    pub const fn as_str(self) -> &'static str {
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
pub struct Sentence {
    /// How it is meant.
    pub tone: Tone,
    /// What happened.
    pub text: String,
    /// What to do, or how to read it; empty if there is nothing to say.
    pub advice: &'static str,
    /// Until when it holds, if that is known.
    pub until: Option<Timestamp>,
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

/// A channel by its name.
pub const fn channel(channel: Channel) -> &'static str {
    match channel {
        Channel::Whatsapp => "WhatsApp",
        Channel::Sms => "SMS",
    }
}

/// What a reason means, and what to do about it.
pub const fn reason(reason: Reason) -> (&'static str, &'static str) {
    match reason {
        Reason::NotOnChannel => (
            "the number has no account on WhatsApp",
            "Nothing to do: an SMS is sent instead, if SMS is set up.",
        ),
        Reason::RejectedNumber => (
            "the provider will not send to this number",
            "Check the number. If it is right, ask the provider: it may be on a block list.",
        ),
        Reason::Blocked => (
            "the person or their operator blocks such messages",
            "Ask the person whether they blocked the sender or are on the do-not-disturb list.",
        ),
        Reason::TemplateRejected => (
            "the text of the message was not accepted",
            "Everybody is affected. Tell the owner of the project: the registered template and the text under Settings must match.",
        ),
        Reason::ProviderAuth => (
            "the provider did not accept our credentials",
            "Everybody is affected. Tell the operator of the service at once: the provider's key is wrong or has expired.",
        ),
        Reason::ProviderThrottled => (
            "the provider asked for fewer messages",
            "Wait a few minutes and have the person ask again.",
        ),
        Reason::ProviderRefused => (
            "the provider refused it for an unknown reason",
            "Look for the message in the provider's console. If every code ends like this, tell the operator of the service.",
        ),
        Reason::ProviderUnavailable => (
            "the provider could not be reached",
            "Have the person ask again; if it continues, tell the operator of the service.",
        ),
        Reason::Timeout => (
            "the provider did not answer in time, so the message may or may not have been sent",
            "Have the person check for it, then request a new code.",
        ),
        Reason::Unknown => (
            "the provider's answer is not known, so the message may or may not have been sent",
            "Have the person check for it, then request a new code.",
        ),
    }
}

/// Why sends were refused, and what to do about it.
pub fn refusal(refusal: Refusal, limit: Option<Quota>) -> (String, &'static str) {
    let (text, advice) = match refusal {
        Refusal::Limit => {
            let limit = limit.map_or(String::new(), |quota| {
                format!(" of {} per {}", quota.limit, span(quota.window))
            });
            return (format!("limit{limit} for one number"), "Have the person wait and ask once.");
        }
        Refusal::Pace => (
            "slower codes for this number, after many wrong ones",
            "Somebody is guessing codes. If it is the owner, the delay can be removed.",
        ),
        Refusal::Stop => (
            "no codes for this number for a while, after too many wrong ones",
            "Somebody is guessing codes. If it is the owner, the delay can be removed.",
        ),
        Refusal::Balance => (
            "the wallet could not pay for it",
            "Everybody is affected. Tell whoever is responsible for payments: money must be paid in under Wallet.",
        ),
        Refusal::KeyReused => (
            "the app used one Idempotency-Key for two different requests",
            "This is a bug in the app: tell its developers.",
        ),
        Refusal::Ceiling => (
            "the API key made more requests than allowed in one minute",
            "Everybody is affected. Somebody may be pumping messages: tell the owner of the project.",
        ),
    };
    (text.to_owned(), advice)
}

/// What is in the way of the next send.
pub const fn bound(bound: SendBound) -> &'static str {
    match bound {
        SendBound::Limit => "This number has reached its limit. The next code is allowed at",
        SendBound::Pace => {
            "After many wrong codes this number gets codes less often. The next is allowed at"
        }
        SendBound::Stop => {
            "After too many wrong codes this number gets none for a while. The next is allowed at"
        }
    }
}

/// The text if the next send is admitted at once.
pub fn now(remaining: u32) -> String {
    format!("Allowed now; {remaining} left in this window.")
}

/// The text if no limit admits a send.
pub const NEVER: &str = "The limit of this mode allows none.";

/// What happened, as a sentence without its time.
pub fn fact(fact: &Fact) -> Sentence {
    use Tone::{Bad, Good, Plain, Warn};
    match fact {
        Fact::Asked => Sentence::new(Plain, "A code was requested."),
        Fact::NoProvider => Sentence::new(Bad, "No provider is configured to send it.")
            .advise("Everybody is affected. Tell the operator of the service."),
        Fact::Handed { channel: by, provider, after } => {
            let way = format!("{} through {provider}", channel(*by));
            match after {
                None => Sentence::new(Plain, format!("Sent by {way}.")),
                Some(FellBack::Failed) => Sentence::new(Plain, format!("Fell back to {way}.")),
                Some(FellBack::Silent) => {
                    Sentence::new(Plain, format!("No receipt came in time: fell back to {way}."))
                }
            }
        }
        Fact::Unanswered => Sentence::new(Warn, "The provider has not answered yet."),
        Fact::Accepted => Sentence::new(Plain, "The provider accepted it; there is no receipt yet.")
            .advise("If it did not arrive: is the phone on, in reach, and the number right?"),
        Fact::Refused(why) => {
            let (words, advice) = reason(*why);
            Sentence::new(Bad, format!("It failed: {words}.")).advise(advice)
        }
        Fact::FailedLater(why) => {
            let (words, advice) = reason(*why);
            let text = format!("The provider accepted it, then reported that it failed: {words}.");
            Sentence::new(Bad, text).advise(advice)
        }
        Fact::Delivered => Sentence::new(Good, "Delivered to the phone."),
        Fact::NobodyReached => Sentence::new(Bad, "Every provider failed: no code reached the phone."),
        Fact::Free => Sentence::new(Plain, "Test mode: nothing left this machine, nothing was charged."),
        Fact::Charged(paise) => Sentence::new(Plain, format!("Charged {}.", paise)),
        Fact::NotCharged => Sentence::new(Plain, "Nothing was charged."),
        Fact::Refunded(paise) => Sentence::new(Plain, format!("{} was refunded.", paise)),
        Fact::EarlierWrong(1) => Sentence::new(Warn, "One wrong code before that."),
        Fact::EarlierWrong(count) => Sentence::new(Warn, format!("{count} wrong codes before that.")),
        Fact::WrongCode { left: 0 } => Sentence::new(Bad, "Wrong code: that was the last attempt."),
        Fact::WrongCode { left } => Sentence::new(Warn, format!("Wrong code; attempts left: {left}.")),
        Fact::RightCode => Sentence::new(Good, "Right code: verified."),
        Fact::Locked { until } => {
            Sentence::new(Bad, "Locked after too many wrong codes. Have the person ask for a new one. This one expires at").until(*until)
        }
        Fact::Stopped { until } => {
            Sentence::new(Bad, "Locked: too many wrong codes for this number. This one expires at").until(*until)
        }
        Fact::Superseded => Sentence::new(Plain, "A newer code replaced it: this one no longer works.")
            .advise("Only the newest message counts; the person may have typed an older one."),
        Fact::Expired => Sentence::new(Plain, "Nobody used it in time: it expired."),
        Fact::Usable { until } => Sentence::new(Plain, "It can be used until").until(*until),
    }
}

/// How many sends were refused.
pub fn refused(count: u32) -> String {
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
