use super::super::sentences::without_content;
use super::*;
use proptest::prelude::*;

/// Every secret setting, found by its `Debug`, which hides it.
fn secret_keys() -> Vec<String> {
    let keys = keys_of(DEFAULTS).unwrap();
    // The values after the first are for settings that are parsed at once.
    let values =
        ["canary", "postgres://:canary@127.0.0.1", "http://:canary@127.0.0.1", "name: canary"];
    let hides = |key: &String| {
        let loaded =
            values.iter().find_map(|value| load(None, None, [(variable(key), *value)]).ok());
        loaded.is_some_and(|config| !format!("{config:?}").contains("canary"))
    };
    keys.into_keys().filter(hides).collect()
}

pub(super) fn variable(key: &str) -> String {
    format!("DWAR__{}", key.to_ascii_uppercase().replace('.', "__"))
}

fn from_file(text: &[u8]) -> Result<Config, ConfigError> {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("own.toml");
    std::fs::write(&file, text).unwrap();
    load(Some(&file), None, std::iter::empty::<(String, String)>())
}

/// The message about a refused file, without the folder.
fn told(text: &str) -> String {
    told_of(text.as_bytes())
}

fn told_of(text: &[u8]) -> String {
    let told = from_file(text).unwrap_err().to_string();
    told.split_once("own.toml").map_or(told.clone(), |(_, rest)| format!("own.toml{rest}"))
}

pub(super) fn assert_tells_nothing_of(secret: &str, told: &str) {
    let parts = secret.as_bytes().windows(6).map(|part| std::str::from_utf8(part).unwrap());
    for part in parts {
        assert!(!told.contains(part), "`{part}` of {secret}: {told}");
    }
}

#[test]
fn knows_which_settings_are_secrets() {
    let found = secret_keys();
    let mut listed: Vec<&str> = SECRETS.into_iter().chain(ADDRESSES).collect();
    listed.sort_unstable();
    assert_eq!(found, listed);
}

#[test]
fn a_broken_file_is_told_by_line_and_column() {
    insta::assert_snapshot!(told("demo = false\n[secrets]\nmaster_key = \"abc\n"),
        @"own.toml: line 3, column 18: invalid basic string, expected `\"`");
    insta::assert_snapshot!(told("[secrets]\nmaster_key abc\n"),
        @"own.toml: line 2, column 12: key with no value, expected `=`");
    insta::assert_snapshot!(told("[secrets]\nmaster_key = abc\n"),
        @"own.toml: line 2, column 14: string values must be quoted, expected literal string");
    insta::assert_snapshot!(told("[http]\nadress = \"x\"\n"),
        @"own.toml, line 2, column 1: there is no setting `http.adress`; did you mean `http.address`?");
    insta::assert_snapshot!(told("[secrets]\n\nSup3rS3cretSup3rS3cret = \"\"\n"),
        @"own.toml, line 3, column 1: there is no setting `secrets.…`");
    insta::assert_snapshot!(told("[http]\nworkers = \"many\"\n"), @"http.workers: is not an integer");
    insta::assert_snapshot!(told("environment = \"Sup3rS3cret\"\n"),
        @"environment: is not one of the allowed words");
    insta::assert_snapshot!(told("[secrets]\nmaster_key = [\"Sup3rS3cret\"]\n"),
        @"secrets.master_key: is not a string");
    insta::assert_snapshot!(told("[secrets]\nolder_master_keys = \"Sup3rS3cret\"\n"),
        @"secrets.older_master_keys: is not a list");
    insta::assert_snapshot!(told("[gateways.msg91.sms_variables]\nVAR1 = \"Sup3rS3cret\"\n"),
        @"gateways.msg91.sms_variables.VAR1: is not one of the allowed words");
    insta::assert_snapshot!(told("[gateways.whatsapp_cloud.templates.hi]\nnam = \"x\"\n"),
        @"gateways.whatsapp_cloud.templates.hi: accepts only `name` or `language`");
    insta::assert_snapshot!(told("[gateways.twilio]\nbase_url = \"https://u:Sup3rS3cret@x\"\n"),
        @"gateways.twilio.base_url: it must name no user and no password");
}

#[test]
fn a_list_is_an_array_in_the_file_and_separated_by_commas_in_a_variable() {
    let file = from_file(b"[gateways]\nsms = [\"msg91\", \"gupshup\"]\nwhatsapp = []\n").unwrap();
    let variables = [("DWAR__GATEWAYS__SMS", "msg91, gupshup,"), ("DWAR__GATEWAYS__WHATSAPP", "")];
    for config in [file, load(None, None, variables).unwrap()] {
        assert_eq!(config.gateways.sms, ["msg91", "gupshup"]);
        assert!(config.gateways.whatsapp.is_empty());
    }
}

