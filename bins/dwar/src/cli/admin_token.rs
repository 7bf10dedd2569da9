use super::answer::lines;
use super::operator::{access_of, role};
use super::{Answer, Failure, open};
use crate::config::Config;
use clap::Subcommand;
use dwar_admin::views::instant;
use dwar_app::{ManageAdminTokens, NewAdminToken};
use dwar_kernel::{AdminTokenId, ProjectId};
use dwar_operator::{Access, AdminToken, By, Role};
use serde_json::{Value, json};
use std::time::Duration;

const DAY: u64 = 86_400;

#[derive(Subcommand)]
pub enum Command {
    /// Make a token and print it, once
    Add {
        /// What the audit log calls it
        #[arg(long)]
        name: String,
        /// May see and change everything
        #[arg(long, conflicts_with_all = ["project", "role"], required_unless_present = "project")]
        everything: bool,
        /// A project it is for; may be given several times
        #[arg(long, value_name = "ID", requires = "role")]
        project: Vec<ProjectId>,
        /// What it may do there: owner, member, support or viewer
        #[arg(long, value_parser = role, requires = "project")]
        role: Option<Role>,
        /// Days until it expires, 366 at most
        #[arg(long, default_value_t = 90)]
        days: u16,
        /// May invite operators, change what they may do, and make tokens: what lives on when it is over
        #[arg(long)]
        may_delegate: bool,
    },
    /// List every token
    List,
    /// Revoke a token, for its very next request
    Revoke {
        /// The token's id
        #[arg(long, value_name = "ID")]
        token: AdminTokenId,
    },
}

pub async fn run(config: Config, command: Command) -> Result<Answer, Failure> {
    let core = open(config, matches!(command, Command::List)).await?;
    let (tokens, by) = (core.management()?.tokens, By::command_line());
    match command {
        Command::Add { name, project, role, days, may_delegate, .. } => {
            let access = role.map_or_else(Access::everything, |role| Access {
                everything: false,
                projects: project.into_iter().map(|project| (project, role)).collect(),
            });
            let lifetime = Duration::from_secs(u64::from(days) * DAY);
            let new = NewAdminToken { name: &name, access, lifetime, may_delegate };
            let (token, secret) = tokens.make(&by, new).await?;
            let mut json = json_of(&token);
            json["secret"] = secret.expose().into();
            let text = format!("{}\n{}\n\nIt is shown this once.", line(&token), secret.expose());
            Ok(Answer::of(&json, text))
        }
        Command::List => listed(&tokens, &by).await,
        Command::Revoke { token } => {
            tokens.revoke(&by, token).await?;
            let json = json!({ "token_id": token.to_string(), "revoked": true });
            Ok(Answer::of(&json, "Revoked.".to_owned()))
        }
    }
}

async fn listed(tokens: &ManageAdminTokens, by: &By) -> Result<Answer, Failure> {
    let listed = tokens.list(by).await?;
    let json: Vec<Value> = listed.iter().map(json_of).collect();
    let none = "There is no token yet: `dwar admin-token add` makes one.";
    Ok(Answer::of(&json!({ "tokens": json }), lines(&listed, line, none)))
}

fn json_of(token: &AdminToken) -> Value {
    json!({
        "token_id": token.id.to_string(),
        "name": token.name,
        "access": access_of(&token.access),
        "may_delegate": token.may_delegate,
        "made_by": token.made_by,
        "made_at": instant(token.made_at),
        "expires_at": instant(token.expires_at),
        "used_at": token.used_at.map(instant),
        "used_from": token.used_from.map(|from| from.to_string()),
    })
}

fn line(token: &AdminToken) -> String {
    let used = token
        .used_at
        .map_or_else(|| "never used".to_owned(), |at| format!("last used {}", instant(at)));
    let (name, ends) = (&token.name, instant(token.expires_at));
    let delegates = if token.may_delegate { ", MAY DELEGATE" } else { "" };
    format!("{}  {name:<24} {}{delegates}  until {ends}, {used}", token.id, token.access)
}
