use std::net::IpAddr;

use serde::Serialize;

/// What a send may name besides the phone, such as
/// `SendOptions { device: Some(device), ..SendOptions::default() }`.
#[derive(Clone, Copy, Default, Serialize)]
pub struct SendOptions<'a> {
    /// The last line of an SMS, a domain or an app hash that the project allows; by default the project's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_line: Option<&'a str>,
    /// Who asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visitor: Option<Visitor>,
    /// From an earlier answer of a verify to the same browser or app.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<&'a str>,
}

/// The person in front of the page or the app, as your backend sees them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Visitor {
    /// Nothing if it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<IpAddr>,
    /// Whether your backend has a proof that this is a person, such as a captcha that it checked itself. Never take this
    /// from what the visitor sends.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub trusted: bool,
}

#[derive(Serialize)]
pub(crate) struct SendBody<'a> {
    pub phone: &'a str,
    #[serde(flatten)]
    pub options: SendOptions<'a>,
}
