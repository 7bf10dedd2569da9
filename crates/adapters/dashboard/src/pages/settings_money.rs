use super::settings_form::{MONEY, field};
use crate::format::rupees;
use crate::texts::settings as texts;
use crate::visit::Visit;
use dwar_project::{Project, Setting};
use maud::{Markup, html};

pub(crate) fn card(visit: &Visit, project: &Project) -> Markup {
    let prices = visit.console.prices;
    let fields = [
        (Setting::WhatsappPrice, rupees(prices.whatsapp)),
        (Setting::SmsPrice, rupees(prices.sms)),
        (Setting::LowBalance, texts::TELLS_NOTHING.to_owned()),
        (Setting::DailySpend, texts::NO_LIMIT.to_owned()),
    ];
    MONEY.card(visit, project, |form| {
        html! {
            div.columns {
                @for (setting, default) in &fields {
                    (field(project, *setting, default, |it| form.field(it)))
                }
            }
        }
    })
}
