use crate::{
    AdmitRequest, ApplyReceipts, Authenticate, DeleteIdentity, Deliver, FindIdentity, Idempotency,
    Limits, Logout, ManageEndpoints, ManageProjects, ManageSigningKeys, ManageWallets, OtpPolicy,
    OtpStatus, PriceList, ProviderWatch, PublicKeys, ReceiveWebhook, RecordReceipt, RefreshSession,
    Retention, Routes, SandboxMessages, SendOtp, SessionPolicy, SigningKeyPolicy, Stores, Sweep,
    TellEvents, Tokens, Toolbox, UnlockPhone, ValidateSession, VerifyOtp,
};
use dwar_event::{SwitchOff, WebhookSender};
use dwar_otp::idempotency::Lifetimes;
use dwar_otp::{CodeKeys, ReceiptSource};
use dwar_ratelimit::RequestLimiter;
use dwar_session::TokenSigner;
use std::collections::HashMap;
use std::sync::Arc;

/// What the use cases are built from. Nobody else builds them, so each is built the same way in the
/// service, in a command and in a test.
#[derive(Clone)]
pub struct Parts {
    pub tools: Toolbox,
    pub stores: Stores,
    /// Signs and checks access tokens.
    pub signer: Arc<dyn TokenSigner>,
    pub codes: Arc<CodeKeys>,
    /// What was decided for this installation.
    pub policies: Policies,
}

/// Every number and choice that the use cases go by.
#[derive(Clone)]
pub struct Policies {
    /// How often callers may ask.
    pub limits: Limits,
    /// How long codes live.
    pub otp: OtpPolicy,
    /// How long sessions and tokens live.
    pub session: SessionPolicy,
    /// How signing keys overlap.
    pub signing_keys: SigningKeyPolicy,
    pub prices: PriceList,
    /// How long first answers count.
    pub idempotency: Lifetimes,
    /// When an endpoint that keeps failing is switched off; `None` is never.
    pub switch_off: Option<SwitchOff>,
    /// How long rows are kept.
    pub retention: Retention,
}

/// What a service needs beside its [`Parts`]: the ways to the world outside.
pub struct Outside {
    pub requests: Arc<dyn RequestLimiter>,
    /// Providers that carry messages.
    pub routes: Routes,
    /// Providers that report what became of them.
    pub sources: HashMap<String, Arc<dyn ReceiptSource>>,
    pub sender: Arc<dyn WebhookSender>,
}

/// The whole service: what requests ask for, and what goes on beside them.
pub struct Service {
    /// What requests ask for.
    pub use_cases: UseCases,
    /// Finishes what nobody else does.
    pub sweep: Arc<Sweep>,
    /// Applies what providers have reported.
    pub apply_receipts: Arc<ApplyReceipts>,
    /// Tells endpoints what happened.
    pub tell_events: Arc<TellEvents>,
}

/// Every use case that a request can ask for.
#[derive(Clone)]
pub struct UseCases {
    pub tools: Toolbox,
    /// Behind `X-Api-Key`.
    pub authenticate: Arc<Authenticate>,
    /// Behind the request limits.
    pub admit_request: Arc<AdmitRequest>,
    /// `POST /v1/otp/send`.
    pub send_otp: Arc<SendOtp>,
    /// `GET /v1/otp/status/{otp_id}`.
    pub otp_status: Arc<OtpStatus>,
    /// `POST /v1/otp/verify`.
    pub verify_otp: Arc<VerifyOtp>,
    /// `POST /v1/session/validate`.
    pub validate_session: Arc<ValidateSession>,
    /// `POST /v1/session/refresh`.
    pub refresh_session: Arc<RefreshSession>,
    /// `POST /v1/session/logout`.
    pub logout: Arc<Logout>,
    /// `GET /v1/identity…`.
    pub find_identity: Arc<FindIdentity>,
    /// `DELETE /v1/identity/{id}`.
    pub delete_identity: Arc<DeleteIdentity>,
    /// `GET /.well-known/jwks.json`.
    pub public_keys: Arc<PublicKeys>,
    /// `GET /v1/sandbox/messages`.
    pub sandbox_messages: Arc<SandboxMessages>,
    /// `/webhooks/{provider}`.
    pub receive_webhook: Arc<ReceiveWebhook>,
}

impl Parts {
    /// Creates and changes projects.
    pub fn manage_projects(&self) -> ManageProjects {
        let Self { tools, stores, .. } = self.clone();
        ManageProjects { tools, projects: stores.projects, wallets: stores.wallets }
    }

    /// Pays in and looks into wallets.
    pub fn manage_wallets(&self) -> ManageWallets {
        let Self { tools, stores, .. } = self.clone();
        ManageWallets { tools, projects: stores.projects, wallets: stores.wallets }
    }