#[test]
fn a_table_of_names_takes_the_place_of_the_default_from_file_and_variable() {
    let file = b"[gateways.msg91.sms_variables]\nOTP = \"code\"\n\
        [gateways.whatsapp_cloud.templates.hi-Latn]\nname = \"login\"\nlanguage = \"hi\"\n";
    let variables = [
        ("DWAR__GATEWAYS__MSG91__SMS_VARIABLES", "{ OTP = \"code\" }"),
        (
            "DWAR__GATEWAYS__WHATSAPP_CLOUD__TEMPLATES",
            "{ hi-Latn = { name = \"login\", language = \"hi\" } }",
        ),
    ];
    for config in [from_file(file).unwrap(), load(None, None, variables).unwrap()] {
        let gateways = config.gateways;
        let variables: Vec<&String> = gateways.msg91.sms_variables.keys().collect();
        assert_eq!(variables, ["OTP"]);
        let templates = gateways.whatsapp_cloud.templates;
        let template = templates.get("hi-Latn").unwrap();
        assert_eq!((templates.len(), &*template.name, &*template.language), (1, "login", "hi"));
    }
    for wrong in ["Sup3rS3cret", "VAR1=code", "[\"Sup3rS3cret\"]", "{ OTP = \"Sup3rS3cret\" }"] {
        let refused = load(None, None, [("DWAR__GATEWAYS__MSG91__SMS_VARIABLES", wrong)]);
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains("gateways.msg91.sms_variables"), "{refused}");
        assert_tells_nothing_of("Sup3rS3cret", &refused);
    }
}

/// A key that no struct has would be refused, because each setting is defined once.
#[test]
fn every_table_whose_entries_are_named_by_the_operator_is_known_as_one() {
    for open in OPEN {
        let any = format!("[{open}]\nSomeName = []\n");
        let refused = from_file(any.as_bytes()).unwrap_err().to_string();
        assert!(refused.starts_with(&format!("{open}.SomeName: ")), "{refused}");
    }
}

#[test]
fn a_value_of_the_environment_is_never_repeated() {
    let secret = "Sup3rS3cret+Sup3r/S3cret=";
    for key in keys_of(DEFAULTS).unwrap().into_keys() {
        if let Err(refused) = load(None, None, [(variable(&key), secret)]) {
            let refused = refused.to_string();
            assert_tells_nothing_of(secret, &refused);
            // Names of variables are case-insensitive.
            let named = refused.to_lowercase().contains(&key.to_lowercase());
            assert!(named, "{key}: {refused}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_variable_that_is_no_text_is_refused_by_name_and_others_do_not_matter() {
    use std::os::unix::ffi::OsStringExt;
    let noise = OsString::from_vec(b"Sup3rS3cret\xff".to_vec());
    let ours = (OsString::from("DWAR__SECRETS__MASTER_KEY"), noise.clone());
    let refused = load(None, None, [ours]).unwrap_err().to_string();
    insta::assert_snapshot!(refused, @"environment: the value of DWAR__SECRETS__MASTER_KEY is not UTF-8");
    assert!(load(None, None, [(OsString::from("HOME"), noise)]).is_ok());
}

#[test]
fn a_file_may_have_a_mark_in_front_and_the_ends_of_lines_of_elsewhere() {
    let config = from_file("\u{feff}demo = false\r\n[tokens]\r\nissuer = \"other\"\r\n".as_bytes());
    let config = config.unwrap();
    assert_eq!((config.demo, config.tokens.issuer.as_str()), (false, "other"));
    assert_eq!(
        told_of(b"demo = false\n[tokens]\nissuer = \"Sup3rS3cret\xff\"\n"),
        "own.toml: line 3 is not UTF-8"
    );
}

/// A valid file with a secret in one place.
fn sound(key: &str, secret: &str) -> String {
    let (section, name) = key.rsplit_once('.').unwrap();
    format!(
        "demo = false\n[{section}]\n# a note\n{name} = \"{secret}\"\n[log]\nformat = \"json\"\n"
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// One slip anywhere: a letter lost, put in, doubled or replaced, or the rest of the file.
    #[test]
    fn no_slip_of_the_pen_makes_a_file_tell_a_secret(
        secret in "[a-zA-Z0-9+/]{24,44}={0,2}",
        which in any::<proptest::sample::Index>(),
        at in any::<proptest::sample::Index>(),
        letter in proptest::sample::select(&b"\"'[]{}=.,#\n\r\\ \t\0x1\xff"[..]),
        slip in 0_u8..6,
    ) {
        let keys = ["secrets.master_key", "gateways.whatsapp_cloud.app_secret", "database.url",
            "gateways.proxy", "gateways.gupshup.password"];
        let key = keys[which.index(keys.len())];
        let mut text = sound(key, &secret).into_bytes();
        let at = at.index(text.len());
        match slip {
            0 => drop(text.remove(at)),
            1 => text.insert(at, letter),
            2 => text[at] = letter,
            3 => text.truncate(at),
            4 => drop(text.drain(..at)),
            _ => text = [&text[..], &text[..at], b"\n", &text].concat(),
        }
        if let Err(refused) = from_file(&text) {
            assert_tells_nothing_of(&secret, &refused.to_string());
        }
    }

    #[test]
    fn serde_messages_lose_what_they_quote(quoted in ".{0,40}", right in "[a-z ]{1,20}") {
        let quoted = format!("Sup3rS3cret{quoted}");
        for start in ["invalid type: string ", "invalid value: string ", "unknown variant "] {
            let message = format!("{start}`{quoted}`, expected {right}");
            prop_assert!(!without_content(&message).contains("Sup3rS3cret"));
        }
        prop_assert_eq!(without_content(&quoted), "cannot be used");
    }
}
