//! Sessions in the history: the tokens of each, and what may have ended it.

use crate::history::{Action, History, Micros, Op, Outcome, Pair, SECOND};
use std::collections::HashMap;

/// Differences of clocks, and the milliseconds in which the service counts.
const MARGIN: Micros = SECOND / 2;

/// An operation and its place in the history.
pub type Numbered<'a> = (usize, &'a Op);

/// All sessions of a history.
pub struct Lines<'a> {
    history: &'a History,
    /// By session.
    pub sessions: HashMap<&'a str, Line<'a>>,
    /// By token: the pair it belongs to.
    pairs: HashMap<&'a str, &'a Pair>,
    /// By pair: the operations that returned it.
    given: HashMap<&'a Pair, Vec<Numbered<'a>>>,
    /// By refresh token: the operations that presented it.
    presented: HashMap<&'a str, Vec<Numbered<'a>>>,
    /// By identity: the operations that deleted it, or may have.
    pub deletions: HashMap<&'a str, Vec<Numbered<'a>>>,
}

/// Everything about one session.
#[derive(Default)]
pub struct Line<'a> {
    pub identity: &'a str,
    /// Operations with one of its tokens.
    pub ops: Vec<Numbered<'a>>,
}

impl<'a> Lines<'a> {
    pub fn of(history: &'a History) -> Self {
        let (mut pairs, mut given) = (HashMap::new(), HashMap::<_, Vec<_>>::new());
        let mut sessions = HashMap::<&str, Line<'_>>::new();
        for (number, op) in history.numbered() {
            if let Some(pair) = op.pair() {
                pairs.insert(pair.access.as_str(), pair);
                pairs.insert(pair.refresh.as_str(), pair);
                given.entry(pair).or_default().push((number, op));
                sessions.entry(&pair.session).or_default().identity = &pair.identity;
            }
        }
        let (mut presented, mut deletions) =
            (HashMap::<_, Vec<_>>::new(), HashMap::<_, Vec<_>>::new());
        for (number, op) in history.numbered() {
            let token = match &op.action {
                Action::Validate { access } | Action::Logout { access } => access,
                Action::Refresh { refresh, .. } => {
                    presented.entry(refresh.as_str()).or_default().push((number, op));
                    refresh
                }
                Action::Delete { identity } => {
                    deletions.entry(identity.as_str()).or_default().push((number, op));
                    continue;
                }
                _ => continue,
            };
            let pair: Option<&&Pair> = pairs.get(token.as_str());
            if let Some(line) = pair.and_then(|pair| sessions.get_mut(pair.session.as_str())) {
                line.ops.push((number, op));
            }
        }
        Self { history, sessions, pairs, given, presented, deletions }
    }

    /// The pair that a token belongs to.
    pub fn pair(&self, token: &str) -> Option<&'a Pair> {
        self.pairs.get(token).copied()
    }

    /// The first operation that returned a pair.
    pub fn given(&self, pair: &Pair) -> Option<Numbered<'a>> {
        self.given.get(pair)?.iter().min_by_key(|(_, op)| op.ended).copied()
    }

    /// The operations that presented a refresh token.
    pub fn presented(&self, refresh: &str) -> &[Numbered<'a>] {
        self.presented.get(refresh).map_or(&[], Vec::as_slice)
    }

    /// The exchange of a refresh token that was answered first.
    pub fn exchange(&self, refresh: &str) -> Option<Numbered<'a>> {
        let exchanged = self.presented(refresh).iter().filter(|(_, op)| op.pair().is_some());
        exchanged.min_by_key(|(_, op)| op.ended).copied()
    }

    /// Tells whether a refused refresh must have ended its session, because its token was exchanged
    /// long before.
    pub fn is_theft(&self, (_, op): Numbered<'a>) -> bool {
        let Action::Refresh { refresh, .. } = &op.action else { return false };
        let late = |(_, first): Numbered<'_>| {
            op.began > first.ended + self.history.settings.leeway + MARGIN
        };
        op.refusal() == Some("SESSION_EXPIRED") && self.exchange(refresh).is_some_and(late)
    }

    /// Tells whether an operation may have ended the session.
    fn may_end(&self, op: &Op) -> bool {
        match &op.action {
            Action::Logout { .. } => op.may_have_worked(),
            Action::Refresh { refresh, .. } => {
                // Only an exchange makes a token a spent one.
                let others = self.presented(refresh).iter().filter(|(_, other)| {
                    !std::ptr::eq(*other, op) && other.may_have_worked() && other.began < op.ended
                });
                let first = others.map(|(_, other)| other.began).min();
                let leeway = self.history.settings.leeway;
                first.is_some_and(|first| op.ended + MARGIN > first + leeway)
            }
            _ => false,
        }
    }

    /// Tells whether something explains that a session, or a pair of it, no longer works for a call
    /// that ends at `until`.
    pub fn explains(&self, pair: &Pair, but: usize, until: Micros) -> bool {
        let line = &self.sessions[pair.session.as_str()];
        let exchanged = |op: &Op| {
            let shown =
                matches!(&op.action, Action::Refresh { refresh, .. } if *refresh == pair.refresh);
            shown && op.may_have_worked()
        };
        let mut ops = line.ops.iter().filter(|(number, op)| *number != but && op.began < until);
        ops.any(|(_, op)| exchanged(op) || self.may_end(op))
            || self.deletions.get(line.identity).is_some_and(|deletions| {
                deletions.iter().any(|(_, op)| op.may_have_worked() && op.began < until)
            })
    }

    /// The first operation after which the session must have ended.
    pub fn end(&self, line: &Line<'a>) -> Option<Numbered<'a>> {
        let ended = line.ops.iter().copied().filter(|(number, op)| match op.action {
            Action::Logout { .. } => op.outcome == Outcome::Done,
            _ => self.is_theft((*number, op)),
        });
        ended.chain(self.deletion(line.identity)).min_by_key(|(_, op)| op.ended)
    }

    /// The first deletion of an identity that was answered.
    pub fn deletion(&self, identity: &str) -> Option<Numbered<'a>> {
        let deletions = self.deletions.get(identity)?.iter();
        deletions
            .filter(|(_, op)| op.outcome == Outcome::Done)
            .min_by_key(|(_, op)| op.ended)
            .copied()
    }
}
