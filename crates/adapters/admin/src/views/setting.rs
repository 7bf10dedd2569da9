//! The settings of a project in JSON, made from the domain's table: how they are shown, read and
//! described.

use crate::endpoint::Parsed;
use dwar_kernel::{Amount, FixedClaims, GuardMode, InvalidClaims, Paise, TokenType};
use dwar_project::{Messages, ProjectChange, ProjectName, Setting, SettingGroup, SettingValue};
use dwar_wire::openapi::{claims, given_claims};
use serde::de::{DeserializeSeed, Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{
    AdditionalProperties, ArrayBuilder, KnownFormat, ObjectBuilder, Schema, SchemaFormat,
    SchemaType, Type,
};

/// Descriptions of a setting whose name does not explain it: in answers, and in requests.
const fn about(setting: Setting) -> (&'static str, &'static str) {
    match setting {
        Setting::IdentityLookup => ("Whether `GET /v1/identity` answers.", ""),
        Setting::IdentityDelete => ("Whether `DELETE /v1/identity` deletes.", ""),
        Setting::RelayLive => ("Whether `POST /v1/otp/relay` sends with the live key.", ""),
        Setting::RelayTest => ("Whether `POST /v1/otp/relay` sends with the test key.", ""),
        Setting::EventsFeed => ("Whether events are kept and `GET /v1/events` answers.", ""),
        Setting::Guard => (
            "Whether live sends are guarded against floods: `watch` counts, `enforce` asks for proofs.",
            "",
        ),
        Setting::OwnIssuer => ("Whether the `iss` of live tokens is the project's own issuer.", ""),
        Setting::TokenType => {
            ("The `typ` of live tokens whose `iss` is the project's own issuer.", "")
        }
        Setting::SmsText => ("", "Text with the placeholders `{code}`, `{brand}` and `{minutes}`."),
        Setting::LastLines => {
            ("Other domains and app hashes that a send may name.", "Replaces the whole list.")
        }
        Setting::WhatsappProviders | Setting::SmsProviders => {
            ("An empty list skips the channel.", "")
        }
        Setting::FallbackSeconds => (
            "Seconds to wait for a receipt before the next channel is tried; with 0 only a \
             failure leads to it.",
            "",
        ),
        Setting::LowBalance => ("A balance below this sends an event; null sends none.", ""),
        Setting::DailySpend => (
            "Live sends beyond this spend per day in Indian time are refused; null for no limit.",
            "",
        ),
        _ => ("", ""),
    }
}

pub(super) struct SettingJson(pub(super) SettingValue);

impl Serialize for SettingJson {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            SettingValue::Switch(on) => on.serialize(out),
            SettingValue::Name(text) => text.serialize(out),
            SettingValue::Text(own) => own.serialize(out),
            SettingValue::Lines(lines) => lines.serialize(out),
            SettingValue::Providers(own) => own.serialize(out),
            SettingValue::Seconds(own) => own.serialize(out),
            SettingValue::Paise(own) => own.map(|paise| paise.0).serialize(out),
            SettingValue::Claims(claims) => out.collect_map(claims.iter()),
            SettingValue::TokenType(token_type) => token_type.as_str().serialize(out),
            SettingValue::Guard(mode) => mode.as_str().serialize(out),
        }
    }
}

/// A change of settings from a body, or the reason why its claims are invalid.
pub(crate) type ParsedChange = Result<ProjectChange, (Setting, InvalidClaims)>;

/// Reads the settings of a group. An absent setting stays unchanged. Null resets a setting that has
/// a default of the installation, and leaves the others unchanged.
pub(crate) fn read<'de, D: Deserializer<'de>>(
    group: SettingGroup,
    body: D,
) -> Result<ParsedChange, D::Error> {
    body.deserialize_map(SettingsVisitor(group))
}

struct SettingsVisitor(SettingGroup);

impl<'de> Visitor<'de> for SettingsVisitor {
    type Value = ParsedChange;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ParsedChange, A::Error> {
        let (mut change, mut seen, mut fault) = (ProjectChange::default(), Vec::new(), None);
        while let Some(setting) = map.next_key_seed(SettingNameSeed(self.0))? {
            if seen.contains(&setting) {
                return Err(A::Error::duplicate_field(setting.as_str()));
            }
            seen.push(setting);
            match value_of(setting, &mut map)? {
                Some(Ok(value)) => change.set(setting, value),
                Some(Err(cause)) => fault = Some((setting, cause)),
                None => {}
            }
        }
        Ok(fault.map_or(Ok(change), Err))
    }
}

/// Reads the name of a setting of the group. The error for an unknown name points at the name
/// itself.
struct SettingNameSeed(SettingGroup);

impl<'de> DeserializeSeed<'de> for SettingNameSeed {
    type Value = Setting;

    fn deserialize<D: Deserializer<'de>>(self, name: D) -> Result<Setting, D::Error> {
        let name = String::deserialize(name)?;
        let setting = of_group(self.0).find(|setting| setting.as_str() == name);
        setting.ok_or_else(|| {
            let names: Vec<_> = of_group(self.0).map(|it| format!("`{it}`")).collect();
            let names = names.join(", ");
            D::Error::custom(format_args!("unknown field `{name}`, expected one of {names}"))
        })
    }
}

