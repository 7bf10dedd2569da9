use crate::request_scan::{Found, PATIENCE, RequestScan, WINDOW};
use crate::timeline::{OnRecord, Timeline};
use crate::{AuditedChange, Control, ManageError, SearchPhones};
use dwar_app::Limits;
use dwar_kernel::{
    KeyMode, OtpId, Paise, Phone, ProjectId, ProjectMode, StoreError, TRACE, Timestamp,
};
use dwar_operator::{Action, By, Command, SearchAllowance};
use dwar_otp::{
    Channel, DeliveryStatus, Otp, OtpHistory, OtpState, OtpStore, RefusalStore, RefusedSends,
};
use dwar_ratelimit::{SendKey, SendLimiter};
use dwar_wallet::{ChargeStore, LedgerEntry, Reference};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tracing::instrument;

/// Shows what was sent and what became of it. Phones are masked until somebody unmasks one.
#[derive(Clone)]
pub struct Activity {
    pub(crate) control: Control,
    pub(crate) activity: Arc<dyn OtpHistory>,
    pub(crate) refusals: Arc<dyn RefusalStore>,
    pub(crate) otps: Arc<dyn OtpStore>,
    pub(crate) sends: Arc<dyn SendLimiter>,
    pub(crate) charges: Arc<dyn ChargeStore>,
    pub(crate) limits: Limits,
    /// For callers who ask about a number, and see numbers masked.
    pub(crate) searches: SearchPhones,
}

/// Requests on one page.
pub const PAGE: u32 = 50;
/// Requests of one phone that its timeline shows.
const OF_PHONE: u32 = 20;
/// Counts of refused sends that are read, each of one minute.
const REFUSALS: u32 = 500;

/// Which requests are wanted; `None` matches all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestFilter {
    /// With a live key or a test key.
    pub mode: Option<KeyMode>,
    pub status: Option<DeliveryStatus>,
    /// A channel that was tried, whatever came of it.
    pub channel: Option<Channel>,
    /// A provider that was tried, whatever came of it.
    pub provider: Option<String>,
}

/// A request as a line of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestLine {
    pub otp: OtpId,
    pub mode: KeyMode,
    pub at: Timestamp,
    /// `None` if it cannot be read. Shows itself masked.
    pub phone: Option<Phone>,
    /// What carried it, or was tried last.
    pub carrier: Option<(Channel, String)>,
    pub status: DeliveryStatus,
    pub state: OtpState,
    /// What it cost in the end; nothing in test mode.
    pub charged: Paise,
}

/// A page of requests, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestPage {
    /// At most 50 of them.
    pub lines: Vec<RequestLine>,
    /// The newest request that was looked at, whether it is among them or not.
    pub newest: Option<OtpId>,
    /// How many were looked through for them.
    pub looked_through: u32,
    /// When the oldest of these was made.
    pub looked_back_to: Option<Timestamp>,
    /// Where to go on; `None` at the end of what is on record.
    pub next: Option<OtpId>,
}

impl RequestFilter {
    /// Whether the request matches.
    pub fn wants(&self, otp: &Otp) -> bool {
        let attempts = &otp.delivery.attempts;
        self.mode.is_none_or(|mode| mode == otp.world.mode)
            && self.status.is_none_or(|status| status == otp.delivery.status)
            && self.channel.is_none_or(|wanted| attempts.iter().any(|it| it.channel == wanted))
            && self
                .provider
                .as_ref()
                .is_none_or(|wanted| attempts.iter().any(|it| it.provider == *wanted))
    }

    /// Whether only the failed ones are wanted, which are read apart.
    fn only_failed(&self) -> bool {
        self.status == Some(DeliveryStatus::Failed)
    }

    /// Whether every request that is read is wanted, so that none is read for nothing.
    fn wants_what_is_read(&self) -> bool {
        let is_read = self.status.is_none() || self.only_failed();
        is_read && self.channel.is_none() && self.provider.is_none()
    }
}

impl Activity {
    /// The newest requests that match `filter`, older than `before`.
    #[instrument(name = "activity.requests", target = TRACE, level = "error", skip_all)]
    pub async fn requests(
        &self,
        by: &By,
        project: ProjectId,
        filter: &RequestFilter,
        before: Option<OtpId>,
    ) -> Result<RequestPage, ManageError> {
        self.control.project(by, Command::ListRequests, project).await?;
        Ok(self.page(project, filter, before).await?)
    }

    /// Whether somebody may watch the requests of a project as they come, and go on watching.
    pub fn may_watch(&self, by: &By, project: ProjectId) -> bool {
        by.may(Command::ListRequests, Some(project))
    }

    /// The newest requests of one mode, for watchers whom [`Activity::may_watch`] let through.
    #[instrument(name = "activity.newest", target = TRACE, level = "error", skip_all)]
    pub async fn newest(&self, world: ProjectMode) -> Result<Vec<RequestLine>, StoreError> {
        let filter = RequestFilter { mode: Some(world.mode), ..RequestFilter::default() };
        Ok(self.page(world.project, &filter, None).await?.lines)
    }

