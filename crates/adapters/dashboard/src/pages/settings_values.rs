//! The settings of a project as form fields.

use crate::form::SubmittedFields;
use crate::format::rupees;
use crate::texts::settings as texts;
use dwar_kernel::{FixedClaims, GuardMode, TokenType};
use dwar_project::{Setting, SettingValue};
use dwar_wallet::Amount;

/// The option to send nothing over a channel.
pub(super) const NONE: &str = "none";

/// The name of a setting's field. Amounts are typed in rupees, so it lacks their unit.
pub(super) fn name_of(setting: Setting) -> &'static str {
    let name = setting.as_str();
    name.strip_suffix("_paise").unwrap_or(name)
}

/// The name of the field for a place in an order. The first has the name of the setting, which a
/// refusal refers to.
pub(super) fn place_of(field: &str, place: usize) -> String {
    if place == 0 { field.to_owned() } else { format!("{field}_{}", place + 1) }
}

pub(super) fn shown(value: SettingValue) -> String {
    match value {
        SettingValue::Name(text) => text,
        SettingValue::Text(own) => own.unwrap_or_default(),
        SettingValue::Lines(lines) => lines.join(", "),
        SettingValue::Seconds(own) => own.map(|own| own.to_string()).unwrap_or_default(),
        SettingValue::Paise(own) => {
            own.map(|paise| rupees(paise).replace(['₹', ','], "")).unwrap_or_default()
        }
        SettingValue::Claims(claims) => claims.to_string(),
        SettingValue::TokenType(token_type) => token_type.to_string(),
        SettingValue::Guard(mode) => mode.to_string(),
        SettingValue::Switch(_) | SettingValue::Providers(_) => String::new(),
    }
}

pub(crate) enum InvalidInput {
    Missing,
    /// The field with this name is invalid, for this reason.
    Field(&'static str, String),
}

/// The typed value; an empty field means the installation's own. `None` leaves the setting
/// unchanged.
pub(super) fn read(
    setting: Setting,
    typed: &SubmittedFields,
) -> Result<Option<SettingValue>, InvalidInput> {
    let name = name_of(setting);
    let given = typed.get(name);
    match setting.blank() {
        SettingValue::Switch(_) => Ok(Some(SettingValue::Switch(given.is_some()))),
        SettingValue::Providers(_) => Ok(Some(SettingValue::Providers(providers(name, typed)))),
        SettingValue::Lines(_) => Ok(given.map(|text| SettingValue::Lines(words(text)))),
        SettingValue::TokenType(_) => {
            let token_type = given.map(str::parse::<TokenType>).transpose();
            let token_type =
                token_type.map_err(|why| InvalidInput::Field(name, why.to_string()))?;
            Ok(token_type.map(SettingValue::TokenType))
        }
        SettingValue::Guard(_) => {
            let mode = given.map(str::parse::<GuardMode>).transpose();
            let mode = mode.map_err(|why| InvalidInput::Field(name, why.to_string()))?;
            Ok(mode.map(SettingValue::Guard))
        }
        blank => {
            let text = given.ok_or(InvalidInput::Missing)?;
            value_of(&blank, text).map(Some).map_err(|why| InvalidInput::Field(name, why))
        }
    }
}

/// Parses a value of the same kind as `blank`.
fn value_of(blank: &SettingValue, text: &str) -> Result<SettingValue, String> {
    let own = Some(text.trim()).filter(|text| !text.is_empty());
    Ok(match blank {
        SettingValue::Seconds(_) => {
            let seconds = own.map(str::parse).transpose().map_err(|_| texts::NO_SECONDS)?;
            SettingValue::Seconds(seconds)
        }
        SettingValue::Paise(_) => {
            let amount = own.map(Amount::from_rupees).transpose().map_err(|_| texts::NO_AMOUNT)?;
            SettingValue::Paise(amount.map(Amount::paise))
        }
        SettingValue::Claims(_) => {
            let claims = text.parse::<FixedClaims>();
            SettingValue::Claims(claims.map_err(|cause| cause.to_string())?)
        }
        SettingValue::Name(_) => SettingValue::Name(text.to_owned()),
        _ => SettingValue::Text(Some(text.to_owned())),
    })
}

/// Splits a text at blanks, commas and line breaks.
fn words(text: &str) -> Vec<String> {
    let words = text.split(|it: char| it.is_whitespace() || it == ',');
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// The chosen providers of a channel, in order; `None` means the installation's own list.
fn providers(field: &str, typed: &SubmittedFields) -> Option<Vec<String>> {
    let chosen = (0..).map_while(|place| typed.get(&place_of(field, place)));
    let chosen: Vec<_> = chosen.filter(|name| !name.is_empty()).map(str::to_owned).collect();
    match chosen.as_slice() {
        [] => None,
        names if names.iter().any(|name| name == NONE) => Some(Vec::new()),
        _ => Some(chosen),
    }
}
