use super::answer::{instant, lines};
use super::wallet_proof::prove;
use super::{Answer, Failure, OneProject, of, open};
use crate::config::Config;
use clap::Subcommand;
use dwar_app::{MOST_LISTED, ManageWallets, Scope};
use dwar_kernel::{OtpId, ProjectId};
use dwar_operator::By;
use dwar_wallet::{Amount, Balance, Correction, LedgerEntry, Paise, Reference};
use serde_json::{Value, json};

#[derive(Subcommand)]
pub enum Command {
    /// Pay money in
    Credit {
        #[command(flatten)]
        of: OneProject,
        /// How much, such as 100 or 99.50
        #[arg(long, value_name = "RUPEES", value_parser = Amount::from_rupees)]
        rupees: Amount,
        /// Your name for the payment; a second credit of the same reference changes nothing
        #[arg(long)]
        reference: Option<Reference>,
    },
    /// Show what a project has
    Balance(OneProject),
    /// Show the newest movements of a wallet
    Statement {
        #[command(flatten)]
        of: OneProject,
        /// How many
        #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_LISTED)))]
        limit: u32,
    },
    /// Give back what was charged for one send
    Refund {
        #[command(flatten)]
        of: OneProject,
        /// The send's otp_id
        #[arg(long, value_name = "ID")]
        otp: OtpId,
    },
    /// Correct a balance, up or down
    Adjust {
        #[command(flatten)]
        of: OneProject,
        /// How much, such as 10 or -2.50
        #[arg(long, value_name = "RUPEES", allow_hyphen_values = true, value_parser = Correction::from_rupees)]
        rupees: Correction,
        /// Why; a second adjustment of the same reference changes nothing
        #[arg(long)]
        reference: Reference,
    },
    /// Recompute every wallet from its ledger; fails if one does not agree
    Verify,
    /// Prove that a project's ledger sums, and put that on record; fails if it does not
    Prove {
        #[command(flatten)]
        of: OneProject,
        /// From the first entry on, and not from where the last sound proof ended
        #[arg(long)]
        everything: bool,
    },
}

pub async fn run(config: Config, command: Command) -> Result<Answer, Failure> {
    use Command::{Adjust, Balance, Credit, Prove, Refund, Statement, Verify};
    let read_only = matches!(command, Balance(_) | Statement { .. } | Verify);
    let manage = open(config, read_only).await?.management()?;
    let wallets = &manage.wallets;
    match command {
        Credit { of, rupees, reference } => credited(wallets, of.project, rupees, reference).await,
        Balance(OneProject { project }) => {
            let balance =
                wallets.balance(&By::command_line(), project).await.map_err(of(project))?;
            Ok(Answer::new(balance_json(project, balance), balance_text(balance)))
        }
        Statement { of, limit } => statement(wallets, of.project, limit).await,
        Refund { of, otp } => refunded(wallets, of.project, otp).await,
        Adjust { of, rupees, reference } => adjusted(wallets, of.project, rupees, reference).await,
        Verify => verified(wallets).await,
        Prove { of: OneProject { project }, everything } => {
            let scope = if everything { Scope::Everything } else { Scope::Newer };
            prove(&manage.ledger, project, scope).await
        }
    }
}

async fn credited(
    wallets: &ManageWallets,
    project: ProjectId,
    rupees: Amount,
    reference: Option<Reference>,
) -> Result<Answer, Failure> {
    let new = wallets.credit(&By::command_line(), project, rupees, reference).await;
    let new = new.map_err(of(project))?;
    let news = if new {
        format!("Paid in {rupees}.")
    } else {
        "This reference was paid in before; nothing changed.".to_owned()
    };
    moved(wallets, project, &news, ("credited", new.into())).await
}

async fn refunded(
    wallets: &ManageWallets,
    project: ProjectId,
    otp: OtpId,
) -> Result<Answer, Failure> {
    let refunded = wallets.refund(&By::command_line(), project, otp).await;
    let (amount, news) = match refunded.map_err(of(project))? {
        Some(amount) => (amount, format!("Gave back {amount}.")),
        None => (Paise::ZERO, "It was given back before.".to_owned()),
    };
    moved(wallets, project, &news, ("refunded_paise", amount.0.into())).await
}

async fn adjusted(
    wallets: &ManageWallets,
    project: ProjectId,
    rupees: Correction,
    reference: Reference,
) -> Result<Answer, Failure> {
    let adjusted = wallets.adjust(&By::command_line(), project, rupees, reference).await;
    let booked = adjusted.map_err(of(project))?;
    let news = if booked {
        format!("Adjusted by {}.", rupees.paise())
    } else {
        "This reference was booked before; nothing changed.".to_owned()
    };
    moved(wallets, project, &news, ("adjusted", booked.into())).await
}

/// What a movement did, and the balance after it.
async fn moved(
    wallets: &ManageWallets,
    project: ProjectId,
    news: &str,
    (key, done): (&str, Value),
) -> Result<Answer, Failure> {
    let balance = wallets.balance(&By::command_line(), project).await.map_err(of(project))?;
    let mut json = balance_json(project, balance);
    json[key] = done;
    Ok(Answer::new(json, format!("{news}\n{}", balance_text(balance))))
}

async fn verified(wallets: &ManageWallets) -> Result<Answer, Failure> {
    let audit = wallets.audit(&By::command_line()).await?;
    let json = json!({ "projects": audit.projects, "difference_paise": audit.difference.0 });
    let good = audit.difference == Paise::ZERO;
    let text = if good {
        format!("{} wallets agree with their ledgers.", audit.projects)
    } else {
        format!("{} wallets; together they are {} off.", audit.projects, audit.difference)
    };
    Ok(Answer { json, text, good })
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
    let Balance { balance: all, held, .. } = balance;
    format!("Balance    {all}\nHeld       {held}\nAvailable  {}", balance.available())
}

async fn statement(
    wallets: &ManageWallets,
    project: ProjectId,
    limit: u32,
) -> Result<Answer, Failure> {
    let entries =
        wallets.statement(&By::command_line(), project, limit).await.map_err(of(project))?;
    let json: Vec<Value> = entries.iter().map(entry_json).collect();
    let json = json!({ "project_id": project.to_string(), "entries": json });
    Ok(Answer::new(json, lines(&entries, entry_line, "No movement yet.")))
}

fn entry_json(entry: &LedgerEntry) -> Value {
    json!({
        "id": entry.id.to_string(),
        "kind": entry.kind.as_str(),
        "amount_paise": entry.amount.0,
        "held_paise": entry.held.0,
        "balance_after_paise": entry.after.balance.0,
        "held_after_paise": entry.after.held.0,
        "reference": entry.reference.as_str(),
        "at": instant(entry.at),
    })
}

fn entry_line(entry: &LedgerEntry) -> String {
    format!(
        "{}  {:<8} {:>12} {:>12} held {:>12}  {}",
        entry.at.format("%Y-%m-%d %H:%M:%S"),
        entry.kind.as_str(),
        entry.amount.to_string(),
        entry.after.balance.to_string(),
        entry.after.held.to_string(),
        entry.reference
    )
}
