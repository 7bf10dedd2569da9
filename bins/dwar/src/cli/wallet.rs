use super::answer::instant;
use super::{Answer, Failure, no_such_project, open};
use crate::config::Config;
use clap::{Args, Subcommand};
use dwar_app::{CreditError, ManageWallets};
use dwar_kernel::{ProjectId, StoreError};
use dwar_wallet::{Balance, LedgerEntry, Paise};
use serde_json::{Value, json};

#[derive(Subcommand)]
pub enum Command {
    /// Pay money in
    Credit(Credit),
    /// Show what a project has
    Balance {
        /// The project's id
        #[arg(long, value_name = "ID")]
        project: ProjectId,
    },
    /// Show the newest movements of a wallet
    Statement {
        /// The project's id
        #[arg(long, value_name = "ID")]
        project: ProjectId,
        /// How many
        #[arg(long, default_value_t = 20)]
        limit: u32,
    },
    /// Recompute every wallet from its ledger; fails if one does not agree
    Verify,
}

#[derive(Args)]
pub struct Credit {
    /// The project's id
    #[arg(long, value_name = "ID")]
    project: ProjectId,
    /// How much, such as 100 or 99.50
    #[arg(long, value_name = "RUPEES", value_parser = Paise::from_rupees)]
    rupees: Paise,
    /// Your name for the payment; a second credit of the same reference changes nothing
    #[arg(long)]
    reference: Option<String>,
}

pub async fn run(config: Config, command: Command) -> Result<Answer, Failure> {
    let wallets = open(config).await?.manage_wallets();
    match command {
        Command::Credit(credit) => credited(&wallets, credit).await,
        Command::Balance { project } => {
            let balance = wallets.balance(project).await.map_err(|e| failure(e, project))?;
            Ok(Answer::new(balance_json(project, balance), balance_text(balance)))
        }
        Command::Statement { project, limit } => {
            let entries = wallets.statement(project, limit).await;
            Ok(statement(project, &entries.map_err(|e| failure(e, project))?))
        }
        Command::Verify => verified(&wallets).await.map_err(Failure::from),
    }
}

async fn credited(wallets: &ManageWallets, credit: Credit) -> Result<Answer, Failure> {
    let Credit { project, rupees, reference } = credit;
    let refused = |cause| failure(cause, project);
    let new = wallets.credit(project, rupees, reference).await.map_err(refused)?;
    let balance = wallets.balance(project).await.map_err(refused)?;
    let mut json = balance_json(project, balance);
    json["credited"] = new.into();
    let news = if new {
        format!("Paid in {rupees}.")
    } else {
        "This reference was paid in before; nothing changed.".to_owned()
    };
    Ok(Answer::new(json, format!("{news}\n{}", balance_text(balance))))
}

async fn verified(wallets: &ManageWallets) -> Result<Answer, StoreError> {
    let audit = wallets.audit().await?;
    let json = json!({ "projects": audit.projects, "difference_paise": audit.difference.0 });
    let good = audit.difference == Paise::ZERO;
    let text = if good {
        format!("{} wallets agree with their ledgers.", audit.projects)
    } else {
        format!("{} wallets; together they are {} off.", audit.projects, audit.difference)
    };
    Ok(Answer { json, text, good })
}

fn failure(cause: CreditError, project: ProjectId) -> Failure {
    match cause {
        CreditError::NoSuchProject => no_such_project(project),
        CreditError::NotPositive => Failure(cause.to_string()),
        CreditError::Store(cause) => cause.into(),
    }
}

fn balance_json(project: ProjectId, balance: Balance) -> Value {
    json!({
        "project_id": project.to_string(),
        "balance_paise": balance.balance.0,
        "held_paise": balance.held.0,
        "available_paise": balance.available().0,
    })
}

fn balance_text(balance: Balance) -> String {
    format!(
        "Balance    {}\nHeld       {}\nAvailable  {}",
        balance.balance,
        balance.held,
        balance.available()
    )
}

fn statement(project: ProjectId, entries: &[LedgerEntry]) -> Answer {
    let json: Vec<Value> = entries
        .iter()
        .map(|entry| {
            json!({
                "id": entry.id.to_string(),
                "kind": entry.kind.as_str(),
                "amount_paise": entry.amount.0,
                "held_paise": entry.held.0,
                "balance_after_paise": entry.after.balance.0,
                "held_after_paise": entry.after.held.0,
                "reference": entry.reference,
                "at": instant(entry.at),
            })
        })
        .collect();
    let lines: Vec<String> = entries
        .iter()
        .map(|entry| {
            format!(
                "{}  {:<8} {:>12} {:>12} held {:>12}  {}",
                entry.at.format("%Y-%m-%d %H:%M:%S"),
                entry.kind.as_str(),
                entry.amount.to_string(),
                entry.after.balance.to_string(),
                entry.after.held.to_string(),
                entry.reference
            )
        })
        .collect();
    let text = if lines.is_empty() { "No movement yet.".to_owned() } else { lines.join("\n") };
    Answer::new(json!({ "project_id": project.to_string(), "entries": json }), text)
}
