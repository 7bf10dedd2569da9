//! Exports of closed months of ledgers: one file for each project and month, in a folder.
//!
//! A file consists of JSON lines. Each line contains the SHA-256 of the previous line, and the
//! first one that of the previous month's file. So no line can be changed, removed or added
//! unnoticed. The last line contains the number of entries.

use dwar_admin::views::{WalletEntry, instant};
use dwar_kernel::ProjectId;
use dwar_sqlite::beside;
use dwar_wallet::{ExportError, FileDigest, LedgerExport, LedgerExports, Month, StatementLine};
use rustix::fs::Mode;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use tempfile::TempPath;

const PRIVATE: u32 = 0o600;
/// The version of the file format, which the first line names.
const VERSION: u8 = 1;

/// A folder with the exports of closed months.
pub struct ExportFolder(pub PathBuf);

/// An export in progress, beside its final file.
struct Draft {
    target: PathBuf,
    path: TempPath,
    file: BufWriter<File>,
    whole: Sha256,
    /// The digest of the last line; at first that of the previous month's file, if there is one.
    previous: Option<FileDigest>,
    entries: u64,
    amount: i64,
    held: i64,
}

#[derive(Serialize)]
struct Head {
    dwar_ledger: u8,
    project_id: String,
    month: String,
    since: String,
    until: String,
}

#[derive(Serialize)]
struct End {
    entries: u64,
    amount_paise: i64,
    held_paise: i64,
}

#[derive(Serialize)]
struct Line<'object, T> {
    previous_sha256: Option<String>,
    #[serde(flatten)]
    object: &'object T,
}

impl ExportFolder {
    pub fn file(&self, project: ProjectId, month: Month) -> PathBuf {
        self.0.join(format!("ledger-{project}-{month}.jsonl"))
    }
}

#[async_trait::async_trait]
impl LedgerExports for ExportFolder {
    async fn begin(
        &self,
        project: ProjectId,
        month: Month,
        previous: Option<FileDigest>,
    ) -> Result<Box<dyn LedgerExport>, ExportError> {
        let target = self.file(project, month);
        let draft = beside(&target, ".part");
        let file = claim(&draft).map_err(about(&draft))?;
        let path = TempPath::try_from_path(draft).map_err(about(&target))?;
        let mut draft = Draft {
            target,
            path,
            file: BufWriter::new(file),
            whole: Sha256::new(),
            previous,
            entries: 0,
            amount: 0,
            held: 0,
        };
        let head = Head {
            dwar_ledger: VERSION,
            project_id: project.to_string(),
            month: month.to_string(),
            since: instant(month.since()),
            until: instant(month.until()),
        };
        draft.line(&head)?;
        Ok(Box::new(draft))
    }

    async fn digest(
        &self,
        project: ProjectId,
        month: Month,
    ) -> Result<Option<FileDigest>, ExportError> {
        let path = self.file(project, month);
        match digest_of(&path) {
            Ok(digest) => Ok(Some(digest)),
            Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(None),
            Err(cause) => Err(about(&path)(cause)),
        }
    }
}

#[async_trait::async_trait]
impl LedgerExport for Draft {
    async fn add(&mut self, lines: &[StatementLine]) -> Result<(), ExportError> {
        for line in lines {
            self.entries += 1;
            self.amount = self.amount.saturating_add(line.entry.amount.0);
            self.held = self.held.saturating_add(line.entry.held.0);
            self.line(&WalletEntry::from(line))?;
        }
        Ok(())
    }

    async fn finish(mut self: Box<Self>) -> Result<FileDigest, ExportError> {
        let (entries, amount_paise, held_paise) = (self.entries, self.amount, self.held);
        self.line(&End { entries, amount_paise, held_paise })?;
        let Self { target, path, file, whole, .. } = *self;
        let digest = FileDigest(whole.finalize().into());
        let unusable = about(&target);
        let file = file.into_inner().map_err(|cause| unusable(cause.into_error()))?;
        file.sync_all().map_err(&unusable)?;
        // Checks the bytes on the disk, not those in memory.
        if digest_of(&path).map_err(&unusable)? != digest {
            return Err(ExportError(format!("{} is not what was written to it", path.display())));
        }
        keep(path, &target, digest)?;
        Ok(digest)
    }
}

impl Draft {
    /// Writes one object with the digest of the previous line.
    fn line(&mut self, object: &impl Serialize) -> Result<(), ExportError> {
        let previous_sha256 = self.previous.take().map(|digest| digest.to_string());
        let unusable = about(&self.target);
        let text = serde_json::to_string(&Line { previous_sha256, object });
        let mut text = text.map_err(|cause| unusable(cause.into()))?;
        self.previous = Some(FileDigest(Sha256::digest(&text).into()));
        text.push('\n');
        self.whole.update(&text);
        self.file.write_all(text.as_bytes()).map_err(unusable)
    }
}

/// Opens and locks the draft; overwrites what a killed run has left.
fn claim(path: &Path) -> io::Result<File> {
    let flags = rustix::fs::OFlags::NOFOLLOW.bits();
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(PRIVATE)
        .custom_flags(flags.cast_signed())
        .open(path)?;
    let busy = || io::Error::other("is being written by another run of this command");
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(busy()),
        Err(TryLockError::Error(cause)) => return Err(cause),
    }
    // Before the lock was released, its holder may have renamed or removed the file.
    if std::fs::metadata(path)?.ino() != file.metadata()?.ino() {
        return Err(busy());
    }
    rustix::fs::fchmod(&file, Mode::from_raw_mode(PRIVATE))?;
    file.set_len(0)?;
    Ok(file)
}

/// Gives a draft its final name. An existing file stays, and must have the same digest.
fn keep(draft: TempPath, target: &Path, digest: FileDigest) -> Result<(), ExportError> {
    let unusable = about(target);
    match draft.persist_noclobber(target) {
        Ok(()) => {}
        Err(refused) if refused.error.kind() == ErrorKind::AlreadyExists => {
            if digest_of(target).map_err(&unusable)? != digest {
                return Err(ExportError(format!(
                    "{} exists and is something else; nothing is overwritten, choose another folder",
                    target.display()
                )));
            }
            File::open(target).and_then(|file| file.sync_all()).map_err(&unusable)?;
        }
        Err(refused) => return Err(unusable(refused.error)),
    }
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = File::open(folder.unwrap_or_else(|| Path::new(".")));
    folder.and_then(|folder| folder.sync_all()).map_err(unusable)
}

/// The SHA-256 of a file.
fn digest_of(path: &Path) -> io::Result<FileDigest> {
    let (mut file, mut hash, mut part) = (File::open(path)?, Sha256::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut part)? {
            0 => return Ok(FileDigest(hash.finalize().into())),
            read => hash.update(&part[..read]),
        }
    }
}

fn about(path: &Path) -> impl Fn(io::Error) -> ExportError {
    move |cause| ExportError(format!("{}: {cause}; no entry was removed", path.display()))
}
