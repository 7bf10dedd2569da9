use super::answer::{Answer, lines};
use super::confirm::{Confirm, Person};
use super::failure::Failure;
use super::open::{ProjectRef, Usage, open};
use crate::config::{Config, RunMode};
use clap::Subcommand;
use dwar_admin::views::{self, InvitedOperator, Page, RemovedOperator, instant};
use dwar_console::{Invited, ManageOperators, Management, SignInState};
use dwar_kernel::Timestamp;
use dwar_operator::{Access, Lockout, Operator, Requester, Role};

#[derive(Subcommand)]
pub enum Command {
    /// Add an operator: print a link to choose a password, which works once, for three days
    #[command(alias = "invite")]
    Add {
        /// The name they sign in with
        #[arg(long)]
        name: String,
        /// Owner of the installation, with full access
        #[arg(long, conflicts_with_all = ["project", "role"], required_unless_present = "project")]
        owner: bool,
        /// The project they get access to: its name, its ID, or the first characters of its ID, at least 4
        #[arg(long, requires = "role")]
        project: Option<ProjectRef>,
        /// Their role there: owner, member, support or viewer
        #[arg(long, value_parser = role, requires = "project")]
        role: Option<Role>,
    },
    /// Print another link for an operator who has not signed in yet; the previous link stops
    /// working
    Renew(OneOperator),
    /// List every operator
    List,
    /// Remove an operator's password, second factor, passkeys, sessions and lock, and print a new
    /// link
    Reset {
        #[command(flatten)]
        it: OneOperator,
        #[command(flatten)]
        confirm: Confirm,
    },
    /// Unlock an operator who is locked out or slowed after failed sign-ins
    Unlock(OneOperator),
    /// Remove an operator and end their sessions
    Remove {
        #[command(flatten)]
        it: OneOperator,
        #[command(flatten)]
        confirm: Confirm,
    },
}

#[derive(clap::Args)]
pub struct OneOperator {
    /// The name they sign in with
    #[arg(long, required_unless_present = "bare_name", conflicts_with = "bare_name")]
    name: Option<String>,
    /// The name without the flag, as earlier versions accepted it
    #[arg(value_name = "NAME", hide = true)]
    bare_name: Option<String>,
}

impl OneOperator {
    async fn find(&self, operators: &ManageOperators) -> Result<Operator, Failure> {
        // clap requires one of them.
        let name = self.name.as_ref().or(self.bare_name.as_ref());
        Ok(operators.named(name.map_or("", String::as_str)).await?)
    }
}

pub async fn run(config: Config, command: Command, person: Person) -> Result<Answer, Failure> {
    let is_quiet = matches!(command, Command::List | Command::Unlock(_) | Command::Remove { .. });
    // Check this before any change: an operator who gets no link must not lose a password.
    let base = if is_quiet { String::new() } else { dashboard(&config)? };
    let usage = match command {
        Command::List => Usage::Reads,
        Command::Add { .. } => Usage::Begins,
        _ => Usage::Changes,
    };
    let core = open(config, usage).await?;
    let Management { projects, operators, .. } = core.management()?;
    let by = Requester::command_line();
    match command {
        Command::Add { name, project, role, .. } => {
            let access = match project.zip(role) {
                Some((named, role)) => Access::one(named.id(&projects).await?, role),
                None => Access::everything(),
            };
            let invited = operators.invite(&by, &name, access).await;
            Ok(welcome(&invited?, &base))
        }
        Command::Renew(it) => {
            let operator = it.find(&operators).await?;
            let invited = operators.renew_invitation(&by, operator.id).await;
            Ok(welcome(&invited?, &base))
        }
        Command::List => listed(&operators, &by).await,
        Command::Reset { it, confirm } => {
            let operator = it.find(&operators).await?;
            let question = format!(
                "Reset {}? Password, second factor, passkeys and sessions are removed.",
                operator.name
            );
            confirm.ask(person, &question)?;
            let invited = operators.reset(&by, operator.id).await;
            Ok(welcome(&invited?, &base))
        }
        Command::Unlock(it) => {
            let operator = it.find(&operators).await?;
            let operator = operators.unlock(&by, operator.id).await?;
            let view =
                views::Operator::seen_by(&by, &operator, &state_of(&operators, &operator).await?);
            let text = format!("Unlocked {}. They can try to sign in now.", operator.name);
            Ok(Answer::of(&view, text))
        }
        Command::Remove { it, confirm } => {
            let operator = it.find(&operators).await?;
            let question = format!("Remove {} and end their sessions?", operator.name);
            confirm.ask(person, &question)?;
            operators.remove(&by, operator.id).await?;
            let text = format!("Removed {} and ended all their sessions.", operator.name);
            Ok(Answer::of(&RemovedOperator::from(operator.id), text))
        }
    }
}

