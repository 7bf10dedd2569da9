//! The service of a run, with a secret in every setting that can have one, and all its clients.

use crate::canary::echo::{self, Echo};
use crate::canary::secrets::Secrets;
use crate::common::{
    Answer, Collector, Database, Endpoint, PASSWORD, Play, Project, Service, TOKEN, Vendor, World,
    note_run, taken_apart,
};
use crate::doors::stage::{PHONE, Stage};
use dwar_testkit::reserved_port;
use reqwest::RequestBuilder;
use serde_json::Value;
use std::sync::{Mutex, MutexGuard};

pub const MASTER_KEY: &str = "Vg4Xk0rYfFz1P8mJq7yq2cS0hVd3Zk9uLw5t1oRb6nE=";
pub const LOOKUP_KEY: &str = "p7cR2vXq9LkZ0sYtM4wFhJ8bN3eD6gUa1oKiT5xWlQY=";
pub const APP_SECRET: &str = "app-secret-Wd7hQz2LmT";
pub const VERIFY_TOKEN: &str = "verify-token-Jx4RkP9s";
pub const TWILIO_TOKEN: &str = "twilio-token-Nb3VyC8f";
pub const MSG91_TOKEN: &str = "msg91-receipts-Tq6ZwH1d";
pub const GUPSHUP_TOKEN: &str = "gupshup-receipts-Xe5KuM2a";
pub const METRICS_TOKEN: &str = "metrics-token-Wd4LoP9c";
/// The address of every visitor.
pub const VISITOR: &str = "2001:db8:5f3a:9c71::2d4e";
/// The number at WhatsApp that receipts have to be about.
pub const NUMBER: &str = "1065403522";

const CREDENTIALS: &[(&str, &str)] = &[
    ("METRICS__TOKEN", METRICS_TOKEN),
    ("TRACES__HEADER", "Authorization: Bearer collector-token-Mi7QaV5h"),
    ("SECRETS__MASTER_KEY", MASTER_KEY),
    ("SECRETS__LOOKUP_KEY", LOOKUP_KEY),
    ("GATEWAYS__WHATSAPP_CLOUD__ACCESS_TOKEN", "meta-access-Gp9YtE4v"),
    ("GATEWAYS__WHATSAPP_CLOUD__APP_SECRET", APP_SECRET),
    ("GATEWAYS__WHATSAPP_CLOUD__VERIFY_TOKEN", VERIFY_TOKEN),
    ("GATEWAYS__TWILIO__AUTH_TOKEN", TWILIO_TOKEN),
    ("GATEWAYS__MSG91__AUTH_KEY", "msg91-auth-key-Rk2JsD7n"),
    ("GATEWAYS__MSG91__WEBHOOK_TOKEN", MSG91_TOKEN),
    ("GATEWAYS__GUPSHUP__PASSWORD", "gupshup-password-Hv8BxQ3w"),
    ("GATEWAYS__GUPSHUP__WEBHOOK_TOKEN", GUPSHUP_TOKEN),
    ("GATEWAYS__TWILIO__API_KEY_SECRET", "twilio-api-secret-Ft1MzU6c"),
];

const SETTINGS: &[(&str, &str)] = &[
    ("LOG__LEVEL", "trace"),
    // Messages of the stage are sent only by SMS, and so are charged at once.
    ("GATEWAYS__WHATSAPP", ""),
    ("DASHBOARD__ADDRESS", "127.0.0.1:0"),
    ("METRICS__ADDRESS", "127.0.0.1:0"),
    ("TRACES__RATIO", "1"),
    ("EVENTS__ALLOW_PRIVATE", "true"),
    ("GATEWAYS__GENERIC_FILES", "wa.toml,text.toml,echo.toml"),
    ("GATEWAYS__CALL_TIMEOUT_MS", "2000"),
    ("GATEWAYS__FALLBACK_WINDOW_SECONDS", "2"),
    ("GATEWAYS__BREAKER_FAULTS", "1000000"),
    ("GATEWAYS__WHATSAPP_CLOUD__PHONE_NUMBER_ID", NUMBER),
    ("GATEWAYS__TWILIO__ACCOUNT_SID", "AC0"),
    ("GATEWAYS__TWILIO__API_KEY_SID", "SK0"),
    ("GATEWAYS__TWILIO__SMS_SENDER", "DWAROT"),
    ("GATEWAYS__TWILIO__WHATSAPP_SENDER", "MG0"),
    ("GATEWAYS__TWILIO__WHATSAPP_TEMPLATES", "{ en = \"HX0\" }"),
    ("GATEWAYS__MSG91__SMS_TEMPLATE_ID", "flow"),
    ("GATEWAYS__MSG91__WHATSAPP_NUMBER", "MSG91WA"),
    ("GATEWAYS__MSG91__WHATSAPP_TEMPLATES", "{ en = { name = \"login\", language = \"en\" } }"),
    ("GATEWAYS__GUPSHUP__USER_ID", "user"),
    ("GATEWAYS__GUPSHUP__ENTITY_ID", "entity"),
    ("GATEWAYS__GUPSHUP__TEMPLATE_ID", "template"),
    ("LIMITS__TEST__GENERAL_PER_MINUTE", "100000"),
    ("LIMITS__LIVE__GENERAL_PER_MINUTE", "100000"),
    ("LIMITS__TEST__VALIDATE_PER_MINUTE", "100000"),
    ("LIMITS__TEST__SEND", "1000"),
    ("TOKENS__ISSUER", "https://otp.example.com"),
    ("TOKENS__PUBLISH_BEFORE_SECONDS", "7200"),
];

