//! The gateways of every provider that is configured, each with its guards.

use super::WiringError;
use super::addresses::{base_url, public_url};
use super::core::Core;
use super::policies;
use crate::config::{self, Config, ConfigError, RunMode, invalid, names, toml_sentence};
use crate::secret::Secret as Configured;
use dwar_app::Routes;
use dwar_gateways::{
    BaseUrl, BreakerGateway, BreakerSettings, BulkheadGateway, ConsoleGateway, DiscreetGateway,
    DiscreetSource, GenericHttpGateway, GenericHttpSettings, GupshupGateway, GupshupSettings,
    HttpClient, HttpClientSettings, Msg91Gateway, Msg91Settings, Msg91Sms, Msg91Template,
    Msg91Variable, Msg91Whatsapp, SandboxGateway, SandboxOptions, Secret, TimedGateway,
    TwilioApiKey, TwilioGateway, TwilioSender, TwilioSettings, TwilioWhatsapp,
    WhatsappCloudGateway, WhatsappCloudSettings, WhatsappTemplate,
};
use dwar_otp::{Channel, Gateway, Hop, ReceiptSource, Route};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Names that no other provider may take, configured or not.
const BUILT_IN: [&str; 6] = ["console", "sandbox", "whatsapp_cloud", "twilio", "msg91", "gupshup"];

/// Everything that talks to providers.
pub struct Providers {
    /// Who carries what.
    pub routes: Routes,
    /// Who reports what became of it.
    pub sources: HashMap<String, Arc<dyn ReceiptSource>>,
}

/// A provider that is configured.
struct Provider {
    gateway: Arc<dyn Gateway>,
    /// Its receipts, if it sends any.
    source: Option<Arc<dyn ReceiptSource>>,
    channels: Vec<Channel>,
}

impl Provider {
    fn new<G: Gateway + ReceiptSource + 'static>(gateway: G, channels: Vec<Channel>) -> Self {
        let gateway = Arc::new(gateway);
        Self { gateway: gateway.clone(), source: Some(gateway), channels }
    }
}

/// The configured providers by name.
type Known = BTreeMap<String, Provider>;

/// Which provider serves which channels, for those who choose among them.
#[derive(Debug)]
pub struct Available(BTreeMap<String, Vec<Channel>>);

impl Available {
    /// The first name that serves nothing over `channel`, as a sentence.
    pub fn objection(&self, channel: Channel, names: &[String]) -> Option<String> {
        let serves =
            |name: &&String| self.0.get(*name).is_some_and(|channels| channels.contains(&channel));
        let name = names.iter().find(|name| !serves(name))?;
        let others = self.0.iter().filter(|(_, channels)| channels.contains(&channel));
        let others: Vec<&str> = others.map(|(name, _)| name.as_str()).collect();
        let others = if others.is_empty() { "none".to_owned() } else { others.join(", ") };
        Some(format!(
            "`{name}` is not configured to carry {}; of those that are there: {others}",
            channel.as_str()
        ))
    }
}

/// Puts every configured provider together.
///
/// # Errors
/// A provider that is named but not configured, or one that could not work.
pub fn build(core: &Core) -> Result<Providers, WiringError> {
    let settings = &core.config.gateways;
    let known = configured(&core.config)?;
    check(settings, &available_of(&known))?;
    let [whatsapp, sms] = settings.providers();
    let sandbox: Arc<dyn Gateway> = Arc::new(sandbox(core));
    let test = sandbox.provider();
    let hops = |channel, names: Vec<String>| {
        names.into_iter().map(move |provider| Hop { channel, provider })
    };
    let window = Duration::from_secs(settings.fallback_window_seconds);
    let route = |whatsapp, sms| Route {
        hops: hops(Channel::Whatsapp, whatsapp).chain(hops(Channel::Sms, sms)).collect(),
        receipt_window: (!window.is_zero()).then_some(window),
        lease: policies::lease(settings),
    };
    let routes = Routes {
        live: route(whatsapp, sms),
        test: route(vec![test.clone()], vec![test.clone()]),
        gateways: guarded(&known, sandbox, core),
    };
    let source = |(name, known): (String, Provider)| {
        let vault = core.parts.tools.vault.clone();
        let source: Arc<dyn ReceiptSource> = Arc::new(DiscreetSource::new(known.source?, vault));
        Some((name, source))
    };
    Ok(Providers { routes, sources: known.into_iter().filter_map(source).collect() })
}

