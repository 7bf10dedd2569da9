use crate::api::Api;
use crate::call::{Answer, ApiCall, Pattern};
use crate::document::document;
use crate::error::{ApiError, ErrorCode};
use crate::handlers::{self, hooks, webhooks};
use crate::operation::{get, is_in_v1, post};
use crate::request_id::{identify, is_well_known};
use actix_web::http::{Method, StatusCode, header};
use actix_web::middleware::from_fn;
use actix_web::web::{self, Data, ServiceConfig};
use actix_web::{App, HttpResponse, Resource};
use dwar_wire::openapi::{Operation, by_path};
use dwar_wire::{AppService, Document, Endpoint, allow, known_method};

const DOCUMENT: &str = "/openapi.json";
const WEBHOOKS: &str = "/webhooks/{provider}";
const HOOKS: &str = "/hooks/{hook}";

/// Builds the whole API as an actix application with its only middleware.
pub fn app(api: Data<Api>) -> App<impl AppService> {
    App::new()
        .app_data(api)
        .configure(routes)
        .default_service(web::to(nowhere))
        .wrap(from_fn(identify))
}

fn routes(config: &mut ServiceConfig) {
    let (of_v1, open): (Vec<_>, Vec<_>) =
        by_path(handlers::operations()).into_iter().partition(|(path, _)| is_in_v1(path));
    let v1 = of_v1.iter().fold(web::scope("/v1"), |v1, (path, operations)| {
        let path = path.strip_prefix("/v1").unwrap_or(path);
        let refused = move |call: ApiCall, allow: String| async move {
            call.general_caller().await?;
            Answer::Err(ApiError::method_not_allowed(allow))
        };
        v1.service(resource(path, operations, refused))
    });
    config.service(v1.default_service(web::to(nowhere_in_v1)));
    let refused =
        |_: ApiCall, allow: String| async { Answer::Err(ApiError::method_not_allowed(allow)) };
    for (path, operations) in &open {
        config.service(resource(path, operations, refused));
    }
    config.service(resource(DOCUMENT, &[get(DOCUMENT, "", described)], refused));
    config.service(
        web::resource(WEBHOOKS)
            .app_data(Pattern(WEBHOOKS))
            .route(web::get().to(webhooks::handshake))
            .route(web::post().to(webhooks::receive))
            .default_service(web::to(|_: ApiCall| async {
                Answer::Err(ApiError::method_not_allowed("GET, POST"))
            })),
    );
    config.service(resource(HOOKS, &[post(HOOKS, "", hooks::receive)], refused));
}

/// The resource at a path; `refused` answers a method that it does not have.
fn resource<R: Future<Output = Answer> + 'static>(
    path: &str,
    operations: &[Operation],
    refused: impl Fn(ApiCall, String) -> R + Clone + 'static,
) -> Resource {
    let allow = allow(operations.iter().map(|operation| &operation.method));
    let below = operations.iter().any(|operation| operation.is_catch_all);
    let below = below.then(|| format!("{path}/{{below:.*}}"));
    let patterns: Vec<String> = [path.to_owned()].into_iter().chain(below).collect();
    let resource = web::resource(patterns)
        .app_data(Pattern(operations.first().map_or("", |operation| operation.path)))
        .default_service(web::to(move |call: ApiCall| refused(call, allow.clone())));
    let resource = match is_well_known(path) {
        true => resource.route(web::method(Method::OPTIONS).to(preflight)),
        false => resource,
    };
    operations.iter().fold(resource, |resource, operation| {
        let resource = resource.route(operation.route(operation.method.clone()));
        match operation.method {
            Method::GET => resource.route(operation.route(Method::HEAD)),
            _ => resource,
        }
    })
}

/// Every endpoint, with the answers that the document lists.
pub fn endpoints() -> Vec<Endpoint> {
    let described = handlers::operations().into_iter().map(|operation| {
        let done = operation.successes().map(|status| (status.as_u16(), ""));
        let refused = operation.refusals.iter().map(|(code, status, _)| (status.as_u16(), *code));
        Endpoint {
            route: operation.path,
            method: known_method(&operation.method),
            answers: done.chain(refused).collect(),
        }
    });
    let webhook = [ErrorCode::WebhookUnauthenticated, ErrorCode::InvalidRequest];
    let others = [(DOCUMENT, "GET"), (WEBHOOKS, "GET"), (WEBHOOKS, "POST")];
    let others = others.into_iter().map(|(route, method)| {
        let codes = if route == DOCUMENT { &[] } else { webhook.as_slice() };
        let refused = codes.iter().map(|code| (code.status(), code.as_str()));
        Endpoint { route, method, answers: [(200, "")].into_iter().chain(refused).collect() }
    });
    let hook = Endpoint { route: HOOKS, method: "POST", answers: hooks::answers().collect() };
    described.chain(others).chain([hook]).collect()
}

/// Every refusal: status and code. Bytes that are not a request have two further statuses.
pub fn refusals() -> Vec<(u16, &'static str)> {
    let unreadable = [StatusCode::REQUEST_TIMEOUT, StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE];
    let unreadable =
        unreadable.map(|status| (status.as_u16(), ErrorCode::of_status(status).as_str()));
    ErrorCode::ALL.iter().map(|code| (code.status(), code.as_str())).chain(unreadable).collect()
}

async fn described(call: ApiCall) -> Answer {
    let document = call.api.document.get_or_init(|| Document::json(document()));
    Ok(document.answer(&call.request))
}

/// A preflight, which a browser sends before a page's request with a header such as `If-None-Match`
/// (Fetch Standard, CORS-preflight request).
async fn preflight(_: ApiCall) -> Answer {
    Ok(HttpResponse::NoContent()
        .insert_header((header::ACCESS_CONTROL_ALLOW_METHODS, "GET, HEAD"))
        .insert_header((header::ACCESS_CONTROL_ALLOW_HEADERS, "*"))
        .insert_header((header::ACCESS_CONTROL_MAX_AGE, "86400"))
        .finish())
}

async fn nowhere(call: ApiCall) -> Answer {
    call.check_path()?;
    Err(ErrorCode::NotFound.into())
}

async fn nowhere_in_v1(call: ApiCall) -> Answer {
    call.general_caller().await?;
    nowhere(call).await
}
