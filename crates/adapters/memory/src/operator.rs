use crate::store::{MemoryStore, State};
use async_trait::async_trait;
use dwar_kernel::{Digest, OperatorId, StoreError, Timestamp};
use dwar_operator::{
    Attempt, AttemptAdmission, EndSessions, FailureCounter, FailureKey, OneTimeLink, Operator,
    OperatorChange, OperatorName, OperatorSession, OperatorStore, PasswordHash, SignInProof,
};
use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::convert::Infallible;

impl State {
    pub(crate) fn operator(&mut self, wanted: OperatorId) -> Option<&mut Operator> {
        self.operators.iter_mut().find(|known| known.id == wanted)
    }

    fn link(&mut self, digest: Digest) -> Option<(OneTimeLink, &mut Operator)> {
        let link = self.links.iter().find(|known| known.digest == digest)?.clone();
        self.operator(link.operator).map(|operator| (link, operator))
    }

    pub(crate) fn end_sessions(&mut self, operator: OperatorId, which: EndSessions) -> u64 {
        let ends =
            |session: &mut OperatorSession| session.operator == operator && which.ends(session);
        self.operator_sessions.extract_if(.., ends).count() as u64
    }

    fn counter(&mut self, count: FailureKey) -> Entry<'_, (OperatorId, Digest), FailureCounter> {
        self.failure_counters.entry((count.operator, count.subject))
    }

    /// Deletes the links, sessions and counts that end when an operator is reset or removed.
    fn begin_anew(&mut self, operator: OperatorId) {
        self.links.retain(|link| link.operator != operator);
        self.failure_counters.retain(|(whose, _), _| *whose != operator);
        self.end_sessions(operator, EndSessions::All);
    }
}

#[async_trait]
impl OperatorStore for MemoryStore {
    async fn invite(&self, operator: Operator, link: OneTimeLink) -> Result<bool, StoreError> {
        let state = &mut *self.step("OperatorStore::invite").await?;
        let free = state.operators.iter().all(|known| known.name != operator.name);
        if free {
            state.operators.push(operator);
            state.links.push(link);
        }
        Ok(free)
    }

    async fn invite_first(
        &self,
        operator: Operator,
        link: OneTimeLink,
    ) -> Result<bool, StoreError> {
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

    async fn reset(&self, operator: OperatorId, link: OneTimeLink) -> Result<bool, StoreError> {
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

    async fn link(&self, link: Digest) -> Result<Option<(OneTimeLink, Operator)>, StoreError> {
        let state = &mut *self.step("OperatorStore::link").await?;
        Ok(state.link(link).map(|(link, operator)| (link, operator.clone())))
    }

    async fn links(&self) -> Result<Vec<OneTimeLink>, StoreError> {
        Ok(self.step("OperatorStore::links").await?.links.clone())
    }

    async fn renew_link(&self, link: OneTimeLink) -> Result<bool, StoreError> {
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

    async fn admit(
        &self,
        attempt: Attempt,
        now: Timestamp,
    ) -> Result<AttemptAdmission, StoreError> {
        let state = &mut *self.step("OperatorStore::admit").await?;
        let known = |count: FailureKey| {
            let counter = state.failure_counters.get(&(count.operator, count.subject)).copied();
            Ok::<_, Infallible>(counter.unwrap_or(FailureCounter::fresh(now)))
        };
        let Ok((admission, counted)) = attempt.admit(now, known);
        for (count, counter) in counted {
            state.failure_counters.insert((count.operator, count.subject), counter);
        }
        Ok(admission)
    }

    async fn withdraw(&self, attempt: Attempt) -> Result<(), StoreError> {
        let state = &mut *self.step("OperatorStore::withdraw").await?;
        for count in attempt.counts() {
            state.counter(*count).and_modify(FailureCounter::withdraw);
        }
        Ok(())
    }

    async fn sign_in(
        &self,
        proof: SignInProof,
        attempt: Attempt,
        session: OperatorSession,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let state = &mut *self.step("OperatorStore::sign_in").await?;
        let operator = state.operator(session.operator);
        let let_in = operator.is_some_and(|operator| operator.sign_in(&proof, now));
        if let_in {
            for count in attempt.counts() {
                if let Entry::Occupied(mut known) = state.counter(*count) {
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

    async fn failure_counters(
        &self,
        now: Timestamp,
    ) -> Result<Vec<(FailureKey, FailureCounter)>, StoreError> {
        let state = &*self.step("OperatorStore::failure_counters").await?;
        let known = |id: &OperatorId| state.operators.iter().any(|known| known.id == *id);
        let all = state.failure_counters.iter().filter(|((operator, _), _)| known(operator));
        let all = all.map(|((operator, subject), counter)| {
            (FailureKey::stored(*operator, *subject), *counter)
        });
        let locked = |it: &FailureCounter| it.locked_until.is_some_and(|until| now < until);
        Ok(all.filter(|(count, counter)| count.is_of_name() || locked(counter)).collect())
    }

    async fn forget_failures(&self, operator: OperatorId) -> Result<bool, StoreError> {
        let state = &mut *self.step("OperatorStore::forget_failures").await?;
        let theirs = |(whose, _): &(OperatorId, Digest), _: &mut FailureCounter| *whose == operator;
        Ok(state.failure_counters.extract_if(theirs).count() > 0)
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

    async fn record_session_use(&self, session: Digest, now: Timestamp) -> Result<(), StoreError> {
        let state = &mut *self.step("OperatorStore::record_session_use").await?;
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

    async fn invalidate_sign_ins(&self, step: u64) -> Result<(), StoreError> {
        let state = &mut *self.step("OperatorStore::invalidate_sign_ins").await?;
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
        let forgotten = |_: &_, counter: &mut FailureCounter| counter.is_forgotten(now);
        let counters = state.failure_counters.extract_if(forgotten).count();
        let over = |_: &_, until: &mut Timestamp| *until <= now;
        let challenges = state.used_challenges.extract_if(over).count();
        Ok((sessions + links + counters + challenges) as u64)
    }
}