/// The providers that projects may choose from.
///
/// # Errors
/// A configuration that could not work, the lists of providers included.
pub fn available(config: &Config) -> Result<Available, WiringError> {
    let available = available_of(&configured(config)?);
    check(&config.gateways, &available)?;
    Ok(available)
}

/// The providers that report what became of a message, by name.
///
/// # Errors
/// A configuration that could not work.
pub fn reporting(config: &Config) -> Result<Vec<String>, WiringError> {
    let reports = |(name, known): (String, Provider)| known.source.map(|_| name);
    Ok(configured(config)?.into_iter().filter_map(reports).collect())
}

fn available_of(known: &Known) -> Available {
    let channels = |(name, known): (&String, &Provider)| (name.clone(), known.channels.clone());
    Available(known.iter().map(channels).collect())
}

fn check(settings: &config::Gateways, available: &Available) -> Result<(), ConfigError> {
    let [whatsapp, sms] = settings.providers();
    for (key, channel, names) in
        [("gateways.whatsapp", Channel::Whatsapp, whatsapp), ("gateways.sms", Channel::Sms, sms)]
    {
        if let Some(objection) = available.objection(channel, &names) {
            return Err(invalid(key, objection));
        }
    }
    Ok(())
}

/// Each call is bounded in time. Of a real provider nothing it calls a message is kept as it came,
/// it is left alone for a while when it keeps failing, and the number of its calls is bounded: the
/// innermost guard first.
fn guarded(
    known: &Known,
    sandbox: Arc<dyn Gateway>,
    core: &Core,
) -> HashMap<String, Arc<dyn Gateway>> {
    let settings = &core.config.gateways;
    let limit = Duration::from_millis(settings.call_timeout_ms);
    let timed = |gateway| -> Arc<dyn Gateway> { Arc::new(TimedGateway::new(gateway, limit)) };
    let breaker = BreakerSettings {
        faults: settings.breaker_faults,
        cool_down: Duration::from_secs(settings.breaker_cool_down_seconds),
        ..BreakerSettings::default()
    };
    let guard = |(name, known): (&String, &Provider)| -> (String, Arc<dyn Gateway>) {
        let vault = core.parts.tools.vault.clone();
        let timed = timed(Arc::new(DiscreetGateway::new(known.gateway.clone(), vault)));
        let breaker = Arc::new(BreakerGateway::new(timed, breaker));
        (name.clone(), Arc::new(BulkheadGateway::new(breaker, settings.calls_at_once)))
    };
    let mut gateways: HashMap<_, _> = known.iter().map(guard).collect();
    gateways.insert(sandbox.provider(), timed(sandbox));
    gateways
}

fn sandbox(core: &Core) -> SandboxGateway {
    let (tools, stores) = (&core.parts.tools, &core.parts.stores);
    let settings = &core.config.gateways.sandbox;
    SandboxGateway {
        inbox: stores.inbox.clone(),
        receipts: stores.receipts.clone(),
        vault: tools.vault.clone(),
        clock: tools.clock.clone(),
        entropy: tools.entropy.clone(),
        options: SandboxOptions {
            receipt_after: Duration::from_millis(settings.receipt_ms),
            slow_receipt_after: Duration::from_millis(settings.slow_receipt_ms),
        },
    }
}

/// The client of every call to a provider.
///
/// # Errors
/// `gateways.proxy` is no address, or the platform has no TLS.
pub fn http_client(settings: &config::Gateways) -> Result<HttpClient, ConfigError> {
    let client = HttpClient::new(&HttpClientSettings {
        connect_timeout: Duration::from_millis(settings.connect_timeout_ms),
        timeout: Duration::from_millis(settings.call_timeout_ms),
        proxy: given(&settings.proxy),
    });
    client.map_err(|cause| invalid("gateways.proxy", cause.to_string()))
}

