//! The gateways of every provider that is configured, each with its time limit and its breaker.

use super::WiringError;
use super::core::Core;
use super::policies;
use crate::config::{self, Config, ConfigError, RunMode, invalid, names};
use crate::secret::Secret as Configured;
use dwar_app::Routes;
use dwar_gateways::{
    BreakerGateway, BreakerSettings, ConsoleGateway, GenericHttpGateway, GenericHttpSettings,
    GupshupGateway, GupshupSettings, HttpClient, HttpClientSettings, Msg91Gateway, Msg91Settings,
    Msg91Sms, Msg91Template, Msg91Variable, Msg91Whatsapp, SandboxGateway, SandboxOptions, Secret,
    TimedGateway, TwilioApiKey, TwilioGateway, TwilioSender, TwilioSettings, TwilioWhatsapp,
    WhatsappCloudGateway, WhatsappCloudSettings, WhatsappTemplate,
};
use dwar_otp::{Channel, Gateway, Hop, Receipt, ReceiptSource, Route};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// Everything that talks to providers.
pub struct Providers {
    /// Who carries what.
    pub routes: Routes,
    /// Who reports what became of it.
    pub sources: HashMap<String, Arc<dyn ReceiptSource>>,
}

/// The providers as they are collected.
#[derive(Default)]
struct Known {
    gateways: HashMap<String, Arc<dyn Gateway>>,
    sources: HashMap<String, Arc<dyn ReceiptSource>>,
}

impl Known {
    fn add<G: Gateway + ReceiptSource + 'static>(&mut self, gateway: G) {
        let gateway = Arc::new(gateway);
        self.sources.insert(ReceiptSource::provider(gateway.as_ref()), gateway.clone());
        self.gateways.insert(Gateway::provider(gateway.as_ref()), gateway);
    }
}

/// Puts every configured provider together; the sandbox reports over `receipts`.
///
/// # Errors
/// A provider that is named but not configured, or one that could not work.
pub fn build(core: &Core, receipts: mpsc::Sender<Receipt>) -> Result<Providers, WiringError> {
    let settings = &core.config.gateways;
    let mut known = configured(&core.config)?;
    let sandbox: Arc<dyn Gateway> = Arc::new(sandbox(core, receipts));
    let test = sandbox.provider();
    known.gateways.insert(test.clone(), sandbox);
    let [whatsapp, sms] = settings.providers();
    for name in whatsapp.iter().chain(&sms) {
        if !known.gateways.contains_key(name) {
            return Err(invalid("gateways.whatsapp and gateways.sms", unknown(name)).into());
        }
    }
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
        gateways: guarded(known.gateways, settings, &test),
    };
    Ok(Providers { routes, sources: known.sources })
}

/// The names of the providers that projects may choose from.
pub fn available(config: &Config) -> Result<Vec<String>, WiringError> {
    let mut names: Vec<String> = configured(config)?.gateways.into_keys().collect();
    names.sort_unstable();
    Ok(names)
}

fn unknown(name: &str) -> String {
    format!(
        "`{name}` is no provider, or its section under [gateways] is not filled in (there are \
         console in development, whatsapp_cloud, twilio, msg91, gupshup, and what \
         gateways.generic_files name)"
    )
}

/// Each call is bounded in time; a real provider that keeps failing is left alone for a while.
fn guarded(
    gateways: HashMap<String, Arc<dyn Gateway>>,
    settings: &config::Gateways,
    sandbox: &str,
) -> HashMap<String, Arc<dyn Gateway>> {
    let limit = Duration::from_millis(settings.call_timeout_ms);
    let breaker = BreakerSettings {
        faults: settings.breaker_faults,
        cool_down: Duration::from_secs(settings.breaker_cool_down_seconds),
        ..BreakerSettings::default()
    };
    let guard = |(name, gateway): (String, Arc<dyn Gateway>)| {
        let timed: Arc<dyn Gateway> = Arc::new(TimedGateway::new(gateway, limit));
        let guarded =
            if name == sandbox { timed } else { Arc::new(BreakerGateway::new(timed, breaker)) };
        (name, guarded)
    };
    gateways.into_iter().map(guard).collect()
}

