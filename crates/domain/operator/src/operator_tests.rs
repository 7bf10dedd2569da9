use super::*;
use crate::{LinkKind, OneTimeLink};
use dwar_kernel::{Digest, Sealed};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

fn now() -> Timestamp {
    Timestamp::from_timestamp(1_800_000_000, 0).unwrap()
}

fn hash(text: &str) -> PasswordHash {
    PasswordHash::new(text)
}

fn asha() -> Operator {
    Operator {
        id: "00000000-0000-7000-8000-000000000001".parse().unwrap(),
        name: "Asha".parse().unwrap(),
        access: Access::everything(),
        password: Some(hash("right")),
        totp: None,
        created_at: now(),
        signed_in_at: None,
    }
}

fn with_totp() -> Operator {
    Operator { totp: Some(Totp { secret: Sealed(vec![1]), last_step: 7 }), ..asha() }
}

fn after(after: u64, step: Option<u64>) -> Option<ProvenStep> {
    step.map(|step| ProvenStep { step, after })
}

#[test]
fn a_proof_must_hold_at_the_moment_of_signing_in() {
    let proof =
        |password: &str, step| SignInProof { password: hash(password), step: after(7, step) };
    let later = SignInProof { password: hash("right"), step: after(6, Some(8)) };
    let no_password = Operator { password: None, ..asha() };
    for (before, proof, let_in) in [
        (asha(), proof("right", None), true),
        (asha(), proof("replaced meanwhile", None), false),
        (asha(), proof("right", Some(8)), false),
        (no_password, proof("right", None), false),
        (with_totp(), proof("right", None), false),
        (with_totp(), proof("right", Some(8)), true),
        (with_totp(), proof("right", Some(7)), false),
        (with_totp(), proof("right", Some(6)), false),
        (with_totp(), proof("wrong", Some(8)), false),
        (with_totp(), later, false),
    ] {
        let mut after = before.clone();
        assert_eq!(after.sign_in(&proof, now()), let_in, "{before:?} {proof:?}");
        assert_eq!(after.signed_in_at, let_in.then(now));
        if !let_in {
            assert_eq!(after, before);
        }
    }
}

#[test]
fn a_code_works_once() {
    let (mut operator, proof) =
        (with_totp(), SignInProof { password: hash("right"), step: after(7, Some(8)) });
    assert!(operator.sign_in(&proof, now()));
    assert!(!operator.sign_in(&proof, now()));
}

#[test]
fn a_reset_takes_away_all_that_lets_in_and_nothing_else() {
    let mut operator = with_totp();
    operator.reset();
    assert_eq!(operator, Operator { password: None, totp: None, ..with_totp() });
}

#[test]
fn a_link_lets_its_operator_in_as_it_says() {
    let link = |kind| OneTimeLink {
        digest: Digest([1; 32]),
        operator: asha().id,
        kind,
        made_at: now(),
        expires_at: now() + OneTimeLink::INVITE,
    };
    let last = now() + OneTimeLink::INVITE - MS;
    let chosen = || Some(hash("chosen"));
    for (kind, password, at, works) in [
        (LinkKind::Password, chosen(), last, true),
        (LinkKind::Password, chosen(), last + MS, false),
        (LinkKind::Password, None, last, false),
        (LinkKind::SignIn, None, last, true),
        (LinkKind::SignIn, chosen(), last, false),
        (LinkKind::SignIn, None, last + MS, false),
    ] {
        let mut operator = asha();
        assert_eq!(link(kind).spend(&mut operator, password.clone(), at), works, "{kind:?} {at}");
        let wanted = if works {
            let password = password.or(asha().password);
            Operator { password, signed_in_at: Some(at), ..asha() }
        } else {
            asha()
        };
        assert_eq!(operator, wanted);
    }
    let mut other =
        Operator { id: "00000000-0000-7000-8000-000000000002".parse().unwrap(), ..asha() };
    assert!(!link(LinkKind::SignIn).spend(&mut other, None, now()));
}
