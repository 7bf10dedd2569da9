//! The filters in the addresses of activity.

use super::wallet_statement::instant;
use crate::address::query;
use dwar_console::{FailedFor, RequestFilter};
use dwar_kernel::{KeyMode, words};
use dwar_otp::{Channel, DeliveryStatus, OtpState};
use serde::Deserialize;

words! {
    /// A filter with a name of its own in the URL.
    RequestView {
        /// Requests of both modes with any outcome.
        All = "all",
        Failed = "failed",
        /// Sends that were refused, for which there is no request.
        Refused = "refused",
        Verified = "verified",
        /// Usable and not used yet.
        Unused = "unused",
    }
}

/// The fields of the filter. An empty or unknown value matches all.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct FilterForm {
    pub(super) view: String,
    pub(super) status: String,
    pub(super) reason: String,
    pub(super) channel: String,
    pub(super) provider: String,
    /// The first minute and the first one after the range, in Indian time.
    pub(super) from: String,
    pub(super) until: String,
    pub(super) before: String,
    pub(super) after: String,
}

impl FilterForm {
    pub(super) fn view(&self) -> Option<RequestView> {
        RequestView::from_word(&self.view)
    }

    pub(super) fn filter(&self, mode: KeyMode) -> RequestFilter {
        let (provider, view) = (self.provider.trim(), self.view());
        let is = |wanted| view == Some(wanted);
        let status = DeliveryStatus::from_word(&self.status);
        RequestFilter {
            mode: (!is(RequestView::All)).then_some(mode),
            status: status.or(is(RequestView::Failed).then_some(DeliveryStatus::Failed)),
            state: match view {
                Some(RequestView::Verified) => Some(OtpState::Used),
                Some(RequestView::Unused) => Some(OtpState::Active),
                _ => None,
            },
            failed: FailedFor::from_word(&self.reason),
            channel: Channel::from_word(&self.channel),
            provider: (!provider.is_empty()).then(|| provider.to_owned()),
            since: instant(&self.from, 0).ok().flatten(),
            until: instant(&self.until, 1).ok().flatten(),
        }
    }

    /// Another view of the same time, without other filters.
    pub(super) fn viewed(&self, view: Option<RequestView>) -> Self {
        let view = view.map_or_else(String::new, |view| view.to_string());
        let (from, until) = (self.from.clone(), self.until.clone());
        Self { view, from, until, ..Self::default() }
    }

    /// The query of the same filter in this mode, with one more field.
    pub(super) fn query(&self, mode: KeyMode, more: (&str, &str)) -> String {
        query([
            ("mode", mode.as_str()),
            ("view", &self.view),
            ("status", &self.status),
            ("reason", &self.reason),
            ("channel", &self.channel),
            ("provider", &self.provider),
            ("from", &self.from),
            ("until", &self.until),
            more,
        ])
    }
}
