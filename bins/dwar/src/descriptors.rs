//! File descriptors: each connection needs one, and other files share the limit.

use crate::config::Config;
use rustix::process::{Resource, getrlimit, setrlimit};

/// Descriptors of one SQLite connection: the file, its log and the index of the log.
const PER_DATABASE_CONNECTION: usize = 3;
/// Descriptors for logs, listeners, threads, and connections to providers and receivers of events.
const OTHERS: usize = 256;

/// Raises the soft limit of descriptors to the hard one, and lowers `http.max_connections` to the
/// number that fits, so that no accept fails for lack of a descriptor.
pub fn make_room(config: &mut Config) {
    let Some(limit) = raise() else { return };
    let wanted = config.http.max_connections;
    let database = usize::try_from(config.database.connections).unwrap_or(usize::MAX);
    let others = database.saturating_mul(PER_DATABASE_CONNECTION).saturating_add(OTHERS);
    config.http.max_connections = fitting(wanted, others, limit);
    if config.http.max_connections < wanted {
        tracing::warn!(
            limit,
            needed = wanted.saturating_add(others),
            max_connections = config.http.max_connections,
            "too few file descriptors for http.max_connections = {wanted}: fewer connections \
             are accepted. Raise the hard limit (systemd: LimitNOFILE, Docker: --ulimit \
             nofile) or lower the setting"
        );
    } else {
        tracing::info!(limit, "file descriptors");
    }
}

/// The soft limit after raising it as far as possible; `None` if there is no limit.
fn raise() -> Option<usize> {
    let mut limits = getrlimit(Resource::Nofile);
    let soft = limits.current;
    limits.current = limits.maximum;
    let reached = match setrlimit(Resource::Nofile, limits) {
        Ok(()) => limits.maximum,
        Err(cause) => {
            tracing::warn!(%cause, "the limit of file descriptors could not be raised");
            soft
        }
    };
    reached.map(|limit| usize::try_from(limit).unwrap_or(usize::MAX))
}

/// The number of connections that fit. If the limit is far too low, half of it is for connections.
fn fitting(wanted: usize, others: usize, limit: usize) -> usize {
    wanted.min(limit.saturating_sub(others).max(limit / 2))
}

#[cfg(test)]
mod tests {
    use super::fitting;

    #[test]
    fn takes_as_many_connections_as_there_are_descriptors_for() {
        assert_eq!(fitting(2_000, 300, 65_536), 2_000);
        assert_eq!(fitting(2_000, 300, 2_300), 2_000);
        assert_eq!(fitting(2_000, 300, 2_299), 1_999);
        assert_eq!(fitting(2_000, 300, 1_024), 724);
        assert_eq!(fitting(2_000, 300, 256), 128);
    }
}
