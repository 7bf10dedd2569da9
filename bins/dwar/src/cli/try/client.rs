//! Calls of the API, made and printed.

use crate::cli::failure::Failure;
use dwar_gateways::BaseUrl;
use dwar_kernel::with_causes;
use reqwest::header::HeaderValue;
use reqwest::{Method, Response, redirect, retry};
use serde_json::{Map, Value};
use std::fmt;
use std::time::Duration;

/// Longest time of one call, including the last byte of its answer.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// Shorter than servers keep an idle connection, so that no call uses one that is being closed: a
/// person may look for a code in between.
const MAX_IDLE: Duration = Duration::from_secs(5);
const MAX_ANSWER: usize = 64 * 1024;
/// Most characters of a foreign text that are shown.
const MOST: usize = 300;
/// Characters of a token that are shown: about its kind.
const START: usize = 10;
const USER_AGENT: &str = concat!("dwar-try/", env!("CARGO_PKG_VERSION"));

/// Calls one service with one key. Has no `Debug`, because it contains the key.
pub struct Client {
    http: reqwest::Client,
    url: BaseUrl,
    key: HeaderValue,
}

impl Client {
    /// Makes a client that follows no redirect, repeats no call and uses no proxy of the
    /// environment, so that the key is sent to `url` only.
    pub fn new(url: BaseUrl, key: &str) -> Result<Self, Failure> {
        let mut key = HeaderValue::from_str(key)
            .map_err(|_| Failure::Usage("DWAR_KEY has letters that no key has".to_owned()))?;
        key.set_sensitive(true);
        let http = reqwest::Client::builder()
            .no_proxy()
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .user_agent(USER_AGENT)
            .timeout(PATIENCE)
            .pool_idle_timeout(MAX_IDLE)
            .build()
            .map_err(|cause| {
                Failure::Refused(format!("no HTTP client: {}", with_causes(&cause)))
            })?;
        Ok(Self { http, url, key })
    }

    pub fn url(&self) -> &BaseUrl {
        &self.url
    }

    /// Makes a call and reads the whole answer.
    ///
    /// # Errors
    /// There was no whole answer in time.
    pub async fn call(&self, call: &Call) -> Result<Answer, Trouble> {
        let url = format!("{}{}", self.url, call.path);
        let request = match &call.body {
            None => self.http.request(Method::GET, url),
            Some(Body { sent, .. }) => self.http.request(Method::POST, url).json(sent),
        };
        let answered = request.header("X-Api-Key", self.key.clone()).send().await;
        let mut response = answered.map_err(|cause| self.lost(cause))?;
        let body = read(&mut response).await.map_err(|cause| self.lost(cause))?;
        let body = serde_json::from_slice(&body).unwrap_or_default();
        Ok(Answer { status: response.status().as_u16(), body })
    }

    fn lost(&self, cause: reqwest::Error) -> Trouble {
        let url = &self.url;
        Trouble::of(if cause.is_connect() {
            format!("{url} cannot be reached: {}", with_causes(&cause.without_url()))
        } else if cause.is_timeout() {
            format!("{url} did not answer within {} s", PATIENCE.as_secs())
        } else {
            format!("the answer of {url} broke off: {}", with_causes(&cause.without_url()))
        })
    }
}

/// Reads the body; empty if it is longer than any answer of the API.
async fn read(response: &mut Response) -> Result<Vec<u8>, reqwest::Error> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > MAX_ANSWER {
            return Ok(Vec::new());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// One call: `GET` without a body, `POST` with one.
pub struct Call {
    path: String,
    body: Option<Body>,
}

struct Body {
    sent: Value,
    shown: Value,
}

/// A text field of a body, and the part of it that may be shown.
pub struct Field<'a> {
    pub name: &'static str,
    pub value: &'a str,
    pub shown: String,
}

impl<'a> Field<'a> {
    pub fn open(name: &'static str, value: &'a str) -> Self {
        Self { name, value, shown: printable(value) }
    }

    pub fn token(name: &'static str, value: &'a str) -> Self {
        let start: String = value.chars().take(START).collect();
        Self { name, value, shown: format!("{}…", printable(&start)) }
    }
}

impl Call {
    pub fn get(path: String) -> Self {
        Self { path, body: None }
    }

