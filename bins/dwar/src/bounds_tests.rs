use super::*;
use crate::config::{Config, DEFAULTS, built_in, holds_secret, load};
use std::collections::BTreeSet;

fn production(pairs: &[(&str, &str)]) -> Result<Config, String> {
    let safe = [
        ("environment", "production"),
        ("gateways.whatsapp", ""),
        ("gateways.sms", ""),
        ("secrets.master_key", "Vg4Xk0rYfFz1P8mJq7yq2cS0hVd3Zk9uLw5t1oRb6nE="),
    ];
    let variable = |(key, value): (&str, &str)| {
        (format!("DWAR__{}", key.to_uppercase().replace('.', "__")), value.to_owned())
    };
    let all = safe.into_iter().chain(pairs.iter().copied()).map(variable);
    load(None, None, all).map_err(|refused| refused.to_string())
}

fn bounds() -> impl Iterator<Item = (String, Bound)> {
    let numbers: Vec<_> = built_in([]).unwrap().numbers().collect();
    numbers.into_iter().map(|(key, _, bound)| (key, bound))
}

fn numbers_of(defaults: &toml::Table, prefix: &str) -> BTreeSet<String> {
    let below = defaults.iter().flat_map(|(name, value)| match value {
        toml::Value::Table(table) => numbers_of(table, &format!("{prefix}{name}.")),
        toml::Value::Integer(_) => [format!("{prefix}{name}")].into(),
        _ => BTreeSet::new(),
    });
    below.collect()
}

#[test]
fn every_number_of_the_configuration_has_a_bound() {
    let bounded = bounds().map(|(key, _)| key).collect();
    assert_eq!(numbers_of(&DEFAULTS.parse().unwrap(), ""), bounded);
}

/// Every setting that contains text or a list of texts.
fn texts_of(defaults: &toml::Table, prefix: &str) -> BTreeSet<String> {
    let below = defaults.iter().flat_map(|(name, value)| match value {
        toml::Value::Table(table) => texts_of(table, &format!("{prefix}{name}.")),
        toml::Value::String(_) | toml::Value::Array(_) => [format!("{prefix}{name}")].into(),
        _ => BTreeSet::new(),
    });
    below.collect()
}

/// Recognises secrets and addresses by the behaviour of their types, so that a setting which an
/// adapter adds is found under any name.
#[test]
fn every_secret_and_every_address_that_is_called_has_a_rule() {
    const WITHOUT: [(&str, &str); 3] = [
        ("secrets.older_master_keys", "a weak key must open what it sealed until it is replaced"),
        ("gateways.proxy", "what goes through it is encrypted from end to end"),
        ("traces.header", "the operator of the collector makes it"),
    ];
    let set = |key: &str, value: &str| {
        let variable = format!("DWAR__{}", key.to_uppercase().replace('.', "__"));
        load(None, None, [(variable, value)]).ok()
    };
    let is_secret = |key: &String| {
        let values = ["canary", "postgres://:canary@127.0.0.1", "name: canary"];
        let config = values.iter().find_map(|value| set(key, value));
        config.is_some_and(|config| !format!("{config:?}").contains("canary"))
    };
    let is_address =
        |key: &String| set(key, "https://canary.example").is_some() && set(key, "canary").is_none();
    let texts = texts_of(&DEFAULTS.parse().unwrap(), "");
    let found: BTreeSet<&str> =
        texts.iter().filter(|key| is_secret(key) || is_address(key)).map(String::as_str).collect();
    let ruled: BTreeSet<&str> = RULES.iter().map(|rule| rule.key).collect();
    let unruled: BTreeSet<&str> = found.difference(&ruled).copied().collect();
    assert_eq!(unruled, WITHOUT.map(|(key, _)| key).into());
    let unprotected: Vec<_> =
        texts.iter().filter(|key| is_secret(key) && !holds_secret(key)).collect();
    assert!(unprotected.is_empty(), "files that hold {unprotected:?} may be readable by everyone");
    // The search above works.
    for known in ["gateways.msg91.base_url", "gateways.msg91.auth_key", "database.url"] {
        assert!(found.contains(known), "{known}: {found:?}");
    }
}

#[test]
fn production_takes_each_number_up_to_its_bound_and_not_one_beyond() {
    for (key, Bound { takes, reason, .. }) in bounds() {
        let key = key.as_str();
        let (least, most) = takes.into_inner();
        let with = |value: u64| production(&[(key, &value.to_string())]);
        for inside in [least, most] {
            assert!(with(inside).is_ok(), "{key} = {inside}: {:?}", with(inside));
        }
        let beyond = [least.checked_sub(1), most.checked_add(1)];
        for outside in beyond.into_iter().flatten() {
            let refused = with(outside).unwrap_err();
            assert!(refused.contains(key), "{refused}");
            // Some values are refused in every environment.
            if refused.starts_with("production refuses") {
                let value = outside.to_string();
                assert!(refused.contains(&value) && refused.contains(reason), "{refused}");
            }
        }
    }
}

