use crate::MemoryStore;
use crate::store::State;
use async_trait::async_trait;
use dwar_kernel::{Digest, OperatorId, StoreError, Timestamp};
use dwar_operator::{
    Challenge, EndSessions, Operator, OperatorSession, Passkey, PasskeyAdded, PasskeyStore,
    PasskeyUsed,
};

impl State {
    /// `false` if the challenge was used before.
    fn use_up(&mut self, challenge: Challenge) -> bool {
        self.used_challenges.insert(challenge.digest(), challenge.expires_at()).is_none()
    }
}

#[async_trait]
impl PasskeyStore for MemoryStore {
    async fn add_passkey(
        &self,
        passkey: Passkey,
        challenge: Challenge,
    ) -> Result<PasskeyAdded, StoreError> {
        let state = &mut *self.step("PasskeyStore::add_passkey").await?;
        if state.operator(passkey.operator).is_none() {
            return Ok(PasskeyAdded::NoOperator);
        }
        if state.passkeys.iter().any(|known| known.digest == passkey.digest) {
            return Ok(PasskeyAdded::Known);
        }
        let own = state.passkeys.iter().filter(|known| known.operator == passkey.operator);
        if own.count() >= Passkey::MOST {
            return Ok(PasskeyAdded::TooMany);
        }
        if !state.use_up(challenge) {
            return Ok(PasskeyAdded::Replayed);
        }
        state.passkeys.push(passkey);
        Ok(PasskeyAdded::Added)
    }

    async fn all_passkeys(&self) -> Result<Vec<Passkey>, StoreError> {
        let mut found = self.step("PasskeyStore::all_passkeys").await?.passkeys.clone();
        found.sort_by_key(|known| (known.made_at, known.digest.0));
        Ok(found)
    }

    async fn passkeys(&self, operator: OperatorId) -> Result<Vec<Passkey>, StoreError> {
        let mut found = self.step("PasskeyStore::passkeys").await?.passkeys.clone();
        found.retain(|known| known.operator == operator);
        found.sort_by_key(|known| (known.made_at, known.digest.0));
        Ok(found)
    }

    async fn passkey(&self, passkey: Digest) -> Result<Option<(Passkey, Operator)>, StoreError> {
        let state = &mut *self.step("PasskeyStore::passkey").await?;
        let found = state.passkeys.iter().find(|known| known.digest == passkey).cloned();
        Ok(found.and_then(|found| state.operator(found.operator).cloned().map(|one| (found, one))))
    }

    async fn use_passkey(
        &self,
        passkey: Digest,
        counter: u32,
        challenge: Challenge,
        session: OperatorSession,
        now: Timestamp,
    ) -> Result<PasskeyUsed, StoreError> {
        let state = &mut *self.step("PasskeyStore::use_passkey").await?;
        let own = |known: &Passkey| known.digest == passkey && known.operator == session.operator;
        let Some(at) = state.passkeys.iter().position(own) else {
            return Ok(PasskeyUsed::Gone);
        };
        let mut after = state.passkeys[at].clone();
        if !after.take(counter, now) {
            return Ok(PasskeyUsed::Regressed);
        }
        if !state.use_up(challenge) {
            return Ok(PasskeyUsed::Replayed);
        }
        state.passkeys[at] = after;
        if let Some(operator) = state.operator(session.operator) {
            operator.signed_in_at = Some(now);
        }
        state.operator_sessions.push(session);
        Ok(PasskeyUsed::LetIn)
    }

    async fn remove_passkey(
        &self,
        operator: OperatorId,
        passkey: Digest,
        keep: Digest,
    ) -> Result<bool, StoreError> {
        let state = &mut *self.step("PasskeyStore::remove_passkey").await?;
        let own = |known: &mut Passkey| (known.operator, known.digest) == (operator, passkey);
        let removed = state.passkeys.extract_if(.., own).count() == 1;
        if removed {
            state.end_sessions(operator, EndSessions::AllBut(keep));
        }
        Ok(removed)
    }
}
