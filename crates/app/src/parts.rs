use crate::{
    AdmitRequest, ApplyReceipts, Authenticate, ClockSetBack, CommonPorts, CreateProject,
    DeleteIdentity, Deliver, EndpointPauses, FindIdentity, Guard, HookFormats, Idempotency,
    KnownDevices, ListEvents, Logout, OtpStatus, Policies, ProjectIssuer, ProviderWatch,
    PublicKeys, ReceiveHook, ReceiveWebhook, RefreshSession, RelayOtp, Routes, SandboxMessages,
    SendOtp, SigningKeys, Stores, Sweep, TellEvents, Tokens, UsageRecorder, ValidateSession,
    VerifyOtp,
};
use dwar_event::{DisablePolicy, WebhookSender};
use dwar_otp::idempotency::Lifetimes;
use dwar_otp::{CodeKeys, ReceiptSource};
use dwar_ratelimit::RequestLimiter;
use dwar_session::TokenSigner;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// Everything that the use cases are built from, in the same way in the service, in a command and in a test
/// of several use cases. A test of a single use case may fill in its ports itself, with mocks.
#[derive(Clone)]
pub struct Parts {
    pub tools: CommonPorts,
    pub stores: Stores,
    pub signer: Arc<dyn TokenSigner>,
    /// The present secret for code digests, and older ones.
    pub codes: Arc<CodeKeys>,
    /// Every number that the use cases depend on.
    pub policies: Policies,
}

/// What a service needs besides its [`Parts`]: its connections to the outside.
pub struct ExternalPorts {
    pub requests: Arc<dyn RequestLimiter>,
    pub routes: Routes,
    pub sources: HashMap<String, Arc<dyn ReceiptSource>>,
    pub hook_formats: HookFormats,
    pub sender: Arc<dyn WebhookSender>,
}

/// The whole service: use cases of requests, and background work.
pub struct Service {
    pub use_cases: UseCases,
    /// Finishes what a crash left open, and deletes expired rows.
    pub sweep: Arc<Sweep>,
    pub clock_set_back: Arc<ClockSetBack>,
    pub apply_receipts: Arc<ApplyReceipts>,
    pub tell_events: Arc<TellEvents>,
    pub usage_recorder: Arc<UsageRecorder>,
    pub guard: Arc<Guard>,
}

/// Every use case that a request can call.
#[derive(Clone)]
pub struct UseCases {
    /// Clock and entropy, for time stamps and request ids.
    pub tools: CommonPorts,
    pub authenticate: Arc<Authenticate>,
    /// Counts requests against the limits of their key.
    pub admit_request: Arc<AdmitRequest>,
    pub send_otp: Arc<SendOtp>,
    pub relay_otp: Arc<RelayOtp>,
    pub otp_status: Arc<OtpStatus>,
    pub verify_otp: Arc<VerifyOtp>,
    pub validate_session: Arc<ValidateSession>,
    pub refresh_session: Arc<RefreshSession>,
    pub logout: Arc<Logout>,
    pub find_identity: Arc<FindIdentity>,
    pub delete_identity: Arc<DeleteIdentity>,
    pub list_events: Arc<ListEvents>,
    pub project_issuer: Arc<ProjectIssuer>,
    pub public_keys: Arc<PublicKeys>,
    pub sandbox_messages: Arc<SandboxMessages>,
    pub receive_hook: Arc<ReceiveHook>,
    pub receive_webhook: Arc<ReceiveWebhook>,
    /// Counts refused sends, and records which keys were used.
    pub usage_recorder: Arc<UsageRecorder>,
}

impl Parts {
    /// The use case that creates projects with their keys.
    pub fn create_project(&self) -> CreateProject {
        let Self { tools, stores, .. } = self.clone();
        CreateProject { tools, projects: stores.projects, wallets: stores.wallets }
    }

    /// The use case for signing keys; a service MUST have a signing key before it serves.
    pub fn signing_keys(&self) -> SigningKeys {
        let Self { tools, stores, signer, policies, .. } = self.clone();
        SigningKeys { tools, keys: stores.signing_keys, signer, policy: policies.signing_keys() }
    }

    /// The use case that delivers events to endpoints.
    pub fn tell_events(&self, sender: Arc<dyn WebhookSender>) -> TellEvents {
        let Self { tools, stores, .. } = self.clone();
        TellEvents {
            tools,
            events: stores.events,
            calls: stores.calls,
            sender,
            disable_policy: Some(DisablePolicy::default()),
            resting: EndpointPauses::default(),
        }
    }

