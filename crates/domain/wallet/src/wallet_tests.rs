use super::*;
use crate::{BalanceLevel, Correction, InvalidAmount, InvalidCorrection, LedgerAudit};
use proptest::prelude::*;

const SEND: &str = "00000000-0000-7000-8000-000000000009";

fn at() -> Timestamp {
    Timestamp::from_timestamp(1_800_000_000, 0).unwrap()
}

fn entry(number: u8) -> EntryId {
    format!("00000000-0000-7000-8000-0000000000{number:02x}").parse().unwrap()
}

fn balance(balance: i64, held: i64) -> Balance {
    Balance { balance: Paise(balance), held: Paise(held) }
}

fn wallet(owned: i64, held: i64) -> Wallet {
    let project = "00000000-0000-7000-8000-000000000001".parse().unwrap();
    Wallet::new(project, balance(owned, held))
}

fn line(id: EntryId, kind: EntryKind, (amount, held): (i64, i64), after: Balance) -> LedgerEntry {
    let (amount, held, reference) = (Paise(amount), Paise(held), SEND.parse().unwrap());
    LedgerEntry { id, kind, amount, held, after, reference, relayed: false, at: at() }
}

fn credit(amount: i64) -> Credit {
    Credit { id: entry(1), amount: amount.try_into().unwrap(), reference: SEND.parse().unwrap() }
}

fn adjustment(amount: i64) -> Adjustment {
    let (amount, reference) = (amount.try_into().unwrap(), SEND.parse().unwrap());
    Adjustment { id: entry(1), amount, reference }
}

fn of(wallet: &Wallet, amount: i64) -> OpenHold {
    let (project, send, since) = (wallet.project, SEND.parse().unwrap(), at());
    OpenHold { project, send, relayed: false, amount: Paise(amount), since }
}

fn hold(wallet: &mut Wallet, amount: i64) -> Movement<HoldOutcome> {
    wallet.hold(&of(wallet, amount), entry(1)).unwrap()
}

fn settle(wallet: &mut Wallet, held: i64, settlement: Settlement) -> Movement<bool> {
    let entries = [entry(2), entry(3)];
    wallet.settle(Some(of(wallet, held)), settlement, entries, at()).unwrap()
}

fn captured(amount: i64) -> LedgerEntry {
    line(entry(4), EntryKind::Capture, (-amount, -amount), Balance::default())
}

#[test]
fn a_credit_pays_in_more_than_nothing_and_once_per_reference() {
    let mut wallet = wallet(5, 5);
    for (amount, known) in [(7, true), (0, false)] {
        let nothing = wallet.credit(&credit(amount), known, at()).unwrap();
        assert_eq!(nothing, Movement::nothing(Credited::Known), "{amount}");
    }
    let paid = wallet.credit(&credit(1), false, at()).unwrap();
    assert_eq!(paid.outcome, Credited::Booked);
    assert_eq!(paid.entries, [line(entry(1), EntryKind::Credit, (1, 0), balance(6, 5))]);
    assert_eq!(wallet.balance, balance(6, 5));
}

#[test]
fn a_hold_takes_up_to_the_last_paisa_that_is_free() {
    let mut wallet = wallet(100, 60);
    let before = wallet;
    for amount in [41, -1, i64::MAX, i64::MIN] {
        assert_eq!(hold(&mut wallet, amount), Movement::nothing(HoldOutcome::Insufficient));
    }
    assert_eq!(wallet, before);
    let held = hold(&mut wallet, 40);
    assert_eq!(held.outcome, HoldOutcome::Held);
    assert_eq!(held.entries, [line(entry(1), EntryKind::Hold, (0, 40), balance(100, 100))]);
    assert_eq!(hold(&mut wallet, 0), Movement::nothing(HoldOutcome::Held));
    assert_eq!(hold(&mut wallet, 1).outcome, HoldOutcome::Insufficient);
}

#[test]
fn a_settlement_moves_balance_and_hold_together() {
    use EntryKind::{Capture, Release};
    let capture = |price| Settlement::Capture(Paise(price));
    let all = [line(entry(2), Capture, (-30, -30), balance(70, 10))];
    let none = [line(entry(3), Release, (0, -30), balance(100, 10))];
    let some = [
        line(entry(2), Capture, (-29, -29), balance(71, 11)),
        line(entry(3), Release, (0, -1), balance(71, 10)),
    ];
    for (settlement, entries) in [
        (capture(30), &all[..]),
        (capture(31), &all[..]),
        (capture(29), &some[..]),
        (capture(0), &none[..]),
        (capture(-1), &none[..]),
        (Settlement::Release, &none[..]),
    ] {
        let mut wallet = wallet(100, 40);
        let settled = settle(&mut wallet, 30, settlement);
        assert!(settled.outcome);
        assert_eq!(settled.entries, entries, "{settlement:?}");
        assert_eq!(wallet.balance, entries.last().unwrap().after);
    }
}

