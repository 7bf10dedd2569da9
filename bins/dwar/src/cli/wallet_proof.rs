//! `dwar wallet prove`: checks that a ledger adds up and records the result.

use super::answer::Answer;
use super::failure::{Failure, of};
use crate::counted::counted;
use dwar_admin::views::{self, instant};
use dwar_console::{ManageLedger, ProofScope};
use dwar_kernel::ProjectId;
use dwar_operator::Requester;
use dwar_wallet::{LedgerProof, ProofStart};

/// Makes a proof of the project's ledger. Refuses if another one is in progress.
pub async fn prove(
    ledger: &ManageLedger,
    project: ProjectId,
    scope: ProofScope,
) -> Result<Answer, Failure> {
    let run =
        match ledger.begin_here(&Requester::command_line(), project).await.map_err(of(project))? {
            ProofStart::Begun(run) => run,
            ProofStart::Running(run) => {
                let since = instant(run.since);
                let news = format!(
                    "{} has been running a check since {since}; no other was started",
                    run.by
                );
                return Err(Failure::Refused(news));
            }
        };
    match ledger.prove(run, scope).await? {
        Some(proof) => {
            let view = views::LedgerProof::from(&proof);
            Ok(Answer::judged(&view, proof_text(&proof), proof.is_sound()))
        }
        None => Err(Failure::Refused("it took so long that another check was started".to_owned())),
    }
}

fn proof_text(proof: &LedgerProof) -> String {
    let LedgerProof { sum, wallet, .. } = proof;
    if proof.is_sound() {
        return format!(
            "The ledger matches the wallet: {}, balance {}, of which {} on hold.",
            counted(sum.entries, "entry", "entries"),
            wallet.balance.balance,
            wallet.balance.held
        );
    }
    format!(
        "The ledger does not match the wallet.\n\
         Entries     {} of {}\n\
         Balance     {}; the wallet says {}\n\
         Held        {}; the wallet says {}, the open holds {}",
        sum.entries,
        wallet.position,
        sum.sums.balance,
        wallet.balance.balance,
        sum.sums.held,
        wallet.balance.held,
        wallet.open
    )
}
