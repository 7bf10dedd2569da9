//! `dwar restore`: replaces the database with a backup.

use super::answer::Answer;
use super::backup::{ON_A_SERVER, about, make_sure_of_room, size_of};
use super::confirm::{Confirm, Person};
use super::failure::Failure;
use super::open::{Usage, open};
use crate::config::Config;
use crate::wiring::{Access, Core, Location, MIB, check_keys_of_file, key_file};
use dwar_activity::installation::{HEARTBEAT, Instance};
use dwar_admin::views::instant;
use dwar_console::SettledSends;
use dwar_gateways::Secret;
use dwar_kernel::Timestamp;
use dwar_operator::Requester;
use dwar_sqlite::{Claim, FileError, beside};
use serde_json::json;
use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, chown};
use std::path::{Path, PathBuf};

/// The suffixes of a database and of the files beside it.
const BESIDE: [&str; 4] = ["", "-wal", "-shm", "-journal"];

#[derive(clap::Args)]
pub struct Args {
    /// The backup
    #[arg(required_unless_present = "in_place", conflicts_with = "in_place")]
    file: Option<PathBuf>,
    /// The database is already restored, by pg_restore or from a snapshot: only settle what the old
    /// state would repeat
    #[arg(long)]
    in_place: bool,
    /// Keep the sessions of users; those that ended since the backup work again
    #[arg(long)]
    keep_sessions: bool,
    #[command(flatten)]
    confirm: Confirm,
}

pub async fn run(config: Config, asked: Args, person: Person) -> Result<Answer, Failure> {
    let Args { file, keep_sessions: keep, ref confirm, .. } = asked;
    let loss = match keep {
        true => "Codes in force are withdrawn.",
        false => "Codes in force are withdrawn, and every session ends.",
    };
    match file {
        Some(file) => {
            if let Location::Sqlite(database) = Location::of(&config.database)? {
                let (file, database) = (file.display(), database.display());
                let question = format!("Put {file} in the place of {database}? {loss}");
                confirm.ask(person, &question)?;
            }
            from_file(config, &file, keep).await
        }
        None => {
            confirm.ask(person, &format!("Settle the database as one from a backup? {loss}"))?;
            in_place(config, keep).await
        }
    }
}

/// Restores from a file. The database stays unchanged until the backup is checked and settled under
/// another name.
async fn from_file(config: Config, file: &Path, keep: bool) -> Result<Answer, Failure> {
    let Location::Sqlite(database) = Location::of(&config.database)? else {
        return Err(Failure::Refused(ON_A_SERVER.to_owned()));
    };
    let place = claim(&database)?;
    if std::fs::canonicalize(file).is_ok_and(|it| it == place.path()) {
        return Err(about(file)("is the database itself"));
    }
    let spare = config.database.min_free_mb.saturating_mul(MIB);
    make_sure_of_room(place.path(), size_of(file)?.saturating_add(spare))?;
    let draft = Draft::of(file, place.path())?;
    dwar_sqlite::recognise(&draft.0).map_err(about(file))?;
    dwar_sqlite::examine(&draft.0).map_err(about(file))?;
    check_keys_of_file(&config, &draft.0).await?;
    let (settled, now) = settle(draft.configured(config)?, keep).await?;
    dwar_sqlite::settle(&draft.0).map_err(about(&draft.0))?;
    let (former, had_one) = (aside(place.path(), now), place.path().exists());
    place.put(&draft.0, &former).map_err(about(&database))?;
    Ok(answer(Some(file), had_one.then_some(former.as_path()), &settled))
}

/// Settles a database that other tools have restored.
async fn in_place(config: Config, keep: bool) -> Result<Answer, Failure> {
    if let Location::Sqlite(database) = Location::of(&config.database)? {
        drop(claim(&database)?);
    }
    let on_a_server = Location::of(&config.database)? == Location::Postgres;
    let core = open(config, Usage::Begins).await?;
    if on_a_server && let Some(Instance { host, pid, .. }) = running(&core).await? {
        let running =
            format!("the service runs on {host}, process {pid}: stop every instance first");
        return Err(Failure::Refused(running));
    }
    let (settled, _) = settle_in(&core, keep).await?;
    Ok(answer(None, None, &settled))
}

/// A process that runs the service on the server's database. The records of processes in a backup
/// do not change.
async fn running(core: &Core) -> Result<Option<Instance>, Failure> {
    const MOST: u32 = 100;
    let (instances, now) = (&core.console.instances, core.parts.tools.now());
    let known = instances.instances(MOST).await?;
    if !known.iter().any(|one| one.is_alive(now)) {
        return Ok(None);
    }
    tracing::info!("watching for a heartbeat of the service, for some seconds");
    let moved = async {
        loop {
            tokio::time::sleep(HEARTBEAT / 20).await;
            let mut seen = instances.instances(MOST).await?.into_iter();
            if let Some(alive) = seen.find(|one| !known.contains(one)) {
                return Ok(Some(alive));
            }
        }
    };
    tokio::time::timeout(HEARTBEAT + HEARTBEAT / 10, moved).await.unwrap_or(Ok(None))
}

