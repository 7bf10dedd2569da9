use super::account;
use super::sign_in::Door;
use crate::assets;
use crate::console::Console;
use crate::form::{Form, Refused, described_by, notes};
use crate::format::time;
use crate::layout::{Page, csrf};
use crate::names::Site;
use crate::refusal::Refusal;
use crate::texts::passkeys as texts;
use crate::texts::sign_in::SignIn;
use crate::visit::{NoFields, Open, Posted, Visit};
use actix_web::HttpRequest;
use actix_web::web::{Data, Json};
use base64ct::{Base64UrlUnpadded, Encoding};
use dwar_app::PasskeyAnswer;
use dwar_operator::{Passkey, PasskeyAlgorithm, PasskeyMade, PasskeySigned, PasskeySite};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::{Value, json};

/// The forms of these, as the account page names them.
const PASSKEY: &str = "passkey";
const NO_PASSKEY: &str = "no-passkey";

/// The site that a request came to, if it can have passkeys.
fn site<'a>(request: &HttpRequest, console: &'a Console) -> Result<&'a Site, Refusal> {
    console.names.site(request.headers()).ok_or(Refusal::NotFound)
}

fn asked<'a>(site: &'a Site, challenge: &'a [u8]) -> PasskeySite<'a> {
    PasskeySite { id: &site.id, origin: &site.origin, challenge }
}

fn bytes(text: &str) -> Result<Vec<u8>, Refusal> {
    Base64UrlUnpadded::decode_vec(text).map_err(|_| Refusal::Unreadable)
}

fn text(bytes: &[u8]) -> String {
    Base64UrlUnpadded::encode_string(bytes)
}

/// `POST /sign-in/passkey/challenge`: what any passkey of this site is asked to sign.
pub(crate) async fn ask(
    request: HttpRequest,
    console: Data<Console>,
    _form: Open<NoFields>,
) -> Result<Json<Value>, Refusal> {
    let site = site(&request, &console)?;
    let challenge = console.passkeys.challenge(None);
    Ok(Json(json!({ "challenge": text(challenge.as_bytes()), "rpId": site.id })))
}

#[derive(Deserialize)]
pub(crate) struct SignedForm {
    challenge: String,
    credential: String,
    client_data: String,
    authenticator_data: String,
    signature: String,
    #[serde(default)]
    next: String,
}

/// `POST /sign-in/passkey`: a new session, whatever cookie came along.
pub(crate) async fn let_in(
    request: HttpRequest,
    console: Data<Console>,
    form: Open<SignedForm>,
) -> Page {
    let site = site(&request, &console)?;
    let form = form.0;
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
    Door::new(&request, &console, &form.next).by_passkey(signed_in)
}

/// What the sign-in page offers, where this site can have passkeys; `next` goes along with the answer.
pub(crate) fn door(
    request: &HttpRequest,
    console: &Console,
    words: &SignIn,
    next: &Markup,
) -> Markup {
    if site(request, console).is_err() {
        return html! {};
    }
    html! {
        form.passkey method="post" action="/sign-in/passkey" data-passkey="get"
            data-ask="/sign-in/passkey/challenge" hidden {
            @for name in ["challenge", "credential", "client_data", "authenticator_data", "signature"] {
                input type="hidden" name=(name);
            }
            (next)
            button.plain type="submit" { (words.passkey) }
            p.notice.bad role="alert" data-asking=(words.passkey_not_asked)
                data-failed=(words.passkey_failed) data-reading=(words.passkey_failed) hidden {}
        }
        script type="module" src=(assets::passkeys()) {}
    }
}

