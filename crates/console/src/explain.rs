//! Explanations of what happened to a code, for support staff; the same texts in the admin API and on pages.

use crate::{FallbackReason, TimelineFact};
use dwar_activity::Cause;
use dwar_kernel::{GuardVerdict, Timestamp};
use dwar_otp::{Channel, Reason, Refusal};
use dwar_ratelimit::{Quota, SendBound};
use std::time::Duration;

/// How an event is rated, which decides its colour and sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Good,
    /// Something failed, or a send was refused.
    Bad,
    /// Not as intended, but nothing failed.
    Warn,
    Plain,
}

impl Tone {
    /// The word for this tone in the admin API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Bad => "bad",
            Self::Warn => "warn",
            Self::Plain => "plain",
        }
    }
}

/// A sentence with advice, and an instant at its end.
#[derive(Debug)]
pub struct Explanation {
    pub tone: Tone,
    pub text: String,
    /// What to do, or how to read the sentence; empty if there is nothing to add.
    pub advice: &'static str,
    pub until: Option<Timestamp>,
}

impl Explanation {
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

/// The display name of a channel, as texts and pages use it.
pub const fn channel(channel: Channel) -> &'static str {
    match channel {
        Channel::Whatsapp => "WhatsApp",
        Channel::Sms => "SMS",
    }
}

/// The meaning of a failure reason, and advice.
pub const fn reason(reason: Reason) -> (&'static str, &'static str) {
    match reason {
        Reason::NotOnChannel => (
            "the number has no account on WhatsApp",
            "Nothing to do: an SMS is sent instead, if SMS is set up.",
        ),
        Reason::RejectedNumber => (
            "the provider does not send to this number",
            "Check the number. If it is right, ask the provider whether it is on a block list.",
        ),
        Reason::Blocked => (
            "the user or their mobile network blocks such messages",
            "Ask the user whether they blocked the sender or are on the do-not-disturb list.",
        ),
        Reason::TemplateRejected => (
            "the text of the message was not accepted",
            "This affects all users. Tell the owner of the project: the registered template and the text under Settings must match.",
        ),
        Reason::ProviderAuth => (
            "the provider rejected the credentials",
            "This affects all users. Tell an owner of the installation immediately: the provider's key is wrong or has expired.",
        ),
        Reason::ProviderThrottled => (
            "the provider asked for fewer messages",
            "Wait a few minutes, then have the user request a new code.",
        ),
        Reason::ProviderRefused => (
            "the provider refused it for an unknown reason",
            "Look up the message in the provider's console. If this happens to every code, tell an owner of the installation.",
        ),
        Reason::ProviderUnavailable => (
            "the provider could not be reached, or answered with an error of its own",
            "Have the user request a new code. If it continues, tell an owner of the installation.",
        ),
        Reason::Timeout => (
            "the provider did not answer in time, so the message may or may not have been sent",
            "Have the user check for it, then request a new code.",
        ),
        Reason::Unknown => (
            "the provider's answer is not known, so the message may or may not have been sent",
            "Have the user check for it, then request a new code.",
        ),
    }
}

/// Why sends were refused, and advice; `limit` is named in the text.
pub fn refusal(refusal: Refusal, limit: Option<Quota>) -> (String, &'static str) {
    let (text, advice) = match refusal {
        Refusal::Limit => {
            let limit = limit.map_or(String::new(), |quota| {
                format!(" of {} per {}", quota.limit, span(quota.window))
            });
            return (
                format!("limit{limit} for one number"),
                "Have the user wait, then request one code.",
            );
        }
        Refusal::Day => (
            "30 codes for one number in 24 hours",
            "This number may be under attack. Have the user wait, or log in from a known device.",
        ),
        Refusal::Proof => (
            "the guard asked for a proof that a person wants the code",
            "There is a flood of sends. If real users are refused, the app must show them a challenge.",
        ),
        Refusal::Pace => (
            "fewer codes for this number after many wrong ones",
            "Codes are being guessed. If it is the owner of the number, clear the failed attempts.",
        ),
        Refusal::Stop => (
            "no codes for this number for a while, after too many wrong ones",
            "Codes are being guessed. If it is the owner of the number, clear the failed attempts.",
        ),
        Refusal::Balance => (
            "the wallet balance was too low",
            "This affects all users. Tell the person responsible for payments to add credit under Wallet.",
        ),
        Refusal::SpendLimit => (
            "the spend of the day had reached the project's limit",
            "This affects all users until midnight in India. If the codes are meant, raise the limit in the settings; if not, look for the sender.",
        ),
        Refusal::KeyReused => (
            "the app used one Idempotency-Key for two different requests",
            "This is a bug in the app: tell its developers.",
        ),
        Refusal::Ceiling => (
            "the API key made more requests than allowed in one minute",
            "This affects all users. It may be SMS pumping, messages sent for fraud: tell the owner of the project.",
        ),
    };
    (text.to_owned(), advice)
}

/// Why no code reached a phone, and advice.
pub fn cause(cause: Cause) -> (String, &'static str) {
    match cause {
        Cause::Failed(why) => {
            let (words, advice) = reason(why);
            (words.to_owned(), advice)
        }
        Cause::Refused(why) => refusal(why, None),
        Cause::NoProvider => (
            "no provider is configured to send it".to_owned(),
            "This affects all users. Tell an owner of the installation.",
        ),
    }
}

