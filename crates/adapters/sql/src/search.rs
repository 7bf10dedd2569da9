//! Rows of phone searches by staff who see numbers masked.

use crate::schema::phone_searches;
use crate::{At, Id, Row};
use diesel::prelude::*;
use dwar_kernel::{SearcherId, StoreError, Timestamp};
use dwar_operator::{PhoneSearch, Searches};

/// Row of `phone_searches`: a phone number that an operator or a token searched for.
#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = phone_searches)]
pub struct SearchRow {
    pub searcher_id: Id,
    pub searched_at: At,
    pub phone_index: Vec<u8>,
}

impl SearchRow {
    /// Makes the row of a search that counts from `now` on.
    pub fn new(search: &PhoneSearch, now: Timestamp) -> Self {
        Self {
            searcher_id: search.searcher.into(),
            searched_at: now.into(),
            phone_index: search.number.0.to_vec(),
        }
    }

    /// What these rows of one searcher stand for.
    ///
    /// # Errors
    /// [`StoreError::Inconsistent`] for the first row that cannot be decoded.
    pub fn searches(searcher: SearcherId, rows: Vec<Self>) -> Result<Searches, StoreError> {
        let read = Row::new("phone_searches", searcher);
        let one = |row: Self| {
            let number = read.index("phone_index", row.phone_index)?;
            Ok((number, read.at("searched_at", row.searched_at)?))
        };
        rows.into_iter().map(one).collect::<Result<_, _>>().map(Searches)
    }
}
