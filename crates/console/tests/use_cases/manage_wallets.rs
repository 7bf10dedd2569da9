use crate::common::{BY, World, down};
use dwar_console::{ManageError, ManageWallets};
use dwar_kernel::OtpId;
use dwar_testkit::START;
use dwar_wallet::{
    Adjusted, Amount, Balance, Correction, Credited, LedgerAudit, MockLedgerStore, Paise,
    Reference, Refunded,
};
use mockall::predicate::eq;
use std::mem::take;
use std::sync::{Arc, Mutex};

fn manage(world: &mut World) -> ManageWallets {
    world
        .wallets
        .expect_balance()
        .returning(|_| Ok(Balance { balance: Paise::ZERO, held: Paise::ZERO }));
    ManageWallets {
        control: world.control(),
        wallets: Arc::new(take(&mut world.wallets)),
        ledger: Arc::new(MockLedgerStore::new()),
    }
}

fn empty() -> World {
    let mut world = World::live();
    world.projects.expect_find().returning(|_| Ok(None));
    world
}

fn paise(amount: i64) -> Correction {
    amount.try_into().unwrap()
}

fn named(reference: &str) -> Reference {
    reference.parse().unwrap()
}

#[tokio::test]
async fn nothing_is_not_paid_in() {
    let mut world = World::live();
    let (project, manage) = (world.line.project_mode.project, manage(world.knows_project()));
    let answer = manage.credit(&BY, project, Amount::ZERO, None).await;
    assert!(matches!(answer, Err(ManageError::Invalid { field: "amount_paise", .. })));
}

#[tokio::test]
async fn an_unknown_project_has_no_wallet() {
    let mut world = empty();
    let (project, manage) = (world.line.project_mode.project, manage(&mut world));
    let credit = manage.credit(&BY, project, Amount::from(1), None).await;
    assert!(matches!(credit, Err(ManageError::NoSuchProject)));
    let refund = manage.refund(&BY, project, world.make.id()).await;
    assert!(matches!(refund, Err(ManageError::NoSuchProject)));
    let adjusted = manage.adjust(&BY, project, paise(-1), named("typo")).await;
    assert!(matches!(adjusted, Err(ManageError::NoSuchProject)));
    assert!(matches!(manage.balance(&BY, project).await, Err(ManageError::NoSuchProject)));
}

#[tokio::test]
async fn money_is_paid_in_under_its_reference() {
    let answers = [
        (Credited::Booked, "Ok(true)"),
        (Credited::Known, "Ok(false)"),
        (Credited::TooMuch, "Err(Conflict"),
    ];
    for (told, wanted) in answers {
        let mut world = World::live();
        let project = world.line.project_mode.project;
        let credit = world.knows_project().wallets.expect_credit().times(1);
        credit
            .withf(move |to, credit, now| {
                (*to, credit.amount, credit.reference.as_str())
                    == (project, Amount::from(5), "bank-7")
                    && *now == START
            })
            .returning(move |_, _, _| Ok(told));
        let reference = Some(named("bank-7"));
        let answer = manage(&mut world).credit(&BY, project, Amount::from(5), reference).await;
        assert!(format!("{answer:?}").starts_with(wanted), "{answer:?}");
    }
}

#[tokio::test]
async fn without_a_reference_every_call_pays_in() {
    let mut world = World::live();
    let references = Arc::new(Mutex::new(Vec::new()));
    let (seen, project) = (Arc::clone(&references), world.line.project_mode.project);
    world.knows_project().wallets.expect_credit().times(2).returning(move |_, credit, _| {
        seen.lock().unwrap().push(credit.reference);
        Ok(Credited::Booked)
    });
    let manage = manage(&mut world);
    for _ in 0..2 {
        assert!(manage.credit(&BY, project, Amount::from(5), None).await.unwrap());
    }
    let references = references.lock().unwrap();
    assert_ne!(references[0], references[1]);
}

#[tokio::test]
async fn a_wallet_is_shown_as_it_stands() {
    let mut world = World::live();
    let (project, balance) =
        (world.line.project_mode.project, Balance { balance: Paise(9), held: Paise(2) });
    let port = world.knows_project().wallets.expect_balance().with(eq(project));
    port.times(1).returning(move |_| Ok(balance));
    assert_eq!(manage(&mut world).balance(&BY, project).await.unwrap(), balance);
}

