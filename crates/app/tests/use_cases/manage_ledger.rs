use crate::common::{BY, Office};
use dwar_app::{ManageError, ManageLedger, Scope};
use dwar_kernel::ProjectId;
use dwar_operator::{Access, Action, By, Role};
use dwar_testkit::{FixedClock, START};
use dwar_wallet::{
    Balance, Credited, LedgerProof, LedgerSum, MockLedgerStore, Paise, ProofRun, ProofStart,
    WalletSnapshot,
};
use std::sync::{Arc, Mutex};

impl Office {
    async fn pay(&self, project: ProjectId, paise: i64) {
        let credit = self.make.credit(Paise(paise));
        let credited = self.stores.wallets.credit(project, credit, START).await.unwrap();
        assert_eq!(credited, Credited::Booked);
    }

    async fn proof(&self, project: ProjectId, scope: Scope) -> LedgerProof {
        let ledger = &self.manage.ledger;
        let ProofStart::Begun(run) = ledger.begin(&BY, project).await.unwrap() else {
            panic!("none is running")
        };
        ledger.prove(run, scope).await.unwrap().unwrap()
    }
}

#[tokio::test]
async fn a_proof_finds_what_was_booked_and_stays_on_record() {
    let office = Office::open();
    let project = office.project().await;
    for paise in [10, 20, 30] {
        office.pay(project, paise).await;
    }
    for scope in [Scope::Newer, Scope::Everything] {
        let proof = office.proof(project, scope).await;
        assert!(proof.is_sound());
        assert_eq!((proof.sum.entries, proof.sum.sums.balance), (3, Paise(60)));
        let proven = office.manage.ledger.proven(&BY, project).await.unwrap();
        assert_eq!((proven.last, proven.running), (Some(proof), None));
        office.clock.advance(ProofRun::LEASE);
    }
    assert_eq!(office.actions().await, [Action::LedgerProved, Action::LedgerProved]);
}

#[tokio::test]
async fn who_may_not_change_money_begins_none() {
    let office = Office::open();
    let project = office.project().await;
    let ledger = &office.manage.ledger;
    for role in [Role::Member, Role::Support, Role::Viewer] {
        let by = By { access: Access::one(project, role), ..By::command_line() };
        let begun = ledger.begin(&by, project).await;
        assert!(matches!(begun, Err(ManageError::Forbidden)), "{role:?}");
    }
    assert_eq!(ledger.proven(&BY, project).await.unwrap().running, None);
}

/// What was asked for, in positions.
type Ranges = Arc<Mutex<Vec<(u64, u64)>>>;

/// What a store of so many entries, each of one paisa, was asked to add up.
fn counting(
    entries: u64,
    proved: Option<LedgerProof>,
    clock: &Arc<FixedClock>,
) -> (MockLedgerStore, Ranges) {
    let asked = Arc::<Mutex<Vec<(u64, u64)>>>::default();
    let mut store = MockLedgerStore::new();
    let balance = |entries: u64| Balance {
        balance: Paise(i64::try_from(entries).unwrap()),
        held: Paise::ZERO,
    };
    let stand = WalletSnapshot { position: entries, balance: balance(entries), open: Paise::ZERO };
    store.expect_snapshot().returning(move |_| Ok(stand));
    store.expect_last_sound_proof().returning(move |_| Ok(proved.clone()));
    let (noted, clock) = (Arc::clone(&asked), Arc::clone(clock));
    store.expect_sum().returning(move |_, after, through| {
        noted.lock().unwrap().push((after, through));
        clock.advance(ProofRun::LEASE / 8);
        let entries = through - after;
        Ok(LedgerSum { entries, position: through, sums: balance(entries) })
    });
    (store, asked)
}

fn manage(office: &Office, store: MockLedgerStore) -> ManageLedger {
    ManageLedger { ledger: Arc::new(store), ..office.manage.ledger.clone() }
}

#[tokio::test]
async fn a_long_ledger_is_added_up_in_bounded_steps_that_say_they_go_on() {
    let office = Office::open();
    let (mut store, asked) = counting(1_000_000, None, &office.clock);
    // An eighth of the lease a step, and heard of every quarter.
    store.expect_continue_proof().times(49..=51).returning(|_, _, _| Ok(true));
    store.expect_end_proof().times(1).returning(|_| Ok(true));
    let run = ProofRun::begin(office.make.id(), "Asha".to_owned(), START);
    let proof = manage(&office, store).prove(run, Scope::Newer).await.unwrap().unwrap();
    assert!(proof.is_sound());
    let asked = asked.lock().unwrap();
    assert!(asked.iter().all(|(after, through)| through - after <= 10_000));
    assert_eq!((asked.len(), asked.last()), (100, Some(&(990_000, 1_000_000))));
}

#[tokio::test]
async fn only_what_came_after_the_last_sound_proof_is_added_up_unless_all_is_asked_for() {
    for (scope, wanted) in [(Scope::Newer, 5_000), (Scope::Everything, 0)] {
        let office = Office::open();
        let balance = Balance { balance: Paise(5_000), held: Paise::ZERO };
        let proved = LedgerProof {
            project: office.make.id(),
            since: START,
            at: START,
            by: "Asha".to_owned(),
            sum: LedgerSum { entries: 5_000, position: 5_000, sums: balance },
            stand: WalletSnapshot { position: 5_000, balance, open: Paise::ZERO },
        };
        let run = ProofRun::begin(proved.project, "Asha".to_owned(), START);
        let (mut store, asked) = counting(5_100, Some(proved), &office.clock);
        store.expect_end_proof().returning(|_| Ok(true));
        let proof = manage(&office, store).prove(run, scope).await.unwrap().unwrap();
        assert!(proof.is_sound());
        assert_eq!(*asked.lock().unwrap(), [(wanted, 5_100)]);
    }
}

#[tokio::test]
async fn a_run_that_was_replaced_stops() {
    let office = Office::open();
    let (mut store, asked) = counting(1_000_000, None, &office.clock);
    store.expect_continue_proof().times(1).returning(|_, _, _| Ok(false));
    let run = ProofRun::begin(office.make.id(), "Asha".to_owned(), START);
    assert_eq!(manage(&office, store).prove(run, Scope::Newer).await.unwrap(), None);
    assert_eq!(asked.lock().unwrap().len(), 2);
}
