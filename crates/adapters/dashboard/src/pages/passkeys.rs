use super::parts::current_password;
use crate::assets;
use crate::console::Console;
use crate::form::{described_by, notes};
use crate::format::time;
use crate::layout::csrf;
use crate::names::Site;
use crate::refusal::Refusal;
use crate::texts::passkeys as texts;
use crate::texts::sign_in::SignInTexts;
use crate::visit::Visit;
use actix_web::HttpRequest;
use base64ct::{Base64UrlUnpadded, Encoding};
use dwar_operator::{Passkey, PasskeySite};
use maud::{Markup, html};

/// The forms of this section, as the account page names them.
pub(crate) const PASSKEY: &str = "passkey";
pub(crate) const NO_PASSKEY: &str = "no-passkey";

/// The site of a request, if it can have passkeys.
pub(crate) fn site<'a>(request: &HttpRequest, console: &'a Console) -> Result<&'a Site, Refusal> {
    console.names.site(request.headers()).ok_or(Refusal::NotFound)
}

pub(crate) fn asked<'a>(site: &'a Site, challenge: &'a [u8]) -> PasskeySite<'a> {
    PasskeySite { id: &site.id, origin: &site.origin, challenge }
}

pub(crate) fn bytes(text: &str) -> Result<Vec<u8>, Refusal> {
    Base64UrlUnpadded::decode_vec(text).map_err(|_| Refusal::Unreadable)
}

pub(crate) fn text(bytes: &[u8]) -> String {
    Base64UrlUnpadded::encode_string(bytes)
}

/// The passkey button of the sign-in page, if this site can have passkeys; `next` is sent with the
/// answer.
pub(crate) fn sign_in_button(
    request: &HttpRequest,
    console: &Console,
    words: &SignInTexts,
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
        script type="module" src=(assets::PASSKEYS.path()) {}
    }
}

/// The operator's passkeys, and the form for another one.
pub(crate) async fn section(visit: &Visit, request: &HttpRequest) -> Result<Markup, Refusal> {
    let known = visit.console.passkeys.list(visit.present.operator.id).await?;
    let possible = site(request, &visit.console).is_ok();
    Ok(html! {
        section.card #passkeys {
            h2 { (texts::TITLE) }
            p.muted { (texts::HINT) }
            @for (number, passkey) in known.iter().enumerate() { (one(visit, number, passkey)) }
            @if !possible { p.notice { (texts::NOT_HERE) } }
            @else if known.len() < Passkey::MOST { (form(visit)) }
        }
    })
}

/// A passkey's name, and when it was added and last used.
pub(super) fn told(passkey: &Passkey) -> Markup {
    html! {
        strong { (passkey.name) } " · " (texts::MADE) " " (time(passkey.made_at)) " · "
        @match passkey.used_at {
            Some(at) => { (texts::USED) " " (time(at)) }
            None => (texts::NEVER_USED),
        }
    }
}

fn one(visit: &Visit, number: usize, passkey: &Passkey) -> Markup {
    let credential = text(&passkey.credential);
    let is_typed = visit.typed.get("credential") == Some(&credential);
    let form = visit.form(NO_PASSKEY, true).only_if(is_typed);
    html! {
        details open[form.error("current").is_some()] {
            summary { (told(passkey)) }
            form.stack method="post" action="/account/passkeys/remove" {
                (csrf(visit))
                input type="hidden" name="credential" value=(credential);
                (current_password(visit, form, &format!("current-passkey-{number}")))
                div { button.danger type="submit" { (texts::REMOVE) " " (passkey.name) } }
            }
        }
    }
}

fn form(visit: &Visit) -> Markup {
    let form = visit.form(PASSKEY, true);
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
            (current_password(visit, form, "current-passkey"))
            div { button.plain type="submit" { (texts::ADD) } }
            p.notice.bad role="alert" data-asking=(texts::NOT_ASKED) data-failed=(texts::FAILED)
                data-known=(texts::KNOWN) data-reading=(texts::NOT_READ) hidden {}
        }
    }
}
