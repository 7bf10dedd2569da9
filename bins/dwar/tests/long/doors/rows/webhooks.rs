use super::{Door, Entry, INVALID, NOT_THERE, READ, Row, UNKNOWN};
use crate::doors::asking::{Given, api, cli, form, get, page, post};
use crate::doors::stage::About;
use dwar_operator::Action;
use reqwest::Method;
use serde_json::{Value, json};

/// The endpoint of the request: in the admin API, in the pages, and as options of a command.
pub fn in_api(it: &Given<'_>, rest: &str) -> Option<String> {
    Some(format!("/projects/{}/webhooks/{}{rest}", it.project(), it.id()?))
}

pub fn in_pages(it: &Given<'_>, rest: &str) -> Option<String> {
    Some(format!("/p/{}/settings/events/{}{rest}", it.project(), it.id()?))
}

pub fn options<'a>(it: &'a Given<'_>) -> Option<[(&'static str, &'a str); 2]> {
    Some([("project", it.project()), ("webhook", it.id()?)])
}

pub fn list() -> Row {
    Row {
        api: Door::Calls(vec![|it| get(format!("/projects/{}/webhooks", it.any_project()?))]),
        pages: Door::Calls(vec![|it| page(format!("/p/{}/settings/events", it.any_project()?))]),
        cli: Door::Calls(vec![|it| cli("webhook list", &[("project", it.any_project()?)])]),
        ..READ
    }
}

fn long() -> String {
    format!("https://example.com/{}", "x".repeat(2_048))
}

pub fn add() -> Row {
    Row {
        entry: Entry::Always(Action::EndpointAdded),
        wrong: INVALID,
        api: Door::Calls(vec![|it| {
            let url = it.pick(it.stage.hook.clone(), "ftp://example.com".to_owned(), long());
            post(format!("/projects/{}/webhooks", it.project()), json!({ "url": url }))
        }]),
        pages: Door::Calls(vec![
            |it| {
                let url = it.pick(it.stage.hook.clone(), "ftp://example.com".to_owned(), long());
                form(format!("/p/{}/settings/events", it.project()), &[("url", &url)])
            },
            |it| {
                let url = it.pick(it.stage.hook.clone(), "ftp://example.com".to_owned(), long());
                form(format!("/p/{}/settings/webhooks", it.project()), &[("url", &url)])
            },
        ]),
        cli: Door::Calls(vec![|it| {
            let url = it.pick(it.stage.hook.clone(), "ftp://example.com".to_owned(), long());
            cli("webhook add", &[("project", it.project()), ("url", &url)])
        }]),
        ..READ
    }
}

pub fn rotate() -> Row {
    Row {
        about: About::Webhook,
        entry: Entry::Always(Action::EndpointSecretRotated),
        wrong: UNKNOWN,
        elsewhere: NOT_THERE,
        api: Door::Calls(vec![|it| post(in_api(it, "/rotate-secret")?, Value::Null)]),
        pages: Door::Calls(vec![|it| form(in_pages(it, "/rotate")?, &[])]),
        cli: Door::Calls(vec![|it| cli("webhook rotate-secret", &options(it)?)]),
    }
}

pub fn enable() -> Row {
    Row {
        about: About::Webhook,
        entry: Entry::Always(Action::EndpointEnabled),
        wrong: UNKNOWN,
        elsewhere: NOT_THERE,
        api: Door::Calls(vec![|it| post(in_api(it, "/enable")?, Value::Null)]),
        pages: Door::Calls(vec![|it| form(in_pages(it, "/enable")?, &[])]),
        cli: Door::Calls(vec![|it| cli("webhook enable", &options(it)?)]),
    }
}

pub fn remove() -> Row {
    Row {
        about: About::Webhook,
        entry: Entry::Always(Action::EndpointRemoved),
        wrong: UNKNOWN,
        elsewhere: NOT_THERE,
        api: Door::Calls(vec![|it| api(Method::DELETE, in_api(it, "")?, Value::Null)]),
        pages: Door::Calls(vec![|it| form(in_pages(it, "/remove")?, &[("word", "remove")])]),
        cli: Door::Calls(vec![|it| cli("webhook remove", &options(it)?)]),
    }
}
