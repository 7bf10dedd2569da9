//! `dwar backup`: a checked copy of the embedded database.

use super::answer::Answer;
use super::failure::Failure;
use crate::config::Config;
use crate::wiring::{Location, MIB, key_file};
use dwar_sqlite::beside;
use serde_json::json;
use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use tempfile::TempPath;

/// The answer of commands about the embedded database if the database is on a server.
pub const ON_A_SERVER: &str = "the database is on a server: use its own tools, pg_dump and pg_restore; \
                               see docs/operations/backups.md";
const PRIVATE: u32 = 0o600;

#[derive(clap::Args)]
pub struct Args {
    /// The file to write; one that exists is never overwritten
    file: PathBuf,
}

/// Copies the database as it is at one instant. Needs no key and changes nothing in the database.
pub fn run(config: &Config, asked: &Args) -> Result<Answer, Failure> {
    let Location::Sqlite(database) = Location::of(&config.database)? else {
        return Err(Failure::Refused(ON_A_SERVER.to_owned()));
    };
    let file = std::path::absolute(&asked.file)?;
    if file.symlink_metadata().is_ok() {
        return Err(exists(&file));
    }
    let size = size_of(&database)?;
    let spare = if on_one_disk(&database, &file) { config.database.min_free_mb } else { 0 };
    make_sure_of_room(&file, size.saturating_add(spare.saturating_mul(MIB)))?;
    let draft = Draft::begin(&file)?;
    dwar_sqlite::copy(&database, &draft.0).map_err(about(&database))?;
    dwar_sqlite::examine(&draft.0).map_err(about(&database))?;
    let bytes = draft.keep_as(&file)?;
    let key = key_file(config)?;
    let key_text = key.as_ref().map_or_else(
        || "the master key (secrets.master_key)".to_owned(),
        |path| format!("the master key {}", path.display()),
    );
    let text = format!(
        "Wrote {} ({:.1} MiB), and checked it.\nIt contains no key: keep {key_text} as well, in another place. Without that, the backup cannot be used.",
        file.display(),
        bytes as f64 / MIB as f64,
    );
    Ok(Answer::of(&json!({ "file": file, "bytes": bytes, "master_key_file": key }), text))
}

pub fn about<E: std::fmt::Display>(path: &Path) -> impl Fn(E) -> Failure {
    move |cause| Failure::Refused(format!("{} {cause}", path.display()))
}

/// The size of a database in bytes, with its log.
pub fn size_of(database: &Path) -> Result<u64, Failure> {
    let unusable = about(database);
    let file = std::fs::metadata(database);
    let file = file.map_err(|cause| unusable(format!("cannot be read: {cause}")))?;
    let log = beside(database, "-wal");
    Ok(file.len() + std::fs::metadata(log).map_or(0, |log| log.len()))
}

/// Refuses if the file system of `file` has too little space for `bytes`.
pub fn make_sure_of_room(file: &Path, bytes: u64) -> Result<(), Failure> {
    let folder = folder_of(file);
    let left = rustix::fs::statvfs(folder).map_err(std::io::Error::from);
    let left = left.map_err(|cause| about(folder)(format!("cannot be used: {cause}")))?;
    let free = left.f_bavail.saturating_mul(left.f_frsize);
    if free >= bytes {
        return Ok(());
    }
    let (free, bytes) = (free / MIB, bytes.div_ceil(MIB));
    Err(about(folder)(format!("has {free} MiB free, and {bytes} MiB are needed; nothing was done")))
}

fn on_one_disk(one: &Path, other: &Path) -> bool {
    let disk = |path: &Path| std::fs::metadata(path).map(|found| found.dev()).ok();
    disk(one) == disk(folder_of(other))
}

fn folder_of(file: &Path) -> &Path {
    file.parent().unwrap_or(file)
}

fn exists(file: &Path) -> Failure {
    about(file)("exists, and nothing is overwritten; choose another name")
}

/// A copy that is being written under a temporary name. It is deleted unless it is kept.
struct Draft(TempPath);

impl Draft {
    fn begin(target: &Path) -> Result<Self, Failure> {
        let path = beside(target, ".part");
        // Follows no link, and refuses a file that exists already, such as one of another user.
        let made = OpenOptions::new().write(true).create_new(true).mode(PRIVATE).open(&path);
        made.map_err(|cause| match cause.kind() {
            ErrorKind::AlreadyExists => about(&path)(
                "exists: another backup is being written, or one was killed; if so, remove it",
            ),
            _ => about(&path)(format!("cannot be written: {cause}")),
        })?;
        Ok(Self(TempPath::try_from_path(path)?))
    }

    /// Gives the draft its final name, if that is still free, and returns its size.
    fn keep_as(self, target: &Path) -> Result<u64, Failure> {
        let bytes = std::fs::metadata(&self.0)?.len();
        self.0.persist_noclobber(target).map_err(|refused| match refused.error.kind() {
            ErrorKind::AlreadyExists => exists(target),
            _ => Failure::System(refused.error),
        })?;
        File::open(folder_of(target))?.sync_all()?;
        Ok(bytes)
    }
}
