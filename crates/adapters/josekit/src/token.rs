use crate::key::Key;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use dwar_kernel::{
    KeyMode, ProjectMode, SessionId, StoreError, Timestamp, TokenProfile, TokenType,
};
use dwar_session::{AccessToken, Claims, InvalidToken, issuer_of};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Longest accepted token in bytes. One of our RS256 tokens with a long issuer stays below 2 KiB.
const LONGEST: usize = 4_096;

/// The claims on the wire (RFC 9068 section 2.2).
#[derive(Serialize, Deserialize)]
struct TokenClaims {
    iss: String,
    aud: String,
    sub: String,
    client_id: String,
    sid: String,
    jti: String,
    mode: String,
    iat: i64,
    exp: i64,
    /// Never written; honoured if present.
    #[serde(skip_serializing)]
    nbf: Option<i64>,
}

/// The claims to write. Additional claims of the project are for other readers; this service
/// ignores them.
#[derive(Serialize)]
struct Written<'a> {
    #[serde(flatten)]
    wire: TokenClaims,
    #[serde(flatten)]
    own: BTreeMap<&'a str, &'a str>,
}

/// The only claim that says which session to look up.
#[derive(Deserialize)]
struct Named<'a> {
    #[serde(borrow)]
    sid: Cow<'a, str>,
}

#[derive(Deserialize)]
struct IssuerClaim {
    iss: String,
}

/// A token in compact form, split but not trusted.
pub(crate) struct Unverified<'a> {
    pub(crate) header: &'a str,
    signed: &'a str,
    payload: &'a str,
    signature: &'a str,
}

/// The compact form of `claims` under `key`.
///
/// With an `own` profile, the issuer is the project's.
pub(crate) fn sign(
    key: &Key,
    issuer: &str,
    claims: &Claims,
    own: Option<&TokenProfile>,
) -> Result<AccessToken, StoreError> {
    let wire = TokenClaims {
        iss: own
            .map_or_else(|| issuer.to_owned(), |_| issuer_of(issuer, claims.project_mode.project)),
        aud: claims.project_mode.project.to_string(),
        sub: claims.identity.to_string(),
        client_id: claims.project_mode.project.to_string(),
        sid: claims.session.to_string(),
        jti: claims.token.to_string(),
        mode: claims.project_mode.mode.as_str().to_owned(),
        iat: claims.issued_at.timestamp(),
        exp: claims.expires_at.timestamp(),
        nbf: None,
    };
    let token_type = own.map(|own| own.token_type).unwrap_or_default();
    let own = own.into_iter().flat_map(|own| own.claims.sound()).collect();
    let payload = serde_json::to_vec(&Written { wire, own })
        .map_err(|cause| StoreError::Failed(cause.into()))?;
    let mut token = String::with_capacity(1_024);
    token.push_str(key.header(token_type));
    token.push('.');
    URL_SAFE_NO_PAD.encode_string(payload, &mut token);
    let signature = key.signer.sign(token.as_bytes());
    let signature = signature.map_err(|cause| StoreError::Failed(cause.into()))?;
    token.push('.');
    URL_SAFE_NO_PAD.encode_string(signature, &mut token);
    Ok(AccessToken::new(token))
}

impl<'a> Unverified<'a> {
    /// Splits a token of at most 4 KiB into its three parts.
    pub(crate) fn split(token: &'a AccessToken) -> Result<Self, InvalidToken> {
        let text = token.expose();
        if text.len() > LONGEST {
            return Err(InvalidToken);
        }
        let (signed, signature) = text.rsplit_once('.').ok_or(InvalidToken)?;
        let (header, payload) = signed.split_once('.').ok_or(InvalidToken)?;
        Ok(Self { header, signed, payload, signature })
    }

    pub(crate) fn session(&self) -> Option<SessionId> {
        let payload = URL_SAFE_NO_PAD.decode(self.payload).ok()?;
        serde_json::from_slice::<Named<'_>>(&payload).ok()?.sid.parse().ok()
    }

    pub(crate) fn issuer(&self) -> Option<String> {
        let payload = URL_SAFE_NO_PAD.decode(self.payload).ok()?;
        Some(serde_json::from_slice::<IssuerClaim>(&payload).ok()?.iss)
    }

    /// The claims, if they are for `issuer`, are valid at `now` and come with a header of `key`.
    /// Does not check the signature.
    pub(crate) fn claims(&self, key: &Key, issuer: &str, now: Timestamp) -> Option<Claims> {
        let token_type = key.token_type(self.header)?;
        let payload = URL_SAFE_NO_PAD.decode(self.payload).ok()?;
        serde_json::from_slice::<TokenClaims>(&payload).ok()?.claims(token_type, issuer, now)
    }

    /// Tells whether `key` signed it.
    pub(crate) fn is_signed_by(&self, key: &Key) -> bool {
        let signature = URL_SAFE_NO_PAD.decode(self.signature);
        signature.is_ok_and(|it| key.verifier.verify(self.signed.as_bytes(), &it).is_ok())
    }
}

impl TokenClaims {
    fn claims(&self, token_type: TokenType, issuer: &str, now: Timestamp) -> Option<Claims> {
        let at = |seconds| Timestamp::from_timestamp(seconds, 0);
        let (issued_at, expires_at) = (at(self.iat)?, at(self.exp)?);
        let begins_at = self.nbf.map_or(Some(now), at)?;
        let timely = issued_at < expires_at && begins_at <= now && now < expires_at;
        if !timely || self.aud != self.client_id {
            return None;
        }
        let claims = Claims {
            token: self.jti.parse().ok()?,
            session: self.sid.parse().ok()?,
            identity: self.sub.parse().ok()?,
            project_mode: ProjectMode {
                project: self.aud.parse().ok()?,
                mode: self.mode.parse().ok()?,
            },
            issued_at,
            expires_at,
        };
        // Test tokens never name the issuer of a project: a reader that checks only the issuer
        // would take them for live ones.
        let of_project = || {
            claims.project_mode.mode == KeyMode::Live
                && self.iss == issuer_of(issuer, claims.project_mode.project)
        };
        let of_installation = self.iss == issuer && token_type == TokenType::AccessToken;
        (of_installation || of_project()).then_some(claims)
    }
}
