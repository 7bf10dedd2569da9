//! Converts the configuration to the policies of the use cases.

use crate::config::{Config, ConfigError, count, invalid, unless_zero};
use dwar_app::{Policies, SessionPolicy};
use dwar_kernel::{Paise, PriceList};
use std::time::Duration;

pub fn all(config: &Config) -> Result<Policies, ConfigError> {
    let Config { session, tokens, otp, limits, gateways, prices, retention, .. } = config;
    let seconds = Duration::from_secs;
    let hours = |hours: u64| seconds(hours.saturating_mul(3_600));
    let paise = |paise| Paise(count(paise).into());
    let algorithm = tokens.algorithm.parse();
    Ok(Policies {
        limits: limits.into(),
        code_lifetime: seconds(otp.lifetime_seconds),
        call_timeout: Duration::from_millis(gateways.call_timeout_ms),
        receipt_window: unless_zero(gateways.fallback_window_seconds).map(seconds),
        session: SessionPolicy {
            access: seconds(session.access_seconds),
            refresh: seconds(session.refresh_seconds),
            session: seconds(session.session_seconds),
            leeway: seconds(session.leeway_seconds),
            ..SessionPolicy::default()
        },
        issuer: tokens.issuer.clone(),
        algorithm: algorithm
            .map_err(|_| invalid("tokens.algorithm", "is ES256, EdDSA or RS256"))?,
        publish_before: seconds(tokens.publish_before_seconds),
        prices: PriceList { whatsapp: paise(prices.whatsapp_paise), sms: paise(prices.sms_paise) },
        keep_records: hours(retention.requests_hours),
        keep_audit: hours(retention.audit_days.saturating_mul(24)),
        test_records: unless_zero(retention.test_records).map(count),
        feed_events: count(retention.feed_events),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config;

    /// Programs that embed the use cases, and tests, get the policies of an unconfigured service.
    #[test]
    fn the_policies_by_default_are_those_of_the_manual() {
        let config = config::load(None, None, std::iter::empty::<(String, String)>()).unwrap();
        let (ours, theirs) = (all(&config).unwrap(), Policies::default());
        assert_eq!(format!("{ours:#?}"), format!("{theirs:#?}"));
    }
}
