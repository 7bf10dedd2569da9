use super::story::{PhoneStory, story};
use crate::endpoint::{
    AdminResult, ApiRefusal, Csv, Json, Operation, Parsed, ProjectRequest, Query, RateLimited, get,
    instant_of, modes, no_cursor, one_of, post, word,
};
use crate::views::{Request, id, instant};
use dwar_activity::Cause;
use dwar_console::explain;
use dwar_console::{FailedFor, REQUESTS_ON_A_PAGE, RequestFilter};
use dwar_kernel::{KeyMode, OtpId, Phone, is_line};
use dwar_operator::Command;
use dwar_otp::{Channel, DeliveryStatus, OtpState, RefusedSends};
use dwar_wire::csv_download;
use dwar_wire::openapi::given_phone;
use serde::{Deserialize, Serialize};
use utoipa::openapi::Object;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::{IntoParams, ToSchema};

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        get("/projects/{project}/requests", Command::ListRequests, list)
            .summary("List requested codes, newest first, with masked numbers"),
        get("/projects/{project}/requests.csv", Command::DownloadRequests, download)
            .summary("Download requested codes as CSV, without a limit"),
        get("/projects/{project}/requests/refused", Command::ListRefusedRequests, refused)
            .summary("Count refused sends of the last hour or a given range, per mode and reason"),
        post("/projects/{project}/requests/search", Command::SearchRequests, search).summary(
            "Explain why codes did or did not arrive at a number; the answer masks \
             the number",
        ),
        get("/projects/{project}/requests/{request}", Command::ShowRequest, show)
            .summary("Explain why codes did or did not arrive at the number of a request"),
        post("/projects/{project}/requests/{request}/unmask", Command::UnmaskRequest, unmask)
            .summary("Show the full number of a request; the audit log records it"),
    ]
}

/// Filter of the requests.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
struct RequestsQuery {
    #[param(schema_with = modes)]
    mode: Option<String>,
    #[param(schema_with = statuses)]
    status: Option<String>,
    #[param(schema_with = states)]
    state: Option<String>,
    /// Only requests with a message that failed for this reason; `any` for every reason,
    /// `no_provider` if no provider was available.
    #[param(schema_with = failures)]
    reason: Option<String>,
    /// Start of the range, inclusive.
    #[param(format = "date-time")]
    since: Option<String>,
    /// End of the range, exclusive.
    #[param(format = "date-time")]
    until: Option<String>,
    /// Only requests that tried this channel.
    #[param(schema_with = channels)]
    channel: Option<String>,
    /// Only requests that tried the provider of this name.
    #[param(min_length = 1, max_length = 200)]
    provider: Option<String>,
    /// `next_cursor` of the previous page. Ignored by a download.
    #[param(min_length = 1, max_length = 200)]
    cursor: Option<String>,
}

/// Range of the counts. Default: the last hour.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
struct RefusedQuery {
    /// Start of the range, inclusive. Counts are kept for a day.
    #[param(format = "date-time")]
    since: Option<String>,
    /// End of the range, exclusive.
    #[param(format = "date-time")]
    until: Option<String>,
}

fn statuses() -> Object {
    one_of(DeliveryStatus::ALL.map(DeliveryStatus::as_str))
}

fn states() -> Object {
    one_of(OtpState::ALL.map(OtpState::as_str))
}

fn failures() -> Object {
    let words = Cause::all().filter(|cause| !matches!(cause, Cause::Refused(_))).map(Cause::as_str);
    let words = [FailedFor::ANY].into_iter().chain(words);
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some(words)).build()
}

fn channels() -> Object {
    one_of(Channel::ALL.map(Channel::as_str))
}

/// One page: at most 50 requests, found within 200 milliseconds.
#[derive(Serialize, ToSchema)]
struct RequestPage {
    items: Vec<Request>,
    /// How many requests the search read for this page.
    looked_through: u32,
    /// Creation time of the oldest request that the search read; null if it read none.
    #[schema(format = "date-time")]
    looked_back_to: Option<String>,
    /// Cursor of the next page; null at the end. A page may be empty and still have one.
    next_cursor: Option<String>,
}

/// Counts of refused sends.
#[derive(Serialize, ToSchema)]
struct RefusedRequests {
    items: Vec<RefusedCount>,
}

/// Sends refused for one reason.
#[derive(Serialize, ToSchema)]
struct RefusedCount {
    /// `live` or `test`.
    mode: String,
    /// `limit`, `pace`, `stop`, `balance`, `key_reused` or `ceiling`.
    reason: String,
    count: u32,
    /// The reason in words.
    sentence: String,
    /// What to do about it.
    advice: String,
}

