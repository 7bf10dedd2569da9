use crate::{AccountError, AuditedChange, SignIn, SignInError, SignedIn, SignedInOperator};
use dwar_kernel::{Digest, OperatorId, Purpose, StoreError, TRACE};
use dwar_operator::{
    Action, AuditDetails, Challenge, Client, Operator, OperatorName, Passkey, PasskeyAdded,
    PasskeyMade, PasskeySigned, PasskeySite, PasskeyStore, PasskeyUsed, PasskeyVerifier, Requester,
};
use std::sync::Arc;
use tracing::instrument;

/// Adds and removes operators' passkeys, and signs operators in with them.
pub struct Passkeys {
    pub(crate) sign_in: Arc<SignIn>,
    pub(crate) passkeys: Arc<dyn PasskeyStore>,
    pub(crate) verifier: Arc<dyn PasskeyVerifier>,
}

/// A browser's answer when a passkey signs in, with the credential that it used.
#[derive(Clone, Copy, Debug)]
pub struct PasskeyAnswer<'a> {
    pub credential: &'a [u8],
    pub signed: PasskeySigned<'a>,
}

impl Passkeys {
    /// Makes a challenge: for the session that adds a passkey, or (`None`) for a sign-in.
    pub fn challenge(&self, session: Option<Digest>) -> Challenge {
        let keys = (self.sign_in.tools.vault.as_ref(), self.sign_in.tools.entropy.as_ref());
        Challenge::issue(session, keys, self.sign_in.tools.now())
    }

    /// The passkeys of an operator, oldest first, for the account page.
    #[instrument(name = "passkeys.list", target = TRACE, level = "error", skip_all)]
    pub async fn list(&self, operator: OperatorId) -> Result<Vec<Passkey>, StoreError> {
        self.passkeys.passkeys(operator).await
    }

    /// Adds a passkey to the caller's account, after the password was entered again.
    #[instrument(name = "passkeys.add", target = TRACE, level = "error", skip_all)]
    pub async fn add(
        &self,
        by: &Requester,
        present: &SignedInOperator,
        (current, name): (&str, &str),
        site: PasskeySite<'_>,
        answer: PasskeyMade<'_>,
    ) -> Result<(), AccountError> {
        // The rules of operator names apply to names of passkeys too: short, and without invisible
        // characters.
        let name: OperatorName = name.parse().map_err(|_| AccountError::PasskeyName)?;
        let challenge = self.read(site.challenge, Some(present.session.digest));
        let challenge = challenge.ok_or(AccountError::PasskeyTooLate)?;
        self.sign_in.prove_again(present, current).await?;
        let (key, counter) = self.verifier.made(site, answer).map_err(|cause| {
            tracing::warn!(operator = %present.operator.id, %cause, "a passkey was not added");
            AccountError::PasskeyRefused(cause.0)
        })?;
        let passkey = Passkey {
            digest: self.digest(answer.credential),
            operator: present.operator.id,
            name: name.to_string(),
            credential: answer.credential.to_vec(),
            key,
            counter,
            made_at: self.sign_in.tools.now(),
            used_at: None,
        };
        self.note(by, &present.operator, Action::PasskeyAdded, &passkey.name).await?;
        match self.passkeys.add_passkey(passkey, challenge).await? {
            PasskeyAdded::Added => Ok(()),
            PasskeyAdded::Known => Err(AccountError::PasskeyRefused("it is registered already")),
            PasskeyAdded::Replayed => Err(AccountError::PasskeyTooLate),
            PasskeyAdded::TooMany => Err(AccountError::PasskeysFull),
            PasskeyAdded::NoOperator => Err(AccountError::NoSuchOperator),
        }
    }

    /// Removes a passkey of the caller, and ends every other session of the caller.
    #[instrument(name = "passkeys.remove", target = TRACE, level = "error", skip_all)]
    pub async fn remove(
        &self,
        by: &Requester,
        present: &SignedInOperator,
        current: &str,
        credential: &[u8],
    ) -> Result<(), AccountError> {
        let (operator, digest) = (&present.operator, self.digest(credential));
        self.sign_in.prove_again(present, current).await?;
        let own = self.passkeys.passkeys(operator.id).await?;
        let Some(known) = own.into_iter().find(|known| known.digest == digest) else {
            return Ok(());
        };
        self.note(by, operator, Action::PasskeyRemoved, &known.name).await?;
        let keep = present.session.digest;
        self.passkeys.remove_passkey(operator.id, digest, keep).await?;
        Ok(())
    }

    /// Signs in an operator with a passkey instead of password and second factor. A signature is not a guess:
    /// nothing is counted, and a locked password does not block it.
    #[instrument(name = "passkeys.sign_in", target = TRACE, level = "error", skip_all)]
    pub async fn sign_in(
        &self,
        site: PasskeySite<'_>,
        answer: PasskeyAnswer<'_>,
        client: Client,
    ) -> Result<SignedIn, SignInError> {
        let challenge = self.read(site.challenge, None).ok_or(SignInError::Wrong)?;
        let (now, from) = (self.sign_in.tools.now(), client.address);
        let digest = self.digest(answer.credential);
        let found = self.passkeys.passkey(digest).await?;
        let (passkey, operator) = found.ok_or(SignInError::Wrong)?;
        let id = operator.id;
        let counter = self.verifier.signed(site, &passkey.key, answer.signed).map_err(|cause| {
            tracing::warn!(operator = %id, ?from, %cause, "a passkey did not sign in");
            SignInError::Wrong
        })?;
        let (token, session) = self.sign_in.begin(id, client, now);
        let by = Requester::operator(&operator, from);
        // Checked again under a lock below; checked here so that a copied passkey leaves an audit entry.
        let grows = passkey.clone().take(counter, now);
        let action = if grows { Action::OperatorSignedIn } else { Action::PasskeyRefused };
        self.note(&by, &operator, action, &passkey.name).await?;
        if !grows {
            return Err(SignInError::Wrong);
        }
        let used = self.passkeys.use_passkey(digest, counter, challenge, session.clone(), now);
        match used.await? {
            PasskeyUsed::LetIn => {
                let browser = self.sign_in.known_browser(&operator, now);
                Ok(SignedIn { operator, session, token, browser })
            }
            PasskeyUsed::Regressed => {
                self.note(&by, &operator, Action::PasskeyRefused, &passkey.name).await?;
                Err(SignInError::Wrong)
            }
            PasskeyUsed::Gone | PasskeyUsed::Replayed => Err(SignInError::Wrong),
        }
    }

    fn read(&self, challenge: &[u8], session: Option<Digest>) -> Option<Challenge> {
        Challenge::read(
            challenge,
            session,
            self.sign_in.tools.vault.as_ref(),
            self.sign_in.tools.now(),
        )
    }

    fn digest(&self, credential: &[u8]) -> Digest {
        self.sign_in.tools.vault.digest(Purpose::Passkey, &[credential])
    }

    async fn note(
        &self,
        by: &Requester,
        operator: &Operator,
        action: Action,
        passkey: &str,
    ) -> Result<(), StoreError> {
        let change = AuditedChange::new(action, &operator.name).within(operator.access.project());
        let change = change.after(AuditDetails::new().word("passkey", passkey));
        self.sign_in.audit.record(by, change).await
    }
}
