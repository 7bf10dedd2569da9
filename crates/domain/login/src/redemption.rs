use dwar_identity::Identity;
use dwar_kernel::{BlindIndex, Event, GuessPolicy, IdentityId, ProjectMode, Timestamp};
use dwar_otp::{Allowance, Guess, GuessBudget, GuessVerdict, Otp};
use dwar_ratelimit::guard::GuardMark;
use dwar_session::{Login, Session};

/// A guess at the code in force for a phone, and the login that a right guess begins, if any.
#[derive(Clone, Debug)]
pub struct Redemption {
    pub project_mode: ProjectMode,
    pub phone: BlindIndex,
    pub guess: Guess,
    /// How wrong guesses of the phone are counted.
    pub policy: GuessPolicy,
    /// The session that begins if the guess is right, for this project, mode and phone; its identity is
    /// created if the phone is new. Without a login the right guess only uses up the code.
    pub login: Option<Login>,
}

/// Result of a guess, and of the login that it may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redeemed {
    /// The guess was right: the code is used up, and a session of this identity is on record. With the mark of
    /// the send, if it had one.
    LoggedIn(Allowance, IdentityId, Option<GuardMark>),
    /// The guess was right: the code is used up. No session was requested.
    Verified(Allowance, Option<GuardMark>),
    Wrong(Allowance),
    Locked(Allowance),
    NotFound,
}

impl Redemption {
    /// Judges the guess at `otp` by [`Otp::judge`]; returns the verdict and its event.
    pub fn judge(
        &self,
        otp: &mut Otp,
        budget: &mut GuessBudget,
        now: Timestamp,
    ) -> (GuessVerdict, Option<Event>) {
        let (before, counted) = (otp.clone(), *budget);
        let verdict = otp.judge(&self.guess, budget, &self.policy, now);
        (verdict, otp.judged_since((&before, &counted), budget, now))
    }

    /// The session that the right guess begins, and its identity: `known`, or a new one. `None` if the
    /// redemption has no login.
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
                project_mode: session.project_mode,
                phone,
                created_at: at,
                last_verified_at: at,
            },
        };
        let session = Session { identity: identity.id, ..session.clone() };
        Some((identity, session))
    }

    /// The session that a right guess begins, if any.
    pub fn session(&self) -> Option<&Session> {
        self.login.as_ref().map(|login| &login.session)
    }
}

impl Redeemed {
    /// The result for a verdict, with the identity that was logged in, and the mark of the send, if any.
    pub const fn of(
        verdict: GuessVerdict,
        identity: Option<IdentityId>,
        mark: Option<GuardMark>,
    ) -> Self {
        match (verdict, identity) {
            (GuessVerdict::Accepted(allowance), Some(identity)) => {
                Self::LoggedIn(allowance, identity, mark)
            }
            (GuessVerdict::Accepted(allowance), None) => Self::Verified(allowance, mark),
            (GuessVerdict::Wrong(allowance), _) => Self::Wrong(allowance),
            (GuessVerdict::Locked(allowance), _) => Self::Locked(allowance),
            (GuessVerdict::NotFound, _) => Self::NotFound,
        }
    }
}
