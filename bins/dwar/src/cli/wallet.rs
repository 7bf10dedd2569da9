use super::answer::{Answer, lines};
use super::confirm::Person;
use super::failure::{Failure, of};
use super::open::{OneProject, Usage, open};
use super::wallet_close;
use super::wallet_proof::prove;
use crate::config::Config;
use crate::counted::counted;
use clap::Subcommand;
use dwar_admin::views::{MovedWallet, Wallet, WalletEntry, WalletProof};
use dwar_console::{ManageLedger, ManageWallets, ProofScope};
use dwar_kernel::{OtpId, ProjectId};
use dwar_operator::Requester;
use dwar_wallet::{Amount, Balance, Correction, Paise, Reference, StatementFilter, StatementLine};

#[derive(Subcommand)]
pub enum Command {
    /// Add credit
    Credit {
        #[command(flatten)]
        of: OneProject,
        /// Amount, such as 100 or 99.50
        #[arg(long, value_name = "RUPEES", value_parser = Amount::from_rupees)]
        rupees: Amount,
        /// Your reference for the payment; the same reference is never added twice
        #[arg(long)]
        reference: Option<Reference>,
    },
    /// Show the balance of a project
    Balance(OneProject),
    /// Show the newest entries of the ledger
    Statement {
        #[command(flatten)]
        of: OneProject,
        /// Number of entries
        #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
        limit: u32,
    },
    /// Refund the charge for one send
    Refund {
        #[command(flatten)]
        of: OneProject,
        /// The otp_id of the send
        #[arg(long, value_name = "ID")]
        otp: OtpId,
    },
    /// Correct a balance, up or down
    Adjust {
        #[command(flatten)]
        of: OneProject,
        /// Amount, such as 10 or -2.50
        #[arg(long, value_name = "RUPEES", allow_hyphen_values = true, value_parser = Correction::from_rupees)]
        rupees: Correction,
        /// Reason; the same reference is never booked twice
        #[arg(long)]
        reference: Reference,
    },
    /// Export the entries for sends of past months to files, and remove them from the database
    ///
    /// One entry with their sum replaces the holds, captures and releases of a month. Credits,
    /// refunds and corrections stay. The service may run; an interrupted run is continued by the
    /// next.
    Close(wallet_close::Args),
    /// Check the wallets of all projects and record nothing; fails if one does not match its ledger
    ///
    /// Recomputes every wallet from its ledger in one go and only reads, for a job that runs daily.
    /// `dwar wallet prove` checks one project and records the result.
    Verify,
    /// Check the wallet of one project and record the result; fails if it does not match its ledger
    ///
    /// Continues where the last successful check ended, in small steps that do not delay sends. The
    /// wallet's page shows the result. `dwar wallet verify` checks all projects and records
    /// nothing.
    Prove {
        #[command(flatten)]
        of: OneProject,
        /// Check from the first entry, not from where the last successful check ended
        #[arg(long)]
        everything: bool,
    },
}

pub async fn run(config: Config, command: Command, person: Person) -> Result<Answer, Failure> {
    use Command::{Adjust, Balance, Close, Credit, Prove, Refund, Statement, Verify};
    let read_only = matches!(command, Balance(_) | Statement { .. } | Verify);
    let core = open(config, Usage::of(read_only)).await?;
    if matches!(command, Verify)
        && let Some(found) = core.database.damage().await?
    {
        // A damaged file proves nothing, even if its readable part adds up.
        return Err(Failure::Refused(format!(
            "the database is damaged: {found}; run `dwar doctor`"
        )));
    }
    let manage = core.management()?;
    let (wallets, projects) = (&manage.wallets, &manage.projects);
    match command {
        Credit { of: it, rupees, reference } => {
            credited(wallets, it.id(projects).await?, rupees, reference).await
        }
        Balance(it) => {
            let project = it.id(projects).await?;
            let balance =
                wallets.balance(&Requester::command_line(), project).await.map_err(of(project))?;
            Ok(Answer::of(&Wallet::new(project, &balance), balance_text(balance)))
        }
        Statement { of: it, limit } => {
            statement(&manage.ledger, it.id(projects).await?, limit).await
        }
        Refund { of: it, otp } => refunded(wallets, it.id(projects).await?, otp).await,
        Adjust { of: it, rupees, reference } => {
            adjusted(wallets, it.id(projects).await?, rupees, reference).await
        }
        Close(asked) => wallet_close::close(&manage, asked, person).await,
        Verify => verified(wallets).await,
        Prove { of: it, everything } => {
            let scope = if everything { ProofScope::Everything } else { ProofScope::Newer };
            prove(&manage.ledger, it.id(projects).await?, scope).await
        }
    }
}

