use crate::ConsoleStores;
use crate::{AuditRecorder, AuditedChange};
use dwar_app::Stores;
use dwar_event::FeedLife;
use dwar_kernel::{AttemptId, EntryId, PriceList, StoreError, TRACE, Timestamp};
use dwar_login::SendReport;
use dwar_operator::{Action, AuditDetails, AuditFilter, Requester, Totp};
use dwar_otp::{Otp, Report, ReportedRequest, Route};
use std::time::Duration;
use tracing::instrument;

const BATCH: u32 = 100;
/// No send is due later than this; a claim during settlement lasts as long.
const DAY: Duration = Duration::from_secs(86_400);

/// Settles a database that was restored from a backup, before a service uses it: sends that were under way at
/// the time of the backup, and codes and sessions that may have been used up since.
pub struct SettleRestored {
    pub(crate) audit: AuditRecorder,
    pub(crate) login: Stores,
    pub(crate) stores: ConsoleStores,
    pub(crate) prices: PriceList,
}

/// What was settled, for the output of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettledSends {
    /// Time of the newest record, as far as it is visible: every running process leaves one each ten seconds.
    pub newest: Option<Timestamp>,
    pub codes: u64,
    /// Sends that were under way and were ended.
    pub sends: u64,
    /// Ended sessions; `None` if sessions were kept.
    pub sessions: Option<u64>,
}

impl SettleRestored {
    /// Withdraws the codes in force, since they may have been used. Ends the sends under way
    /// without another message, since their messages were sent, and settles their money by the
    /// recorded delivery. Invalidates everything that signs in operators. Ends every session unless
    /// `keep_sessions` is set, since sessions that ended after the backup would work again.
    ///
    /// MUST run while no service runs. Repetition is harmless.
    #[instrument(name = "restore.settle", target = TRACE, level = "error", skip_all)]
    pub async fn settle(
        &self,
        by: &Requester,
        keep_sessions: bool,
    ) -> Result<SettledSends, StoreError> {
        let (stores, now) = (&self.stores, self.audit.tools.now());
        let newest = self.newest().await?;
        let facts = AuditDetails::new().flag("sessions_kept", keep_sessions);
        let change = AuditedChange::new(Action::DatabaseRestored, "database").after(facts);
        self.audit.record(by, change).await?;
        // Consumers may have read events from after the backup, so their cursors are no longer valid.
        self.login.feed.begin_life(FeedLife::name(self.audit.tools.entropy.as_ref())).await?;
        let codes = self.login.otps.withdraw_all(now).await?;
        let sends = self.end_sends(now).await?;
        stores.operators.invalidate_sign_ins(Totp::latest_step(now)).await?;
        let sessions = match keep_sessions {
            true => None,
            false => Some(stores.identity_sessions.end_everywhere(now).await?),
        };
        for instance in stores.instances.instances(BATCH).await? {
            stores.instances.leave(instance.id).await?;
        }
        Ok(SettledSends { newest, codes, sends, sessions })
    }

    async fn newest(&self) -> Result<Option<Timestamp>, StoreError> {
        let seen = self.stores.instances.instances(1).await?;
        let done = self.stores.audit.page(AuditFilter::default(), None, 1).await?;
        Ok(seen.iter().map(|it| it.seen_at).chain(done.iter().map(|it| it.at)).max())
    }

    async fn end_sends(&self, now: Timestamp) -> Result<u64, StoreError> {
        let mut ended = 0;
        loop {
            let due = self.login.otps.claim_due(now + DAY, DAY, BATCH).await?;
            if due.is_empty() {
                return Ok(ended);
            }
            for otp in due {
                ended += u64::from(self.end_send(&otp, now).await?);
            }
        }
    }

    /// Ends a send like an overdue one that has no further provider.
    async fn end_send(&self, otp: &Otp, now: Timestamp) -> Result<bool, StoreError> {
        let Some(last) = otp.delivery.attempts.last() else { return Ok(false) };
        let Some(project) = self.login.projects.find(otp.project_mode.project).await? else {
            return Ok(false);
        };
        let entropy = self.audit.tools.entropy.as_ref();
        let report = SendReport {
            attempt: last.id,
            report: Report::Overdue { seen: last.status },
            route: Route { hops: Vec::new(), receipt_window: None, lease: Duration::ZERO },
            next: AttemptId::new(now, entropy),
            prices: project.prices.over(self.prices),
            entries: [(); 2].map(|()| EntryId::new(now, entropy)),
        };
        let request = ReportedRequest::Id(otp.project_mode.project, otp.id);
        Ok(self.login.logins.report(request, report, now).await?.is_some())
    }
}
