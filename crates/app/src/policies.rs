use crate::{Limits, Retention, SessionPolicy, SigningKeyPolicy};
use dwar_event::FeedBound;
use dwar_kernel::PriceList;
use dwar_otp::TestQuota;
use dwar_otp::idempotency::Lifetimes;
use dwar_project::Project;
use dwar_session::Algorithm;
use std::time::Duration;

const DAY: Duration = Duration::from_secs(24 * 3_600);
/// Clocks of verifiers may be a little behind.
const VERIFIER_SKEW: Duration = Duration::from_secs(60);
/// Time to record a provider's answer, in addition to the time of the call.
const MARGIN: Duration = Duration::from_secs(2);
/// How long events can be sent again, by an operator who was away for some days. Their sealed phone numbers
/// are kept as long.
const CALLS: Duration = Duration::from_secs(7 * 24 * 3_600);
/// How long a consumer of the feed may be away without missing an event.
const FEED: Duration = CALLS;

/// All numbers and choices of the use cases. The defaults are those of docs/contract.md and, where that names
/// none, the defaults of the service.
#[derive(Clone, Debug)]
pub struct Policies {
    pub limits: Limits,
    pub code_lifetime: Duration,
    /// Time limit of a call to a provider.
    pub call_timeout: Duration,
    /// How long to wait for a receipt before the next channel is tried; `None` does not wait.
    pub receipt_window: Option<Duration>,
    pub session: SessionPolicy,
    pub issuer: String,
    pub algorithm: Algorithm,
    /// How long a new signing key is published before it signs.
    pub publish_before: Duration,
    /// Price of a message, unless its project has its own.
    pub prices: PriceList,
    /// How long OTP requests and ended sessions are kept.
    pub keep_records: Duration,
    pub keep_audit: Duration,
    /// Most records of each kind that the test keys of a project may leave behind; `None` sets no bound.
    pub test_records: Option<u32>,
    /// Most events that the feed of a project keeps in each mode; in test mode at most `test_records`.
    pub feed_events: u32,
}

impl Default for Policies {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            code_lifetime: Duration::from_secs(600),
            call_timeout: Duration::from_secs(8),
            receipt_window: Some(Duration::from_secs(20)),
            session: SessionPolicy::default(),
            issuer: "dwar".to_owned(),
            // RFC 9864 deprecates the name `EdDSA`, and RS256 is slow to sign.
            algorithm: Algorithm::Es256,
            // Twice as long as verifiers may cache the key set.
            publish_before: Duration::from_secs(600),
            prices: PriceList::default(),
            keep_records: DAY,
            keep_audit: 365 * DAY,
            test_records: Some(50_000),
            feed_events: 1_000_000,
        }
    }
}

impl Policies {
    /// How long a send may be silent before another process considers it lost.
    pub fn lease(&self) -> Duration {
        self.call_timeout.saturating_add(self.grace())
    }

    /// The longest time that an accepted message waits for its receipt, over all projects.
    pub fn longest_receipt_window(&self) -> Duration {
        let of_projects = Duration::from_secs(Project::LONGEST_FALLBACK.into());
        self.receipt_window.unwrap_or_default().max(of_projects)
    }

    /// When signing keys are published and how they overlap.
    pub fn signing_keys(&self) -> SigningKeyPolicy {
        SigningKeyPolicy {
            algorithm: self.algorithm,
            publish_before: self.publish_before,
            publish_after: self.session.access.saturating_add(VERIFIER_SKEW),
        }
    }

    /// How long rows are kept. Nothing is deleted before its last use: a send counts for the longest window
    /// in force, and a hold stays longer than any send takes to its end, including both channels and the wait
    /// for a receipt.
    pub fn retention(&self) -> Retention {
        let Limits { live, test, guesses } = &self.limits;
        let windows = [
            live.send.places.window,
            test.send.places.window,
            guesses.slow_pace,
            guesses.slower_pace,
            guesses.stop_pace,
            // The bound for a day that the guard enforces.
            DAY,
        ];
        let delivery = self.lease().saturating_add(self.receipt_window.unwrap_or_default());
        let first_answers = Lifetimes::default();
        let in_use = first_answers.lease.max(test.send.places.window);
        Retention {
            requests: self.keep_records.max(self.code_lifetime),
            // Counts in a row and periods have expired this long after the last wrong code.
            guesses: guesses.period.max(guesses.stop_for),
            sessions: self.keep_records,
            sends: windows.into_iter().max().unwrap_or_default(),
            idempotency: first_answers.keep,
            calls: CALLS,
            feed: FEED,
            feed_bound: FeedBound {
                live: self.feed_events,
                test: self.feed_events.min(self.test_records.unwrap_or(u32::MAX)),
            },
            holds: delivery.saturating_mul(2).saturating_add(self.grace()),
            tests: self.test_records.map(|kept| TestQuota { kept, in_use }),
        }
    }

    /// How much longer than its call a send waits before another process takes it over.
    fn grace(&self) -> Duration {
        self.call_timeout.saturating_add(MARGIN)
    }
}
