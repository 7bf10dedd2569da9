use super::passkeys::{asked, bytes, site, text};
use super::sign_in::SignInPage;
use crate::answer::PageResult;
use crate::refusal::Refusal;
use crate::visit::{EmptyForm, PublicForm};
use actix_web::web::Json;
use dwar_console::PasskeyAnswer;
use dwar_operator::PasskeySigned;
use serde::Deserialize;
use serde_json::{Value, json};

/// `POST /sign-in/passkey/challenge`: the challenge for any passkey of this site.
pub(crate) async fn ask(posted: PublicForm<EmptyForm>) -> Result<Json<Value>, Refusal> {
    let PublicForm { request, console, .. } = posted;
    let site = site(&request, &console)?;
    let challenge = console.passkeys.challenge(None);
    Ok(Json(json!({ "challenge": text(challenge.as_bytes()), "rpId": site.id })))
}

#[derive(Deserialize)]
pub(crate) struct PasskeySignInForm {
    challenge: String,
    credential: String,
    client_data: String,
    authenticator_data: String,
    signature: String,
    #[serde(default)]
    next: String,
}

/// `POST /sign-in/passkey`: a new session, whatever cookie was sent.
pub(crate) async fn let_in(posted: PublicForm<PasskeySignInForm>) -> PageResult {
    let PublicForm { request, console, form } = posted;
    let site = site(&request, &console)?;
    let parts = [&form.challenge, &form.credential, &form.client_data];
    let [challenge, credential, client_data] = &parts.map(|part| bytes(part));
    let (authenticator_data, signature) =
        (&bytes(&form.authenticator_data)?, &bytes(&form.signature)?);
    let (Ok(challenge), Ok(credential), Ok(client_data)) = (challenge, credential, client_data)
    else {
        return Err(Refusal::Unreadable);
    };
    let signed = PasskeySigned { client_data, authenticator_data, signature };
    let answer = PasskeyAnswer { credential, signed };
    let client = console.client(&request);
    let signed_in = console.passkeys.sign_in(asked(site, challenge), answer, client).await;
    SignInPage::new(&request, &console, &form.next).by_passkey(signed_in).await
}