/// The reason why the next send has to wait.
pub const fn bound(bound: SendBound) -> &'static str {
    match bound {
        SendBound::Limit => "This number has reached its limit. The next code is allowed at",
        SendBound::Day => {
            "This number has reached its bound for 24 hours. The next code is allowed at"
        }
        SendBound::Pace => {
            "This number gets codes less often after many wrong ones. The next is allowed at"
        }
        SendBound::Stop => {
            "This number gets no codes for a while after too many wrong ones. The next is allowed at"
        }
    }
}

/// The text if the next send is admitted at once.
pub fn now(remaining: u32) -> String {
    format!("Allowed now, {remaining} left in this window.")
}

/// The text if no limit ever admits a send.
pub const NEVER: &str = "The limit of this mode allows no codes.";

/// What happened, as a sentence without its time.
pub fn fact(fact: &TimelineFact) -> Explanation {
    use Tone::{Bad, Good, Plain, Warn};
    match fact {
        TimelineFact::Asked => Explanation::new(Plain, "A code was requested."),
        TimelineFact::Guarded(verdict) => guarded(*verdict),
        TimelineFact::NoProvider => {
            Explanation::new(Bad, "No provider is configured to send it.").advise(cause(Cause::NoProvider).1)
        }
        TimelineFact::Handed { channel: by, provider, after } => {
            let way = format!("{} via {provider}", channel(*by));
            match after {
                None => Explanation::new(Plain, format!("Sent by {way}.")),
                Some(FallbackReason::Failed) => Explanation::new(Plain, format!("Fell back to {way}.")),
                Some(FallbackReason::Silent) => {
                    Explanation::new(Plain, format!("No receipt in time: fell back to {way}."))
                }
            }
        }
        TimelineFact::Unanswered => Explanation::new(Warn, "The provider has not answered yet."),
        TimelineFact::Accepted => Explanation::new(Plain, "The provider accepted it. No receipt yet.")
            .advise("If it did not arrive, check that the number is right and the phone is on and has reception."),
        TimelineFact::Refused(why) => {
            let (words, advice) = reason(*why);
            Explanation::new(Bad, format!("Failed: {words}.")).advise(advice)
        }
        TimelineFact::FailedLater(why) => {
            let (words, advice) = reason(*why);
            let text = format!("The provider accepted it, then reported a failure: {words}.");
            Explanation::new(Bad, text).advise(advice)
        }
        TimelineFact::Delivered => Explanation::new(Good, "Delivered to the phone."),
        TimelineFact::NobodyReached => Explanation::new(Bad, "Every provider failed. No code reached the phone."),
        TimelineFact::Free => Explanation::new(Plain, "Test mode: nothing was sent or charged."),
        TimelineFact::Charged(paise) => Explanation::new(Plain, format!("Charged {}.", paise)),
        TimelineFact::NotCharged => Explanation::new(Plain, "Nothing was charged."),
        TimelineFact::Refunded(paise) => Explanation::new(Plain, format!("{} was refunded.", paise)),
        TimelineFact::EarlierWrong(1) => Explanation::new(Warn, "One wrong code before that."),
        TimelineFact::EarlierWrong(count) => Explanation::new(Warn, format!("{count} wrong codes before that.")),
        TimelineFact::WrongCode { left: 0 } => Explanation::new(Bad, "Wrong code. No attempts left."),
        TimelineFact::WrongCode { left: 1 } => Explanation::new(Warn, "Wrong code. 1 attempt left."),
        TimelineFact::WrongCode { left } => Explanation::new(Warn, format!("Wrong code. {left} attempts left.")),
        TimelineFact::RightCode => Explanation::new(Good, "Verified."),
        TimelineFact::Locked { until } => {
            Explanation::new(Bad, "Locked after too many wrong codes. Have the user request a new one. This one expires at").until(*until)
        }
        TimelineFact::Stopped { until } => {
            Explanation::new(Bad, "Locked: too many wrong codes for this number. This one expires at").until(*until)
        }
        TimelineFact::Superseded => Explanation::new(Plain, "Replaced by a newer code.")
            .advise("Only the newest code works. The user may have typed an older one."),
        TimelineFact::Expired => Explanation::new(Plain, "Expired without being used."),
        TimelineFact::Relayed { until } => {
            Explanation::new(Plain, "Made and checked by another system. It expires at").until(*until)
        }
        TimelineFact::Usable { until } => Explanation::new(Plain, "Valid until").until(*until),
    }
}

/// How the guard judged a send that was made.
fn guarded(verdict: GuardVerdict) -> Explanation {
    let passed = |text| Explanation::new(Tone::Plain, text);
    let asked = |what| {
        let text = format!("An enforced guard would have asked for a proof: {what}.");
        Explanation::new(Tone::Warn, text)
    };
    match verdict {
        GuardVerdict::Admitted => passed("The guard admitted it."),
        GuardVerdict::Trusted => {
            passed("The app vouched for the visitor, so the guard asked nothing.")
        }
        GuardVerdict::Device => passed("It came from a known device, so the guard asked nothing."),
        GuardVerdict::Address => asked("too many numbers from one address were not verified"),
        GuardVerdict::Series => asked("too many numbers of one series were not verified"),
        GuardVerdict::Project => asked("too many new numbers of the project were not verified"),
        GuardVerdict::Day => Explanation::new(
            Tone::Warn,
            "An enforced guard would have refused it: 30 codes for one number in 24 hours.",
        ),
    }
}

/// How many sends were refused, as the beginning of a sentence.
pub fn refused(count: u32) -> String {
    if count == 1 {
        "One send was refused".to_owned()
    } else {
        format!("{count} sends were refused")
    }
}

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
