//! What [`dwar_otp::OtpStore`] promises.

mod delivery;
mod guess;
mod issue;
mod upkeep;

pub use delivery::*;
pub use guess::*;
pub use issue::*;
pub use upkeep::*;

use crate::scene::Scene;
use crate::{Line, START, Stores};
use dwar_kernel::Timestamp;
use dwar_otp::{Attempt, GuessBudget, GuessPolicy, Otp};

/// What is on record of a request.
async fn stored(stores: &Stores, otp: &Otp) -> Option<Otp> {
    stores.otps.find(otp.project, otp.mode, otp.id).await.unwrap()
}

async fn budget(stores: &Stores, line: &Line) -> GuessBudget {
    stores.otps.guess_budget(line.project, line.mode, line.index).await.unwrap()
}

/// An [`Attempt`] without its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Accepted,
    Wrong,
    Locked,
    NotFound,
}

impl From<Attempt> for Verdict {
    fn from(attempt: Attempt) -> Self {
        match attempt {
            Attempt::Accepted(_) => Self::Accepted,
            Attempt::Wrong(_) => Self::Wrong,
            Attempt::Locked(_) => Self::Locked,
            Attempt::NotFound => Self::NotFound,
        }
    }
}

impl Scene {
    async fn issued(&self, line: &Line) -> Otp {
        self.issue(self.make.otp(line)).await
    }

    async fn issue(&self, otp: Otp) -> Otp {
        self.stores.otps.issue(otp.clone()).await.unwrap();
        otp
    }

    /// A guess a second after [`START`], without a budget.
    async fn try_code(&self, line: &Line, code: &str) -> Verdict {
        self.try_at(line, code, GuessPolicy::OFF, START + crate::seconds(1)).await
    }

    async fn try_at(
        &self,
        line: &Line,
        code: &str,
        policy: GuessPolicy,
        now: Timestamp,
    ) -> Verdict {
        self.attempt(line, code, policy, now).await.into()
    }

    async fn attempt(
        &self,
        line: &Line,
        code: &str,
        policy: GuessPolicy,
        now: Timestamp,
    ) -> Attempt {
        let Line { project, mode, index, .. } = *line;
        let guess = self.make.guess(code);
        self.stores.otps.attempt(project, mode, index, guess, policy, now).await.unwrap()
    }
}
