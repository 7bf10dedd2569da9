use super::{Door, Entry, INVALID, NOT_THERE, READ, Row, UNKNOWN};
use crate::doors::asking::{cli, form, get, page, post};
use crate::doors::stage::{About, PHONE};
use dwar_operator::Action;
use serde_json::json;

const LOOKED_AT: &str = "what was sent is looked at in the pages, or by a program";

pub fn unlock() -> Row {
    Row {
        about: About::Number,
        entry: Entry::Always(Action::PhoneUnlocked),
        wrong: INVALID,
        api: Door::Calls(vec![|it| {
            let path = format!("/projects/{}/unlock", it.project());
            post(path, json!({ "phone": it.of(PHONE, "12345")? }))
        }]),
        pages: Door::Calls(vec![|it| {
            // The forms of another project contain another sealed text of the same number.
            let number = it.of(it.subject.id_in(it.case), "12345")?;
            let fields = [("mode", "live"), ("number", number), ("word", "clear")];
            form(format!("/p/{}/activity/unlock", it.project()), &fields)
        }]),
        cli: Door::Calls(vec![|it| {
            let phone = it.of(PHONE, "12345")?;
            cli("project unlock", &[("project", it.project()), ("phone", phone)])
        }]),
        ..READ
    }
}

pub fn figures() -> Row {
    Row {
        api: Door::Calls(vec![|it| get(format!("/projects/{}/figures", it.any_project()?))]),
        pages: Door::Calls(vec![|it| page(format!("/p/{}/overview", it.any_project()?))]),
        cli: Door::None(LOOKED_AT),
        ..READ
    }
}

pub fn list() -> Row {
    Row {
        api: Door::Calls(vec![|it| get(format!("/projects/{}/requests", it.any_project()?))]),
        pages: Door::Calls(vec![|it| page(format!("/p/{}/activity", it.any_project()?)), |it| {
            page(format!("/p/{}/activity/live", it.any_project()?))
        }]),
        cli: Door::Calls(vec![|it| cli("activity", &[("project", it.any_project()?)])]),
        ..READ
    }
}

pub fn download() -> Row {
    Row {
        api: Door::Calls(vec![|it| get(format!("/projects/{}/requests.csv", it.any_project()?))]),
        pages: Door::Calls(vec![|it| page(format!("/p/{}/activity.csv", it.any_project()?))]),
        cli: Door::None("`dwar activity` prints it, which lists them as well"),
        ..READ
    }
}

pub fn refused() -> Row {
    Row {
        api: Door::Calls(vec![|it| {
            get(format!("/projects/{}/requests/refused", it.any_project()?))
        }]),
        pages: Door::Calls(vec![|it| page(format!("/p/{}/activity", it.any_project()?))]),
        cli: Door::None(LOOKED_AT),
        ..READ
    }
}

pub fn search() -> Row {
    Row {
        entry: Entry::IfMasked(Action::PhoneSearched),
        wrong: INVALID,
        api: Door::Calls(vec![|it| {
            let body = json!({ "mode": "test", "phone": it.of(it.phone.as_str(), "12345")? });
            post(format!("/projects/{}/requests/search", it.project()), body)
        }]),
        pages: Door::Calls(vec![|it| {
            let fields = [("mode", "test"), ("phone", it.of(it.phone.as_str(), "12345")?)];
            form(format!("/p/{}/activity/phone", it.project()), &fields)
        }]),
        cli: Door::None(LOOKED_AT),
        ..READ
    }
}

pub fn show() -> Row {
    Row {
        about: About::Request,
        wrong: UNKNOWN,
        elsewhere: NOT_THERE,
        api: Door::Calls(vec![|it| {
            get(format!("/projects/{}/requests/{}", it.project(), it.id()?))
        }]),
        pages: Door::Calls(vec![|it| page(format!("/p/{}/activity/{}", it.project(), it.id()?))]),
        cli: Door::None(LOOKED_AT),
        ..READ
    }
}

pub fn unmask() -> Row {
    Row {
        about: About::Number,
        entry: Entry::Always(Action::PhoneUnmasked),
        wrong: UNKNOWN,
        elsewhere: NOT_THERE,
        api: Door::Calls(vec![|it| {
            let request = it.of(it.subject.request.as_str(), crate::doors::stage::NOBODY)?;
            let path = format!("/projects/{}/requests/{request}/unmask", it.project());
            post(path, serde_json::Value::Null)
        }]),
        pages: Door::Calls(vec![|it| {
            let fields = [("mode", "test"), ("number", it.of(it.subject.id.as_str(), "12345a")?)];
            form(format!("/p/{}/activity/unmask", it.project()), &fields)
        }]),
        cli: Door::None(LOOKED_AT),
    }
}
