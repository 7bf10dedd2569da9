use crate::connection::error::InvalidUrl;
use crate::connection::url::PostgresUrl;
use std::fmt;
use std::time::Duration;

/// Name of the database in traces (OpenTelemetry, `db.system.name`).
pub(crate) const SYSTEM: &str = "postgresql";

/// Most concurrent statements for one kind of look-up. Each uses a connection of its own.
pub(crate) const LOOK_UPS: u32 = 2;

/// How to reach PostgreSQL, and how long to wait for it. `Debug` hides the URL.
#[derive(Clone)]
pub struct Settings {
    /// `postgres://user:password@host:port/database?option=value`, all parts percent-encoded.
    ///
    /// libpq connection options in the URL override the ones set here.
    pub url: String,
    /// The server's own address where `url` is that of a pooler. For migrations, which need a
    /// session of their own.
    pub direct_url: Option<String>,
    /// Most connections; at least one is used.
    pub pool_size: u32,
    /// Longest wait for a free connection.
    pub acquire_timeout: Duration,
    /// Longest run of one statement in PostgreSQL.
    pub statement_timeout: Duration,
    /// Longest wait of one statement for a lock.
    pub lock_timeout: Duration,
    /// Longest time of a call from start to answer, including waits and repetitions.
    ///
    /// Holds even if the server falls silent.
    pub call_timeout: Duration,
}

impl Settings {
    /// The defaults of the service (`[database]` of `config.default.toml`), with the server at
    /// `url`.
    pub fn new(url: impl Into<String>) -> Self {
        Self::within(Duration::from_secs(2), url)
    }