    pub fn post(path: &str, fields: &[Field<'_>]) -> Self {
        let object = |text: fn(&Field<'_>) -> String| {
            let pairs = fields.iter().map(|field| (field.name.to_owned(), text(field).into()));
            Value::Object(pairs.collect::<Map<_, _>>())
        };
        let sent = object(|field| field.value.to_owned());
        let shown = object(|field| field.shown.clone());
        Self { path: path.to_owned(), body: Some(Body { sent, shown }) }
    }

    /// The equivalent `curl` command, with the key in `$DWAR_KEY`.
    pub fn curl(&self, url: &BaseUrl) -> String {
        let url = quoted(&format!("{url}{}", self.path));
        let curl = format!("curl -s {url} -H \"X-Api-Key: $DWAR_KEY\"");
        match &self.body {
            None => curl,
            Some(Body { shown, .. }) => {
                let body = quoted(&shown.to_string());
                format!("{curl} -H 'Content-Type: application/json' -d {body}")
            }
        }
    }
}

/// An answer of any status. Has no `Debug`, because it contains codes and tokens.
pub struct Answer {
    pub status: u16,
    /// Null if the body is not JSON.
    pub body: Value,
}

impl Answer {
    /// The answer, if it is a success.
    ///
    /// # Errors
    /// The service's description of its refusal.
    pub fn good(&self) -> Result<&Self, Trouble> {
        if self.status == 200 {
            return Ok(self);
        }
        let sentence = match self.body["error"].as_str() {
            Some(sentence) => printable(sentence),
            None if (300..400).contains(&self.status) => {
                "the address leads elsewhere, and no redirect is followed".to_owned()
            }
            None => format!("no answer of Dwar, and its status is {}", self.status),
        };
        let said = |field| self.body[field].as_str().map(printable);
        Err(Trouble { sentence, code: self.code().map(printable), request_id: said("request_id") })
    }

    pub fn code(&self) -> Option<&str> {
        self.body["code"].as_str()
    }

    /// The text in this field of a successful answer.
    ///
    /// # Errors
    /// The answer has another status than success, or no such text.
    pub fn text(&self, field: &str) -> Result<&str, Trouble> {
        let text = self.good()?.body[field].as_str();
        text.ok_or_else(|| Trouble::of(format!("no answer of Dwar: it lacks `{field}`")))
    }

    /// Checks that this field of a successful answer is `true`.
    ///
    /// # Errors
    /// The answer has another status than success, or the field another value.
    pub fn says(&self, field: &str) -> Result<(), Trouble> {
        if self.good()?.body[field] == true {
            return Ok(());
        }
        Err(Trouble::of(format!("the answer does not say that `{field}` is true")))
    }
}

pub struct Trouble {
    pub sentence: String,
    pub code: Option<String>,
    pub request_id: Option<String>,
}

impl Trouble {
    pub fn of(sentence: String) -> Self {
        Self { sentence, code: None, request_id: None }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(code) = &self.code {
            write!(out, "{code}: ")?;
        }
        out.write_str(&self.sentence)?;
        match &self.request_id {
            Some(id) => write!(out, " (request_id {id})"),
            None => Ok(()),
        }
    }
}

/// A foreign text made safe for a terminal: on one line and shortened.
pub fn printable(text: &str) -> String {
    let plain = |letter: char| if letter.is_control() { '\u{fffd}' } else { letter };
    text.chars().map(plain).take(MOST).collect()
}

/// A foreign text of several lines, each as [`printable`], and shortened as a whole.
pub fn printable_lines(text: &str) -> String {
    let start: String = text.chars().take(MOST).collect();
    let lines: Vec<_> = start.lines().map(printable).collect();
    lines.join("\n")
}

/// Quotes a word so that a shell takes it literally.
fn quoted(text: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || ":/._-".contains(letter);
    if text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url() -> BaseUrl {
        "https://otp.example.com".parse().unwrap()
    }

    #[test]
    fn a_call_is_shown_as_a_shell_takes_it_and_without_its_token() {
        let call = Call::get("/v1/sandbox/messages?phone=9876543210".to_owned());
        insta::assert_snapshot!(call.curl(&url()), @r#"curl -s 'https://otp.example.com/v1/sandbox/messages?phone=9876543210' -H "X-Api-Key: $DWAR_KEY""#);
        let token = format!("eyJhbGciOiJFUzI1NiIs{}", "x".repeat(500));
        let call = Call::post("/v1/session/logout", &[Field::token("access_token", &token)]);
        insta::assert_snapshot!(call.curl(&url()), @r#"curl -s https://otp.example.com/v1/session/logout -H "X-Api-Key: $DWAR_KEY" -H 'Content-Type: application/json' -d '{"access_token":"eyJhbGciOi…"}'"#);
        assert_eq!(call.body.unwrap().sent["access_token"], token);
    }

    #[test]
    fn what_a_foreign_service_says_neither_leaves_its_quotes_nor_moves_the_cursor() {
        let call = Call::post("/v1/otp/verify", &[Field::open("code", "1'; rm -r /;'\u{9b}2J")]);
        let curl = call.curl(&url());
        assert!(curl.ends_with("-d '{\"code\":\"1'\\''; rm -r /;'\\''\u{fffd}2J\"}'"), "{curl}");
        let body = serde_json::json!({ "error": "\u{1b}[2J".repeat(500), "code": "A\nB" });
        let trouble = Answer { status: 400, body }.good().err().unwrap();
        let told = trouble.to_string();
        assert!(!told.chars().any(char::is_control) && told.chars().count() < 400, "{told}");
    }
}
