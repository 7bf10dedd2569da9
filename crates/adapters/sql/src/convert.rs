//! From columns to the domain's types and back; what cannot be read names its table, column, row.

use crate::{At, Id};
use dwar_kernel::{
    BlindIndex, Digest, FixedClaims, KeptSecret, PreviousSecret, ProjectId, ProjectMode, Sealed,
    StoreError, Timestamp, TokenProfile,
};
use std::error::Error;
use std::fmt::Display;
use std::str::FromStr;
use uuid::Uuid;

/// The row that is being read.
pub struct Row<K> {
    table: &'static str,
    key: K,
}

/// Each names the column it reads.
///
/// # Errors
/// [`StoreError::Inconsistent`] for what the domain could not have written.
impl<K: Display> Row<K> {
    /// A row of a table, by what an operator would look for it by.
    pub const fn new(table: &'static str, key: K) -> Self {
        Self { table, key }
    }

    /// A word that may be unknown, or anything else that may not be there.
    pub fn known<T>(&self, column: &'static str, read: Option<T>) -> Result<T, StoreError> {
        read.ok_or_else(|| StoreError::Inconsistent {
            table: self.table,
            column,
            row: self.key.to_string(),
        })
    }

    /// A key mode or whatever else reads itself from text.
    pub fn parse<T: FromStr>(&self, column: &'static str, text: &str) -> Result<T, StoreError> {
        self.known(column, text.parse().ok())
    }

    /// An id of any kind.
    pub fn id<T: From<Uuid>>(&self, column: &'static str, stored: Id) -> Result<T, StoreError> {
        self.known(column, stored.0.map(T::from))
    }

    /// The world that the columns `project_id` and `mode` name.
    pub fn world(&self, project: Id, mode: &str) -> Result<ProjectMode, StoreError> {
        let project: ProjectId = self.id("project_id", project)?;
        Ok(project.in_mode(self.parse("mode", mode)?))
    }

    /// An instant.
    pub fn at(&self, column: &'static str, stored: At) -> Result<Timestamp, StoreError> {
        self.known(column, stored.0)
    }

    /// An instant, if there is one.
    pub fn maybe_at(
        &self,
        column: &'static str,
        stored: Option<At>,
    ) -> Result<Option<Timestamp>, StoreError> {
        stored.map(|stored| self.at(column, stored)).transpose()
    }

    /// Something that reads itself from text, if it is there.
    pub fn maybe_parse<T: FromStr>(
        &self,
        column: &'static str,
        text: Option<&str>,
    ) -> Result<Option<T>, StoreError> {
        text.map(|text| self.parse(column, text)).transpose()
    }

    /// How the tokens of a project look, whatever its claims are by the rules of today.
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

    /// A MAC or anything else of 32 bytes.
    pub fn bytes(&self, column: &'static str, raw: Vec<u8>) -> Result<[u8; 32], StoreError> {
        self.known(column, raw.try_into().ok())
    }

    /// A keyed digest.
    pub fn digest(&self, column: &'static str, raw: Vec<u8>) -> Result<Digest, StoreError> {
        self.bytes(column, raw).map(Digest)
    }

    /// The index of a phone.
    pub fn index(&self, column: &'static str, raw: Vec<u8>) -> Result<BlindIndex, StoreError> {
        self.bytes(column, raw).map(BlindIndex)
    }

    /// A secret, and the one before it.
    pub fn secret(&self, stored: SecretColumns) -> Result<KeptSecret, StoreError> {
        let SecretColumns { secret, previous_secret, previous_until } = stored;
        let previous = previous_secret.map(|secret| {
            let until = self.known("previous_until", previous_until.and_then(|at| at.0))?;
            Ok::<_, StoreError>(PreviousSecret { secret: Sealed(secret), until })
        });
        Ok(KeptSecret { present: Sealed(secret), previous: previous.transpose()? })
    }

    /// A count.
    pub fn count(&self, column: &'static str, stored: i32) -> Result<u32, StoreError> {
        self.known(column, u32::try_from(stored).ok())
    }
}

/// The columns of a secret and the one before it, in the tables that have both.
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

/// A count as stored; one beyond what the column holds stays at its end.
pub fn stored_count(count: u32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

/// The claims that a project adds to its tokens, as stored.
pub fn stored_claims(claims: &FixedClaims) -> Option<String> {
    (!claims.is_empty()).then(|| claims.to_string())
}

/// What is sealed, as stored.
pub fn sealed_bytes(sealed: Option<&Sealed>) -> Option<Vec<u8>> {
    sealed.map(|sealed| sealed.0.clone())
}

/// What the rows stand for.
///
/// # Errors
/// [`StoreError::Inconsistent`] for the first that cannot be read.
pub fn all<R, T: TryFrom<R, Error = StoreError>>(rows: Vec<R>) -> Result<Vec<T>, StoreError> {
    rows.into_iter().map(T::try_from).collect()
}

/// What those rows stand for that can be read; `tell` is told of each of the others.
pub fn each<R, T: TryFrom<R, Error = StoreError>>(
    rows: impl IntoIterator<Item = R>,
    tell: impl Fn(&StoreError),
) -> Vec<T> {
    rows.into_iter().filter_map(|row| legible(T::try_from(row), &tell)).collect()
}

/// What was read; `tell` is told if it could not be.
pub fn legible<T>(read: Result<T, StoreError>, tell: impl Fn(&StoreError)) -> Option<T> {
    read.inspect_err(tell).ok()
}

/// What the row stands for, if one was found.
///
/// # Errors
/// [`StoreError::Inconsistent`] if it cannot be read.
pub fn maybe<R, T: TryFrom<R, Error = StoreError>>(
    row: Option<R>,
) -> Result<Option<T>, StoreError> {
    row.map(T::try_from).transpose()
}

/// An error that says which part of the store is out of reach.
pub fn unavailable(what: &str) -> StoreError {
    StoreError::Unavailable(what.to_owned())
}

/// What is out of reach, and why.
pub fn unreachable(
    told: &'static str,
    cause: impl Into<Box<dyn Error + Send + Sync>>,
) -> StoreError {
    StoreError::Unreachable { told, cause: cause.into() }
}
