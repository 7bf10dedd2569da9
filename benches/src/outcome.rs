//! What a run is told by its environment, and what ends it.

use std::env::var;
use std::error::Error;
use std::str::FromStr;

/// What may go wrong; the run ends with it.
pub type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

pub fn needed(name: &str) -> Outcome<String> {
    let found = var(name).ok().filter(|value| !value.is_empty());
    Ok(found.ok_or_else(|| format!("{name} is not set"))?)
}

pub fn setting<T: FromStr<Err: Error + Send + Sync + 'static>>(name: &str, usual: T) -> Outcome<T> {
    needed(name).map_or(Ok(usual), |value| Ok(value.parse()?))
}
