use crate::{ClearVault, SeededEntropy};
use dwar_event::{Endpoint, EndpointCall, EventKind, SendFailure};
use dwar_kernel::{
    AttemptId, BlindIndex, Digest, EndpointId, Entropy, EntryId, GuessPolicy, IdentityId,
    KeptSecret, KeyMode, Phone, PriceList, ProjectId, ProjectMode, Purpose, Sealed, Timestamp,
    Vault,
};
use dwar_login::{Cost, NewSend, Redemption, SendReport};
use dwar_operator::{
    Access, Action, Actor, AdminToken, AuditEntry, Client, LinkKind, OneTimeLink, Operator,
    OperatorSession, PasswordHash,
};
use dwar_otp::idempotency::{IdempotencyRecord, IdempotencySlot};
use dwar_otp::sandbox::InboxMessage;
use dwar_otp::{
    Channel, Code, CodeKeys, Delivery, Guess, Hop, KeptReceipt, Otp, OtpState, Receipt, Report,
    Route,
};
use dwar_project::{ApiKey, Hook, HookKind, KeyRecord, NewProject, ProjectRules};
use dwar_ratelimit::{Quota, SendKey, SendQuota};
use dwar_session::{
    Algorithm, CurrentAccess, Login, PresentedRefreshToken, Rotations, Session, SigningKey,
    Successor,
};
use dwar_wallet::{Credit, Paise};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// Time of all fixtures: an instant with a fraction, so that a store that loses the fraction is noticed.
pub const START: Timestamp = match Timestamp::from_timestamp_millis(1_800_000_000_123) {
    Some(start) => start,
    None => Timestamp::UNIX_EPOCH,
};
pub const MS: Duration = Duration::from_millis(1);
/// The code of every OTP that a fixture makes, unless a test names another.
pub const CODE: &str = "123456";
pub const WRONG_CODE: &str = "000000";
/// Prices in every report that a fixture makes.
pub const PRICES: PriceList = PriceList { whatsapp: Paise(30), sms: Paise(20) };

pub const fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

pub const fn minutes(count: u64) -> Duration {
    Duration::from_secs(count * 60)
}

pub fn any_project() -> ProjectRules {
    Arc::new(|_| Vec::new())
}

/// The phone number `9` and nine digits that end in `number`; below 10⁹.
pub fn phone(number: u32) -> Phone {
    format!("9{number:09}").parse().expect("a number below 10^9")
}

#[derive(Clone, Debug)]
pub struct Line {
    pub project_mode: ProjectMode,
    pub phone: Phone,
    pub index: BlindIndex,
}

impl Line {
    /// The key under which its sends are counted.
    pub const fn send_key(&self) -> SendKey {
        SendKey { project_mode: self.project_mode, phone: self.index }
    }
}

/// Makes domain values with sensible defaults at [`START`]; every field is public, so that a test changes
/// only the values that matter to it.
#[derive(Debug)]
pub struct Fixtures {
    pub entropy: SeededEntropy,
    pub vault: ClearVault,
    pub codes: Arc<CodeKeys>,
}

impl Fixtures {
    pub fn seeded(seed: u64) -> Self {
        let codes = Arc::new(CodeKeys::new([7; 32], []));
        Self { entropy: SeededEntropy::new(seed), vault: ClearVault, codes }
    }

    /// Fixtures with random ids, for a database that several tests, processes or runs share.
    pub fn random() -> Self {
        Self::seeded(RandomState::new().hash_one(START))
    }

    pub fn id<I: From<Uuid>>(&self) -> I {
        self.id_at(START)
    }

    pub fn id_at<I: From<Uuid>>(&self, now: Timestamp) -> I {
        self.entropy.uuid(now).into()
    }

    pub fn digest(&self) -> Digest {
        let mut bytes = [0; 32];
        self.entropy.fill(&mut bytes);
        Digest(bytes)
    }

    pub fn sealed(&self) -> Sealed {
        Sealed(self.digest().0.to_vec())
    }

    /// A new phone in a project and mode.
    pub fn line(&self, project_mode: ProjectMode) -> Line {
        let mut bytes = [0; 4];
        self.entropy.fill(&mut bytes);
        let phone = phone(u32::from_le_bytes(bytes) % 1_000_000_000);
        let index = self.vault.phone_index(project_mode, &phone);
        Line { project_mode, phone, index }
    }

    /// A project that is not on record yet.
    pub fn project(&self) -> NewProject {
        NewProject { id: self.id(), name: "Chai & Co".to_owned(), created_at: START }
    }

    pub fn key(&self, mode: KeyMode) -> KeyRecord {
        ApiKey::generate(mode, &self.entropy).record(self.id(), &self.vault, START)
    }

    pub fn keys(&self) -> [KeyRecord; 2] {
        [self.key(KeyMode::Live), self.key(KeyMode::Test)]
    }

    /// WhatsApp, then SMS; 20 s for a receipt, 30 s for a provider.
    pub fn route(&self) -> Route {
        let hop = |channel, provider: &str| Hop::new(channel, provider);
        Route {
            hops: vec![hop(Channel::Whatsapp, "meta"), hop(Channel::Sms, "msg91")],
            receipt_window: Some(seconds(20)),
            lease: seconds(30),
        }
    }

