use super::{Door, Elsewhere, Entry, INVALID, READ, Row, Wrong};
use crate::doors::asking::{Call, Case, cli, form, get, page, post};
use crate::doors::stage::{About, NOBODY};
use crate::doors::verdict::Verdict;
use dwar_operator::Action;
use serde_json::{Value, json};

/// Longer than a name of a project may be.
const LONG: &str = "a name of a project that is longer than sixty characters may be";

pub fn list() -> Row {
    Row {
        wrong: INVALID,
        api: Door::Calls(vec![|it| {
            it.anywhere()?;
            get(it.pick("/projects", "/projects?limit=x", "/projects?limit=501"))
        }]),
        pages: Door::Calls(vec![|it| {
            it.only_right()?;
            page("/projects")
        }]),
        cli: Door::Calls(vec![|it| {
            it.only_right()?;
            cli("project list", &[])
        }]),
        ..READ
    }
}

pub fn create() -> Row {
    Row {
        entry: Entry::Always(Action::ProjectCreated),
        wrong: INVALID,
        api: Door::Calls(vec![
            |it| {
                it.anywhere()?;
                let paise = it.pick(100, -1, 1_000_000_000_001_i64);
                post("/projects", json!({ "name": it.word, "balance_paise": paise }))
            },
            |it| {
                it.anywhere()?;
                post("/projects", json!({ "name": it.pick(it.word.as_str(), "", LONG) }))
            },
        ]),
        pages: Door::Calls(vec![|it| {
            it.anywhere()?;
            form("/projects", &[("name", it.pick(it.word.as_str(), "", LONG))])
        }]),
        cli: Door::Calls(vec![
            |it| {
                it.anywhere()?;
                let rupees = it.pick("1", "-1", "10000000000.01");
                cli("project create", &[("name", &it.word), ("balance-rupees", rupees)])
            },
            |it| {
                it.anywhere()?;
                cli("project create", &[("name", it.pick(&it.word, "", LONG))])
            },
        ]),
        ..READ
    }
}

pub fn archive() -> Row {
    Row {
        about: About::InUse,
        entry: Entry::Always(Action::ProjectArchived),
        api: Door::Calls(vec![|it| {
            post(format!("/projects/{}/archive", it.any_project()?), Value::Null)
        }]),
        pages: Door::Calls(vec![|it| {
            form(format!("/p/{}/settings/archive", it.any_project()?), &[("word", "Acme")])
        }]),
        cli: Door::Calls(vec![|it| cli("project archive", &[("project", it.any_project()?)])]),
        ..READ
    }
}

pub fn restore() -> Row {
    Row {
        about: About::Archived,
        entry: Entry::Always(Action::ProjectRestored),
        api: Door::Calls(vec![|it| {
            post(format!("/projects/{}/restore", it.any_project()?), Value::Null)
        }]),
        pages: Door::Calls(vec![|it| {
            form(format!("/p/{}/settings/restore", it.any_project()?), &[])
        }]),
        cli: Door::Calls(vec![|it| cli("project restore", &[("project", it.any_project()?)])]),
        ..READ
    }
}

pub fn show() -> Row {
    Row {
        api: Door::Calls(vec![|it| get(format!("/projects/{}", it.any_project()?))]),
        pages: Door::Calls(vec![
            |it| page(format!("/p/{}/settings", it.any_project()?)),
            |it| page(format!("/p/{}/settings/messages", it.any_project()?)),
            |it| page(format!("/p/{}/settings/delivery", it.any_project()?)),
            |it| page(format!("/p/{}/settings/delivery/console", it.any_project()?)),
            |it| page(format!("/p/{}/settings/tokens", it.any_project()?)),
            |it| page(format!("/p/{}/settings/project", it.any_project()?)),
            |it| {
                let nothing = [
                    "brand",
                    "language",
                    "sms_text",
                    "sms_template_id",
                    "webotp_domain",
                    "app_hash",
                ];
                let path = format!("/p/{}/settings/preview", it.any_project()?);
                form(path, &nothing.map(|name| (name, "")))
            },
        ]),
        cli: Door::Calls(vec![|it| cli("project show", &[("project", it.any_project()?)])]),
        ..READ
    }
}

pub fn keys() -> Row {
    Row {
        api: Door::Calls(vec![|it| get(format!("/projects/{}/keys", it.any_project()?))]),
        pages: Door::Calls(vec![|it| page(format!("/p/{}/keys", it.any_project()?))]),
        cli: Door::Calls(vec![|it| cli("project show", &[("project", it.any_project()?)])]),
        ..READ
    }
}

pub fn regenerate() -> Row {
    Row {
        about: About::LiveKey,
        entry: Entry::Always(Action::KeyRegenerated),
        wrong: Wrong::Says(Verdict::Conflict),
        elsewhere: Elsewhere::Says(Verdict::Conflict),
        api: Door::Calls(vec![|it| {
            let path = format!("/projects/{}/keys/live/regenerate", it.project());
            post(path, json!({ "replaces": it.id()? }))
        }]),
        pages: Door::Calls(vec![|it| {
            let fields = [("mode", "live"), ("key", it.id()?), ("word", "Acme")];
            form(format!("/p/{}/keys/regenerate", it.project()), &fields)
        }]),
        cli: Door::Calls(vec![|it| {
            // It replaces the current one, whichever that is.
            (it.case == Case::Right).then_some(())?;
            cli("key regenerate", &[("project", it.project()), ("mode", "live")])
        }]),
    }
}

pub fn play() -> Row {
    Row {
        api: Door::None("a program asks the API itself, with a test key"),
        pages: Door::Calls(vec![
            |it| page(format!("/p/{}/playground", it.any_project()?)),
            |it| {
                let target = format!("/v1/otp/status/{NOBODY}");
                let fields = [("method", "GET"), ("target", target.as_str())];
                form(format!("/p/{}/playground/call", it.any_project()?), &fields)
            },
            |it| {
                let path = format!("/p/{}/playground/login/send", it.any_project()?);
                Some(Call::Json(path, json!({ "phone": it.phone })))
            },
            |it| page(format!("/p/{}/inbox", it.any_project()?)),
            |it| page(format!("/p/{}/inbox/live", it.any_project()?)),
            |it| form(format!("/p/{}/inbox", it.any_project()?), &[("wanted", "98765")]),
        ]),
        cli: Door::None("a shell asks the API itself, with a test key"),
        ..READ
    }
}
