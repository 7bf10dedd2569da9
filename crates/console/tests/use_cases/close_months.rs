//! A month is closed after its export is complete, by an operator with access to the machine.

use crate::common::{BY, Office};
use dwar_console::{CloseError, ManageError, MonthToClose, ProofScope};
use dwar_kernel::{KeyMode, OtpId, ProjectId, Timestamp};
use dwar_memory::Fault;
use dwar_operator::{Access, Action, Actor, Requester, Role};
use dwar_testkit::{MS, START};
use dwar_wallet::{
    ClosingStore, ExportError, FileDigest, LedgerExport, LedgerExports, Month, Paise, ProofStart,
    Settlement, StatementLine,
};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

const DIGEST: FileDigest = FileDigest([7; 32]);

fn month() -> Month {
    Month::of(START).unwrap()
}

/// The month after it, and the first instant at which it can be closed.
fn next() -> (Month, Timestamp) {
    let next = Month::of(month().until()).unwrap();
    (next, next.since() + std::time::Duration::from_secs(86_400))
}

#[derive(Clone, Default)]
struct Exports {
    kept: Arc<Mutex<HashMap<(ProjectId, Month), FileDigest>>>,
    lines: Arc<Mutex<Vec<StatementLine>>>,
    fails: bool,
}

struct Export {
    all: Exports,
    of: (ProjectId, Month),
}

#[async_trait::async_trait]
impl LedgerExports for Exports {
    async fn begin(
        &self,
        project: ProjectId,
        month: Month,
        _: Option<FileDigest>,
    ) -> Result<Box<dyn LedgerExport>, ExportError> {
        Ok(Box::new(Export { all: self.clone(), of: (project, month) }))
    }

    async fn digest(
        &self,
        project: ProjectId,
        month: Month,
    ) -> Result<Option<FileDigest>, ExportError> {
        Ok(self.kept.lock().unwrap().get(&(project, month)).copied())
    }
}

#[async_trait::async_trait]
impl LedgerExport for Export {
    async fn add(&mut self, lines: &[StatementLine]) -> Result<(), ExportError> {
        self.all.lines.lock().unwrap().extend_from_slice(lines);
        Ok(())
    }

    async fn finish(self: Box<Self>) -> Result<FileDigest, ExportError> {
        if self.all.fails {
            return Err(ExportError("no space left".to_owned()));
        }
        self.all.kept.lock().unwrap().insert(self.of, DIGEST);
        Ok(DIGEST)
    }
}

impl Office {
    async fn charged(&self, project: ProjectId, at: Timestamp) -> OtpId {
        let otp = self.make.otp(&self.make.line(project.in_mode(KeyMode::Live)));
        let (send, paid) = (otp.id, Settlement::Capture(Paise(20)));
        assert!(self.make.hold(&*self.stores.logins, otp, Paise(30)).await);
        let entries = [self.make.id(), self.make.id()];
        assert!(self.stores.wallets.settle(project, send, paid, entries, at).await.unwrap());
        send
    }

    /// A project with two sends of the month, at a time when the month can be closed.
    async fn over(&self) -> ProjectId {
        let project = self.project().await;
        self.stores.wallets.credit(project, self.make.credit(Paise(500)), START).await.unwrap();
        self.charged(project, START).await;
        self.charged(project, START + MS).await;
        self.clock.set(next().1);
        project
    }

    async fn plan(&self) -> Result<Vec<MonthToClose>, CloseError> {
        self.manage.months.plan(&BY, None, next().0).await
    }

    async fn close_all(&self, exports: &Exports) -> Result<(), CloseError> {
        for month in self.plan().await? {
            assert!(self.manage.months.close(&BY, exports, month).await?.is_complete());
        }
        Ok(())
    }

    fn closing_store(&self) -> &dyn ClosingStore {
        &*self.stores.console.closings
    }

    async fn sound(&self, project: ProjectId) -> bool {
        let ledger = &self.manage.ledger;
        let ProofStart::Begun(run) = ledger.begin_here(&BY, project).await.unwrap() else {
            panic!("none is running")
        };
        ledger.prove(run, ProofScope::Newer).await.unwrap().unwrap().is_sound()
    }
}

