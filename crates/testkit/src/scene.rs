use crate::{Fixtures, Line, Stores};
use dwar_kernel::{GuessPolicy, IdentityId, KeyMode, ProjectId, ProjectMode, SessionId, Timestamp};
use dwar_otp::{DeliveryStep, GuessVerdict, Otp, Report, ReportedRequest};
use dwar_session::{Login, Session};
use dwar_wallet::{LedgerEntry, LedgerStore, StatementFilter};
use std::cmp::Reverse;

/// A project that no other test knows, with the stores and fixtures to fill it.
pub(crate) struct Scene {
    pub stores: Stores,
    pub make: Fixtures,
    pub project: ProjectId,
}

impl Scene {
    pub async fn open(stores: &Stores) -> Self {
        let make = Fixtures::random();
        let stores = stores.clone();
        let project = new_project(&stores, &make).await;
        Self { stores, make, project }
    }

    pub async fn another(&self) -> ProjectId {
        new_project(&self.stores, &self.make).await
    }

    /// A new phone of the project, live mode.
    pub fn line(&self) -> Line {
        self.make.line(self.project.in_mode(KeyMode::Live))
    }

    /// The same blind index where it must mean another phone: in the other mode and in another project.
    pub async fn elsewhere(&self, line: &Line) -> [Line; 2] {
        let project = self.another().await;
        [
            Line { project_mode: line.project_mode.project.in_mode(KeyMode::Test), ..line.clone() },
            Line { project_mode: project.in_mode(line.project_mode.mode), ..line.clone() },
        ]
    }

    /// Records a request, free of charge and regardless of the phone's limit.
    pub async fn issue(&self, otp: Otp) -> Otp {
        self.make.issue(self.stores.logins.as_ref(), otp).await
    }

    /// Reports on an attempt of a request, by the index of the attempt.
    pub async fn reports(
        &self,
        otp: &Otp,
        attempt: usize,
        report: Report,
        now: Timestamp,
    ) -> Option<(Otp, DeliveryStep)> {
        let report = self.make.send_report(otp.delivery.attempts[attempt].id, report);
        self.stores
            .logins
            .report(ReportedRequest::Id(otp.project_mode.project, otp.id), report, now)
            .await
            .unwrap()
    }

    /// Guesses the code of a phone; the right code logs in.
    pub async fn judge(
        &self,
        line: &Line,
        code: &str,
        policy: GuessPolicy,
        now: Timestamp,
    ) -> GuessVerdict {
        self.make.judge(self.stores.logins.as_ref(), line, code, policy, now).await
    }

    /// Logs in a phone; returns its identity.
    pub async fn identity(&self, line: &Line) -> IdentityId {
        self.session(line).await.identity
    }

    pub async fn session(&self, line: &Line) -> Session {
        self.log_in(line, self.make.login(line).session).await
    }

    /// Records this session, through a login with a code of its own; it becomes one of the phone's identity.
    pub async fn log_in(&self, line: &Line, session: Session) -> Session {
        let identity = self.log_in_by(line, self.make.login_of(line, session.clone())).await;
        Session { identity, ..session }
    }

    /// Logs in with a code of its own; returns the identity.
    pub async fn log_in_by(&self, line: &Line, login: Login) -> IdentityId {
        self.make.log_in(self.stores.logins.as_ref(), line, login).await
    }
}

/// The stored session, as a caller of this project and mode sees it.
pub(crate) async fn stored_session(
    stores: &Stores,
    project_mode: ProjectMode,
    session: SessionId,
) -> Option<Session> {
    let keys = stores.projects.keys(project_mode.project).await.unwrap();
    let key = keys.into_iter().find(|key| key.mode == project_mode.mode).unwrap();
    let caller =
        stores.sessions.find_key_and_session(key.digest, Some(session)).await.unwrap().unwrap();
    assert_eq!((caller.key, caller.project_mode), (key.id, project_mode));
    caller.session
}

pub(crate) async fn new_project(stores: &Stores, make: &Fixtures) -> ProjectId {
    let project = make.project();
    let id = project.id;
    stores.projects.create(project, make.keys()).await.unwrap();
    id
}

/// The whole ledger of a project, in order of booking, newest first; up to 10,000 entries.
pub async fn ledger_of(ledger: &dyn LedgerStore, project: ProjectId) -> Vec<LedgerEntry> {
    let lines = ledger.lines(project, StatementFilter::default(), None, 10_000);
    let mut lines = lines.await.unwrap();
    lines.sort_by_key(|line| Reverse(line.position));
    lines.into_iter().map(|line| line.entry).collect()
}