fn configured(config: &Config) -> Result<Known, WiringError> {
    let settings = &config.gateways;
    let public_url = public_url(config)?;
    let client = http_client(settings)?;
    let mut known = Known::new();
    let mut add = |provider: Provider| known.insert(provider.gateway.provider(), provider);
    if config.environment == RunMode::Development {
        let gateway = Arc::new(ConsoleGateway::stdout());
        add(Provider { gateway, source: None, channels: BOTH.to_vec() });
    }
    if let Some(cloud) = whatsapp_cloud(&settings.whatsapp_cloud)? {
        let gateway = WhatsappCloudGateway::new(cloud, client.clone());
        add(Provider::new(gateway, vec![Channel::Whatsapp]));
    }
    if let Some(twilio) = twilio(&settings.twilio, public_url)? {
        let channels = channels(twilio.whatsapp.is_some(), twilio.sms.is_some());
        add(Provider::new(TwilioGateway::new(twilio, client.clone()), channels));
    }
    if let Some(msg91) = msg91(&settings.msg91)? {
        let channels = channels(msg91.whatsapp.is_some(), msg91.sms.is_some());
        add(Provider::new(Msg91Gateway::new(msg91, client.clone()), channels));
    }
    if let Some(gupshup) = gupshup(&settings.gupshup)? {
        add(Provider::new(GupshupGateway::new(gupshup, client.clone()), vec![Channel::Sms]));
    }
    for path in names(&settings.generic_files) {
        let gateway = generic(Path::new(&path), client.clone())?;
        let name = Gateway::provider(&gateway);
        if BUILT_IN.contains(&name.as_str()) || known.contains_key(&name) {
            let problem = format!("{path}: there is another provider called `{name}`");
            return Err(invalid("gateways.generic_files", problem).into());
        }
        known.insert(name, Provider::new(gateway, BOTH.to_vec()));
    }
    Ok(known)
}

const BOTH: [Channel; 2] = [Channel::Whatsapp, Channel::Sms];

fn channels(whatsapp: bool, sms: bool) -> Vec<Channel> {
    let carried = |(channel, carried)| if carried { Some(channel) } else { None };
    BOTH.into_iter().zip([whatsapp, sms]).filter_map(carried).collect()
}

fn whatsapp_cloud(
    settings: &config::WhatsappCloud,
) -> Result<Option<WhatsappCloudSettings>, ConfigError> {
    if settings.access_token.expose().is_empty() {
        return Ok(None);
    }
    let templates = templates("gateways.whatsapp_cloud.templates", &settings.templates)?;
    let template = |(name, language)| WhatsappTemplate { name, language };
    // Without it no receipt could be believed, and every code would go out as an SMS too.
    needed("gateways.whatsapp_cloud.app_secret", settings.app_secret.expose())?;
    Ok(Some(WhatsappCloudSettings {
        base_url: base_url("gateways.whatsapp_cloud.base_url", &settings.base_url)?,
        version: settings.version.clone(),
        phone_number_id: needed(
            "gateways.whatsapp_cloud.phone_number_id",
            &settings.phone_number_id,
        )?,
        access_token: secret(&settings.access_token),
        app_secret: secret(&settings.app_secret),
        verify_token: secret(&settings.verify_token),
        templates: templates.into_iter().map(|(tag, pair)| (tag, template(pair))).collect(),
    }))
}

fn twilio(
    settings: &config::Twilio,
    public_url: Option<BaseUrl>,
) -> Result<Option<TwilioSettings>, ConfigError> {
    if settings.auth_token.expose().is_empty() {
        return Ok(None);
    }
    let sender = |text: &str| match text {
        "" => None,
        sid if sid.starts_with("MG") => Some(TwilioSender::MessagingService(sid.to_owned())),
        number => Some(TwilioSender::Number(number.to_owned())),
    };
    let content_sids = pairs("gateways.twilio.whatsapp_templates", &settings.whatsapp_templates)?;
    let whatsapp = sender(&settings.whatsapp_sender);
    Ok(Some(TwilioSettings {
        base_url: base_url("gateways.twilio.base_url", &settings.base_url)?,
        account_sid: needed("gateways.twilio.account_sid", &settings.account_sid)?,
        auth_token: secret(&settings.auth_token),
        api_key: given(&settings.api_key_secret)
            .map(|secret| TwilioApiKey { sid: settings.api_key_sid.clone(), secret }),
        sms: sender(&settings.sms_sender),
        whatsapp: whatsapp.map(|sender| TwilioWhatsapp { sender, content_sids }),
        public_url,
    }))
}

