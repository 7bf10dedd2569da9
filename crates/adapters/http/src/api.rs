use crate::Settings;
use crate::body::Rooms;
use crate::tasks::Tasks;
use async_trait::async_trait;
use dwar_app::{
    AdmitRequest, Authenticate, DeleteIdentity, FindIdentity, Idempotency, Logout, OtpStatus,
    PublicKeys, ReceiveWebhook, RefreshSession, SandboxMessages, SendOtp, Toolbox, ValidateSession,
    VerifyOtp,
};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;

/// Every use case that a route drives.
#[derive(Clone)]
pub struct UseCases {
    /// Makes request ids.
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
    /// Behind `Idempotency-Key`.
    pub idempotency: Arc<Idempotency>,
    /// `/webhooks/{provider}`.
    pub receive_webhook: Arc<ReceiveWebhook>,
    /// `GET /readyz`.
    pub ready: Arc<dyn Readiness>,
}

/// Tells whether the process can do its work.
#[async_trait]
pub trait Readiness: Send + Sync {
    /// Whether every store answers right now.
    async fn ready(&self) -> bool;
}

/// What all workers share.
pub struct Api {
    pub(crate) use_cases: UseCases,
    pub(crate) tasks: Tasks,
    pub(crate) max_body: usize,
    pub(crate) body_timeout: Duration,
    pub(crate) webhook_rooms: Rooms,
    stopping: OnceLock<Instant>,
}

impl Api {
    /// The shared state of one server; work that must not be cut short runs on `runtime`.
    pub fn new(settings: &Settings, use_cases: UseCases, runtime: Handle) -> Self {
        Self {
            use_cases,
            tasks: Tasks::new(runtime),
            max_body: settings.max_body,
            body_timeout: settings.body_timeout,
            webhook_rooms: Rooms::default(),
            stopping: OnceLock::new(),
        }
    }

    /// Makes `/readyz` answer 503 from here on.
    pub(crate) fn begin_stopping(&self) {
        self.stopping.get_or_init(Instant::now);
    }

    /// When it was asked to stop.
    pub(crate) fn stopping_since(&self) -> Option<Instant> {
        self.stopping.get().copied()
    }
}
