use crate::request_filter::{RequestFilter, RequestLine};
use crate::request_scan::{PATIENCE, RequestScan, ScannedRequests, WINDOW};
use crate::timeline::{PhoneHistory, Timeline};
use crate::{AuditedChange, Control, ManageError, SearchPhones};
use dwar_app::Limits;
use dwar_kernel::{
    KeyMode, OtpId, Paise, Phone, ProjectId, ProjectMode, StoreError, TRACE, Timestamp,
};
use dwar_operator::{Action, Command, Requester, SearchAllowance};
use dwar_otp::{Otp, OtpHistory, OtpStore, RefusalStore, RefusedSends};
use dwar_ratelimit::{SendKey, SendLimiter};
use dwar_wallet::{ChargeStore, LedgerEntry, Reference};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tracing::instrument;

/// Shows sends and their outcome. Phones are masked until an operator unmasks one.
#[derive(Clone)]
pub struct Activity {
    pub(crate) control: Control,
    pub(crate) activity: Arc<dyn OtpHistory>,
    pub(crate) refusals: Arc<dyn RefusalStore>,
    pub(crate) otps: Arc<dyn OtpStore>,
    pub(crate) sends: Arc<dyn SendLimiter>,
    pub(crate) charges: Arc<dyn ChargeStore>,
    pub(crate) limits: Limits,
    pub requests_kept: Duration,
    /// For callers who search for a number and see numbers masked.
    pub(crate) searches: SearchPhones,
}

/// Most requests on one page of a list.
pub const PAGE: u32 = 50;
/// Requests in the timeline of one phone.
const OF_PHONE: u32 = 20;
/// Most counts of refused sends that are read, each of one minute.
const REFUSALS: u32 = 500;

/// A page of requests, newest first, and how far it looked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestPage {
    /// At most [`PAGE`] requests, unless the caller asked for more.
    pub lines: Vec<RequestLine>,
    /// The newest request that was read, even if it did not match.
    pub newest: Option<OtpId>,
    pub looked_through: u32,
    /// Creation of the oldest request that was read.
    pub looked_back_to: Option<Timestamp>,
    /// Where the next page begins; `None` after the last page.
    pub next: Option<OtpId>,
}

impl Activity {
    /// At most `most` requests that match `filter` and are older than `before`, newest first.
    #[instrument(name = "activity.requests", target = TRACE, level = "error", skip_all)]
    pub async fn requests(
        &self,
        by: &Requester,
        project: ProjectId,
        filter: &RequestFilter,
        before: Option<OtpId>,
        most: u32,
    ) -> Result<RequestPage, ManageError> {
        self.control.project(by, Command::ListRequests, project).await?;
        Ok(self.page(project, filter, before, most).await?)
    }

    /// Whether the caller may watch new requests of a project. Watching asks again from time to time.
    pub fn may_watch(&self, by: &Requester, project: ProjectId) -> bool {
        by.may(Command::ListRequests, Some(project))
    }

    /// The newest requests of one mode, for callers that [`Activity::may_watch`] allowed.
    #[instrument(name = "activity.newest", target = TRACE, level = "error", skip_all)]
    pub async fn newest(&self, project_mode: ProjectMode) -> Result<Vec<RequestLine>, StoreError> {
        let filter = RequestFilter { mode: Some(project_mode.mode), ..RequestFilter::default() };
        Ok(self.page(project_mode.project, &filter, None, PAGE).await?.lines)
    }

    async fn page(
        &self,
        project: ProjectId,
        filter: &RequestFilter,
        before: Option<OtpId>,
        most: u32,
    ) -> Result<RequestPage, StoreError> {
        let modes = filter.mode.map_or_else(|| KeyMode::ALL.to_vec(), |mode| vec![mode]);
        let scan = RequestScan {
            history: self.activity.as_ref(),
            project_modes: modes.into_iter().map(|mode| project.in_mode(mode)).collect(),
            failed: filter.only_failed(),
            since: filter.since,
            window: if filter.wants_what_is_read() { most } else { WINDOW },
            patience: PATIENCE,
        };
        let end = filter.until.map(OtpId::first_at);
        let before = before.into_iter().chain(end).min();
        let wanted = |otp: &Otp| filter.wants(&RequestLine::of(otp.clone(), None, Paise::ZERO));
        let found = scan.find(before, most as usize, wanted).await?;
        let ScannedRequests { requests, newest, looked_through, looked_back_to, next } = found;
        let lines = self.lines(project, requests).await?;
        Ok(RequestPage { lines, newest, looked_through, looked_back_to, next })
    }

    async fn lines(
        &self,
        project: ProjectId,
        found: Vec<Otp>,
    ) -> Result<Vec<RequestLine>, StoreError> {
        let mut charged: HashMap<Reference, Paise> = HashMap::new();
        for entry in self.charges_of(project, &found).await? {
            charged.entry(entry.reference).or_default().0 -= entry.amount.0;
        }
        let line = |otp: Otp| {
            let phone = self.control.tools.vault.open_phone(project, &otp.sealed_phone).ok();
            let charged = charged.get(&otp.id.into()).copied().unwrap_or_default();
            RequestLine::of(otp, phone, charged)
        };
        Ok(found.into_iter().map(line).collect())
    }

