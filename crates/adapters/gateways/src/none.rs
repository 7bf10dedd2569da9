use async_trait::async_trait;
use dwar_otp::{Gateway, Message, Outcome, Reason};

/// Stands where no provider is configured: refuses every message, so nothing is ever charged.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoGateway;

#[async_trait]
impl Gateway for NoGateway {
    fn provider(&self) -> String {
        "none".to_owned()
    }

    async fn deliver(&self, message: Message) -> Outcome {
        tracing::error!(otp = %message.otp, "no provider is configured for live keys");
        Outcome::Refused(Reason::ProviderUnavailable)
    }
}
