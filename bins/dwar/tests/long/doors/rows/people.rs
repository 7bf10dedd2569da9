use super::{Door, Elsewhere, Entry, INVALID, READ, Row, UNKNOWN};
use crate::doors::asking::{Call, Case, Given, api, cli, form, get, page, post};
use crate::doors::stage::About;
use crate::doors::verdict::Verdict;
use dwar_operator::Action;
use reqwest::Method;
use serde_json::{Value, json};

/// Longer than a name of an operator or a token may be.
const LONG: &str = "a name that is longer than the sixty characters of the longest name";

fn viewer(it: &Given<'_>) -> Value {
    json!({ "projects": [{ "project_id": it.project(), "role": "viewer" }] })
}

pub fn operators() -> Row {
    Row {
        wrong: INVALID,
        api: Door::Calls(vec![|it| {
            it.anywhere()?;
            get(it.pick("/operators", "/operators?limit=x", "/operators?limit=501"))
        }]),
        pages: Door::Calls(vec![|it| {
            it.only_right()?;
            page("/team")
        }]),
        cli: Door::Calls(vec![|it| {
            it.only_right()?;
            cli("operator list", &[])
        }]),
        ..READ
    }
}

pub fn invite() -> Row {
    Row {
        entry: Entry::Always(Action::OperatorInvited),
        wrong: INVALID,
        elsewhere: Elsewhere::UnlessTheirTeam(Verdict::Forbidden),
        api: Door::Calls(vec![|it| {
            let name = it.pick(it.word.as_str(), "a/b", LONG);
            post("/operators", json!({ "name": name, "access": viewer(it) }))
        }]),
        pages: Door::Calls(vec![|it| {
            let name = it.pick(it.word.as_str(), "a/b", LONG);
            form("/team", &[("name", name), ("project", it.project()), ("role", "viewer")])
        }]),
        cli: Door::Calls(vec![|it| {
            let name = it.pick(it.word.as_str(), "a/b", LONG);
            let options = [("name", name), ("project", it.project()), ("role", "viewer")];
            cli("operator add", &options)
        }]),
        ..READ
    }
}

pub fn renew() -> Row {
    Row {
        about: About::Operator,
        entry: Entry::Always(Action::InvitationRenewed),
        wrong: UNKNOWN,
        elsewhere: Elsewhere::UnlessTheirTeam(Verdict::NotFound),
        api: Door::Calls(vec![|it| {
            post(format!("/operators/{}/invitation", it.id()?), Value::Null)
        }]),
        pages: Door::Calls(vec![|it| form(format!("/team/{}/invitation", it.id()?), &[])]),
        cli: Door::Calls(vec![|it| {
            cli("operator renew", &[("name", it.of(it.subject.name.as_str(), "nobody")?)])
        }]),
    }
}

pub fn change() -> Row {
    Row {
        about: About::Operator,
        entry: Entry::Always(Action::OperatorChanged),
        wrong: UNKNOWN,
        elsewhere: Elsewhere::UnlessTheirTeam(Verdict::NotFound),
        api: Door::Calls(vec![|it| {
            let role = json!({ "project_id": it.project(), "role": "member" });
            let path = format!("/operators/{}/access", it.id()?);
            api(Method::PUT, path, json!({ "projects": [role] }))
        }]),
        pages: Door::Calls(vec![|it| {
            let fields = [("project", it.project()), ("role", "member"), ("confirmed", "yes")];
            form(format!("/team/{}/access", it.id()?), &fields)
        }]),
        cli: Door::None("an operator of the machine removes an operator and invites them again"),
    }
}

pub fn reset() -> Row {
    Row {
        about: About::Operator,
        entry: Entry::Always(Action::OperatorReset),
        wrong: UNKNOWN,
        api: Door::None("a token that could do this could take over any account"),
        pages: Door::None("a page that could do this would allow taking over any account"),
        cli: Door::Calls(vec![|it| {
            cli("operator reset", &[("name", it.of(it.subject.name.as_str(), "nobody")?)])
        }]),
        ..READ
    }
}