    /// A request for [`CODE`] at [`START`], valid for ten minutes and five guesses.
    pub fn otp(&self, line: &Line) -> Otp {
        self.otp_with(line, CODE, START)
    }

    /// A request for `code` at `now`, valid for ten minutes and five guesses.
    pub fn otp_with(&self, line: &Line, code: &str, now: Timestamp) -> Otp {
        let id = self.id_at(now);
        let code: Code = code.parse().expect("six digits");
        let binding = Otp::binding_of(line.project_mode, id, &line.index);
        let context = id.uuid();
        let sealed_code =
            self.vault.seal(Purpose::Code, context.as_bytes(), code.expose().as_bytes());
        Otp {
            id,
            project_mode: line.project_mode,
            phone: line.index,
            sealed_phone: self.vault.seal_phone(line.project_mode.project, &line.phone),
            code: self.codes.digest(&binding, &code),
            sealed_code: Some(sealed_code),
            state: OtpState::Active,
            wrong: 0,
            max_wrong: 5,
            device_only: false,
            guard: None,
            guesses: Vec::new(),
            created_at: now,
            expires_at: now + minutes(10),
            delivery: Delivery::begin(&self.route(), self.id(), now),
        }
    }

    /// A send to this phone, made by [`Fixtures::new_send_of`].
    pub fn new_send(&self, line: &Line) -> NewSend {
        self.new_send_of(self.otp(line))
    }

    /// A send of this request, free of charge and with plenty of places.
    pub fn new_send_of(&self, otp: Otp) -> NewSend {
        let places = Quota { limit: 1_000_000, window: minutes(10) };
        let quota = SendQuota { places, reach: None };
        let (guesses, cost) = (GuessPolicy::OFF, Cost::Nothing);
        let (guard, day, entry) = (None, None, self.id());
        NewSend { otp, by_device: false, quota, guesses, cost, guard, day, entry }
    }

    /// A report on an attempt of [`Fixtures::route`], at [`PRICES`].
    pub fn send_report(&self, attempt: AttemptId, report: Report) -> SendReport {
        let (route, next, entries) = (self.route(), self.id(), [self.id(), self.id()]);
        SendReport { attempt, report, route, next, prices: PRICES, entries }
    }

    /// A guess at the code of a phone, with a login if it is right.
    pub fn redemption(&self, line: &Line, code: &str) -> Redemption {
        let login = Some(self.login(line));
        Redemption { login, ..self.check(line, code) }
    }

    /// A guess at the code of a phone, without a login.
    pub fn check(&self, line: &Line, code: &str) -> Redemption {
        let Line { project_mode, index: phone, .. } = *line;
        let (guess, policy) = (self.guess(code), GuessPolicy::OFF);
        Redemption { project_mode, phone, guess, policy, login: None }
    }

    pub fn guess(&self, code: &str) -> Guess {
        Guess::new(code.parse().expect("six digits"), Arc::clone(&self.codes))
    }

    pub fn message(&self, otp: &Otp, at: Timestamp) -> InboxMessage {
        let (otp, phone) = (otp.id, otp.phone);
        InboxMessage { otp, phone, channel: Channel::Whatsapp, content: self.sealed(), at }
    }

    /// A login of this phone at [`START`], with a new identity if the phone has none.
    pub fn login(&self, line: &Line) -> Login {
        self.login_of(line, self.session(line, self.id()))
    }

    /// A login of this phone that begins this session.
    pub fn login_of(&self, line: &Line, session: Session) -> Login {
        let sealed_phone = self.vault.seal_phone(line.project_mode.project, &line.phone);
        Login { session, phone: line.index, sealed_phone }
    }

    /// A new session: access 15 minutes, refresh 30 days, 90 days in all.
    pub fn session(&self, line: &Line, identity: IdentityId) -> Session {
        Session {
            id: self.id(),
            project_mode: line.project_mode,
            identity,
            created_at: START,
            expires_at: START + days(90),
            refresh: self.digest(),
            generation: 0,
            refresh_expires_at: START + days(30),
            access: self.access(START),
            rotations: Rotations::default(),
            replay: None,
            revoked_at: None,
        }
    }

    pub fn access(&self, now: Timestamp) -> CurrentAccess {
        let issued_at = Timestamp::from_timestamp(now.timestamp(), 0).expect("a valid instant");
        CurrentAccess { token: self.id(), issued_at, expires_at: issued_at + minutes(15) }
    }

    /// The session's current refresh token, without an `Idempotency-Key`.
    pub const fn presented(&self, session: &Session) -> PresentedRefreshToken {
        PresentedRefreshToken {
            generation: session.generation,
            refresh: session.refresh,
            key: None,
        }
    }

    /// A new pair to replace the session's current one.
    pub fn successor(&self, session: &Session, now: Timestamp) -> Successor {
        Successor {
            refresh: self.digest(),
            refresh_expires_at: session.refresh_end(days(30), now),
            access: self.access(now),
            replay: None,
        }
    }