    /// Builds the whole service, with its connections to the outside.
    pub fn service(&self, outside: ExternalPorts) -> Service {
        let Self { tools, stores, policies, .. } = self.clone();
        let ExternalPorts { requests, routes, sources, hook_formats, sender } = outside;
        let deliver = Arc::new(Deliver {
            tools: tools.clone(),
            logins: stores.logins,
            otps: stores.otps,
            projects: stores.projects,
            wallets: stores.wallets,
            sends: stores.sends,
            routes,
            prices: policies.prices,
        });
        let (refusals, key_uses) = (stores.refusals.clone(), stores.key_uses);
        let usage_recorder = Arc::new(UsageRecorder::new(tools.clone(), refusals, key_uses));
        let guard =
            Arc::new(Guard::new(tools.clone(), stores.guard.clone(), stores.events.clone()));
        Service {
            use_cases: self.use_cases(
                &deliver,
                (&usage_recorder, &guard),
                requests.clone(),
                (sources, hook_formats),
                sender.clone(),
            ),
            clock_set_back: Arc::new(ClockSetBack {
                tools: tools.clone(),
                otps: deliver.otps.clone(),
                receipts: stores.receipts.clone(),
                events: stores.events.clone(),
                lease: policies.lease(),
                longest_wait: policies.longest_receipt_window(),
                done: AtomicU64::new(0),
            }),
            apply_receipts: Arc::new(ApplyReceipts {
                receipts: stores.receipts,
                deliver: deliver.clone(),
                watch: ProviderWatch::new(tools.clone(), stores.events),
            }),
            tell_events: Arc::new(self.tell_events(sender)),
            sweep: Arc::new(Sweep {
                deliver,
                sessions: stores.sessions,
                requests,
                idempotency: stores.idempotency,
                test_quota: stores.test_quota,
                calls: stores.calls,
                feed: stores.feed,
                refusals: stores.refusals,
                guard: stores.guard,
                retention: policies.retention(),
            }),
            usage_recorder,
            guard,
        }
    }

    fn use_cases(
        &self,
        deliver: &Arc<Deliver>,
        (usage_recorder, guard): (&Arc<UsageRecorder>, &Arc<Guard>),
        limiter: Arc<dyn RequestLimiter>,
        (sources, formats): (HashMap<String, Arc<dyn ReceiptSource>>, HookFormats),
        sender: Arc<dyn WebhookSender>,
    ) -> UseCases {
        let Self { tools, stores, signer, codes, policies } = self;
        let (tools, limits) = (|| tools.clone(), policies.limits);
        let (projects, otps) = (|| stores.projects.clone(), || stores.otps.clone());
        let (identities, sessions) = (|| stores.identities.clone(), || stores.sessions.clone());
        let signer = || signer.clone();
        let (inbox, receipts) = (stores.inbox.clone(), stores.receipts.clone());
        let tokens = Tokens { tools: tools(), signer: signer(), policy: policies.session };
        let send_otp = self.send_otp(deliver, usage_recorder, guard);
        let admit_request = Arc::new(AdmitRequest {
            tools: tools(),
            limiter,
            limits,
            usage_recorder: usage_recorder.clone(),
        });
        let public_keys = Arc::new(PublicKeys { tools: tools(), signer: signer() });
        let relay_otp = Arc::new(RelayOtp { sends: send_otp.clone() });
        UseCases {
            tools: tools(),
            authenticate: Arc::new(self.authenticate()),
            receive_hook: Arc::new(ReceiveHook {
                tools: tools(),
                hooks: stores.hooks.clone(),
                formats,
                admit_request: admit_request.clone(),
                relay: relay_otp.clone(),
            }),
            admit_request,
            relay_otp,
            send_otp,
            otp_status: Arc::new(OtpStatus { otps: otps() }),
            verify_otp: Arc::new(VerifyOtp {
                tools: tools(),
                logins: deliver.logins.clone(),
                tokens: tokens.clone(),
                codes: codes.clone(),
                devices: self.known_devices(),
                limits,
                guard: guard.clone(),
            }),
            validate_session: Arc::new(ValidateSession { tools: tools(), signer: signer() }),
            refresh_session: Arc::new(RefreshSession { sessions: sessions(), tokens }),
            logout: Arc::new(Logout { tools: tools(), signer: signer(), sessions: sessions() }),
            find_identity: Arc::new(FindIdentity { tools: tools(), identities: identities() }),
            delete_identity: Arc::new(DeleteIdentity { tools: tools(), identities: identities() }),
            list_events: Arc::new(ListEvents { tools: tools(), feed: stores.feed.clone(), sender }),
            project_issuer: Arc::new(ProjectIssuer {
                projects: projects(),
                keys: public_keys.clone(),
                installation: policies.issuer.clone(),
            }),
            public_keys,
            sandbox_messages: Arc::new(SandboxMessages { tools: tools(), inbox }),
            receive_webhook: Arc::new(ReceiveWebhook { tools: tools(), sources, receipts }),
            usage_recorder: usage_recorder.clone(),
        }
    }

    fn known_devices(&self) -> KnownDevices {
        KnownDevices {
            tools: self.tools.clone(),
            identities: self.stores.identities.clone(),
            limits: self.policies.limits,
        }
    }

    fn authenticate(&self) -> Authenticate {
        Authenticate {
            tools: self.tools.clone(),
            projects: self.stores.projects.clone(),
            sessions: self.stores.sessions.clone(),
            signer: self.signer.clone(),
        }
    }

    fn send_otp(
        &self,
        deliver: &Arc<Deliver>,
        usage_recorder: &Arc<UsageRecorder>,
        guard: &Arc<Guard>,
    ) -> Arc<SendOtp> {
        Arc::new(SendOtp {
            idempotency: Idempotency {
                tools: self.tools.clone(),
                store: self.stores.idempotency.clone(),
                lifetimes: Lifetimes::default(),
            },
            deliver: deliver.clone(),
            codes: self.codes.clone(),
            devices: self.known_devices(),
            lifetime: self.policies.code_lifetime,
            limits: self.policies.limits,
            usage_recorder: usage_recorder.clone(),
            guard: guard.clone(),
        })
    }
}
