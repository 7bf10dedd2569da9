use crate::endpoint::admin_request::{AdminRequest, Scope};
use crate::endpoint::answer::Answer;
use crate::endpoint::body::Body;
use crate::endpoint::query::Query;
use crate::endpoint::refusal::{AdminCode, ApiRefusal};
use actix_web::dev::Payload;
use actix_web::http::{Method, StatusCode};
use actix_web::{HttpRequest, HttpResponse};
use dwar_operator::{Command, Need, Role};
use dwar_wire::openapi::Schemas;
use futures_util::future::LocalBoxFuture;
use serde_json::Value;
use std::rc::Rc;

type Handled = LocalBoxFuture<'static, Result<HttpResponse, ApiRefusal>>;

/// An endpoint: how it is described, and what it does.
pub(crate) struct Operation {
    pub(crate) head: Head,
    /// The parameters of its query.
    pub(crate) query: Vec<Value>,
    /// The schema of its body, if it takes one.
    pub(crate) body: Option<Value>,
    /// The media type of its answer, and the schema.
    pub(crate) answer: (&'static str, Value),
    /// What it refuses with beside what follows from its parts.
    pub(crate) codes: Vec<AdminCode>,
    /// The schemas that those refer to.
    pub(crate) schemas: Schemas,
    pub(crate) run: Rc<dyn Fn(HttpRequest, Payload) -> Handled>,
}

/// The description of an endpoint besides its types.
#[derive(Clone)]
pub(crate) struct Head {
    pub(crate) method: Method,
    /// Below `/admin/v1`.
    pub(crate) path: &'static str,
    /// What it asks for; its word is the operation id, for generated clients.
    pub(crate) command: Command,
    pub(crate) summary: &'static str,
    /// Of an answer that is not a refusal.
    pub(crate) status: StatusCode,
}

fn head(method: Method, path: &'static str, command: Command, summary: &'static str) -> Head {
    Head { method, path, command, summary, status: StatusCode::OK }
}

pub(crate) fn get(path: &'static str, command: Command, summary: &'static str) -> Head {
    head(Method::GET, path, command, summary)
}

pub(crate) fn post(path: &'static str, command: Command, summary: &'static str) -> Head {
    head(Method::POST, path, command, summary)
}

pub(crate) fn put(path: &'static str, command: Command, summary: &'static str) -> Head {
    head(Method::PUT, path, command, summary)
}

pub(crate) fn patch(path: &'static str, command: Command, summary: &'static str) -> Head {
    head(Method::PATCH, path, command, summary)
}

pub(crate) fn delete(path: &'static str, command: Command, summary: &'static str) -> Head {
    head(Method::DELETE, path, command, summary)
}

impl Head {
    /// It makes something: 201 instead of 200.
    pub(crate) fn makes(mut self) -> Self {
        self.status = StatusCode::CREATED;
        self
    }

    /// Whether the token may give the command is checked before query and body are.
    pub(crate) fn to<S, Q, B, A, F, R>(self, handler: F) -> Operation
    where
        S: Scope,
        Q: Query,
        B: Body,
        A: Answer,
        F: Fn(S, Q, B) -> R + 'static,
        R: Future<Output = Result<A, ApiRefusal>> + 'static,
    {
        let (command, status, handler) = (self.command, self.status, Rc::new(handler));
        let run = move |request: HttpRequest, mut payload: Payload| -> Handled {
            let handler = handler.clone();
            Box::pin(async move {
                let scope = S::enter(AdminRequest::authenticate(&request).await?, command)?;
                let query = Q::read(&request)?;
                let body = B::read(&request, &mut payload).await?;
                Ok(handler(scope, query, body).await?.respond(status))
            })
        };
        let mut schemas = Schemas::new();
        Operation {
            head: self,
            query: Q::describe(),
            body: B::describe(&mut schemas),
            answer: A::describe(&mut schemas),
            codes: Vec::new(),
            schemas,
            run: Rc::new(run),
        }
    }
}

impl Operation {
    /// What it can refuse with for a rule of its own.
    pub(crate) fn refuses(mut self, code: AdminCode) -> Self {
        self.codes.push(code);
        self
    }

    /// Every code that it can answer with.
    pub(crate) fn all_codes(&self) -> Vec<AdminCode> {
        use AdminCode::{
            Forbidden, ForeignOrigin, InternalError, InvalidAdminToken, InvalidField,
            InvalidRequest, MisdirectedRequest, MissingAdminToken, NotFound, PayloadTooLarge,
            ServiceUnavailable, TokenRateLimited, UnsupportedMediaType,
        };
        let asks = !self.query.is_empty() || self.body.is_some();
        let follows = [
            (true, &[MissingAdminToken, InvalidAdminToken, TokenRateLimited][..]),
            (true, &[ForeignOrigin, MisdirectedRequest, InternalError, ServiceUnavailable]),
            (may_be_forbidden(self.head.command.needs()), &[Forbidden]),
            (self.head.path.contains('{'), &[NotFound]),
            (asks, &[InvalidRequest, InvalidField]),
            (self.body.is_some(), &[PayloadTooLarge, UnsupportedMediaType]),
        ];
        let held = follows.into_iter().filter(|(holds, _)| *holds);
        held.flat_map(|(_, codes)| codes).chain(&self.codes).copied().collect()
    }
}

/// Whether there is a token that may not do it although it knows of what it is about.
fn may_be_forbidden(need: Need) -> bool {
    match need {
        Need::Any => false,
        Need::Project(permission) => Role::ALL.iter().any(|role| !role.may(permission)),
        _ => true,
    }
}
