use crate::endpoint::admin_request::{AdminRequest, Scope};
use crate::endpoint::answer::{Answer, Answered};
use crate::endpoint::body::Body;
use crate::endpoint::query::Query;
use crate::endpoint::refusal::AdminCode;
use actix_web::dev::Payload;
use actix_web::http::{Method, StatusCode};
use actix_web::{HttpRequest, HttpResponse, web};
use dwar_operator::{Command, Makes, Need, Role};
use dwar_wire::openapi::Operation;
use serde_json::{Value, json};

/// A function that answers an endpoint. Its parameters are who asks, the query and the body.
pub(crate) trait Handler<Parameters>: Clone + 'static {
    /// Answers a request. Whether the token may give the command is checked before query and body are.
    async fn run(
        self,
        command: Command,
        status: StatusCode,
        request: HttpRequest,
        payload: Payload,
    ) -> Answered<HttpResponse>;

    /// The operation with what the function reads.
    fn describe_request(operation: Operation) -> Operation;

    /// The operation with what the function answers.
    fn describe_answer(operation: Operation, status: StatusCode) -> Operation;
}

impl<S, Q, B, A, F, R> Handler<(S, Q, B)> for F
where
    S: Scope,
    Q: Query,
    B: Body,
    A: Answer,
    F: Fn(S, Q, B) -> R + Clone + 'static,
    R: Future<Output = Answered<A>> + 'static,
{
    async fn run(
        self,
        command: Command,
        status: StatusCode,
        request: HttpRequest,
        mut payload: Payload,
    ) -> Answered<HttpResponse> {
        let scope = S::enter(AdminRequest::authenticate(&request).await?, command)?;
        let query = Q::read(&request)?;
        let body = B::read(&request, &mut payload).await?;
        Ok(self(scope, query, body).await?.respond(status))
    }

    fn describe_request(operation: Operation) -> Operation {
        B::describe(Q::describe(operation))
    }

    fn describe_answer(operation: Operation, status: StatusCode) -> Operation {
        A::describe(operation, status)
    }
}

pub(crate) fn get<P>(path: &'static str, command: Command, handler: impl Handler<P>) -> Operation {
    operation(Method::GET, path, command, StatusCode::OK, handler)
}

pub(crate) fn post<P>(path: &'static str, command: Command, handler: impl Handler<P>) -> Operation {
    operation(Method::POST, path, command, StatusCode::OK, handler)
}

/// A `POST` that makes something: 201 instead of 200.
pub(crate) fn post_created<P>(
    path: &'static str,
    command: Command,
    handler: impl Handler<P>,
) -> Operation {
    operation(Method::POST, path, command, StatusCode::CREATED, handler)
}

pub(crate) fn put<P>(path: &'static str, command: Command, handler: impl Handler<P>) -> Operation {
    operation(Method::PUT, path, command, StatusCode::OK, handler)
}

pub(crate) fn patch<P>(
    path: &'static str,
    command: Command,
    handler: impl Handler<P>,
) -> Operation {
    operation(Method::PATCH, path, command, StatusCode::OK, handler)
}

pub(crate) fn delete<P>(
    path: &'static str,
    command: Command,
    handler: impl Handler<P>,
) -> Operation {
    operation(Method::DELETE, path, command, StatusCode::OK, handler)
}

/// An operation whose id, right and description are those of its command.
fn operation<P, H: Handler<P>>(
    method: Method,
    path: &'static str,
    command: Command,
    status: StatusCode,
    handler: H,
) -> Operation {
    let route = move |method| {
        let handler = handler.clone();
        web::method(method).to(move |request: HttpRequest, payload: web::Payload| {
            handler.clone().run(command, status, request, payload.into_inner())
        })
    };
    let operation = Operation::new(method, path, command.as_str(), route)
        .description(needs(command))
        .extension("x-right", command.needs().to_string())
        .extension("x-delegation", command.makes() != Makes::Nothing)
        .parameters(path.split('{').skip(1).filter_map(|rest| rest.split('}').next()).map(part));
    let operation = H::describe_request(operation);
    let follows = follows(&operation, command);
    H::describe_answer(operation.refuses(follows), status)
}

/// A part of the path.
fn part(name: &str) -> Value {
    let schema = match name {
        "mode" => json!({ "type": "string", "enum": ["live", "test"] }),
        _ => json!({ "type": "string", "format": "uuid" }),
    };
    json!({ "name": name, "in": "path", "required": true, "schema": schema })
}

/// What an operation can refuse with for what it reads and for its right.
fn follows(operation: &Operation, command: Command) -> impl Iterator<Item = AdminCode> + use<> {
    use AdminCode::{
        Forbidden, ForeignOrigin, InternalError, InvalidAdminToken, InvalidField, InvalidRequest,
        MisdirectedRequest, MissingAdminToken, NotFound, PayloadTooLarge, ServiceUnavailable,
        TokenRateLimited, UnsupportedMediaType,
    };
    let body = operation.has_request_body();
    let follows = [
        (true, &[MissingAdminToken, InvalidAdminToken, TokenRateLimited][..]),
        (true, &[ForeignOrigin, MisdirectedRequest, InternalError, ServiceUnavailable]),
        (may_be_forbidden(command.needs()), &[Forbidden]),
        (operation.reads("path"), &[NotFound]),
        (body || operation.reads("query"), &[InvalidRequest, InvalidField]),
        (body, &[PayloadTooLarge, UnsupportedMediaType]),
    ];
    follows.into_iter().filter(|(holds, _)| *holds).flat_map(|(_, codes)| codes).copied()
}

/// Whether there is a token that may not do it although it knows of what it is about.
fn may_be_forbidden(need: Need) -> bool {
    match need {
        Need::Any => false,
        Need::Project(permission) => Role::ALL.iter().any(|role| !role.may(permission)),
        _ => true,
    }
}

/// For which tokens it is, in words.
fn needs(command: Command) -> String {
    let need = command.needs();
    let whose = match need {
        Need::Any => "For every token; the answer holds what it may know of.".to_owned(),
        Need::Team => "For tokens that see the team of a project.".to_owned(),
        Need::Installation | Need::Own | Need::Machine => {
            "For tokens of owners of the installation.".to_owned()
        }
        Need::Project(_) => format!("For tokens that may {need} in the project."),
    };
    match command.makes() {
        Makes::Nothing => whose,
        _ => format!("{whose} Only if they may delegate: what this makes works without the token."),
    }
}
