//! The API of each service.

use crate::Outcome;
use crate::http::{Message, request};
use serde_json::json;

#[derive(Clone)]
pub enum Dialect {
    /// Dwar, with the header of an API key.
    Dwar {
        /// Ends in a line break.
        key: String,
    },
    Peer,
}

/// The tokens of a login.
#[derive(Clone)]
pub struct Session {
    /// An access token of Dwar, or the peer's bearer token.
    pub access: String,
    /// Valid for one new pair; the peer has no such token.
    pub refresh: Option<String>,
}

impl Dialect {
    /// A request for a code. `phone` has ten digits.
    pub fn send(&self, phone: &str) -> Vec<u8> {
        match self {
            Self::Dwar { key } => {
                request("POST /v1/otp/send", key, &json!({ "phone": phone }).to_string())
            }
            Self::Peer => {
                let body = json!({ "phoneNumber": e164(phone) }).to_string();
                request("POST /api/auth/phone-number/send-otp", "", &body)
            }
        }
    }

    /// A request that enters a code.
    pub fn verify(&self, phone: &str, code: &str) -> Vec<u8> {
        match self {
            Self::Dwar { key } => {
                let body = json!({ "phone": phone, "code": code }).to_string();
                request("POST /v1/otp/verify", key, &body)
            }
            Self::Peer => {
                let body = json!({ "phoneNumber": e164(phone), "code": code }).to_string();
                request("POST /api/auth/phone-number/verify", "", &body)
            }
        }
    }

    /// Parses the answer to a verification or a refresh.
    pub fn session(&self, answer: &Message<'_>) -> Outcome<Session> {
        match self {
            Self::Dwar { .. } => {
                let refresh = Some(answer.text("refresh_token")?);
                Ok(Session { access: answer.text("access_token")?, refresh })
            }
            Self::Peer => {
                let token = answer.header("set-auth-token").ok_or("the peer gave no token")?;
                Ok(Session { access: token.to_owned(), refresh: None })
            }
        }
    }

    /// A request that validates a token.
    pub fn validate(&self, access: &str) -> Vec<u8> {
        self.about(access, "POST /v1/session/validate", ("GET /api/auth/get-session", ""))
    }

    /// A request that ends a session.
    pub fn logout(&self, access: &str) -> Vec<u8> {
        self.about(access, "POST /v1/session/logout", ("POST /api/auth/sign-out", "{}"))
    }

    /// A request about the session of a token: Dwar has the token in the body, the peer in a
    /// header.
    fn about(&self, access: &str, ours: &str, (theirs, body): (&str, &str)) -> Vec<u8> {
        match self {
            Self::Dwar { key } => {
                request(ours, key, &json!({ "access_token": access }).to_string())
            }
            Self::Peer => request(theirs, &format!("authorization: Bearer {access}\r\n"), body),
        }
    }

    /// Tells whether the answer says that the token is valid.
    pub fn is_valid(&self, answer: &Message<'_>) -> bool {
        answer.status() == "200" && answer.body.as_ref() != b"null"
    }

    /// A request that exchanges a token pair; `None` for the peer.
    pub fn refresh(&self, session: &Session) -> Option<Vec<u8>> {
        let Self::Dwar { key } = self else { return None };
        let body = json!({ "refresh_token": session.refresh }).to_string();
        Some(request("POST /v1/session/refresh", key, &body))
    }

    /// Another request to Dwar's API, by method and path.
    pub fn ours(&self, line: &str, body: &str) -> Outcome<Vec<u8>> {
        let Self::Dwar { key } = self else {
            return Err("the peer has nothing of the kind".into());
        };
        Ok(request(line, key, body))
    }

    /// A request for the public keys; `None` for the peer.
    pub fn key_set(&self) -> Option<Vec<u8>> {
        match self {
            Self::Dwar { .. } => Some(request("GET /.well-known/jwks.json", "", "")),
            Self::Peer => None,
        }
    }
}

/// The number as providers get it.
pub fn e164(phone: &str) -> String {
    format!("+91{phone}")
}