async fn credited(
    wallets: &ManageWallets,
    project: ProjectId,
    rupees: Amount,
    reference: Option<Reference>,
) -> Result<Answer, Failure> {
    let new = wallets.credit(&Requester::command_line(), project, rupees, reference).await;
    let new = new.map_err(of(project))?;
    let news = if new {
        format!("Added {rupees}.")
    } else {
        "This reference was already used. Nothing was added.".to_owned()
    };
    moved(wallets, project, &news, new.then(|| rupees.paise())).await
}

async fn refunded(
    wallets: &ManageWallets,
    project: ProjectId,
    otp: OtpId,
) -> Result<Answer, Failure> {
    let refunded =
        wallets.refund(&Requester::command_line(), project, otp).await.map_err(of(project))?;
    let news = match refunded {
        Some(amount) => format!("Refunded {amount}."),
        None => "Already refunded.".to_owned(),
    };
    moved(wallets, project, &news, refunded).await
}

async fn adjusted(
    wallets: &ManageWallets,
    project: ProjectId,
    rupees: Correction,
    reference: Reference,
) -> Result<Answer, Failure> {
    let adjusted = wallets.adjust(&Requester::command_line(), project, rupees, reference).await;
    let booked = adjusted.map_err(of(project))?;
    let news = if booked {
        format!("Adjusted by {}.", rupees.paise())
    } else {
        "This reference was already used. Nothing was changed.".to_owned()
    };
    moved(wallets, project, &news, booked.then(|| rupees.paise())).await
}

/// The effect of a movement, and the balance after it.
async fn moved(
    wallets: &ManageWallets,
    project: ProjectId,
    news: &str,
    amount: Option<Paise>,
) -> Result<Answer, Failure> {
    let after = wallets.balance(&Requester::command_line(), project).await.map_err(of(project))?;
    let view = MovedWallet::new(project, amount, &after);
    Ok(Answer::of(&view, format!("{news}\n{}", balance_text(after))))
}

async fn verified(wallets: &ManageWallets) -> Result<Answer, Failure> {
    let audit = wallets.audit(&Requester::command_line()).await?;
    let good = audit.difference == Paise::ZERO;
    let text = if good {
        let found =
            counted(audit.projects, "wallet matches its ledger", "wallets match their ledgers");
        format!("{found}.")
    } else {
        let checked = counted(audit.projects, "wallet", "wallets");
        format!("{checked} checked, in total off by {}.", audit.difference)
    };
    Ok(Answer::judged(&WalletProof::from(&audit), text, good))
}

fn balance_text(balance: Balance) -> String {
    let Balance { balance: all, held, .. } = balance;
    format!("Balance    {all}\nOn hold    {held}\nAvailable  {}", balance.available())
}

async fn statement(
    ledger: &ManageLedger,
    project: ProjectId,
    limit: u32,
) -> Result<Answer, Failure> {
    // One entry more than the limit shows whether there are more.
    let (all, read) = (StatementFilter::default(), limit.saturating_add(1));
    let entries = ledger.lines(&Requester::command_line(), project, all, None, read).await;
    let entries = entries.map_err(of(project))?;
    let shown = &entries[..entries.len().min(limit as usize)];
    let text = lines(shown, entry_line, "No entries yet.");
    Ok(Answer::of(&WalletEntry::page(&entries, limit), text))
}

fn entry_line(StatementLine { entry, .. }: &StatementLine) -> String {
    format!(
        "{}  {:<8} {:>12} {:>12} held {:>12}  {}{}",
        entry.at.format("%Y-%m-%d %H:%M:%S UTC"),
        entry.kind.as_str(),
        entry.amount.to_string(),
        entry.after.balance.to_string(),
        entry.after.held.to_string(),
        entry.reference,
        if entry.relayed { " (relay)" } else { "" }
    )
}
