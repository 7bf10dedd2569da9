//! The commands on hooks, as requests at each door.
//!
//! `it.pick(right, wrong, beyond)` is the value for the case that is tested. `None` means that the door cannot
//! express the case.

use super::{Door, Entry, INVALID, NOT_THERE, READ, Row, UNKNOWN};
use crate::doors::asking::{Given, api, cli, form, get, page, post};
use crate::doors::stage::About;
use dwar_operator::Action;
use reqwest::Method;
use serde_json::{Value, json};

fn in_api(it: &Given<'_>, rest: &str) -> Option<String> {
    Some(format!("/projects/{}/hooks/{}{rest}", it.project(), it.id()?))
}

fn in_pages(it: &Given<'_>, rest: &str) -> Option<String> {
    Some(format!("/p/{}/settings/hooks/{}{rest}", it.project(), it.id()?))
}

fn options<'a>(it: &'a Given<'_>) -> Option<[(&'static str, &'a str); 2]> {
    Some([("project", it.project()), ("hook", it.id()?)])
}

pub fn list() -> Row {
    Row {
        api: Door::Calls(vec![|it| get(format!("/projects/{}/hooks", it.any_project()?))]),
        pages: Door::Calls(vec![|it| page(format!("/p/{}/settings/events", it.any_project()?))]),
        cli: Door::Calls(vec![|it| cli("hook list", &[("project", it.any_project()?)])]),
        ..READ
    }
}

pub fn add() -> Row {
    Row {
        entry: Entry::Always(Action::HookAdded),
        wrong: INVALID,
        api: Door::Calls(vec![|it| {
            let seconds = it.pick(300, 59, 3_601);
            let hook = json!({ "kind": "supabase", "mode": "test", "expires_in": seconds });
            post(format!("/projects/{}/hooks", it.project()), hook)
        }]),
        pages: Door::Calls(vec![|it| {
            let seconds = it.pick("300", "59", "3601");
            let fields = [("kind", "supabase"), ("mode", "test"), ("expires_in", seconds)];
            form(format!("/p/{}/settings/hooks", it.project()), &fields)
        }]),
        cli: Door::Calls(vec![|it| {
            let seconds = it.pick("300", "59", "3601");
            let new = [("kind", "supabase"), ("mode", "test"), ("expires-in", seconds)];
            cli("hook add", &[&[("project", it.project())], new.as_slice()].concat())
        }]),
        ..READ
    }
}

pub fn change() -> Row {
    Row {
        about: About::Hook,
        entry: Entry::Always(Action::HookChanged),
        wrong: UNKNOWN,
        elsewhere: NOT_THERE,
        api: Door::Calls(vec![|it| {
            api(Method::PATCH, in_api(it, "")?, json!({ "expires_in": 120, "mfa_expires_in": 60 }))
        }]),
        pages: Door::Calls(vec![|it| {
            let seconds = [("changed_expires_in", "120"), ("changed_mfa_expires_in", "60")];
            let changed = [&[("hook", it.id()?)], seconds.as_slice()].concat();
            form(format!("/p/{}/settings/hooks/change", it.project()), &changed)
        }]),
        cli: Door::Calls(vec![|it| {
            let changed = [("expires-in", "120"), ("mfa-expires-in", "60")];
            cli("hook set", &[options(it)?, changed].concat())
        }]),
    }
}

pub fn rotate() -> Row {
    Row {
        about: About::Hook,
        entry: Entry::Always(Action::HookSecretRotated),
        wrong: UNKNOWN,
        elsewhere: NOT_THERE,
        api: Door::Calls(vec![|it| post(in_api(it, "/rotate-secret")?, Value::Null)]),
        pages: Door::Calls(vec![|it| form(in_pages(it, "/rotate")?, &[])]),
        cli: Door::Calls(vec![|it| cli("hook rotate-secret", &options(it)?)]),
    }
}

pub fn remove() -> Row {
    Row {
        about: About::Hook,
        entry: Entry::Always(Action::HookRemoved),
        wrong: UNKNOWN,
        elsewhere: NOT_THERE,
        api: Door::Calls(vec![|it| api(Method::DELETE, in_api(it, "")?, Value::Null)]),
        pages: Door::Calls(vec![|it| form(in_pages(it, "/remove")?, &[("word", "remove")])]),
        cli: Door::Calls(vec![|it| cli("hook remove", &options(it)?)]),
    }
}
