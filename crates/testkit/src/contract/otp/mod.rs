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
use dwar_otp::{GuessBudget, GuessPolicy, GuessVerdict, Otp};

async fn stored(stores: &Stores, otp: &Otp) -> Option<Otp> {
    stores.otps.find(otp.project_mode, otp.id).await.unwrap()
}

/// The wrong guesses of a phone. The call that returns them also deletes them.
async fn counted(stores: &Stores, line: &Line) -> GuessBudget {
    let counted = stores.otps.forget_guesses(line.project_mode, line.index).await;
    counted.unwrap().unwrap_or_default()
}

/// A [`GuessVerdict`] without its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Accepted,
    Wrong,
    Locked,
    NotFound,
}

impl From<GuessVerdict> for Answer {
    fn from(verdict: GuessVerdict) -> Self {
        match verdict {
            GuessVerdict::Accepted(_) => Self::Accepted,
            GuessVerdict::Wrong(_) => Self::Wrong,
            GuessVerdict::Locked(_) => Self::Locked,
            GuessVerdict::NotFound => Self::NotFound,
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
