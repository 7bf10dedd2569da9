use super::{Door, Elsewhere, Entry, INVALID, READ, Row};
use crate::doors::asking::{cli, form, get, page, post};
use crate::doors::stage::About;
use crate::doors::verdict::Verdict;
use dwar_operator::Action;
use serde_json::{Value, json};

const MOST_PAISE: i64 = 1_000_000_000_000;
const TOO_MUCH: &str = "10000000000.01";
const SELDOM: &str = "done seldom enough for a shell or a program";

pub fn show() -> Row {
    Row {
        api: Door::Calls(vec![|it| get(format!("/projects/{}/wallet", it.any_project()?))]),
        pages: Door::Calls(vec![|it| page(format!("/p/{}/wallet", it.any_project()?))]),
        cli: Door::Calls(vec![|it| cli("wallet balance", &[("project", it.any_project()?)])]),
        ..READ
    }
}

pub fn credit() -> Row {
    Row {
        entry: Entry::Always(Action::WalletCredited),
        wrong: INVALID,
        api: Door::Calls(vec![|it| {
            let paise = it.pick(100, 0, MOST_PAISE + 1);
            let body = json!({ "amount_paise": paise, "reference": it.word });
            post(format!("/projects/{}/wallet/credits", it.project()), body)
        }]),
        pages: Door::Calls(vec![|it| {
            let rupees = it.pick("1", "0", TOO_MUCH);
            let fields = [("rupees", rupees), ("reference", &it.word), ("confirmed", "yes")];
            form(format!("/p/{}/wallet/credit", it.project()), &fields)
        }]),
        cli: Door::Calls(vec![|it| {
            let rupees = it.pick("1", "0", TOO_MUCH);
            let options = [("project", it.project()), ("rupees", rupees), ("reference", &it.word)];
            cli("wallet credit", &options)
        }]),
        ..READ
    }
}

pub fn refund() -> Row {
    Row {
        about: About::Charge,
        entry: Entry::Always(Action::WalletRefunded),
        wrong: INVALID,
        elsewhere: Elsewhere::StoreSays(Verdict::Conflict),
        api: Door::Calls(vec![|it| {
            let body = json!({ "otp_id": it.of(it.subject.id.as_str(), "12345")? });
            post(format!("/projects/{}/wallet/refunds", it.project()), body)
        }]),
        pages: Door::Calls(vec![|it| {
            let send = it.of(it.subject.id.as_str(), "12345")?;
            let fields = [("otp_id", send), ("confirmed", "yes")];
            form(format!("/p/{}/wallet/refund", it.project()), &fields)
        }]),
        cli: Door::Calls(vec![|it| {
            let send = it.of(it.subject.id.as_str(), "12345")?;
            cli("wallet refund", &[("project", it.project()), ("otp", send)])
        }]),
    }
}

pub fn adjust() -> Row {
    Row {
        entry: Entry::Always(Action::WalletAdjusted),
        wrong: INVALID,
        api: Door::Calls(vec![|it| {
            let paise = it.pick(100, 0, -MOST_PAISE - 1);
            let body = json!({ "amount_paise": paise, "reference": it.word });
            post(format!("/projects/{}/wallet/adjustments", it.project()), body)
        }]),
        pages: Door::Calls(vec![|it| {
            let rupees = it.pick("1", "0", "-10000000000.01");
            let fields = [("correction", rupees), ("reason", &it.word), ("confirmed", "yes")];
            form(format!("/p/{}/wallet/adjustment", it.project()), &fields)
        }]),
        cli: Door::Calls(vec![|it| {
            let rupees = it.pick("1", "0", "-10000000000.01");
            let options = [("project", it.project()), ("rupees", rupees), ("reference", &it.word)];
            cli("wallet adjust", &options)
        }]),
        ..READ
    }
}

pub fn prove_all() -> Row {
    Row {
        api: Door::Calls(vec![|it| {
            it.only_right()?;
            post("/wallets/proof", Value::Null)
        }]),
        pages: Door::None(SELDOM),
        cli: Door::Calls(vec![|it| {
            it.only_right()?;
            cli("wallet verify", &[])
        }]),
        ..READ
    }
}

pub fn entries() -> Row {
    Row {
        wrong: INVALID,
        api: Door::Calls(vec![|it| {
            let query = it.pick("", "?kind=gift", "?limit=501");
            get(format!("/projects/{}/wallet/entries{query}", it.project()))
        }]),
        pages: Door::Calls(vec![|it| {
            page(format!("/p/{}/wallet{}", it.project(), it.of("", "?kind=gift")?))
        }]),
        cli: Door::Calls(vec![|it| {
            let limit = it.pick("500", "0", "4294967296");
            cli("wallet statement", &[("project", it.project()), ("limit", limit)])
        }]),
        ..READ
    }
}

pub fn statement() -> Row {
    Row {
        wrong: INVALID,
        api: Door::Calls(vec![|it| {
            let query = it.of("", "?kind=gift")?;
            get(format!("/projects/{}/wallet/statement.csv{query}", it.project()))
        }]),
        pages: Door::Calls(vec![|it| {
            page(format!("/p/{}/wallet/statement.csv{}", it.project(), it.of("", "?kind=gift")?))
        }]),
        cli: Door::None("a file to be downloaded; `dwar wallet statement` prints what is new"),
        ..READ
    }
}

pub fn proof() -> Row {
    Row {
        api: Door::Calls(vec![|it| get(format!("/projects/{}/wallet/proof", it.any_project()?))]),
        pages: Door::Calls(vec![|it| page(format!("/p/{}/wallet", it.any_project()?))]),
        cli: Door::None("`dwar wallet prove` waits for its proof and prints it"),
        ..READ
    }
}

pub fn prove() -> Row {
    Row {
        about: About::IdleLedger,
        entry: Entry::Always(Action::LedgerProved),
        api: Door::Calls(vec![|it| {
            post(format!("/projects/{}/wallet/proof", it.any_project()?), json!({}))
        }]),
        pages: Door::Calls(vec![|it| form(format!("/p/{}/wallet/proof", it.any_project()?), &[])]),
        cli: Door::Calls(vec![|it| cli("wallet prove", &[("project", it.any_project()?)])]),
        ..READ
    }
}

pub fn close() -> Row {
    const FILES: &str = "it writes files to a folder of the machine";
    Row {
        wrong: INVALID,
        api: Door::None(FILES),
        pages: Door::None(FILES),
        cli: Door::Calls(vec![|it| {
            let before = it.of("2020-01", "2020-13")?;
            cli("wallet close", &[("project", it.project()), ("before", before)])
        }]),
        ..READ
    }
}
