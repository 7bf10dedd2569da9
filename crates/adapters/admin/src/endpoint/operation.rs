use crate::endpoint::admin_request::{AdminRequest, Scope};
use crate::endpoint::answer::{AdminResult, Answer};
use crate::endpoint::extract::Extract;
use crate::endpoint::refusal::AdminCode;
use actix_web::http::{Method, StatusCode};
use actix_web::{HttpRequest, HttpResponse, web};
use dwar_operator::{Command, CreatedCredential, RequiredAccess, Role};
use dwar_wire::openapi::Operation;
use serde_json::{Value, json};

/// A function that answers an endpoint. Its parameters are the caller and, if it reads one, the
/// query or the body.
pub(crate) trait Handler<Parameters>: Clone + 'static {
    type Scope: Scope;
    type Extract: Extract;
    type Answer: Answer;

    async fn call(self, scope: Self::Scope, given: Self::Extract) -> AdminResult<Self::Answer>;
}

impl<S, A, F, R> Handler<(S,)> for F
where
    S: Scope,
    A: Answer,
    F: Fn(S) -> R + Clone + 'static,
    R: Future<Output = AdminResult<A>>,
{
    type Scope = S;
    type Extract = ();
    type Answer = A;

    async fn call(self, scope: S, (): ()) -> AdminResult<A> {
        self(scope).await
    }
}

impl<S, E, A, F, R> Handler<(S, E)> for F
where
    S: Scope,
    E: Extract,
    A: Answer,
    F: Fn(S, E) -> R + Clone + 'static,
    R: Future<Output = AdminResult<A>>,
{
    type Scope = S;
    type Extract = E;
    type Answer = A;

    async fn call(self, scope: S, given: E) -> AdminResult<A> {
        self(scope, given).await
    }
}

/// Answers a request. Checks the token's right to the command before it reads query or body.
async fn run<P: 'static, H: Handler<P>>(
    handler: H,
    (command, status): (Command, StatusCode),
    request: HttpRequest,
    payload: web::Payload,
) -> AdminResult<HttpResponse> {
    let scope = H::Scope::enter(AdminRequest::authenticate(&request).await?, command)?;
    let given = H::Extract::read(&request, &mut payload.into_inner()).await?;
    Ok(handler.call(scope, given).await?.respond(status))
}

pub(crate) fn get<P: 'static>(
    path: &'static str,
    command: Command,
    handler: impl Handler<P>,
) -> Operation {
    operation(Method::GET, path, command, StatusCode::OK, handler)
}

pub(crate) fn post<P: 'static>(
    path: &'static str,
    command: Command,
    handler: impl Handler<P>,
) -> Operation {
    operation(Method::POST, path, command, StatusCode::OK, handler)
}

/// A `POST` that creates something and answers 201 instead of 200.
pub(crate) fn post_created<P: 'static>(
    path: &'static str,
    command: Command,
    handler: impl Handler<P>,
) -> Operation {
    operation(Method::POST, path, command, StatusCode::CREATED, handler)
}

pub(crate) fn put<P: 'static>(
    path: &'static str,
    command: Command,
    handler: impl Handler<P>,
) -> Operation {
    operation(Method::PUT, path, command, StatusCode::OK, handler)
}

pub(crate) fn patch<P: 'static>(
    path: &'static str,
    command: Command,
    handler: impl Handler<P>,
) -> Operation {
    operation(Method::PATCH, path, command, StatusCode::OK, handler)
}

pub(crate) fn delete<P: 'static>(
    path: &'static str,
    command: Command,
    handler: impl Handler<P>,
) -> Operation {
    operation(Method::DELETE, path, command, StatusCode::OK, handler)
}

/// Makes an operation with the id, right and description of its command.
fn operation<P: 'static, H: Handler<P>>(
    method: Method,
    path: &'static str,
    command: Command,
    status: StatusCode,
    handler: H,
) -> Operation {
    let route = move |method| {
        let handler = handler.clone();
        web::method(method).to(move |request: HttpRequest, payload: web::Payload| {
            run(handler.clone(), (command, status), request, payload)
        })
    };
    let operation = Operation::new(method, path, command.as_str(), route)
        .description(needs(command))
        .extension("x-right", command.needs().to_string())
        .extension("x-delegation", command.makes() != CreatedCredential::Nothing)
        .parameters(path.split('{').skip(1).filter_map(|rest| rest.split('}').next()).map(part));
    let operation = H::Extract::describe(operation);
    let follows = follows(&operation, command);
    H::Answer::describe(operation.refuses(follows), status)
}

fn part(name: &str) -> Value {
    let schema = match name {
        "mode" => json!({ "type": "string", "enum": ["live", "test"] }),
        _ => json!({ "type": "string", "format": "uuid" }),
    };
    json!({ "name": name, "in": "path", "required": true, "schema": schema })
}

/// The refusals that follow from the input of an operation and from its right.
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

/// Tells whether a token may see the subject of the command and still lack the right to the
/// command.
fn may_be_forbidden(need: RequiredAccess) -> bool {
    match need {
        RequiredAccess::Any => false,
        RequiredAccess::Project(permission) => Role::ALL.iter().any(|role| !role.may(permission)),
        _ => true,
    }
}

/// Describes in words which tokens may give the command.
fn needs(command: Command) -> String {
    let need = command.needs();
    let whose = match need {
        RequiredAccess::Any => {
            "For every token; the answer holds only what the token may see.".to_owned()
        }
        RequiredAccess::Team => "For tokens that may see the team of a project.".to_owned(),
        RequiredAccess::Installation | RequiredAccess::Own | RequiredAccess::Machine => {
            "For tokens of owners of the installation.".to_owned()
        }
        RequiredAccess::Project(_) => format!("For tokens that may {need} in the project."),
    };
    match command.makes() {
        CreatedCredential::Nothing => whose,
        _ => format!(
            "{whose} The token must be allowed to delegate, because what this creates works without it."
        ),
    }
}