    async fn page(
        &self,
        project: ProjectId,
        filter: &RequestFilter,
        before: Option<OtpId>,
    ) -> Result<RequestPage, StoreError> {
        let modes = filter.mode.map_or_else(|| KeyMode::ALL.to_vec(), |mode| vec![mode]);
        let scan = RequestScan {
            history: self.activity.as_ref(),
            worlds: modes.into_iter().map(|mode| project.in_mode(mode)).collect(),
            failed: filter.only_failed(),
            window: if filter.wants_what_is_read() { PAGE } else { WINDOW },
            patience: PATIENCE,
        };
        let found = scan.find(before, PAGE as usize, |otp| filter.wants(otp)).await?;
        let Found { requests, newest, looked_through, looked_back_to, next } = found;
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
            let delivery = &otp.delivery;
            let attempt = delivery.carrier();
            RequestLine {
                otp: otp.id,
                mode: otp.world.mode,
                at: otp.created_at,
                phone: self.control.tools.vault.open_phone(project, &otp.sealed_phone).ok(),
                carrier: attempt.map(|it| (it.channel, it.provider.clone())),
                status: delivery.status,
                state: otp.state,
                charged: charged.get(&otp.id.into()).copied().unwrap_or_default(),
            }
        };
        Ok(found.into_iter().map(line).collect())
    }

    /// What was refused in the last hour, for all phones; added up by mode and reason.
    #[instrument(name = "activity.refused_lately", target = TRACE, level = "error", skip_all)]
    pub async fn refused_lately(
        &self,
        by: &By,
        project: ProjectId,
    ) -> Result<Vec<RefusedSends>, ManageError> {
        self.control.project(by, Command::ListRefusedRequests, project).await?;
        let since = self.control.tools.now() - Duration::from_secs(3_600);
        let mut counts = self.refusals.of_project(project, since, REFUSALS).await?;
        counts.iter_mut().for_each(|it| it.minute = since);
        Ok(RefusedSends::added_up(counts))
    }

    /// The timeline of all that is on record about a phone, for a caller who knows its number; and how
    /// many more they may ask about, see [`SearchPhones::admit`].
    #[instrument(name = "activity.search", target = TRACE, level = "error", skip_all)]
    pub async fn search(
        &self,
        by: &By,
        world: ProjectMode,
        phone: &Phone,
    ) -> Result<(Timeline, Option<SearchAllowance>), ManageError> {
        self.control.project(by, Command::SearchRequests, world.project).await?;
        let left = self.searches.admit(by, world, phone).await?;
        Ok((self.told(world, phone).await?, left))
    }

    /// The same for a phone whose requests the caller was shown before.
    #[instrument(name = "activity.timeline", target = TRACE, level = "error", skip_all)]
    pub async fn timeline(
        &self,
        by: &By,
        world: ProjectMode,
        phone: &Phone,
    ) -> Result<Timeline, ManageError> {
        self.control.project(by, Command::ShowRequest, world.project).await?;
        Ok(self.told(world, phone).await?)
    }

    /// The same for the phone of a request.
    #[instrument(name = "activity.story", target = TRACE, level = "error", skip_all)]
    pub async fn story(
        &self,
        by: &By,
        project: ProjectId,
        otp: OtpId,
    ) -> Result<(KeyMode, Phone, Timeline), ManageError> {
        self.control.project(by, Command::ShowRequest, project).await?;
        let (mode, phone) = self.whose(project, otp).await?;
        let timeline = self.told(project.in_mode(mode), &phone).await?;
        Ok((mode, phone, timeline))
    }

    /// The world and the phone of a request, in full, as [`Activity::unmask`] shows it.
    #[instrument(name = "activity.unmask_request", target = TRACE, level = "error", skip_all)]
    pub async fn unmask_request(
        &self,
        by: &By,
        project: ProjectId,
        otp: OtpId,
    ) -> Result<(KeyMode, Phone), ManageError> {
        self.control.project(by, Command::UnmaskRequest, project).await?;
        let (mode, phone) = self.whose(project, otp).await?;
        self.unmask(by, project, &phone).await?;
        Ok((mode, phone))
    }

    /// Shows a phone number in full, and records who asked for it.
    #[instrument(name = "activity.unmask", target = TRACE, level = "error", skip_all)]
    pub async fn unmask(
        &self,
        by: &By,
        project: ProjectId,
        phone: &Phone,
    ) -> Result<(), ManageError> {
        self.control.admit(by, Command::UnmaskRequest, Some(project))?;
        let change = AuditedChange::new(Action::PhoneUnmasked, phone).within(project);
        Ok(self.control.record(by, change).await?)
    }

    async fn told(&self, world: ProjectMode, phone: &Phone) -> Result<Timeline, StoreError> {
        let index = self.control.tools.vault.phone_index(world, phone);
        let requests = self.activity.of_phone(world, index, OF_PHONE).await?;
        let charges = self.charges_of(world.project, &requests).await?;
        let refused = self.refusals.of_phone(world, index, REFUSALS).await?;
        let log = self.sends.log(SendKey { world, phone: index }).await?;
        let on_record = OnRecord { mode: world.mode, requests, charges, refused, log };
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

    /// Only live sends cost anything.
    async fn charges_of(
        &self,
        project: ProjectId,
        requests: &[Otp],
    ) -> Result<Vec<LedgerEntry>, StoreError> {
        let live = requests.iter().filter(|otp| !otp.world.mode.is_test());
        let live: Vec<OtpId> = live.map(|otp| otp.id).collect();
        if live.is_empty() {
            return Ok(Vec::new());
        }
        self.charges.charges(project, live).await
    }
}
