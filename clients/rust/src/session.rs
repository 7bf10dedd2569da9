use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use ring::hmac;
use serde::{Deserialize, Serialize};

use crate::clock::Clock;
use crate::flight::Flight;
use crate::{BoxError, Client, Code, Error, Result, Secret, Tokens};

const MIN_SECRET_LENGTH: usize = 32;
/// An access token with less time left than this is refreshed before it is used.
const EARLY_SECONDS: i64 = 10;

/// Keeps the token pair of one session where all processes of a backend find it. The pair is JSON
/// with both tokens: encrypt it if others can read the store.
pub trait Store: Send + Sync + 'static {
    /// The pair, if there is one.
    fn load(&self) -> impl Future<Output = std::result::Result<Option<String>, BoxError>> + Send;

    /// Replaces it.
    fn save(&self, pair: &str) -> impl Future<Output = std::result::Result<(), BoxError>> + Send;
}

/// The session of one person. It refreshes an expired access token once, no matter how many calls
/// wait, and once over all processes that share store and secret; a refresh goes on when the calls
/// that wait are dropped. When the session is over, calls fail with [`Code::SessionExpired`]: log
/// in again.
pub struct Session<S> {
    shared: Arc<Shared<S>>,
    renewal: Mutex<Option<Flight<Secret>>>,
}

struct Shared<S> {
    client: Client,
    store: S,
    key: hmac::Key,
    clock: Clock,
}

/// The answer of the service and when the access token expires, in seconds since 1970 by the clock of the backend.
/// Clients of other languages store the same.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Pair {
    access_token: String,
    refresh_token: String,
    token_type: String,
    expires_in: u64,
    refresh_expires_in: u64,
    session_id: String,
    identity_id: String,
    expires_at: i64,
}

impl Pair {
    fn is_whole(&self) -> bool {
        !self.access_token.is_empty() && !self.refresh_token.is_empty() && self.expires_at != 0
    }
}

impl<S: Store> Session<S> {
    /// A session whose secret is one of your backend, 32 characters or more, the same in all its
    /// processes. It makes the `Idempotency-Key` of a refresh, so that processes that refresh at
    /// once get the same pair, but a thief of the refresh token does not.
    ///
    /// # Errors
    /// [`Code::Argument`] for a shorter secret.
    pub fn new(client: &Client, store: S, secret: &str) -> Result<Self> {
        Self::with_clock(client, store, secret, Clock::default())
    }

    /// [`new`](Self::new) with another clock than that of the system, for tests.
    ///
    /// # Errors
    /// Those of [`new`](Self::new).
    pub fn new_with_clock(
        client: &Client,
        store: S,
        secret: &str,
        now: impl Fn() -> SystemTime + Send + Sync + 'static,
    ) -> Result<Self> {
        Self::with_clock(client, store, secret, Clock::new(now))
    }

    fn with_clock(client: &Client, store: S, secret: &str, clock: Clock) -> Result<Self> {
        let key = refresh_key(secret)?;
        let shared = Arc::new(Shared { client: client.clone(), store, key, clock });
        Ok(Self { shared, renewal: Mutex::default() })
    }

    /// Stores the tokens of a login.
    pub async fn begin(&self, tokens: &Tokens) -> Result<()> {
        self.shared.save(tokens).await
    }

    /// An access token that has not expired.
    pub async fn access_token(&self) -> Result<Secret> {
        let pair = self.shared.load().await?;
        if self.shared.clock.now().timestamp() < pair.expires_at - EARLY_SECONDS {
            return Ok(pair.access_token.into());
        }
        self.renew(pair.access_token).await
    }

    /// Calls with an access token of the session, and once more with a fresh one if the first is refused:
    /// `session.call(async |token| client.validate(token.reveal()).await)`.
    pub async fn call<Answer, Called>(&self, using: impl Fn(Secret) -> Called) -> Result<Answer>
    where
        Called: Future<Output = Result<Answer>>,
    {
        let token = self.access_token().await?;
        match using(token.clone()).await {
            Err(error) if error.code() == Code::InvalidAccessToken => {
                using(self.renew(token.reveal().into()).await?).await
            }
            outcome => outcome,
        }
    }

    /// The access token that replaces the stale one.
    async fn renew(&self, stale: String) -> Result<Secret> {
        let renewal = {
            let mut current = self.renewal.lock().unwrap_or_else(PoisonError::into_inner);
            match current.as_ref().filter(|renewal| !renewal.is_over()) {
                Some(renewal) => renewal.clone(),
                None => {
                    let shared = Arc::clone(&self.shared);
                    let renewal = Flight::take_off(async move { shared.exchange(&stale).await });
                    current.insert(renewal).clone()
                }
            }
        };
        renewal.wait().await
    }
}

impl<S: Store> Shared<S> {
    /// Refreshes, unless another process refreshed first and stored a new pair: a used refresh
    /// token that is presented later ends the session.
    async fn exchange(&self, stale: &str) -> Result<Secret> {
        let pair = self.load().await?;
        if pair.access_token != stale {
            return Ok(pair.access_token.into());
        }
        match refresh(&self.client, &self.key, &pair.refresh_token).await {
            Ok(tokens) => {
                self.save(&tokens).await?;
                Ok(tokens.access_token)
            }
            Err(error) if error.code() == Code::SessionExpired => {
                let newer = self.load().await?.access_token;
                if newer == stale { Err(error) } else { Ok(newer.into()) }
            }
            Err(error) => Err(error),
        }
    }

    async fn load(&self) -> Result<Pair> {
        let stored = self.store.load().await.map_err(Error::store)?;
        let stored =
            stored.ok_or_else(|| Error::new(Code::SessionExpired, "no session is stored"))?;
        // The cause is dropped, since it may quote a token.
        serde_json::from_str(&stored)
            .ok()
            .filter(Pair::is_whole)
            .ok_or_else(|| Error::new(Code::SessionExpired, "the stored session cannot be read"))
    }

    async fn save(&self, tokens: &Tokens) -> Result<()> {
        let pair = Pair {
            access_token: tokens.access_token.reveal().into(),
            refresh_token: tokens.refresh_token.reveal().into(),
            token_type: tokens.token_type.clone(),
            expires_in: tokens.expires_in,
            refresh_expires_in: tokens.refresh_expires_in,
            session_id: tokens.session_id.clone(),
            identity_id: tokens.identity_id.clone(),
            expires_at: self.clock.now().timestamp().saturating_add_unsigned(tokens.expires_in),
        };
        let pair = serde_json::to_string(&pair)
            .map_err(|_| Error::new(Code::StoreFailed, "the pair could not be written"))?;
        self.store.save(&pair).await.map_err(Error::store)
    }
}

impl<S> fmt::Debug for Session<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Session({:?})", self.shared.client)
    }
}

pub(crate) fn refresh_key(secret: &str) -> Result<hmac::Key> {
    if secret.chars().count() < MIN_SECRET_LENGTH {
        return Err(Error::argument("the secret of a session must have 32 characters or more"));
    }
    Ok(hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()))
}

/// The `Idempotency-Key` is the same in clients of other languages.
pub(crate) async fn refresh(client: &Client, key: &hmac::Key, token: &str) -> Result<Tokens> {
    let digest = hmac::sign(key, token.as_bytes());
    let idempotency_key: String = digest.as_ref().iter().map(|b| format!("{b:02x}")).collect();
    client.refresh_with_key(token, &idempotency_key).await
}
