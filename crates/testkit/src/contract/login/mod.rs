//! Promises of [`dwar_login::LoginStore`] about whole steps: all of a step is on record, or nothing.
//!
//! Its promises about one kind of record are with the other promises about that kind: codes and guesses in
//! [`super::otp`], money in [`super::wallet`], places in [`super::sends`], identities in [`super::identity`],
//! events in [`super::events`].

mod agreement;
mod device;
mod prepare;
mod redeem;
mod relay;
mod report;

pub use agreement::*;
pub use device::*;
pub use prepare::*;
pub use redeem::*;
pub use relay::*;
pub use report::*;

use crate::contract::MANY;
use crate::scene::Scene;
use crate::{Line, Stores, minutes};
use dwar_identity::Identity;
use dwar_kernel::OtpId;
use dwar_login::{Cost, NewSend, Prepared};
use dwar_otp::Otp;
use dwar_ratelimit::{Quota, SendQuota};
use dwar_session::Session;
use dwar_wallet::Paise;
use std::time::Duration;

const WINDOW: Duration = minutes(10);
/// Amount that a send holds here, more than any message costs.
const HELD: Paise = Paise(40);

const fn places(limit: u32) -> SendQuota {
    SendQuota { places: Quota { limit, window: WINDOW }, reach: None }
}

#[derive(Debug, PartialEq)]
struct OnRecord {
    /// Newest first.
    requests: Vec<Otp>,
    log: String,
    identity: Option<Identity>,
    sessions: Vec<Session>,
}

impl OnRecord {
    async fn of(stores: &Stores, line: &Line) -> Self {
        let Line { project_mode, index, .. } = *line;
        let log = stores.sends.log(line.send_key()).await.unwrap();
        let identity = stores.identities.find_by_phone(project_mode, index).await.unwrap();
        let mut sessions = Vec::new();
        if let Some(Identity { id, .. }) = identity {
            let known = &stores.console.identity_sessions;
            sessions = known.of_identity(project_mode, id, None, MANY).await.unwrap();
        }
        Self {
            requests: stores.console.activity.of_phone(project_mode, index, MANY).await.unwrap(),
            log: format!("{log:?}"),
            identity,
            sessions,
        }
    }

    fn request(&self, id: OtpId) -> &Otp {
        self.requests.iter().find(|otp| otp.id == id).unwrap()
    }
}

/// A send that holds [`HELD`] and is on record; its first provider is not called yet.
async fn begun(scene: &Scene, line: &Line) -> Otp {
    let send = NewSend { cost: Cost::Hold(HELD), ..scene.make.new_send(line) };
    let otp = send.otp.clone();
    let prepared = scene.stores.logins.prepare(send, otp.created_at).await.unwrap();
    assert!(matches!(prepared, Prepared::Ready(_)), "{prepared:?}");
    otp
}
