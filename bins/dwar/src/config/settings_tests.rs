use super::tests::{assert_tells_nothing_of, variable};
use super::*;

/// Every setting with its default. A table whose entries the operator names counts as one setting.
fn settings(defaults: &toml::Table, prefix: &str) -> Vec<(String, toml::Value)> {
    let below = defaults.iter().flat_map(|(name, value)| {
        let key = format!("{prefix}{name}");
        match value {
            toml::Value::Table(table) if !table.is_empty() && !OPEN.contains(&key.as_str()) => {
                settings(table, &format!("{key}."))
            }
            value => vec![(key, value.clone())],
        }
    });
    below.collect()
}

/// Values to try for a setting. Each setting accepts at least one of them that is not its default.
fn candidates(key: &str, default: &toml::Value) -> Vec<String> {
    const TEXTS: [&str; 10] = [
        "other",
        "https://other.example",
        "127.0.0.1:7",
        "postgres://dwar:other@127.0.0.1/other",
        "http://user:other@127.0.0.1:7",
        "name: other",
        "normal",
        "json",
        "EdDSA",
        "production",
    ];
    const TABLES: [&str; 4] = [
        "{ other = 7 }",
        "{ other = \"other\" }",
        "{ other = \"minutes\" }",
        "{ other = { name = \"other\", language = \"en\" } }",
    ];
    match default {
        toml::Value::Integer(default) => {
            let config = built_in([]).unwrap();
            let (_, _, bound) = config.numbers().find(|(known, ..)| known == key).unwrap();
            let (least, most) = bound.takes.into_inner();
            vec![if default.unsigned_abs() == most { least } else { most }.to_string()]
        }
        toml::Value::Boolean(default) => vec![(!default).to_string()],
        toml::Value::Float(_) => vec!["0.5".to_owned()],
        toml::Value::Table(_) => TABLES.map(str::to_owned).to_vec(),
        _ => TEXTS.map(str::to_owned).to_vec(),
    }
}

#[derive(Clone, Copy, Debug)]
enum Place {
    Environment,
    VariableFile,
    File,
}

/// Loads a configuration that sets `key` to `value` in this place. The environment sets what else is required.
fn load_with(
    place: Place,
    key: &str,
    value: &str,
    default: &toml::Value,
) -> Result<Config, ConfigError> {
    let dir = tempfile::tempdir().unwrap();
    let (file, env_file) = (dir.path().join("dwar.toml"), dir.path().join("dwar.env"));
    let quoted = match default {
        toml::Value::String(_) => toml::Value::from(value).to_string(),
        toml::Value::Array(_) => format!("[{}]", toml::Value::from(value)),
        _ => value.to_owned(),
    };
    let (section, name) = key.rsplit_once('.').map_or((None, key), |(it, name)| (Some(it), name));
    let section = section.map(|section| format!("[{section}]\n")).unwrap_or_default();
    std::fs::write(&file, format!("{section}{name} = {quoted}\n")).unwrap();
    std::fs::write(&env_file, format!("{}={value}\n", variable(key))).unwrap();
    let mut environment = Vec::new();
    if key == "environment" {
        environment.extend(
            ["GATEWAYS__WHATSAPP", "GATEWAYS__SMS"]
                .map(|it| (format!("DWAR__{it}"), String::new())),
        );
    }
    let mut config = match place {
        Place::Environment => {
            environment.push((variable(key), value.to_owned()));
            load(None, None, environment)
        }
        Place::VariableFile => load(None, Some(&env_file), environment),
        Place::File => load(Some(&file), None, environment),
    }?;
    config.secret_files.clear();
    Ok(config)
}

