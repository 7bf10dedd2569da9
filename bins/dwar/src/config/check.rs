//! Refuses values that cannot work in any environment.

use super::{Config, ConfigError, RunMode, invalid};
use crate::bounds::database_url;
use crate::telemetry;
use dwar_gateways::BaseUrl;

/// The error is the end of a sentence about a setting.
type Problem = Result<(), String>;

const ADDRESS: &str = "is HOST:PORT, such as 127.0.0.1:8080";
const HOST: &str = "is a list of host names, without scheme, port and path";
const ISSUER: &str = "is a word, or an address such as https://otp.example.com";
const PUBLIC_URL: &str = "is the address in the browser, such as https://console.example.com";
const TRACED: &str = "is a name, a colon and a value, in printable ASCII";
const HEADER: &str = "goes into an HTTP header, so it is of printable ASCII";
const SEGMENT: &str = "goes into an address, so it is of letters, digits, dots, - and _";

impl Config {
    /// Refuses settings that could not work, or not as intended.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        self.check_numbers()?;
        for (key, judged) in self.texts() {
            judged.map_err(|problem| invalid(key, problem))?;
        }
        let production = self.environment == RunMode::Production;
        if let Some(address) = self.metrics.open_to_others(production) {
            let problem =
                format!("{address} can be reached from other machines: set metrics.token too");
            return Err(invalid("metrics.address", problem));
        }
        Ok(())
    }

    fn check_numbers(&self) -> Result<(), ConfigError> {
        if let Some((key, ..)) = self.numbers().find(|(_, n, bound)| bound.positive && *n == 0) {
            return Err(invalid(key, "must be more than 0"));
        }
        if !(0.0..=1.0).contains(&self.traces.ratio) {
            return Err(invalid("traces.ratio", "must be between 0 and 1"));
        }
        if self.gateways.fixed_minutes.values().any(|minutes| *minutes == 0) {
            return Err(invalid("gateways.fixed_minutes", "must be more than 0"));
        }
        Ok(())
    }

    /// Every setting that is an address or a part of a request, and its problem if it has one.
    fn texts(&self) -> [(&'static str, Problem); 14] {
        let Self { http, dashboard, database, gateways, metrics, tokens, traces, .. } = self;
        let (meta, twilio, msg91) = (&gateways.whatsapp_cloud, &gateways.twilio, &gateways.msg91);
        let direct = Some(database.direct_url.expose()).filter(|url| !url.is_empty());
        let public_url = dashboard.public_url.as_str();
        let is_url = public_url.is_empty() || public_url.parse::<BaseUrl>().is_ok();
        let header = |text: &str| held(is_header(text), HEADER);
        let segment = |text: &str| held(is_segment(text), SEGMENT);
        let traced = telemetry::trace_headers(traces.header.expose());
        [
            ("database.url", database_url::read(database.url.expose()).map(drop)),
            (
                "database.direct_url",
                direct.map_or(Ok(()), |url| database_url::read_server(url).map(drop)),
            ),
            ("http.address", listened(&http.address, &[])),
            ("dashboard.address", listened(&dashboard.address, &["", "auto"])),
            ("metrics.address", listened(&metrics.address, &["auto", "off"])),
            ("dashboard.public_url", held(is_url, PUBLIC_URL)),
            ("dashboard.hosts", held(dashboard.hosts.iter().all(|it| is_host(it)), HOST)),
            ("tokens.issuer", held(is_issuer(&tokens.issuer), ISSUER)),
            ("metrics.token", header(metrics.token.expose())),
            ("traces.header", held(traced.is_some(), TRACED)),
            ("gateways.whatsapp_cloud.access_token", header(meta.access_token.expose())),
            ("gateways.msg91.auth_key", header(msg91.auth_key.expose())),
            ("gateways.whatsapp_cloud.phone_number_id", segment(&meta.phone_number_id)),
            ("gateways.twilio.account_sid", segment(&twilio.account_sid)),
        ]
    }
}

fn held(right: bool, problem: &str) -> Problem {
    if right { Ok(()) } else { Err(problem.to_owned()) }
}

/// Accepts an address that can be listened on, or one of the `words` with another meaning.
fn listened(address: &str, words: &[&str]) -> Problem {
    let is_host = |host: &str| {
        let part = |byte: u8| byte.is_ascii_alphanumeric() || b"-._[]:%".contains(&byte);
        !host.is_empty() && host.bytes().all(part)
    };
    let split = address.rsplit_once(':');
    let right = split.is_some_and(|(host, port)| is_host(host) && port.parse::<u16>().is_ok());
    if right || words.contains(&address) {
        return Ok(());
    }
    let words: String =
        words.iter().filter(|word| !word.is_empty()).map(|it| format!(", or {it}")).collect();
    Err(format!("{ADDRESS}{words}"))
}

fn is_host(host: &str) -> bool {
    !host.contains('/') && format!("http://{host}").parse::<BaseUrl>().is_ok()
}

/// Accepts a text that can be the `iss` of a token: with a colon it has to be a URI (RFC 7519
/// section 2).
fn is_issuer(issuer: &str) -> bool {
    let is_word = |text: &str| {
        let part = |byte: u8| byte.is_ascii_alphanumeric() || b"-._/".contains(&byte);
        !text.is_empty() && text.bytes().all(part)
    };
    is_word(issuer) || issuer.parse::<BaseUrl>().is_ok()
}

fn is_header(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

fn is_segment(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte))
}
