use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::clock::Clock;
use crate::keys::{Algorithm, KeySet, from_base64url};
use crate::transport::Transport;
use crate::{Code, Error, Result};

const MAX_LEEWAY: Duration = Duration::from_secs(300);
const MAX_TOKEN_LENGTH: usize = 4096;

/// Mode of the API key that started a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// A live key: the person has received a code on the phone.
    Live,
    /// A test key, which proves nothing.
    Test,
}

/// The header `typ` of an access token: the setting `token_type` of the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub enum TokenType {
    /// `at+jwt` (RFC 9068).
    #[serde(rename = "at+jwt")]
    AccessToken,
    /// `JWT` (RFC 7519).
    #[serde(rename = "JWT")]
    Jwt,
}

/// Claims of an access token (RFC 9068).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Claims {
    /// `iss`: the setting `tokens.issuer` of the service.
    pub issuer: String,
    /// `aud` and `client_id`: the project.
    pub audience: String,
    /// `sub`: the person, the `identity_id` of a login.
    pub subject: String,
    /// `sid`.
    pub session_id: String,
    /// `jti`.
    pub token_id: String,
    /// `mode`.
    pub mode: Mode,
    /// `iat`.
    pub issued_at: DateTime<Utc>,
    /// `exp`.
    pub expires_at: DateTime<Utc>,
}

/// Verifies access tokens without a call per token. It does not notice a logout or a refresh until
/// the token expires; where that matters, use [`Client::validate`](crate::Client::validate).
///
/// Keep one for the life of the process, or clones of it: it caches the public keys for five
/// minutes, fetches them for an unknown `kid` at most once a minute, and uses the cached keys for
/// up to an hour while the service does not answer within half a second.
#[derive(Clone)]
pub struct Verifier {
    audience: String,
    issuer: String,
    mode: Mode,
    algorithms: Vec<Algorithm>,
    token_types: Vec<TokenType>,
    leeway: Duration,
    clock: Clock,
    keys: Arc<KeySet>,
}

impl Verifier {
    /// A verifier of live tokens of one project, whose id is the audience: only ES256, issued by
    /// `dwar`, with a leeway of 30 s. Fetching the keys takes at most 5 s.
    ///
    /// # Errors [`Code::Argument`] for an invalid address, or an empty audience.
    pub fn new(address: &str, audience: &str) -> Result<Self> {
        if audience.is_empty() {
            return Err(Error::argument("the audience must be the id of the project"));
        }
        let transport = Transport::new(address, Duration::from_secs(5))?;
        Ok(Self {
            audience: audience.into(),
            issuer: "dwar".into(),
            mode: Mode::Live,
            algorithms: vec![Algorithm::Es256],
            token_types: vec![TokenType::AccessToken],
            leeway: Duration::from_secs(30),
            clock: Clock::default(),
            keys: Arc::new(KeySet::new(transport, Clock::default())),
        })
    }

    /// Replaces the time limit of 5 s for fetching the keys.
    ///
    /// # Errors [`Code::Argument`] for zero, or more than 10 minutes.
    pub fn with_timeout(self, timeout: Duration) -> Result<Self> {
        let transport = self.keys.transport.clone().with_timeout(timeout)?;
        Ok(self.with_transport(transport))
    }

    /// Replaces the HTTP client, as [`Client::with_http`](crate::Client::with_http).
    ///
    /// # Errors
    /// [`Code::NetworkError`] if the builder refuses.
    pub fn with_http(self, builder: reqwest::ClientBuilder) -> Result<Self> {
        let transport = self.keys.transport.clone().with_http(builder)?;
        Ok(self.with_transport(transport))
    }

    /// Replaces the issuer `dwar`: the setting `tokens.issuer` of the service.
    pub fn with_issuer(self, issuer: &str) -> Self {
        Self { issuer: issuer.into(), ..self }
    }

    /// Accepts the tokens of this mode instead of live ones.
    pub fn with_mode(self, mode: Mode) -> Self {
        Self { mode, ..self }
    }

    /// Accepts these algorithms instead of ES256: the setting `tokens.algorithm` of the service.
    pub fn with_algorithms(self, algorithms: &[Algorithm]) -> Self {
        Self { algorithms: algorithms.into(), ..self }
    }

    /// Accepts these header `typ`s instead of `at+jwt`: the setting `token_type` of the project.
    pub fn with_token_types(self, token_types: &[TokenType]) -> Self {
        Self { token_types: token_types.into(), ..self }
    }

    /// Replaces the 30 s by which the clocks of service and verifier may differ.
    ///
    /// # Errors
    /// [`Code::Argument`] for more than 5 minutes.
    pub fn with_leeway(self, leeway: Duration) -> Result<Self> {
        if leeway > MAX_LEEWAY {
            return Err(Error::argument("the leeway must be at most 5 minutes"));
        }
        Ok(Self { leeway, ..self })
    }