/// A phone number. It is in the body because URLs end up in logs.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct PhoneToSearch {
    /// `live` or `test`. Default: `live`.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    mode: Option<Parsed<KeyMode>>,
    /// An Indian mobile number.
    #[schema(schema_with = given_phone, required = true)]
    phone: Parsed<Phone>,
}

/// The full number of a request.
#[derive(Serialize, ToSchema)]
struct UnmaskedRequest {
    #[schema(format = "uuid")]
    request_id: String,
    /// `live` or `test`.
    mode: String,
    phone: String,
}

async fn list(at: ProjectRequest, Query(query): Query<RequestsQuery>) -> AdminResult<RequestPage> {
    let (filter, before) = (query.filter()?, query.before()?);
    let activity = &at.api.manage.activity;
    let page = activity.requests(&at.by, at.project, &filter, before, REQUESTS_ON_A_PAGE).await?;
    Ok(RequestPage {
        items: page.lines.iter().map(Request::from).collect(),
        looked_through: page.looked_through,
        looked_back_to: page.looked_back_to.map(instant),
        next_cursor: page.next.map(id),
    })
}

async fn download(at: ProjectRequest, Query(query): Query<RequestsQuery>) -> AdminResult<Csv> {
    if query.cursor.is_some() {
        return Err(ApiRefusal::field(
            "cursor",
            "does not apply to a download, which has all requests",
        ));
    }
    let (activity, filter) = (at.api.manage.activity.clone(), query.filter()?);
    let name = format!("requests-{}.csv", at.project);
    Ok(Csv(csv_download(&name, activity.csv(at.by.clone(), at.project, filter).await?)))
}

async fn refused(
    at: ProjectRequest,
    Query(query): Query<RefusedQuery>,
) -> AdminResult<RefusedRequests> {
    let since = instant_of("since", query.since.as_deref())?;
    let until = instant_of("until", query.until.as_deref())?;
    let activity = &at.api.manage.activity;
    let refused = match (since, until) {
        (None, None) => activity.refused_lately(&at.by, at.project).await?,
        _ => RefusedSends::whenever(activity.refused(&at.by, at.project, since, until).await?),
    };
    Ok(RefusedRequests { items: refused.iter().map(count).collect() })
}

async fn search(
    at: ProjectRequest,
    Json(body): Json<PhoneToSearch>,
) -> AdminResult<RateLimited<PhoneStory>> {
    let (Parsed(phone), mode) = (body.phone, body.mode.map_or(KeyMode::Live, |Parsed(mode)| mode));
    let project_mode = at.project.in_mode(mode);
    let (timeline, left) = at.api.manage.activity.search(&at.by, project_mode, &phone).await?;
    let now = at.api.tools.now();
    Ok(RateLimited { body: story(mode, &phone, timeline), left, now })
}

async fn show(at: ProjectRequest) -> AdminResult<PhoneStory> {
    let request = at.part("request")?;
    let (mode, phone, timeline) = at.api.manage.activity.story(&at.by, at.project, request).await?;
    Ok(story(mode, &phone, timeline))
}

async fn unmask(at: ProjectRequest) -> AdminResult<UnmaskedRequest> {
    let request: OtpId = at.part("request")?;
    let (mode, phone) = at.api.manage.activity.unmask_request(&at.by, at.project, request).await?;
    Ok(UnmaskedRequest { request_id: id(request), mode: id(mode), phone: phone.e164() })
}

impl RequestsQuery {
    fn filter(&self) -> AdminResult<RequestFilter> {
        Ok(RequestFilter {
            mode: word("mode", self.mode.as_deref(), KeyMode::from_word)?,
            status: word("status", self.status.as_deref(), DeliveryStatus::from_word)?,
            state: word("state", self.state.as_deref(), OtpState::from_word)?,
            failed: word("reason", self.reason.as_deref(), FailedFor::from_word)?,
            since: instant_of("since", self.since.as_deref())?,
            until: instant_of("until", self.until.as_deref())?,
            channel: word("channel", self.channel.as_deref(), Channel::from_word)?,
            provider: word("provider", self.provider.as_deref(), provider)?,
        })
    }

    fn before(&self) -> AdminResult<Option<OtpId>> {
        let cursor = self.cursor.as_deref().map(str::parse);
        cursor.transpose().map_err(|_| no_cursor())
    }
}

/// Checks that the name could be that of a provider.
fn provider(name: &str) -> Option<String> {
    is_line(name, 60).then(|| name.to_owned())
}

fn count(refused: &RefusedSends) -> RefusedCount {
    let (sentence, advice) = explain::refusal(refused.reason, None);
    RefusedCount {
        mode: id(refused.project_mode.mode),
        reason: id(refused.reason),
        count: refused.count,
        sentence,
        advice: advice.to_owned(),
    }
}
