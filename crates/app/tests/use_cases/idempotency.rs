//! A send with an `Idempotency-Key` has one effect and one answer.

use crate::common::{LIFETIMES, World, accepted, down, refused};
use dwar_app::{SendOtpError, SentOtp};
use dwar_kernel::{KeyMode, Sealed};
use dwar_login::Cost;
use dwar_otp::idempotency::{IdempotencyDecision, IdempotencyRecord, IdempotencySlot};
use dwar_project::Caller;
use dwar_testkit::{START, phone, seconds};
use dwar_wallet::Paise;
use std::sync::{Arc, Mutex};

const HOLD: Cost = Cost::Hold(Paise(30));

type Asked = Arc<Mutex<Vec<(IdempotencySlot, IdempotencyRecord)>>>;
type Kept = Arc<Mutex<Vec<(IdempotencySlot, Option<Sealed>)>>>;

/// The store answers every beginning like this; returns what it was asked.
fn begins(world: &mut World, beginning: IdempotencyDecision) -> Asked {
    let asked = Asked::default();
    let seen = Arc::clone(&asked);
    let begin = world.answers.expect_begin().withf(|_, _, lifetimes| *lifetimes == LIFETIMES);
    begin.returning(move |slot, record, _| {
        seen.lock().unwrap().push((slot, record));
        Ok(beginning.clone())
    });
    asked
}

/// The store accepts one end of what began at [`START`]: an answer, or none.
fn ends(world: &mut World) -> Kept {
    let kept = Kept::default();
    let (answered, given_up) = (Arc::clone(&kept), Arc::clone(&kept));
    let complete = world.answers.expect_complete().withf(|_, began_at, _| *began_at == START);
    complete.returning(move |slot, _, answer| {
        answered.lock().unwrap().push((slot, Some(answer)));
        Ok(())
    });
    let abandon = world.answers.expect_abandon().withf(|_, began_at| *began_at == START);
    abandon.returning(move |slot, _| {
        given_up.lock().unwrap().push((slot, None));
        Ok(())
    });
    kept
}

async fn send(world: &mut World) -> Result<SentOtp, SendOtpError> {
    let key = "key-1".parse().unwrap();
    world.send_otp().send(&world.caller, &world.line.phone, None, Some(&key)).await
}

/// The answer to a first request of `world`, and the stored form of the answer.
async fn first(world: &mut World) -> (Result<SentOtp, SendOtpError>, Option<Sealed>) {
    let (asked, kept) = (begins(world, IdempotencyDecision::Fresh), ends(world));
    let answer = send(world).await;
    let (slot, kept) = kept.lock().unwrap().pop().unwrap();
    assert_eq!(slot, asked.lock().unwrap()[0].0);
    (answer, kept)
}

/// The answer to a repetition, which may call no port except the store of answers.
async fn again(mode: KeyMode, kept: Sealed) -> Result<SentOtp, SendOtpError> {
    let mut world = World::of(mode);
    begins(&mut world, IdempotencyDecision::Replay(kept));
    world.clock.advance(seconds(9));
    send(&mut world).await
}

#[tokio::test]
async fn a_repetition_gets_the_first_answer_and_sends_nothing() {
    for mode in [KeyMode::Live, KeyMode::Test] {
        let mut world = World::of(mode);
        match mode {
            KeyMode::Live => world.begins(HOLD).whatsapp(accepted()),
            KeyMode::Test => world.begins(Cost::Nothing).sandbox(accepted()),
        };
        let (sent, kept) = first(&mut world).await;
        let sent = sent.unwrap();
        assert!(sent.admission.is_some());
        let replayed = again(mode, kept.unwrap()).await.unwrap();
        assert_eq!(replayed, SentOtp { admission: None, ..sent });
    }
}

#[tokio::test]
async fn a_definite_refusal_is_given_again() {
    let mut poor = World::live();
    poor.cannot_afford(HOLD);
    let (answer, kept) = first(&mut poor).await;
    assert!(matches!(answer, Err(SendOtpError::InsufficientBalance(Some(_)))));
    let answer = again(KeyMode::Live, kept.unwrap()).await;
    assert!(matches!(answer, Err(SendOtpError::InsufficientBalance(None))));

    let mut limited = World::live();
    limited.spends_too_much(HOLD);
    let (answer, kept) = first(&mut limited).await;
    assert!(matches!(answer, Err(SendOtpError::SpendLimitReached(Some(_)))));
    let answer = again(KeyMode::Live, kept.unwrap()).await;
    assert!(matches!(answer, Err(SendOtpError::SpendLimitReached(None))));

    let mut lost = World::live();
    lost.begins(HOLD).whatsapp(refused()).sms(refused());
    let (answer, kept) = first(&mut lost).await;
    assert!(matches!(answer, Err(SendOtpError::Undeliverable(Some(_)))));
    let answer = again(KeyMode::Live, kept.unwrap()).await;
    assert!(matches!(answer, Err(SendOtpError::Undeliverable(None))));
}

