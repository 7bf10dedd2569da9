use super::answer::{Answer, lines, old_secret_until, shown_once};
use super::confirm::{Confirm, Person};
use super::failure::{Failure, of};
use super::open::{OneProject, Usage, open};
use crate::config::Config;
use clap::{Args, Subcommand};
use dwar_admin::views::{HookSecret, HookView, Page, RemovedHook};
use dwar_console::{ChangedLifetimes, Management, NewHook};
use dwar_kernel::{HookId, KeyMode};
use dwar_operator::Requester;
use dwar_project::{Hook as Kept, HookKind};

#[derive(Subcommand)]
pub enum Command {
    /// Add an address that another login system calls to have its codes delivered, and print its
    /// secret, once
    Add {
        #[command(flatten)]
        of: OneProject,
        /// System that calls it
        #[arg(long, value_name = "supabase|logto")]
        kind: HookKind,
        /// Mode: live or test
        #[arg(long, value_name = "live|test")]
        mode: KeyMode,
        /// For how many seconds codes of the other system are valid, 60 to 3600
        #[arg(long, value_name = "SECONDS")]
        expires_in: u64,
        /// For how many seconds codes of its second factor are valid, 60 to 3600; only for
        /// Supabase, 300 by default
        #[arg(long, value_name = "SECONDS")]
        mfa_expires_in: Option<u64>,
    },
    /// List the hooks of a project
    List(OneProject),
    /// Change how long codes of the other system are valid
    Set {
        #[command(flatten)]
        it: OneHook,
        #[command(flatten)]
        lifetimes: Lifetimes,
    },
    /// Rotate the secret of a hook; the old one is also accepted for a day
    RotateSecret(OneHook),
    /// Remove a hook; calls to it are refused from now on
    Remove {
        #[command(flatten)]
        it: OneHook,
        #[command(flatten)]
        confirm: Confirm,
    },
}

impl Command {
    const fn of(&self) -> &OneProject {
        match self {
            Self::Add { of, .. } | Self::List(of) => of,
            Self::Set { it, .. } | Self::RotateSecret(it) | Self::Remove { it, .. } => &it.of,
        }
    }
}

#[derive(Args)]
pub struct OneHook {
    #[command(flatten)]
    of: OneProject,
    /// ID of the hook
    #[arg(long, value_name = "ID")]
    hook: HookId,
}

#[derive(Args)]
#[group(required = true, multiple = true)]
pub struct Lifetimes {
    /// For how many seconds codes of the other system are valid, 60 to 3600
    #[arg(long, value_name = "SECONDS")]
    expires_in: Option<u64>,
    /// For how many seconds codes of its second factor are valid, 60 to 3600; only for Supabase
    #[arg(long, value_name = "SECONDS")]
    mfa_expires_in: Option<u64>,
}

pub async fn run(config: Config, command: Command, person: Person) -> Result<Answer, Failure> {
    let reads = matches!(command, Command::List(_));
    let core = open(config, Usage::of(reads)).await?;
    let Management { projects, hooks, .. } = core.management()?;
    let (by, project) = (Requester::command_line(), command.of().id(&projects).await?);
    let (now, public_url) = (core.parts.tools.now(), core.public_url());
    let view = HookView { now, public_url: public_url.as_deref() };
    match command {
        Command::Add { kind, mode, expires_in, mfa_expires_in, .. } => {
            let new = NewHook { kind, mode, expires_in, mfa_expires_in };
            let added = hooks.add(&by, project, new).await;
            let (hook, secret) = added.map_err(of(project))?;
            let shown = shown_once(&hook.kind.shown(&secret));
            let text = format!("{}\n{shown}", line(&hook, view));
            Ok(Answer::of(&view.added(&hook, &secret), text))
        }
        Command::List(_) => {
            let listed = hooks.list(&by, project).await.map_err(of(project))?;
            let text = lines(&listed, |hook| line(hook, view), "No hooks yet.");
            Ok(Answer::of(&Page::whole(listed.iter().map(|hook| view.of(hook))), text))
        }
        Command::Set { it: OneHook { hook, .. }, lifetimes } => {
            let Lifetimes { expires_in, mfa_expires_in } = lifetimes;
            let changed = ChangedLifetimes { expires_in, mfa_expires_in };
            let changed = hooks.change(&by, project, hook, changed).await.map_err(of(project))?;
            Ok(Answer::of(&view.of(&changed), line(&changed, view)))
        }
        Command::RotateSecret(OneHook { hook, .. }) => {
            let rotated = hooks.rotate_secret(&by, project, hook).await;
            let (hook, secret) = rotated.map_err(of(project))?;
            Ok(Answer::of(&HookSecret::new(&hook, &secret), shown_once(&hook.kind.shown(&secret))))
        }
        Command::Remove { it: OneHook { hook, .. }, confirm } => {
            if confirm.asks(person) {
                let listed = hooks.list(&by, project).await.map_err(of(project))?;
                if let Some(Kept { kind, project_mode, .. }) =
                    listed.iter().find(|one| one.id == hook)
                {
                    let mode = project_mode.mode;
                    let question = format!(
                        "Remove the {kind} hook ({mode})? Calls to it are refused from now on."
                    );
                    confirm.ask(person, &question)?;
                }
            }
            hooks.remove(&by, project, hook).await.map_err(of(project))?;
            Ok(Answer::of(&RemovedHook::from(hook), "Removed.".to_owned()))
        }
    }
}

fn line(hook: &Kept, view: HookView<'_>) -> String {
    let Kept { id, kind, project_mode, lifetime, .. } = hook;
    let (mode, seconds, address) = (project_mode.mode, lifetime.as_secs(), view.address(hook));
    let mfa = hook.mfa_lifetime.map(|it| format!(" (second factor {} s)", it.as_secs()));
    let mfa = mfa.unwrap_or_default();
    let old = old_secret_until(&hook.secret, view.now, "is accepted");
    format!("{id}  {kind}, {mode}, codes work {seconds} s{mfa}, at {address}{old}")
}
