use crate::store::{MemoryStore, State};
use async_trait::async_trait;
use dwar_kernel::{Digest, OperatorId, StoreError, Timestamp};
use dwar_operator::{
    Admission, Attempt, Count, EndSessions, Link, Operator, OperatorChange, OperatorName,
    OperatorSession, OperatorStore, PasswordHash, Proof, Standing,
};
use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::convert::Infallible;

impl State {
    pub(crate) fn operator(&mut self, wanted: OperatorId) -> Option<&mut Operator> {
        self.operators.iter_mut().find(|known| known.id == wanted)
    }

    fn link(&mut self, digest: Digest) -> Option<(Link, &mut Operator)> {
        let link = self.links.iter().find(|known| known.digest == digest)?.clone();
        self.operator(link.operator).map(|operator| (link, operator))
    }

    pub(crate) fn end_sessions(&mut self, operator: OperatorId, which: EndSessions) -> u64 {
        let ends =
            |session: &mut OperatorSession| session.operator == operator && which.ends(session);
        self.operator_sessions.extract_if(.., ends).count() as u64
    }

    fn standing(&mut self, count: Count) -> Entry<'_, (OperatorId, Digest), Standing> {
        self.standings.entry((count.operator, count.subject))
    }

    /// Deletes the links, sessions and counts that end when an operator is reset or removed.
    fn begin_anew(&mut self, operator: OperatorId) {
        self.links.retain(|link| link.operator != operator);
        self.standings.retain(|(whose, _), _| *whose != operator);
        self.end_sessions(operator, EndSessions::All);
    }
}

#[async_trait]
impl OperatorStore for MemoryStore {
    async fn invite(&self, operator: Operator, link: Link) -> Result<bool, StoreError> {
        let state = &mut *self.step("OperatorStore::invite").await?;
        let free = state.operators.iter().all(|known| known.name != operator.name);
        if free {
            state.operators.push(operator);
            state.links.push(link);
        }
        Ok(free)
    }

    async fn invite_first(&self, operator: Operator, link: Link) -> Result<bool, StoreError> {
        let state = &mut *self.step("OperatorStore::invite_first").await?;
        let first = state.operators.is_empty();
        if first {
            state.operators.push(operator);
            state.links.push(link);
        }
        Ok(first)
    }

    async fn find(&self, operator: OperatorId) -> Result<Option<Operator>, StoreError> {
        Ok(self.step("OperatorStore::find").await?.operator(operator).cloned())
    }

    async fn find_by_name(&self, name: OperatorName) -> Result<Option<Operator>, StoreError> {
        let state = &*self.step("OperatorStore::find_by_name").await?;
        Ok(state.operators.iter().find(|known| known.name == name).cloned())
    }

    async fn list(&self) -> Result<Vec<Operator>, StoreError> {
        let mut list = self.step("OperatorStore::list").await?.operators.clone();
        list.sort_by_key(|operator| (operator.created_at, operator.id));
        Ok(list)
    }

    async fn change(
        &self,
        operator: OperatorId,
        change: OperatorChange,
        keep: Option<Digest>,
    ) -> Result<bool, StoreError> {
        let state = &mut *self.step("OperatorStore::change").await?;
        let ends = change.ends_sessions();
        let Some(known) = state.operator(operator) else { return Ok(false) };
        known.apply(change);
        if ends {
            let which = keep.map_or(EndSessions::All, EndSessions::AllBut);
            state.end_sessions(operator, which);
        }
        Ok(true)
    }

    async fn reset(&self, operator: OperatorId, link: Link) -> Result<bool, StoreError> {
        let state = &mut *self.step("OperatorStore::reset").await?;
        let Some(known) = state.operator(operator) else { return Ok(false) };
        known.reset();
        state.begin_anew(operator);
        state.passkeys.retain(|passkey| passkey.operator != operator);
        state.links.push(link);
        Ok(true)
    }

    async fn remove(&self, operator: OperatorId) -> Result<bool, StoreError> {
        let state = &mut *self.step("OperatorStore::remove").await?;
        state.begin_anew(operator);
        state.passkeys.retain(|passkey| passkey.operator != operator);
        Ok(state.operators.extract_if(.., |known| known.id == operator).count() == 1)
    }

    async fn link(&self, link: Digest) -> Result<Option<(Link, Operator)>, StoreError> {
        let state = &mut *self.step("OperatorStore::link").await?;
        Ok(state.link(link).map(|(link, operator)| (link, operator.clone())))
    }

    async fn links(&self) -> Result<Vec<Link>, StoreError> {
        Ok(self.step("OperatorStore::links").await?.links.clone())
    }

    async fn renew_link(&self, link: Link) -> Result<bool, StoreError> {
        let state = &mut *self.step("OperatorStore::renew_link").await?;
        let invited = state.operator(link.operator).is_some_and(|known| known.is_invited());
        if invited {
            state.links.retain(|known| known.operator != link.operator);
            state.links.push(link);
        }
        Ok(invited)
    }

