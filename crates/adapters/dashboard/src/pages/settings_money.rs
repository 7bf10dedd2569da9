use super::settings_form::{SettingsForm, card, optional};
use crate::form::{Field, Form, Refused};
use crate::format::rupees;
use crate::texts::settings as texts;
use crate::visit::Visit;
use dwar_operator::Command;
use dwar_project::{Project, ProjectChange};
use dwar_wallet::{Amount, Paise};
use maud::{Markup, html};
use serde::Deserialize;

/// Prices, and the balance that is low.
#[derive(Deserialize)]
pub(crate) struct MoneyForm {
    whatsapp_price: String,
    sms_price: String,
    low_balance: String,
}

impl SettingsForm for MoneyForm {
    const NAME: &'static str = "money";
    const COMMAND: Command = Command::ChangePrices;

    fn change(self) -> Result<ProjectChange, (&'static str, String)> {
        let rupees = |text: &str| Amount::from_rupees(text).map(Amount::paise);
        let amount = |field, text: &str| {
            optional(text.trim(), rupees).map_err(|_| (field, texts::NO_AMOUNT.to_owned()))
        };
        Ok(ProjectChange {
            whatsapp_price: Some(amount("whatsapp_price", &self.whatsapp_price)?),
            sms_price: Some(amount("sms_price", &self.sms_price)?),
            low_balance: Some(amount("low_balance", &self.low_balance)?),
            ..ProjectChange::default()
        })
    }
}

pub(crate) fn money_card(
    visit: &Visit,
    project: &Project,
    refused: Option<&Refused<'_>>,
) -> Markup {
    let plain = |amount: Option<Paise>| {
        amount.map(|paise| rupees(paise).replace(['₹', ','], "")).unwrap_or_default()
    };
    let prices = visit.console.prices;
    let field = |form: Form<'_>, name, label, own: Option<Paise>, default: &str, hint| {
        let value = plain(own);
        form.field(&Field { name, label, hint, value: &value, placeholder: default, ..Field::TEXT })
    };
    let own = &project.prices;
    let (whatsapp, sms) = (rupees(prices.whatsapp), rupees(prices.sms));
    card::<MoneyForm>(visit, project, texts::MONEY, refused, |form| {
        html! {
            div.columns {
                (field(form, "whatsapp_price", texts::WHATSAPP_PRICE, own.whatsapp, &whatsapp, ""))
                (field(form, "sms_price", texts::SMS_PRICE, own.sms, &sms, ""))
                (field(form, "low_balance", texts::LOW, project.low_balance, texts::TELLS_NOTHING, texts::LOW_HINT))
            }
        }
    })
}
