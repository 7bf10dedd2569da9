use super::parts::notice;
use crate::form::Refused;
use crate::refusal::Refusal;
use actix_web::HttpRequest;
use actix_web::http::StatusCode;
use dwar_console::ManageError;
use maud::{Markup, html};

/// The notice at the top of a page about its last command.
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) above: Markup,
}

impl Reply {
    pub(crate) const fn done(above: Markup) -> Self {
        Self { status: StatusCode::OK, above }
    }

    /// The notice that the address asks for: one of `known`, or none.
    pub(crate) fn of_address(request: &HttpRequest, known: &[(&str, &str)]) -> Self {
        let word = request.query_string().strip_prefix("done=").unwrap_or_default();
        let sentence = known.iter().find(|(name, _)| *name == word).map(|(_, sentence)| sentence);
        Self::done(html! { @if let Some(sentence) = sentence { (notice("good", sentence)) } })
    }

    pub(crate) fn invalid(sentence: &str) -> Self {
        Self { status: StatusCode::UNPROCESSABLE_ENTITY, above: notice("bad", sentence) }
    }

    pub(crate) fn conflict(sentence: &str) -> Self {
        Self { status: StatusCode::CONFLICT, above: notice("bad", sentence) }
    }

    pub(crate) fn refused(refused: &Refused<'_>) -> Self {
        Self { status: StatusCode::UNPROCESSABLE_ENTITY, above: refused.summary() }
    }

    /// The notice about a command's result, if the page has words for it.
    pub(crate) fn of(done: Result<Markup, ManageError>) -> Result<Self, Refusal> {
        match done {
            Ok(above) => Ok(Self::done(above)),
            Err(ManageError::Conflict(sentence)) => Ok(Self::conflict(sentence)),
            Err(cause) => Err(cause.into()),
        }
    }
}