    async fn spend(
        &self,
        link: Digest,
        password: Option<PasswordHash>,
        session: OperatorSession,
        now: Timestamp,
    ) -> Result<Option<Operator>, StoreError> {
        let state = &mut *self.step("OperatorStore::spend").await?;
        let Some((link, operator)) = state.link(link) else { return Ok(None) };
        if !link.spend(operator, password, now) {
            return Ok(None);
        }
        let operator = operator.clone();
        state.begin_anew(operator.id);
        state.operator_sessions.push(session);
        Ok(Some(operator))
    }

    async fn admit(&self, attempt: Attempt, now: Timestamp) -> Result<Admission, StoreError> {
        let state = &mut *self.step("OperatorStore::admit").await?;
        let known = |count: Count| {
            let standing = state.standings.get(&(count.operator, count.subject)).copied();
            Ok::<_, Infallible>(standing.unwrap_or(Standing::fresh(now)))
        };
        let Ok((admission, counted)) = attempt.admit(now, known);
        for (count, standing) in counted {
            state.standings.insert((count.operator, count.subject), standing);
        }
        Ok(admission)
    }

    async fn withdraw(&self, attempt: Attempt) -> Result<(), StoreError> {
        let state = &mut *self.step("OperatorStore::withdraw").await?;
        for count in attempt.counts() {
            state.standing(*count).and_modify(Standing::withdraw);
        }
        Ok(())
    }

    async fn sign_in(
        &self,
        proof: Proof,
        attempt: Attempt,
        session: OperatorSession,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let state = &mut *self.step("OperatorStore::sign_in").await?;
        let operator = state.operator(session.operator);
        let let_in = operator.is_some_and(|operator| operator.sign_in(&proof, now));
        if let_in {
            for count in attempt.counts() {
                if let Entry::Occupied(mut known) = state.standing(*count) {
                    match count.after_success(*known.get()) {
                        Some(left) => known.insert(left),
                        None => known.remove(),
                    };
                }
            }
            state.operator_sessions.push(session);
        }
        Ok(let_in)
    }

    async fn standings(&self, now: Timestamp) -> Result<Vec<(Count, Standing)>, StoreError> {
        let state = &*self.step("OperatorStore::standings").await?;
        let known = |id: &OperatorId| state.operators.iter().any(|known| known.id == *id);
        let all = state.standings.iter().filter(|((operator, _), _)| known(operator));
        let all = all
            .map(|((operator, subject), standing)| (Count::stored(*operator, *subject), *standing));
        let locked = |it: &Standing| it.locked_until.is_some_and(|until| now < until);
        Ok(all.filter(|(count, standing)| count.is_of_name() || locked(standing)).collect())
    }

    async fn forget_standings(&self, operator: OperatorId) -> Result<bool, StoreError> {
        let state = &mut *self.step("OperatorStore::forget_standings").await?;
        let theirs = |(whose, _): &(OperatorId, Digest), _: &mut Standing| *whose == operator;
        Ok(state.standings.extract_if(theirs).count() > 0)
    }

    async fn session(
        &self,
        session: Digest,
    ) -> Result<Option<(OperatorSession, Operator)>, StoreError> {
        let state = &mut *self.step("OperatorStore::session").await?;
        let found = state.operator_sessions.iter().find(|known| known.digest == session).cloned();
        Ok(found.and_then(|session| {
            let operator = state.operator(session.operator)?.clone();
            Some((session, operator))
        }))
    }

    async fn note_session(&self, session: Digest, now: Timestamp) -> Result<(), StoreError> {
        let state = &mut *self.step("OperatorStore::note_session").await?;
        let mut known = state.operator_sessions.iter_mut();
        if let Some(session) = known.find(|known| known.digest == session) {
            session.note(now);
        }
        Ok(())
    }

    async fn sessions(&self, operator: OperatorId) -> Result<Vec<OperatorSession>, StoreError> {
        let mut sessions = self.step("OperatorStore::sessions").await?.operator_sessions.clone();
        sessions.retain(|session| session.operator == operator);
        sessions.sort_by_key(|session| (Reverse(session.created_at), session.digest.0));
        Ok(sessions)
    }

    async fn end_sessions(
        &self,
        operator: OperatorId,
        which: EndSessions,
    ) -> Result<u64, StoreError> {
        Ok(self.step("OperatorStore::end_sessions").await?.end_sessions(operator, which))
    }

    async fn outdate(&self, step: u64) -> Result<(), StoreError> {
        let state = &mut *self.step("OperatorStore::outdate").await?;
        state.operator_sessions.clear();
        state.links.clear();
        for totp in state.operators.iter_mut().filter_map(|operator| operator.totp.as_mut()) {
            totp.take(step);
        }
        Ok(())
    }

    async fn sweep(&self, now: Timestamp) -> Result<u64, StoreError> {
        let state = &mut *self.step("OperatorStore::sweep").await?;
        let over = |session: &mut OperatorSession| !session.is_alive(now);
        let sessions = state.operator_sessions.extract_if(.., over).count();
        let links = state.links.extract_if(.., |link| !link.is_open(now)).count();
        let forgotten = |_: &_, standing: &mut Standing| standing.is_forgotten(now);
        let standings = state.standings.extract_if(forgotten).count();
        let over = |_: &_, until: &mut Timestamp| *until <= now;
        let challenges = state.used_challenges.extract_if(over).count();
        Ok((sessions + links + standings + challenges) as u64)
    }
}