    /// Names the addresses that events go to.
    pub fn manage_endpoints(&self, sender: Arc<dyn WebhookSender>) -> ManageEndpoints {
        let Self { tools, stores, .. } = self.clone();
        ManageEndpoints { tools, projects: stores.projects, events: stores.events, sender }
    }

    /// Makes and rotates signing keys.
    pub fn manage_signing_keys(&self) -> ManageSigningKeys {
        let Self { tools, stores, signer, policies, .. } = self.clone();
        ManageSigningKeys {
            tools,
            keys: stores.signing_keys,
            signer,
            policy: policies.signing_keys,
        }
    }

    /// Lifts the limits of a phone.
    pub fn unlock_phone(&self) -> UnlockPhone {
        let Self { tools, stores, policies, .. } = self.clone();
        UnlockPhone { tools, projects: stores.projects, otps: stores.otps, limits: policies.limits }
    }

    /// Puts the whole service together.
    pub fn service(&self, outside: Outside) -> Service {
        let Self { tools, stores, policies, .. } = self.clone();
        let Outside { requests, routes, sources, sender } = outside;
        let deliver = Arc::new(Deliver {
            tools: tools.clone(),
            otps: stores.otps.clone(),
            wallets: stores.wallets.clone(),
            sends: stores.sends.clone(),
            routes,
            prices: policies.prices,
        });
        Service {
            use_cases: self.use_cases(&deliver, requests.clone(), sources),
            apply_receipts: Arc::new(ApplyReceipts {
                tools: tools.clone(),
                receipts: stores.receipts,
                record: RecordReceipt {
                    otps: stores.otps.clone(),
                    projects: stores.projects.clone(),
                    deliver: deliver.clone(),
                },
                watch: ProviderWatch::new(tools.clone(), stores.events.clone()),
            }),
            tell_events: Arc::new(TellEvents {
                tools: tools.clone(),
                events: stores.events,
                sender,
                switch_off: policies.switch_off,
            }),
            sweep: Arc::new(Sweep {
                tools,
                otps: stores.otps,
                projects: stores.projects,
                wallets: stores.wallets,
                sessions: stores.sessions,
                sends: stores.sends,
                requests,
                idempotency: stores.idempotency,
                test_quota: stores.test_quota,
                deliver,
                retention: policies.retention,
            }),
        }
    }

    fn use_cases(
        &self,
        deliver: &Arc<Deliver>,
        limiter: Arc<dyn RequestLimiter>,
        sources: HashMap<String, Arc<dyn ReceiptSource>>,
    ) -> UseCases {
        let Self { tools, stores, signer, codes, policies } = self;
        let (tools, limits) = (|| tools.clone(), policies.limits);
        let (projects, otps) = (|| stores.projects.clone(), || stores.otps.clone());
        let (identities, sessions) = (|| stores.identities.clone(), || stores.sessions.clone());
        let signer = || signer.clone();
        let tokens = Tokens { tools: tools(), signer: signer(), policy: policies.session };
        UseCases {
            tools: tools(),
            authenticate: Arc::new(Authenticate { tools: tools(), projects: projects() }),
            admit_request: Arc::new(AdmitRequest { tools: tools(), limiter, limits }),
            send_otp: Arc::new(SendOtp {
                tools: tools(),
                idempotency: Idempotency {
                    tools: tools(),
                    store: stores.idempotency.clone(),
                    lifetimes: policies.idempotency,
                },
                otps: otps(),
                sends: stores.sends.clone(),
                wallets: stores.wallets.clone(),
                deliver: deliver.clone(),
                codes: codes.clone(),
                policy: policies.otp,
                limits,
            }),
            otp_status: Arc::new(OtpStatus { otps: otps() }),
            verify_otp: Arc::new(VerifyOtp {
                tools: tools(),
                otps: otps(),
                identities: identities(),
                sessions: sessions(),
                tokens: tokens.clone(),
                codes: codes.clone(),
                limits,
            }),
            validate_session: Arc::new(ValidateSession {
                tools: tools(),
                signer: signer(),
                sessions: sessions(),
            }),
            refresh_session: Arc::new(RefreshSession { sessions: sessions(), tokens }),
            logout: Arc::new(Logout { tools: tools(), signer: signer(), sessions: sessions() }),
            find_identity: Arc::new(FindIdentity { tools: tools(), identities: identities() }),
            delete_identity: Arc::new(DeleteIdentity { tools: tools(), identities: identities() }),
            public_keys: Arc::new(PublicKeys { tools: tools(), signer: signer() }),
            sandbox_messages: Arc::new(SandboxMessages {
                tools: tools(),
                inbox: stores.inbox.clone(),
            }),
            receive_webhook: Arc::new(ReceiveWebhook {
                tools: tools(),
                sources,
                receipts: stores.receipts.clone(),
            }),
        }
    }
}
