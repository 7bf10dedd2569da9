use crate::RedisUrl;
use dwar_kernel::StoreError;
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, ErrorKind, RedisError};
use std::time::Duration;
use tokio::sync::Mutex;

/// One connection that every request shares, made when it is first needed and again after it
/// failed.
pub(crate) struct Link {
    client: Client,
    timeout: Duration,
    connection: Mutex<Option<MultiplexedConnection>>,
}

impl Link {
    /// Connects to nothing yet.
    pub(crate) fn new(url: &RedisUrl, timeout: Duration) -> Self {
        Self { client: url.client().clone(), timeout, connection: Mutex::default() }
    }

    /// Lets `work` use the connection, and gives both up when their time is over.
    ///
    /// After any failure the connection is dropped: what a server that was frozen may still answer
    /// is of no use, and behind the same address there may be another one by now.
    pub(crate) async fn with<T>(
        &self,
        work: impl AsyncFnOnce(MultiplexedConnection) -> Result<T, RedisError>,
    ) -> Result<T, StoreError> {
        let answer = async { work(self.connected().await?).await };
        let problem = match tokio::time::timeout(self.timeout, answer).await {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(cause)) => describe(&cause),
            Err(_) => format!("no answer within {} ms", self.timeout.as_millis()),
        };
        // The holder is connecting at this moment, or has connected; its own failure drops it.
        if let Ok(mut connection) = self.connection.try_lock() {
            *connection = None;
        }
        Err(StoreError::Unavailable(format!("Redis: {problem}")))
    }

    /// While one request connects, the others wait for it, each for as long as it may.
    async fn connected(&self) -> Result<MultiplexedConnection, RedisError> {
        let mut connection = self.connection.lock().await;
        if let Some(known) = &*connection {
            return Ok(known.clone());
        }
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(self.timeout))
            .set_response_timeout(Some(self.timeout));
        let fresh = self.client.get_multiplexed_async_connection_with_config(&config).await?;
        Ok(connection.insert(fresh).clone())
    }
}

/// What went wrong, in our own words: the server's may quote what it was sent, and the password is
/// among that.
fn describe(cause: &RedisError) -> String {
    let word = |code: &&str| code.len() <= 20 && code.bytes().all(|it| it.is_ascii_uppercase());
    match (cause.kind(), cause.code().filter(word)) {
        (ErrorKind::AuthenticationFailed, _) => "it refused user or password".to_owned(),
        (_, Some(code)) => format!("it answered {code}"),
        _ if cause.is_timeout() => "no answer in time".to_owned(),
        _ if cause.is_connection_refusal() => "the connection was refused".to_owned(),
        _ if cause.is_connection_dropped() => "the connection broke".to_owned(),
        (ErrorKind::Io, _) => "it cannot be reached".to_owned(),
        (ErrorKind::Client, _) => {
            "no TLS with a certificate that is trusted here for its name".to_owned()
        }
        _ => "it does not answer as Redis does".to_owned(),
    }
}