/// The whole configuration as text, to be compared with another. `Debug` alone would hide the secrets.
fn text_with_secrets(config: &Config) -> String {
    let Config { database, secrets, gateways, metrics, traces, .. } = config;
    let older = secrets.older_master_keys.iter().map(|key| key.expose()).collect::<Vec<_>>();
    let texts = [
        database.url.expose(),
        database.direct_url.expose(),
        secrets.master_key.expose(),
        secrets.lookup_key.expose(),
        gateways.whatsapp_cloud.access_token.expose(),
        gateways.whatsapp_cloud.app_secret.expose(),
        gateways.whatsapp_cloud.verify_token.expose(),
        gateways.twilio.auth_token.expose(),
        gateways.twilio.api_key_secret.expose(),
        gateways.msg91.auth_key.expose(),
        gateways.msg91.webhook_token.expose(),
        gateways.gupshup.password.expose(),
        gateways.gupshup.webhook_token.expose(),
        metrics.token.expose(),
        traces.header.expose(),
    ];
    format!("{config:?} {older:?} {texts:?}")
}

/// The first candidate that the setting accepts from the environment.
fn taken(key: &str, default: &toml::Value) -> String {
    let takes = |value: &String| load_with(Place::Environment, key, value, default).is_ok();
    let taken = candidates(key, default).into_iter().find(takes);
    taken.unwrap_or_else(|| panic!("{key} accepts none of the candidates"))
}

#[test]
fn every_setting_has_the_same_effect_in_every_place() {
    let unset = load(None, None, std::iter::empty::<(String, String)>()).unwrap();
    let unset = text_with_secrets(&unset);
    let all = settings(&DEFAULTS.parse().unwrap(), "");
    assert!(all.len() > 100, "{} settings", all.len());
    for (key, default) in all {
        let value = taken(&key, &default);
        let seen = [Place::Environment, Place::VariableFile, Place::File].map(|place| {
            let config = load_with(place, &key, &value, &default);
            text_with_secrets(&config.unwrap_or_else(|cause| panic!("{place:?}: {cause}")))
        });
        assert_ne!(seen[0], unset, "{key} = {value} changes nothing");
        assert!(seen.iter().all(|it| *it == seen[0]), "{key} = {value}: {seen:#?}");
    }
}

/// Blanks around a value are removed. Invisible characters inside it, and quotes where they are not
/// syntax, are refused with the name of the setting.
#[test]
fn every_setting_is_trimmed_and_checked_in_every_place() {
    for (key, default) in settings(&DEFAULTS.parse().unwrap(), "") {
        let value = taken(&key, &default);
        let plain =
            text_with_secrets(&load_with(Place::Environment, &key, &value, &default).unwrap());
        let is_text = default.is_str() || default.is_array();
        let assert_trimmed = |place, given: &str| {
            let config = load_with(place, &key, given, &default);
            let config = config.unwrap_or_else(|cause| panic!("{place:?} {given:?}: {cause}"));
            assert_eq!(text_with_secrets(&config), plain, "{place:?}: {key} = {given:?}");
        };
        let assert_refused = |place, given: &str| {
            let told = load_with(place, &key, given, &default).map(drop).unwrap_err().to_string();
            assert!(told.contains(&key) && !told.contains(&value), "{place:?} {given:?}: {told}");
        };
        for around in ["\n", "\r\n", " ", "\t", "\r"] {
            let given = format!("{around}{value}{around}");
            assert_trimmed(Place::Environment, &given);
            if is_text {
                assert_trimmed(Place::File, &given);
            }
        }
        assert_trimmed(Place::VariableFile, &format!("  {value} \t\r"));
        assert_trimmed(Place::VariableFile, &format!("'{value}\n'"));
        let hidden = format!("{}\u{7}{}", &value[..1], &value[1..]);
        for place in [Place::Environment, Place::VariableFile, Place::File] {
            if is_text {
                assert_refused(place, &hidden);
            }
        }
        for quote in ["\"", "'"] {
            let given = format!("{quote}{value}{quote}\n");
            assert_refused(Place::Environment, &given);
            assert_refused(Place::VariableFile, &given.replace(quote, &format!("\\{quote}")));
        }
    }
}

