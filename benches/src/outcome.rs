//! Settings of a run from its environment, and errors that end it.

use std::env::var;
use std::error::Error;
use std::str::FromStr;
use std::time::SystemTime;

/// Any error ends the run.
pub type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

pub fn needed(name: &str) -> Outcome<String> {
    let found = var(name).ok().filter(|value| !value.is_empty());
    Ok(found.ok_or_else(|| format!("{name} is not set"))?)
}

pub fn setting<T: FromStr<Err: Error + Send + Sync + 'static>>(name: &str, usual: T) -> Outcome<T> {
    needed(name).map_or(Ok(usual), |value| Ok(value.parse()?))
}

/// Milliseconds since 1970.
#[expect(clippy::disallowed_methods, reason = "looks from outside, where there is no Clock port")]
pub fn now_millis() -> Outcome<u64> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
    Ok(u64::try_from(now.as_millis())?)
}
