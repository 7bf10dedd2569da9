use super::wallet::reference;
use crate::endpoint::admin_request::ProjectRequest;
use crate::endpoint::answer::{Answered, Csv, Page, id, instant};
use crate::endpoint::body::Nothing;
use crate::endpoint::operation::{Operation, get, post};
use crate::endpoint::query::{instant_of, limit, place, word};
use crate::endpoint::refusal::ApiRefusal;
use dwar_app::Scope;
use dwar_operator::Command;
use dwar_wallet::{
    EntryKind, LedgerProof, ProofRun, ProofStart, StatementCursor, StatementFilter, StatementLine,
};
use dwar_wire::csv_download;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        get(
            "/projects/{project}/wallet/entries",
            Command::ListWalletEntries,
            "The movements that are asked for, newest first",
        )
        .to(entries),
        get(
            "/projects/{project}/wallet/statement.csv",
            Command::DownloadStatement,
            "The same as CSV, however many",
        )
        .to(download),
        get(
            "/projects/{project}/wallet/proof",
            Command::ShowWalletProof,
            "The last proof that the ledger sums, and the one that is being made",
        )
        .to(proof),
        post(
            "/projects/{project}/wallet/proof",
            Command::BeginWalletProof,
            "Begins a proof, unless one is being made",
        )
        .to(begin),
    ]
}

/// Which movements.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// From this instant on.
    #[param(format = "date-time")]
    since: Option<String>,
    /// Before this instant.
    #[param(format = "date-time")]
    until: Option<String>,
    /// `credit`, `hold`, `capture`, `release`, `refund` or `adjustment`.
    kind: Option<String>,
    /// Exactly this one.
    reference: Option<String>,
    /// Entries at most, 1 to 500; 50 without. A download has no limit.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u32>,
    /// The `next_cursor` of the answer before. A download has none.
    cursor: Option<String>,
}

/// One movement.
#[derive(Serialize, ToSchema)]
struct WalletEntry {
    /// Which one of the ledger, from 1.
    position: u64,
    #[schema(format = "uuid")]
    entry_id: String,
    /// `credit`, `hold`, `capture`, `release`, `refund` or `adjustment`.
    kind: String,
    /// What it adds to the balance.
    amount_paise: i64,
    /// What it adds to the held part.
    held_paise: i64,
    balance_after_paise: i64,
    held_after_paise: i64,
    reference: String,
    #[schema(format = "date-time")]
    at: String,
}

/// What is known of a ledger's proofs.
#[derive(Serialize, ToSchema)]
struct LedgerProofs {
    last: Option<LedgerProofBody>,
    running: Option<RunningProof>,
}

/// What a proof found.
#[derive(Serialize, ToSchema)]
#[schema(as = LedgerProof)]
struct LedgerProofBody {
    /// Whether entries, wallet and open holds agree; anything else is a fault.
    sound: bool,
    #[schema(format = "date-time")]
    began_at: String,
    #[schema(format = "date-time")]
    at: String,
    /// Who asked for it.
    by: String,
    /// How many entries were added up.
    entries: u64,
    /// How many there had to be.
    entries_expected: u64,
    /// What they come to.
    balance_paise: i64,
    /// What the wallet said.
    balance_expected_paise: i64,
    held_paise: i64,
    held_expected_paise: i64,
    /// What the open holds come to.
    open_holds_paise: i64,
}

/// A proof that is being made.
#[derive(Serialize, ToSchema)]
struct RunningProof {
    #[schema(format = "date-time")]
    began_at: String,
    /// Who asked for it.
    by: String,
}

/// What is to be proved.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ProofToBegin {
    /// Whether from the first entry on, and not from where the last sound proof ended.
    #[serde(default)]
    everything: bool,
}

/// A proof that is being made now.
#[derive(Serialize, ToSchema)]
struct BegunProof {
    /// Whether it is this request's; else another had begun.
    begun: bool,
    running: RunningProof,
}

async fn entries(at: ProjectRequest, wanted: Wanted, _: Nothing) -> Answered<Page<WalletEntry>> {
    let (filter, limit) = (wanted.filter()?, limit(wanted.limit)?);
    let place = place(wanted.cursor.as_deref())?;
    let after = place.map(|(at, position)| StatementCursor { at, position });
    // One more than is shown tells whether there are more.
    let lines = at.api.manage.ledger.lines(&at.by, at.project, filter, after, limit + 1).await?;
    Ok(Page::cut(lines, limit, cursor, view))
}

async fn download(at: ProjectRequest, wanted: Wanted, _: Nothing) -> Answered<Csv> {
    for (field, given) in [("limit", wanted.limit.is_some()), ("cursor", wanted.cursor.is_some())] {
        if given {
            return Err(ApiRefusal::field(field, "a download is whole"));
        }
    }
    let (ledger, filter) = (at.api.manage.ledger.clone(), wanted.filter()?);
    let name = format!("statement-{}.csv", at.project);
    Ok(Csv(csv_download(&name, ledger.csv(at.by.clone(), at.project, filter).await?)))
}

async fn proof(at: ProjectRequest, _: Nothing, _: Nothing) -> Answered<LedgerProofs> {
    let proven = at.api.manage.ledger.proven(&at.by, at.project).await?;
    Ok(LedgerProofs { last: proven.last.map(found), running: proven.running.map(running) })
}

async fn begin(at: ProjectRequest, _: Nothing, body: ProofToBegin) -> Answered<BegunProof> {
    let scope = if body.everything { Scope::Everything } else { Scope::Newer };
    Ok(match at.api.manage.ledger.begin(&at.by, at.project, scope).await? {
        ProofStart::Begun(run) => BegunProof { begun: true, running: running(run) },
        ProofStart::Running(run) => BegunProof { begun: false, running: running(run) },
    })
}

impl Wanted {
    fn filter(&self) -> Answered<StatementFilter> {
        Ok(StatementFilter {
            kind: word("kind", self.kind.as_deref(), EntryKind::from_word)?,
            since: instant_of("since", self.since.as_deref())?,
            until: instant_of("until", self.until.as_deref())?,
            reference: self.reference.as_deref().map(reference).transpose()?,
        })
    }
}

fn cursor(line: &StatementLine) -> String {
    format!("{}_{}", instant(line.entry.at), line.position)
}

fn view(StatementLine { position, entry }: StatementLine) -> WalletEntry {
    WalletEntry {
        position,
        entry_id: id(entry.id),
        kind: id(entry.kind),
        amount_paise: entry.amount.0,
        held_paise: entry.held.0,
        balance_after_paise: entry.after.balance.0,
        held_after_paise: entry.after.held.0,
        reference: id(entry.reference),
        at: instant(entry.at),
    }
}

fn found(proof: LedgerProof) -> LedgerProofBody {
    let (sum, stand) = (proof.sum, proof.stand);
    LedgerProofBody {
        sound: proof.is_sound(),
        began_at: instant(proof.since),
        at: instant(proof.at),
        by: proof.by,
        entries: sum.entries,
        entries_expected: stand.position,
        balance_paise: sum.sums.balance.0,
        balance_expected_paise: stand.balance.balance.0,
        held_paise: sum.sums.held.0,
        held_expected_paise: stand.balance.held.0,
        open_holds_paise: stand.open.0,
    }
}

fn running(run: ProofRun) -> RunningProof {
    RunningProof { began_at: instant(run.since), by: run.by }
}
