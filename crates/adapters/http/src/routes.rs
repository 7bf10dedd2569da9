use crate::api::Api;
use crate::call::{Answer, ApiCall};
use crate::error::{ApiError, ErrorCode};
use crate::handlers::{health, identity, jwks, otp, sandbox, session, webhooks};
use crate::request_id::identify;
use actix_web::body::BoxBody;
use actix_web::dev::{ServiceFactory, ServiceRequest, ServiceResponse};
use actix_web::middleware::from_fn;
use actix_web::web::{self, Data, ServiceConfig};
use actix_web::{App, Error, Handler, Resource};

const GET: &str = "GET, HEAD";

/// The whole API as an actix application, with its one middleware.
pub fn app(
    api: Data<Api>,
) -> App<
    impl ServiceFactory<
        ServiceRequest,
        Config = (),
        Response = ServiceResponse<BoxBody>,
        Error = Error,
        InitError = (),
    >,
> {
    App::new()
        .app_data(api)
        .configure(routes)
        .default_service(web::to(nowhere))
        .wrap(from_fn(identify))
}

fn routes(config: &mut ServiceConfig) {
    let v1 = web::scope("/v1")
        // They are tried in this order, and a pattern costs more than a fixed path.
        .service(post("/session/validate", session::validate))
        .service(post("/otp/send", otp::send))
        .service(post("/otp/verify", otp::verify))
        .service(post("/session/refresh", session::refresh))
        .service(post("/session/logout", session::logout))
        .service(get("/identity", identity::by_phone))
        .service(get("/otp/status/{otp_id}", otp::status))
        .service(
            resource("/identity/{id}", "GET, HEAD, DELETE")
                .route(web::get().to(identity::by_id))
                .route(web::head().to(identity::by_id))
                .route(web::delete().to(identity::delete)),
        )
        .service(get("/sandbox/messages", sandbox::messages))
        .default_service(web::to(nowhere_in_v1));
    config
        .service(v1)
        .service(
            web::resource("/webhooks/{provider}")
                .route(web::get().to(webhooks::handshake))
                .route(web::post().to(webhooks::receive))
                .default_service(web::to(|_: ApiCall| async {
                    Answer::Err(ApiError::method_not_allowed("GET, POST"))
                })),
        )
        .service(open("/.well-known/jwks.json", jwks::publish))
        .service(open("/healthz", health::alive))
        .service(open("/readyz", health::ready));
}

/// A resource under `/v1/`: a wrong method is reported only after the key has been asked for.
fn resource(path: &str, allow: &'static str) -> Resource {
    web::resource(path).default_service(web::to(move |call: ApiCall| async move {
        call.general_caller().await?;
        Answer::Err(ApiError::method_not_allowed(allow))
    }))
}

fn post<H: Handler<(ApiCall,), Output = Answer>>(path: &str, handler: H) -> Resource {
    resource(path, "POST").route(web::post().to(handler))
}

fn get<H: Handler<(ApiCall,), Output = Answer>>(path: &str, handler: H) -> Resource {
    let head = web::head().to(handler.clone());
    resource(path, GET).route(web::get().to(handler)).route(head)
}

/// A resource that needs no key.
fn open<H: Handler<(ApiCall,), Output = Answer>>(path: &str, handler: H) -> Resource {
    web::resource(path)
        .route(web::get().to(handler.clone()))
        .route(web::head().to(handler))
        .default_service(web::to(|_: ApiCall| async {
            Answer::Err(ApiError::method_not_allowed(GET))
        }))
}

async fn nowhere(call: ApiCall) -> Answer {
    call.check_path()?;
    Err(ErrorCode::NotFound.into())
}

async fn nowhere_in_v1(call: ApiCall) -> Answer {
    call.general_caller().await?;
    nowhere(call).await
}