#[test]
fn a_settlement_needs_a_hold_and_one_of_nothing_leaves_no_entry() {
    let mut wallet = wallet(100, 40);
    let settlement = Settlement::Capture(Paise(1));
    let settled = wallet.settle(None, settlement, [entry(2), entry(3)], at()).unwrap();
    assert_eq!(settled, Movement::nothing(false));
    assert_eq!(settle(&mut wallet, 0, settlement), Movement::nothing(true));
    assert_eq!(wallet.balance, balance(100, 40));
}

#[test]
fn a_refund_gives_back_what_was_captured_once() {
    let mut wallet = wallet(100, 40);
    let capture = captured(30);
    let mut refund = |capture, refunded| wallet.refund(capture, refunded, entry(1), at()).unwrap();
    assert_eq!(refund(None, false), Movement::nothing(Refunded::NothingCaptured));
    assert_eq!(refund(None, true), Movement::nothing(Refunded::Already));
    assert_eq!(refund(Some(&capture), true), Movement::nothing(Refunded::Already));
    let refunded = refund(Some(&capture), false);
    assert_eq!(refunded.outcome, Refunded::Refunded(Paise(30)));
    assert_eq!(refunded.entries, [line(entry(1), EntryKind::Refund, (30, 0), balance(130, 40))]);
    assert_eq!(wallet.balance, balance(130, 40));
}

#[test]
fn what_follows_from_a_hold_is_marked_as_the_hold_is() {
    for relayed in [false, true] {
        let mut wallet = wallet(100, 0);
        let own = OpenHold { relayed, ..of(&wallet, 40) };
        let mut entries = wallet.hold(&own, entry(1)).unwrap().entries;
        let (capture, ids) = (Settlement::Capture(Paise(30)), [entry(2), entry(3)]);
        entries.extend(wallet.settle(Some(own), capture, ids, at()).unwrap().entries);
        let refund = wallet.refund(Some(&entries[1]), false, entry(4), at()).unwrap();
        entries.extend(refund.entries);
        assert_eq!(entries.len(), 4);
        assert!(entries.iter().all(|entry| entry.relayed == relayed), "{entries:?}");
    }
}

#[test]
fn a_correction_takes_what_no_hold_needs() {
    let mut wallet = wallet(100, 40);
    let mut adjust = |amount, known| wallet.adjust(&adjustment(amount), known, at()).unwrap();
    assert_eq!(adjust(5, true), Movement::nothing(Adjusted::Known));
    assert_eq!(adjust(-61, true), Movement::nothing(Adjusted::Known));
    assert_eq!(adjust(-61, false), Movement::nothing(Adjusted::Insufficient));
    let taken = adjust(-60, false);
    assert_eq!(taken.outcome, Adjusted::Booked);
    assert_eq!(taken.entries, [line(entry(1), EntryKind::Adjustment, (-60, 0), balance(40, 40))]);
    assert_eq!(adjust(-1, false).outcome, Adjusted::Insufficient);
    assert_eq!(adjust(1, false).outcome, Adjusted::Booked);
    assert_eq!(wallet.balance, balance(41, 40));
}

#[test]
fn a_balance_grows_up_to_its_bound() {
    let most = Amount::MOST.0;
    let mut full = wallet(most - 5, 3);
    assert_eq!(full.credit(&credit(6), false, at()).unwrap().outcome, Credited::TooMuch);
    assert_eq!(full.adjust(&adjustment(6), false, at()).unwrap().outcome, Adjusted::TooMuch);
    let mut refund =
        |amount| full.refund(Some(&captured(amount)), false, entry(1), at()).unwrap().outcome;
    assert_eq!(refund(6), Refunded::TooMuch);
    assert_eq!(full.balance, balance(most - 5, 3));
    assert_eq!(full.credit(&credit(5), false, at()).unwrap().outcome, Credited::Booked);
    assert_eq!(full.balance, balance(most, 3));
    for amount in [1, most] {
        assert_eq!(full.credit(&credit(amount), false, at()).unwrap().outcome, Credited::TooMuch);
        assert_eq!(full.credit(&credit(amount), true, at()).unwrap().outcome, Credited::Known);
    }
    assert_eq!(full.adjust(&adjustment(-1), false, at()).unwrap().outcome, Adjusted::Booked);
}

