use super::answer::instant;
use super::{Answer, Failure, look, no_such_project, open};
use crate::config::Config;
use clap::{Args, Subcommand};
use dwar_app::{CreditError, ManageWallets};
use dwar_kernel::{OtpId, ProjectId, StoreError};
use dwar_wallet::{Adjusted, Balance, InvalidAmount, LedgerEntry, Paise, Refunded};
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
    /// Give back what was charged for one send
    Refund {
        /// The project's id
        #[arg(long, value_name = "ID")]
        project: ProjectId,
        /// The send's otp_id
        #[arg(long, value_name = "ID")]
        otp: OtpId,
    },
    /// Correct a balance, up or down
    Adjust(Adjust),
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

#[derive(Args)]
pub struct Adjust {
    /// The project's id
    #[arg(long, value_name = "ID")]
    project: ProjectId,
    /// How much, such as 10 or -2.50
    #[arg(long, value_name = "RUPEES", allow_hyphen_values = true, value_parser = signed)]
    rupees: Paise,
    /// Why; a second adjustment of the same reference changes nothing
    #[arg(long)]
    reference: String,
}

fn signed(text: &str) -> Result<Paise, InvalidAmount> {
    let amount = Paise::from_rupees(text.strip_prefix('-').unwrap_or(text))?;
    match (amount, text.starts_with('-')) {
        (Paise::ZERO, _) => Err(InvalidAmount),
        (Paise(paise), true) => Ok(Paise(-paise)),
        (amount, false) => Ok(amount),
    }
}

pub async fn run(config: Config, command: Command) -> Result<Answer, Failure> {
    let core = match command {
        Command::Balance { .. } | Command::Statement { .. } | Command::Verify => {
            look(config).await?
        }
        _ => open(config).await?,
    };
    let wallets = core.parts.manage_wallets();
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
        Command::Refund { project, otp } => refunded(&wallets, project, otp).await,
        Command::Adjust(adjust) => adjusted(&wallets, adjust).await,
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

async fn refunded(
    wallets: &ManageWallets,
    project: ProjectId,
    otp: OtpId,
) -> Result<Answer, Failure> {
    let refused = |cause| failure(cause, project);
    let refunded = wallets.refund(project, otp).await.map_err(refused)?;
    let (amount, news) = match refunded {
        Refunded::Refunded(amount) => (amount, format!("Gave back {amount}.")),
        Refunded::Already => (Paise::ZERO, "It was given back before.".to_owned()),
        Refunded::NothingCaptured => {
            return Err(Failure("nothing was charged for this send".to_owned()));
        }
    };
    let balance = wallets.balance(project).await.map_err(refused)?;
    let mut json = balance_json(project, balance);
    json["refunded_paise"] = amount.0.into();
    Ok(Answer::new(json, format!("{news}\n{}", balance_text(balance))))
}

async fn adjusted(wallets: &ManageWallets, adjust: Adjust) -> Result<Answer, Failure> {
    let Adjust { project, rupees, reference } = adjust;
    let refused = |cause| failure(cause, project);
    let adjusted = wallets.adjust(project, rupees, reference).await.map_err(refused)?;
    let news = match adjusted {
        Adjusted::Booked => format!("Adjusted by {rupees}."),
        Adjusted::Known => "This reference was booked before; nothing changed.".to_owned(),
        Adjusted::Insufficient => {
            return Err(Failure("the balance, less open holds, does not cover that".to_owned()));
        }
    };
    let balance = wallets.balance(project).await.map_err(refused)?;
    let mut json = balance_json(project, balance);
    json["adjusted"] = (adjusted == Adjusted::Booked).into();
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
