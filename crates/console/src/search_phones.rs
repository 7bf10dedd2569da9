use crate::{AuditedChange, Control, ManageError};
use dwar_kernel::{Phone, ProjectMode, TRACE};
use dwar_operator::{
    Action, AuditDetails, Permission, PhoneSearch, Requester, SearchAdmission, SearchAllowance,
    SearchStore,
};
use std::sync::Arc;
use tracing::instrument;

/// Limits and records searches of callers who see phone numbers masked: trying all values of the four hidden
/// digits would reveal a number.
#[derive(Clone)]
pub struct SearchPhones {
    pub(crate) control: Control,
    pub(crate) searches: Arc<dyn SearchStore>,
}

impl SearchPhones {
    /// Admits a search before it is made, by a caller who has the right to search. Returns how many more
    /// searches the caller has, or `None` for a caller who may see the number anyway: such a search is
    /// neither counted nor recorded.
    ///
    /// All searches of an operator, or of a token, count together, across projects. Repeating a search within
    /// the hour is neither counted nor recorded.
    ///
    /// # Errors
    /// [`ManageError::SearchedTooMuch`].
    #[instrument(name = "search_phones.admit", target = TRACE, level = "error", skip_all)]
    pub async fn admit(
        &self,
        by: &Requester,
        project_mode: ProjectMode,
        phone: &Phone,
    ) -> Result<Option<SearchAllowance>, ManageError> {
        let Some(searcher) =
            by.searcher().filter(|_| !by.access.may(project_mode.project, Permission::Unmask))
        else {
            return Ok(None);
        };
        let tools = &self.control.tools;
        let change = AuditedChange::new(Action::PhoneSearched, phone).within(project_mode.project);
        let entry = self
            .control
            .audit
            .entry(by, change.after(AuditDetails::new().word("mode", project_mode.mode)));
        let number = tools.vault.phone_index(project_mode, phone);
        let search = PhoneSearch { searcher, number, entry };
        let now = tools.now();
        match self.searches.admit_search(search, now).await? {
            SearchAdmission::Counted(left) | SearchAdmission::Repeated(left) => Ok(Some(left)),
            SearchAdmission::Refused { until, .. } => {
                tracing::warn!(actor = %by.actor, project = %project_mode.project, "refused: too many numbers searched for");
                let wait = u64::try_from((until - now).num_milliseconds()).unwrap_or_default();
                Err(ManageError::SearchedTooMuch { until, seconds: wait.div_ceil(1_000) })
            }
        }
    }
}
