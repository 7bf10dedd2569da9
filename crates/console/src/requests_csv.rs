//! Requests as a CSV file.

use crate::csv::{CsvBatch, cell, file, instant};
use crate::{Activity, ManageError, RequestFilter, RequestLine};
use dwar_activity::Cause;
use dwar_kernel::{OtpId, ProjectId, StoreError};
use dwar_operator::{Command, Requester};
use dwar_otp::Channel;
use futures_util::stream::Stream;

/// Requests of a download that are held in memory at once.
const BATCH: u32 = 500;

impl Activity {
    /// The requests of a project that match `filter` as a CSV file, newest first, without a limit.
    pub async fn csv(
        self,
        by: Requester,
        project: ProjectId,
        filter: RequestFilter,
    ) -> Result<impl Stream<Item = Result<String, StoreError>>, ManageError> {
        self.control.project(&by, Command::DownloadRequests, project).await?;
        let first = self.batch(&by, project, &filter, None).await?;
        Ok(file(HEAD, first, move |last| {
            let (activity, by, filter) = (self.clone(), by.clone(), filter.clone());
            async move { activity.batch(&by, project, &filter, Some(last)).await }
        }))
    }

    async fn batch(
        &self,
        by: &Requester,
        project: ProjectId,
        filter: &RequestFilter,
        before: Option<OtpId>,
    ) -> Result<CsvBatch<OtpId>, ManageError> {
        let page = self.requests(by, project, filter, before, BATCH).await?;
        Ok(CsvBatch { lines: page.lines.iter().map(csv_line).collect(), next: page.next })
    }
}

/// The columns. They are documented, and programs read them by name: their meaning must not change.
const HEAD: &str = "at,otp_id,mode,phone,status,state,reason,channel,provider,charged_paise";

fn csv_line(line: &RequestLine) -> String {
    let at = instant(line.at);
    let phone = line.phone.as_ref().map(|phone| cell(&phone.to_string())).unwrap_or_default();
    let reason = line.cause().map_or("", Cause::as_str);
    let (channel, provider) = line.carrier.clone().unzip();
    let channel = channel.map_or("", Channel::as_str);
    let provider = provider.map(|name| cell(&name)).unwrap_or_default();
    let RequestLine { otp, mode, status, state, charged, .. } = line;
    let paise = charged.0;
    format!("{at},{otp},{mode},{phone},{status},{state},{reason},{channel},{provider},{paise}\r\n")
}