#[test]
fn a_stored_wallet_that_cannot_be_right_is_not_moved() {
    let mut broken = wallet(100, i64::MIN);
    assert_eq!(broken.credit(&credit(1), false, at()), Err(ImpossibleBalance));
    assert_eq!(broken.balance, balance(100, i64::MIN));
}

#[test]
fn a_correction_goes_up_or_down_and_is_bounded() {
    let most = Amount::MOST.0;
    let paise = |text: &str| Correction::from_rupees(text).map(|it| it.paise().0);
    assert_eq!((paise("10"), paise("-2.50")), (Ok(1_000), Ok(-250)));
    assert_eq!(paise("-10000000000"), Ok(-most));
    assert_eq!(
        (paise("0"), paise("-0.00")),
        (Err(InvalidCorrection::Bounds), Err(InvalidCorrection::Bounds))
    );
    assert_eq!(paise("--1"), Err(InvalidCorrection::Amount(InvalidAmount::Text)));
    for beyond in [most + 1, -most - 1, i64::MIN, i64::MAX] {
        assert_eq!(Correction::try_from(beyond), Err(InvalidCorrection::Bounds));
    }
}

#[test]
fn a_balance_that_falls_below_the_threshold_is_told_once() {
    let mut wallet = Wallet { low_balance: Some(Paise(50)), ..wallet(100, 0) };
    let mut spend = |amount| {
        assert_eq!(hold(&mut wallet, amount).events, []);
        settle(&mut wallet, amount, Settlement::Capture(Paise(amount))).events.pop()
    };
    assert_eq!(spend(50), None, "50 is not below 50");
    let low = spend(1).unwrap();
    let (entry, balance, threshold) = (entry(2), Paise(49), Paise(50));
    assert_eq!(low.subject, Subject::Wallet { entry, balance, threshold });
    assert_eq!((low.kind, low.project_mode.mode), (EventKind::WalletLow, KeyMode::Live));
    assert_eq!((low.project_mode.project, low.at), (wallet.project, at()));

    assert_eq!(settle_one(&mut wallet), None, "it was low before");
    for up in [1, 1] {
        assert_eq!(wallet.adjust(&adjustment(up), false, at()).unwrap().events, []);
    }
    let again = wallet.adjust(&adjustment(-1), false, at()).unwrap();
    assert_eq!(again.events[0].id(), low_id(1));
    wallet.low_balance = Some(Paise(1_000));
    assert_eq!(
        settle_one(&mut wallet),
        None,
        "a threshold above the balance does not count as a crossing"
    );
}

fn settle_one(wallet: &mut Wallet) -> Option<Event> {
    hold(wallet, 1);
    settle(wallet, 1, Settlement::Capture(Paise(1))).events.pop()
}

fn low_id(number: u8) -> String {
    format!("wallet_low_{}", entry(number).uuid().simple())
}

#[test]
fn the_limit_of_a_day_is_exact_and_a_release_lowers_what_was_spent() {
    let mut wallet = Wallet { daily_spend: Some(Paise(100)), ..wallet(1_000, 0) };
    assert_eq!(hold(&mut wallet, 60).outcome, HoldOutcome::Held);
    let before = wallet;
    assert_eq!(
        hold(&mut wallet, 1_001).outcome,
        HoldOutcome::Insufficient,
        "the wallet comes first"
    );
    assert_eq!(wallet, before);
    let refused = hold(&mut wallet, 41);
    assert_eq!((refused.outcome, refused.entries), (HoldOutcome::SpendLimited, Vec::new()));
    assert_eq!(wallet, Wallet { spend: wallet.spend, ..before });
    assert_eq!(wallet.spend.spent, Paise(60));

    settle(&mut wallet, 60, Settlement::Capture(Paise(20)));
    assert_eq!(wallet.spend.spent, Paise(20));
    assert_eq!(hold(&mut wallet, 80).outcome, HoldOutcome::Held);
    settle(&mut wallet, 80, Settlement::Capture(Paise(80)));
    wallet.refund(Some(&captured(80)), false, entry(5), at()).unwrap();
    assert_eq!(wallet.spend.spent, Paise(100), "a refund does not lower it");
    assert_eq!(hold(&mut wallet, 1).outcome, HoldOutcome::SpendLimited);
    assert_eq!(hold(&mut wallet, 0).outcome, HoldOutcome::Held, "a free send");
    wallet.daily_spend = Some(Paise(101));
    assert_eq!(hold(&mut wallet, 1).outcome, HoldOutcome::Held);
}