fn claim(database: &Path) -> Result<Claim, Failure> {
    Claim::of(database).map_err(|cause| match cause {
        FileError::InUse => about(database)(
            "is in use: stop the service and every other program that has it open; nothing was \
             changed",
        ),
        cause => about(database)(cause),
    })
}

/// Settles the database of this configuration and closes it.
async fn settle(config: Config, keep: bool) -> Result<(SettledSends, Timestamp), Failure> {
    let core = Core::open(config, Access::Write).await?;
    core.migrate().await?;
    settle_in(&core, keep).await
}

async fn settle_in(core: &Core, keep: bool) -> Result<(SettledSends, Timestamp), Failure> {
    let now = core.parts.tools.now();
    let settled =
        core.console_parts().settle_restored().settle(&Requester::command_line(), keep).await?;
    Ok((settled, now))
}

/// A free name under which the former database is kept.
fn aside(database: &Path, now: Timestamp) -> PathBuf {
    let name = beside(database, &format!(".replaced-{}", now.format("%Y%m%dT%H%M%SZ")));
    let others = (2..u32::MAX).map(|count| beside(&name, &format!("-{count}")));
    let mut names = std::iter::once(name.clone()).chain(others);
    names.find(|name| !name.exists()).unwrap_or(name)
}

fn answer(file: Option<&Path>, kept: Option<&Path>, settled: &SettledSends) -> Answer {
    let SettledSends { newest, codes, sends, sessions } = *settled;
    let view = json!({
        "file": file,
        "former_database": kept,
        "newest_record": newest.map(instant),
        "codes_withdrawn": codes,
        "sends_ended": sends,
        "sessions_ended": sessions,
    });
    let mut text = Vec::new();
    text.extend(file.map(|file| format!("Restored {}.", file.display())));
    let kept = kept.map(Path::display);
    text.extend(kept.map(|kept| format!("The former database is {kept}; delete it in time.")));
    let sessions = sessions.map_or_else(|| "kept all".to_owned(), |ended| format!("ended {ended}"));
    text.push(format!(
        "Codes withdrawn: {codes}. Sends under way that were ended: {sends}. Sessions: {sessions}."
    ));
    let since = newest.map_or_else(|| "the backup".to_owned(), instant);
    text.push(format!(
        "What happened after {since} is forgotten: payments, erasures, new API keys and tokens, people \
         who were removed. See docs/operations/backups.md for what to do again."
    ));
    Answer::of(&view, text.join("\n"))
}

/// A copy of the backup that will replace the database. It is deleted with the files beside it
/// unless it is used.
struct Draft(PathBuf);

impl Draft {
    /// Copies the backup, with its log if there is one, as other tools leave it.
    fn of(file: &Path, database: &Path) -> Result<Self, Failure> {
        if dwar_sqlite::is_open_elsewhere(file) {
            return Err(about(file)(
                "is in use; to restore a copy of another installation, `dwar backup` makes one",
            ));
        }
        // Files that a killed process has left; this process holds the claim on the path.
        let draft = Self(beside(database, ".restoring"));
        draft.clear();
        for suffix in ["", "-wal", "-journal"] {
            let (from, to) = (beside(file, suffix), beside(&draft.0, suffix));
            let mut source = match File::open(&from) {
                Err(cause) if cause.kind() == ErrorKind::NotFound && !suffix.is_empty() => continue,
                opened => {
                    opened.map_err(|cause| about(&from)(format!("cannot be read: {cause}")))?
                }
            };
            let copied = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&to);
            let copied = copied.and_then(|mut target| std::io::copy(&mut source, &mut target));
            let given = copied.and_then(|_| give_to_service(&to));
            given.map_err(|cause| about(&to)(format!("cannot be written: {cause}")))?;
        }
        Ok(draft)
    }

    /// The configuration for the draft, with the key of its final path.
    fn configured(&self, mut config: Config) -> Result<Config, Failure> {
        if let Some(key) = key_file(&config)? {
            config.secrets.master_key_file = key.display().to_string();
        }
        config.database.url = Secret::new(format!("sqlite://{}", self.0.display()));
        Ok(config)
    }

    fn clear(&self) {
        for suffix in BESIDE {
            // The next restore removes anything that is left.
            let _ = std::fs::remove_file(beside(&self.0, suffix));
        }
    }
}

/// As root, gives a file the owner of its folder.
fn give_to_service(file: &Path) -> std::io::Result<()> {
    if !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    let folder = std::fs::metadata(file.parent().unwrap_or(file))?;
    chown(file, Some(folder.uid()), Some(folder.gid()))
}

impl Drop for Draft {
    fn drop(&mut self) {
        self.clear();
    }
}
