//! What [`dwar_operator::OperatorStore`] promises.

mod ending;
mod signing_in;
mod team;

pub use ending::*;
pub use signing_in::*;
pub use team::*;

use crate::{Fixtures, START, Stores};
use dwar_operator::{Link, Operator, OperatorSession, PasswordHash, Proof, Totp};

fn hash(text: &str) -> PasswordHash {
    PasswordHash::new(text)
}

fn right(step: Option<u64>) -> Proof {
    Proof { password: hash("$right"), step }
}

async fn invited(stores: &Stores, make: &Fixtures, operator: Operator) -> (Operator, Link) {
    let link = make.link(&operator);
    assert!(stores.operators.invite(operator.clone(), link.clone()).await.unwrap());
    (operator, link)
}

/// An operator who is in, with a session.
async fn within(stores: &Stores, make: &Fixtures) -> (Operator, OperatorSession) {
    let (mut operator, _) = invited(stores, make, make.operator()).await;
    let session = make.operator_session(&operator, START);
    assert!(stores.operators.sign_in(right(None), session.clone(), START).await.unwrap());
    operator.signed_in_at = Some(START);
    (operator, session)
}

async fn is_known(stores: &Stores, session: &OperatorSession) -> bool {
    stores.operators.session(session.digest).await.unwrap().is_some()
}

async fn find(stores: &Stores, operator: &Operator) -> Operator {
    stores.operators.find(operator.id).await.unwrap().unwrap()
}

fn with_totp(make: &Fixtures) -> Operator {
    Operator { totp: Some(Totp { secret: make.sealed(), last_step: 7 }), ..make.operator() }
}
