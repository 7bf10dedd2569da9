use crate::{
    About, AdmitRequest, ApplyReceipts, Authenticate, DeleteIdentity, Deliver, FindIdentity,
    Heartbeat, Idempotency, KeepFigures, Logout, OtpStatus, Policies, ProviderWatch, PublicKeys,
    ReceiveWebhook, RefreshSession, Routes, SandboxMessages, SendOtp, Stores, Sweep, Tally,
    TellEvents, Tokens, Toolbox, ValidateSession, VerifyOtp,
};
use dwar_event::WebhookSender;
use dwar_kernel::KeeperId;
use dwar_otp::{CodeKeys, ReceiptSource};
use dwar_ratelimit::RequestLimiter;
use dwar_session::TokenSigner;
use std::collections::HashMap;
use std::sync::Arc;

/// What the use cases are built from: the same way in the service, in a command and in a test of more
/// than one. A test of a single use case may fill in its ports itself, with mocks.
#[derive(Clone)]
pub struct Parts {
    pub tools: Toolbox,
    pub stores: Stores,
    pub signer: Arc<dyn TokenSigner>,
    pub codes: Arc<CodeKeys>,
    pub policies: Policies,
}

/// What a service needs beside its [`Parts`]: the ways to the world outside.
pub struct Outside {
    pub requests: Arc<dyn RequestLimiter>,
    pub routes: Routes,
    /// Providers that report what became of them.
    pub sources: HashMap<String, Arc<dyn ReceiptSource>>,
    pub sender: Arc<dyn WebhookSender>,
}

/// The whole service: what requests ask for, and what goes on beside them.
pub struct Service {
    pub use_cases: UseCases,
    pub sweep: Arc<Sweep>,
    pub apply_receipts: Arc<ApplyReceipts>,
    pub tell_events: Arc<TellEvents>,
    pub keep_figures: Arc<KeepFigures>,
    /// What requests leave behind for people.
    pub tally: Arc<Tally>,
}

/// Every use case that a request can ask for.
#[derive(Clone)]
pub struct UseCases {
    pub tools: Toolbox,
    pub authenticate: Arc<Authenticate>,
    pub admit_request: Arc<AdmitRequest>,
    pub send_otp: Arc<SendOtp>,
    pub otp_status: Arc<OtpStatus>,
    pub verify_otp: Arc<VerifyOtp>,
    pub validate_session: Arc<ValidateSession>,
    pub refresh_session: Arc<RefreshSession>,
    pub logout: Arc<Logout>,
    pub find_identity: Arc<FindIdentity>,
    pub delete_identity: Arc<DeleteIdentity>,
    pub public_keys: Arc<PublicKeys>,
    pub sandbox_messages: Arc<SandboxMessages>,
    pub receive_webhook: Arc<ReceiveWebhook>,
    pub tally: Arc<Tally>,
}

impl Parts {
    pub(crate) fn tell_events(&self, sender: Arc<dyn WebhookSender>) -> TellEvents {
        let Self { tools, stores, policies, .. } = self.clone();
        TellEvents {
            tools,
            events: stores.events,
            calls: stores.calls,
            sender,
            switch_off: policies.switch_off,
        }
    }

    /// Says that a process runs the service.
    pub fn heartbeat(&self, about: About) -> Heartbeat {
        Heartbeat::new(self.tools.clone(), self.stores.instances.clone(), about)
    }

    /// The whole service, put together.
    pub fn service(&self, outside: Outside) -> Service {
        let Self { tools, stores, policies, .. } = self.clone();
        let Outside { requests, routes, sources, sender } = outside;
        let deliver = Arc::new(Deliver {
            tools: tools.clone(),
            otps: stores.otps,
            projects: stores.projects,
            wallets: stores.wallets,
            sends: stores.sends,
            routes,
            prices: policies.prices,
        });
        let (refusals, key_uses) = (stores.refusals.clone(), stores.key_uses);
        let tally = Arc::new(Tally::new(tools.clone(), refusals, key_uses));
        Service {
            use_cases: self.use_cases(&deliver, &tally, requests.clone(), sources),
            apply_receipts: Arc::new(ApplyReceipts {
                receipts: stores.receipts,
                deliver: deliver.clone(),
                watch: ProviderWatch::new(tools.clone(), stores.events),
            }),
            keep_figures: Arc::new(KeepFigures {
                keeper: KeeperId::new(tools.now(), tools.entropy.as_ref()),
                tools: tools.clone(),
                store: stores.figures,
            }),
            tell_events: Arc::new(self.tell_events(sender)),
            sweep: Arc::new(Sweep {
                deliver,
                sessions: stores.sessions,
                requests,
                idempotency: stores.idempotency,
                test_quota: stores.test_quota,
                operators: stores.operators,
                admin_tokens: stores.admin_tokens,
                audit: stores.audit,
                searches: stores.searches,
                calls: stores.calls,
                refusals: stores.refusals,
                retention: policies.retention,
            }),
            tally,
        }
    }

    fn use_cases(
        &self,
        deliver: &Arc<Deliver>,
        tally: &Arc<Tally>,
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
            authenticate: Arc::new(Authenticate {
                tools: tools(),
                projects: projects(),
                sessions: sessions(),
                signer: signer(),
            }),
            admit_request: Arc::new(AdmitRequest { tools: tools(), limiter, limits }),
            send_otp: Arc::new(SendOtp {
                idempotency: Idempotency {
                    tools: tools(),
                    store: stores.idempotency.clone(),
                    lifetimes: policies.idempotency,
                },
                deliver: deliver.clone(),
                codes: codes.clone(),
                policy: policies.otp,
                limits,
                tally: tally.clone(),
            }),
            otp_status: Arc::new(OtpStatus { otps: otps() }),
            verify_otp: Arc::new(VerifyOtp {
                tools: tools(),
                otps: otps(),
                sessions: sessions(),
                tokens: tokens.clone(),
                codes: codes.clone(),
                limits,
            }),
            validate_session: Arc::new(ValidateSession { tools: tools(), signer: signer() }),
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
            tally: tally.clone(),
        }
    }
}
