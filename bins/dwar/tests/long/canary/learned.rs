//! Secrets that the service made, found in its answers and in its messages to others.

use crate::canary::house::House;
use crate::canary::reading::standing_codes;
use crate::canary::secrets::Secrets;
use crate::canary::sources::is_trial;
use crate::common::Ear;
use crate::doors::stage::PHONE;

/// The prefix of each kind of secret, and its name. An example in a page or a document is shorter.
const BEGINNINGS: [(&str, &str); 9] = [
    ("svc_live_", "an API key"),
    ("svc_test_", "an API key"),
    ("svc_rt_", "a refresh token"),
    ("svc_dt_", "the token of a device"),
    ("svc_adm_", "an admin token"),
    ("svc_lnk_", "an invitation"),
    ("svc_ops_", "the session of an operator"),
    ("whsec_", "the secret of an endpoint"),
    ("eyJ", "an access token"),
];
const SHORTEST: usize = 32;
/// Prefixes after which so many digits are not secret: session and generation in a refresh token, identity and
/// expiry in the token of a device.
const OPEN: [(&str, usize); 2] = [("svc_rt_", 40), ("svc_dt_", 48)];
/// The text before the value of a hidden field.
const FIELDS: [&str; 2] = ["name=\"csrf-token\" content=\"", "name=\"csrf\" value=\""];

/// Adds all of them to the secrets of the house.
pub async fn add(house: &House, ear: &Ear) {
    for key in [&house.stage.ours.test, &house.carried.test] {
        let phones = house.secrets().phones();
        for phone in phones.iter().map(String::as_str).chain([PHONE]) {
            house.service().get(key, &format!("/v1/sandbox/messages?phone={phone}")).await;
        }
    }
    let mut secrets = house.secrets();
    let mut heard = ear.answers();
    heard.extend(ear.runs().into_iter().map(|run| run.stdout));
    heard.iter().for_each(|text| add_from(&mut secrets, text));
    for taken in house.vendor.taken() {
        secrets.add_phone(&taken.to);
        secrets.add_code(&taken.text[..6]);
    }
    let trials = ear.runs().into_iter().filter(is_trial).map(|run| run.stdout);
    for text in house.echo.heard().into_iter().chain(trials) {
        standing_codes(text.as_bytes()).for_each(|(_, code)| secrets.add_code(code));
    }
    for told in house.endpoint.told() {
        secrets.add("the signature of an event", told.signature);
        // With its sign, because the digits of an id may look like a number.
        for (at, _) in told.text.match_indices("+91") {
            let digits = told.text[at + 3..].bytes().take_while(u8::is_ascii_digit).count();
            if digits == 10 {
                secrets.add_phone(&told.text[at..at + 13]);
            }
        }
    }
}

fn add_from(secrets: &mut Secrets, text: &str) {
    for (beginning, what) in BEGINNINGS {
        for (at, _) in text.match_indices(beginning) {
            let is_part = |it: char| it.is_ascii_alphanumeric() || "_-.+/=".contains(it);
            let secret = text[at..].split(|it| !is_part(it)).next().unwrap_or_default();
            let open = OPEN.iter().find(|(open, _)| *open == beginning);
            let open = open.map_or(0, |(_, digits)| beginning.len() + digits);
            if secret.len() >= SHORTEST + open {
                secrets.add(what, &secret[open..]);
            }
        }
    }
    for field in FIELDS {
        let values = text.split(field).skip(1).filter_map(|rest| rest.split('"').next());
        values.for_each(|value| secrets.add("what keeps forms from strangers", value));
    }
    if let Some((name, value)) = cookie(text) {
        secrets.add(name, value);
    }
    for rest in text.split("\"code\":\"").skip(1) {
        let code = rest.split('"').next().unwrap_or_default();
        if code.len() == 6 && code.bytes().all(|byte| byte.is_ascii_digit()) {
            secrets.add_code(code);
        }
    }
}

/// The cookie in a header that sets one, except those for the theme and the last project.
fn cookie(text: &str) -> Option<(&'static str, &str)> {
    let (name, rest) = text.strip_prefix("dwar_")?.split_once('=')?;
    let value = rest.split(';').next()?;
    (name != "project" && value.len() >= SHORTEST).then_some(("a cookie", value))
}
