use super::answer::lines;
use super::{Answer, Failure, open};
use crate::config::Config;
use clap::Subcommand;
use dwar_admin::views::{self, InvitedOperator, Page, RemovedOperator, instant};
use dwar_app::{Invited, ManageOperators};
use dwar_kernel::ProjectId;
use dwar_operator::{Access, By, Operator, Role};

#[derive(Subcommand)]
pub enum Command {
    /// Make an operator and print a link, good once and for three days, to choose a password by
    Invite {
        /// What they sign in with
        #[arg(long)]
        name: String,
        /// An owner of the installation, who may see and change everything
        #[arg(long, conflicts_with_all = ["project", "role"], required_unless_present = "project")]
        owner: bool,
        /// The project they belong to
        #[arg(long, value_name = "ID", requires = "role")]
        project: Option<ProjectId>,
        /// What they may do there: owner, member, support or viewer
        #[arg(long, value_parser = role, requires = "project")]
        role: Option<Role>,
    },
    /// List every operator
    List,
    /// Take away what an operator signs in with, end their sessions, lift their lock, and print a
    /// new link
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
    let base = config.dashboard.base_url();
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
        Command::List => listed(&operators, &by).await,
        Command::Reset { name } => {
            let operator = operators.named(&name).await?;
            let invited = operators.reset(&by, operator.id).await;
            Ok(welcome(&invited?, &base))
        }
        Command::Remove { name } => {
            let operator = operators.named(&name).await?;
            operators.remove(&by, operator.id).await?;
            let text = format!("{} is removed; every session of theirs has ended.", operator.name);
            Ok(Answer::of(&RemovedOperator::from(operator.id), text))
        }
    }
}

fn welcome(invited: &Invited, base: &str) -> Answer {
    let view = InvitedOperator::new(&By::command_line(), invited, base);
    let text = format!(
        "Link for {}, good once and until {}:\n{}\n\nIt is shown this once.",
        invited.operator.name,
        instant(invited.expires_at),
        view.link
    );
    Answer::of(&view, text)
}

async fn listed(operators: &ManageOperators, by: &By) -> Result<Answer, Failure> {
    let listed = operators.list(by).await?;
    let view = Page::whole(listed.iter().map(|one| views::Operator::seen_by(by, one)));
    let none = "There is no operator yet: `dwar operator invite --name NAME --owner` makes one.";
    Ok(Answer::of(&view, lines(&listed, line, none)))
}

fn line(operator: &Operator) -> String {
    let seen = match (operator.signed_in_at, &operator.password) {
        (Some(at), _) => format!("last signed in {}", instant(at)),
        (None, Some(_)) => "never signed in".to_owned(),
        (None, None) => "invited".to_owned(),
    };
    let second = if operator.totp.is_some() { ", second factor" } else { "" };
    format!("{:<24} {}  {seen}{second}", operator.name.as_str(), operator.access)
}

pub fn role(text: &str) -> Result<Role, String> {
    Role::from_word(text).ok_or_else(|| "owner, member, support or viewer".to_owned())
}
