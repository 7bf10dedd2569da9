use super::answer::Answer;
use super::body::Body;
use super::call::{Call, Scope, Within};
use super::query::Query;
use super::refusal::ApiRefusal;
use super::right::Right;
use actix_web::dev::Payload;
use actix_web::http::{Method, StatusCode};
use actix_web::{HttpRequest, HttpResponse};
use dwar_operator::Permission;
use futures_util::future::LocalBoxFuture;
use serde_json::Value;
use std::marker::PhantomData;
use std::rc::Rc;

/// Schemas by name, as they go into the document.
pub(crate) type Schemas = Vec<(String, Value)>;

type Handled = LocalBoxFuture<'static, Result<HttpResponse, ApiRefusal>>;

/// An endpoint: what is said of it, and what it does.
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

/// What is said of an endpoint beside its types.
#[derive(Clone)]
pub(crate) struct Head {
    pub(crate) method: Method,
    /// Below `/admin/v1`.
    pub(crate) path: &'static str,
    /// Unique, for generated clients.
    pub(crate) id: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) right: Right,
    /// Of an answer that is no refusal.
    pub(crate) status: StatusCode,
}

/// An endpoint that lacks its handler, which is called with an `S`.
pub(crate) struct For<S>(Head, PhantomData<S>);

fn head(method: Method, path: &'static str, id: &'static str, summary: &'static str) -> Head {
    Head { method, path, id, summary, right: Right::Installation, status: StatusCode::OK }
}

pub(crate) fn get(path: &'static str, id: &'static str, summary: &'static str) -> Head {
    head(Method::GET, path, id, summary)
}

pub(crate) fn post(path: &'static str, id: &'static str, summary: &'static str) -> Head {
    head(Method::POST, path, id, summary)
}

pub(crate) fn put(path: &'static str, id: &'static str, summary: &'static str) -> Head {
    head(Method::PUT, path, id, summary)
}

pub(crate) fn patch(path: &'static str, id: &'static str, summary: &'static str) -> Head {
    head(Method::PATCH, path, id, summary)
}

pub(crate) fn delete(path: &'static str, id: &'static str, summary: &'static str) -> Head {
    head(Method::DELETE, path, id, summary)
}

impl Head {
    /// It makes something: 201 instead of 200.
    pub(crate) fn makes(mut self) -> Self {
        self.status = StatusCode::CREATED;
        self
    }

    /// About the `{project}` of the path, for tokens that have the permission there. A project that
    /// the token may not know of is not there.
    pub(crate) fn within(self, permission: Permission) -> For<Within> {
        For(Self { right: Right::Project(permission), ..self }, PhantomData)
    }

    /// For owners of the installation.
    pub(crate) fn of_installation(self) -> For<Call> {
        For(Self { right: Right::Installation, ..self }, PhantomData)
    }

    /// For whoever sees the team of a project; whom it is about decides the use case.
    pub(crate) fn of_teams(self) -> For<Call> {
        For(Self { right: Right::Team, ..self }, PhantomData)
    }

    /// For every token; the handler gives what that token may know of.
    pub(crate) fn of_all(self) -> For<Call> {
        For(Self { right: Right::Any, ..self }, PhantomData)
    }
}

impl<S: Scope> For<S> {
    /// Who the token is and what it may is looked at before query and body are.
    pub(crate) fn to<Q, B, A, F, R>(self, handler: F) -> Operation
    where
        Q: Query,
        B: Body,
        A: Answer,
        F: Fn(S, Q, B) -> R + 'static,
        R: Future<Output = Result<A, ApiRefusal>> + 'static,
    {
        let Self(head, _) = self;
        let (right, status, handler) = (head.right, head.status, Rc::new(handler));
        let run = move |request: HttpRequest, mut payload: Payload| -> Handled {
            let handler = handler.clone();
            Box::pin(async move {
                let call = Call::authenticate(&request).await?;
                right.check(&call.by.access)?;
                let scope = S::enter(call, right).await?;
                let query = Q::read(&request)?;
                let body = B::read(&request, &mut payload).await?;
                Ok(handler(scope, query, body).await?.respond(status))
            })
        };
        let mut schemas = Schemas::new();
        Operation {
            head,
            query: Q::describe(),
            body: B::describe(&mut schemas),
            answer: A::describe(&mut schemas),
            schemas,
            run: Rc::new(run),
        }
    }
}
