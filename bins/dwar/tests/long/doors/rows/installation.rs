use super::{Door, Entry, INVALID, READ, Row};
use crate::doors::asking::{cli, get, page, post};
use dwar_operator::Action;
use serde_json::Value;

const DOCTOR: &str = "`dwar doctor` shows them, whose answer is about more";
const AT_THE_MACHINE: &str = "keys are managed on the machine, or by a program";

pub fn audit() -> Row {
    Row {
        wrong: INVALID,
        api: Door::Calls(vec![|it| {
            it.anywhere()?;
            get(it.pick("/audit", "/audit?since=yesterday", "/audit?limit=501"))
        }]),
        pages: Door::Calls(vec![|it| {
            it.only_right()?;
            page("/audit")
        }]),
        cli: Door::Calls(vec![|it| {
            it.anywhere()?;
            cli("audit", &[("since", it.of("2026-01-01", "yesterday")?)])
        }]),
        ..READ
    }
}

pub fn export() -> Row {
    Row {
        wrong: INVALID,
        api: Door::Calls(vec![|it| {
            it.anywhere()?;
            get(it.of("/audit/export", "/audit/export?since=yesterday")?)
        }]),
        pages: Door::Calls(vec![|it| {
            it.anywhere()?;
            page(it.of("/audit/export", "/audit/export?from=yesterday")?)
        }]),
        cli: Door::Calls(vec![|it| {
            it.anywhere()?;
            cli("audit", &[("since", it.of("2026-01-01", "yesterday")?)])
        }]),
        ..READ
    }
}

pub fn project_audit() -> Row {
    Row {
        api: Door::Calls(vec![|it| get(format!("/projects/{}/audit", it.any_project()?))]),
        pages: Door::Calls(vec![|it| page(format!("/p/{}/audit", it.any_project()?))]),
        cli: Door::Calls(vec![|it| cli("audit", &[("project", it.any_project()?)])]),
        ..READ
    }
}

pub fn project_export() -> Row {
    Row {
        api: Door::Calls(vec![|it| get(format!("/projects/{}/audit/export", it.any_project()?))]),
        pages: Door::Calls(vec![|it| page(format!("/p/{}/audit/export", it.any_project()?))]),
        cli: Door::Calls(vec![|it| cli("audit", &[("project", it.any_project()?)])]),
        ..READ
    }
}

pub fn signing_keys() -> Row {
    Row {
        wrong: INVALID,
        api: Door::Calls(vec![|it| {
            it.anywhere()?;
            get(it.pick("/signing-keys", "/signing-keys?limit=x", "/signing-keys?limit=501"))
        }]),
        pages: Door::None(AT_THE_MACHINE),
        cli: Door::Calls(vec![|it| {
            it.only_right()?;
            cli("signing-key list", &[])
        }]),
        ..READ
    }
}

pub fn rotate() -> Row {
    Row {
        entry: Entry::Always(Action::SigningKeyRotated),
        api: Door::Calls(vec![|it| {
            it.only_right()?;
            post("/signing-keys/rotate", Value::Null)
        }]),
        pages: Door::None(AT_THE_MACHINE),
        cli: Door::Calls(vec![|it| {
            it.only_right()?;
            cli("signing-key rotate", &[])
        }]),
        ..READ
    }
}

pub fn alerts() -> Row {
    Row {
        api: Door::Calls(vec![|it| {
            it.only_right()?;
            get("/alerts")
        }]),
        pages: Door::None("every page shows them, above its content"),
        cli: Door::None(DOCTOR),
        ..READ
    }
}

pub fn project_alerts() -> Row {
    Row {
        api: Door::Calls(vec![|it| get(format!("/projects/{}/alerts", it.any_project()?))]),
        pages: Door::None("every page of the project shows them, above its content"),
        cli: Door::None(DOCTOR),
        ..READ
    }
}

pub fn operations() -> Row {
    Row {
        api: Door::Calls(vec![|it| {
            it.only_right()?;
            get("/operations")
        }]),
        pages: Door::Calls(vec![|it| {
            it.only_right()?;
            page("/operations")
        }]),
        cli: Door::None("`dwar doctor` looks for itself, also where no service runs"),
        ..READ
    }
}