fn dashboard(config: &Config) -> Result<String, Failure> {
    let settings = &config.dashboard;
    let listens = settings.address(config.environment == RunMode::Production).is_some();
    if listens || !settings.public_url.is_empty() {
        return Ok(settings.base_url());
    }
    Err(Failure::Refused(
        "there is no dashboard for the link: set dashboard.address (in production it is off \
         until then), or dashboard.public_url if it runs elsewhere; nothing was changed"
            .to_owned(),
    ))
}

fn welcome(invited: &Invited, base: &str) -> Answer {
    let view = InvitedOperator::new(&Requester::command_line(), invited, base);
    let text = format!(
        "Invite link for {}, works once, until {}:\n{}\n\nCopy it now. You will not see it again.",
        invited.operator.name,
        instant(invited.expires_at),
        view.link
    );
    Answer::of(&view, text)
}

async fn listed(operators: &ManageOperators, by: &Requester) -> Result<Answer, Failure> {
    let listed = operators.list(by).await?;
    let mut states = operators.sign_in_states(by, &listed).await?;
    let with_state = |one: Operator| {
        let state = states.remove(&one.id).unwrap_or_default();
        (one, state)
    };
    let listed: Vec<_> = listed.into_iter().map(with_state).collect();
    let view =
        Page::whole(listed.iter().map(|(one, state)| views::Operator::seen_by(by, one, state)));
    let none = "No operators yet. Add one with `dwar operator add --name NAME --owner`.";
    Ok(Answer::of(&view, lines(&listed, line, none)))
}

async fn state_of(operators: &ManageOperators, one: &Operator) -> Result<SignInState, Failure> {
    let states =
        operators.sign_in_states(&Requester::command_line(), std::slice::from_ref(one)).await?;
    Ok(states.into_values().next().unwrap_or_default())
}

fn line((operator, state): &(Operator, SignInState)) -> String {
    let seen = match (operator.signed_in_at, &operator.password) {
        (Some(at), _) => format!("last signed in {}", instant(at)),
        (None, Some(_)) => "never signed in".to_owned(),
        (None, None) => "invited".to_owned(),
    };
    let second = if operator.totp.is_some() { ", two-factor" } else { "" };
    let passkeys = match state.passkeys.len() {
        0 => String::new(),
        1 => ", 1 passkey".to_owned(),
        several => format!(", {several} passkeys"),
    };
    let Lockout { locked_until, slowed_until, .. } = state.lockout;
    let until = |word: &str, at: Option<Timestamp>| {
        at.map(|at| format!(", {word} until {}", instant(at))).unwrap_or_default()
    };
    let (locked, slowed) = (until("locked", locked_until), until("slowed", slowed_until));
    let name = operator.name.as_str();
    format!("{name:<24} {}  {seen}{second}{passkeys}{locked}{slowed}", operator.access)
}

pub fn role(text: &str) -> Result<Role, String> {
    Role::from_word(text).ok_or_else(|| "owner, member, support or viewer".to_owned())
}
