//! Records which keys the database belongs to.

use crate::dialect::{Conn, Failure};
use diesel::dsl::{exists, max, select};
use diesel::prelude::*;
use dwar_activity::installation::{KnownKeys, NewKeys, StoredKeys};
use dwar_kernel::Digest;
use dwar_sql::Row;
use dwar_sql::schema::{admin_tokens, key_checks, operators, projects, signing_keys};

const MASTER: &str = "master";
const LOOKUP: &str = "lookup";

/// Reads the record of the keys that this database belongs to, as far as its schema, without these
/// migrations, has it.
pub(crate) fn look(conn: &mut Conn, lacking: &[String]) -> Result<StoredKeys, Failure> {
    if dwar_sql::lacks_all(lacking) {
        return Ok(StoredKeys { is_empty: true, ..StoredKeys::default() });
    }
    let known = known(conn)?;
    let is_empty = known.masters.is_empty() && is_empty(conn)?;
    Ok(StoredKeys { is_empty, known })
}

/// Records the keys that are used from now on.
pub(crate) fn note(conn: &mut Conn, new: NewKeys) -> QueryResult<()> {
    if let Some(lookup) = new.lookup {
        add(conn, LOOKUP, lookup, 0)?;
    }
    if let Some(master) = new.master {
        let last: Option<i64> = key_checks::table
            .filter(key_checks::kind.eq(MASTER))
            .select(max(key_checks::turn))
            .get_result(conn)?;
        add(conn, MASTER, master, last.map_or(0, |last| last + 1))?;
    }
    Ok(())
}

fn add(conn: &mut Conn, kind: &str, Digest(check): Digest, turn: i64) -> QueryResult<()> {
    let row = (
        key_checks::check_value.eq(check.to_vec()),
        key_checks::kind.eq(kind),
        key_checks::turn.eq(turn),
    );
    diesel::insert_into(key_checks::table)
        .values(row)
        .on_conflict(key_checks::check_value)
        .do_update()
        .set(key_checks::turn.eq(turn))
        .execute(conn)?;
    Ok(())
}

fn known(conn: &mut Conn) -> Result<KnownKeys, Failure> {
    let query = key_checks::table.order(key_checks::turn);
    let rows: Vec<(Vec<u8>, String)> =
        query.select((key_checks::check_value, key_checks::kind)).load(conn)?;
    let mut known = KnownKeys::default();
    for (check, kind) in rows {
        let check = Row::new("key_checks", &kind).digest("check_value", check)?;
        match kind.as_str() {
            MASTER => known.masters.push(check),
            _ => known.lookup = Some(check),
        }
    }
    Ok(known)
}

/// Tells whether no row was sealed or digested with a key yet.
fn is_empty(conn: &mut Conn) -> QueryResult<bool> {
    let used: bool = select(exists(projects::table.select(projects::id))).get_result(conn)?
        || select(exists(signing_keys::table.select(signing_keys::kid))).get_result(conn)?
        || select(exists(operators::table.select(operators::id))).get_result(conn)?
        || select(exists(admin_tokens::table.select(admin_tokens::id))).get_result(conn)?;
    Ok(!used)
}
