//! The gateways of every configured provider, each with its guards.

use super::error::WiringError;
use crate::config::{Config, ConfigError, RunMode, invalid, text, toml_sentence};
use async_trait::async_trait;
use dwar_app::{Parts, Routes};
use dwar_console::unknown_provider;
use dwar_gateways::{
    BaseUrl, BreakerGateway, BreakerState, BulkheadGateway, CallTimes, ConsoleGateway, GenericHttp,
    GenericHttpSettings, HashedReferences, HttpClient, HttpGateway, LastRefusal, LastRefusals,
    SandboxGateway, Secret, Settings, TimedGateway, Twilio,
};
use dwar_otp::{
    Channel, Gateway, Hop, Probe, ProviderHealth, ProviderRefusal, ReceiptSource, Route,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Names that no other provider may use, configured or not.
const BUILT_IN: [&str; 6] = ["console", SANDBOX, "whatsapp_cloud", "twilio", "msg91", "gupshup"];
/// Words that pages and command line show in place of names.
const NO_PROVIDER: [&str; 2] = ["none", "default"];
/// Longest wait for a connection to a provider, TLS included: twice that of one abroad whose first
/// packet is lost, and short enough that the next provider is still tried within a send.
const CONNECT: Duration = Duration::from_secs(2);
/// The provider of messages with test keys.
const SANDBOX: &str = "sandbox";

pub struct Providers {
    pub routes: Routes,
    pub sources: HashMap<String, Arc<dyn ReceiptSource>>,
    pub carriers: Arc<Carriers>,
}

/// The providers in use, for pages and metrics.
pub struct Carriers {
    available: Available,
    pub breakers: BTreeMap<String, Arc<BreakerGateway>>,
    times: BTreeMap<String, CallTimes>,
}

impl Carriers {
    pub const fn refusals(&self) -> &LastRefusals {
        &self.available.2
    }
}

#[async_trait]
impl dwar_otp::Providers for Carriers {
    fn names(&self, channel: Channel) -> Vec<String> {
        self.available.names(channel)
    }

    fn defaults(&self, channel: Channel) -> Vec<String> {
        self.available.defaults(channel)
    }

    fn template_languages(&self) -> Vec<String> {
        self.available.template_languages()
    }

    fn paused_for(&self, provider: &str) -> Option<Duration> {
        self.breakers.get(provider)?.state().open_for
    }

    fn health(&self, provider: &str) -> ProviderHealth {
        let Some(breaker) = self.breakers.get(provider) else { return ProviderHealth::default() };
        let BreakerState { open_for, calls, faults } = breaker.state();
        let median = self.times.get(provider).and_then(CallTimes::median);
        let refusal = |(age, LastRefusal { reason, status, code })| ProviderRefusal {
            age,
            reason,
            status,
            code,
        };
        let refusals = self.refusals().latest(provider).into_iter().map(refusal).collect();
        ProviderHealth { paused_for: open_for, calls, faults, median, refusals }
    }

    async fn probe(&self, provider: &str) -> Option<Probe> {
        let probe = self.available.0.get(provider)?.gateway.probe().await?;
        if probe.is_answered()
            && let Some(breaker) = self.breakers.get(provider)
        {
            breaker.end_pause();
        }
        Some(probe)
    }
}

struct Provider {
    gateway: Arc<dyn Gateway>,
    /// The source of its receipts, if it sends any.
    source: Option<Arc<dyn ReceiptSource>>,
    channels: Vec<Channel>,
    languages: Vec<String>,
}

impl Provider {
    fn new<G: Gateway + ReceiptSource + 'static>(gateway: G, channels: Vec<Channel>) -> Self {
        let gateway = Arc::new(gateway);
        Self { gateway: gateway.clone(), source: Some(gateway), channels, languages: Vec::new() }
    }

    fn with_templates<T>(self, templates: &BTreeMap<String, T>) -> Self {
        Self { languages: templates.keys().cloned().collect(), ..self }
    }
}

/// The configured providers by name, the routes of projects without their own, and the last
/// refusals of providers.
pub struct Available(BTreeMap<String, Provider>, Usual, LastRefusals);

struct Usual {
    whatsapp: Vec<String>,
    sms: Vec<String>,
}

