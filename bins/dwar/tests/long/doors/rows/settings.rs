use super::{Door, Entry, INVALID, READ, Row, UNKNOWN};
use crate::doors::asking::{Call, Case, Given, api, cli, form};
use crate::doors::stage::About;
use dwar_operator::Action;
use reqwest::Method;
use serde_json::{Value, json};

/// Longer than a brand name may be.
const LONG: &str = "longer than thirty characters may be";

/// Longer than a name of a project may be.
const LONG_NAME: &str = "a name of a project that is longer than sixty characters may be";

fn patch(it: &Given<'_>, change: Value) -> Option<Call> {
    api(Method::PATCH, format!("/projects/{}", it.project()), change)
}

fn set(it: &Given<'_>, (name, value): (&str, &str)) -> Option<Call> {
    cli("project set", &[("project", it.project()), (name, value)])
}

pub fn change() -> Row {
    Row {
        about: About::Settings,
        entry: Entry::Always(Action::ProjectChanged),
        wrong: INVALID,
        api: Door::Calls(vec![
            |it| {
                let wrong = json!({ "language": "xx-quatsch!!" });
                patch(it, it.pick(json!({ "brand": it.word }), wrong, json!({ "brand": LONG })))
            },
            |it| patch(it, json!({ "fallback_seconds": it.pick(30, -1, 1_000_000) })),
            |it| patch(it, json!({ "token_type": it.pick("JWT", "jwt", "id+jwt") })),
            |it| patch(it, json!({ "guard": it.pick("watch", "Watch", "enforced") })),
            |it| {
                patch(it, json!({ "sms_providers": it.of(json!(["console"]), json!(["pigeon"]))? }))
            },
        ]),
        pages: Door::Calls(vec![
            |it| {
                let fields = [
                    ("brand", it.pick(it.word.as_str(), "", LONG)),
                    ("language", it.pick("", "xx-quatsch!!", "")),
                    ("sms_text", ""),
                    ("sms_template_id", ""),
                    ("webotp_domain", ""),
                    ("app_hash", ""),
                ];
                form(format!("/p/{}/settings/messages", it.project()), &fields)
            },
            |it| {
                // In other forms the name stays as it is, and an unchanged name is not recorded.
                matches!(it.case, Case::Wrong | Case::Beyond).then_some(())?;
                let name = it.pick("Acme", "", LONG_NAME);
                form(format!("/p/{}/settings/project", it.project()), &[("name", name)])
            },
            |it| {
                let seconds = it.pick("30", "-1", "1000000");
                let fields = [
                    ("whatsapp_providers", ""),
                    ("sms_providers", ""),
                    ("fallback_seconds", seconds),
                ];
                form(format!("/p/{}/settings/routing", it.project()), &fields)
            },
            |it| {
                let sms = it.of("console", "pigeon")?;
                let fields =
                    [("whatsapp_providers", ""), ("sms_providers", sms), ("fallback_seconds", "")];
                form(format!("/p/{}/settings/routing", it.project()), &fields)
            },
            |it| {
                it.right()?;
                form(
                    format!("/p/{}/settings/identities", it.project()),
                    &[("identity_lookup", "on")],
                )
            },
            |it| {
                it.right()?;
                form(format!("/p/{}/settings/relay", it.project()), &[("relay_test", "on")])
            },
            |it| {
                let nine = "a=1\nb=1\nc=1\nd=1\ne=1\nf=1\ng=1\nh=1\ni=1";
                let claims = it.pick("role=authenticated", "sub=somebody", nine);
                form(format!("/p/{}/settings/tokens", it.project()), &[("token_claims", claims)])
            },
            |it| {
                let token_type = it.pick("JWT", "jwt", "id+jwt");
                let fields = [("token_claims", ""), ("token_type", token_type)];
                form(format!("/p/{}/settings/tokens", it.project()), &fields)
            },
            |it| {
                let mode = it.pick("enforce", "Watch", "enforced");
                form(format!("/p/{}/settings/guard", it.project()), &[("guard", mode)])
            },
        ]),
        cli: Door::Calls(vec![
            |it| {
                let right = ("brand", it.word.as_str());
                set(it, it.pick(right, ("language", "xx-quatsch!!"), ("brand", LONG)))
            },
            |it| set(it, ("fallback-seconds", it.pick("30", "-1", "1000000"))),
            |it| set(it, ("token-type", it.pick("JWT", "jwt", "id+jwt"))),
            |it| set(it, ("guard", it.pick("watch", "Watch", "enforced"))),
            |it| set(it, ("sms-providers", it.of("console", "pigeon")?)),
        ]),
        ..READ
    }
}

