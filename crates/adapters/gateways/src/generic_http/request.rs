use super::settings::{GenericHttpSettings, GenericMethod};
use super::template::{Slot, Template, in_header, in_path};
use crate::{BaseUrl, HttpClient, InvalidBaseUrl};
use dwar_otp::Message;
use reqwest::header::{
    CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderName, HeaderValue, TRANSFER_ENCODING,
};
use reqwest::{Method, RequestBuilder};
use serde_json::Value;

/// The checked request of the settings, with places for the values of a message.
pub(super) struct RequestTemplate {
    method: Method,
    origin: BaseUrl,
    path: Vec<Template>,
    headers: Vec<(HeaderName, Template)>,
    basic_auth: Option<(String, String)>,
    query: Pairs,
    form: Pairs,
    /// JSON, and a template for each of its [`strings`].
    json: Option<(Value, Vec<Template>)>,
    template_id: String,
}

type Pairs = Vec<(String, Template)>;

impl RequestTemplate {
    /// # Errors
    /// A sentence that names the key and the problem.
    pub(super) fn new(settings: &GenericHttpSettings) -> Result<Self, String> {
        let request = &settings.request;
        let template = |key: &str, text: &str| {
            Template::parse(text, &settings.secrets).map_err(|what| format!("{key}: {what}"))
        };
        let pairs = |key: &str, pairs: &[(String, String)]| -> Result<Pairs, String> {
            let pair = |(name, text): &(String, String)| {
                Ok((name.clone(), template(&format!("request.{key} {name:?}"), text)?))
            };
            pairs.iter().map(pair).collect()
        };
        let (origin, path) = split(&request.url, settings.allow_plain_http)?;
        let path = path.split('/').map(|segment| template("request.url", segment));
        let path: Vec<_> = path.collect::<Result<_, _>>()?;
        if !path.iter().flat_map(Template::literals).all(is_plain_path) {
            return Err("request.url: its path has characters that need encoding".to_owned());
        }
        let headers = pairs("headers", &request.headers)?;
        let headers = headers.into_iter().map(header).collect::<Result<_, _>>()?;
        let constant = |text: &str| {
            let constant = template("request.basic_auth", text)?.constant();
            constant.ok_or("request.basic_auth: only secrets are allowed in it".to_owned())
        };
        let basic_auth = match &request.basic_auth {
            Some((user, password)) => Some((constant(user)?, constant(password)?)),
            None => None,
        };
        if basic_auth.as_ref().is_some_and(|(user, _)| user.contains(':')) {
            return Err("request.basic_auth: a user has no colon".to_owned());
        }
        let json = |text: &String| -> Result<_, String> {
            let mut value: Value = serde_json::from_str(text)
                .map_err(|error| format!("request.json: it is not JSON: {error}"))?;
            let texts = strings(&mut value).into_iter();
            let templates = texts.map(|text| template("request.json", text));
            let templates = templates.collect::<Result<_, _>>()?;
            Ok((value, templates))
        };
        let call = Self {
            method: match request.method {
                GenericMethod::Get => Method::GET,
                GenericMethod::Post => Method::POST,
            },
            origin,
            path,
            headers,
            basic_auth,
            query: pairs("query", &request.query)?,
            form: pairs("form", &request.form)?,
            json: request.json.as_ref().map(json).transpose()?,
            template_id: settings.template_id.clone().unwrap_or_default(),
        };
        call.check(settings)?;
        Ok(call)
    }

    fn check(&self, settings: &GenericHttpSettings) -> Result<(), String> {
        let has_body = self.json.is_some() || !self.form.is_empty();
        let wrong = if self.json.is_some() && !self.form.is_empty() {
            "request: a body is a form or JSON, not both"
        } else if self.method == Method::GET && has_body {
            "request: a GET has no body"
        } else if !self.names_any(&[Slot::Code, Slot::Text]) {
            "request: neither {code} nor {text} is sent"
        } else if !self.names_any(&[Slot::PhoneE164, Slot::PhoneDigits, Slot::PhoneNational]) {
            "request: the phone number is not sent"
        } else if self.names_any(&[Slot::TemplateId]) && settings.template_id.is_none() {
            "template_id: the request names it, so there must be one"
        } else {
            return Ok(());
        };
        Err(wrong.to_owned())
    }

