use super::wallet::reference;
use crate::endpoint::{
    AdminCode, AdminResult, ApiRefusal, Csv, Json, Operation, ProjectRequest, Query, get,
    instant_of, limit, one_of, place, post, word,
};
use crate::views::{BegunProof, LedgerProofs, Page, WalletEntry};
use dwar_console::ProofScope;
use dwar_operator::Command;
use dwar_wallet::{EntryKind, StatementCursor, StatementFilter};
use dwar_wire::csv_download;
use serde::Deserialize;
use utoipa::openapi::Object;
use utoipa::{IntoParams, ToSchema};

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        get("/projects/{project}/wallet/entries", Command::ListWalletEntries, entries)
            .summary("List ledger entries, newest first"),
        get("/projects/{project}/wallet/statement.csv", Command::DownloadStatement, download)
            .summary("Download ledger entries as CSV, without a limit"),
        get("/projects/{project}/wallet/proof", Command::ShowWalletProof, proof)
            .summary("Get the last check of the ledger's sums, and the check that is running"),
        post("/projects/{project}/wallet/proof", Command::BeginWalletProof, begin)
            .summary("Start a check of the ledger's sums, unless one is running")
            .refuses([AdminCode::Conflict]),
    ]
}

/// Filter of the ledger entries.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
struct EntriesQuery {
    /// Start of the range, inclusive.
    #[param(format = "date-time")]
    since: Option<String>,
    /// End of the range, exclusive.
    #[param(format = "date-time")]
    until: Option<String>,
    #[param(schema_with = kinds)]
    kind: Option<String>,
    /// Exact reference.
    #[param(min_length = 1, max_length = 200)]
    reference: Option<String>,
    /// Entries per page, 1 to 500. Default: 50. A download has no limit.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u32>,
    /// `next_cursor` of the previous page. Ignored by a download.
    #[param(min_length = 1, max_length = 200)]
    cursor: Option<String>,
}

/// Extent of the check.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ProofToBegin {
    /// Whether to check from the first entry, instead of from the end of the last successful check.
    #[serde(default)]
    everything: bool,
}

async fn entries(
    at: ProjectRequest,
    Query(query): Query<EntriesQuery>,
) -> AdminResult<Page<WalletEntry>> {
    let (filter, limit) = (query.filter()?, limit(query.limit)?);
    let place = place(query.cursor.as_deref())?;
    let after = place.map(|(at, position)| StatementCursor { at, position });
    // One line more than the limit shows whether there are more.
    let lines = at.api.manage.ledger.lines(&at.by, at.project, filter, after, limit + 1).await?;
    Ok(WalletEntry::page(&lines, limit))
}

async fn download(at: ProjectRequest, Query(query): Query<EntriesQuery>) -> AdminResult<Csv> {
    for (field, given) in [("limit", query.limit.is_some()), ("cursor", query.cursor.is_some())] {
        if given {
            return Err(ApiRefusal::field(
                field,
                "does not apply to a download, which has all entries",
            ));
        }
    }
    let (ledger, filter) = (at.api.manage.ledger.clone(), query.filter()?);
    let name = format!("statement-{}.csv", at.project);
    Ok(Csv(csv_download(&name, ledger.csv(at.by.clone(), at.project, filter).await?)))
}

async fn proof(at: ProjectRequest) -> AdminResult<LedgerProofs> {
    Ok((&at.api.manage.ledger.proven(&at.by, at.project).await?).into())
}

async fn begin(at: ProjectRequest, Json(body): Json<ProofToBegin>) -> AdminResult<BegunProof> {
    let scope = if body.everything { ProofScope::Everything } else { ProofScope::Newer };
    Ok((&at.api.manage.ledger.begin(&at.by, at.project, scope).await?).into())
}

fn kinds() -> Object {
    one_of(EntryKind::ALL.map(EntryKind::as_str))
}

impl EntriesQuery {
    fn filter(&self) -> AdminResult<StatementFilter> {
        Ok(StatementFilter {
            kind: word("kind", self.kind.as_deref(), EntryKind::from_word)?,
            since: instant_of("since", self.since.as_deref())?,
            until: instant_of("until", self.until.as_deref())?,
            reference: self.reference.as_deref().map(reference).transpose()?,
        })
    }
}
