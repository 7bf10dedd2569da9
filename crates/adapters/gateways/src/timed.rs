use async_trait::async_trait;
use dwar_otp::{Channel, Gateway, Message, Outcome, Reason};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Limits the duration of another gateway's calls.
///
/// A call that takes longer is given up as [`Reason::Timeout`]; its result is unknown
/// (docs/contract.md, Delivery).
pub struct TimedGateway {
    pub inner: Arc<dyn Gateway>,
    /// Longest duration of a call.
    pub limit: Duration,
    pub took: CallTimeRecorder,
}

/// A function that records the duration of each call.
pub type CallTimeRecorder = Arc<dyn Fn(Channel, Duration) + Send + Sync>;

#[async_trait]
impl Gateway for TimedGateway {
    fn provider(&self) -> String {
        self.inner.provider()
    }

    async fn deliver(&self, message: Message) -> Outcome {
        let (channel, began) = (message.channel, Instant::now());
        let call = tokio::time::timeout(self.limit, self.inner.deliver(message));
        let outcome = call.await.unwrap_or(Outcome::Refused(Reason::Timeout));
        (self.took)(channel, began.elapsed());
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixtures::message;
    use dwar_kernel::KeyMode;

    struct Slow(Duration);

    #[async_trait]
    impl Gateway for Slow {
        fn provider(&self) -> String {
            "slow".to_owned()
        }

        async fn deliver(&self, _: Message) -> Outcome {
            tokio::time::sleep(self.0).await;
            Outcome::Accepted { provider_ref: None, awaits_receipt: false }
        }
    }

    async fn deliver(needs: u64) -> Outcome {
        let slow = Arc::new(Slow(Duration::from_millis(needs)));
        let (told, took) = std::sync::mpsc::channel();
        let limit = Duration::from_millis(8_000);
        let tell = move |channel, took| told.send((channel, took)).unwrap();
        let timed = TimedGateway { inner: slow, limit, took: Arc::new(tell) };
        assert_eq!(timed.provider(), "slow");
        let outcome = timed.deliver(message(KeyMode::Live, Channel::Sms, "9876543210")).await;
        let needed = Duration::from_millis(needs).min(limit);
        assert_eq!(took.try_iter().collect::<Vec<_>>(), [(Channel::Sms, needed)]);
        outcome
    }

    #[tokio::test(start_paused = true)]
    async fn gives_a_call_up_when_its_time_is_over_and_not_before() {
        assert!(matches!(deliver(7_999).await, Outcome::Accepted { .. }));
        assert_eq!(deliver(8_001).await, Outcome::Refused(Reason::Timeout));
    }
}