pub fn unlock() -> Row {
    Row {
        about: About::Operator,
        entry: Entry::Always(Action::OperatorUnlocked),
        wrong: UNKNOWN,
        elsewhere: Elsewhere::UnlessTheirTeam(Verdict::NotFound),
        api: Door::Calls(vec![|it| post(format!("/operators/{}/unlock", it.id()?), Value::Null)]),
        pages: Door::Calls(vec![|it| form(format!("/team/{}/unlock", it.id()?), &[])]),
        cli: Door::Calls(vec![|it| {
            cli("operator unlock", &[("name", it.of(it.subject.name.as_str(), "nobody")?)])
        }]),
    }
}

pub fn remove() -> Row {
    Row {
        about: About::Operator,
        entry: Entry::Always(Action::OperatorRemoved),
        wrong: UNKNOWN,
        elsewhere: Elsewhere::UnlessTheirTeam(Verdict::NotFound),
        api: Door::Calls(vec![|it| {
            api(Method::DELETE, format!("/operators/{}", it.id()?), Value::Null)
        }]),
        pages: Door::Calls(vec![|it| {
            form(format!("/team/{}/remove", it.id()?), &[("word", &it.subject.name)])
        }]),
        cli: Door::Calls(vec![|it| {
            cli("operator remove", &[("name", it.of(it.subject.name.as_str(), "nobody")?)])
        }]),
    }
}

pub fn tokens() -> Row {
    Row {
        wrong: INVALID,
        api: Door::Calls(vec![|it| {
            it.anywhere()?;
            get(it.pick("/tokens", "/tokens?limit=x", "/tokens?limit=501"))
        }]),
        pages: Door::Calls(vec![|it| {
            it.only_right()?;
            page("/tokens")
        }]),
        cli: Door::Calls(vec![|it| {
            it.only_right()?;
            cli("admin-token list", &[])
        }]),
        ..READ
    }
}

pub fn make_token() -> Row {
    Row {
        entry: Entry::Always(Action::TokenMade),
        wrong: INVALID,
        api: Door::Calls(vec![|it| {
            it.anywhere()?;
            let (name, seconds) =
                it.pick((it.word.as_str(), 86_400), ("a/b", 86_400), ("a", 31_622_401));
            let access = viewer(it);
            post("/tokens", json!({ "name": name, "access": access, "lifetime_seconds": seconds }))
        }]),
        pages: Door::Calls(vec![
            |it| {
                it.anywhere()?;
                let (name, days) = it.pick((it.word.as_str(), "1"), ("a/b", "1"), ("a", "367"));
                let Call::Form(path, mut fields) =
                    form("/tokens", &[("name", name), ("role", "viewer"), ("days", days)])?
                else {
                    return None;
                };
                fields.push((format!("project-{}", it.project()), "on".to_owned()));
                Some(Call::Form(path, fields))
            },
            |it| {
                // Not for a token, which cannot create one that outlives itself.
                (it.case == Case::Right).then_some(())?;
                form("/tokens", &[("name", &it.word), ("role", "everything"), ("days", "366")])
            },
        ]),
        cli: Door::Calls(vec![
            |it| {
                it.anywhere()?;
                let (name, days) = it.pick((it.word.as_str(), "1"), ("a/b", "1"), ("a", "367"));
                let of = [("name", name), ("project", it.project()), ("role", "viewer")];
                cli("admin-token add", &[&of[..], &[("days", days)]].concat())
            },
            |it| {
                (it.case == Case::Right).then_some(())?;
                cli("admin-token add --everything", &[("name", &it.word), ("days", "366")])
            },
        ]),
        ..READ
    }
}

pub fn revoke_token() -> Row {
    Row {
        about: About::Token,
        entry: Entry::Always(Action::TokenRevoked),
        wrong: UNKNOWN,
        api: Door::Calls(vec![|it| {
            it.anywhere()?;
            api(Method::DELETE, format!("/tokens/{}", it.id()?), Value::Null)
        }]),
        pages: Door::Calls(vec![|it| {
            it.anywhere()?;
            form(format!("/tokens/{}/revoke", it.id()?), &[("word", &it.subject.name)])
        }]),
        cli: Door::Calls(vec![|it| {
            it.anywhere()?;
            cli("admin-token remove", &[("token", it.id()?)])
        }]),
        ..READ
    }
}
