use crate::connection::error::InvalidUrl;
use std::fmt;
use std::str::FromStr;
use zeroize::Zeroizing;

/// The address of a PostgreSQL server, or of several, as libpq reads a connection URI
/// (postgresql.org/docs/18/libpq-connect.html, fe-connect.c). `Debug` shows nothing of it.
///
/// Stricter than libpq in one point: reserved characters of a URI must be percent-encoded in names
/// and passwords, even where libpq could tell them apart.
#[derive(Clone)]
pub struct PostgresUrl {
    password: Zeroizing<String>,
    hosts: Vec<String>,
    sslmode: Option<String>,
}

const SCHEME: InvalidUrl = InvalidUrl("has to begin with postgres://");
const ENCODED: InvalidUrl = InvalidUrl(
    "has to have user and password percent-encoded (@ is %40, / is %2F, ? is %3F, % is %25, # is %23)",
);
const BRACKETS: InvalidUrl = InvalidUrl("has brackets that hold no IPv6 address");
const PORT: InvalidUrl = InvalidUrl("has a port that is not between 1 and 65535");
const COUNT: InvalidUrl = InvalidUrl("has not one port for all hosts, or one for each");
const ADDRESSES: InvalidUrl = InvalidUrl("has not one hostaddr for each host");
const OPTION: InvalidUrl = InvalidUrl("has an option that is not NAME=VALUE");
const UNKNOWN: InvalidUrl = InvalidUrl("has an option that libpq does not know");
const NUMBER: InvalidUrl = InvalidUrl("has an option that must be a number and is not");
const SSLMODE: InvalidUrl = InvalidUrl(
    "has an sslmode other than disable, allow, prefer, require, verify-ca and verify-full",
);
const SESSION: InvalidUrl =
    InvalidUrl("has target_session_attrs other than any, read-write and primary");
const NEVER_WRITES: InvalidUrl = InvalidUrl("asks for a read-only server");

const SSLMODES: [&str; 6] = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"];
const SESSIONS: [&str; 3] = ["any", "read-write", "primary"];
/// Values of `target_session_attrs` that lead to a server on which the service cannot work.
const STANDBYS: [&str; 3] = ["read-only", "standby", "prefer-standby"];
const NUMBERS: [&str; 6] = [
    "connect_timeout",
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_count",
    "tcp_user_timeout",
];
/// The other options of libpq 18.
const KNOWN: [&str; 44] = [
    "application_name",
    "channel_binding",
    "client_encoding",
    "dbname",
    "fallback_application_name",
    "gssdelegation",
    "gssencmode",
    "gsslib",
    "host",
    "hostaddr",
    "krbsrvname",
    "load_balance_hosts",
    "max_protocol_version",
    "min_protocol_version",
    "oauth_client_id",
    "oauth_client_secret",
    "oauth_issuer",
    "oauth_scope",
    "options",
    "passfile",
    "password",
    "port",
    "replication",
    "require_auth",
    "requirepeer",
    "scram_client_key",
    "scram_server_key",
    "service",
    "ssl_max_protocol_version",
    "ssl_min_protocol_version",
    "sslcert",
    "sslcertmode",
    "sslcompression",
    "sslcrl",
    "sslcrldir",
    "sslkey",
    "sslkeylogfile",
    "sslmode",
    "sslnegotiation",
    "sslpassword",
    "sslrootcert",
    "sslsni",
    "target_session_attrs",
    "user",
];

impl PostgresUrl {
    /// The password; empty if the URL has none.
    pub fn password(&self) -> &str {
        &self.password
    }

    /// Every host to connect to: a name, an address, or the folder of a socket. An empty string is
    /// a socket on this machine.
    pub fn hosts(&self) -> &[String] {
        &self.hosts
    }

    /// The value of `sslmode`, if the URL has one.
    pub fn sslmode(&self) -> Option<&str> {
        self.sslmode.as_deref()
    }
}

impl fmt::Debug for PostgresUrl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("PostgresUrl(…)")
    }
}

impl FromStr for PostgresUrl {
    type Err = InvalidUrl;

