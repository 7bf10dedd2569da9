use super::answer::{Answer, lines};
use super::failure::Failure;
use super::open::open;
use crate::config::{Config, RunMode};
use clap::Subcommand;
use dwar_admin::views::{self, InvitedOperator, Page, RemovedOperator, instant};
use dwar_console::{Invited, ManageOperators};
use dwar_kernel::ProjectId;
use dwar_operator::{Access, By, Operator, Role};

#[derive(Subcommand)]
pub enum Command {
    /// Invite an operator: print a link to choose a password, which works once, for three days
    Invite {
        /// The name they sign in with
        #[arg(long)]
        name: String,
        /// Owner of the installation, with full access
        #[arg(long, conflicts_with_all = ["project", "role"], required_unless_present = "project")]
        owner: bool,
        /// The project they get access to
        #[arg(long, value_name = "ID", requires = "role")]
        project: Option<ProjectId>,
        /// Their role there: owner, member, support or viewer
        #[arg(long, value_parser = role, requires = "project")]
        role: Option<Role>,
    },
    /// Print another link for somebody who was invited and has not signed in yet; the one before
    /// stops working
    Renew {
        /// Their name
        name: String,
    },
    /// List every operator
    List,
    /// Remove an operator's password, second factor, passkeys, sessions and lock, and print a new
    /// link
    Reset {
        /// Their name
        name: String,
    },
    /// Remove an operator and end their sessions
    Remove {
        /// Their name
        name: String,
    },
}

pub async fn run(config: Config, command: Command) -> Result<Answer, Failure> {
    let is_quiet = matches!(command, Command::List | Command::Remove { .. });
    // Before anything is changed: whoever gets no link must not lose a password for it.
    let base = if is_quiet { String::new() } else { dashboard(&config)? };
    let core = open(config, matches!(command, Command::List)).await?;
    let (operators, by) = (core.management()?.operators, By::command_line());
    match command {
        Command::Invite { name, project, role, .. } => {
            let access = project
                .zip(role)
                .map_or_else(Access::everything, |(project, role)| Access::one(project, role));
            let invited = operators.invite(&by, &name, access).await;
            Ok(welcome(&invited?, &base))
        }
        Command::Renew { name } => {
            let operator = operators.named(&name).await?;
            let invited = operators.renew_invitation(&by, operator.id).await;
            Ok(welcome(&invited?, &base))
        }
        Command::List => listed(&operators, &by).await,
        Command::Reset { name } => {
            let operator = operators.named(&name).await?;
            let invited = operators.reset(&by, operator.id).await;
            Ok(welcome(&invited?, &base))
        }
        Command::Remove { name } => {
            let operator = operators.named(&name).await?;
            operators.remove(&by, operator.id).await?;
            let text = format!("Removed {} and ended all their sessions.", operator.name);
            Ok(Answer::of(&RemovedOperator::from(operator.id), text))
        }
    }
}

/// Where a link leads to.
fn dashboard(config: &Config) -> Result<String, Failure> {
    let settings = &config.dashboard;
    let listens = settings.address(config.environment == RunMode::Production).is_some();
    if listens || !settings.public_url.is_empty() {
        return Ok(settings.base_url());
    }
    Err(Failure::Refused(
        "there is no dashboard that a link could lead to: set dashboard.address (in production it is \
         off until then), or dashboard.public_url if it runs elsewhere; nothing was changed"
            .to_owned(),
    ))
}

fn welcome(invited: &Invited, base: &str) -> Answer {
    let view = InvitedOperator::new(&By::command_line(), invited, base);
    let text = format!(
        "Invite link for {}, works once, until {}:\n{}\n\nCopy it now. You will not see it again.",
        invited.operator.name,
        instant(invited.expires_at),
        view.link
    );
    Answer::of(&view, text)
}

async fn listed(operators: &ManageOperators, by: &By) -> Result<Answer, Failure> {
    let listed = operators.list(by).await?;
    let view = Page::whole(listed.iter().map(|one| views::Operator::seen_by(by, one)));
    let none = "No operators yet. Invite one with `dwar operator invite --name NAME --owner`.";
    Ok(Answer::of(&view, lines(&listed, line, none)))
}

fn line(operator: &Operator) -> String {
    let seen = match (operator.signed_in_at, &operator.password) {
        (Some(at), _) => format!("last signed in {}", instant(at)),
        (None, Some(_)) => "never signed in".to_owned(),
        (None, None) => "invited".to_owned(),
    };
    let second = if operator.totp.is_some() { ", two-factor" } else { "" };
    format!("{:<24} {}  {seen}{second}", operator.name.as_str(), operator.access)
}

pub fn role(text: &str) -> Result<Role, String> {
    Role::from_word(text).ok_or_else(|| "owner, member, support or viewer".to_owned())
}
