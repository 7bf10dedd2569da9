//! A project, for a program and for a person.

use super::answer::instant;
use dwar_app::sms_text_of;
use dwar_project::Project;
use dwar_wallet::Paise;
use serde_json::{Value, json};

/// What the length of a text is shown for.
const MINUTES: u32 = 10;

pub fn json_of(project: &Project) -> Value {
    let (messages, routing) = (&project.messages, &project.routing);
    json!({
        "project_id": project.id.to_string(),
        "name": project.name,
        "identity_lookup": project.identity_lookup,
        "identity_delete": project.identity_delete,
        "whatsapp_price_paise": project.prices.whatsapp.map(|paise| paise.0),
        "sms_price_paise": project.prices.sms.map(|paise| paise.0),
        "brand": messages.brand,
        "language": messages.language,
        "sms_text": messages.text,
        "sms_template_id": messages.template_id,
        "webotp_domain": messages.domain,
        "app_hash": messages.app_hash,
        "sms_parts": sms_text_of(project).ok().map(|text| text.segments(MINUTES).parts),
        "whatsapp_providers": routing.whatsapp,
        "sms_providers": routing.sms,
        "fallback_seconds": routing.fallback_seconds,
        "low_balance_paise": project.low_balance.map(|paise| paise.0),
        "created_at": instant(project.created_at),
    })
}

pub fn text_of(project: &Project) -> String {
    let (messages, routing) = (&project.messages, &project.routing);
    let switch = |on: bool| if on { "on" } else { "off" }.to_owned();
    let price = |own: Option<Paise>| own.map(|paise| paise.to_string());
    let list = |own: &Option<Vec<String>>| {
        own.as_ref().map(|names| match names.as_slice() {
            [] => "none".to_owned(),
            names => names.join(", "),
        })
    };
    let or = |own: Option<String>, default: &str| own.unwrap_or_else(|| default.to_owned());
    let sms = match sms_text_of(project) {
        Ok(text) => text.segments(MINUTES).to_string(),
        Err(cause) => format!("cannot be sent: {cause}"),
    };
    let fallback = routing.fallback_seconds.map(|seconds| match seconds {
        0 => "never".to_owned(),
        seconds => format!("after {seconds} s without a receipt"),
    });
    let rows = [
        ("Project", format!("{} ({})", project.name, project.id)),
        ("Identity look-up", switch(project.identity_lookup)),
        ("Identity deletion", switch(project.identity_delete)),
        ("WhatsApp price", or(price(project.prices.whatsapp), AS_CONFIGURED)),
        ("SMS price", or(price(project.prices.sms), AS_CONFIGURED)),
        ("WhatsApp over", or(list(&routing.whatsapp), AS_CONFIGURED)),
        ("SMS over", or(list(&routing.sms), AS_CONFIGURED)),
        ("SMS as fallback", or(fallback, AS_CONFIGURED)),
        ("Brand", or(messages.brand.clone(), "the project's name")),
        ("Language", or(messages.language.clone(), "en")),
        ("SMS text", or(messages.text.clone(), "the language's own")),
        ("SMS length", sms),
        ("SMS template id", or(messages.template_id.clone(), AS_CONFIGURED)),
        ("WebOTP domain", or(messages.domain.clone(), "none")),
        ("Android app hash", or(messages.app_hash.clone(), "none")),
        ("Low balance", or(price(project.low_balance), "tells nothing")),
    ];
    let lines = rows.iter().map(|(name, value)| format!("{name:<18} {value}"));
    lines.collect::<Vec<_>>().join("\n")
}

const AS_CONFIGURED: &str = "as configured";