    fn names_any(&self, slots: &[Slot]) -> bool {
        let pairs = self.query.iter().chain(&self.form).map(|(_, template)| template);
        let headers = self.headers.iter().map(|(_, template)| template);
        let json = self.json.iter().flat_map(|(_, templates)| templates);
        let mut all = self.path.iter().chain(pairs).chain(headers).chain(json);
        all.any(|template| slots.iter().any(|slot| template.names(*slot)))
    }

    /// The request for `message`; `None` if a value would change the path or cannot be in a header.
    pub(super) fn fill(&self, client: &HttpClient, message: &Message) -> Option<RequestBuilder> {
        let fill = |template: &Template, encode: fn(&str) -> String| {
            template.fill(message, &self.template_id, encode)
        };
        let path: Vec<_> = self.path.iter().map(|segment| fill(segment, in_path)).collect();
        // Percent-encoding does not hide these from path resolvers.
        if path.iter().any(|segment| segment == "." || segment == "..") {
            return None;
        }
        let url = format!("{}/{}", self.origin, path.join("/"));
        let mut request = client.request(self.method.clone(), &url);
        for (name, template) in &self.headers {
            let mut value = HeaderValue::from_str(&fill(template, in_header)).ok()?;
            value.set_sensitive(true);
            request = request.header(name, value);
        }
        if let Some((user, password)) = &self.basic_auth {
            request = request.basic_auth(user, Some(password));
        }
        let filled = |pairs: &Pairs| -> Vec<(String, String)> {
            pairs.iter().map(|(name, value)| (name.clone(), fill(value, str::to_owned))).collect()
        };
        if !self.query.is_empty() {
            request = request.query(&filled(&self.query));
        }
        if !self.form.is_empty() {
            request = request.form(&filled(&self.form));
        }
        if let Some((json, templates)) = &self.json {
            let mut json = json.clone();
            for (text, template) in strings(&mut json).into_iter().zip(templates) {
                *text = fill(template, str::to_owned);
            }
            request = request.json(&json);
        }
        Some(request)
    }
}

/// Every string in `value` except member names, always in the same order.
fn strings(value: &mut Value) -> Vec<&mut String> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter_mut().flat_map(strings).collect(),
        Value::Object(members) => members.values_mut().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}

/// Splits a URL into scheme and host, and the path without its first slash.
fn split(url: &str, allow_plain_http: bool) -> Result<(BaseUrl, &str), String> {
    let wrong = |what: &str| format!("request.url: {what}");
    let (scheme, rest) = url.split_once("://").unwrap_or_default();
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    if authority.contains(['{', '}']) {
        return Err(wrong("no placeholder is allowed in its host"));
    }
    let origin = format!("{scheme}://{authority}").parse();
    let origin: BaseUrl = origin.map_err(|cause: InvalidBaseUrl| wrong(&cause.to_string()))?;
    if !(origin.is_private() || allow_plain_http) {
        return Err(wrong("codes would go unencrypted: use https, or allow_plain_http"));
    }
    if path.contains(['?', '#']) {
        return Err(wrong("parameters go into request.query"));
    }
    Ok((origin, path))
}

fn is_plain_path(literal: &str) -> bool {
    literal.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@".contains(&byte))
}

fn header((name, template): (String, Template)) -> Result<(HeaderName, Template), String> {
    let wrong = |what: &str| Err(format!("request.headers {name:?}: {what}"));
    let Ok(parsed) = HeaderName::from_bytes(name.as_bytes()) else {
        return wrong("that is not a header name");
    };
    if [CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, TRANSFER_ENCODING].contains(&parsed) {
        return wrong("Dwar sets this header itself");
    }
    // An encoded secret would be another secret.
    let template = template.with_literal_secrets();
    if !template.literals().all(|literal| literal.bytes().all(|byte| matches!(byte, b' '..=b'~'))) {
        return wrong("only visible ASCII is allowed, in secrets too");
    }
    Ok((parsed, template))
}