    fn from_str(text: &str) -> Result<Self, InvalidUrl> {
        let rest = text.strip_prefix("postgres://").or_else(|| text.strip_prefix("postgresql://"));
        let rest = rest.ok_or(SCHEME)?;
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, name) = place.split_once('/').unwrap_or((place, ""));
        let plain = rest.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#');
        if !plain || rest.matches('@').count() != authority.matches('@').count().min(1) {
            return Err(ENCODED);
        }
        let (user, places) = authority.split_once('@').unwrap_or(("", authority));
        let (user, password) = user.split_once(':').unwrap_or((user, ""));
        decoded(user)?;
        decoded(name)?;
        let places: Vec<(&str, &str)> =
            places.split(',').map(place_of).collect::<Result<_, _>>()?;
        let options = UrlOptions::read(query)?;
        let (hosts, ports): (Vec<&str>, Vec<&str>) = places.into_iter().unzip();
        let mut hosts = match options.last("host") {
            Some(hosts) => hosts.split(',').map(str::to_owned).collect(),
            None => hosts.into_iter().map(decoded).collect::<Result<Vec<_>, _>>()?,
        };
        let addresses: Vec<String> = options
            .last("hostaddr")
            .map(|it| it.split(',').map(str::to_owned).collect())
            .unwrap_or_default();
        let named = !hosts.iter().all(String::is_empty);
        if named && !addresses.is_empty() && addresses.len() != hosts.len() {
            return Err(ADDRESSES);
        }
        match options.last("port") {
            Some(ports) => judge_ports(
                &ports.split(',').collect::<Vec<_>>(),
                hosts.len().max(addresses.len()),
            )?,
            None => judge_ports(&ports, ports.len())?,
        }
        hosts.extend(addresses);
        let password = match options.last("password") {
            Some(password) => password.to_owned(),
            None => decoded(password)?,
        };
        let sslmode = options.last("sslmode").map(str::to_owned);
        Ok(Self { password: Zeroizing::new(password), hosts, sslmode })
    }
}

fn place_of(text: &str) -> Result<(&str, &str), InvalidUrl> {
    let Some(rest) = text.strip_prefix('[') else {
        return Ok(text.split_once(':').unwrap_or((text, "")));
    };
    let (host, behind) =
        rest.split_once(']').filter(|(host, _)| !host.is_empty()).ok_or(BRACKETS)?;
    let port = if behind.is_empty() { "" } else { behind.strip_prefix(':').ok_or(BRACKETS)? };
    Ok((host, port))
}

fn judge_ports(ports: &[&str], hosts: usize) -> Result<(), InvalidUrl> {
    if ports.len() != 1 && ports.len() != hosts {
        return Err(COUNT);
    }
    let right = |port: &&str| port.is_empty() || port.parse::<u16>().is_ok_and(|port| port > 0);
    if ports.iter().all(right) { Ok(()) } else { Err(PORT) }
}

struct UrlOptions(Vec<(String, Zeroizing<String>)>);