#[async_trait]
impl dwar_otp::Providers for Available {
    fn names(&self, channel: Channel) -> Vec<String> {
        let serving = self.0.iter().filter(|(_, provider)| provider.channels.contains(&channel));
        serving.map(|(name, _)| name.clone()).collect()
    }

    fn defaults(&self, channel: Channel) -> Vec<String> {
        match channel {
            Channel::Whatsapp => self.1.whatsapp.clone(),
            Channel::Sms => self.1.sms.clone(),
        }
    }

    fn template_languages(&self) -> Vec<String> {
        let over_whatsapp = |one: &&Provider| one.channels.contains(&Channel::Whatsapp);
        let languages = self.0.values().filter(over_whatsapp).flat_map(|one| one.languages.clone());
        languages.collect::<BTreeSet<_>>().into_iter().collect()
    }

    fn paused_for(&self, _: &str) -> Option<Duration> {
        None
    }

    fn health(&self, _: &str) -> ProviderHealth {
        ProviderHealth::default()
    }

    async fn probe(&self, _: &str) -> Option<Probe> {
        None
    }
}

pub fn build(config: &Config, parts: &Parts) -> Result<Providers, WiringError> {
    let settings = &config.gateways;
    let known = available(config)?;
    let sandbox: Arc<dyn Gateway> = Arc::new(sandbox(parts));
    let test = sandbox.provider();
    let hops = |channel, names: Vec<String>| {
        names.into_iter().map(move |provider| Hop::new(channel, provider))
    };
    let policies = &parts.policies;
    let route = |whatsapp, sms| Route {
        hops: hops(Channel::Whatsapp, whatsapp).chain(hops(Channel::Sms, sms)).collect(),
        receipt_window: policies.receipt_window,
        lease: policies.lease(),
    };
    let times: BTreeMap<String, CallTimes> =
        known.0.keys().map(|name| (name.clone(), CallTimes::default())).collect();
    let (gateways, breakers) = guarded(&known, sandbox, &times, config, parts);
    let routes = Routes {
        live: route(settings.whatsapp.clone(), settings.sms.clone()),
        test: route(vec![test.clone()], vec![test.clone()]),
        gateways,
        fixed_minutes: settings.fixed_minutes.clone(),
        login_lifetime: policies.code_lifetime,
    };
    let source = |(name, known): (&String, &Provider)| {
        let vault = parts.tools.vault.clone();
        let inner = known.source.clone()?;
        let source: Arc<dyn ReceiptSource> = Arc::new(HashedReferences { inner, vault });
        Some((name.clone(), source))
    };
    let sources = known.0.iter().filter_map(source).collect();
    Ok(Providers {
        routes,
        sources,
        carriers: Arc::new(Carriers { available: known, breakers, times }),
    })
}

/// The providers that projects may choose; an error if `gateways.whatsapp` or `gateways.sms` names
/// another.
pub fn available(config: &Config) -> Result<Available, WiringError> {
    let available = configured(config)?;
    for (key, channel, names) in [
        ("gateways.whatsapp", Channel::Whatsapp, &config.gateways.whatsapp),
        ("gateways.sms", Channel::Sms, &config.gateways.sms),
    ] {
        if let Some(objection) = unknown_provider(&available, channel, names) {
            return Err(invalid(key, objection).into());
        }
    }
    let known = |name: &str| BUILT_IN.contains(&name) || available.0.contains_key(name);
    if let Some(name) = config.gateways.fixed_minutes.keys().find(|name| !known(name)) {
        let problem = format!("there is no provider called `{name}`");
        return Err(invalid("gateways.fixed_minutes", problem).into());
    }
    Ok(available)
}

/// Every provider that may get messages, by name, including the one for test keys.
pub fn names(config: &Config) -> Result<Vec<String>, WiringError> {
    Ok(configured(config)?.0.into_keys().chain([SANDBOX.to_owned()]).collect())
}

/// The providers that report the fate of messages, by name.
pub fn reporting(config: &Config) -> Result<Vec<String>, WiringError> {
    let reports = |(name, known): (String, Provider)| known.source.map(|_| name);
    Ok(configured(config)?.0.into_iter().filter_map(reports).collect())
}

type Gateways = HashMap<String, Arc<dyn Gateway>>;
type Breakers = BTreeMap<String, Arc<BreakerGateway>>;

