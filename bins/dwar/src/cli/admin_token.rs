use super::answer::{Answer, lines};
use super::confirm::{Confirm, Person};
use super::failure::Failure;
use super::open::{ProjectRef, Usage, open};
use super::operator::role;
use crate::config::Config;
use clap::Subcommand;
use dwar_admin::views::{MadeToken, Page, RevokedToken, Token, instant};
use dwar_console::{ManageAdminTokens, Management, NewAdminToken};
use dwar_kernel::AdminTokenId;
use dwar_operator::{Access, AdminToken, Requester, Role};
use std::time::Duration;

const DAY: u64 = 86_400;

#[derive(Subcommand)]
pub enum Command {
    /// Create a token and print it, once
    Add {
        /// Its name in the audit log
        #[arg(long)]
        name: String,
        /// Full access to everything
        #[arg(long, conflicts_with_all = ["project", "role"], required_unless_present = "project")]
        everything: bool,
        /// Project that it gives access to: name, ID, or the first characters of the ID, at least
        /// 4; repeat for several
        #[arg(long, requires = "role")]
        project: Vec<ProjectRef>,
        /// Its role there: owner, member, support or viewer
        #[arg(long, value_parser = role, requires = "project")]
        role: Option<Role>,
        /// Days until it expires, at most 366
        #[arg(long, default_value_t = 90)]
        days: u16,
        /// May create what keeps working after it expires: keys, projects, hooks, webhooks,
        /// operators, tokens
        #[arg(long)]
        may_delegate: bool,
    },
    /// List every token
    List,
    /// Remove a token; it stops working immediately
    #[command(alias = "revoke")]
    Remove {
        /// ID of the token
        #[arg(long, value_name = "ID")]
        token: AdminTokenId,
        #[command(flatten)]
        confirm: Confirm,
    },
}

pub async fn run(config: Config, command: Command, person: Person) -> Result<Answer, Failure> {
    let usage = match command {
        Command::List => Usage::Reads,
        Command::Add { .. } => Usage::Begins,
        _ => Usage::Changes,
    };
    let core = open(config, usage).await?;
    let Management { projects, tokens, .. } = core.management()?;
    let by = Requester::command_line();
    match command {
        Command::Add { name, project, role, days, may_delegate, .. } => {
            let access = match role {
                None => Access::everything(),
                Some(role) => {
                    let mut access = Access::default();
                    for named in &project {
                        access.projects.insert(named.id(&projects).await?, role);
                    }
                    access
                }
            };
            let lifetime = Duration::from_secs(u64::from(days) * DAY);
            let new = NewAdminToken { name: &name, access, lifetime, may_delegate };
            let (token, secret) = tokens.make(&by, new).await?;
            let text = format!(
                "{}\n{}\n\nCopy it now. You will not see it again.",
                line(&token),
                secret.expose()
            );
            Ok(Answer::of(&MadeToken::new(&by, &token, &secret), text))
        }
        Command::List => listed(&tokens, &by).await,
        Command::Remove { token, confirm } => {
            if confirm.asks(person)
                && let Some(found) = tokens.list(&by).await?.iter().find(|one| one.id == token)
            {
                let question =
                    format!("Remove the token {}? It stops working immediately.", found.name);
                confirm.ask(person, &question)?;
            }
            tokens.revoke(&by, token).await?;
            Ok(Answer::of(&RevokedToken::from(token), "Removed.".to_owned()))
        }
    }
}

async fn listed(tokens: &ManageAdminTokens, by: &Requester) -> Result<Answer, Failure> {
    let listed = tokens.list(by).await?;
    let view = Page::whole(listed.iter().map(|token| Token::seen_by(by, token)));
    let none = "No tokens yet. Create one with `dwar admin-token add`.";
    Ok(Answer::of(&view, lines(&listed, line, none)))
}

fn line(token: &AdminToken) -> String {
    let used = token
        .used_at
        .map_or_else(|| "never used".to_owned(), |at| format!("last used {}", instant(at)));
    let (name, ends) = (&token.name, instant(token.expires_at));
    let delegates = if token.may_delegate { ", can delegate" } else { "" };
    format!("{}  {name:<24} {}{delegates}  expires {ends}, {used}", token.id, token.access)
}
