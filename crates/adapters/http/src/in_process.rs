use crate::api::Api;
use crate::caller::InProcessProject;
use crate::routes::app;
use actix_http::Request;
use actix_service::{IntoServiceFactory, Service, ServiceFactory};
use actix_web::HttpMessage;
use actix_web::body;
use actix_web::dev::{AppConfig, Payload};
use actix_web::http::header::{self, HeaderValue};
use actix_web::http::{Method, Uri};
use actix_web::web::{Bytes, Data};
use dwar_kernel::ProjectId;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::LocalSet;
use tokio::time::timeout;

/// Most requests in progress; as many may wait.
const AT_ONCE: usize = 16;
/// Longer than any send with the sandbox, which answers at once.
const PATIENCE: Duration = Duration::from_secs(10);

/// The API without a socket. Requests go through the same routes, limits and error table as those
/// of clients, in the test mode of a project that the caller has authorized. Live mode and API keys
/// are not available.
///
/// The routes run on a separate thread, which ends when the last clone is dropped.
#[derive(Clone)]
pub struct InProcess {
    calls: mpsc::Sender<Job>,
}

/// A request to the API within this process: method, target and body.
#[derive(Clone, Debug)]
pub struct InProcessRequest {
    pub method: String,
    pub target: String,
    /// JSON, or empty.
    pub body: Vec<u8>,
}

/// The answer of the API, with headers in the order in which they were written.
#[derive(Clone, Debug)]
pub struct InProcessAnswer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// The API gave no answer. A refusal is an answer and not this error.
#[derive(Debug, thiserror::Error)]
pub enum NoAnswer {
    /// Method or target are invalid.
    #[error("not a request")]
    NotARequest,
    /// The API is busy, too slow, or has stopped.
    #[error("the API did not answer in time")]
    Unavailable,
}

struct Job {
    project: ProjectId,
    method: Method,
    target: Uri,
    body: Bytes,
    answer: oneshot::Sender<InProcessAnswer>,
}

impl InProcess {
    /// Starts the thread.
    ///
    /// # Errors
    /// The operating system refused the thread.
    pub fn start(api: Data<Api>) -> io::Result<Self> {
        let (calls, jobs) = mpsc::channel(AT_ONCE);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let work = move || runtime.block_on(LocalSet::new().run_until(serve(api, jobs)));
        std::thread::Builder::new().name("dwar-in-process".to_owned()).spawn(work)?;
        Ok(Self { calls })
    }

    /// Sends one request for the test mode of `project`.
    ///
    /// # Errors
    /// [`NoAnswer`]. A refusal of the API is not an error but an answer.
    pub async fn call(
        &self,
        project: ProjectId,
        request: InProcessRequest,
    ) -> Result<InProcessAnswer, NoAnswer> {
        let method = Method::from_bytes(request.method.as_bytes());
        let method = method.map_err(|_| NoAnswer::NotARequest)?;
        let target: Uri = request.target.parse().map_err(|_| NoAnswer::NotARequest)?;
        if !target.path().starts_with('/') || target.authority().is_some() {
            return Err(NoAnswer::NotARequest);
        }
        let (answer, answered) = oneshot::channel();
        let job = Job { project, method, target, body: request.body.into(), answer };
        let asked = async {
            self.calls.send(job).await.ok()?;
            answered.await.ok()
        };
        timeout(PATIENCE, asked).await.ok().flatten().ok_or(NoAnswer::Unavailable)
    }
}

async fn serve(api: Data<Api>, mut jobs: mpsc::Receiver<Job>) {
    let service = app(api).into_factory().new_service(AppConfig::default()).await;
    let Ok(service) = service.map(Rc::new) else {
        tracing::error!("the API within this process did not start");
        return;
    };
    let places = Arc::new(Semaphore::new(AT_ONCE));
    while let Some(job) = jobs.recv().await {
        let service = Rc::clone(&service);
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        tokio::task::spawn_local(async move {
            let _place = place;
            let Job { project, method, target, body, answer } = job;
            let request = request(project, method, target, body);
            let response = match service.call(request).await {
                Ok(response) => response.into_parts().1,
                Err(error) => error.error_response(),
            };
            let status = response.status().as_u16();
            let headers = response.headers().iter();
            let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
            let headers = headers.map(|(name, value)| (name.to_string(), text(value))).collect();
            if let Ok(body) = body::to_bytes(response.into_body()).await {
                // The caller may have stopped waiting.
                let _ = answer.send(InProcessAnswer { status, headers, body: body.to_vec() });
            }
        });
    }
}

fn request(project: ProjectId, method: Method, target: Uri, body: Bytes) -> Request {
    let mut request = Request::with_payload(match body.is_empty() {
        true => Payload::None,
        false => body.clone().into(),
    });
    if !body.is_empty() {
        let headers = request.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(body.len()));
    }
    request.head_mut().method = method;
    request.head_mut().uri = target;
    request.extensions_mut().insert(InProcessProject(project));
    request
}
