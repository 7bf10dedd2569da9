use std::net::IpAddr;
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
use super::addresses::network;
use super::call::Call;
use super::cookies::{code_cookie, device_cookie, no_code_cookie, no_token_cookies};
use super::refusal::Refusal;
use crate::answers::SentCode;
use crate::session::refresh as renewed;
use crate::{Code, Error, SendOptions, Tokens, Visitor};

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
    let (phone, code) = (call.text("phone"), call.text("code"));
    let guess = login.client.verify_with_device(phone, code, Some(otp_id), call.device()).await;
    let tokens = guess.map_err(|error| login.refusal(&error))?;
    let mut cookies = no_code_cookie();
    cookies.extend(device_cookie(&tokens));
    Ok(call.logged_in(&tokens, cookies))
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
        let address = (self.client_address)(&call.parts);
        let taken = match address {
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
        let sent = self.admitted(call, address).await;
        if let (Err(_), Some(taken)) = (&sent, taken) {
            self.addresses.give_back(taken);
        }
        sent
    }

    async fn admitted(&self, call: &Call, address: Option<IpAddr>) -> Result<SentCode, Refusal> {
        (self.admit)(&call.parts, &call.body).await?;
        let options = SendOptions {
            last_line: self.last_line.as_deref(),
            visitor: Some(self.visitor(call, address).await).filter(|it| *it != Visitor::default()),
            device: call.device(),
        };
        let sent = self.client.send(call.text("phone"), Some(options)).await;
        sent.map_err(|error| self.refusal(&error))
    }

    /// What the service is told about the person. Only the application says that a proof is good:
    /// whatever a page or an app sends under these names is ignored.
    async fn visitor(&self, call: &Call, address: Option<IpAddr>) -> Visitor {
        let proof = call.text("proof");
        let trusted = !proof.is_empty() && (self.prove)(&call.parts, proof).await;
        Visitor { address: address.map(network), trusted }
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