    /// Like [`Settings::new`], but waits at most `patience` for a connection, at most `patience`
    /// for a statement or lock, and at most the sum of both for a call.
    pub fn within(patience: Duration, url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            direct_url: None,
            pool_size: 16,
            acquire_timeout: patience,
            statement_timeout: patience,
            lock_timeout: patience,
            call_timeout: 2 * patience,
        }
    }

    /// The URL of the server itself.
    ///
    /// # Errors
    /// [`InvalidUrl`] if no connection could ever result.
    pub fn direct(&self) -> Result<String, InvalidUrl> {
        let url = self.direct_url.as_ref().unwrap_or(&self.url);
        Self { url: url.clone(), ..self.clone() }.connection_url()
    }

    /// The URL with the connection options that limit every wait.
    ///
    /// libpq quotes parts of a URL that it cannot parse in its messages. A password that is not
    /// percent-encoded would end up in a log. Hence the checks.
    pub(crate) fn connection_url(&self) -> Result<String, InvalidUrl> {
        self.url.parse::<PostgresUrl>()?;
        let (base, query) = self.url.split_once('?').unwrap_or((&self.url, ""));
        Ok(format!("{base}?{}", self.with_options(query)))
    }

    fn with_options(&self, query: &str) -> String {
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        let mut given: Vec<_> = pairs.map(|(name, value)| (name, value.to_owned())).collect();
        for (name, value) in self.defaults() {
            match given.iter_mut().find(|(known, _)| *known == name) {
                // The last setting of a parameter applies.
                Some((_, theirs)) if name == "options" => *theirs = format!("{value}%20{theirs}"),
                Some(_) => {}
                None => given.push((name, value)),
            }
        }
        let pairs: Vec<_> = given.iter().map(|(name, value)| format!("{name}={value}")).collect();
        pairs.join("&")
    }

    /// The settings of each session, in the units of `pg_settings`.
    fn session(&self) -> [(&'static str, String); 9] {
        [
            ("statement_timeout", millis(self.statement_timeout)),
            ("lock_timeout", millis(self.lock_timeout)),
            ("idle_in_transaction_session_timeout", millis(self.call_timeout)),
            // Every statement looks rows up by key, so no parameter value leads to a better plan.
            // Without this setting the first five executions on each connection are planned in
            // vain.
            ("plan_cache_mode", "force_generic_plan".to_owned()),
            // A plan that was made while a table was small must not scan all of it after it has
            // grown.
            ("enable_seqscan", "off".to_owned()),
            // Neither may a plan that expects many rows scan a whole table to join it with a few
            // rows.
            ("enable_hashjoin", "off".to_owned()),
            ("enable_mergejoin", "off".to_owned()),
            // Statements that do read whole tables look expensive enough to trigger compilation.
            ("jit", "off".to_owned()),
            ("default_transaction_isolation", "read committed".to_owned()),
        ]
    }

    /// The settings of [`Self::session`] that the URL does not override.
    pub(crate) fn expected(&self) -> Vec<(&'static str, String)> {
        self.session().into_iter().filter(|(name, _)| !self.url.contains(name)).collect()
    }

    /// The server ends statements that take too long and accepts writes; TCP detects a peer that is
    /// gone.
    fn defaults(&self) -> [(&'static str, String); 8] {
        let seconds = |wait: Duration| wait.as_secs().max(2).to_string();
        let session = self.session().map(|(name, value)| {
            // libpq splits options at spaces that no backslash precedes.
            format!("-c%20{name}%3D{}", value.replace(' ', "%5C%20"))
        });
        [
            ("application_name", "dwar".to_owned()),
            // Of several hosts the one that accepts writes; no host if all are standbys.
            ("target_session_attrs", "read-write".to_owned()),
            ("connect_timeout", seconds(self.acquire_timeout)),
            ("keepalives_idle", "10".to_owned()),
            ("keepalives_interval", "5".to_owned()),
            ("keepalives_count", "3".to_owned()),
            ("tcp_user_timeout", millis(self.call_timeout)),
            ("options", session.join("%20")),
        ]
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Settings")
            .field("url", &"…")
            .field("direct_url", &self.direct_url.as_ref().map(|_| "…"))
            .field("pool_size", &self.pool_size)
            .field("acquire_timeout", &self.acquire_timeout)
            .field("statement_timeout", &self.statement_timeout)
            .field("lock_timeout", &self.lock_timeout)
            .field("call_timeout", &self.call_timeout)
            .finish()
    }
}

/// At least one millisecond, because PostgreSQL reads 0 as "never".
fn millis(wait: Duration) -> String {
    wait.as_millis().clamp(1, i32::MAX.unsigned_abs().into()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connection_url(url: &str) -> Result<String, InvalidUrl> {
        Settings::new(url).connection_url()
    }

    #[test]
    fn bounds_every_wait() {
        let url = connection_url("postgres://dwar:p%40ss@db.example:5432/dwar").unwrap();
        assert!(url.starts_with("postgres://dwar:p%40ss@db.example:5432/dwar?"), "{url}");
        for part in ["connect_timeout=2&", "tcp_user_timeout=4000&", "-c%20lock_timeout%3D2000"] {
            assert!(url.contains(part), "{url}");
        }
    }

    #[test]
    fn an_option_of_the_url_wins() {
        let url = connection_url("postgresql:///dwar?host=/run/pg&connect_timeout=9").unwrap();
        assert!(url.contains("connect_timeout=9") && !url.contains("connect_timeout=2"), "{url}");
        let url = connection_url("postgres:///dwar?options=-c%20search_path%3Dauth").unwrap();
        assert!(url.contains("committed%20-c%20search_path%3Dauth&"), "{url}");
    }

    #[test]
    fn of_several_hosts_the_one_that_writes_is_used() {
        let url = connection_url("postgres://dwar@one:5432,two/dwar?sslmode=disable").unwrap();
        assert!(url.contains("&target_session_attrs=read-write&"), "{url}");
        let url = connection_url("postgres://one,two/dwar?target_session_attrs=primary").unwrap();
        assert!(!url.contains("read-write"), "{url}");
        assert!(connection_url("postgres://one,two/dwar?target_session_attrs=standby").is_err());
    }

    #[test]
    fn refuses_what_libpq_would_quote_in_a_message() {
        for url in [
            "mysql://dwar@db/dwar",
            "host=db password=secret",
            "postgres://dwar:se/cret@db/dwar",
            "postgres://dwar:se?cret@db/dwar",
            "postgres://dwar:se@cret@db/dwar",
            "postgres://dwar:se%cret@db/dwar",
            "postgres://dwar:se%00cret@db/dwar",
            "postgres://dwar:se cret@db/dwar",
            "postgres://db/dwar?sslmode",
        ] {
            let refusal = connection_url(url).unwrap_err();
            assert!(!refusal.to_string().contains("cret"), "{url}");
        }
    }

    #[test]
    fn hides_the_url_from_debug() {
        let shown = format!("{:?}", Settings::new("postgres://dwar:secret@db/dwar"));
        assert!(!shown.contains("secret") && shown.contains("pool_size: 16"), "{shown}");
    }
}
