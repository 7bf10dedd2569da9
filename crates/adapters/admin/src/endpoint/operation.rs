use crate::endpoint::admin_request::{AdminRequest, Scope};
use crate::endpoint::answer::Answer;
use crate::endpoint::body::Body;
use crate::endpoint::query::Query;
use crate::endpoint::refusal::ApiRefusal;
use actix_web::dev::Payload;
use actix_web::http::{Method, StatusCode};
use actix_web::{HttpRequest, HttpResponse};
use dwar_operator::Command;
use futures_util::future::LocalBoxFuture;
use serde_json::Value;
use std::rc::Rc;

/// Schemas by name, as they go into the document.
pub(crate) type Schemas = Vec<(String, Value)>;

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
            schemas,
            run: Rc::new(run),
        }
    }
}
