use super::wallet::reference;
use crate::endpoint::{
    AdminCode, Answered, ApiRefusal, Csv, Json, Operation, ProjectRequest, Query, get, instant_of,
    limit, one_of, place, post, word,
};
use crate::views::{BegunProof, LedgerProofs, Page, WalletEntry};
use dwar_console::Scope;
use dwar_operator::Command;
use dwar_wallet::{EntryKind, StatementCursor, StatementFilter};
use dwar_wire::csv_download;
use serde::Deserialize;
use utoipa::openapi::Object;
use utoipa::{IntoParams, ToSchema};

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        get("/projects/{project}/wallet/entries", Command::ListWalletEntries, entries)
            .summary("The movements that are asked for, newest first"),
        get("/projects/{project}/wallet/statement.csv", Command::DownloadStatement, download)
            .summary("The same as CSV, however many"),
        get("/projects/{project}/wallet/proof", Command::ShowWalletProof, proof)
            .summary("The last proof that the ledger sums, and the one that is being made"),
        post("/projects/{project}/wallet/proof", Command::BeginWalletProof, begin)
            .summary("Begins a proof, unless one is being made")
            .refuses([AdminCode::Conflict]),
    ]
}

/// Which movements.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
struct EntriesQuery {
    /// From this instant on.
    #[param(format = "date-time")]
    since: Option<String>,
    /// Before this instant.
    #[param(format = "date-time")]
    until: Option<String>,
    #[param(schema_with = kinds)]
    kind: Option<String>,
    /// Exactly this one.
    #[param(min_length = 1, max_length = 200)]
    reference: Option<String>,
    /// Entries at most, 1 to 500; 50 without. A download has no limit.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u32>,
    /// The `next_cursor` of the answer before. A download has none.
    #[param(min_length = 1, max_length = 200)]
    cursor: Option<String>,
}

/// What is to be proved.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ProofToBegin {
    /// Whether from the first entry on, and not from where the last sound proof ended.
    #[serde(default)]
    everything: bool,
}

async fn entries(
    at: ProjectRequest,
    Query(query): Query<EntriesQuery>,
) -> Answered<Page<WalletEntry>> {
    let (filter, limit) = (query.filter()?, limit(query.limit)?);
    let place = place(query.cursor.as_deref())?;
    let after = place.map(|(at, position)| StatementCursor { at, position });
    // One line more than the limit shows whether there are more.
    let lines = at.api.manage.ledger.lines(&at.by, at.project, filter, after, limit + 1).await?;
    Ok(WalletEntry::page(&lines, limit))
}

async fn download(at: ProjectRequest, Query(query): Query<EntriesQuery>) -> Answered<Csv> {
    for (field, given) in [("limit", query.limit.is_some()), ("cursor", query.cursor.is_some())] {
        if given {
            return Err(ApiRefusal::field(field, "a download is whole"));
        }
    }
    let (ledger, filter) = (at.api.manage.ledger.clone(), query.filter()?);
    let name = format!("statement-{}.csv", at.project);
    Ok(Csv(csv_download(&name, ledger.csv(at.by.clone(), at.project, filter).await?)))
}

async fn proof(at: ProjectRequest) -> Answered<LedgerProofs> {
    Ok((&at.api.manage.ledger.proven(&at.by, at.project).await?).into())
}

async fn begin(at: ProjectRequest, Json(body): Json<ProofToBegin>) -> Answered<BegunProof> {
    let scope = if body.everything { Scope::Everything } else { Scope::Newer };
    Ok((&at.api.manage.ledger.begin(&at.by, at.project, scope).await?).into())
}

fn kinds() -> Object {
    one_of(EntryKind::ALL.map(EntryKind::as_str))
}

impl EntriesQuery {
    fn filter(&self) -> Answered<StatementFilter> {
        Ok(StatementFilter {
            kind: word("kind", self.kind.as_deref(), EntryKind::from_word)?,
            since: instant_of("since", self.since.as_deref())?,
            until: instant_of("until", self.until.as_deref())?,
            reference: self.reference.as_deref().map(reference).transpose()?,
        })
    }
}
