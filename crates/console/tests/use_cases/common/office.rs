use dwar_console::{
    Administration, Credentials, Invited, Management, SignInError, SignedIn, TypedCode,
};
use dwar_kernel::{Clock, ProjectId};
use dwar_memory::{MemoryRequestLimiter, MemoryStore};
use dwar_operator::{
    Access, Action, AuditEntry, AuditFilter, BrowserToken, Client, PasswordHasher, PendingSignIn,
    Requester, TotpSecret,
};
use dwar_testkit::{
    FixedClock, Fixtures, PlainHasher, Postbox, START, Stores, console, management, outside,
};
use std::net::IpAddr;
use std::sync::Arc;

pub const PASSWORD: &str = "correct horse battery";

pub fn at(number: u32) -> Client {
    Client { address: Some(IpAddr::V4(number.into())), ..Client::default() }
}

/// The use cases of operators, over a store in memory.
pub struct Office {
    pub clock: Arc<FixedClock>,
    pub store: Arc<MemoryStore>,
    pub hasher: Arc<PlainHasher>,
    pub stores: Stores,
    pub admin: Administration,
    pub manage: Management,
    pub make: Fixtures,
    pub postbox: Arc<Postbox>,
}

impl Office {
    pub fn open() -> Self {
        let (store, hasher) = (Arc::new(MemoryStore::default()), Arc::new(PlainHasher::default()));
        let clock = Arc::new(FixedClock::at(START));
        let stores = Stores::from(&store);
        let parts = console(stores.clone(), &clock);
        let password_hasher: Arc<dyn PasswordHasher> = Arc::clone(&hasher) as _;
        let admin = parts.administration(password_hasher);
        let mut manage = management(&parts, &Arc::default());
        let (limiter, postbox) = (Arc::<MemoryRequestLimiter>::default(), Arc::default());
        let service = parts.login.service(outside(limiter, &postbox, &Arc::default()));
        manage.provider_test = manage.provider_test.sending(service.use_cases.send_otp);
        Self { clock, store, hasher, stores, admin, manage, make: Fixtures::seeded(4), postbox }
    }

    pub async fn project(&self) -> ProjectId {
        let project = self.make.project();
        let id = project.id;
        self.stores.projects.create(project, self.make.keys()).await.unwrap();
        id
    }

    pub async fn invite(&self, name: &str, access: Access) -> Invited {
        self.manage.operators.invite(&Requester::command_line(), name, access).await.unwrap()
    }

    pub async fn join(&self, name: &str, access: Access) -> SignedIn {
        let invited = self.invite(name, access).await;
        let secret = invited.secret.expose();
        self.admin.sign_in.follow_link(secret, Some(PASSWORD), Client::default()).await.unwrap()
    }

    /// Signs in by name and password, and by a code if one is given.
    pub async fn sign_in(
        &self,
        name: &str,
        password: &str,
        code: Option<&str>,
    ) -> Result<SignedIn, SignInError> {
        let typed = Credentials { name, password, browser: None };
        let answer = self.admin.sign_in.sign_in(typed, Client::default()).await;
        match (answer, code) {
            (Err(SignInError::CodeNeeded(pending)), Some(code)) => {
                self.enter_code(&pending, code, Client::default()).await
            }
            (answer, _) => answer,
        }
    }

    pub async fn enter_code(
        &self,
        pending: &PendingSignIn,
        code: &str,
        client: Client,
    ) -> Result<SignedIn, SignInError> {
        let typed = TypedCode { pending: pending.expose(), code, browser: None };
        self.admin.sign_in.enter_code(typed, client).await
    }

    /// Signs in from an unknown browser; each number is a different address.
    pub async fn sign_in_from(
        &self,
        number: u32,
        (name, password): (&str, &str),
    ) -> Result<SignedIn, SignInError> {
        let typed = Credentials { name, password, browser: None };
        self.admin.sign_in.sign_in(typed, at(number)).await
    }

    /// Signs in with a browser in which the operator signed in before.
    pub async fn sign_in_at(
        &self,
        before: &SignedIn,
        (name, password): (&str, &str),
    ) -> Result<SignedIn, SignInError> {
        let browser = before.browser.as_ref().map(BrowserToken::expose);
        let typed = Credentials { name, password, browser };
        self.admin.sign_in.sign_in(typed, Client::default()).await
    }

    pub async fn is_in(&self, signed_in: &SignedIn) -> bool {
        self.admin.sign_in.session(signed_in.token.expose()).await.unwrap().is_some()
    }

    /// The code of this secret at the office's time.
    pub fn code(&self, secret: &TotpSecret) -> String {
        secret.code_at(self.clock.now()).expose()
    }

    pub async fn log(&self) -> Vec<AuditEntry> {
        let all = AuditFilter::default();
        self.manage.audit_log.page(&Requester::command_line(), all, None, 1_000).await.unwrap()
    }

    pub async fn actions(&self) -> Vec<Action> {
        self.log().await.into_iter().rev().map(|entry| entry.action).collect()
    }
}