fn value_of<'de, A: MapAccess<'de>>(
    setting: Setting,
    map: &mut A,
) -> Result<Option<Result<SettingValue, InvalidClaims>>, A::Error> {
    let value = match setting.blank() {
        SettingValue::Switch(_) => map.next_value::<Option<_>>()?.map(SettingValue::Switch),
        SettingValue::Name(_) => map.next_value::<Option<_>>()?.map(SettingValue::Name),
        SettingValue::Lines(_) => map.next_value::<Option<_>>()?.map(SettingValue::Lines),
        SettingValue::Text(_) => Some(SettingValue::Text(map.next_value()?)),
        SettingValue::Providers(_) => Some(SettingValue::Providers(map.next_value()?)),
        SettingValue::Seconds(_) => Some(SettingValue::Seconds(map.next_value()?)),
        SettingValue::Paise(_) => {
            Some(SettingValue::Paise(map.next_value::<Option<_>>()?.map(Paise)))
        }
        SettingValue::Claims(_) => {
            let claims = map.next_value::<Option<BTreeMap<_, _>>>()?;
            let read = |claims: BTreeMap<_, _>| FixedClaims::new(claims.into_iter().collect());
            return Ok(claims.map(|claims| read(claims).map(SettingValue::Claims)));
        }
        SettingValue::TokenType(_) => {
            let given = map.next_value::<Option<Parsed<TokenType>>>()?;
            given.map(|Parsed(token_type)| SettingValue::TokenType(token_type))
        }
        SettingValue::Guard(_) => {
            let given = map.next_value::<Option<Parsed<GuardMode>>>()?;
            given.map(|Parsed(mode)| SettingValue::Guard(mode))
        }
    };
    Ok(value.map(Ok))
}

fn of_group(group: SettingGroup) -> impl Iterator<Item = Setting> {
    Setting::ALL.into_iter().filter(move |setting| setting.group() == group)
}

/// The schema of the object that [`read`] reads.
pub(crate) fn describe_change(group: SettingGroup, description: &str) -> RefOr<Schema> {
    let object = of_group(group).fold(ObjectBuilder::new(), |object, setting| {
        object.property(setting.as_str(), describe(setting, true))
    });
    let nothing_else = AdditionalProperties::FreeForm(false);
    object.description(Some(description)).additional_properties(Some(nothing_else)).into()
}

/// Adds every setting to the schema of a project.
pub(super) fn describe_all(mut object: ObjectBuilder) -> ObjectBuilder {
    for setting in Setting::ALL {
        object = object.property(setting.as_str(), describe(setting, false));
        if !may_be_null(&setting.blank()) {
            object = object.required(setting.as_str());
        }
    }
    object
}

const fn may_be_null(value: &SettingValue) -> bool {
    match value {
        SettingValue::Text(_)
        | SettingValue::Providers(_)
        | SettingValue::Seconds(_)
        | SettingValue::Paise(_) => true,
        SettingValue::Switch(_)
        | SettingValue::Name(_)
        | SettingValue::Lines(_)
        | SettingValue::Claims(_)
        | SettingValue::TokenType(_)
        | SettingValue::Guard(_) => false,
    }
}

fn describe(setting: Setting, given: bool) -> RefOr<Schema> {
    let (blank, (shown, to_give)) = (setting.blank(), about(setting));
    let about = Some(if given { to_give } else { shown }).filter(|about| !about.is_empty());
    let kind = |kind: Type| match given || may_be_null(&blank) {
        true => SchemaType::from_iter([kind, Type::Null]),
        false => kind.into(),
    };
    let plain = |of: Type| ObjectBuilder::new().schema_type(kind(of)).description(about);
    let list = || {
        let text = ObjectBuilder::new().schema_type(Type::String);
        ArrayBuilder::new().schema_type(kind(Type::Array)).items(text).description(about)
    };
    let number = |format| plain(Type::Integer).format(Some(SchemaFormat::KnownFormat(format)));
    match blank {
        SettingValue::Switch(_) => plain(Type::Boolean).into(),
        SettingValue::Text(_) => plain(Type::String).into(),
        SettingValue::Name(_) if given => {
            plain(Type::String).min_length(Some(1)).max_length(Some(ProjectName::LONGEST)).into()
        }
        SettingValue::Name(_) => plain(Type::String).into(),
        SettingValue::Lines(_) => list().max_items(Some(Messages::MOST_LAST_LINES)).into(),
        SettingValue::Providers(_) => list().into(),
        SettingValue::Seconds(_) => number(KnownFormat::Int32).minimum(Some(0)).into(),
        SettingValue::Paise(_) if given => {
            let most = Amount::MOST.0;
            number(KnownFormat::Int64).minimum(Some(0)).maximum(Some(most)).into()
        }
        SettingValue::Paise(_) => number(KnownFormat::Int64).into(),
        SettingValue::Claims(_) if given => given_claims().into(),
        SettingValue::Claims(_) => claims().into(),
        SettingValue::TokenType(_) => {
            one_of(plain(Type::String), TokenType::ALL.map(TokenType::as_str), given)
        }
        SettingValue::Guard(_) => {
            one_of(plain(Type::String), GuardMode::ALL.map(GuardMode::as_str), given)
        }
    }
}

/// Limits a text to these words, and to null in a request.
fn one_of<const N: usize>(
    text: ObjectBuilder,
    words: [&'static str; N],
    given: bool,
) -> RefOr<Schema> {
    let null = given.then_some(Value::Null);
    text.enum_values(Some(words.map(Value::from).into_iter().chain(null))).into()
}