/// `POST /account/passkeys/challenge`: what a new passkey of this operator is asked to sign.
pub(crate) async fn offer(
    request: HttpRequest,
    posted: Posted<NoFields>,
) -> Result<Json<Value>, Refusal> {
    let visit = posted.visit;
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
pub(crate) struct MadeForm {
    #[serde(default)]
    current: String,
    name: String,
    challenge: String,
    credential: String,
    client_data: String,
    attestation: String,
}

/// `POST /account/passkeys/add`.
pub(crate) async fn add(request: HttpRequest, posted: Posted<MadeForm>) -> Page {
    let Posted { visit, form } = posted;
    let site = site(&request, &visit.console)?;
    let (challenge, credential) = (bytes(&form.challenge)?, bytes(&form.credential)?);
    let answer = PasskeyMade {
        credential: &credential,
        client_data: &bytes(&form.client_data)?,
        attestation: &bytes(&form.attestation)?,
    };
    let shown = (form.current.as_str(), form.name.as_str());
    let passkeys = &visit.console.passkeys;
    let added =
        passkeys.add(&visit.by, &visit.present, shown, asked(site, &challenge), answer).await;
    account::finish(&visit, &request, added, (PASSKEY, "current-passkey")).await
}

#[derive(Deserialize)]
pub(crate) struct RemoveForm {
    #[serde(default)]
    current: String,
    credential: String,
}

/// `POST /account/passkeys/remove`.
pub(crate) async fn remove(request: HttpRequest, posted: Posted<RemoveForm>) -> Page {
    let Posted { visit, form } = posted;
    let credential = bytes(&form.credential)?;
    let passkeys = &visit.console.passkeys;
    let removed = passkeys.remove(&visit.by, &visit.present, &form.current, &credential).await;
    account::finish(&visit, &request, removed, (NO_PASSKEY, "passkeys")).await
}

/// The passkeys of whoever looks, and how to get another.
pub(crate) async fn section(
    visit: &Visit,
    request: &HttpRequest,
    refused: Option<&Refused<'_>>,
) -> Result<Markup, Refusal> {
    let known = visit.console.passkeys.list(visit.present.operator.id).await?;
    let possible = site(request, &visit.console).is_ok();
    Ok(html! {
        section.card #passkeys {
            h2 { (texts::TITLE) }
            p.muted { (texts::HINT) }
            @for (number, passkey) in known.iter().enumerate() { (one(visit, number, passkey, refused)) }
            @if !possible { p.notice { (texts::NOT_HERE) } }
            @else if known.len() < Passkey::MOST { (form(visit, Form::new(PASSKEY, refused, true))) }
        }
    })
}

fn one(visit: &Visit, number: usize, passkey: &Passkey, refused: Option<&Refused<'_>>) -> Markup {
    let credential = text(&passkey.credential);
    let this = visit.typed.get("credential") == Some(&credential);
    let form = Form::new(NO_PASSKEY, refused.filter(|_| this), true);
    html! {
        details open[form.error("current").is_some()] {
            summary {
                strong { (passkey.name) } " · " (texts::MADE) " " (time(passkey.made_at)) " · "
                @match passkey.used_at {
                    Some(at) => { (texts::USED) " " (time(at)) }
                    None => (texts::NEVER_USED),
                }
            }
            form.stack method="post" action="/account/passkeys/remove" {
                (csrf(visit))
                input type="hidden" name="credential" value=(credential);
                (account::current(visit, form, &format!("current-passkey-{number}")))
                div { button.danger type="submit" { (texts::REMOVE) " " (passkey.name) } }
            }
        }
    }
}

fn form(visit: &Visit, form: Form<'_>) -> Markup {
    let error = form.error("name");
    html! {
        noscript { p { (texts::NO_SCRIPT) } }
        form.stack method="post" action="/account/passkeys/add" data-passkey="create"
            data-ask="/account/passkeys/challenge" hidden {
            (csrf(visit))
            @for name in ["challenge", "credential", "client_data", "attestation"] {
                input type="hidden" name=(name);
            }
            div.field {
                label for="passkey-name" { (texts::NAME) }
                input #passkey-name name="name" maxlength="64" required autocomplete="off"
                    value=(form.value("name", "")) placeholder=(texts::NAME_EXAMPLE)
                    aria-describedby=[described_by("passkey-name", "", error)]
                    aria-invalid=[error.map(|_| "true")] autofocus[error.is_some()];
                (notes("passkey-name", "", error))
            }
            (account::current(visit, form, "current-passkey"))
            div { button.plain type="submit" { (texts::ADD) } }
            p.notice.bad role="alert" data-asking=(texts::NOT_ASKED) data-failed=(texts::FAILED)
                data-known=(texts::KNOWN) data-reading=(texts::NOT_READ) hidden {}
        }
    }
}
