//! A project's spending: whether its balance is low, how long it lasts, and the cost of each month.

use super::parts::{heads, notice, titled_table};
use crate::format::{india, rupees};
use crate::texts::wallet as texts;
use dwar_console::{ChannelSpend, Spend, explain};
use dwar_kernel::{Channel, Paise};
use dwar_project::Project;
use dwar_wallet::{Balance, BalanceLevel};
use maud::{Markup, html};
use std::collections::BTreeMap;

const CHANNELS: [Channel; 2] = [Channel::Whatsapp, Channel::Sms];

/// A notice if the balance is low.
pub(crate) fn level(project: &Project, spend: &Spend) -> Markup {
    match (spend.level, project.low_balance) {
        (BalanceLevel::Empty, _) => html! { p.notice.bad { (texts::EMPTY_NOW) } },
        (BalanceLevel::Low, Some(low)) => {
            notice("warn", &format!("{} {}.", texts::LOW_NOW, rupees(low)))
        }
        (BalanceLevel::Low | BalanceLevel::Enough, _) => html! {},
    }
}

pub(crate) fn figures(project: &Project, balance: Balance, spend: &Spend) -> Markup {
    let amounts = [
        (texts::AVAILABLE, balance.available()),
        (texts::BALANCE, balance.balance),
        (texts::HELD, balance.held),
    ];
    html! {
        dl.figures {
            @for (label, amount) in amounts {
                div.card { dt { (label) } dd { (rupees(amount)) } }
            }
            @if let Some(limit) = project.daily_spend {
                div.card {
                    dt { (texts::TODAY) }
                    dd { (rupees(spend.today)) }
                    dd.beside { (texts::of_limit(&rupees(limit))) }
                }
            }
            div.card {
                dt { (texts::LASTS) }
                @match spend.days_left {
                    Some(days) => { dd { (texts::days(days)) } dd.beside { (texts::PACE) } },
                    None => { dd { "–" } dd.beside { (texts::NO_PACE) } },
                }
            }
        }
    }
}

pub(crate) fn months(spend: &Spend) -> Markup {
    let [whatsapp, sms] = CHANNELS.map(explain::channel);
    let heads = heads(&[texts::MONTH], &[whatsapp, sms, texts::TOTAL]);
    let rows = html! {
        @for (month, channels) in &spend.months { tr {
            th scope="row" { (india(month.since(), "%B %Y")) }
            @for channel in CHANNELS {
                td.amount data-label=(explain::channel(channel)) { (cost(channels.get(&channel))) }
            }
            td.amount data-label=(texts::TOTAL) { strong { (rupees(together(channels))) } }
        } }
    };
    html! {
        @if !spend.months.is_empty() {
            (titled_table(texts::MONTHS, "cards months", &heads, &rows))
            p.hint { (texts::MONTHS_KEPT) }
        }
    }
}

fn cost(of: Option<&ChannelSpend>) -> Markup {
    html! {
        @match of {
            Some(of) => { (rupees(of.spent)) br; small { (texts::codes(of.requests)) } },
            None => "–",
        }
    }
}

fn together(channels: &BTreeMap<Channel, ChannelSpend>) -> Paise {
    Paise(channels.values().map(|channel| channel.spent.0).sum())
}
