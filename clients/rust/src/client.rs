use std::fmt;
use std::time::Duration;

use reqwest::header::HeaderValue;
use serde_json::{Value, json};

use crate::answers::{
    Answer, CheckedCode, CodeStatus, DeletedIdentity, EndedSession, Identity, LiveSession,
    PublicKeys, SandboxMessages, SentCode, Tokens,
};
use crate::send_options::{SendBody, SendOptions};
use crate::transport::{Operation, Transport, random_uuid};
use crate::{Code, Error, Result};

/// Calls the operations of a service. Keep one for the life of the process; clones share its connections.
///
/// A call takes at most 30 s, repetitions and waits included. Operations that are safe to repeat
/// are sent up to three times within that, after `Retry-After` or a quarter and half a second:
/// reads, [`validate`](Self::validate), and [`send`](Self::send), [`relay`](Self::relay) and
/// [`refresh`](Self::refresh) with the same `Idempotency-Key`. [`verify`](Self::verify),
/// [`check`](Self::check), [`logout`](Self::logout) and [`delete_identity`](Self::delete_identity)
/// are sent once, since a lost answer may have taken effect.
///
/// A phone is ten digits, the first 6 to 9, with or without `+91`; what cannot be one is refused with
/// [`Code::InvalidPhone`] before any request.
#[derive(Clone)]
pub struct Client {
    transport: Transport,
    api_key: HeaderValue,
}

impl Client {
    /// A client of the service at an address such as `https://otp.example.com`; plain http only on loopback. The API
    /// key, `svc_live_…` or `svc_test_…`, belongs on a server.
    ///
    /// # Errors [`Code::Argument`] for an invalid address or key.
    pub fn new(address: &str, api_key: &str) -> Result<Self> {
        let mut api_key = visible_ascii(api_key, "the API key")?;
        api_key.set_sensitive(true);
        Ok(Self { transport: Transport::new(address, Duration::from_secs(30))?, api_key })
    }

    /// Replaces the time limit of 30 s.
    ///
    /// # Errors [`Code::Argument`] for zero, or more than 10 minutes.
    pub fn with_timeout(self, timeout: Duration) -> Result<Self> {
        Ok(Self { transport: self.transport.with_timeout(timeout)?, ..self })
    }

    /// Replaces the HTTP client with the one of this builder, for TLS, certificates or a proxy of
    /// your own. Even so it follows no redirect, repeats nothing, and sends no loopback traffic to
    /// a proxy.
    ///
    /// # Errors
    /// [`Code::NetworkError`] if the builder refuses.
    pub fn with_http(self, builder: reqwest::ClientBuilder) -> Result<Self> {
        Ok(Self { transport: self.transport.with_http(builder)?, ..self })
    }

    /// Sends a fresh code, which replaces the current one of the phone.
    pub async fn send(&self, phone: &str, options: Option<SendOptions<'_>>) -> Result<SentCode> {
        self.send_with_key(phone, options, &new_key()).await
    }

    /// [`send`](Self::send) with an `Idempotency-Key` that is the same for every repetition: 1 to
    /// 255 visible ASCII characters.
    pub async fn send_with_key(
        &self,
        phone: &str,
        options: Option<SendOptions<'_>>,
        idempotency_key: &str,
    ) -> Result<SentCode> {
        let body = SendBody { phone: checked(phone)?, options: options.unwrap_or_default() };
        self.write("/v1/otp/send", json!(body), idempotency_key).await
    }

    /// Sends a code that you make and verify yourself: 4 to 10 digits, valid for 60 to 3600
    /// seconds.
    pub async fn relay(&self, phone: &str, code: &str, expires_in: Duration) -> Result<SentCode> {
        self.relay_with_key(phone, code, expires_in, &new_key()).await
    }

    /// [`relay`](Self::relay) with an `Idempotency-Key`, as in [`send_with_key`](Self::send_with_key).
    pub async fn relay_with_key(
        &self,
        phone: &str,
        code: &str,
        expires_in: Duration,
        idempotency_key: &str,
    ) -> Result<SentCode> {
        let seconds = expires_in.as_secs();
        let body = json!({ "phone": checked(phone)?, "code": code, "expires_in": seconds });
        self.write("/v1/otp/relay", body, idempotency_key).await
    }

    /// The status of a send so far.
    pub async fn status(&self, otp_id: &str) -> Result<CodeStatus> {
        self.call(Operation::get(format!("/v1/otp/status/{}", segment(otp_id)))).await
    }

    /// Verifies the code that the person entered. The right code is accepted once and starts a
    /// session. With the `otp_id` of [`send`](Self::send), only the code of that request is
    /// accepted; without one, the current code of the phone.
    pub async fn verify(&self, phone: &str, code: &str, otp_id: Option<&str>) -> Result<Tokens> {
        self.verify_with_device(phone, code, otp_id, None).await
    }

    /// [`verify`](Self::verify) with the device of an earlier answer to the same browser or app.
    pub async fn verify_with_device(
        &self,
        phone: &str,
        code: &str,
        otp_id: Option<&str>,
        device: Option<&str>,
    ) -> Result<Tokens> {
        self.call(Operation::post("/v1/otp/verify", guess(phone, code, otp_id, device)?)).await
    }