/// The largest amount in rupees, and a paisa more.
const MOST: (&str, &str) = ("10000000000", "10000000000.01");
const MOST_PAISE: (i64, i64) = (1_000_000_000_000, 1_000_000_000_001);

pub fn reprice() -> Row {
    Row {
        about: About::Prices,
        entry: Entry::Always(Action::ProjectRepriced),
        wrong: INVALID,
        api: Door::Calls(vec![
            |it| {
                let price = it.pick(it.number(), -1, MOST_PAISE.1);
                let path = format!("/projects/{}/prices", it.project());
                api(Method::PATCH, path, json!({ "whatsapp_price_paise": price }))
            },
            |it| {
                let low = it.pick(MOST_PAISE.0, -1, MOST_PAISE.1);
                let path = format!("/projects/{}/prices", it.project());
                api(
                    Method::PATCH,
                    path,
                    json!({ "sms_price_paise": low, "low_balance_paise": low, "daily_spend_paise": low }),
                )
            },
        ]),
        pages: Door::Calls(vec![
            |it| {
                let right = format!("0.{:02}", it.number());
                let price = it.pick(right.as_str(), "-1", MOST.1);
                let fields = [
                    ("whatsapp_price", price),
                    ("sms_price", ""),
                    ("low_balance", ""),
                    ("daily_spend", ""),
                ];
                form(format!("/p/{}/settings/money", it.project()), &fields)
            },
            |it| {
                let low = it.pick(MOST.0, "-1", MOST.1);
                let fields = [
                    ("whatsapp_price", ""),
                    ("sms_price", low),
                    ("low_balance", low),
                    ("daily_spend", low),
                ];
                form(format!("/p/{}/settings/money", it.project()), &fields)
            },
        ]),
        cli: Door::Calls(vec![
            |it| {
                let price = it.pick(it.number(), -1, MOST_PAISE.1).to_string();
                set(it, ("whatsapp-price-paise", &price))
            },
            |it| set(it, ("sms-price-paise", &it.pick(MOST_PAISE.0, -1, MOST_PAISE.1).to_string())),
            |it| set(it, ("low-balance-rupees", it.pick(MOST.0, "-1", MOST.1))),
            |it| set(it, ("daily-spend-rupees", it.pick(MOST.0, "-1", MOST.1))),
        ]),
        ..READ
    }
}

pub fn probe() -> Row {
    Row {
        wrong: UNKNOWN,
        api: Door::None("it tells of one process, which a program does not choose"),
        pages: Door::Calls(vec![|it| {
            let provider = it.of("console", "nobody")?;
            form(format!("/p/{}/settings/delivery/{provider}/probe", it.project()), &[])
        }]),
        cli: Door::None("only a service that runs calls providers"),
        ..READ
    }
}

pub fn test() -> Row {
    Row {
        entry: Entry::Always(Action::ProviderTested),
        wrong: UNKNOWN,
        api: Door::None("a program sends with the live key"),
        pages: Door::Calls(vec![|it| {
            // The wallet of the other project is empty by then.
            it.anywhere()?;
            let provider = it.of("console", "nobody")?;
            let path = format!("/p/{}/settings/delivery/{provider}/test", it.project());
            form(path, &[("channel", "sms"), ("phone", &it.phone)])
        }]),
        cli: Door::None("only a service that runs can send"),
        ..READ
    }
}
