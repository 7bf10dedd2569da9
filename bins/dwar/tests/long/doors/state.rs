//! The whole content of a database, to show that nothing was changed.

use crate::common::Database;
use rusqlite::{Connection, Row};
use std::collections::BTreeMap;
use std::path::Path;

/// Tables that change by themselves: instances, alerts, shares of quotas, counts, checks of the
/// disk, proofs of writes.
const RESTLESS: [&str; 8] = [
    "alerts",
    "figures",
    "figures_lease",
    "instance_troubles",
    "instances",
    "quota_shares",
    "room_probe",
    "write_proofs",
];
/// Columns that a request changes: the time of the last use.
const SEEN: [&str; 3] = ["used_at", "used_from", "seen_at"];

pub type State = BTreeMap<String, Vec<String>>;

pub async fn of(database: &Database) -> State {
    let mut tables = match database {
        Database::Sqlite(folder) => of_file(&folder.path().join("dwar.db")),
        _ => of_server(&database.url()).await,
    };
    tables.retain(|table, _| !RESTLESS.contains(&table.as_str()));
    tables
}

fn of_file(path: &Path) -> State {
    let file = Connection::open(path).unwrap();
    let mut names = file.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").unwrap();
    let names = names.query_map([], |row| row.get(0)).unwrap();
    let names: Vec<String> = names.map(Result::unwrap).collect();
    names.into_iter().map(|name| (name.clone(), rows(&file, &name))).collect()
}

fn rows(file: &Connection, table: &str) -> Vec<String> {
    let mut all = file.prepare(&format!("SELECT * FROM {table}")).unwrap();
    let columns: Vec<String> = all.column_names().into_iter().map(str::to_owned).collect();
    let text = |row: &Row<'_>| {
        let kept = columns.iter().filter(|column| !SEEN.contains(&column.as_str()));
        let value =
            |column: &String| format!("{column} {:?}", row.get_ref(column.as_str()).unwrap());
        Ok(kept.map(value).collect::<Vec<_>>().join(", "))
    };
    all.query_map([], text).unwrap().map(Result::unwrap).collect()
}

async fn of_server(url: &str) -> State {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
    let driving = tokio::spawn(connection);
    let names = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'";
    let seen: String = SEEN.iter().map(|column| format!(" - '{column}'")).collect();
    let mut tables = State::new();
    for name in client.query(names, &[]).await.unwrap() {
        let name: String = name.get(0);
        let rows = format!("SELECT (to_jsonb(t){seen})::text FROM {name} t");
        let rows = client.query(&rows, &[]).await.unwrap();
        tables.insert(name, rows.iter().map(|row| row.get(0)).collect());
    }
    driving.abort();
    tables
}

/// The rows that only one of the two states contains.
pub fn difference(before: &State, after: &State) -> String {
    let mut told = String::new();
    for (table, now) in after {
        let was = &before[table];
        let gone = was.iter().filter(|row| !now.contains(row)).map(|row| ('-', row));
        let new = now.iter().filter(|row| !was.contains(row)).map(|row| ('+', row));
        for (sign, row) in gone.chain(new) {
            told.push_str(&format!("{table}: {sign} {row}\n"));
        }
    }
    told
}
