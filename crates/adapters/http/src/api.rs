use crate::rooms::Rooms;
use crate::tasks::Tasks;
use async_trait::async_trait;
use dwar_app::UseCases;
use dwar_wire::{Document, Throttle};
use serde::Serialize;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use utoipa::ToSchema;

/// Tells whether the process can do its work.
#[async_trait]
pub trait Readiness: Send + Sync {
    /// Whether the stores have once been brought up to date; until then no request may use them.
    fn prepared(&self) -> bool {
        true
    }

    /// What keeps requests from being served for now although the stores are prepared, in a sentence for those who run
    /// the service.
    fn hindrance(&self) -> Option<String> {
        None
    }

    /// What those who run the service should know of its clock, in a sentence; requests are served all the same.
    fn clock(&self) -> Option<String> {
        None
    }

    /// Whether every store answers right now.
    async fn ready(&self) -> bool;

    /// The background loops that had to be started again, and their state; none by default.
    fn restarted(&self) -> Vec<LoopHealth> {
        Vec::new()
    }
}

/// A background loop that ended when it should not have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct LoopHealth {
    /// What it is called in the log.
    #[schema(max_length = 64, example = "figures")]
    pub name: &'static str,
    /// How often it was started again since the process began.
    #[schema(minimum = 0, example = 1)]
    pub restarts: u64,
    /// `false` while it waits to be started again.
    #[schema(example = true)]
    pub running: bool,
}

/// What all workers share.
pub struct Api {
    pub(crate) use_cases: UseCases,
    pub(crate) ready: Arc<dyn Readiness>,
    pub(crate) tasks: Tasks,
    /// How long a body may take.
    pub(crate) client_timeout: Duration,
    pub(crate) rooms: Rooms,
    /// What wrong secrets of hooks may cost.
    pub(crate) throttle: Throttle,
    /// Whether `X-Forwarded-For` is written by a proxy.
    pub(crate) behind_proxy: bool,
    /// What describes the API, once somebody has asked; that needs no key, so no answer copies it.
    pub(crate) document: OnceLock<Document>,
    pub(crate) stopping: OnceLock<Instant>,
}

impl Api {
    /// Makes `/readyz` answer 503 from here on.
    pub(crate) fn begin_stopping(&self) {
        self.stopping.get_or_init(Instant::now);
    }

    /// When it was asked to stop.
    pub(crate) fn stopping_since(&self) -> Option<Instant> {
        self.stopping.get().copied()
    }
}
