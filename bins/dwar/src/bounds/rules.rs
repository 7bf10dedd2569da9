use super::{Rule, database_url};
use crate::config::{Config, Secrets};
use crate::strength::{SHOWN_TO_PROVIDERS, Strength, TAKEN_FROM_CALLERS, weakness};
use dwar_gateways::{BaseUrl, Secret};
use dwar_system::MasterKey;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

const fn rule(
    key: &'static str,
    asked: &'static str,
    reason: &'static str,
    broken: fn(&Config) -> Option<String>,
) -> Rule {
    Rule { key, asked, reason, broken }
}

const NO_CONSOLE: &str = "any provider but `console`";
const PRINTS: &str = "the console gateway prints codes";
const ENCRYPTED: &str = "`https://` and a host, or one on this machine; no user, no password";
const ON_THE_WAY: &str = "codes and credentials go there, to this host and no other";
const DRAWN: &str = "32 random bytes: no text, no pattern";
const SEALS: &str = "an attacker who guesses it can read phone numbers and sign tokens; make \
                     one with `openssl rand -base64 32`";
const A_SECRET: &str = "16 characters, 6 of them different, no pattern, no word from manuals";
const FORGED: &str =
    "an attacker who guesses it can forge delivery reports; make one with `openssl rand -hex 32`";
const COUNTED: &str = "an attacker who guesses it can see how many people log in, and over \
                       which providers; make one with `openssl rand -hex 32`";
const GIVEN: &str = "8 characters, 4 of them different, no pattern, no word from manuals";
const SPENDS: &str = "an attacker who guesses it can send messages at your cost";

/// Every rule about a setting that is not a number.
#[rustfmt::skip]
pub const RULES: &[Rule] = &[
    rule("gateways.whatsapp", NO_CONSOLE, PRINTS, |c| console(&c.gateways.whatsapp, "DWAR__GATEWAYS__WHATSAPP")),
    rule("gateways.sms", NO_CONSOLE, PRINTS, |c| console(&c.gateways.sms, "DWAR__GATEWAYS__SMS")),
    rule("gateways.public_url", "`https://`, or this machine", "provider reports, and the tokens that authenticate them, would travel unencrypted", |c| c.gateways.public_url.as_ref().and_then(plain)),
    rule("gateways.whatsapp_cloud.base_url", ENCRYPTED, ON_THE_WAY, |c| plain(&c.gateways.whatsapp_cloud.base_url)),
    rule("gateways.twilio.base_url", ENCRYPTED, ON_THE_WAY, |c| plain(&c.gateways.twilio.base_url)),
    rule("gateways.msg91.base_url", ENCRYPTED, ON_THE_WAY, |c| plain(&c.gateways.msg91.base_url)),
    rule("gateways.gupshup.base_url", ENCRYPTED, ON_THE_WAY, |c| plain(&c.gateways.gupshup.base_url)),
    rule("gateways.whatsapp_cloud.app_secret", A_SECRET, FORGED, |c| weak(&c.gateways.whatsapp_cloud.app_secret, TAKEN_FROM_CALLERS)),
    rule("gateways.whatsapp_cloud.verify_token", A_SECRET, FORGED, |c| weak(&c.gateways.whatsapp_cloud.verify_token, TAKEN_FROM_CALLERS)),
    rule("gateways.twilio.auth_token", A_SECRET, FORGED, |c| weak(&c.gateways.twilio.auth_token, TAKEN_FROM_CALLERS)),
    rule("gateways.msg91.webhook_token", A_SECRET, FORGED, |c| weak(&c.gateways.msg91.webhook_token, TAKEN_FROM_CALLERS)),
    rule("gateways.gupshup.webhook_token", A_SECRET, FORGED, |c| weak(&c.gateways.gupshup.webhook_token, TAKEN_FROM_CALLERS)),
    rule("gateways.whatsapp_cloud.access_token", GIVEN, SPENDS, |c| weak(&c.gateways.whatsapp_cloud.access_token, SHOWN_TO_PROVIDERS)),
    rule("gateways.twilio.api_key_secret", GIVEN, SPENDS, |c| weak(&c.gateways.twilio.api_key_secret, SHOWN_TO_PROVIDERS)),
    rule("gateways.msg91.auth_key", GIVEN, SPENDS, |c| weak(&c.gateways.msg91.auth_key, SHOWN_TO_PROVIDERS)),
    rule("gateways.gupshup.password", GIVEN, SPENDS, |c| weak(&c.gateways.gupshup.password, SHOWN_TO_PROVIDERS)),
    rule("secrets.master_key", "a key of its own beside a server database", "another machine would make a different one; for example `openssl rand -base64 32`", no_key_beside_a_server),
    rule("secrets.master_key", DRAWN, SEALS, |c| guessable(c.secrets.master_key.expose())),
    rule("secrets.lookup_key", DRAWN, "an attacker who guesses it can find phone numbers by \
                                       trying them", |c| guessable(lookup_key(&c.secrets))),
    rule("database.url", "a remote server only with an `sslmode` that never falls back to plain text", "others on the network could read it", |c| database_url::problem(c.database.url.expose())),
    rule("database.direct_url", "a remote server only with an `sslmode` that never falls back to plain text", "others on the network could read it", |c| database_url::problem(c.database.direct_url.expose())),
    rule("database.url", "`sqlite://` or `postgres://`", "`memory:` loses projects, money and logins at every stop", |c| (c.database.url.expose() == database_url::MEMORY).then(|| "is memory:".to_owned())),
    rule("events.allow_private", "`false`", "anyone who adds an endpoint could reach everything that this machine can reach", |c| c.events.allow_private.then(|| "is true".to_owned())),
    rule("dashboard.address", "loopback, unless `dashboard.behind_tls_proxy` is true", "passwords and sessions would cross the network unencrypted", bare_dashboard),
    rule("dashboard.public_url", "`https://`, or this machine", "the secrets of invitations would be typed into a page that others on the network can change", |c| c.dashboard.is_public_in_clear().then(|| "begins with http://".to_owned())),
    rule("tokens.issuer", "a name, or an `https://` address", "keys that others find there could be changed on the way", |c| c.tokens.issuer.starts_with("http://").then(|| "begins with http://".to_owned())),
    rule("metrics.token", A_SECRET, COUNTED, |c| weak_text(c.metrics.token.expose(), TAKEN_FROM_CALLERS)),
    rule("traces.endpoint", ENCRYPTED, "traces say what the service does, for whom and when", |c| c.traces.endpoint.as_ref().and_then(plain)),
    rule("log.level", "`info` at the most", "more detailed levels may log what clients sent and what databases hold", chatty),
];

