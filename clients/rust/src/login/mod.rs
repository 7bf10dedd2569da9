//! The login contract (`clients/login/README.md` of the repository) for axum.

mod addresses;
mod call;
mod cookies;
mod endpoints;
mod origins;
mod refusal;
mod renewal;

use std::fmt;
use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::Once;

use axum::extract::ConnectInfo;
use axum::http::request::Parts;
use ring::hmac;
use serde_json::{Map, Value};

use crate::session::refresh_key;
use crate::{Client, Error, Result, Verifier};
use addresses::AddressLimit;
use origins::check_origins;
pub use refusal::Refusal;
pub use renewal::renew_sessions;

const SENDS_PER_ADDRESS: usize = 30;

type ClientAddress = dyn Fn(&Parts) -> Option<IpAddr> + Send + Sync;
type Admission = Pin<Box<dyn Future<Output = std::result::Result<(), Refusal>> + Send>>;
type Proven = Pin<Box<dyn Future<Output = bool> + Send>>;
type Prove = dyn Fn(&Parts, &str) -> Proven + Send + Sync;
type Admit = dyn Fn(&Parts, &Map<String, Value>) -> Admission + Send + Sync;

/// The four endpoints that a login form and an app call, and the check whether a request is logged
/// in. With `Arc<Login>` as the state of the application, a handler with the argument
/// [`Claims`](crate::Claims) requires a login; other requests get 401. Within the layer
/// [`renew_sessions`] their sessions are renewed.
pub struct Login {
    client: Client,
    verifier: Verifier,
    key: hmac::Key,
    origins: Vec<String>,
    addresses: AddressLimit,
    told_of_address: Once,
    client_address: Box<ClientAddress>,
    admit: Box<Admit>,
    prove: Box<Prove>,
    last_line: Option<String>,
    on_error: Box<dyn Fn(&Error) + Send + Sync>,
}

impl Login {
    /// The secret is one of your backend, 32 characters or more, the same in all its processes; see
    /// [`Session::new`](crate::Session::new). The origins are exactly those of your own pages: `https://shop.example`, or
    /// `http://localhost:3000` on your own machine.
    ///
    /// # Errors [`Code::Argument`](crate::Code::Argument) for a shorter secret, or an invalid origin.
    pub fn new<'a>(
        client: Client,
        verifier: Verifier,
        secret: &str,
        origins: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self> {
        let origins: Vec<_> = origins.into_iter().map(String::from).collect();
        check_origins(&origins)?;
        Ok(Self {
            client,
            verifier,
            key: refresh_key(secret)?,
            origins,
            addresses: AddressLimit::new(SENDS_PER_ADDRESS),
            told_of_address: Once::new(),
            client_address: Box::new(peer),
            admit: Box::new(|_, _| Box::pin(async { Ok(()) })),
            prove: Box::new(|_, _| Box::pin(async { false })),
            last_line: None,
            on_error: Box::new(|_| {}),
        })
    }

    /// Replaces the address of the peer, which is in the request if the application is served by
    /// `into_make_service_with_connect_info::<SocketAddr>()`. Behind a proxy the peer is the proxy,
    /// so that all people would share one limit: take what your own proxy writes, the last entry of
    /// `X-Forwarded-For`, never the first, which any client can forge. Without an address a send is
    /// not counted by address, and [`with_on_error`](Self::with_on_error) is told so once.
    pub fn with_client_address(
        self,
        address: impl Fn(&Parts) -> Option<IpAddr> + Send + Sync + 'static,
    ) -> Self {
        Self { client_address: Box::new(address), ..self }
    }

    /// How many codes one client address may request in ten minutes, 30 by default. Raise it for
    /// offices and colleges.
    pub fn with_sends_per_address(self, sends: NonZeroUsize) -> Self {
        Self { addresses: AddressLimit::new(sends.get()), ..self }
    }

    /// Is called before each send, with the request and its body; a refusal is sent unchanged.
    pub fn with_admit<Asked>(
        self,
        admit: impl Fn(&Parts, &Map<String, Value>) -> Asked + Send + Sync + 'static,
    ) -> Self
    where
        Asked: Future<Output = std::result::Result<(), Refusal>> + Send + 'static,
    {
        Self { admit: Box::new(move |parts, body| Box::pin(admit(parts, body))), ..self }
    }

    /// Says whether the proof that a page or an app sent with a send is good, such as the answer to a
    /// captcha: ask its vendor. Only then the visitor is trusted. By default no proof is good.
    pub fn with_prove<Proving>(
        self,
        prove: impl Fn(&Parts, &str) -> Proving + Send + Sync + 'static,
    ) -> Self
    where
        Proving: Future<Output = bool> + Send + 'static,
    {
        Self { prove: Box::new(move |parts, proof| Box::pin(prove(parts, proof))), ..self }
    }

    /// The last line that each send names; see [`SendOptions::last_line`](crate::SendOptions).
    pub fn with_last_line(self, line: &str) -> Self {
        Self { last_line: Some(line.into()), ..self }
    }

    /// Is called for every failure that the person sees as `LOGIN_UNAVAILABLE`, and once if no
    /// address is known. By default these failures are dropped.
    pub fn with_on_error(self, on_error: impl Fn(&Error) + Send + Sync + 'static) -> Self {
        Self { on_error: Box::new(on_error), ..self }
    }

    /// The refusal that the person gets for a failed call of the service.
    fn refusal(&self, error: &Error) -> Refusal {
        Refusal::passed_on(error).unwrap_or_else(|| {
            (self.on_error)(error);
            Refusal::unavailable(error)
        })
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Login({:?})", self.client)
    }
}

fn peer(parts: &Parts) -> Option<IpAddr> {
    Some(parts.extensions.get::<ConnectInfo<SocketAddr>>()?.0.ip())
}
