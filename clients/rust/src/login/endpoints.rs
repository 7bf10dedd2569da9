use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::map_response;
use axum::response::{AppendHeaders, IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use serde_json::json;
use tokio::time::Instant;

use super::Login;
use super::call::Call;
use super::cookies::{code_cookie, no_code_cookie, no_token_cookies};
use super::refusal::Refusal;
use crate::answers::SentCode;
use crate::session::refresh as renewed;
use crate::{Code, Error, Tokens};

type Answer = Result<Response, Refusal>;

pub async fn send(State(login): State<Arc<Login>>, request: Request) -> Answer {
    let call = Call::read(request, &login.origins).await?;
    let sent = login.send(&call).await?;
    let body = json!({ "otp_id": sent.otp_id, "expires_in": sent.expires_in });
    Ok((AppendHeaders(code_cookie(&sent)), Json(body)).into_response())
}

pub async fn verify(State(login): State<Arc<Login>>, request: Request) -> Answer {
    let call = Call::read(request, &login.origins).await?;
    let otp_id = call.otp_id().ok_or_else(Refusal::no_code)?;
    let guess = login.client.verify(call.text("phone"), call.text("code"), Some(otp_id)).await;
    let tokens = guess.map_err(|error| login.refusal(&error))?;
    Ok(call.logged_in(&tokens, no_code_cookie()))
}

pub async fn refresh(State(login): State<Arc<Login>>, request: Request) -> Answer {
    let call = Call::read(request, &login.origins).await?;
    let token = call.refresh_token().ok_or_else(Refusal::no_session)?;
    let tokens = login.renewed(token).await.map_err(|error| login.refusal(&error))?;
    Ok(call.logged_in(&tokens, Vec::new()))
}

pub async fn logout(State(login): State<Arc<Login>>, request: Request) -> Answer {
    let call = Call::read(request, &login.origins).await?;
    login.end_session(&call).await.map_err(|error| login.refusal(&error))?;
    Ok((StatusCode::NO_CONTENT, AppendHeaders(no_token_cookies())).into_response())
}

impl Login {
    /// `POST /send`, `/verify`, `/refresh` and `/logout`, for a path such as `/login`.
    pub fn router<S: Clone + Send + Sync + 'static>(self: &Arc<Self>) -> Router<S> {
        Router::new()
            .route("/send", post(send))
            .route("/verify", post(verify))
            .route("/refresh", post(refresh))
            .route("/logout", post(logout))
            .layer(map_response(async |mut response: Response| {
                let no_store = HeaderValue::from_static("no-store");
                response.headers_mut().insert("cache-control", no_store);
                response
            }))
            .with_state(Arc::clone(self))
    }

    /// Counts a code that was sent for the client address.
    async fn send(&self, call: &Call) -> Result<SentCode, Refusal> {
        let taken = match (self.client_address)(&call.parts) {
            Some(address) => Some(
                self.addresses
                    .take(address, Instant::now())
                    .map_err(|wait| Refusal::too_many_sends(wait.as_secs_f64().ceil() as u64))?,
            ),
            None => {
                self.tell_of_address();
                None
            }
        };
        let sent = self.admitted(call).await;
        if let (Err(_), Some(taken)) = (&sent, taken) {
            self.addresses.give_back(taken);
        }
        sent
    }

    async fn admitted(&self, call: &Call) -> Result<SentCode, Refusal> {
        (self.admit)(&call.parts, &call.body).await?;
        let sent = self.client.send(call.text("phone"), self.last_line.as_deref()).await;
        sent.map_err(|error| self.refusal(&error))
    }

    fn tell_of_address(&self) {
        self.told_of_address.call_once(|| {
            let message =
                "a request has no address, so its sends are not counted: see with_client_address";
            (self.on_error)(&Error::argument(message));
        });
    }

    /// Two tabs that refresh at the same time get the same pair, since their requests have the same
    /// key.
    pub(super) async fn renewed(&self, refresh_token: &str) -> Result<Tokens, Error> {
        renewed(&self.client, &self.key, refresh_token).await
    }

    /// Only a valid access token ends a session: without one, the session is renewed first.
    async fn end_session(&self, call: &Call) -> Result<(), Error> {
        if let Some(token) = call.access_token()
            && self.end(token).await?
        {
            return Ok(());
        }
        let Some(token) = call.refresh_token() else { return Ok(()) };
        match self.renewed(token).await {
            Ok(tokens) => self.end(tokens.access_token.reveal()).await.map(drop),
            Err(error) if error.code() == Code::SessionExpired => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Whether the token was valid.
    async fn end(&self, access_token: &str) -> Result<bool, Error> {
        match self.client.logout(access_token).await {
            Ok(_) => Ok(true),
            Err(error) if error.code() == Code::InvalidAccessToken => Ok(false),
            Err(error) => Err(error),
        }
    }
}
