//! `dwar wallet prove`: shows that a ledger sums, and puts it on record.

use super::answer::instant;
use super::{Answer, Failure, of};
use dwar_app::{ManageLedger, Scope};
use dwar_kernel::ProjectId;
use dwar_operator::By;
use dwar_wallet::{LedgerProof, ProofStart};
use serde_json::{Value, json};

/// Makes a proof of the project's ledger, unless somebody is making one.
pub async fn prove(
    ledger: &ManageLedger,
    project: ProjectId,
    scope: Scope,
) -> Result<Answer, Failure> {
    let run = match ledger.begin_here(&By::command_line(), project).await.map_err(of(project))? {
        ProofStart::Begun(run) => run,
        ProofStart::Running(run) => {
            let since = instant(run.since);
            let news = format!("{} is making one since {since}; nothing was begun", run.by);
            return Err(Failure::Refused(news));
        }
    };
    match ledger.prove(run, scope).await? {
        Some(proof) => {
            let (json, text) = (proof_json(&proof), proof_text(&proof));
            Ok(Answer { json, text, good: proof.is_sound() })
        }
        None => Err(Failure::Refused("it took so long that somebody else began one".to_owned())),
    }
}

/// The members that the admin API gives a proof.
fn proof_json(proof: &LedgerProof) -> Value {
    let LedgerProof { sum, stand, .. } = proof;
    json!({
        "sound": proof.is_sound(),
        "began_at": instant(proof.since),
        "at": instant(proof.at),
        "by": proof.by,
        "entries": sum.entries,
        "entries_expected": stand.position,
        "balance_paise": sum.sums.balance.0,
        "balance_expected_paise": stand.balance.balance.0,
        "held_paise": sum.sums.held.0,
        "held_expected_paise": stand.balance.held.0,
        "open_holds_paise": stand.open.0,
    })
}

fn proof_text(proof: &LedgerProof) -> String {
    let LedgerProof { sum, stand, .. } = proof;
    if proof.is_sound() {
        return format!(
            "{} entries come to what the wallet says: {}, of it {} held.",
            sum.entries, stand.balance.balance, stand.balance.held
        );
    }
    format!(
        "The ledger does not come to what the wallet says.\n\
         Entries     {} of {}\n\
         Balance     {}; the wallet says {}\n\
         Held        {}; the wallet says {}, the open holds {}",
        sum.entries,
        stand.position,
        sum.sums.balance,
        stand.balance.balance,
        sum.sums.held,
        stand.balance.held,
        stand.open
    )
}