#[test]
fn each_part_of_the_limit_is_told_once_on_a_day() {
    let mut wallet = Wallet { daily_spend: Some(Paise(100)), ..wallet(1_000, 0) };
    let mut told = |amount| {
        let told = hold(&mut wallet, amount).events.into_iter().map(|event| {
            assert_eq!((event.kind, event.at), (EventKind::SpendReached, at()));
            assert_eq!(event.project_mode.mode, KeyMode::Live);
            let Subject::Spend { percent, spent, limit, .. } = event.subject else { panic!() };
            (percent, spent.0, limit.0)
        });
        told.collect::<Vec<_>>()
    };
    assert_eq!(told(49), []);
    assert_eq!(told(41), [(50, 90, 100), (80, 90, 100)]);
    assert_eq!(told(11), [(100, 90, 100)], "refused");
    assert_eq!(told(11), []);
    assert_eq!(told(10), []);
}

proptest! {
    /// After any steps the entries of a wallet add up to it, and it owns what it holds.
    #[test]
    fn entries_add_up(steps in prop::collection::vec((0..5_u8, -50..200_i64, any::<bool>()), 1..60)) {
        let mut wallet = Wallet { low_balance: Some(Paise(100)), ..wallet(0, 0) };
        let (mut sum, mut holds) = (Balance::default(), Vec::new());
        for (step, amount, known) in steps {
            let before = wallet.balance;
            let entries = [entry(2), entry(3)];
            let (entries, events) = match step {
                0 => split(wallet.credit(&credit(amount.max(0)), known, at())),
                1 => {
                    let held = hold(&mut wallet, amount);
                    if !held.entries.is_empty() {
                        holds.push(of(&wallet, amount));
                    }
                    (held.entries, held.events)
                }
                2 => {
                    let price = Settlement::Capture(Paise(amount));
                    split(wallet.settle(holds.pop(), price, entries, at()))
                }
                3 => {
                    let release = Settlement::Release;
                    split(wallet.settle(holds.pop(), release, entries, at()))
                }
                _ if amount == 0 => continue,
                _ => split(wallet.adjust(&adjustment(amount), known, at())),
            };
            for entry in entries {
                sum = sum.plus(entry.amount.0, entry.held.0).unwrap();
                prop_assert_eq!(entry.after, sum);
            }
            prop_assert_eq!(wallet.balance, sum);
            prop_assert_eq!(sum.held.0, holds.iter().map(|hold| hold.amount.0).sum::<i64>());
            let crossed = before.balance.0 >= 100 && sum.balance.0 < 100;
            prop_assert_eq!(events.len(), usize::from(crossed));
        }
    }
}

fn split<T>(moved: Result<Movement<T>, ImpossibleBalance>) -> (Vec<LedgerEntry>, Vec<Event>) {
    let moved = moved.unwrap();
    (moved.entries, moved.events)
}

#[test]
fn an_audit_adds_up_every_distance() {
    let sound = LedgerAudit::default().and(balance(70, 20), balance(70, 20), Paise(20));
    assert_eq!(sound, LedgerAudit { projects: 1, difference: Paise::ZERO });
    let off = sound.and(balance(70, 20), balance(75, 18), Paise(21));
    assert_eq!(off, LedgerAudit { projects: 2, difference: Paise(5 + 2 + 1) });
    assert_eq!(off.and(balance(i64::MAX, 0), balance(-9, 0), Paise(0)).difference, Paise(i64::MAX));
}

#[test]
fn a_balance_is_empty_below_the_price_and_low_below_the_threshold() {
    let level = |owned, held, price, low: Option<i64>| {
        balance(owned, held).level(Paise(price), low.map(Paise))
    };
    assert_eq!(level(100, 75, 25, None), BalanceLevel::Enough);
    assert_eq!(level(100, 76, 25, None), BalanceLevel::Empty);
    assert_eq!(level(100, 0, 25, Some(100)), BalanceLevel::Enough);
    assert_eq!(level(99, 0, 25, Some(100)), BalanceLevel::Low);
    assert_eq!(level(24, 0, 25, Some(100)), BalanceLevel::Empty);
    assert_eq!(level(0, 0, 0, None), BalanceLevel::Enough, "sends cost nothing");
}

#[test]
fn a_balance_lasts_as_long_as_its_pace_says() {
    assert_eq!(balance(1_000, 300).days_left(Paise(700), 7), Some(7));
    assert_eq!(balance(699, 0).days_left(Paise(700), 7), Some(6));
    assert_eq!(balance(0, 0).days_left(Paise(1), 1), Some(0));
    for spent in [0, -5] {
        assert_eq!(balance(1_000, 0).days_left(Paise(spent), 7), None);
    }
}