    /// A key that is published and signs from [`START`] on.
    pub fn signing_key(&self) -> SigningKey {
        SigningKey {
            kid: self.id::<Uuid>().to_string(),
            algorithm: Algorithm::Es256,
            private: self.sealed(),
            created_at: START,
            signs_from: START,
            signs_until: None,
            published_until: None,
        }
    }

    pub fn credit(&self, amount: Paise) -> Credit {
        let id: EntryId = self.id();
        let amount = amount.0.try_into().expect("an amount");
        Credit { id, amount, reference: id.into() }
    }

    /// A report of "meta" on a new message, received at [`START`].
    pub fn receipt(&self, report: Report) -> KeptReceipt {
        let id = self.id();
        let (provider, provider_ref) = ("meta".to_owned(), format!("wamid.{id}"));
        KeptReceipt { id, receipt: Receipt { provider, provider_ref, report }, received_at: START }
    }

    /// A successful call to an endpoint that took no time.
    pub fn call(&self, endpoint: EndpointId, event: &str) -> EndpointCall {
        EndpointCall {
            id: self.id(),
            endpoint,
            event: event.to_owned(),
            kind: EventKind::OtpSent,
            number: 1,
            at: START,
            took: Duration::ZERO,
            outcome: Ok(204),
            again: None,
        }
    }

    /// Like [`Fixtures::call`], answered with a 500; `again` is the time of the next attempt.
    pub fn failed_call(
        &self,
        endpoint: EndpointId,
        event: &str,
        again: Option<Timestamp>,
    ) -> EndpointCall {
        let outcome = Err(SendFailure::Status(500));
        EndpointCall { outcome, again, ..self.call(endpoint, event) }
    }

    /// An endpoint that gets masked numbers and has had one secret so far.
    pub fn endpoint(&self, project: ProjectId) -> Endpoint {
        let id = self.id();
        Endpoint {
            id,
            project,
            url: format!("https://events.example.com/{id}"),
            full_phone: false,
            secret: KeptSecret::first(self.sealed()),
            created_at: START,
            failing: None,
            disabled_at: None,
        }
    }

    /// A live hook of Supabase, for codes with a lifetime of five minutes.
    pub fn hook(&self, project: ProjectId) -> Hook {
        Hook {
            id: self.id(),
            project_mode: project.in_mode(KeyMode::Live),
            kind: HookKind::Supabase,
            lifetime: Duration::from_secs(300),
            mfa_lifetime: Some(Duration::from_secs(240)),
            secret: KeptSecret::first(self.sealed()),
            created_at: START,
        }
    }

    /// An owner of the installation with a password and a unique name.
    pub fn operator(&self) -> Operator {
        let id = self.id();
        Operator {
            id,
            name: format!("Asha {id}").parse().expect("a name"),
            access: Access::everything(),
            password: Some(PasswordHash::new("$right")),
            totp: None,
            created_at: START,
            signed_in_at: None,
        }
    }

    /// A link for choosing a password, valid for three days.
    pub fn link(&self, operator: &Operator) -> OneTimeLink {
        OneTimeLink {
            digest: self.digest(),
            operator: operator.id,
            kind: LinkKind::Password,
            made_at: START,
            expires_at: START + OneTimeLink::INVITE,
        }
    }

    /// A session of the operator that begins at `now`, with an address and a browser.
    pub fn operator_session(&self, operator: &Operator, now: Timestamp) -> OperatorSession {
        let device = Some("Chrome on Windows".parse().unwrap());
        let client = Client { address: Some([192, 0, 2, 7].into()), device };
        OperatorSession::begin(self.digest(), operator.id, client, now)
    }

    /// A token of the admin API for one day, never used.
    pub fn admin_token(&self) -> AdminToken {
        AdminToken {
            id: self.id(),
            digest: self.digest(),
            name: "deploy".to_owned(),
            access: Access::everything(),
            may_delegate: false,
            made_by: "Asha".to_owned(),
            made_at: START,
            expires_at: START + days(1),
            used_at: None,
            used_from: None,
        }
    }

    pub fn audit_entry(&self, project: ProjectId, at: Timestamp) -> AuditEntry {
        AuditEntry {
            id: self.id(),
            at,
            actor: Actor::Operator { id: self.id(), name: "Asha".to_owned() },
            from: Some("2001:db8::7".parse().expect("an address")),
            project: Some(project),
            action: Action::ProjectChanged,
            subject: "Chai & Co".to_owned(),
            before: Some(r#"{"name":"Chai"}"#.to_owned()),
            after: Some(r#"{"name":"Chai & Co"}"#.to_owned()),
        }
    }

    /// A slot of a new key in the line's project and mode.
    pub fn slot(&self, line: &Line) -> IdempotencySlot {
        IdempotencySlot { project_mode: line.project_mode, route: "otp/send", key: self.digest() }
    }

    /// A request about the line's phone that just began.
    pub fn record(&self, line: &Line) -> IdempotencyRecord {
        IdempotencyRecord {
            fingerprint: self.digest(),
            phone: line.index,
            began_at: START,
            answer: None,
        }
    }
}

const fn days(count: u64) -> Duration {
    Duration::from_secs(count * 86_400)
}