#[tokio::test]
async fn a_month_is_closed_once_its_requests_are_gone() {
    let office = Office::open();
    let project = office.over().await;
    office.clock.set(next().1 - MS);
    let refused = office.plan().await;
    assert!(
        matches!(refused, Err(CloseError::NotOver { from, .. }) if from == next().1),
        "{refused:?}"
    );
    office.clock.set(next().1);
    assert!(office.sound(project).await);
    let plan = office.plan().await.unwrap();
    assert_eq!((plan.len(), plan[0].project, plan[0].month), (1, project, month()));
    assert_eq!((plan[0].entries.entries, plan[0].begun), (6, None));

    let exports = Exports::default();
    office.close_all(&exports).await.unwrap();
    let lines = exports.lines.lock().unwrap().clone();
    assert_eq!(lines.len(), 6);
    assert!(lines.iter().all(|line| line.entry.kind.is_closable()));
    assert_eq!(office.plan().await.unwrap(), []);
    assert!(office.sound(project).await, "it goes on from a proof before the closing");
    let [closing] = office.closing_store().closings(project).await.unwrap()[..] else { panic!() };
    assert_eq!((closing.digest, closing.closed.sums.balance), (DIGEST, Paise(-40)));
    let log = office.log().await;
    let entry = log.iter().find(|entry| entry.action == Action::LedgerClosed).unwrap();
    assert_eq!((entry.subject.as_str(), entry.project), ("2027-01", Some(project)));
    assert!(entry.after.as_ref().unwrap().contains("0707"), "{entry:?}");
}

#[tokio::test]
async fn nothing_leaves_where_the_export_or_the_ledger_is_not_right() {
    let office = Office::open();
    let project = office.over().await;
    let full = Exports { fails: true, ..Exports::default() };
    let refused = office.close_all(&full).await;
    assert!(matches!(refused, Err(CloseError::Export(_))), "{refused:?}");
    assert_eq!(office.closing_store().closings(project).await.unwrap(), []);
    assert_eq!(office.actions().await, []);

    let otp = office.make.otp(&office.make.line(project.in_mode(KeyMode::Live)));
    let (open, entries) = (otp.id, [office.make.id(), office.make.id()]);
    assert!(office.make.hold(&*office.stores.logins, otp, Paise(30)).await);
    let refused = office.close_all(&Exports::default()).await;
    assert!(matches!(refused, Err(CloseError::OpenHold { .. })), "{refused:?}");
    let release = Settlement::Release;
    office.stores.wallets.settle(project, open, release, entries, START).await.unwrap();
    office.close_all(&Exports::default()).await.unwrap();
}

#[tokio::test]
async fn what_was_begun_goes_on_with_its_export_alone() {
    let office = Office::open();
    let project = office.over().await;
    let exports = Exports::default();
    office.store.faults().next("ClosingStore::close", Fault::Fails);
    let cut_off = office.close_all(&exports).await;
    assert!(matches!(cut_off, Err(CloseError::Manage(ManageError::Store(_)))), "{cut_off:?}");
    assert!(office.sound(project).await);

    let elsewhere = office.close_all(&Exports::default()).await;
    assert!(matches!(elsewhere, Err(CloseError::ExportMissing { .. })), "{elsewhere:?}");
    exports.lines.lock().unwrap().clear();
    office.close_all(&exports).await.unwrap();
    assert!(exports.lines.lock().unwrap().is_empty(), "it is not written again");
    assert!(office.sound(project).await);
}

#[tokio::test]
async fn only_the_machine_closes_months() {
    let office = Office::open();
    let project = office.over().await;
    let plan = office.plan().await.unwrap();
    let signed_in = office.join("Asha", Access::everything()).await;
    let owner = Requester::operator(&signed_in.operator, None);
    let role = Requester { access: Access::one(project, Role::Owner), ..owner.clone() };
    for by in [owner, role] {
        assert_ne!(by.actor, Actor::CommandLine);
        let refused = office.manage.months.plan(&by, Some(project), next().0).await;
        assert!(matches!(refused, Err(CloseError::Manage(ManageError::Forbidden))));
        let refused = office.manage.months.close(&by, &Exports::default(), plan[0]).await;
        assert!(matches!(refused, Err(CloseError::Manage(ManageError::Forbidden))));
    }
    assert_eq!(office.closing_store().closings(project).await.unwrap(), []);
}