/// Wraps each gateway in guards, the innermost first: hashed references of messages, a time limit
/// for each call, a pause for a provider that keeps failing, and a limit of concurrent calls. The
/// gateway of test keys has only the time limit.
fn guarded(
    known: &Available,
    sandbox: Arc<dyn Gateway>,
    times: &BTreeMap<String, CallTimes>,
    config: &Config,
    parts: &Parts,
) -> (Gateways, Breakers) {
    let settings = &config.gateways;
    let timed = |gateway: Arc<dyn Gateway>| -> Arc<dyn Gateway> {
        let (observer, provider) = (parts.tools.observer.clone(), gateway.provider());
        let times = times.get(&provider).cloned().unwrap_or_default();
        let took = Arc::new(move |channel, took| {
            times.note(took);
            observer.called(channel, &provider, took);
        });
        Arc::new(TimedGateway { inner: gateway, limit: parts.policies.call_timeout, took })
    };
    let guard = |(name, known): (&String, &Provider)| {
        let vault = parts.tools.vault.clone();
        let timed = timed(Arc::new(HashedReferences { inner: known.gateway.clone(), vault }));
        (name.clone(), Arc::new(BreakerGateway::new(timed, settings.breaker_faults)))
    };
    let breakers: BTreeMap<_, _> = known.0.iter().map(guard).collect();
    let bulkhead =
        |(name, breaker): (&String, &Arc<BreakerGateway>)| -> (String, Arc<dyn Gateway>) {
            let calls = settings.calls_at_once;
            (
                name.clone(),
                Arc::new(BulkheadGateway::new(Arc::<BreakerGateway>::clone(breaker), calls)),
            )
        };
    let mut gateways: HashMap<_, _> = breakers.iter().map(bulkhead).collect();
    gateways.insert(sandbox.provider(), timed(sandbox));
    (gateways, breakers)
}

fn sandbox(parts: &Parts) -> SandboxGateway {
    let Parts { tools, stores, .. } = parts;
    SandboxGateway {
        inbox: stores.inbox.clone(),
        receipts: stores.receipts.clone(),
        vault: tools.vault.clone(),
        clock: tools.clock.clone(),
        entropy: tools.entropy.clone(),
    }
}

/// The HTTP client of every call to a provider.
pub fn http_client(settings: &Settings) -> Result<HttpClient, ConfigError> {
    let client = HttpClient::new(
        CONNECT,
        Duration::from_millis(settings.call_timeout_ms),
        settings.proxy.as_ref(),
    );
    client.map_err(|cause| invalid("gateways.proxy", cause.to_string()))
}

fn configured(config: &Config) -> Result<Available, WiringError> {
    let Settings { whatsapp_cloud, twilio, msg91, gupshup, generic_files, .. } = &config.gateways;
    let public_url = config.gateways.public_url.clone();
    let client = http_client(&config.gateways)?;
    let refusals = client.refusals();
    let mut known = BTreeMap::new();
    let mut add = |provider: Provider| known.insert(provider.gateway.provider(), provider);
    if config.environment == RunMode::Development {
        let gateway = Arc::new(ConsoleGateway::stdout());
        let channels = BOTH.to_vec();
        add(Provider { gateway, source: None, channels, languages: Vec::new() });
    }
    if !whatsapp_cloud.access_token.is_empty() {
        // Without it no receipt could be verified, and every code would also go out as an SMS.
        needed("gateways.whatsapp_cloud.app_secret", whatsapp_cloud.app_secret.expose())?;
        encrypted("gateways.whatsapp_cloud.base_url", &whatsapp_cloud.base_url)?;
        needed("gateways.whatsapp_cloud.phone_number_id", &whatsapp_cloud.phone_number_id)?;
        let gateway = HttpGateway::new(whatsapp_cloud.clone(), client.clone());
        let provider = Provider::new(gateway, vec![Channel::Whatsapp]);
        add(provider.with_templates(&whatsapp_cloud.templates));
    }
    if !twilio.auth_token.is_empty() {
        encrypted("gateways.twilio.base_url", &twilio.base_url)?;
        needed("gateways.twilio.account_sid", &twilio.account_sid)?;
        let channels = channels(twilio.whatsapp_sender.is_some(), twilio.sms_sender.is_some());
        let vendor = Twilio { settings: twilio.clone(), public_url };
        let provider = Provider::new(HttpGateway::new(vendor, client.clone()), channels);
        add(provider.with_templates(&twilio.whatsapp_templates));
    }
    if !msg91.auth_key.is_empty() {
        encrypted("gateways.msg91.base_url", &msg91.base_url)?;
        let channels = channels(msg91.whatsapp_number.is_some(), msg91.sms_template_id.is_some());
        let provider = Provider::new(HttpGateway::new(msg91.clone(), client.clone()), channels);
        add(provider.with_templates(&msg91.whatsapp_templates));
    }
    if !gupshup.password.is_empty() {
        encrypted("gateways.gupshup.base_url", &gupshup.base_url)?;
        needed("gateways.gupshup.user_id", &gupshup.user_id)?;
        let gateway = HttpGateway::new(gupshup.clone(), client.clone());
        add(Provider::new(gateway, vec![Channel::Sms]));
    }
    for path in generic_files {
        let gateway = generic(path, client.clone())?;
        let name = Gateway::provider(&gateway);
        if NO_PROVIDER.contains(&name.as_str()) {
            return Err(unusable(
                path,
                format!("`{name}` cannot be a provider's name: in routes it means none"),
            )
            .into());
        }
        if BUILT_IN.contains(&name.as_str()) || known.contains_key(&name) {
            return Err(unusable(path, format!("there is another provider called `{name}`")).into());
        }
        known.insert(name, Provider::new(gateway, BOTH.to_vec()));
    }
    let Settings { whatsapp, sms, .. } = &config.gateways;
    Ok(Available(known, Usual { whatsapp: whatsapp.clone(), sms: sms.clone() }, refusals))
}