fn sandbox(core: &Core, receipts: mpsc::Sender<Receipt>) -> SandboxGateway {
    let settings = &core.config.gateways.sandbox;
    let options = SandboxOptions {
        receipt_after: Duration::from_millis(settings.receipt_ms),
        slow_receipt_after: Duration::from_millis(settings.slow_receipt_ms),
        ..SandboxOptions::default()
    };
    let (inbox, tools) = (core.stores.inbox.clone(), &core.tools);
    SandboxGateway::new(inbox, tools.vault.clone(), tools.clock.clone(), receipts, options)
}

fn configured(config: &Config) -> Result<Known, WiringError> {
    let settings = &config.gateways;
    let client = HttpClient::new(&HttpClientSettings {
        connect_timeout: Duration::from_millis(settings.connect_timeout_ms),
        timeout: Duration::from_millis(settings.call_timeout_ms),
        proxy: given(&settings.proxy),
    });
    let client = client.map_err(|cause| invalid("gateways.proxy", cause.to_string()))?;
    let mut known = Known::default();
    if config.environment == RunMode::Development {
        let console = ConsoleGateway::stdout();
        known.gateways.insert(console.provider(), Arc::new(console));
    }
    if let Some(cloud) = whatsapp_cloud(&settings.whatsapp_cloud)? {
        known.add(WhatsappCloudGateway::new(cloud, client.clone()));
    }
    if let Some(twilio) = twilio(&settings.twilio, &settings.public_url)? {
        known.add(TwilioGateway::new(twilio, client.clone()));
    }
    if let Some(msg91) = msg91(&settings.msg91)? {
        known.add(Msg91Gateway::new(msg91, client.clone()));
    }
    if let Some(gupshup) = gupshup(&settings.gupshup) {
        known.add(GupshupGateway::new(gupshup, client.clone()));
    }
    for path in names(&settings.generic_files) {
        known.add(generic(Path::new(&path), client.clone())?);
    }
    Ok(known)
}

fn whatsapp_cloud(
    settings: &config::WhatsappCloud,
) -> Result<Option<WhatsappCloudSettings>, ConfigError> {
    if settings.access_token.expose().is_empty() {
        return Ok(None);
    }
    let templates = templates("gateways.whatsapp_cloud.templates", &settings.templates)?;
    let template = |(name, language)| WhatsappTemplate { name, language };
    Ok(Some(WhatsappCloudSettings {
        base_url: settings.base_url.clone(),
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
    public_url: &str,
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
        base_url: settings.base_url.clone(),
        account_sid: needed("gateways.twilio.account_sid", &settings.account_sid)?,
        auth_token: secret(&settings.auth_token),
        api_key: given(&settings.api_key_secret)
            .map(|secret| TwilioApiKey { sid: settings.api_key_sid.clone(), secret }),
        sms: sender(&settings.sms_sender),
        whatsapp: whatsapp.map(|sender| TwilioWhatsapp { sender, content_sids }),
        public_url: (!public_url.is_empty()).then(|| public_url.to_owned()),
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
        base_url: settings.base_url.clone(),
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

fn gupshup(settings: &config::Gupshup) -> Option<GupshupSettings> {
    let password = given(&settings.password)?;
    Some(GupshupSettings {
        base_url: settings.base_url.clone(),
        user_id: settings.user_id.clone(),
        password,
        sender: Some(settings.sender.clone()).filter(|sender| !sender.is_empty()),
        entity_id: settings.entity_id.clone(),
        template_id: settings.template_id.clone(),
        webhook_token: given(&settings.webhook_token),
    })
}

fn generic(path: &Path, client: HttpClient) -> Result<GenericHttpGateway, ConfigError> {
    let unusable =
        |problem: &str| invalid("gateways.generic_files", format!("{}: {problem}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|cause| unusable(&cause.to_string()))?;
    let settings: Result<GenericHttpSettings, toml::de::Error> = toml::from_str(&text);
    let settings = settings.map_err(|cause| unusable(cause.message()))?;
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
