use std::net::IpAddr;

/// The address of a database that lives and dies with the process.
pub const MEMORY: &str = "memory:";

/// What a PostgreSQL address says about how it is called (libpq, Connection URIs).
struct Address<'a> {
    password: &'a str,
    /// Every host that may be connected to; an empty one is a socket of this machine.
    hosts: Vec<&'a str>,
    sslmode: Option<&'a str>,
}

/// How the connection to a server elsewhere may be read or answered by somebody between.
pub fn problem(url: &str) -> Option<String> {
    let address = read(url)?;
    if crate::strength::is_well_known(address.password) {
        return Some("the password is a well-known one from manuals".to_owned());
    }
    match address.sslmode {
        _ if address.is_here() => None,
        Some("verify-full" | "verify-ca" | "require" | "disable") => None,
        _ => Some(
            "names a server on another machine and no sslmode, or one that falls back to plain \
             text: add ?sslmode=verify-full (and sslrootcert=FILE), or, on a network that is yours \
             alone, ?sslmode=disable"
                .to_owned(),
        ),
    }
}

/// What production allows if asked for explicitly, but may still surprise: what can be read or answered
/// by somebody in between, and what is not kept.
pub fn remark(url: &str) -> Option<String> {
    if url == MEMORY {
        return Some("database.url: memory: keeps nothing: all is gone when this stops".to_owned());
    }
    let address = read(url).filter(|address| !address.is_here())?;
    match address.sslmode {
        Some("disable") => Some(
            "database.url: sslmode=disable sends the password's proof and all data in plain text"
                .to_owned(),
        ),
        Some("require") => Some(
            "database.url: sslmode=require encrypts without asking who answers; verify-full does"
                .to_owned(),
        ),
        _ => None,
    }
}

/// Whether libpq would take part of the user or the password for something else, and quote it in
/// the log.
pub fn garbled(url: &str) -> bool {
    let Some(rest) = rest(url) else { return false };
    let authority = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
    let encoded = |(at, _)| {
        let digits = rest.as_bytes().get(at + 1..at + 3);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    rest.matches('@').count() > 1
        || rest.contains('@') != authority.contains('@')
        || rest.contains(|letter: char| letter.is_whitespace() || letter.is_control())
        || !rest.match_indices('%').all(encoded)
}

impl Address<'_> {
    fn is_here(&self) -> bool {
        self.hosts.iter().all(|host| {
            let literal: Option<IpAddr> = host.trim_matches(['[', ']']).parse().ok();
            host.is_empty()
                || host.starts_with('/')
                || host.to_ascii_lowercase().starts_with("%2f")
                || *host == "localhost"
                || literal.is_some_and(|address| address.to_canonical().is_loopback())
        })
    }
}

fn rest(url: &str) -> Option<&str> {
    url.strip_prefix("postgres://").or_else(|| url.strip_prefix("postgresql://"))
}

fn read(url: &str) -> Option<Address<'_>> {
    let rest = rest(url)?;
    let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
    let authority = place.split('/').next().unwrap_or_default();
    let (user, hosts) = authority.split_once('@').unwrap_or(("", authority));
    let option = |wanted: &str| {
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        // libpq takes the last one.
        pairs.filter(|(name, _)| *name == wanted).map(|(_, value)| value).next_back()
    };
    let mut hosts: Vec<&str> = match option("host") {
        Some(hosts) => hosts.split(',').collect(),
        None => hosts.split(',').map(without_port).collect(),
    };
    hosts.extend(option("hostaddr").into_iter().flat_map(|hosts| hosts.split(',')));
    Some(Address {
        password: option("password").unwrap_or_else(|| user.split_once(':').map_or("", |(_, p)| p)),
        hosts,
        sslmode: option("sslmode"),
    })
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_elsewhere_is_called_over_tls_or_plainly_said_otherwise() {
        for (url, refused, remarked) in [
            ("sqlite://dwar.db", false, false),
            ("postgres://dwar@127.0.0.1:5432/dwar", false, false),
            ("postgresql://dwar@localhost/dwar?sslmode=prefer", false, false),
            ("postgres://dwar@[::1]:5432/dwar", false, false),
            ("postgres:///dwar", false, false),
            ("postgres://dwar@%2Frun%2Fpostgresql/dwar", false, false),
            ("postgres:///dwar?host=/run/postgresql", false, false),
            ("postgres://dwar@db/dwar", true, false),
            ("postgres://dwar@10.0.0.2/dwar", true, false),
            ("postgres://dwar@localhost,db:5433/dwar", true, false),
            ("postgres://dwar@localhost/dwar?host=db", true, false),
            ("postgres://dwar@localhost/dwar?hostaddr=10.0.0.2", true, false),
            ("postgres://dwar@db/dwar?sslmode=prefer", true, false),
            ("postgres://dwar@db/dwar?sslmode=allow", true, false),
            ("postgres://dwar@db/dwar?sslmode=verify-full&sslmode=prefer", true, false),
            ("postgres://dwar@db/dwar?sslmode=disable", false, true),
            ("postgres://dwar@db/dwar?sslmode=require", false, true),
            ("postgres://dwar@db/dwar?sslmode=verify-full&sslrootcert=/ca.pem", false, false),
        ] {
            assert_eq!(problem(url).is_some(), refused, "{url}");
            assert_eq!(remark(url).is_some(), remarked, "{url}");
        }
    }

    #[test]
    fn an_example_is_no_password() {
        assert!(problem("postgres://dwar:change-me@127.0.0.1/dwar").is_some());
        assert!(problem("postgres://dwar@127.0.0.1/dwar?password=change-me").is_some());
        assert!(problem("postgres://dwar:0cc175b9c0f1b6a8@127.0.0.1/dwar").is_none());
    }

    #[test]
    fn what_the_library_would_misread_is_noticed() {
        for (url, expected) in [
            ("sqlite:///tmp/a@b@c %.db", false),
            ("postgres://dwar:pw@db/dwar", false),
            ("postgres://dwar:p%40w@db/dwar?sslmode=disable", false),
            ("postgres://dwar@db/dwar", false),
            ("postgres:///dwar?host=/run/postgresql", false),
            ("postgres://dwar:p@w@db/dwar", true),
            ("postgres://dwar:p/w@db/dwar", true),
            ("postgres://dwar:p?w@db/dwar", true),
            ("postgres://dwar:p#w@db/dwar", true),
            ("postgres://dwar:p%w@db/dwar", true),
            ("postgres://dwar:p%4@db/dwar", true),
            ("postgres://dwar:p w@db/dwar", true),
        ] {
            assert_eq!(garbled(url), expected, "{url}");
        }
    }
}
