use dwar_identity::Identity;
use dwar_kernel::{BlindIndex, Event, GuessPolicy, IdentityId, ProjectMode, Timestamp};
use dwar_otp::{Allowance, Guess, GuessBudget, Otp, Verdict};
use dwar_session::{Login, Session};

/// A guess at the code in force for a phone, and the login that the right one begins, if it is to begin any.
#[derive(Clone, Debug)]
pub struct Redemption {
    pub world: ProjectMode,
    pub phone: BlindIndex,
    pub guess: Guess,
    /// How wrong guesses are counted for the phone.
    pub policy: GuessPolicy,
    /// The session of this project, mode and phone that begins if the guess is right; its identity is the one to
    /// make if the phone is new. Without it the right guess uses the code up, and that is all.
    pub login: Option<Login>,
}

/// What came of a guess.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redeemed {
    /// It was right: the code is used up, and the session of this identity is on record.
    LoggedIn(Allowance, IdentityId),
    /// It was right: the code is used up. No session was asked for.
    Verified(Allowance),
    Wrong(Allowance),
    Locked(Allowance),
    NotFound,
}

impl Redemption {
    /// Judges the guess at `otp` by [`Otp::judge`]; gives the verdict, and what is told of it.
    pub fn judge(
        &self,
        otp: &mut Otp,
        budget: &mut GuessBudget,
        now: Timestamp,
    ) -> (Verdict, Option<Event>) {
        let (before, counted) = (otp.clone(), *budget);
        let verdict = otp.judge(&self.guess, budget, &self.policy, now);
        (verdict, otp.judged_since((&before, &counted), budget, now))
    }

    /// The identity that the right guess logs in, new or `known`, as just verified, and its session; `None` if it
    /// logs nobody in.
    pub fn log_in(&self, known: Option<Identity>) -> Option<(Identity, Session)> {
        let Login { session, sealed_phone, .. } = self.login.as_ref()?;
        let (at, phone) = (session.created_at, sealed_phone.clone());
        let identity = match known {
            Some(known) => {
                let last_verified_at = known.last_verified_at.max(at);
                Identity { phone, last_verified_at, ..known }
            }
            None => Identity {
                id: session.identity,
                world: session.world,
                phone,
                created_at: at,
                last_verified_at: at,
            },
        };
        let session = Session { identity: identity.id, ..session.clone() };
        Some((identity, session))
    }

    /// The session that is to begin.
    pub fn session(&self) -> Option<&Session> {
        self.login.as_ref().map(|login| &login.session)
    }
}

impl Redeemed {
    /// The answer to a guess, where the right one logged in `identity`, or nobody.
    pub const fn of(verdict: Verdict, identity: Option<IdentityId>) -> Self {
        match (verdict, identity) {
            (Verdict::Accepted(allowance), Some(identity)) => Self::LoggedIn(allowance, identity),
            (Verdict::Accepted(allowance), None) => Self::Verified(allowance),
            (Verdict::Wrong(allowance), _) => Self::Wrong(allowance),
            (Verdict::Locked(allowance), _) => Self::Locked(allowance),
            (Verdict::NotFound, _) => Self::NotFound,
        }
    }
}
