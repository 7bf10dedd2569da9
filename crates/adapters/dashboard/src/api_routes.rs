use async_trait::async_trait;
use dwar_kernel::ProjectId;

/// The API's own routes, for the playground, with the same checks, limits and answers as for
/// clients.
#[async_trait]
pub trait ApiRoutes: Send + Sync {
    /// Sends a request to the API in the test mode of `project`.
    ///
    /// MUST never reach live mode, whatever the request contains.
    ///
    /// # Errors
    /// [`NoAnswer`] if the request is invalid, or the API did not answer in time.
    async fn call(&self, project: ProjectId, request: ApiRequest) -> Result<ApiAnswer, NoAnswer>;
}

/// A request to the API from the playground.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiRequest {
    pub method: String,
    pub target: String,
    /// JSON, or empty.
    pub body: Vec<u8>,
}

/// The answer of the API: status, headers in order, and body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiAnswer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// The API gave no answer: the request was invalid, or the API too slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the API gave no answer")]
pub struct NoAnswer;
