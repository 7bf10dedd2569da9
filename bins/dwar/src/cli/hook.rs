use super::answer::{Answer, lines, shown_once};
use super::failure::{Failure, of};
use super::open::{OneProject, open};
use crate::config::Config;
use clap::{Args, Subcommand};
use dwar_admin::views::{AddedHook, Hook, HookSecret, Page, RemovedHook};
use dwar_console::NewHook;
use dwar_kernel::{HookId, KeyMode};
use dwar_operator::By;
use dwar_project::{Hook as Kept, HookKind};

#[derive(Subcommand)]
pub enum Command {
    /// Add an address at which another login system has its codes delivered, and print its secret, once
    Add {
        #[command(flatten)]
        of: OneProject,
        /// Which system calls it
        #[arg(long, value_name = "supabase|logto")]
        kind: HookKind,
        /// Which world: live or test
        #[arg(long, value_name = "live|test")]
        mode: KeyMode,
        /// For how many seconds the codes of the other system work, 60 to 3600
        #[arg(long, value_name = "SECONDS")]
        expires_in: u64,
    },
    /// List the hooks of a project
    List(OneProject),
    /// Rotate the secret of a hook; the old one is accepted too for a day
    RotateSecret(OneHook),
    /// Remove a hook; calls to it are refused from now on
    Remove(OneHook),
}

#[derive(Args)]
pub struct OneHook {
    #[command(flatten)]
    of: OneProject,
    /// ID of the hook
    #[arg(long, value_name = "ID")]
    hook: HookId,
}

pub async fn run(config: Config, command: Command) -> Result<Answer, Failure> {
    let reads = matches!(command, Command::List(_));
    let hooks = open(config, reads).await?.management()?.hooks;
    let by = By::command_line();
    match command {
        Command::Add { of: OneProject { project }, kind, mode, expires_in } => {
            let added = hooks.add(&by, project, NewHook { kind, mode, expires_in }).await;
            let (hook, secret) = added.map_err(of(project))?;
            let text = format!("{}\n{}", line(&hook), shown_once(&hook.kind.shown(&secret)));
            Ok(Answer::of(&AddedHook::new(&hook, &secret), text))
        }
        Command::List(OneProject { project }) => {
            let listed = hooks.list(&by, project).await.map_err(of(project))?;
            let text = lines(&listed, line, "No hooks yet.");
            Ok(Answer::of(&Page::whole(listed.iter().map(Hook::from)), text))
        }
        Command::RotateSecret(OneHook { of: OneProject { project }, hook }) => {
            let rotated = hooks.rotate_secret(&by, project, hook).await;
            let (hook, secret) = rotated.map_err(of(project))?;
            Ok(Answer::of(&HookSecret::new(&hook, &secret), shown_once(&hook.kind.shown(&secret))))
        }
        Command::Remove(OneHook { of: OneProject { project }, hook }) => {
            hooks.remove(&by, project, hook).await.map_err(of(project))?;
            Ok(Answer::of(&RemovedHook::from(hook), "Removed.".to_owned()))
        }
    }
}

fn line(hook: &Kept) -> String {
    let Kept { id, kind, world, lifetime, .. } = hook;
    let mode = world.mode;
    format!("{id}  {kind}, {mode}, codes work {} s, at /hooks/{id}", lifetime.as_secs())
}
