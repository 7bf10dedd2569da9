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
/// Beyond the time that a call to a provider took, for writing down what it said.
const MARGIN: Duration = Duration::from_secs(2);
/// How long events can be sent again, by somebody who was away for some days. Their phone numbers are kept, sealed,
/// as long.
const CALLS: Duration = Duration::from_secs(7 * 24 * 3_600);
/// How long a consumer of the feed may be away without missing an event.
const FEED: Duration = CALLS;

/// Every number and choice that the use cases go by. Those of `default` are what docs/contract.md says, and where it
/// says nothing what the service has if nobody configures it.
#[derive(Clone, Debug)]
pub struct Policies {
    /// How often each thing may be asked for.
    pub limits: Limits,
    pub code_lifetime: Duration,
    /// How long a call to a provider may take.
    pub call_timeout: Duration,
    /// How long a receipt is waited for before the next channel is tried; `None` waits for none.
    pub receipt_window: Option<Duration>,
    pub session: SessionPolicy,
    pub issuer: String,
    pub algorithm: Algorithm,
    /// For how long a new signing key is published before it signs.
    pub publish_before: Duration,
    /// What a message costs unless its project has its own price.
    pub prices: PriceList,
    /// How long OTP requests and ended sessions stay on record.
    pub keep_records: Duration,
    pub keep_audit: Duration,
    /// How many records of each kind the test keys of a project may leave behind; `None` bounds nothing.
    pub test_records: Option<u32>,
    /// How many events the feed of a project keeps, in each mode; of test keys no more than `test_records`.
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
    /// How long a send may be silent before another process takes it for lost.
    pub fn lease(&self) -> Duration {
        self.call_timeout.saturating_add(self.grace())
    }

    /// How long a message that was accepted waits for its receipt at most, whatever its project has set.
    pub fn longest_receipt_window(&self) -> Duration {
        let of_projects = Duration::from_secs(Project::LONGEST_FALLBACK.into());
        self.receipt_window.unwrap_or_default().max(of_projects)
    }

    /// How signing keys overlap.
    pub fn signing_keys(&self) -> SigningKeyPolicy {
        SigningKeyPolicy {
            algorithm: self.algorithm,
            publish_before: self.publish_before,
            publish_after: self.session.access.saturating_add(VERIFIER_SKEW),
        }
    }

    /// How long rows stay. Nothing is dropped before its last use: a send counts for the longest window in force, a
    /// hold stays longer than any send takes to its end, both channels and the wait for a receipt included.
    pub fn retention(&self) -> Retention {
        let Limits { live, test, guesses } = &self.limits;
        let windows = [
            live.send.places.window,
            test.send.places.window,
            guesses.slow_pace,
            guesses.slower_pace,
            guesses.stop_pace,
        ];
        let way = self.lease().saturating_add(self.receipt_window.unwrap_or_default());
        let first_answers = Lifetimes::default();
        let in_use = first_answers.lease.max(test.send.places.window);
        Retention {
            requests: self.keep_records.max(self.code_lifetime),
            // Counts in a row and periods are over this long after the last wrong code.
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
            holds: way.saturating_mul(2).saturating_add(self.grace()),
            tests: self.test_records.map(|kept| TestQuota { kept, in_use }),
        }
    }

    /// How much longer than its call a send is left alone.
    fn grace(&self) -> Duration {
        self.call_timeout.saturating_add(MARGIN)
    }
}
