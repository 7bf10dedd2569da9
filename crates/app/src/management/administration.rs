use crate::{Audit, ManageAccount, ManageAdminTokens, ManageOperators, Parts, Passkeys, SignIn};
use dwar_operator::{PasskeyVerifier, PasswordHasher};
use std::sync::Arc;

/// What those who run the service do about themselves.
#[derive(Clone)]
pub struct Administration {
    pub sign_in: Arc<SignIn>,
    pub account: Arc<ManageAccount>,
    pub operators: Arc<ManageOperators>,
    pub tokens: Arc<ManageAdminTokens>,
    pub audit: Audit,
}

impl Parts {
    /// Writes down what is changed, and shows it.
    pub fn audit(&self) -> Audit {
        Audit { tools: self.tools.clone(), entries: self.stores.audit.clone() }
    }

    /// Invites operators and removes them.
    pub fn manage_operators(&self) -> ManageOperators {
        let Self { tools, stores, .. } = self.clone();
        ManageOperators {
            tools,
            operators: stores.operators,
            projects: stores.projects,
            audit: self.audit(),
        }
    }

    /// Makes, checks and revokes the tokens of the admin API.
    pub fn manage_admin_tokens(&self) -> ManageAdminTokens {
        let Self { tools, stores, .. } = self.clone();
        ManageAdminTokens {
            tools,
            tokens: stores.admin_tokens,
            projects: stores.projects,
            audit: self.audit(),
        }
    }

    /// Adds passkeys, removes them, and lets operators in by them.
    pub fn passkeys(
        &self,
        hasher: Arc<dyn PasswordHasher>,
        verifier: Arc<dyn PasskeyVerifier>,
    ) -> Passkeys {
        let Self { tools, stores, .. } = self.clone();
        Passkeys {
            tools,
            operators: stores.operators,
            passkeys: stores.passkeys,
            verifier,
            hasher,
            audit: self.audit(),
        }
    }

    /// All that those who run the service do about themselves.
    pub fn administration(&self, hasher: &Arc<dyn PasswordHasher>) -> Administration {
        let Self { tools, stores, .. } = self;
        Administration {
            sign_in: Arc::new(SignIn {
                tools: tools.clone(),
                operators: stores.operators.clone(),
                hasher: hasher.clone(),
                audit: self.audit(),
            }),
            account: Arc::new(ManageAccount {
                tools: tools.clone(),
                operators: stores.operators.clone(),
                hasher: hasher.clone(),
                audit: self.audit(),
            }),
            operators: Arc::new(self.manage_operators()),
            tokens: Arc::new(self.manage_admin_tokens()),
            audit: self.audit(),
        }
    }
}
