use super::tests::{assert_tells_nothing_of, variable};
use super::*;

/// Every setting with its default. A table whose entries the operator names counts as one setting.
fn settings(defaults: &toml::Table, above: &str) -> Vec<(String, toml::Value)> {
    let below = defaults.iter().flat_map(|(name, value)| {
        let key = format!("{above}{name}");
        match value {
            toml::Value::Table(table) if !table.is_empty() && !OPEN.contains(&key.as_str()) => {
                settings(table, &format!("{key}."))
            }
            value => vec![(key, value.clone())],
        }
    });
    below.collect()
}

/// Values of which each setting accepts at least one that is not its default.
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

/// Gives `key` in that place; other required settings are in the environment.
fn said(
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

/// A configuration as text for a test, including secrets.
fn seen_of(config: &Config) -> String {
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
    let takes = |value: &String| said(Place::Environment, key, value, default).is_ok();
    let taken = candidates(key, default).into_iter().find(takes);
    taken.unwrap_or_else(|| panic!("{key} takes none of them"))
}

#[test]
fn every_setting_arrives_from_wherever_it_is_said() {
    let unset = load(None, None, std::iter::empty::<(String, String)>()).unwrap();
    let unset = seen_of(&unset);
    let all = settings(&DEFAULTS.parse().unwrap(), "");
    assert!(all.len() > 100, "{} settings", all.len());
    for (key, default) in all {
        let value = taken(&key, &default);
        let said = [Place::Environment, Place::VariableFile, Place::File].map(|place| {
            let config = said(place, &key, &value, &default);
            seen_of(&config.unwrap_or_else(|cause| panic!("{place:?}: {cause}")))
        });
        assert_ne!(said[0], unset, "{key} = {value} changes nothing");
        assert!(said.iter().all(|it| *it == said[0]), "{key} = {value}: {said:#?}");
    }
}

/// Blanks around a value are removed. Invisible characters inside it, and quotes where they are not
/// syntax, are refused with the name of the setting.
#[test]
fn every_setting_is_cleaned_and_judged_wherever_it_is_said() {
    for (key, default) in settings(&DEFAULTS.parse().unwrap(), "") {
        let value = taken(&key, &default);
        let plain = seen_of(&said(Place::Environment, &key, &value, &default).unwrap());
        let is_text = default.is_str() || default.is_array();
        let blank = |place, given: &str| {
            let config = said(place, &key, given, &default);
            let config = config.unwrap_or_else(|cause| panic!("{place:?} {given:?}: {cause}"));
            assert_eq!(seen_of(&config), plain, "{place:?}: {key} = {given:?}");
        };
        let refused = |place, given: &str| {
            let told = said(place, &key, given, &default).map(drop).unwrap_err().to_string();
            assert!(told.contains(&key) && !told.contains(&value), "{place:?} {given:?}: {told}");
        };
        for around in ["\n", "\r\n", " ", "\t", "\r"] {
            let given = format!("{around}{value}{around}");
            blank(Place::Environment, &given);
            if is_text {
                blank(Place::File, &given);
            }
        }
        blank(Place::VariableFile, &format!("  {value} \t\r"));
        blank(Place::VariableFile, &format!("'{value}\n'"));
        let hidden = format!("{}\u{7}{}", &value[..1], &value[1..]);
        for place in [Place::Environment, Place::VariableFile, Place::File] {
            if is_text {
                refused(place, &hidden);
            }
        }
        for quote in ["\"", "'"] {
            let given = format!("{quote}{value}{quote}\n");
            refused(Place::Environment, &given);
            refused(Place::VariableFile, &given.replace(quote, &format!("\\{quote}")));
        }
    }
}

/// A setting that is an address is parsed where it is given, and an invalid one is reported by its
/// name.
#[test]
fn what_leads_nowhere_is_refused_at_once() {
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
fn a_file_of_variables_wins_and_tells_what_it_is_not_read_for() {
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
