use std::collections::HashMap;
use std::net::IpAddr;

use dwar_client::{Algorithm, Mode, TokenType, Tokens};
use reqwest::header::HeaderMap;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "lowercase")]
pub enum Line {
    Reset,
    Clock {
        seconds: i64,
    },
    New {
        kind: String,
        #[serde(rename = "as")]
        name: String,
        with: Box<Settings>,
    },
    Call {
        on: String,
        call: String,
        #[serde(default)]
        args: Box<Arguments>,
        at_once: Option<usize>,
    },
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Settings {
    pub url: String,
    pub api_key: String,
    pub timeout_ms: u64,
    pub audience: String,
    pub issuer: Option<String>,
    pub mode: Option<Mode>,
    pub algorithms: Option<Vec<Algorithm>>,
    pub token_types: Option<Vec<TokenType>>,
    pub leeway_seconds: Option<u64>,
    pub client: String,
    pub secret: String,
    pub store: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Visitor {
    pub address: Option<IpAddr>,
    pub trusted: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Arguments {
    pub phone: String,
    pub last_line: Option<String>,
    pub visitor: Option<Visitor>,
    pub device: Option<String>,
    pub code: String,
    pub otp_id: Option<String>,
    pub expires_in: u64,
    pub access_token: String,
    pub refresh_token: String,
    pub id: String,
    pub idempotency_key: Option<String>,
    pub tokens: Option<Tokens>,
    pub token: String,
    secret: Option<Secrets>,
    headers: HashMap<String, String>,
    pub body: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Secrets {
    One(String),
    Several(Vec<String>),
}

impl Arguments {
    pub fn secret(&self) -> impl Iterator<Item = &str> {
        let all = match &self.secret {
            Some(Secrets::One(secret)) => std::slice::from_ref(secret),
            Some(Secrets::Several(secrets)) => secrets,
            None => &[],
        };
        all.iter().map(String::as_str)
    }

    pub fn headers(&self) -> HeaderMap {
        let read =
            |(name, value): (&String, &String)| Some((name.parse().ok()?, value.parse().ok()?));
        self.headers.iter().filter_map(read).collect::<HeaderMap>()
    }
}