#[tokio::test]
async fn any_other_refusal_frees_the_key() {
    let mut world = World::live();
    world.logins.expect_prepare().returning(|_, _| Err(down()));
    let (answer, kept) = first(&mut world).await;
    assert!(matches!(answer, Err(SendOtpError::Store(_))));
    assert_eq!(kept, None);
}

#[tokio::test]
async fn an_answer_that_cannot_be_kept_holds_all_the_same() {
    let mut world = World::live();
    world.begins(HOLD).whatsapp(accepted());
    begins(&mut world, IdempotencyDecision::Fresh);
    world.answers.expect_complete().times(1).returning(|_, _, _| Err(down()));
    assert!(send(&mut world).await.is_ok());
}

#[tokio::test]
async fn a_second_request_conflicts_with_a_running_first_and_a_key_serves_one_body() {
    let mut world = World::live();
    begins(&mut world, IdempotencyDecision::Running);
    assert!(matches!(send(&mut world).await, Err(SendOtpError::Conflict)));
    let mut world = World::live();
    begins(&mut world, IdempotencyDecision::Reused);
    assert!(matches!(send(&mut world).await, Err(SendOtpError::Reused)));
}

#[tokio::test]
async fn an_answer_that_does_not_open_or_cannot_be_read_is_a_store_failure() {
    let answer = again(KeyMode::Live, Sealed(vec![1, 2, 3])).await;
    assert!(matches!(answer, Err(SendOtpError::Store(_))));
    let mut world = World::live();
    let slot = begins(&mut world, IdempotencyDecision::Running);
    assert!(send(&mut world).await.is_err());
    let key = slot.lock().unwrap()[0].0.key;
    let vault = world.tools().vault;
    for text in ["", "otp sent", "nonsense"] {
        let sealed = vault.seal(dwar_kernel::Purpose::Answer, &key.0, text.as_bytes());
        let answer = again(KeyMode::Live, sealed).await;
        assert!(matches!(answer, Err(SendOtpError::Store(_))), "{text}");
    }
}

#[tokio::test]
async fn a_slot_is_one_key_in_one_project_and_mode_and_names_the_phone() {
    let mut world = World::live();
    let asked = begins(&mut world, IdempotencyDecision::Running);
    let (stranger, other) = (world.stranger(), world.other_mode());
    let use_case = world.send_otp();
    let calls: [(&Caller, &str, u32); 6] = [
        (&world.caller, "key-1", 1),
        (&world.caller, "key-2", 1),
        (&stranger, "key-1", 1),
        (&other, "key-1", 1),
        (&world.caller, "key-1", 2),
        (&world.caller, "key-1", 1),
    ];
    for (caller, key, number) in calls {
        let key = key.parse().unwrap();
        assert!(use_case.send(caller, &phone(number), None, Some(&key)).await.is_err());
    }
    let asked = asked.lock().unwrap();
    let slots: Vec<_> = asked.iter().map(|(slot, _)| slot.key).collect();
    for (at, slot) in slots.iter().enumerate().take(4) {
        assert!(!slots[..at].contains(slot), "{at}");
    }
    let (slot, record) = &asked[0];
    assert_eq!(
        (slot.project_mode, slot.route),
        (world.line.project_mode.project.in_mode(KeyMode::Live), "otp/send")
    );
    assert_eq!((record.began_at, record.answer.clone()), (START, None));
    let index = world
        .tools()
        .vault
        .phone_index(world.line.project_mode.project.in_mode(KeyMode::Live), &phone(1));
    assert_eq!(record.phone, index);
    // Another phone under the same key is the same slot with another fingerprint.
    assert_eq!(asked[4].0, asked[0].0);
    assert_ne!(asked[4].1.fingerprint, asked[0].1.fingerprint);
    assert_eq!(asked[5], asked[0]);
}

#[tokio::test]
async fn a_store_out_of_reach_is_told_as_such() {
    let mut world = World::live();
    world.answers.expect_begin().returning(|_, _, _| Err(down()));
    assert!(matches!(send(&mut world).await, Err(SendOtpError::Store(_))));
}
