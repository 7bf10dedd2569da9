//! Login by phone in axum: the login contract at /login, and two pages for those who are logged in.

use std::env::var;
use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::middleware::from_fn;
use axum::routing::any;
use axum::{Json, Router};
use dwar_client::login::{Login, renew_sessions};
use dwar_client::{Claims, Client, Mode, Verifier};
use serde_json::{Value, json};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = var("DWAR_URL")?;
    let mode = if var("DWAR_MODE")? == "test" { Mode::Test } else { Mode::Live };
    let client = Client::new(&url, &var("DWAR_API_KEY")?)?;
    let verifier = Verifier::new(&url, &var("DWAR_PROJECT_ID")?)?.with_mode(mode);
    let login = Login::new(client, verifier, &var("DWAR_SECRET")?, [var("ORIGIN")?.as_str()])?
        .with_on_error(|error| eprintln!("login: {error}"));

    let login = Arc::new(login);
    let app = Router::new()
        .nest("/login", login.router())
        .route("/me", any(me))
        // Routes above this layer renew sessions; for those below, fetchWithLogin of the page does
        // so.
        .layer(from_fn(renew_sessions))
        .route("/claims", any(me))
        .with_state(login)
        .into_make_service_with_connect_info::<SocketAddr>();
    let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{}", var("PORT")?)).await?;
    Ok(axum::serve(listener, app).await?)
}

async fn me(claims: Claims) -> Json<Value> {
    Json(json!({ "identity_id": claims.subject }))
}