pub struct House {
    /// An active project, every subject of commands, and operators with every right.
    pub stage: Stage,
    /// A project whose messages go by WhatsApp first, to a vendor that refuses some of them.
    pub carried: Project,
    /// A project whose providers echo what they get.
    pub echoed: Project,
    pub vendor: Vendor,
    pub echo: Echo,
    pub endpoint: Endpoint,
    pub collector: Collector,
    secrets: Mutex<Secrets>,
}

impl House {
    pub async fn open(database: Database) -> Self {
        let port = reserved_port();
        let vendor = Vendor::start(port, play).await;
        let (echo, endpoint) = (Echo::start().await, Endpoint::start().await);
        let collector = Collector::start().await;
        let url = format!("http://127.0.0.1:{port}");
        let mut world = vendor.carry(World::new(database));
        for (name, value) in SETTINGS.iter().chain(CREDENTIALS) {
            world = world.with(&format!("DWAR__{name}"), value);
        }
        for provider in ["WHATSAPP_CLOUD", "TWILIO", "MSG91", "GUPSHUP"] {
            world = world.with(&format!("DWAR__GATEWAYS__{provider}__BASE_URL"), &echo.url);
        }
        echo.describe(world.database.folder());
        let world = world
            .with("DWAR__HTTP__ADDRESS", &format!("127.0.0.1:{port}"))
            .with("DWAR__TRACES__ENDPOINT", &collector.url)
            .with("DWAR__GATEWAYS__PUBLIC_URL", &url);
        let stage = Stage::of(Service::start_in(world)).await;
        let [carried, echoed] = ["1000", "1000"].map(|rupees| stage.service.world.project(rupees));
        let mut secrets = Secrets::default();
        secrets.add("what a provider reports by", TOKEN);
        secrets.add("what a provider is called with", echo::API_KEY);
        secrets.add("a password", PASSWORD);
        secrets.add("the address of a visitor", VISITOR);
        secrets.add_phone(PHONE);
        for (name, secret) in CREDENTIALS {
            secrets.add(name, secret);
        }
        let secrets = Mutex::new(secrets);
        let house = Self { stage, carried, echoed, vendor, echo, endpoint, collector, secrets };
        house.furnish();
        house
    }

    /// Switches on the features that are off by default.
    fn furnish(&self) {
        let world = &self.service().world;
        for project in [&self.stage.ours, &self.carried, &self.echoed] {
            let of = ["--project", project.id.as_str()];
            let reading =
                ["--identity-lookup", "on", "--identity-delete", "on", "--events-feed", "on"];
            let relay = ["--relay-live", "on", "--relay-test", "on", "--own-issuer", "on"];
            let guard = ["--guard", "watch"];
            world.cli(&[&["project", "set"][..], &of, &reading, &relay, &guard].concat());
            for url in [&self.endpoint.url, &format!("{}/events", self.echo.url)] {
                let add = ["webhook", "add", "--full-phone", "--url", url];
                world.cli(&[&add[..], &of].concat());
            }
        }
        for (project, whatsapp, sms) in [
            (&self.carried, "wa", "text"),
            (&self.echoed, "whatsapp_cloud,twilio,msg91", "twilio,msg91,gupshup,echo"),
        ] {
            let set = ["project", "set", "--project", &project.id];
            let providers = ["--whatsapp-providers", whatsapp, "--sms-providers", sms];
            world.cli(&[&set[..], &providers].concat());
        }
    }

    pub fn service(&self) -> &Service {
        &self.stage.service
    }

    pub fn secrets(&self) -> MutexGuard<'_, Secrets> {
        self.secrets.lock().unwrap()
    }

    /// A new number, which is to stay secret.
    pub fn phone(&self) -> String {
        let phone = self.service().world.phone();
        self.secrets().add_phone(&phone);
        phone
    }

    /// The code in the newest message to a phone.
    pub async fn code(&self, key: &str, phone: &str) -> String {
        if key.starts_with("svc_test_") {
            return self.service().code(key, phone).await;
        }
        let taken = self.vendor.taken();
        let message = taken.iter().rev().find(|taken| taken.to.ends_with(phone));
        message.expect("a message to that phone").text[..6].to_owned()
    }

    /// A whole login on the running service, by the command that shows one.
    pub fn try_it(&self) {
        let world = &self.service().world;
        let mut command = world.command(&["try", "--url", &self.service().base]);
        let output = command.env("DWAR_KEY", &self.carried.test).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        note_run(&["try"], &output);
    }

    /// Sends a request that no document has to describe.
    pub async fn ask(&self, request: RequestBuilder) -> Answer {
        taken_apart(request.send().await.unwrap()).await
    }
}

/// The vendor's reaction to a message over WhatsApp, by the last digit of its phone. It accepts
/// every SMS.
fn play(provider: &str, phone: &str) -> Play {
    match phone.bytes().last().filter(|_| provider == "wa") {
        Some(b'0') => Play::NotOnChannel,
        Some(b'1') => Play::Unavailable,
        Some(b'2') => Play::FailLater,
        Some(b'3') => Play::TakeAndMumble,
        Some(b'4') => Play::TakeAndReset,
        _ => Play::Deliver,
    }
}

pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}
