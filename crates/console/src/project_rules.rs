use dwar_app::{Policies, check_sms_texts};
use dwar_kernel::is_this_machine;
use dwar_otp::{Channel, InvalidText, Providers};
use dwar_project::{InvalidSetting, Project, ProjectRules, Setting};
use std::sync::Arc;
use std::time::Duration;

/// Longest id of a registered text in characters; DLT content templates have 19 digits.
const LONGEST_TEMPLATE_ID: usize = 64;

/// Makes the function that applies every rule for the settings of a project, given the configured providers.
///
/// Stores call it before they save a change. Previews call it too.
pub fn project_rules(providers: Arc<dyn Providers>, issuers: OwnIssuers) -> ProjectRules {
    Arc::new(move |project| judge(project, providers.as_ref(), &issuers))
}

/// Whether projects can have their own issuers, judged by the settings of the installation.
#[derive(Clone, Debug)]
pub struct OwnIssuers {
    installation: String,
    /// How long a new key is published before it signs.
    publish_before: Duration,
}

/// Longest time until a verifier sees a new key: two hours at API gateways of AWS, 30 minutes at Supabase
/// (docs/own-issuers.md).
const SLOWEST_VERIFIER: Duration = Duration::from_secs(7_200);

impl OwnIssuers {
    /// Takes two policies: the issuer of the installation, and how long a new key is published before it signs.
    pub fn of(policies: &Policies) -> Self {
        Self { installation: policies.issuer.clone(), publish_before: policies.publish_before }
    }

    fn obstacle(&self) -> Option<&'static str> {
        if !is_trusted_address(&self.installation) {
            return Some(
                "tokens.issuer has to be the https:// address of this API, or in development http:// and a \
                 loopback address, without a slash at its end",
            );
        }
        let is_late = self.publish_before < SLOWEST_VERIFIER;
        is_late.then_some(
            "tokens.publish_before_seconds has to be 7200 or more: others may take that long \
             to see a new key",
        )
    }
}

/// Whether the keys at this address cannot be replaced on the way to a verifier. Production refuses
/// an `http://` issuer at startup.
fn is_trusted_address(issuer: &str) -> bool {
    let Some((scheme, rest)) = issuer.split_once("://") else { return false };
    let authority = rest.split('/').next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(address) => address.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    let trusted = scheme == "https" || scheme == "http" && is_this_machine(host);
    trusted && !host.is_empty() && !rest.ends_with('/') && !rest.contains(['?', '#', '@', ' '])
}

/// A sentence about the first of `names` that does not carry `channel`; `None` if all do.
pub fn unknown_provider(
    providers: &dyn Providers,
    channel: Channel,
    names: &[String],
) -> Option<String> {
    let configured = providers.names(channel);
    let name = names.iter().find(|name| !configured.contains(name))?;
    let others = if configured.is_empty() { "none".to_owned() } else { configured.join(", ") };
    let channel = channel.as_str();
    Some(format!("`{name}` is not configured to carry {channel}; configured are: {others}"))
}

fn judge(
    project: &Project,
    providers: &dyn Providers,
    issuers: &OwnIssuers,
) -> Vec<InvalidSetting> {
    let mut faults = Vec::new();
    let mut refuse = |field, reason: String| faults.push(InvalidSetting { field, reason });
    if let Some(reason) = project.get(Setting::Name).fault() {
        refuse("name", reason);
    }
    match check_sms_texts(project) {
        Ok(()) => {}
        Err((Some(line), cause)) => refuse("last_lines", format!("{line}: {cause}")),
        Err((None, cause)) => refuse(field_of(&cause), cause.to_string()),
    }
    if !project.messages.template_id.as_deref().is_none_or(is_template_id) {
        let reason =
            format!("a template id has 1 to {LONGEST_TEMPLATE_ID} visible ASCII characters");
        refuse("sms_template_id", reason);
    }
    if let Some(reason) = issuers.obstacle().filter(|_| project.own_issuer) {
        refuse("own_issuer", reason.to_owned());
    }
    let routing = &project.routing;
    for (field, channel, names) in [
        ("whatsapp_providers", Channel::Whatsapp, &routing.whatsapp),
        ("sms_providers", Channel::Sms, &routing.sms),
    ] {
        let names = names.as_deref().unwrap_or_default();
        if let Some(reason) = unknown_provider(providers, channel, names) {
            refuse(field, reason);
        }
    }
    for setting in Setting::ALL.into_iter().filter(|setting| *setting != Setting::Name) {
        if let Some(reason) = project.get(setting).fault() {
            refuse(setting.as_str(), reason);
        }
    }
    faults
}

fn is_template_id(id: &str) -> bool {
    (1..=LONGEST_TEMPLATE_ID).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic())
}

const fn field_of(cause: &InvalidText) -> &'static str {
    match cause {
        InvalidText::Brand => "brand",
        InvalidText::Language(_) => "language",
        InvalidText::Domain => "webotp_domain",
        InvalidText::AppHash | InvalidText::TwoEndings => "app_hash",
        InvalidText::TooManyEndings => "last_lines",
        InvalidText::Code
        | InvalidText::Placeholder(_)
        | InvalidText::Control
        | InvalidText::TooLongForApp(_)
        | InvalidText::TooManySegments(_) => "sms_text",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_address_with_https_or_on_loopback_is_trusted() {
        for (issuer, taken) in [
            ("https://otp.example.com", true),
            ("https://otp.example.com:8443/auth", true),
            ("http://127.0.0.1:8080", true),
            ("http://localhost", true),
            ("http://[::1]:8080/auth", true),
            ("http://otp.example.com", false),
            ("http://10.0.0.1", false),
            ("http://localhost.example", false),
            ("http://127.0.0.1@example.com", false),
            ("https://otp.example.com/", false),
            ("http://127.0.0.1/", false),
            ("https://", false),
            ("https:///auth", false),
            ("dwar", false),
            ("HTTP://localhost", false),
        ] {
            assert_eq!(is_trusted_address(issuer), taken, "{issuer}");
        }
    }
}
