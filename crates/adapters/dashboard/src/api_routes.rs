use async_trait::async_trait;
use dwar_kernel::ProjectId;

/// The API's own routes, for the playground: the same checks, limits and answers that clients meet.
#[async_trait]
pub trait ApiRoutes: Send + Sync {
    /// Asks the API in the test mode of `project`.
    ///
    /// MUST never reach live mode, whatever the request says.
    ///
    /// # Errors
    /// [`NoAnswer`] if it is no request, or the API did not answer in time.
    async fn call(&self, project: ProjectId, request: ApiRequest) -> Result<ApiAnswer, NoAnswer>;
}

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiRequest {
    pub method: String,
    pub target: String,
    /// JSON, or nothing.
    pub body: Vec<u8>,
}

/// What the API said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiAnswer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// The API said nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the API gave no answer")]
pub struct NoAnswer;