#[test]
fn the_defaults_without_the_console_gateway_are_fit_for_production() {
    let config = production(&[]).unwrap();
    let noted: Vec<_> = remarks(&config).collect();
    assert!(config.objections.is_empty() && noted.len() == 1, "{noted:?}");
    assert!(noted[0].starts_with("tokens.issuer: "), "{noted:?}");
    let with_issuer = production(&[("tokens.issuer", "https://otp.example.com")]).unwrap();
    assert!(with_issuer.objections.is_empty() && remarks(&with_issuer).next().is_none());
    let development = load(None, None, std::iter::empty::<(String, String)>()).unwrap();
    let keys: Vec<_> =
        development.objections.iter().map(|o| o.split(':').next().unwrap()).collect();
    assert_eq!(keys, ["gateways.whatsapp", "gateways.sms"]);
}

#[test]
fn production_refuses_each_unsafe_setting_and_keeps_secrets_to_itself() {
    let zeros = "A".repeat(43) + "=";
    let counted = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
    let repeated = "0123456789abcdef".repeat(4);
    let text = "Y29ycmVjdCBob3JzZSBiYXR0ZXJ5IHN0YXBsZSA0MiE=";
    for (key, value, secret) in [
        ("secrets.master_key", zeros.as_str(), true),
        ("secrets.master_key", counted, true),
        ("secrets.master_key", &repeated, true),
        ("secrets.master_key", text, true),
        ("secrets.lookup_key", &zeros, true),
        ("gateways.msg91.webhook_token", "x", true),
        ("gateways.msg91.webhook_token", "x4x4x4x4x4x4x4x4x4x4x4x4", true),
        ("gateways.gupshup.webhook_token", "0123456789abcdefghij", true),
        ("gateways.whatsapp_cloud.verify_token", "my-verify-token-2026", true),
        ("gateways.whatsapp_cloud.app_secret", "f3e1", true),
        ("gateways.twilio.auth_token", "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz", true),
        ("gateways.gupshup.password", "MyPassword1", true),
        ("gateways.msg91.auth_key", "12345678", true),
        ("gateways.whatsapp", "whatsapp_cloud, console", false),
        ("gateways.msg91.base_url", "http://control.msg91.com", false),
        ("gateways.public_url", "http://otp.example.com", false),
        ("traces.endpoint", "http://otel.example.com:4318", false),
        ("database.url", "postgres://dwar:7hG2kPq9@db.example/dwar", true),
        ("database.url", "postgres://dwar:change-me@127.0.0.1/dwar", true),
        ("database.url", "memory:", false),
        ("events.allow_private", "true", false),
        ("dashboard.address", "0.0.0.0:8081", false),
        ("dashboard.address", "192.0.2.1:8081", false),
        ("dashboard.public_url", "http://console.example.com", false),
        ("tokens.issuer", "http://otp.example.com", false),
        ("tokens.issuer", "http://127.0.0.1:8080", false),
        ("metrics.token", "my-token", true),
        ("log.level", "trace", false),
        ("log.level", "info,dwar_http=debug", false),
        ("log.level", "warn,[request{phone=x}]=debug", false),
    ] {
        let refused = production(&[(key, value)]).unwrap_err();
        assert!(refused.contains(&format!("\n  {key}: ")), "{key} = {value}: {refused}");
        // The sentence may contain a value of one letter by chance.
        assert!(!secret || value.len() < 4 || !refused.contains(value), "{refused}");
    }
    // None of these is a valid address.
    for (key, value) in [
        ("gateways.twilio.base_url", "http://localhost:x@evil.example"),
        ("gateways.twilio.base_url", "https://localhost:x@evil.example"),
        ("gateways.gupshup.base_url", "enterprise.smsgupshup.com"),
        ("gateways.whatsapp_cloud.base_url", "ftp://graph.facebook.com"),
    ] {
        let refused = production(&[(key, value)]).unwrap_err();
        assert!(refused.starts_with(&format!("{key}: it ")), "{key} = {value}: {refused}");
    }
    // A master key that is being replaced may be weak. The lookup key may not, and without `secrets.lookup_key` the
    // oldest master key is the lookup key.
    let older = ("secrets.older_master_keys", zeros.as_str());
    assert!(production(&[older]).unwrap_err().contains("secrets.lookup_key"));
    let lookup = ("secrets.lookup_key", "kq3Nf0wqkV7c2Zp8yH1tXe5RbJm9uLs4GdA6oTiVwYc=");
    assert!(production(&[older, lookup]).is_ok());
}

