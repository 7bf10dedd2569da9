use super::failure::Failure;
use crate::config::Config;
use crate::counted::counted;
use crate::wiring::{Access, Core};
use dwar_kernel::ProjectId;

#[derive(clap::Args)]
pub struct OneProject {
    /// ID of the project
    #[arg(long, value_name = "ID")]
    pub project: ProjectId,
}

/// Opens the store and brings it up to date; not for a command that is
/// `read_only`, since only those that write migrate.
pub async fn open(config: Config, read_only: bool) -> Result<Core, Failure> {
    let core = Core::open(config, if read_only { Access::Read } else { Access::Write }).await?;
    if !read_only {
        core.migrate().await?;
        return Ok(core);
    }
    match core.database.pending_migrations().await?.len() {
        0 => {
            core.compare_keys().await?;
            Ok(core)
        }
        lacking => Err(Failure::Refused(format!(
            "{}, and this command only reads: run `dwar migrate`, or start the service",
            counted(lacking as u64, "migration is pending", "migrations are pending")
        ))),
    }
}

/// A small runtime for one command.
pub fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}
