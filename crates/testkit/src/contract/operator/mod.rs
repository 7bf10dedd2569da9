//! Promises of [`dwar_operator::OperatorStore`].

mod ending;
mod signing_in;
mod team;

pub use ending::*;
pub use signing_in::*;
pub use team::*;

use crate::{ClearVault, Fixtures, START, Stores};
use dwar_kernel::{Digest, OperatorId, Timestamp};
use dwar_operator::{
    Attempt, AttemptAdmission, Network, OneTimeLink, Operator, OperatorSession, Origin,
    PasswordHash, ProvenStep, SignInProof, Totp,
};
use std::net::IpAddr;

fn hash(text: &str) -> PasswordHash {
    PasswordHash::new(text)
}

fn right(step: Option<u64>) -> SignInProof {
    let step = step.map(|step| ProvenStep { step, after: 7 });
    SignInProof { password: hash("$right"), step }
}

async fn invited(stores: &Stores, make: &Fixtures, operator: Operator) -> (Operator, OneTimeLink) {
    let link = make.link(&operator);
    assert!(stores.console.operators.invite(operator.clone(), link.clone()).await.unwrap());
    (operator, link)
}

/// An operator who is signed in, with the session.
async fn within(stores: &Stores, make: &Fixtures) -> (Operator, OperatorSession) {
    let (mut operator, _) = invited(stores, make, make.operator()).await;
    let session = make.operator_session(&operator, START);
    assert!(sign_in(stores, right(None), &session, START).await);
    operator.signed_in_at = Some(START);
    (operator, session)
}

/// An attempt from an unknown browser; each number is a different address.
fn from(operator: OperatorId, number: u32) -> Attempt {
    let network = Network::of(Some(IpAddr::V4(number.into())));
    Attempt::with_password(operator, Origin::Network(network), &ClearVault)
}

fn in_browser(operator: OperatorId, browser: Digest) -> Attempt {
    Attempt::with_password(operator, Origin::Browser(browser), &ClearVault)
}

async fn admit(stores: &Stores, attempt: &Attempt, now: Timestamp) -> AttemptAdmission {
    stores.console.operators.admit(attempt.clone(), now).await.unwrap()
}

fn every_attempt(operator: OperatorId) -> [Attempt; 3] {
    [from(operator, 1), in_browser(operator, Digest([7; 32])), Attempt::with_code(operator)]
}

async fn lock(stores: &Stores, attempts: &[Attempt]) {
    for attempt in attempts {
        for _ in 0..5 {
            assert_eq!(admit(stores, attempt, START).await, AttemptAdmission::Admitted);
        }
        assert!(matches!(admit(stores, attempt, START).await, AttemptAdmission::Locked(_)));
    }
}

/// Signs in an operator with an attempt that was not counted.
async fn sign_in(
    stores: &Stores,
    proof: SignInProof,
    session: &OperatorSession,
    now: Timestamp,
) -> bool {
    let attempt = in_browser(session.operator, session.digest);
    stores.console.operators.sign_in(proof, attempt, session.clone(), now).await.unwrap()
}

async fn is_known(stores: &Stores, session: &OperatorSession) -> bool {
    stores.console.operators.session(session.digest).await.unwrap().is_some()
}

async fn find(stores: &Stores, operator: &Operator) -> Operator {
    stores.console.operators.find(operator.id).await.unwrap().unwrap()
}

fn with_totp(make: &Fixtures) -> Operator {
    Operator { totp: Some(Totp { secret: make.sealed(), last_step: 7 }), ..make.operator() }
}