fn console(providers: &[String], variable: &str) -> Option<String> {
    let named = providers.iter().any(|name| name == "console");
    named.then(|| format!("names console: set it ({variable}) to providers, or to nothing"))
}

fn bare_dashboard(config: &Config) -> Option<String> {
    let address = config.dashboard.address(true)?;
    let exposed = dwar_dashboard::is_exposed(&config.dashboard, address);
    exposed.then(|| format!("{address} can be reached from other machines, without TLS"))
}

fn plain(url: &BaseUrl) -> Option<String> {
    (!url.is_private()).then(|| "would be called unencrypted".to_owned())
}

fn weak(secret: &Secret, asked: Strength) -> Option<String> {
    weak_text(secret.expose(), asked)
}

fn weak_text(secret: &str, asked: Strength) -> Option<String> {
    if secret.is_empty() { None } else { weakness(secret, asked) }
}

/// A text that is not a key at all is refused where keys are parsed.
fn guessable(key: &str) -> Option<String> {
    let key: MasterKey = key.parse().ok()?;
    key.weakness().map(str::to_owned)
}

/// The key of all digests: `secrets.lookup_key`, or else the oldest master key.
fn lookup_key(secrets: &Secrets) -> &str {
    match secrets.lookup_key.expose() {
        "" => secrets.older_master_keys.last().map_or("", Secret::expose),
        key => key,
    }
}

fn no_key_beside_a_server(config: &Config) -> Option<String> {
    let secrets = &config.secrets;
    let server = config.database.url.expose().starts_with("postgres");
    let none = secrets.master_key.is_empty() && secrets.master_key_file.is_empty();
    (server && none).then(|| "is not set (DWAR__SECRETS__MASTER_KEY)".to_owned())
}

/// A level that cannot be parsed is refused where logging starts.
fn chatty(config: &Config) -> Option<String> {
    let filter = EnvFilter::try_new(&config.log.level).ok()?;
    let fine = filter.max_level_hint().is_none_or(|level| level > LevelFilter::INFO);
    fine.then(|| format!("\"{}\" asks for debug or trace", config.log.level))
}
