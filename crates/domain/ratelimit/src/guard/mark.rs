use super::TOKEN;
use dwar_kernel::{Digest, GuardVerdict, Timestamp};
use std::time::Duration;

/// How the guard judged a send that is about to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuardedSend {
    /// Digest of the visitor's address, if the caller named one that is counted.
    pub visitor: Option<Digest>,
    /// The verdict by the levels; a refusal only where the guard watches.
    pub verdict: GuardVerdict,
}

/// What is on record of the phone of a send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GuardedPhone {
    /// Whether the phone has an identity.
    pub has_identity: bool,
    /// Whether a code of the phone was verified within [`GuardMark::EARNS_EVERY`].
    pub earned: bool,
    /// The token that the phone took with its code in force.
    pub taken: Option<TakenToken>,
}

/// A token that a number took, and that its verification gives back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TakenToken {
    pub at: Timestamp,
    /// The address that it was taken from.
    pub visitor: Option<Digest>,
}

/// What a send means for the levels, on record beside its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuardMark {
    /// The address whose level the number counts for.
    pub visitor: Option<Digest>,
    /// When the number took its token; a later send within [`GuardMark::STANDS_FOR`] takes none, and its code
    /// stands for the same token.
    pub taken_at: Option<Timestamp>,
    /// Whether the phone has no identity, so that it counts for its series and its project.
    pub is_new: bool,
    /// Whether its verification earns tokens beyond the one that was taken.
    pub earns: bool,
}

impl GuardMark {
    /// A number takes one token in this time, however many codes it gets.
    pub const STANDS_FOR: Duration = Duration::from_secs(600);
    /// A number earns tokens once in this time, or one SIM card could fill levels for others.
    pub const EARNS_EVERY: Duration = Duration::from_secs(86_400);
    /// What a verification earns beyond the token that was taken.
    pub const EARNED: i64 = TOKEN / 2;

    /// The mark of a send that begins at `now` with this verdict. A send that passed unjudged, or that an
    /// enforced guard would refuse, takes no token.
    pub fn new(
        send: &GuardedSend,
        verdict: GuardVerdict,
        phone: &GuardedPhone,
        now: Timestamp,
    ) -> Self {
        let taken = phone.taken.filter(|take| now < take.at + Self::STANDS_FOR);
        let takes = verdict == GuardVerdict::Admitted;
        Self {
            visitor: taken.map_or(send.visitor, |take| take.visitor),
            taken_at: taken.map(|take| take.at).or(takes.then_some(now)),
            is_new: !phone.has_identity,
            earns: !phone.earned,
        }
    }

    /// Whether the send that began at `now` took the token itself.
    pub fn took(&self, now: Timestamp) -> bool {
        self.taken_at == Some(now)
    }

    /// The tokens that the verification of its code gives to each of its subjects.
    pub const fn gives(&self) -> i64 {
        let back = if self.taken_at.is_some() { TOKEN } else { 0 };
        let earned = if self.earns { Self::EARNED } else { 0 };
        back + earned
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADMITTED: GuardVerdict = GuardVerdict::Admitted;
    const SEND: GuardedSend = GuardedSend { visitor: None, verdict: ADMITTED };
    const VISITOR: Option<Digest> = Some(Digest([1; 32]));
    const OTHER: Option<Digest> = Some(Digest([2; 32]));

    fn at(seconds: u64) -> Timestamp {
        Timestamp::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn the_first_code_of_ten_minutes_takes_a_token_and_later_ones_stand_for_it() {
        let stranger = GuardedPhone::default();
        let first =
            GuardMark::new(&GuardedSend { visitor: VISITOR, ..SEND }, ADMITTED, &stranger, at(0));
        assert!(first.took(at(0)) && first.is_new && first.earns);
        assert_eq!(first.gives(), TOKEN + TOKEN / 2);
        let taken = Some(TakenToken { at: at(0), visitor: VISITOR });
        let waiting = GuardedPhone { taken, ..stranger };
        let other = GuardedSend { visitor: OTHER, ..SEND };
        let again = GuardMark::new(&other, ADMITTED, &waiting, at(599));
        assert_eq!(again, first);
        assert!(!again.took(at(599)));
        let later = GuardMark::new(&other, ADMITTED, &waiting, at(600));
        assert!(later.took(at(600)) && later.visitor == OTHER);
    }

    #[test]
    fn a_proven_or_asked_send_takes_nothing_and_earns_half_a_token() {
        for verdict in GuardVerdict::ALL.into_iter().filter(|it| *it != ADMITTED) {
            let mark = GuardMark::new(&SEND, verdict, &GuardedPhone::default(), at(0));
            assert_eq!((mark.taken_at, mark.gives()), (None, TOKEN / 2));
            // The token that an earlier send took is given back all the same.
            let taken = Some(TakenToken { at: at(0), visitor: None });
            let phone = GuardedPhone { taken, ..GuardedPhone::default() };
            let mark = GuardMark::new(&SEND, verdict, &phone, at(60));
            assert_eq!(mark.gives(), TOKEN + TOKEN / 2);
        }
    }

    #[test]
    fn a_number_earns_once_a_day_and_always_gets_its_token_back() {
        let phone = GuardedPhone { has_identity: true, earned: true, taken: None };
        let mark = GuardMark::new(&SEND, ADMITTED, &phone, at(0));
        assert_eq!((mark.is_new, mark.gives()), (false, TOKEN));
    }
}
