use super::parts::notice;
use crate::answer::PageResult;
use crate::layout::Frame;
use crate::refusal::Refusal;
use crate::visit::Visit;
use actix_web::http::StatusCode;
use dwar_console::ManageError;
use maud::{Markup, html};

/// The notice at the top of a page about its last command.
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) above: Markup,
}

impl Reply {
    pub(crate) fn none() -> Self {
        Self::done(html! {})
    }

    pub(crate) const fn done(above: Markup) -> Self {
        Self { status: StatusCode::OK, above }
    }

    /// The notice that the address asks for: one of `known`, or none.
    pub(crate) fn of_address(visit: &Visit, known: &[(&str, &str)]) -> Self {
        let known = known.iter().find(|(name, _)| *name == visit.done);
        let sentence = known.map(|(_, sentence)| sentence);
        Self::done(html! { @if let Some(sentence) = sentence { (notice("good", sentence)) } })
    }

    /// The page with the notice above its content.
    pub(crate) fn show(&self, frame: &Frame<'_>, content: &Markup) -> PageResult {
        frame.answer(self.status, &html! { div.stack { (self.above) (content) } })
    }

    pub(crate) fn invalid(sentence: &str) -> Self {
        Self { status: StatusCode::UNPROCESSABLE_ENTITY, above: notice("bad", sentence) }
    }

    pub(crate) fn conflict(sentence: &str) -> Self {
        Self { status: StatusCode::CONFLICT, above: notice("bad", sentence) }
    }

    /// The notice about the refused form of the page.
    pub(crate) fn refused(visit: &Visit) -> Self {
        let above = html! { @if let Some(refused) = &visit.refused { (refused.summary()) } };
        Self { status: StatusCode::UNPROCESSABLE_ENTITY, above }
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
