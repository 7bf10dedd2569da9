use super::settings::{GenericHttpSettings, GenericMethod};
use super::template::{Slot, Template, in_header, in_path, verbatim};
use crate::{BaseUrl, HttpClient, InvalidBaseUrl};
use dwar_otp::Message;
use reqwest::RequestBuilder;
use reqwest::header::{
    CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderName, HeaderValue, TRANSFER_ENCODING,
};
use serde_json::{Map, Value};

/// The request of the settings, checked and ready to be filled.
pub(super) struct Call {
    method: GenericMethod,
    /// Scheme and host.
    origin: BaseUrl,
    path: Vec<Template>,
    headers: Vec<(HeaderName, Template)>,
    basic_auth: Option<(String, String)>,
    query: Pairs,
    form: Pairs,
    json: Option<Json>,
    template_id: String,
}

type Pairs = Vec<(String, Template)>;

/// JSON whose strings are templates.
enum Json {
    Text(Template),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
    Other(Value),
}

impl Call {
    /// # Errors
    /// A sentence that names the key and what is wrong with it.
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
        let basic_auth = match &request.basic_auth {
            Some((user, password)) => Some((
                constant(template("request.basic_auth", user)?)?,
                constant(template("request.basic_auth", password)?)?,
            )),
            None => None,
        };
        if basic_auth.as_ref().is_some_and(|(user, _)| user.contains(':')) {
            return Err("request.basic_auth: a user has no colon".to_owned());
        }
        let json = match &request.json {
            Some(text) => {
                let value: Value = serde_json::from_str(text)
                    .map_err(|error| format!("request.json: it is no JSON: {error}"))?;
                Some(Json::new(value, &|text| template("request.json", text))?)
            }
            None => None,
        };
        let call = Self {
            method: request.method,
            origin,
            path,
            headers,
            basic_auth,
            query: pairs("query", &request.query)?,
            form: pairs("form", &request.form)?,
            json,
            template_id: settings.template_id.clone().unwrap_or_default(),
        };
        call.check(settings)?;
        Ok(call)
    }

    fn check(&self, settings: &GenericHttpSettings) -> Result<(), String> {
        let has_body = self.json.is_some() || !self.form.is_empty();
        let wrong = if self.json.is_some() && !self.form.is_empty() {
            "request: a body is a form or JSON, not both"
        } else if self.method == GenericMethod::Get && has_body {
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
        let mut templates: Vec<_> = self.path.iter().chain(pairs).chain(headers).collect();
        if let Some(json) = &self.json {
            json.templates(&mut templates);
        }
        templates.iter().any(|template| slots.iter().any(|slot| template.names(*slot)))
    }

    /// The request for `message`; `None` if a value would bend the path or cannot be a header.
    pub(super) fn fill(&self, client: &HttpClient, message: &Message) -> Option<RequestBuilder> {
        let fill = |template: &Template, encode: fn(&str) -> String| {
            template.fill(message, &self.template_id, encode)
        };
        let path: Vec<_> = self.path.iter().map(|segment| fill(segment, in_path)).collect();
        // Encoding does not hide these from those who resolve paths.
        if path.iter().any(|segment| segment == "." || segment == "..") {
            return None;
        }
        let url = format!("{}/{}", self.origin, path.join("/"));
        let mut request = match self.method {
            GenericMethod::Get => client.get(&url),
            GenericMethod::Post => client.post(&url),
        };
        for (name, template) in &self.headers {
            let mut value = HeaderValue::from_str(&fill(template, in_header)).ok()?;
            value.set_sensitive(true);
            request = request.header(name, value);
        }
        if let Some((user, password)) = &self.basic_auth {
            request = request.basic_auth(user, Some(password));
        }
        let filled = |pairs: &Pairs| -> Vec<(String, String)> {
            pairs.iter().map(|(name, value)| (name.clone(), fill(value, verbatim))).collect()
        };
        if !self.query.is_empty() {
            request = request.query(&filled(&self.query));
        }
        if !self.form.is_empty() {
            request = request.form(&filled(&self.form));
        }
        if let Some(json) = &self.json {
            request = request.json(&json.fill(&|template| fill(template, verbatim)));
        }
        Some(request)
    }
}

impl Json {
    fn new(
        value: Value,
        template: &dyn Fn(&str) -> Result<Template, String>,
    ) -> Result<Self, String> {
        Ok(match value {
            Value::String(text) => Self::Text(template(&text)?),
            Value::Array(items) => {
                let items = items.into_iter().map(|item| Self::new(item, template));
                Self::List(items.collect::<Result<_, _>>()?)
            }
            Value::Object(members) => {
                let member = |(name, value)| Ok((name, Self::new(value, template)?));
                Self::Object(members.into_iter().map(member).collect::<Result<_, String>>()?)
            }
            other => Self::Other(other),
        })
    }

    fn templates<'json>(&'json self, found: &mut Vec<&'json Template>) {
        match self {
            Self::Text(template) => found.push(template),
            Self::List(items) => items.iter().for_each(|item| item.templates(found)),
            Self::Object(members) => members.iter().for_each(|(_, item)| item.templates(found)),
            Self::Other(_) => {}
        }
    }

    fn fill(&self, fill: &dyn Fn(&Template) -> String) -> Value {
        match self {
            Self::Text(template) => Value::String(fill(template)),
            Self::List(items) => items.iter().map(|item| item.fill(fill)).collect(),
            Self::Object(members) => {
                let member = |(name, item): &(String, Self)| (name.clone(), item.fill(fill));
                Value::Object(members.iter().map(member).collect::<Map<_, _>>())
            }
            Self::Other(value) => value.clone(),
        }
    }
}

/// Scheme and host, and the path behind them without its first slash.
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
        return wrong("that is no name of a header");
    };
    if [CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, TRANSFER_ENCODING].contains(&parsed) {
        return wrong("it is set by itself");
    }
    if !template.literals().all(|literal| literal.bytes().all(|byte| matches!(byte, b' '..=b'~'))) {
        return wrong("only visible ASCII is allowed");
    }
    Ok((parsed, template))
}

fn constant(template: Template) -> Result<String, String> {
    template
        .constant()
        .ok_or_else(|| "request.basic_auth: only secrets are allowed in it".to_owned())
}
