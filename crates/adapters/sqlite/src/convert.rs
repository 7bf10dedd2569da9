//! From columns to the domain's types and back; what cannot be read names its table, column, row.

use dwar_kernel::{BlindIndex, Digest, Sealed, StoreError, Timestamp};
use std::str::FromStr;

/// The row that is being read.
pub(crate) struct Row<'row> {
    table: &'static str,
    key: &'row str,
}

impl<'row> Row<'row> {
    pub(crate) const fn new(table: &'static str, key: &'row str) -> Self {
        Self { table, key }
    }

    /// An id, a key mode or whatever else reads itself from text.
    pub(crate) fn parse<T: FromStr>(
        &self,
        column: &'static str,
        text: &str,
    ) -> Result<T, StoreError> {
        text.parse().map_err(|_| self.inconsistent(column))
    }

    /// A word that may be unknown.
    pub(crate) fn known<T>(&self, column: &'static str, read: Option<T>) -> Result<T, StoreError> {
        read.ok_or_else(|| self.inconsistent(column))
    }

    pub(crate) fn instant(
        &self,
        column: &'static str,
        millis: i64,
    ) -> Result<Timestamp, StoreError> {
        self.known(column, Timestamp::from_timestamp_millis(millis))
    }

    pub(crate) fn maybe_instant(
        &self,
        column: &'static str,
        millis: Option<i64>,
    ) -> Result<Option<Timestamp>, StoreError> {
        millis.map(|millis| self.instant(column, millis)).transpose()
    }

    pub(crate) fn bytes(&self, column: &'static str, raw: &[u8]) -> Result<[u8; 32], StoreError> {
        raw.try_into().map_err(|_| self.inconsistent(column))
    }

    pub(crate) fn digest(&self, column: &'static str, raw: &[u8]) -> Result<Digest, StoreError> {
        self.bytes(column, raw).map(Digest)
    }

    pub(crate) fn index(&self, column: &'static str, raw: &[u8]) -> Result<BlindIndex, StoreError> {
        self.bytes(column, raw).map(BlindIndex)
    }

    pub(crate) fn count(&self, column: &'static str, stored: i32) -> Result<u32, StoreError> {
        u32::try_from(stored).map_err(|_| self.inconsistent(column))
    }

    fn inconsistent(&self, column: &'static str) -> StoreError {
        StoreError::Inconsistent { table: self.table, column, row: self.key.to_owned() }
    }
}

/// A count as stored; one beyond what the column holds stays at its end.
pub(crate) fn stored_count(count: u32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

pub(crate) fn millis(at: Option<Timestamp>) -> Option<i64> {
    at.map(|at| at.timestamp_millis())
}

pub(crate) fn sealed_bytes(sealed: Option<&Sealed>) -> Option<Vec<u8>> {
    sealed.map(|sealed| sealed.0.clone())
}
