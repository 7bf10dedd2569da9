//! Checks answers of passkeys: WebAuthn Level 3, sections 7.1 (registration) and 7.2
//! (authentication), for passkeys without attestation. This crate implements the steps; OpenSSL
//! verifies the signatures.

mod authenticator;
mod cbor;
mod key;
#[cfg(test)]
mod tests;

use authenticator::AuthenticatorData;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use dwar_operator::{
    NoPasskey, PasskeyKey, PasskeyMade, PasskeySigned, PasskeySite, PasskeyVerifier,
};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// Checks answers of passkeys without keeping any state.
#[derive(Clone, Copy, Debug, Default)]
pub struct Passkeys;

/// The browser's record of the request (WebAuthn, section 5.8.1). It may have further members.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClientData {
    #[serde(rename = "type")]
    kind: String,
    challenge: String,
    origin: String,
    #[serde(default)]
    cross_origin: bool,
    top_origin: Option<String>,
}

#[allow(clippy::needless_lifetimes, reason = "as the trait names them")]
impl PasskeyVerifier for Passkeys {
    fn made<'a>(
        &self,
        site: PasskeySite<'a>,
        answer: PasskeyMade<'a>,
    ) -> Result<(PasskeyKey, u32), NoPasskey> {
        asked(site, "webauthn.create", answer.client_data)?;
        let data = cbor::authenticator_data(answer.attestation)?;
        let data = AuthenticatorData::read(&data)?;
        data.of(site.id)?;
        let made = data.credential.filter(|made| made.id == answer.credential);
        let made = made.ok_or(NoPasskey("it is another credential"))?;
        Ok((key::read(made.key)?, data.counter))
    }

    fn signed<'a>(
        &self,
        site: PasskeySite<'a>,
        key: &PasskeyKey,
        answer: PasskeySigned<'a>,
    ) -> Result<u32, NoPasskey> {
        asked(site, "webauthn.get", answer.client_data)?;
        let data = AuthenticatorData::read(answer.authenticator_data)?;
        data.of(site.id)?;
        let client = Sha256::digest(answer.client_data);
        let signed = [answer.authenticator_data, &client].concat();
        if key::verifies(key, &signed, answer.signature) {
            Ok(data.counter)
        } else {
            Err(NoPasskey("the signature does not fit"))
        }
    }
}

/// Checks that the browser answers this challenge, on a page of this site and not in a frame of
/// another one.
fn asked(site: PasskeySite<'_>, kind: &str, client_data: &[u8]) -> Result<(), NoPasskey> {
    let unreadable = NoPasskey("the browser's data cannot be read");
    let said: ClientData = serde_json::from_slice(client_data).map_err(|_| unreadable)?;
    if said.kind != kind {
        return Err(NoPasskey("it answers another kind of challenge"));
    }
    let wanted = URL_SAFE_NO_PAD.encode(site.challenge);
    if !bool::from(said.challenge.as_bytes().ct_eq(wanted.as_bytes())) {
        return Err(NoPasskey("it answers another challenge"));
    }
    if said.origin != site.origin {
        return Err(NoPasskey("a page of another origin asked"));
    }
    if said.cross_origin || said.top_origin.is_some() {
        return Err(NoPasskey("a frame in another site asked"));
    }
    Ok(())
}