    /// Sends refused in the last hour, over all phones; added up by mode and reason.
    #[instrument(name = "activity.refused_lately", target = TRACE, level = "error", skip_all)]
    pub async fn refused_lately(
        &self,
        by: &Requester,
        project: ProjectId,
    ) -> Result<Vec<RefusedSends>, ManageError> {
        self.control.project(by, Command::ListRefusedRequests, project).await?;
        let since = self.control.tools.now() - Duration::from_secs(3_600);
        let counts = self.refusals.of_project(project, since, None, REFUSALS).await?;
        Ok(RefusedSends::whenever(counts))
    }

    /// Refused sends from `since` on and before `until`, over all phones, newest first and added up by
    /// minute, mode and reason: as long as they are kept, and only the newest counts if there are many.
    #[instrument(name = "activity.refused", target = TRACE, level = "error", skip_all)]
    pub async fn refused(
        &self,
        by: &Requester,
        project: ProjectId,
        since: Option<Timestamp>,
        until: Option<Timestamp>,
    ) -> Result<Vec<RefusedSends>, ManageError> {
        self.control.project(by, Command::ListRefusedRequests, project).await?;
        let since = since.unwrap_or_else(|| self.control.tools.now() - RefusedSends::KEPT);
        Ok(self.refusals.of_project(project, since, until, REFUSALS).await?)
    }

    /// The timeline of a phone whose number the caller knows; and how many more searches the caller has, see
    /// [`SearchPhones::admit`].
    #[instrument(name = "activity.search", target = TRACE, level = "error", skip_all)]
    pub async fn search(
        &self,
        by: &Requester,
        project_mode: ProjectMode,
        phone: &Phone,
    ) -> Result<(Timeline, Option<SearchAllowance>), ManageError> {
        self.control.project(by, Command::SearchRequests, project_mode.project).await?;
        let left = self.searches.admit(by, project_mode, phone).await?;
        Ok((self.told(project_mode, phone).await?, left))
    }

    /// The timeline of a phone whose requests were shown to the caller before.
    #[instrument(name = "activity.timeline", target = TRACE, level = "error", skip_all)]
    pub async fn timeline(
        &self,
        by: &Requester,
        project_mode: ProjectMode,
        phone: &Phone,
    ) -> Result<Timeline, ManageError> {
        self.control.project(by, Command::ShowRequest, project_mode.project).await?;
        Ok(self.told(project_mode, phone).await?)
    }

    /// The timeline of the phone of a request.
    #[instrument(name = "activity.story", target = TRACE, level = "error", skip_all)]
    pub async fn story(
        &self,
        by: &Requester,
        project: ProjectId,
        otp: OtpId,
    ) -> Result<(KeyMode, Phone, Timeline), ManageError> {
        self.control.project(by, Command::ShowRequest, project).await?;
        let (mode, phone) = self.whose(project, otp).await?;
        let timeline = self.told(project.in_mode(mode), &phone).await?;
        Ok((mode, phone, timeline))
    }

    /// Mode and full phone number of a request; recorded like [`Activity::unmask`].
    #[instrument(name = "activity.unmask_request", target = TRACE, level = "error", skip_all)]
    pub async fn unmask_request(
        &self,
        by: &Requester,
        project: ProjectId,
        otp: OtpId,
    ) -> Result<(KeyMode, Phone), ManageError> {
        self.control.project(by, Command::UnmaskRequest, project).await?;
        let (mode, phone) = self.whose(project, otp).await?;
        self.unmask(by, project, &phone).await?;
        Ok((mode, phone))
    }

    /// Records that the caller sees this phone number in full; MUST come before showing it.
    #[instrument(name = "activity.unmask", target = TRACE, level = "error", skip_all)]
    pub async fn unmask(
        &self,
        by: &Requester,
        project: ProjectId,
        phone: &Phone,
    ) -> Result<(), ManageError> {
        self.control.admit(by, Command::UnmaskRequest, Some(project))?;
        let change = AuditedChange::new(Action::PhoneUnmasked, phone).within(project);
        Ok(self.control.record(by, change).await?)
    }

    async fn told(&self, project_mode: ProjectMode, phone: &Phone) -> Result<Timeline, StoreError> {
        let index = self.control.tools.vault.phone_index(project_mode, phone);
        let requests = self.activity.of_phone(project_mode, index, OF_PHONE).await?;
        let charges = self.charges_of(project_mode.project, &requests).await?;
        let refused = self.refusals.of_phone(project_mode, index, REFUSALS).await?;
        let log = self.sends.log(SendKey { project_mode, phone: index }).await?;
        let on_record = PhoneHistory { mode: project_mode.mode, requests, charges, refused, log };
        Ok(Timeline::of(on_record, &self.limits, self.control.tools.now()))
    }

    async fn whose(&self, project: ProjectId, otp: OtpId) -> Result<(KeyMode, Phone), ManageError> {
        for mode in [KeyMode::Live, KeyMode::Test] {
            if let Some(otp) = self.otps.find(project.in_mode(mode), otp).await? {
                let phone = self.control.tools.vault.open_phone(project, &otp.sealed_phone);
                return Ok((mode, phone.map_err(StoreError::from)?));
            }
        }
        Err(ManageError::NotFound("request with this id"))
    }

    /// Reads the charges of live sends; test sends cost nothing.
    async fn charges_of(
        &self,
        project: ProjectId,
        requests: &[Otp],
    ) -> Result<Vec<LedgerEntry>, StoreError> {
        let live = requests.iter().filter(|otp| !otp.project_mode.mode.is_test());
        let live: Vec<OtpId> = live.map(|otp| otp.id).collect();
        if live.is_empty() {
            return Ok(Vec::new());
        }
        self.charges.charges(project, live).await
    }
}