#[tokio::test]
async fn an_audit_is_passed_on() {
    let mut world = World::live();
    let audit = LedgerAudit { projects: 2, difference: Paise(1) };
    world.wallets.expect_audit().times(1).returning(move || Ok(audit));
    assert_eq!(manage(&mut world).audit(&BY).await.unwrap(), audit);
}

#[tokio::test]
async fn a_store_out_of_reach_is_told_as_such() {
    let mut world = World::live();
    let project = world.line.project_mode.project;
    world.knows_project().wallets.expect_credit().returning(|_, _, _| Err(down()));
    let answer = manage(&mut world).credit(&BY, project, Amount::from(1), None).await;
    assert!(matches!(answer, Err(ManageError::Store(_))));
}

#[tokio::test]
async fn a_refund_names_its_send_and_is_passed_on() {
    let answers = [
        (Refunded::Refunded(Paise(30)), "Ok(Some(Paise(30)))"),
        (Refunded::Already, "Ok(None)"),
        (Refunded::NothingCaptured, "Err(Conflict"),
        (Refunded::TooMuch, "Err(Conflict"),
    ];
    for (told, wanted) in answers {
        let mut world = World::live();
        let (project, send) = (world.line.project_mode.project, world.make.id::<OtpId>());
        let refund = world.knows_project().wallets.expect_refund().times(1);
        refund
            .withf(move |of, what, _, now| (*of, *what, *now) == (project, send, START))
            .returning(move |_, _, _, _| Ok(told));
        let answer = manage(&mut world).refund(&BY, project, send).await;
        assert!(format!("{answer:?}").starts_with(wanted), "{answer:?}");
    }
}

#[tokio::test]
async fn an_adjustment_carries_its_sign_and_reason_and_is_passed_on() {
    let answers = [
        (5, Adjusted::Booked, "Ok(true)"),
        (-5, Adjusted::Known, "Ok(false)"),
        (-9, Adjusted::Insufficient, "Err(Conflict"),
        (9, Adjusted::TooMuch, "Err(Conflict"),
    ];
    for (amount, told, wanted) in answers {
        let mut world = World::live();
        let project = world.line.project_mode.project;
        let adjust = world.knows_project().wallets.expect_adjust().times(1);
        adjust
            .withf(move |of, adjustment, now| {
                let wanted = (paise(amount), "typo of May");
                (adjustment.amount, adjustment.reference.as_str()) == wanted
                    && (*of, *now) == (project, START)
            })
            .returning(move |_, _, _| Ok(told));
        let reference = named("typo of May");
        let answer = manage(&mut world).adjust(&BY, project, paise(amount), reference).await;
        assert!(format!("{answer:?}").starts_with(wanted), "{answer:?}");
    }
}

#[tokio::test]
async fn each_correction_is_an_entry_of_its_own() {
    let mut world = World::live();
    let (entries, project) = (Arc::new(Mutex::new(Vec::new())), world.line.project_mode.project);
    let (refunds, adjustments) = (Arc::clone(&entries), Arc::clone(&entries));
    world.knows_project().wallets.expect_refund().returning(move |_, _, entry, _| {
        refunds.lock().unwrap().push(entry);
        Ok(Refunded::Already)
    });
    world.wallets.expect_adjust().returning(move |_, adjustment, _| {
        adjustments.lock().unwrap().push(adjustment.id);
        Ok(Adjusted::Known)
    });
    let (send, manage) = (world.make.id(), manage(&mut world));
    for _ in 0..2 {
        manage.refund(&BY, project, send).await.unwrap();
        manage.adjust(&BY, project, paise(1), named("typo")).await.unwrap();
    }
    let mut entries = entries.lock().unwrap().clone();
    entries.sort_unstable();
    entries.dedup();
    assert_eq!(entries.len(), 4);
}

#[tokio::test]
async fn a_correction_that_the_store_fails_is_told_as_such() {
    let mut world = World::live();
    let project = world.line.project_mode.project;
    world.knows_project().wallets.expect_refund().returning(|_, _, _, _| Err(down()));
    world.wallets.expect_adjust().returning(|_, _, _| Err(down()));
    let (send, manage) = (world.make.id(), manage(&mut world));
    assert!(matches!(manage.refund(&BY, project, send).await, Err(ManageError::Store(_))));
    let answer = manage.adjust(&BY, project, paise(1), named("typo")).await;
    assert!(matches!(answer, Err(ManageError::Store(_))));
}
