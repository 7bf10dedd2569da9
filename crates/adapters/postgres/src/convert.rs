//! From columns to the domain's types and back; what cannot be read names its table, column, row.

use dwar_kernel::{BlindIndex, Digest, Sealed, StoreError};
use std::fmt::Display;
use std::str::FromStr;

/// The row that is being read.
pub(crate) struct Row<K> {
    table: &'static str,
    key: K,
}

impl<K: Display> Row<K> {
    pub(crate) const fn new(table: &'static str, key: K) -> Self {
        Self { table, key }
    }

    /// A key mode or whatever else reads itself from text.
    pub(crate) fn parse<T: FromStr>(
        &self,
        column: &'static str,
        text: &str,
    ) -> Result<T, StoreError> {
        self.known(column, text.parse().ok())
    }

    /// A word that may be unknown.
    pub(crate) fn known<T>(&self, column: &'static str, read: Option<T>) -> Result<T, StoreError> {
        read.ok_or_else(|| StoreError::Inconsistent {
            table: self.table,
            column,
            row: self.key.to_string(),
        })
    }

    pub(crate) fn bytes(&self, column: &'static str, raw: Vec<u8>) -> Result<[u8; 32], StoreError> {
        self.known(column, raw.try_into().ok())
    }

    pub(crate) fn digest(&self, column: &'static str, raw: Vec<u8>) -> Result<Digest, StoreError> {
        self.bytes(column, raw).map(Digest)
    }

    pub(crate) fn index(
        &self,
        column: &'static str,
        raw: Vec<u8>,
    ) -> Result<BlindIndex, StoreError> {
        self.bytes(column, raw).map(BlindIndex)
    }

    pub(crate) fn count(&self, column: &'static str, stored: i32) -> Result<u32, StoreError> {
        self.known(column, u32::try_from(stored).ok())
    }
}

/// A count as stored; one beyond what the column holds stays at its end.
pub(crate) fn stored_count(count: u32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

pub(crate) fn sealed_bytes(sealed: Option<&Sealed>) -> Option<Vec<u8>> {
    sealed.map(|sealed| sealed.0.clone())
}
