use super::account::finish;
use super::passkeys::{NO_PASSKEY, PASSKEY, asked, bytes, site, text};
use crate::answer::PageResult;
use crate::refusal::Refusal;
use crate::visit::{EmptyForm, SignedInForm};
use actix_web::HttpRequest;
use actix_web::web::Json;
use dwar_operator::{PasskeyAlgorithm, PasskeyMade};
use serde::Deserialize;
use serde_json::{Value, json};

/// `POST /account/passkeys/challenge`: the challenge for a new passkey of this operator.
pub(crate) async fn offer(
    request: HttpRequest,
    SignedInForm { visit, .. }: SignedInForm<EmptyForm>,
) -> Result<Json<Value>, Refusal> {
    let site = site(&request, &visit.console)?;
    let operator = &visit.present.operator;
    let known = visit.console.passkeys.list(operator.id).await?;
    let known: Vec<_> = known.iter().map(|passkey| text(&passkey.credential)).collect();
    let challenge = visit.console.passkeys.challenge(Some(visit.present.session.digest));
    Ok(Json(json!({
        "challenge": text(challenge.as_bytes()),
        "rpId": site.id,
        "user": text(operator.id.uuid().as_bytes()),
        "name": operator.name.as_str(),
        "known": known,
        "algorithms": PasskeyAlgorithm::ALL.map(PasskeyAlgorithm::cose),
    })))
}

#[derive(Deserialize)]
pub(crate) struct NewPasskeyForm {
    name: String,
    challenge: String,
    credential: String,
    client_data: String,
    attestation: String,
}

pub(crate) async fn add(
    request: HttpRequest,
    SignedInForm { visit, form }: SignedInForm<NewPasskeyForm>,
) -> PageResult {
    let site = site(&request, &visit.console)?;
    let (challenge, credential) = (bytes(&form.challenge)?, bytes(&form.credential)?);
    let answer = PasskeyMade {
        credential: &credential,
        client_data: &bytes(&form.client_data)?,
        attestation: &bytes(&form.attestation)?,
    };
    let shown = (visit.current(), form.name.as_str());
    let passkeys = &visit.console.passkeys;
    let added =
        passkeys.add(&visit.by, &visit.present, shown, asked(site, &challenge), answer).await;
    finish(visit, &request, added, (PASSKEY, "current-passkey")).await
}

#[derive(Deserialize)]
pub(crate) struct RemovePasskeyForm {
    credential: String,
}

pub(crate) async fn remove(
    request: HttpRequest,
    posted: SignedInForm<RemovePasskeyForm>,
) -> PageResult {
    let SignedInForm { visit, form } = posted;
    let credential = bytes(&form.credential)?;
    let passkeys = &visit.console.passkeys;
    let removed = passkeys.remove(&visit.by, &visit.present, visit.current(), &credential).await;
    finish(visit, &request, removed, (NO_PASSKEY, "passkeys")).await
}
