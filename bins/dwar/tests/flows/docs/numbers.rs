//! Numbers that pages repeat are those of `config.default.toml`.

use crate::docs::Repository;
use std::collections::BTreeMap;

/// The settings in a phrase, in order and with their units; the phrase, with `{}` for each of them;
/// the pages that contain it.
type Stated = (&'static [(&'static str, Unit)], &'static str, &'static [&'static str]);

const STATED: &[Stated] = &[
    (
        &[("limits.live.verify_attempts", PLAIN)],
        "{} wrong guesses lock it",
        &["README.md", "docs/moving.md", "docs/threat-model.md"],
    ),
    (
        &[("limits.live.verify_attempts", PLAIN), ("limits.test.verify_attempts", PLAIN)],
        "| `otp/verify` | {} wrong guesses per code | {} |",
        &["docs/api.md"],
    ),
    (
        &[("limits.live.verify_attempts", PLAIN), ("limits.test.verify_attempts", PLAIN)],
        "after the {}th wrong guess (test key: {}th)",
        &["docs/api.md"],
    ),
    (
        &[("limits.live.verify_attempts", WORD), ("limits.test.verify_attempts", WORD)],
        "After the {} (test key: {}) the code is locked",
        &["docs/contract.md"],
    ),
    (
        &[
            ("limits.live.send", PLAIN),
            ("limits.live.send_window_seconds", MINUTES),
            ("limits.test.send", PLAIN),
        ],
        "| `otp/send` | {} per phone in {} minutes | {} |",
        &["docs/api.md"],
    ),
    (
        &[("limits.live.send", PLAIN), ("limits.live.send_window_seconds", MINUTES)],
        "{} sends per phone in {} minutes",
        &["docs/moving.md", "docs/threat-model.md"],
    ),
    (
        &[
            ("limits.live.send", PLAIN),
            ("limits.live.send_window_seconds", MINUTES),
            ("limits.live.verify_attempts", PLAIN),
        ],
        "({} codes in {} minutes, {} guesses each",
        &["docs/threat-model.md"],
    ),
    (
        &[("limits.live.send_reach", PLAIN), ("limits.live.send_window_seconds", MINUTES)],
        "at most {} sends to one phone reach a provider in {} minutes",
        &["docs/api.md"],
    ),
    (
        &[("limits.live.send_reach", PLAIN), ("limits.live.send_window_seconds", MINUTES)],
        "at most {} sends that reach a provider per phone and {} minutes",
        &["docs/threat-model.md"],
    ),
    (
        &[("limits.live.validate_per_minute", PLAIN), ("limits.test.validate_per_minute", PLAIN)],
        "| `session/validate` | {} a minute per key | {} |",
        &["docs/api.md"],
    ),
    (
        &[("limits.live.general_per_minute", PLAIN), ("limits.test.general_per_minute", PLAIN)],
        "| everything else under `/v1/` | {} a minute per key, together | {} |",
        &["docs/api.md"],
    ),
    (
        &[("limits.live.sends_per_minute", PLAIN), ("limits.test.sends_per_minute", PLAIN)],
        "| `otp/send`, beside the above | {} a minute per key | {} |",
        &["docs/api.md"],
    ),
    (
        &[("limits.live.verifies_per_minute", PLAIN), ("limits.test.verifies_per_minute", PLAIN)],
        "| `otp/verify`, beside the above | {} a minute per key | {} |",
        &["docs/api.md"],
    ),
    (
        &[
            ("limits.guesses.slow_from", PLAIN),
            ("limits.guesses.slow_seconds", MINUTES),
            ("limits.guesses.slower_from", PLAIN),
        ],
        "In a row: from {} on there is one send per {} minutes, from {} on one per hour",
        &["docs/api.md"],
    ),
    (
        &[
            ("limits.guesses.slow_from", PLAIN),
            ("limits.guesses.slow_seconds", MINUTES_WORD),
            ("limits.guesses.slower_from", PLAIN),
        ],
        "In a row: from {} on one send per {} minutes, from {} on one per hour",
        &["docs/contract.md"],
    ),
    (
        &[
            ("limits.guesses.stop_at", PLAIN),
            ("limits.guesses.stop_seconds", HOURS),
            ("limits.guesses.stop_pace_seconds", HOURS),
        ],
        "at {} none for {} hours, then one send per {} hours",
        &["docs/contract.md"],
    ),
    (
        &[
            ("limits.guesses.stop_at", PLAIN),
            ("limits.guesses.stop_seconds", HOURS),
            ("limits.guesses.stop_pace_seconds", HOURS),
        ],
        "at {} there is none for {} hours, then one per {} hours",
        &["docs/api.md"],
    ),
    (
        &[("limits.guesses.device_stop_at", PLAIN), ("limits.guesses.period_seconds", DAYS)],
        "count apart, {} in {} days",
        &["docs/api.md"],
    ),
    (
        &[("limits.guesses.period_seconds", DAYS)],
        "period of {} days that begins with a wrong",
        &["docs/api.md", "docs/contract.md"],
    ),
    (&[("otp.lifetime_seconds", MINUTES)], "| code | {} minutes |", &["docs/api.md"]),
    (
        &[("otp.lifetime_seconds", MINUTES_WORD)],
        "Six digits, active for {} minutes",
        &["docs/contract.md", "docs/moving.md"],
    ),
    (&[("session.access_seconds", MINUTES)], "| access token | {} minutes |", &["docs/api.md"]),
    (
        &[("session.refresh_seconds", DAYS)],
        "| refresh token | {} days from its issue |",
        &["docs/api.md"],
    ),
    (&[("session.session_seconds", DAYS)], "| session | {} days in all |", &["docs/api.md"]),
    (
        &[("session.session_seconds", DAYS)],
        "`session.session_seconds`, {} days",
        &["docs/bounds.md"],
    ),
    (&[("retention.requests_hours", PLAIN)], "| status of a send | {} hours |", &["docs/api.md"]),
    (
        &[("retention.requests_hours", PLAIN)],
        "provider | sealed, index | {} hours |",
        &["docs/privacy.md"],
    ),
    (
        &[("limits.guesses.period_seconds", DAYS)],
        "wrong codes | index | {} days after the last one |",
        &["docs/privacy.md"],
    ),
    (&[("session.session_seconds", DAYS)], "and {} days in all |", &["docs/privacy.md"]),
    (&[("retention.audit_days", PLAIN)], "audit log is kept for {} days", &["docs/privacy.md"]),
    (&[("retention.audit_days", PLAIN)], "address | none | {} days |", &["docs/privacy.md"]),
    (
        &[
            ("limits.live.send", PLAIN),
            ("limits.live.send_window_seconds", MINUTES),
            ("limits.test.send", PLAIN),
        ],
        "A phone gets {} codes in {} minutes with a live key, {} with a test key",
        &["docs/faq.md"],
    ),
    (
        &[("session.refresh_seconds", DAYS)],
        "the refresh token is good for {} days",
        &["docs/faq.md"],
    ),
    (&[("prices.whatsapp_paise", PLAIN)], "whatsapp_paise = {}", &["docs/going-live.md"]),
    (&[("prices.sms_paise", PLAIN)], "sms_paise = {}", &["docs/going-live.md"]),
    (
        &[("gateways.breaker_faults", PLAIN)],
        "After `breaker_faults` ({}) faults in a row a provider is left alone",
        &["docs/providers.md"],
    ),
    (
        &[("gateways.calls_at_once", PLAIN)],
        "At most `calls_at_once` ({}) calls",
        &["docs/providers.md"],
    ),
];

/// How many of a setting's units make one of the phrase's, and whether the number is written as a
/// word.
type Unit = (u64, bool);
const PLAIN: Unit = (1, false);
const WORD: Unit = (1, true);
const MINUTES: Unit = (60, false);
const MINUTES_WORD: Unit = (60, true);
const HOURS: Unit = (3_600, false);
const DAYS: Unit = (86_400, false);

/// The numbers of `config.default.toml`, by key.
fn settings(repository: &Repository) -> BTreeMap<String, u64> {
    let (mut section, mut found) = (String::new(), BTreeMap::new());
    for line in repository.read("config.default.toml").lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            name.clone_into(&mut section);
        } else if let Some((key, value)) = line.split_once(" = ")
            && let Ok(value) = value.parse()
        {
            found.insert(format!("{section}.{key}"), value);
        }
    }
    found
}

fn written(value: u64, (divisor, as_word): Unit) -> String {
    assert_eq!(value % divisor, 0, "{value} in units of {divisor}");
    let number = value / divisor;
    if !as_word {
        return number.to_string();
    }
    match (number, divisor) {
        (5, 1) => "fifth",
        (20, 1) => "twentieth",
        (10, _) => "ten",
        _ => return number.to_string(),
    }
    .to_owned()
}

#[test]
fn numbers_of_pages_are_those_of_the_settings() {
    let repository = Repository::open();
    let settings = settings(&repository);
    let mut wrong = Vec::new();
    for (stated, phrase, pages) in STATED {
        let mut phrase = (*phrase).to_owned();
        for (key, unit) in *stated {
            let value = settings.get(*key).copied();
            let value = value.ok_or_else(|| format!("{key} is not a setting")).unwrap();
            phrase = phrase.replacen("{}", &written(value, *unit), 1);
        }
        for page in *pages {
            // Line breaks do not matter.
            let text = repository.read(page);
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            if !text.contains(&phrase) {
                wrong.push(format!("{page}: {phrase}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
