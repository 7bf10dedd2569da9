//! Promises of [`dwar_login::LoginStore`] about codes, and those of [`dwar_otp::OtpStore`].

mod delivery;
mod guess;
mod issue;
mod upkeep;

pub use delivery::*;
pub use guess::*;
pub use issue::*;
pub use upkeep::*;

use crate::scene::Scene;
use crate::verdict;
use crate::{Line, START, Stores};
use dwar_kernel::Timestamp;
use dwar_login::Redeemed;
use dwar_otp::{GuessBudget, GuessPolicy, Otp, Verdict};

async fn stored(stores: &Stores, otp: &Otp) -> Option<Otp> {
    stores.otps.find(otp.world, otp.id).await.unwrap()
}

/// The wrong guesses of a phone; reading them forgets them.
async fn counted(stores: &Stores, line: &Line) -> GuessBudget {
    let counted = stores.otps.forget_guesses(line.world, line.index).await;
    counted.unwrap().unwrap_or_default()
}

/// A [`Verdict`] without its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Accepted,
    Wrong,
    Locked,
    NotFound,
}

impl From<Verdict> for Answer {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Accepted(_) => Self::Accepted,
            Verdict::Wrong(_) => Self::Wrong,
            Verdict::Locked(_) => Self::Locked,
            Verdict::NotFound => Self::NotFound,
        }
    }
}

impl From<Redeemed> for Answer {
    fn from(redeemed: Redeemed) -> Self {
        verdict(redeemed).into()
    }
}

impl Scene {
    pub(in crate::contract) async fn issued(&self, line: &Line) -> Otp {
        self.issue(self.make.otp(line)).await
    }

    /// A guess one second after [`START`], without a guess budget.
    async fn try_code(&self, line: &Line, code: &str) -> Answer {
        self.try_at(line, code, GuessPolicy::OFF, START + crate::seconds(1)).await
    }

    async fn try_at(&self, line: &Line, code: &str, policy: GuessPolicy, now: Timestamp) -> Answer {
        self.judge(line, code, policy, now).await.into()
    }
}
