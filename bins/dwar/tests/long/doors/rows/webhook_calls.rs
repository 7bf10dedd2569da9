use super::webhooks::{in_api, in_pages, options};
use super::{Door, Entry, NOT_THERE, READ, Row, UNKNOWN};
use crate::doors::asking::{cli, form, get, page, post};
use crate::doors::stage::About;
use dwar_operator::Action;
use serde_json::{Value, json};

pub fn list() -> Row {
    Row {
        about: About::Webhook,
        wrong: UNKNOWN,
        elsewhere: NOT_THERE,
        api: Door::Calls(vec![|it| get(in_api(it, "/calls")?), |it| {
            let limit = it.pick(500, 500, 501);
            let path = format!("/projects/{}/webhooks/{}", it.project(), it.id_or_bound());
            get(format!("{path}/calls?limit={limit}"))
        }]),
        pages: Door::Calls(vec![
            |it| page(in_pages(it, "")?),
            // Its former address.
            |it| page(format!("/p/{}/settings/webhooks/{}", it.project(), it.id()?)),
        ]),
        cli: Door::Calls(vec![|it| cli("webhook log", &options(it)?), |it| {
            let (endpoint, limit) = (it.id_or_bound(), it.pick("500", "500", "501"));
            let options = [("project", it.project()), ("webhook", endpoint), ("limit", limit)];
            cli("webhook log", &options)
        }]),
        ..READ
    }
}

pub fn test() -> Row {
    Row {
        about: About::Webhook,
        entry: Entry::Always(Action::EndpointTested),
        wrong: UNKNOWN,
        elsewhere: NOT_THERE,
        api: Door::Calls(vec![|it| post(in_api(it, "/test")?, Value::Null)]),
        pages: Door::Calls(vec![|it| form(in_pages(it, "/test")?, &[])]),
        cli: Door::Calls(vec![|it| cli("webhook test", &options(it)?)]),
    }
}

pub fn resend() -> Row {
    Row {
        about: About::ToldWebhook,
        entry: Entry::Always(Action::EventResent),
        wrong: UNKNOWN,
        elsewhere: NOT_THERE,
        api: Door::Calls(vec![|it| {
            post(in_api(it, "/resend")?, json!({ "event_id": it.subject.event }))
        }]),
        pages: Door::Calls(vec![|it| {
            form(in_pages(it, "/resend")?, &[("event", &it.subject.event)])
        }]),
        cli: Door::Calls(vec![|it| {
            let [project, endpoint] = options(it)?;
            cli("webhook resend", &[project, endpoint, ("event", &it.subject.event)])
        }]),
    }
}