fn msg91(settings: &config::Msg91) -> Result<Option<Msg91Settings>, ConfigError> {
    const VARIABLES: &str = "gateways.msg91.sms_variables";
    if settings.auth_key.expose().is_empty() {
        return Ok(None);
    }
    let variable = |(name, word): (String, String)| match word.as_str() {
        "code" => Ok((name, Msg91Variable::Code)),
        "brand" => Ok((name, Msg91Variable::Brand)),
        "minutes" => Ok((name, Msg91Variable::Minutes)),
        _ => Err(invalid(VARIABLES, format!("`{word}` is not code, brand or minutes"))),
    };
    let variables = pairs(VARIABLES, &settings.sms_variables)?.into_iter().map(variable);
    let variables = variables.collect::<Result<BTreeMap<_, _>, _>>()?;
    let sms = Some(settings.sms_template_id.clone()).filter(|id| !id.is_empty());
    let templates = templates("gateways.msg91.whatsapp_templates", &settings.whatsapp_templates)?;
    let template = |(name, language)| Msg91Template { name, language };
    let number = Some(settings.whatsapp_number.clone()).filter(|number| !number.is_empty());
    Ok(Some(Msg91Settings {
        base_url: base_url("gateways.msg91.base_url", &settings.base_url)?,
        auth_key: secret(&settings.auth_key),
        webhook_token: given(&settings.webhook_token),
        sms: sms.map(|template_id| Msg91Sms { template_id, variables }),
        whatsapp: number.map(|integrated_number| Msg91Whatsapp {
            integrated_number,
            templates: templates.into_iter().map(|(tag, pair)| (tag, template(pair))).collect(),
            namespace: Some(settings.whatsapp_namespace.clone()).filter(|name| !name.is_empty()),
            code_button: settings.whatsapp_code_button,
        }),
    }))
}

fn gupshup(settings: &config::Gupshup) -> Result<Option<GupshupSettings>, ConfigError> {
    let Some(password) = given(&settings.password) else {
        return Ok(None);
    };
    Ok(Some(GupshupSettings {
        base_url: base_url("gateways.gupshup.base_url", &settings.base_url)?,
        user_id: needed("gateways.gupshup.user_id", &settings.user_id)?,
        password,
        sender: Some(settings.sender.clone()).filter(|sender| !sender.is_empty()),
        entity_id: settings.entity_id.clone(),
        template_id: settings.template_id.clone(),
        webhook_token: given(&settings.webhook_token),
    }))
}

fn generic(path: &Path, client: HttpClient) -> Result<GenericHttpGateway, ConfigError> {
    let unusable =
        |problem: &str| invalid("gateways.generic_files", format!("{}: {problem}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|cause| unusable(&cause.to_string()))?;
    let settings: Result<GenericHttpSettings, toml::de::Error> = toml::from_str(&text);
    let settings = settings.map_err(|cause| unusable(&toml_sentence(&text, &cause)))?;
    GenericHttpGateway::new(&settings, client).map_err(|cause| unusable(&cause.to_string()))
}

fn secret(configured: &Configured) -> Secret {
    Secret::new(configured.expose())
}

fn given(configured: &Configured) -> Option<Secret> {
    (!configured.expose().is_empty()).then(|| secret(configured))
}

fn needed(key: &'static str, value: &str) -> Result<String, ConfigError> {
    if value.is_empty() { Err(invalid(key, "is needed")) } else { Ok(value.to_owned()) }
}

/// Reads `TAG=VALUE, TAG=VALUE`.
fn pairs(key: &'static str, list: &str) -> Result<BTreeMap<String, String>, ConfigError> {
    let pair = |entry: String| match entry.split_once('=') {
        Some((tag, value)) if !tag.is_empty() && !value.is_empty() => {
            Ok((tag.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err(invalid(key, format!("`{entry}` is not of the form TAG=VALUE"))),
    };
    names(list).into_iter().map(pair).collect()
}

/// Reads `TAG=NAME/LANGUAGE, …`.
fn templates(
    key: &'static str,
    list: &str,
) -> Result<BTreeMap<String, (String, String)>, ConfigError> {
    let template = |(tag, value): (String, String)| match value.split_once('/') {
        Some((name, language)) => Ok((tag, (name.to_owned(), language.to_owned()))),
        None => Err(invalid(key, format!("`{value}` is not of the form NAME/LANGUAGE"))),
    };
    pairs(key, list)?.into_iter().map(template).collect()
}