const BOTH: [Channel; 2] = [Channel::Whatsapp, Channel::Sms];

fn channels(whatsapp: bool, sms: bool) -> Vec<Channel> {
    let carried = |(channel, carried)| if carried { Some(channel) } else { None };
    BOTH.into_iter().zip([whatsapp, sms]).filter_map(carried).collect()
}

fn generic(path: &Path, client: HttpClient) -> Result<HttpGateway<GenericHttp>, ConfigError> {
    let text = text::read(path).map_err(|cause| unusable(path, cause))?;
    let mut settings: GenericHttpSettings =
        toml::from_str(&text).map_err(|cause| unusable(path, toml_sentence(&text, &cause)))?;
    clean(&mut settings).map_err(|problem| unusable(path, problem))?;
    let vendor = GenericHttp::new(settings).map_err(|cause| unusable(path, cause))?;
    Ok(HttpGateway::new(vendor, client))
}

/// Cleans the parts of calls that are settings. The content of calls may contain line breaks.
fn clean(settings: &mut GenericHttpSettings) -> Result<(), String> {
    let plain = |key: &str, given: &str| match text::plain(given) {
        Ok(text) => Ok(text.to_owned()),
        Err(problem) => Err(format!("{key}: {problem}")),
    };
    let GenericHttpSettings { name, secrets, template_id, request, .. } = settings;
    *name = plain("name", name)?;
    request.url = plain("request.url", &request.url)?;
    if let Some(id) = template_id {
        *id = plain("template_id", id)?;
    }
    for (name, secret) in secrets {
        *secret = Secret::new(plain(&format!("secrets.{name}"), secret.expose())?);
    }
    for (name, value) in &mut request.headers {
        (*name, *value) = (plain("request.headers", name)?, plain("request.headers", value)?);
    }
    if let Some((user, password)) = &mut request.basic_auth {
        let key = "request.basic_auth";
        (*user, *password) = (plain(key, user)?, plain(key, password)?);
    }
    Ok(())
}

fn unusable(path: &Path, problem: impl Display) -> ConfigError {
    invalid("gateways.generic_files", format!("{}: {problem}", path.display()))
}

fn needed(key: &'static str, value: &str) -> Result<(), ConfigError> {
    if value.is_empty() { Err(invalid(key, "is needed")) } else { Ok(()) }
}

/// Requires encryption for credentials and codes, unless they stay on this machine.
fn encrypted(key: &'static str, url: &BaseUrl) -> Result<(), ConfigError> {
    match url.is_private() {
        true => Ok(()),
        false => Err(invalid(key, "calls would go unencrypted: it begins with https://")),
    }
}
