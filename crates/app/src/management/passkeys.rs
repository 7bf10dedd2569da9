use super::sign_in::check_password;
use crate::{AccountError, Audit, Change, Present, SignInError, SignedIn, Toolbox};
use dwar_kernel::{Digest, OperatorId, Purpose, StoreError};
use dwar_operator::{
    Action, Admission, By, Challenges, Facts, Operator, OperatorName, OperatorSession,
    OperatorStore, Passkey, PasskeyAdded, PasskeyMade, PasskeySigned, PasskeySite, PasskeyStore,
    PasskeyUsed, PasskeyVerifier, PasswordHasher, SessionToken, Standing,
};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

/// Operators' passkeys: made, removed, and let in by. Questions are kept in this process.
pub struct Passkeys {
    pub tools: Toolbox,
    pub operators: Arc<dyn OperatorStore>,
    pub passkeys: Arc<dyn PasskeyStore>,
    pub verifier: Arc<dyn PasskeyVerifier>,
    pub hasher: Arc<dyn PasswordHasher>,
    pub audit: Audit,
    pub challenges: Mutex<Challenges>,
}

/// Which passkey a browser says it used.
#[derive(Clone, Copy, Debug)]
pub struct PasskeyAnswer<'a> {
    pub credential: &'a [u8],
    pub signed: PasskeySigned<'a>,
}

impl Passkeys {
    /// What a passkey is asked to sign: by a session that adds one, or by somebody who signs in.
    pub fn challenge(&self, session: Option<Digest>) -> [u8; 32] {
        let mut bytes = [0; 32];
        self.tools.entropy.fill(&mut bytes);
        let mut open = self.challenges.lock().unwrap_or_else(PoisonError::into_inner);
        open.open(bytes, session, self.tools.now());
        bytes
    }

    /// The passkeys of an operator, oldest first.
    pub async fn list(&self, operator: OperatorId) -> Result<Vec<Passkey>, StoreError> {
        self.passkeys.passkeys(operator).await
    }

    /// Adds a passkey to the account of whoever asks, once they have shown their password again.
    pub async fn add(
        &self,
        by: &By,
        present: &Present,
        (current, name): (&str, &str),
        site: PasskeySite<'_>,
        answer: PasskeyMade<'_>,
    ) -> Result<(), AccountError> {
        // A name of a passkey is like one of an operator: short, and nothing that hides.
        let name: OperatorName = name.trim().parse().map_err(|_| AccountError::PasskeyName)?;
        if !self.take(site.challenge, Some(present.session.digest)) {
            return Err(AccountError::PasskeyTooLate);
        }
        self.prove(&present.operator, current).await?;
        let (key, counter) = self.verifier.made(site, answer).map_err(|cause| {
            tracing::warn!(operator = %present.operator.id, %cause, "a passkey was not added");
            AccountError::PasskeyRefused
        })?;
        let passkey = Passkey {
            digest: self.digest(answer.credential),
            operator: present.operator.id,
            name: name.to_string(),
            credential: answer.credential.to_vec(),
            key,
            counter,
            made_at: self.tools.now(),
            used_at: None,
        };
        self.note(by, &present.operator, Action::PasskeyAdded, &passkey.name).await?;
        match self.passkeys.add_passkey(passkey).await? {
            PasskeyAdded::Added => Ok(()),
            PasskeyAdded::Known => Err(AccountError::PasskeyRefused),
            PasskeyAdded::TooMany => Err(AccountError::PasskeysFull),
            PasskeyAdded::NoOperator => Err(AccountError::NoSuchOperator),
        }
    }

    /// Removes a passkey of whoever asks, and ends every other session of theirs.
    pub async fn remove(
        &self,
        by: &By,
        present: &Present,
        current: &str,
        credential: &[u8],
    ) -> Result<(), AccountError> {
        let (operator, digest) = (&present.operator, self.digest(credential));
        self.prove(operator, current).await?;
        let own = self.passkeys.passkeys(operator.id).await?;
        let Some(known) = own.into_iter().find(|known| known.digest == digest) else {
            return Ok(());
        };
        self.note(by, operator, Action::PasskeyRemoved, &known.name).await?;
        let keep = present.session.digest;
        self.passkeys.remove_passkey(operator.id, digest, keep).await?;
        Ok(())
    }

    /// Lets an operator in by a passkey, in place of password and second factor. Failures lock as
    /// those of passwords do.
    pub async fn sign_in(
        &self,
        site: PasskeySite<'_>,
        answer: PasskeyAnswer<'_>,
        from: Option<IpAddr>,
    ) -> Result<SignedIn, SignInError> {
        if !self.take(site.challenge, None) {
            return Err(SignInError::Wrong);
        }
        let (now, digest) = (self.tools.now(), self.digest(answer.credential));
        let found = self.passkeys.passkey(digest).await?;
        let id = found.as_ref().map_or_else(|| Standing::of_stranger(&digest), |(_, one)| one.id);
        if let Admission::Locked(until) = self.operators.admit(id, now).await? {
            return Err(SignInError::Locked { until });
        }
        let (passkey, operator) = found.ok_or(SignInError::Wrong)?;
        let counter = self.verifier.signed(site, &passkey.key, answer.signed).map_err(|cause| {
            tracing::warn!(operator = %id, ?from, %cause, "a passkey did not sign in");
            SignInError::Wrong
        })?;
        let token = SessionToken::generate(self.tools.entropy.as_ref());
        let session =
            OperatorSession::begin(token.digest(self.tools.vault.as_ref()), id, from, now);
        let by = By::operator(&operator, from);
        // Asked again under a lock below; here so that a copy leaves its own line in the log.
        let grows = passkey.clone().take(counter, now);
        let action = if grows { Action::OperatorSignedIn } else { Action::PasskeyRefused };
        self.note(&by, &operator, action, &passkey.name).await?;
        if !grows {
            return Err(SignInError::Wrong);
        }
        match self.passkeys.use_passkey(digest, counter, session.clone(), now).await? {
            PasskeyUsed::LetIn => Ok(SignedIn { operator, session, token }),
            PasskeyUsed::Regressed => {
                self.note(&by, &operator, Action::PasskeyRefused, &passkey.name).await?;
                Err(SignInError::Wrong)
            }
            PasskeyUsed::Gone => Err(SignInError::Wrong),
        }
    }

    fn take(&self, challenge: &[u8], session: Option<Digest>) -> bool {
        let mut open = self.challenges.lock().unwrap_or_else(PoisonError::into_inner);
        open.take(challenge, session, self.tools.now())
    }

    fn digest(&self, credential: &[u8]) -> Digest {
        self.tools.vault.digest(Purpose::Passkey, &[credential])
    }

    /// Whoever came in by the link of a first start has no password yet.
    async fn prove(&self, operator: &Operator, current: &str) -> Result<(), AccountError> {
        let Some(hash) = operator.password.clone() else { return Ok(()) };
        let (operators, hasher) = (self.operators.as_ref(), self.hasher.as_ref());
        let (subject, now) = ((operator.id, hash), self.tools.now());
        Ok(check_password(operators, hasher, subject, current, now).await?)
    }

    async fn note(
        &self,
        by: &By,
        operator: &Operator,
        action: Action,
        passkey: &str,
    ) -> Result<(), crate::AdminError> {
        let change = Change::new(action, &operator.name);
        let change = change.after(Facts::new().word("passkey", passkey));
        let change = match operator.access.project() {
            Some(project) => change.within(project),
            None => change,
        };
        self.audit.record(by, change).await
    }
}