#[test]
fn production_takes_what_providers_and_openssl_give() {
    for (key, value) in [
        ("gateways.msg91.webhook_token", "9f86d081884c7d659a2feaa0c55ad015"),
        ("gateways.whatsapp_cloud.app_secret", "9f86d081884c7d659a2feaa0c55ad015"),
        ("gateways.gupshup.password", "tY7#kw2p"),
        ("gateways.twilio.base_url", "https://api.dublin.ie1.twilio.com/"),
        ("gateways.msg91.base_url", "http://127.0.0.1:9"),
        ("gateways.public_url", "http://127.0.0.1:8080"),
        ("database.url", "postgres://dwar:7hG2kPq9@127.0.0.1/dwar"),
        ("database.url", "postgres://dwar:7hG2kPq9@db.example/dwar?sslmode=verify-full"),
        ("dashboard.address", "127.0.0.1:8081"),
        ("dashboard.public_url", "https://console.example.com"),
        ("tokens.issuer", "otp"),
        ("log.level", "warn,dwar::access=info"),
        ("log.level", "off"),
    ] {
        assert!(production(&[(key, value)]).is_ok(), "{key} = {value}");
    }
}

#[test]
fn every_objection_is_told_at_once() {
    let refused = production(&[("otp.lifetime_seconds", "864000"), ("log.level", "trace")]);
    insta::assert_snapshot!(refused.unwrap_err(), @r#"
    production refuses
      otp.lifetime_seconds: 864000 is more than the maximum, 900; the longer a code lives, the longer it can be guessed, read from a lock screen or talked out of its owner
      log.level: "trace" asks for debug or trace (production takes `info` at the most); more detailed levels may log what clients sent and what databases hold
    "#);
}

#[test]
fn development_listens_beyond_loopback_only_if_a_second_setting_allows_it() {
    let listening = |address: &str, pairs: &[(&str, &str)]| {
        let address = ("DWAR__HTTP__ADDRESS", address);
        load(None, None, pairs.iter().copied().chain([address]))
            .map_err(|refused| refused.to_string())
    };
    for inside in
        ["127.0.0.1:0", "127.9.9.9:80", "[::1]:80", "localhost:80", "[::ffff:127.0.0.1]:80"]
    {
        assert!(listening(inside, &[]).is_ok(), "{inside}");
    }
    for outside in ["0.0.0.0:8080", "[::]:8080", "192.0.2.1:80", "[::ffff:10.0.0.1]:80"] {
        let refused = listening(outside, &[]).unwrap_err();
        assert!(refused.contains("allow_public_development"), "{refused}");
        let allowed = [("DWAR__HTTP__ALLOW_PUBLIC_DEVELOPMENT", "true")];
        assert!(listening(outside, &allowed).is_ok());
    }
    assert!(production(&[("http.address", "0.0.0.0:8080")]).is_ok());
    let dashboard = |address| listening("127.0.0.1:0", &[("DWAR__DASHBOARD__ADDRESS", address)]);
    assert!(dashboard("0.0.0.0:1").unwrap_err().contains("dashboard.address"));
    assert!(dashboard("[::1]:1").is_ok() && dashboard("").is_ok() && dashboard("auto").is_ok());
}

#[test]
fn production_takes_a_dashboard_on_a_network_only_behind_tls() {
    let behind = ("dashboard.behind_tls_proxy", "true");
    assert!(production(&[("dashboard.address", "0.0.0.0:8081"), behind]).is_ok());
    for url in ["ftp://x", "console.example.com", "https://user@console.example.com"] {
        let refused = production(&[("dashboard.public_url", url)]).unwrap_err();
        assert!(refused.contains("dashboard.public_url"), "{refused}");
    }
}

#[test]
fn a_password_that_is_not_encoded_is_refused_before_a_library_quotes_it() {
    let url = ("DWAR__DATABASE__URL", "postgres://dwar:Sup3r/S3cret@127.0.0.1/dwar");
    let refused = load(None, None, [url]).unwrap_err().to_string();
    assert!(refused.contains("%2F") && !refused.contains("S3cret"), "{refused}");
}

fn rows() -> Vec<String> {
    let number = |(key, Bound { takes, reason, .. }): (String, Bound)| {
        format!("| `{key}` | {} to {} | {reason} |", takes.start(), takes.end())
    };
    let rule = |Rule { key, asked, reason, .. }: &Rule| format!("| `{key}` | {asked} | {reason} |");
    bounds().map(number).chain(RULES.iter().map(rule)).collect()
}

#[test]
fn the_docs_list_the_same_rules() {
    let docs = include_str!("../../../docs/operations/production.md");
    let (_, table) =
        docs.split_once("| Setting | Production takes | Because |\n|---|---|---|\n").unwrap();
    let listed: Vec<&str> = table.lines().take_while(|line| line.starts_with('|')).collect();
    assert_eq!(listed, rows(), "the whole table should read:\n{}", rows().join("\n"));
}
