use crate::config::{ConfigError, Traces, invalid};
use dwar_kernel::{Clock, Entropy};
use dwar_otlp::{HeaderMap, HeaderName, HeaderValue, Sending, Settings, TraceLayer};
use dwar_system::{SystemClock, SystemEntropy};
use std::sync::Arc;
use std::time::Duration;

/// How long a stop waits for the collector.
const LAST_SPANS: Duration = Duration::from_secs(2);

pub struct Outlet(Option<Sending>);

impl Drop for Outlet {
    fn drop(&mut self) {
        if let Some(sending) = self.0.take() {
            sending.finish(LAST_SPANS);
        }
    }
}

/// Starts sending traces; `None` if no collector is configured.
pub fn open(traces: &Traces) -> Result<Option<(TraceLayer, Outlet)>, ConfigError> {
    let Traces { endpoint: Some(endpoint), header, ratio } = traces else { return Ok(None) };
    let headers = headers(header.expose()).ok_or_else(|| {
        invalid("traces.header", "is a name, a colon and a value, in visible ASCII")
    })?;
    let settings = Settings {
        address: endpoint.as_str().to_owned(),
        headers,
        ratio: *ratio,
        version: env!("CARGO_PKG_VERSION"),
        instance: SystemEntropy::default().uuid(SystemClock.now()).to_string(),
    };
    let started = dwar_otlp::start(settings, Arc::new(SystemClock));
    let (layer, sending) =
        started.map_err(|cause| invalid("traces.endpoint", cause.to_string()))?;
    Ok(Some((layer, Outlet(Some(sending)))))
}

/// Parses `Name: value`; no header if the text is empty, and `None` if it is anything else.
pub fn headers(text: &str) -> Option<HeaderMap> {
    if text.is_empty() {
        return Some(HeaderMap::new());
    }
    let (name, value) = text.split_once(':').filter(|_| text.is_ascii())?;
    let name: HeaderName = name.parse().ok()?;
    let mut value: HeaderValue = value.trim().parse().ok()?;
    value.set_sensitive(true);
    Some([(name, value)].into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::headers;

    #[test]
    fn a_header_is_a_name_and_a_value() {
        let given = headers("Authorization: Basic dXNlcjpwYXNz").unwrap();
        assert_eq!(given["authorization"], "Basic dXNlcjpwYXNz");
        assert_eq!(headers("api-key:k:1").unwrap()["api-key"], "k:1");
        assert!(headers("").unwrap().is_empty());
        for wrong in ["token", ": value", "a name: value", "name: val\nue", "name: välue"] {
            assert!(headers(wrong).is_none(), "{wrong:?}");
        }
    }
}
