use crate::body_places::BodyPlaces;
use crate::tasks::Tasks;
use async_trait::async_trait;
use dwar_app::UseCases;
use dwar_wire::{Document, Throttle};
use serde::Serialize;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use utoipa::ToSchema;

/// Reports whether the process can serve requests, for `/readyz` and for every call.
#[async_trait]
pub trait Readiness: Send + Sync {
    /// Whether the stores were migrated. Until then no request may use them.
    fn prepared(&self) -> bool {
        true
    }

    /// The reason why requests are refused although the stores are prepared, as a sentence for
    /// operators.
    fn hindrance(&self) -> Option<String> {
        None
    }

    /// A warning about the clock, as a sentence for operators. Requests are served all the same.
    fn clock(&self) -> Option<String> {
        None
    }

    /// Whether every store answers now.
    async fn ready(&self) -> bool;

    /// The background loops that were restarted, and their state; none by default.
    fn restarted(&self) -> Vec<LoopHealth> {
        Vec::new()
    }
}

/// A background loop that ended when it should not have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct LoopHealth {
    /// Name in the log.
    #[schema(max_length = 64, example = "figures")]
    pub name: &'static str,
    /// How often it was started again since the process began.
    #[schema(minimum = 0, example = 1)]
    pub restarts: u64,
    /// `false` while it waits to be started again.
    #[schema(example = true)]
    pub running: bool,
}

/// The state that all workers of the API share: use cases, tasks and limits.
pub struct Api {
    pub(crate) use_cases: UseCases,
    pub(crate) ready: Arc<dyn Readiness>,
    pub(crate) tasks: Tasks,
    /// Longest time for a body.
    pub(crate) client_timeout: Duration,
    pub(crate) rooms: BodyPlaces,
    pub(crate) throttle: Throttle,
    /// Whether a proxy writes `X-Forwarded-For`.
    pub(crate) behind_proxy: bool,
    /// The OpenAPI document, made at the first request. It needs no key and is shared by all
    /// answers.
    pub(crate) document: OnceLock<Document>,
    pub(crate) stopping: OnceLock<Instant>,
}

impl Api {
    /// Makes `/readyz` answer 503 from now on.
    pub(crate) fn begin_stopping(&self) {
        self.stopping.get_or_init(Instant::now);
    }

    pub(crate) fn stopping_since(&self) -> Option<Instant> {
        self.stopping.get().copied()
    }
}