    /// Replaces the clock of the system, for tests.
    pub fn with_clock(self, now: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        let transport = self.keys.transport.clone();
        Self { clock: Clock::new(now), ..self }.with_transport(transport)
    }

    fn with_transport(self, transport: Transport) -> Self {
        Self { keys: Arc::new(KeySet::new(transport, self.clock.clone())), ..self }
    }

    /// The claims of a token that is valid now.
    ///
    /// # Errors
    /// [`Code::InvalidAccessToken`] and no status for any other token; [`Code::NetworkError`] or the refusal of the
    /// service if there are no keys yet, or if the `kid` of the token is unknown and the last fetch of the keys failed.
    pub async fn verify(&self, token: &str) -> Result<Claims> {
        let parts = Parts::of(token).ok_or_else(|| invalid("not a JWT"))?;
        let algorithm = read::<Algorithm>(&parts.header, "alg")
            .filter(|algorithm| self.algorithms.contains(algorithm))
            .ok_or_else(|| invalid("another algorithm"))?;
        let typ = text(&parts.header, "typ").and_then(token_type);
        let typ = typ.filter(|typ| self.token_types.contains(typ));
        if typ.is_none() || parts.header.contains_key("crit") {
            return Err(invalid("not an access token"));
        }
        let kid = text(&parts.header, "kid").ok_or_else(|| invalid("no such key"))?;
        let key = self.keys.find(kid).await?.filter(|key| key.algorithm() == algorithm);
        let key = key.ok_or_else(|| invalid("no such key"))?;
        if !key.verifies(parts.signed.as_bytes(), &parts.signature) {
            return Err(invalid("a wrong signature"));
        }
        self.checked(&parts.payload)
    }

    fn checked(&self, payload: &Map<String, Value>) -> Result<Claims> {
        for (is_right, name) in [
            (text(payload, "iss") == Some(&self.issuer), "issuer"),
            (text(payload, "aud") == Some(&self.audience), "audience"),
            (text(payload, "client_id") == Some(&self.audience), "client"),
            (read(payload, "mode") == Some(self.mode), "mode"),
        ] {
            if !is_right {
                return Err(invalid(&format!("another {name}")));
            }
        }
        let id = |name| text(payload, name).ok_or_else(|| invalid("an id is missing"));
        let time = |name| seconds(payload, name).ok_or_else(|| invalid("a time is missing"));
        let claims = Claims {
            issuer: self.issuer.clone(),
            audience: self.audience.clone(),
            subject: id("sub")?.into(),
            session_id: id("sid")?.into(),
            token_id: id("jti")?.into(),
            mode: self.mode,
            issued_at: time("iat")?,
            expires_at: time("exp")?,
        };
        if self.clock.now() - self.leeway >= claims.expires_at {
            return Err(invalid("expired"));
        }
        let soon = self.clock.now() + self.leeway;
        if claims.issued_at > soon {
            return Err(invalid("issued in the future"));
        }
        if payload.contains_key("nbf") && seconds(payload, "nbf").is_none_or(|nbf| nbf > soon) {
            return Err(invalid("not valid yet"));
        }
        Ok(claims)
    }
}

impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Verifier({})", self.audience)
    }
}

struct Parts<'a> {
    signed: &'a str,
    header: Map<String, Value>,
    payload: Map<String, Value>,
    signature: Vec<u8>,
}

impl<'a> Parts<'a> {
    fn of(token: &'a str) -> Option<Self> {
        if token.len() > MAX_TOKEN_LENGTH {
            return None;
        }
        let (signed, signature) = token.rsplit_once('.')?;
        let (header, payload) = signed.split_once('.')?;
        Some(Self {
            signed,
            header: object(header)?,
            payload: object(payload)?,
            signature: from_base64url(signature)?,
        })
    }
}

fn object(part: &str) -> Option<Map<String, Value>> {
    serde_json::from_slice(&from_base64url(part)?).ok()
}

fn read<'a, T: Deserialize<'a>>(object: &'a Map<String, Value>, name: &str) -> Option<T> {
    T::deserialize(object.get(name)?).ok()
}

/// Nothing for an empty text.
fn text<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    object.get(name)?.as_str().filter(|text| !text.is_empty())
}

/// Reads a NumericDate (RFC 7519 section 2).
fn seconds(object: &Map<String, Value>, name: &str) -> Option<DateTime<Utc>> {
    let millis = object.get(name)?.as_f64()? * 1000.0;
    DateTime::from_timestamp_millis(millis as i64)
}

/// Ignores case, and accepts the type with or without the prefix `application/` (RFC 7515 section
/// 4.1.9).
fn token_type(typ: &str) -> Option<TokenType> {
    let typ = typ.to_ascii_lowercase();
    match typ.strip_prefix("application/").unwrap_or(&typ) {
        "at+jwt" => Some(TokenType::AccessToken),
        "jwt" => Some(TokenType::Jwt),
        _ => None,
    }
}

fn invalid(reason: &str) -> Error {
    Error::new(Code::InvalidAccessToken, format!("the access token is not valid: {reason}"))
}