/// Settings are parsed when they are loaded, not when they are first used.
#[test]
fn an_invalid_value_is_refused_with_the_name_of_its_setting() {
    for (key, values) in [
        ("database.url", &["sqlite://a.db?mode=rw", "postgres://dwar@h:x/d", "mysql://h/d"][..]),
        ("database.direct_url", &["sqlite://a.db", "postgres://h/d?sslmode=yes"]),
        ("gateways.proxy", &["proxy:3128", "socks5://proxy", "http://proxy/x", "http://a:b@c@d"]),
        ("gateways.public_url", &["otp.example.com", "https://a b", "https://u@h"]),
        ("tokens.issuer", &["", "otp example", "otp\"x", "urn:dwar", "https://h?x", "ftp://h"]),
        ("traces.endpoint", &["collector:4318", "https://"]),
        ("traces.header", &["Authorization", "a b: c", "A: \u{e4}"]),
        (
            "http.address",
            &["", "8080", "127.0.0.1", "127.0.0.1:http", "http://127.0.0.1:8080", "a b:1"],
        ),
        ("dashboard.address", &["off", "127.0.0.1", "127.0.0.1:99999"]),
        (
            "dashboard.public_url",
            &["console.example.com", "https://h\\x", "https://h:x", "ftp://h"],
        ),
        ("dashboard.hosts", &["https://h", "h/x", "a b", "[\"h\"]"]),
        ("metrics.address", &["", "Off", "127.0.0.1"]),
        ("metrics.token", &["t\u{f6}ken"]),
        ("gateways.msg91.auth_key", &["k\u{e9}y"]),
        ("gateways.whatsapp_cloud.access_token", &["\u{201c}token\u{201d}"]),
        ("gateways.whatsapp_cloud.phone_number_id", &["1/../2", "1 2"]),
        ("gateways.twilio.account_sid", &["AC:1", "AC/1"]),
        ("gateways.fixed_minutes", &["{ msg91 = 0 }", "{ msg91 = \"x\" }", "10"]),
    ] {
        for value in values {
            let refused = load(None, None, [(variable(key), *value)]).map(drop);
            let refused = refused.expect_err(&format!("{key} = {value}")).to_string();
            assert!(refused.contains(key), "{key} = {value}: {refused}");
        }
    }
}

#[test]
fn a_file_of_variables_overrides_the_environment_and_its_faults_are_reported() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("dwar.env");
    let with = |text: &str| {
        std::fs::write(&file, text).unwrap();
        load(None, Some(&file), [("DWAR__TOKENS__ISSUER", "environment"), ("DWAR__DEMO", "false")])
    };
    let config = with("DWAR__TOKENS__ISSUER='file'\nTZ=UTC\nDWAR_KEY=svc_test_x\n").unwrap();
    assert_eq!((config.tokens.issuer.as_str(), config.demo), ("file", false));
    assert!(config.secret_files.is_empty());
    let config = with("DWAR__DATABASE__URL=postgres://dwar:pw@127.0.0.1/dwar?a=b\n");
    assert!(config.unwrap_err().to_string().contains("database.url"));
    let config =
        with("DWAR__DATABASE__URL=postgres://dwar:pw@127.0.0.1/d?port=1&sslmode=disable\n")
            .unwrap();
    assert!(config.database.url.expose().ends_with("?port=1&sslmode=disable"));
    assert_eq!(config.secret_files, std::slice::from_ref(&file));
    for (text, says) in [
        ("DWAR__HTTP__ADRESS=Sup3rS3cret\n", "did you mean `http.address`?"),
        ("PGPASSWORD=Sup3rS3cret\n", "PGPASSWORD is not a setting: use DWAR__DATABASE__URL"),
        ("DWAR_DATABASE__URL=Sup3rS3cret\n", "settings begin with DWAR__"),
        ("\nexport DWAR__DEMO=Sup3rS3cret\n", "line 2 is not NAME=value"),
        ("DWAR__METRICS__TOKEN='\"Sup3rS3cret\"'\n", "metrics.token: has quotes around it"),
    ] {
        let told = with(text).unwrap_err().to_string();
        assert!(told.contains(says) && told.contains("dwar.env"), "{told}");
        assert_tells_nothing_of("Sup3rS3cret", &told);
    }
    let missing = load(None, Some(&dir.path().join("none")), [("DWAR__DEMO", "true")]);
    assert!(missing.unwrap_err().to_string().starts_with("cannot read "));
}
