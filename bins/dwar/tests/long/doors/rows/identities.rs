use super::{Door, Entry, NOT_THERE, READ, Row, UNKNOWN};
use crate::doors::asking::{Given, api, form, get, page, post};
use crate::doors::stage::About;
use dwar_operator::Action;
use reqwest::Method;
use serde_json::{Value, json};

const LOOKED_AT: &str = "those who logged in are looked at in the pages, or by a program";

fn in_api(it: &Given<'_>, rest: &str) -> Option<String> {
    Some(format!("/projects/{}/identities/test/{}{rest}", it.project(), it.id()?))
}

fn in_pages(it: &Given<'_>, rest: &str) -> Option<String> {
    Some(format!("/p/{}/identities/test/{}/sessions{rest}", it.project(), it.id()?))
}

const ONE: Row = Row {
    about: About::Identity,
    wrong: UNKNOWN,
    elsewhere: NOT_THERE,
    cli: Door::None(LOOKED_AT),
    ..READ
};

pub fn show() -> Row {
    Row {
        api: Door::Calls(vec![|it| get(in_api(it, "")?)]),
        pages: Door::Calls(vec![|it| {
            let fields = [("mode", "test"), ("wanted", it.id()?)];
            form(format!("/p/{}/identities", it.project()), &fields)
        }]),
        ..ONE
    }
}

const STRANGER: &str = "9000000001";

pub fn find() -> Row {
    Row {
        api: Door::Calls(vec![|it| {
            let phone = it.of(it.subject.phone.as_str(), STRANGER)?;
            post(
                format!("/projects/{}/identities/test/find", it.project()),
                json!({ "phone": phone }),
            )
        }]),
        pages: Door::Calls(vec![
            |it| {
                let fields =
                    [("mode", "test"), ("wanted", it.of(it.subject.phone.as_str(), STRANGER)?)];
                form(format!("/p/{}/identities", it.project()), &fields)
            },
            |it| {
                it.only_right()?;
                page(format!("/p/{}/identities", it.project()))
            },
        ]),
        ..ONE
    }
}

pub fn erase() -> Row {
    Row {
        entry: Entry::Always(Action::IdentityErased),
        api: Door::Calls(vec![|it| api(Method::DELETE, in_api(it, "")?, Value::Null)]),
        pages: Door::Calls(vec![|it| {
            let fields = [("mode", "test"), ("id", it.id()?), ("word", "erase")];
            form(format!("/p/{}/identities/erase", it.project()), &fields)
        }]),
        ..ONE
    }
}

pub fn sessions() -> Row {
    Row {
        api: Door::Calls(vec![|it| get(in_api(it, "/sessions")?)]),
        pages: Door::Calls(vec![|it| page(in_pages(it, "")?)]),
        ..ONE
    }
}

pub fn end_sessions() -> Row {
    Row {
        entry: Entry::Always(Action::SessionsEnded),
        api: Door::Calls(vec![|it| api(Method::DELETE, in_api(it, "/sessions")?, Value::Null)]),
        pages: Door::Calls(vec![|it| form(in_pages(it, "/end")?, &[("word", "end all")])]),
        ..ONE
    }
}

pub fn end_session() -> Row {
    Row {
        entry: Entry::Always(Action::SessionsEnded),
        api: Door::Calls(vec![|it| {
            let path = in_api(it, &format!("/sessions/{}", it.subject.session))?;
            api(Method::DELETE, path, Value::Null)
        }]),
        pages: Door::Calls(vec![|it| {
            form(in_pages(it, "/end")?, &[("session", &it.subject.session)])
        }]),
        ..ONE
    }
}