    /// [`verify`](Self::verify) without a session. The right code is accepted once.
    pub async fn check(
        &self,
        phone: &str,
        code: &str,
        otp_id: Option<&str>,
    ) -> Result<CheckedCode> {
        self.check_with_device(phone, code, otp_id, None).await
    }

    /// [`check`](Self::check) with the device of an earlier verify of the same browser or app.
    pub async fn check_with_device(
        &self,
        phone: &str,
        code: &str,
        otp_id: Option<&str>,
        device: Option<&str>,
    ) -> Result<CheckedCode> {
        self.call(Operation::post("/v1/otp/check", guess(phone, code, otp_id, device)?)).await
    }

    /// Asks the service whether an access token is valid now, and fails unless it is.
    pub async fn validate(&self, access_token: &str) -> Result<LiveSession> {
        let body = json!({ "access_token": access_token });
        self.call(Operation::post("/v1/session/validate", body).repeatable()).await
    }

    /// Exchanges a refresh token for a new pair; both old tokens stop working at once. A
    /// [`Session`](crate::Session) does this for you, once for all calls that wait.
    pub async fn refresh(&self, refresh_token: &str) -> Result<Tokens> {
        self.refresh_with_key(refresh_token, &new_key()).await
    }

    /// [`refresh`](Self::refresh) with an `Idempotency-Key`, as in [`send_with_key`](Self::send_with_key).
    pub async fn refresh_with_key(
        &self,
        refresh_token: &str,
        idempotency_key: &str,
    ) -> Result<Tokens> {
        let body = json!({ "refresh_token": refresh_token });
        self.write("/v1/session/refresh", body, idempotency_key).await
    }

    /// Ends the session of an access token: both of its tokens stop working at once.
    pub async fn logout(&self, access_token: &str) -> Result<EndedSession> {
        let body = json!({ "access_token": access_token });
        self.call(Operation::post("/v1/session/logout", body)).await
    }

    /// Finds a person by id.
    pub async fn identity(&self, id: &str) -> Result<Identity> {
        self.call(Operation::get(format!("/v1/identity/{}", segment(id)))).await
    }

    /// Finds a person by phone.
    pub async fn identity_by_phone(&self, phone: &str) -> Result<Identity> {
        self.call(Operation::get(format!("/v1/identity?{}", query(phone)?))).await
    }

    /// Erases a person and their sessions.
    pub async fn delete_identity(&self, id: &str) -> Result<DeletedIdentity> {
        self.call(Operation::delete(format!("/v1/identity/{}", segment(id)))).await
    }

    /// With a test key: the messages to this phone that were not sent, newest first, at most 50.
    pub async fn sandbox_messages(&self, phone: &str) -> Result<SandboxMessages> {
        self.call(Operation::get(format!("/v1/sandbox/messages?{}", query(phone)?))).await
    }

    /// The keys that access tokens are signed with; a [`Verifier`](crate::Verifier) caches them.
    pub async fn public_keys(&self) -> Result<PublicKeys> {
        public_keys(&self.transport).await
    }

    /// May be repeated, under its key.
    async fn write<A: Answer>(&self, path: &str, body: Value, idempotency_key: &str) -> Result<A> {
        let key = visible_ascii(idempotency_key, "an idempotency key")?;
        self.call(Operation::post(path, body).with_idempotency_key(key)).await
    }

    async fn call<A: Answer>(&self, operation: Operation) -> Result<A> {
        self.transport.send(&operation.with_api_key(self.api_key.clone())).await
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Client({})", self.transport.url)
    }
}

/// The only operation without an API key.
pub(crate) async fn public_keys(transport: &Transport) -> Result<PublicKeys> {
    transport.send(&Operation::get("/.well-known/jwks.json")).await
}

fn guess(phone: &str, code: &str, otp_id: Option<&str>, device: Option<&str>) -> Result<Value> {
    let mut body = json!({ "phone": checked(phone)?, "code": code });
    for (name, value) in [("otp_id", otp_id), ("device", device)] {
        if let Some(value) = value {
            body[name] = value.into();
        }
    }
    Ok(body)
}

fn query(phone: &str) -> Result<String> {
    Ok(format!("phone={}", checked(phone)?.replace('+', "%2B")))
}

/// Refuses text that cannot be a phone number. Only the service knows which numbers are valid.
fn checked(phone: &str) -> Result<&str> {
    let digits = phone.strip_prefix('+').unwrap_or(phone);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let message = "a phone number is digits alone, with or without +91";
        return Err(Error::new(Code::InvalidPhone, message));
    }
    Ok(phone)
}

/// Percent-encoded, so that an id stays one segment of the path (RFC 3986 section 2.1).
fn segment(id: &str) -> String {
    id.bytes()
        .map(|byte| match byte {
            b'-' | b'_' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => char::from(byte).to_string(),
            _ => format!("%{byte:02X}"),
        })
        .collect()
}

fn visible_ascii(text: &str, what: &str) -> Result<HeaderValue> {
    HeaderValue::from_str(text)
        .ok()
        .filter(|_| (1..=255).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic()))
        .ok_or_else(|| {
            Error::argument(&format!("{what} must be 1 to 255 visible ASCII characters"))
        })
}

fn new_key() -> String {
    random_uuid().to_string()
}