impl UrlOptions {
    fn read(query: &str) -> Result<Self, InvalidUrl> {
        let option = |pair: &str| {
            let (name, value) = pair.split_once('=').ok_or(OPTION)?;
            if value.contains('=') {
                return Err(OPTION);
            }
            let (name, value) = (decoded(name)?, decoded(value)?);
            // The spelling of JDBC.
            if (name.as_str(), value.as_str()) == ("ssl", "true") {
                return Ok(("sslmode".to_owned(), Zeroizing::new("require".to_owned())));
            }
            judge_option(&name, &value)?;
            Ok((name, Zeroizing::new(value)))
        };
        query
            .split('&')
            .filter(|pair| !pair.is_empty())
            .map(option)
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// The last option of this name, which is the one that libpq uses.
    fn last(&self, wanted: &str) -> Option<&str> {
        let of_name = self.0.iter().rev().find(|(name, _)| name == wanted);
        of_name.map(|(_, value)| value.as_str())
    }
}

fn judge_option(name: &str, value: &str) -> Result<(), InvalidUrl> {
    match name {
        _ if NUMBERS.contains(&name) => value.parse::<i32>().map(drop).map_err(|_| NUMBER),
        "sslmode" if !SSLMODES.contains(&value) => Err(SSLMODE),
        "target_session_attrs" if STANDBYS.contains(&value) => Err(NEVER_WRITES),
        "target_session_attrs" if !SESSIONS.contains(&value) => Err(SESSION),
        _ if KNOWN.contains(&name) => Ok(()),
        _ => Err(UNKNOWN),
    }
}

/// # Errors
/// A percent sign without two hexadecimal digits, a NUL, or text that is not UTF-8.
fn decoded(text: &str) -> Result<String, InvalidUrl> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut parts = text.split('%');
    bytes.extend_from_slice(parts.next().unwrap_or_default().as_bytes());
    for part in parts {
        let (code, rest) = part.split_at_checked(2).ok_or(ENCODED)?;
        let digits = code.bytes().all(|digit| digit.is_ascii_hexdigit());
        let byte = u8::from_str_radix(code, 16).ok().filter(|byte| digits && *byte != 0);
        bytes.push(byte.ok_or(ENCODED)?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).map_err(|_| ENCODED)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<PostgresUrl, InvalidUrl> {
        text.parse()
    }

    #[test]
    fn hosts_are_those_that_libpq_would_call() {
        for (text, hosts) in [
            ("postgres://dwar@db/dwar", &["db"][..]),
            ("postgresql://dwar@db:5432/dwar", &["db"]),
            ("postgres://db", &["db"]),
            ("postgres://db?sslmode=disable", &["db"]),
            ("postgres:///dwar", &[""]),
            ("postgres://", &[""]),
            ("postgres://a,b:5433/dwar", &["a", "b"]),
            ("postgres://a:1,[::1]:2,c:3/dwar", &["a", "::1", "c"]),
            ("postgres://dwar@%2Frun%2Fpostgresql/dwar", &["/run/postgresql"]),
            ("postgres:///dwar?host=/run/postgresql", &["/run/postgresql"]),
            ("postgres://here/dwar?host=a,b&port=1,2", &["a", "b"]),
            ("postgres://a/dwar?host=b&host=c", &["c"]),
            ("postgres://a/dwar?hostaddr=10.0.0.1", &["a", "10.0.0.1"]),
            ("postgres:///dwar?hostaddr=10.0.0.1,10.0.0.2&port=1,2", &["", "10.0.0.1", "10.0.0.2"]),
            ("postgres://a/?target_session_attrs=read-write", &["a"]),
        ] {
            assert_eq!(read(text).unwrap().hosts(), hosts, "{text}");
        }
    }

    #[test]
    fn password_and_mode_are_decoded_and_the_last_wins() {
        for (text, password, sslmode) in [
            ("postgres://dwar:p%40:w@db/dwar", "p@:w", None),
            ("postgres://:pw@db", "pw", None),
            ("postgres://dwar@db/dwar?password=p%26w&sslmode=require", "p&w", Some("require")),
            (
                "postgres://dwar:a@db?password=b&sslmode=verify-full&sslmode=prefer",
                "b",
                Some("prefer"),
            ),
            ("postgres://db?ssl=true", "", Some("require")),
            ("postgres://db/?options=-c%20search_path%3Dauth&connect_timeout=9&", "", None),
        ] {
            let url = read(text).unwrap();
            assert_eq!((url.password(), url.sslmode()), (password, sslmode), "{text}");
            assert_eq!(format!("{url:?}"), "PostgresUrl(…)");
        }
    }

    #[test]
    fn what_libpq_would_refuse_or_misread_is_refused_and_not_repeated() {
        for (text, why) in [
            ("mysql://secret@db/dwar", SCHEME),
            ("host=db password=secret", SCHEME),
            ("\"postgres://dwar:secret@db/dwar\"", SCHEME),
            ("postgres://dwar:se@cret@db/dwar", ENCODED),
            ("postgres://dwar:se/cret@db/dwar", ENCODED),
            ("postgres://dwar:se?cret@db/dwar", ENCODED),
            ("postgres://dwar:se#cret@db/dwar", ENCODED),
            ("postgres://dwar:se%cret@db/dwar", ENCODED),
            ("postgres://dwar:se%4@db/dwar", ENCODED),
            ("postgres://dwar:se%+1@db/dwar", ENCODED),
            ("postgres://dwar:se%00cret@db/dwar", ENCODED),
            ("postgres://dwar:se%ffcret@db/dwar", ENCODED),
            ("postgres://dwar:se cret@db/dwar", ENCODED),
            ("postgres://dwar@db/dwar\r", ENCODED),
            ("postgres://[::1/dwar", BRACKETS),
            ("postgres://[]/dwar", BRACKETS),
            ("postgres://[::1]5432/dwar", BRACKETS),
            ("postgres://db:5432x/dwar", PORT),
            ("postgres://db:0/dwar", PORT),
            ("postgres://db:65536/dwar", PORT),
            ("postgres://a,b/dwar?port=1,2,3", COUNT),
            ("postgres://a,b/dwar?hostaddr=10.0.0.1", ADDRESSES),
            ("postgres://db/dwar?sslmode", OPTION),
            ("postgres://db/dwar?options=-csearch_path=auth", OPTION),
            ("postgres://db/dwar?schema=auth", UNKNOWN),
            ("postgres://db/dwar?sslmode=verify_full", SSLMODE),
            ("postgres://db/dwar?sslmode=disable\"", SSLMODE),
            ("postgres://db/dwar?connect_timeout=2s", NUMBER),
            ("postgres://db/dwar?target_session_attrs=master", SESSION),
            ("postgres://db/dwar?target_session_attrs=standby", NEVER_WRITES),
        ] {
            assert_eq!(read(text).err(), Some(why), "{text}");
        }
    }
}
