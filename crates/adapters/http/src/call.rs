use crate::api::Api;
use crate::error::{ApiError, ErrorCode};
use crate::limits::RateLimit;
use actix_web::dev::Payload;
use actix_web::http::header::HeaderValue;
use actix_web::web::Data;
use actix_web::{FromRequest, HttpMessage, HttpRequest, HttpResponse};
use dwar_app::UseCases;
use dwar_kernel::{Phone, ProjectMode};
use dwar_wire::RequestTrace;
use serde::Serialize;
use std::cell::{Cell, RefCell};
use std::future::{Ready, ready};
use std::rc::Rc;
use tracing::Span;
use tracing::field::display;

/// The pattern of a route, as in the document. Attached to each request of the route.
#[derive(Clone, Copy)]
pub(crate) struct Pattern(pub(crate) &'static str);

pub(crate) type Answer = Result<HttpResponse, ApiError>;

/// Facts about a request that are learnt while it is handled, for the headers of its answer and its
/// line in the log.
pub(crate) struct RequestContext {
    pub(crate) request_id: HeaderValue,
    pub(crate) caller: Cell<Option<ProjectMode>>,
    pub(crate) rate: Cell<Option<RateLimit>>,
    /// The refusal in an answer that is a 200 because another system expects that.
    pub(crate) refused: Cell<Option<ErrorCode>>,
    /// The phone that the request is about; its `Debug` is masked.
    pub(crate) phone: RefCell<Option<Phone>>,
    /// The route's pattern, known once a handler has the request.
    pub(crate) route: Cell<Option<&'static str>>,
    pub(crate) trace: RequestTrace,
    /// The body, until it is read.
    pub(crate) payload: RefCell<Option<Payload>>,
}

impl RequestContext {
    pub(crate) fn new(request_id: HeaderValue, payload: Payload, trace: RequestTrace) -> Self {
        let payload = Some(payload).filter(|payload| !matches!(payload, Payload::None));
        Self {
            request_id,
            caller: Cell::default(),
            rate: Cell::default(),
            refused: Cell::default(),
            phone: RefCell::default(),
            route: Cell::default(),
            trace,
            payload: RefCell::new(payload),
        }
    }

    /// The request id as text; always visible ASCII.
    pub(crate) fn request_id(&self) -> &str {
        self.request_id.to_str().unwrap_or_default()
    }
}

pub(crate) struct ApiCall {
    pub(crate) request: HttpRequest,
    pub(crate) api: Data<Api>,
    pub(crate) context: Rc<RequestContext>,
}

impl ApiCall {
    /// The use cases, once the stores are prepared.
    ///
    /// # Errors
    /// [`ErrorCode::ServiceUnavailable`] before that, because tables or signing keys may be
    /// missing. Also while the process must not serve: with a wrong clock, expired records would be
    /// valid.
    pub(crate) fn use_cases(&self) -> Result<&UseCases, ApiError> {
        if self.api.ready.prepared() && self.api.ready.hindrance().is_none() {
            Ok(&self.api.use_cases)
        } else {
            Err(ErrorCode::ServiceUnavailable.into())
        }
    }

    /// Adds the phone, masked, to every log line of this request.
    pub(crate) fn concerns(&self, phone: &Phone) {
        Span::current().record("phone", display(phone));
        self.context.phone.replace(Some(phone.clone()));
    }

    /// Reports the state of this call's limit to the client.
    pub(crate) fn limited_by(&self, rate: impl Into<RateLimit>) {
        self.context.rate.set(Some(rate.into()));
    }
}

impl FromRequest for ApiCall {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let api = request.app_data::<Data<Api>>().cloned();
        let context = request.extensions().get::<Rc<RequestContext>>().cloned();
        let call = api.zip(context).map(|(api, context)| {
            context.route.set(request.app_data().map(|Pattern(route)| *route));
            Self { request: request.clone(), api, context }
        });
        ready(call.ok_or_else(|| ErrorCode::InternalError.into()))
    }
}

/// The media type of every body; a constant so that no answer allocates it.
pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// A 200 with this body.
pub(crate) fn ok(body: impl Serialize) -> Answer {
    let body = serde_json::to_vec(&body).map_err(|_| ErrorCode::InternalError)?;
    Ok(HttpResponse::Ok().content_type(JSON).body(body))
}
