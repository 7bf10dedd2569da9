//! Converts columns to domain types and back. An error names table, column and row.

use crate::{At, Id};
use dwar_kernel::{
    BlindIndex, Digest, FixedClaims, KeptSecret, PreviousSecret, ProjectId, ProjectMode, Sealed,
    StoreError, Timestamp, TokenProfile,
};
use std::error::Error;
use std::fmt::Display;
use std::str::FromStr;
use uuid::Uuid;

/// The row that is being decoded, for error messages.
pub struct Row<K> {
    table: &'static str,
    key: K,
}

/// Every method takes the name of the column that it decodes.
///
/// # Errors
/// [`StoreError::Inconsistent`] for what the domain could not have written.
impl<K: Display> Row<K> {
    /// Names a row by its table and by the key with which an operator would look for it.
    pub const fn new(table: &'static str, key: K) -> Self {
        Self { table, key }
    }

    /// Unwraps a value that is `None` if the stored word is unknown.
    pub fn known<T>(&self, column: &'static str, read: Option<T>) -> Result<T, StoreError> {
        read.ok_or_else(|| StoreError::Inconsistent {
            table: self.table,
            column,
            row: self.key.to_string(),
        })
    }

    /// Parses a column with the [`FromStr`] of the type, such as a key mode.
    pub fn parse<T: FromStr>(&self, column: &'static str, text: &str) -> Result<T, StoreError> {
        self.known(column, text.parse().ok())
    }

    /// Converts a stored id to the id type of the domain.
    pub fn id<T: From<Uuid>>(&self, column: &'static str, stored: Id) -> Result<T, StoreError> {
        self.known(column, stored.0.map(T::from))
    }

    /// The project and mode that the columns `project_id` and `mode` name.
    pub fn project_mode(&self, project: Id, mode: &str) -> Result<ProjectMode, StoreError> {
        let project: ProjectId = self.id("project_id", project)?;
        Ok(project.in_mode(self.parse("mode", mode)?))
    }

    /// Converts a stored instant to a timestamp of the domain.
    pub fn at(&self, column: &'static str, stored: At) -> Result<Timestamp, StoreError> {
        self.known(column, stored.0)
    }

    /// Converts a stored instant to a timestamp; `None` if the column is NULL.
    pub fn maybe_at(
        &self,
        column: &'static str,
        stored: Option<At>,
    ) -> Result<Option<Timestamp>, StoreError> {
        stored.map(|stored| self.at(column, stored)).transpose()
    }

    /// Parses a column as [`Row::parse`] does; `None` if the column is NULL.
    pub fn maybe_parse<T: FromStr>(
        &self,
        column: &'static str,
        text: Option<&str>,
    ) -> Result<Option<T>, StoreError> {
        text.map(|text| self.parse(column, text)).transpose()
    }

    /// The token profile of a project. Stored claims are not checked against today's rules.
    pub fn token_profile(
        &self,
        claims: Option<&str>,
        token_type: &str,
    ) -> Result<TokenProfile, StoreError> {
        Ok(TokenProfile {
            token_type: self.parse("token_type", token_type)?,
            claims: claims.map(FixedClaims::stored).unwrap_or_default(),
        })
    }

    /// Converts a column of exactly 32 bytes, such as a MAC.
    pub fn bytes(&self, column: &'static str, raw: Vec<u8>) -> Result<[u8; 32], StoreError> {
        self.known(column, raw.try_into().ok())
    }

    /// Converts a column of 32 bytes to a keyed digest.
    pub fn digest(&self, column: &'static str, raw: Vec<u8>) -> Result<Digest, StoreError> {
        self.bytes(column, raw).map(Digest)
    }

    /// Converts a column of 32 bytes to the blind index of a phone.
    pub fn index(&self, column: &'static str, raw: Vec<u8>) -> Result<BlindIndex, StoreError> {
        self.bytes(column, raw).map(BlindIndex)
    }

    /// Combines the current secret and the previous one from their columns.
    pub fn secret(&self, stored: SecretColumns) -> Result<KeptSecret, StoreError> {
        let SecretColumns { secret, previous_secret, previous_until } = stored;
        let previous = previous_secret.map(|secret| {
            let until = self.known("previous_until", previous_until.and_then(|at| at.0))?;
            Ok::<_, StoreError>(PreviousSecret { secret: Sealed(secret), until })
        });
        Ok(KeptSecret { present: Sealed(secret), previous: previous.transpose()? })
    }

    /// Converts a stored count; a negative number is an error.
    pub fn count(&self, column: &'static str, stored: i32) -> Result<u32, StoreError> {
        self.known(column, u32::try_from(stored).ok())
    }
}

/// Columns of the current and the previous secret, in every table that has both.
pub struct SecretColumns {
    pub secret: Vec<u8>,
    pub previous_secret: Option<Vec<u8>>,
    pub previous_until: Option<At>,
}

impl From<&KeptSecret> for SecretColumns {
    fn from(kept: &KeptSecret) -> Self {
        let previous = kept.previous.as_ref();
        Self {
            secret: kept.present.0.clone(),
            previous_secret: sealed_bytes(previous.map(|previous| &previous.secret)),
            previous_until: previous.map(|previous| previous.until.into()),
        }
    }
}

/// Converts a count for storage; a larger count becomes the column's maximum.
pub fn stored_count(count: u32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

/// The additional claims of a project's tokens as JSON; `None` if there are none.
pub fn stored_claims(claims: &FixedClaims) -> Option<String> {
    (!claims.is_empty()).then(|| claims.to_string())
}

/// The bytes of a sealed value for storage; `None` if there is none.
pub fn sealed_bytes(sealed: Option<&Sealed>) -> Option<Vec<u8>> {
    sealed.map(|sealed| sealed.0.clone())
}

/// What the rows stand for.
///
/// # Errors
/// [`StoreError::Inconsistent`] for the first row that cannot be decoded.
pub fn all<R, T: TryFrom<R, Error = StoreError>>(rows: Vec<R>) -> Result<Vec<T>, StoreError> {
    rows.into_iter().map(T::try_from).collect()
}

/// Converts the rows that can be decoded; passes the error of each other row to `tell`.
pub fn each<R, T: TryFrom<R, Error = StoreError>>(
    rows: impl IntoIterator<Item = R>,
    tell: impl Fn(&StoreError),
) -> Vec<T> {
    rows.into_iter().filter_map(|row| legible(T::try_from(row), &tell)).collect()
}

/// Returns a decoded value; passes the error to `tell` if there is one.
pub fn legible<T>(read: Result<T, StoreError>, tell: impl Fn(&StoreError)) -> Option<T> {
    read.inspect_err(tell).ok()
}

/// What the row stands for, if one was found.
///
/// # Errors
/// [`StoreError::Inconsistent`] if the row cannot be decoded.
pub fn maybe<R, T: TryFrom<R, Error = StoreError>>(
    row: Option<R>,
) -> Result<Option<T>, StoreError> {
    row.map(T::try_from).transpose()
}

/// An error that names the part of the store that is out of reach.
pub fn unavailable(what: &str) -> StoreError {
    StoreError::Unavailable(what.to_owned())
}

/// An error that names what is out of reach, with its cause.
pub fn unreachable(
    told: &'static str,
    cause: impl Into<Box<dyn Error + Send + Sync>>,
) -> StoreError {
    StoreError::Unreachable { told, cause: cause.into() }
}
