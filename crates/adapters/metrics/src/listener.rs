use crate::exposition::Exposition;
use crate::format::Format;
use crate::settings::Token;
use actix_web::body::BoxBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::StatusCode;
use actix_web::http::header::{self, Accept, Header, HeaderValue};
use actix_web::middleware::{Next, from_fn};
use actix_web::web::{self, Data};
use actix_web::{App, Error, HttpRequest, HttpResponse};
use dwar_wire::{AppService, ClientTimeouts, Listener, Server, Serving, begin_request, serve};
use std::io;
use std::time::Duration;

/// A scraper sends a request every few seconds, on one connection.
const SERVING: Serving = Serving {
    workers: 1,
    max_connections: 32,
    patience: ClientTimeouts {
        head: Duration::from_secs(5),
        write: Duration::from_secs(10),
        keep_alive: Duration::from_secs(120),
    },
    shutdown_timeout: Duration::from_secs(5),
};

/// Serves `exposition` on the addresses of `listener` to clients with `token`.
///
/// # Errors
/// The operating system refused a thread or a socket.
pub fn scrapes(listener: Listener, exposition: Exposition, token: Token) -> io::Result<Server> {
    let (exposition, token) = (Data::new(exposition), Data::new(token));
    serve(listener, SERVING, move || app(exposition.clone(), token.clone()), unreadable)
}

/// Builds `GET /metrics` as an actix application with its only middleware.
pub fn app(exposition: Data<Exposition>, token: Data<Token>) -> App<impl AppService> {
    let not_allowed = || async {
        HttpResponse::MethodNotAllowed().insert_header((header::ALLOW, "GET, HEAD")).finish()
    };
    let metrics = web::resource("/metrics")
        .route(web::get().to(show))
        .route(web::head().to(show))
        .default_service(web::to(not_allowed));
    App::new()
        .app_data(exposition)
        .app_data(token)
        .service(metrics)
        .default_service(web::to(|| async { HttpResponse::NotFound().finish() }))
        .wrap(from_fn(admit))
}

async fn show(request: HttpRequest, exposition: Data<Exposition>) -> HttpResponse {
    let format = Accept::parse(&request).map_or(Format::OpenMetrics, |it| Format::wanted(&it));
    HttpResponse::Ok()
        .content_type(format.content_type())
        .insert_header((header::VARY, "Accept"))
        .body(format.of_open_metrics(exposition.text()))
}

/// Refuses every request without the token, and reads no body.
async fn admit(mut request: ServiceRequest, next: Next<BoxBody>) -> Result<ServiceResponse, Error> {
    let (connection, _) = begin_request(&mut request);
    let shown = request.headers().get(header::AUTHORIZATION).map(HeaderValue::as_bytes);
    let token = request.app_data::<Data<Token>>();
    let admitted = token.is_some_and(|token| token.is_shown_by(shown));
    let mut response = if admitted {
        next.call(request).await?
    } else {
        let challenge = (header::WWW_AUTHENTICATE, "Bearer realm=\"metrics\"");
        request.into_response(HttpResponse::Unauthorized().insert_header(challenge).finish())
    };
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if let Some(connection) = connection {
        connection.answer();
    }
    Ok(response)
}

/// A complete answer to bytes that are not a request. The connection ends with it.
fn unreadable(status: StatusCode) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n").into_bytes()
}
