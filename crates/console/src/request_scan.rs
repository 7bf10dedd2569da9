use dwar_kernel::{OtpId, ProjectMode, StoreError, Timestamp};
use dwar_otp::{Otp, OtpHistory};
use std::cmp::Reverse;
use std::time::{Duration, Instant};

/// Requests per read if not all of them match.
pub(crate) const WINDOW: u32 = 500;
/// Longest search for one page. A read that has begun is finished.
pub(crate) const PATIENCE: Duration = Duration::from_millis(200);

/// Searches requests, newest first, for properties that no index covers.
pub(crate) struct RequestScan<'a> {
    pub(crate) history: &'a dyn OtpHistory,
    pub(crate) project_modes: Vec<ProjectMode>,
    pub(crate) failed: bool,
    /// Where the scan ends: older requests are not read.
    pub(crate) since: Option<Timestamp>,
    pub(crate) window: u32,
    /// Time limit by the steady clock; the wall clock may be set meanwhile.
    pub(crate) patience: Duration,
}

/// The matches, and how far the scan got.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ScannedRequests {
    /// Newest first.
    pub(crate) requests: Vec<Otp>,
    pub(crate) newest: Option<OtpId>,
    pub(crate) looked_through: u32,
    /// Creation of the oldest request that was read.
    pub(crate) looked_back_to: Option<Timestamp>,
    /// Where to continue; `None` at the end of the records.
    pub(crate) next: Option<OtpId>,
}

impl RequestScan<'_> {
    /// The newest `most` matching requests older than `before`, or as many as were found in time.
    pub(crate) async fn find(
        &self,
        before: Option<OtpId>,
        most: usize,
        mut wants: impl FnMut(&Otp) -> bool + Send,
    ) -> Result<ScannedRequests, StoreError> {
        let began = Instant::now();
        let mut found = ScannedRequests { next: before, ..ScannedRequests::default() };
        loop {
            let window = self.read(found.next).await?;
            let is_last = window.len() < self.window as usize;
            found.newest = found.newest.or_else(|| window.first().map(|newest| newest.id));
            for otp in window {
                if found.requests.len() == most {
                    return Ok(found);
                }
                if self.since.is_some_and(|since| otp.created_at < since) {
                    return Ok(ScannedRequests { next: None, ..found });
                }
                found.looked_through += 1;
                found.looked_back_to = Some(otp.created_at);
                found.next = Some(otp.id);
                if wants(&otp) {
                    found.requests.push(otp);
                }
            }
            if is_last {
                return Ok(ScannedRequests { next: None, ..found });
            }
            if found.requests.len() == most || began.elapsed() >= self.patience {
                return Ok(found);
            }
        }
    }

    /// Reads the newest requests of all chosen modes together.
    async fn read(&self, before: Option<OtpId>) -> Result<Vec<Otp>, StoreError> {
        let mut all = Vec::new();
        for project_mode in &self.project_modes {
            all.extend(self.history.newest(*project_mode, self.failed, before, self.window).await?);
        }
        all.sort_by_key(|otp| Reverse(otp.id));
        all.truncate(self.window as usize);
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dwar_kernel::{KeyMode, ProjectId};
    use dwar_otp::MockOtpHistory;
    use dwar_testkit::{CODE, Fixtures, START, seconds};

    /// `count` requests of one mode, one per second, newest first.
    fn requests(make: &Fixtures, project_mode: ProjectMode, count: u64) -> Vec<Otp> {
        let line = make.line(project_mode);
        let at = |number| START + seconds(number);
        let otp = |number| {
            let id = OtpId::new(at(number), &make.entropy);
            Otp { id, ..make.otp_with(&line, CODE, at(number)) }
        };
        (0..count).rev().map(otp).collect()
    }

    fn history(requests: Vec<Otp>) -> MockOtpHistory {
        let mut history = MockOtpHistory::new();
        history.expect_newest().returning(move |project_mode, _, before, limit| {
            let own = requests.iter().filter(|otp| otp.project_mode == project_mode);
            let older = own.filter(|otp| before.is_none_or(|before| otp.id < before));
            Ok(older.take(limit as usize).cloned().collect())
        });
        history
    }

    fn scan<'a>(history: &'a MockOtpHistory, project: ProjectId, patience: u64) -> RequestScan<'a> {
        RequestScan {
            history,
            project_modes: KeyMode::ALL.map(|mode| project.in_mode(mode)).to_vec(),
            failed: false,
            since: None,
            window: 10,
            patience: Duration::from_secs(patience),
        }
    }

    #[tokio::test]
    async fn it_goes_on_until_all_is_found_or_its_time_is_over() {
        let make = Fixtures::seeded(3);
        let project = make.project().id;
        let all = requests(&make, project.in_mode(KeyMode::Live), 25);
        let history = history(all.clone());
        let oldest = all[24].id;
        let found =
            scan(&history, project, 60).find(None, 5, |otp| otp.id == oldest).await.unwrap();
        assert_eq!((found.requests.len(), found.looked_through, found.next), (1, 25, None));
        assert_eq!((found.newest, found.looked_back_to), (Some(all[0].id), Some(START)));
        let found = scan(&history, project, 0).find(None, 5, |otp| otp.id == oldest).await.unwrap();
        assert_eq!((found.requests.len(), found.looked_through), (0, 10), "one look, and no more");
        assert_eq!((found.next, found.looked_back_to), (Some(all[9].id), Some(all[9].created_at)));
        let found = scan(&history, project, 0).find(found.next, 3, |_| true).await.unwrap();
        assert_eq!(found.requests, all[10..13]);
        assert_eq!((found.looked_through, found.next), (3, Some(all[12].id)));
    }

    #[tokio::test]
    async fn it_ends_where_it_is_told_to() {
        let make = Fixtures::seeded(3);
        let project = make.project().id;
        let all = requests(&make, project.in_mode(KeyMode::Live), 25);
        let history = history(all.clone());
        let since = Some(all[12].created_at);
        let scan = RequestScan { since, ..scan(&history, project, 60) };
        let found = scan.find(None, 50, |_| true).await.unwrap();
        assert_eq!((found.requests.as_slice(), found.next), (&all[..=12], None));
        assert_eq!(found.looked_through, 13);
    }

    #[tokio::test]
    async fn both_modes_come_in_one_order_and_none_is_left_out() {
        let make = Fixtures::seeded(4);
        let project = make.project().id;
        let of = |mode, count| requests(&make, project.in_mode(mode), count);
        let mut all = [of(KeyMode::Live, 3), of(KeyMode::Test, 40)].concat();
        all.sort_by_key(|otp| Reverse(otp.id));
        let history = history(all.clone());
        let (mut seen, mut before) = (Vec::new(), None);
        loop {
            let found = scan(&history, project, 0).find(before, 50, |_| true).await.unwrap();
            seen.extend(found.requests);
            before = found.next;
            if before.is_none() {
                break;
            }
        }
        assert_eq!(seen, all);
    }
}
