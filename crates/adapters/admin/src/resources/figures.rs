use crate::endpoint::{
    AdminResult, ApiRefusal, Operation, ProjectRequest, Query, get, instant_of, modes, one_of, word,
};
use crate::views::{id, instant};
use dwar_activity::{Cause, Counts, FiguresPeriod, Interval, Period, RouteFigures};
use dwar_kernel::{KeyMode, Timestamp};
use dwar_operator::Command;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use utoipa::openapi::Object;
use utoipa::{IntoParams, ToSchema};

pub(crate) fn operations() -> Vec<Operation> {
    vec![get("/projects/{project}/figures", Command::ShowFigures, show).summary(
        "Get what was sent, delivered, verified and spent, compared with the \
         previous period",
    )]
}

/// Filter of the figures.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
struct FiguresQuery {
    /// Period that ends now; a month has 30 days. Default: a day.
    #[param(schema_with = periods)]
    period: Option<String>,
    /// Start of a range, instead of `period`. Figures are kept for 61 days, figures per minute for
    /// two.
    #[param(format = "date-time")]
    since: Option<String>,
    /// End of the range, exclusive. Default: now.
    #[param(format = "date-time")]
    until: Option<String>,
    /// Mode. Default: `live`.
    #[param(schema_with = modes)]
    mode: Option<String>,
}

fn periods() -> Object {
    one_of(Period::ALL.map(Period::as_str))
}

/// Figures of a period that ends now, or of the requested range.
#[derive(Serialize, ToSchema)]
struct Figures {
    /// The requested period; null for a range.
    period: Option<String>,
    mode: String,
    /// Start of the range, widened to whole points. A point is five minutes in a range up to three
    /// hours, an hour in a range up to two days, otherwise a day.
    #[schema(format = "date-time")]
    since: String,
    /// End of the range, exclusive.
    #[schema(format = "date-time")]
    until: String,
    /// Everything before this instant is counted; null before the first count.
    #[schema(format = "date-time")]
    as_of: Option<String>,
    /// Whether the service is still counting older figures after a downtime.
    catching_up: bool,
    total: FigureCounts,
    /// The previous period of the same length; null if its figures are no longer kept.
    before: Option<FigureCounts>,
    /// One entry per point, oldest first.
    series: Vec<FigurePoint>,
    /// One entry per channel and provider.
    routes: Vec<FigureRoute>,
}

/// Counts of requests, and of the messages handed to providers for them.
#[derive(Serialize, ToSchema)]
struct FigureCounts {
    requests: u64,
    /// How many of the requests were relayed codes, which Dwar does not verify.
    relayed: u64,
    delivered: u64,
    verified: u64,
    /// Charges minus refunds.
    spent_paise: i64,
    /// Delivered requests per thousand.
    delivered_permille: Option<u64>,
    /// Verified requests per thousand requests for login codes.
    verified_permille: Option<u64>,
    /// Median time from request to verification.
    median_ms: Option<u64>,
    /// Median time from request to the provider's delivery receipt.
    median_delivery_ms: Option<u64>,
    /// Spending per verified request.
    spent_per_verified_paise: Option<i64>,
    /// Messages handed to a provider.
    messages: u64,
    messages_relayed: u64,
    messages_accepted: u64,
    messages_arrived: u64,
    messages_failed: u64,
    /// Sends refused before any provider was called; not counted as requests.
    refused: u64,
    /// Reasons why messages failed and sends were refused.
    causes: Vec<FigureCause>,
    guard: FigureGuard,
}

/// Counts of the requests that the guard judged and did not refuse.
#[derive(Serialize, ToSchema)]
struct FigureGuard {
    judged: u64,
    /// Requests with `visitor.trusted`.
    trusted: u64,
    trusted_verified: u64,
    /// Requests that the guard refuses in `enforce`, by its verdict.
    over_address: u64,
    over_series: u64,
    over_project: u64,
    over_day: u64,
    /// How many of these were verified.
    refusable_verified: u64,
}

/// How often one cause occurred.
#[derive(Serialize, ToSchema)]
struct FigureCause {
    /// Reason of a failed attempt or a refused send, or `no_provider`.
    cause: String,
    count: u64,
}

/// Figures of one point.
#[derive(Serialize, ToSchema)]
struct FigurePoint {
    #[schema(format = "date-time")]
    began_at: String,
    counts: FigureCounts,
}

/// Figures of one provider on one channel.
#[derive(Serialize, ToSchema)]
struct FigureRoute {
    /// `whatsapp` or `sms`.
    channel: String,
    provider: String,
    counts: FigureCounts,
}

async fn show(at: ProjectRequest, Query(query): Query<FiguresQuery>) -> AdminResult<Figures> {
    let mode = word("mode", query.mode.as_deref(), KeyMode::from_word)?.unwrap_or(KeyMode::Live);
    let now = at.api.tools.now();
    let wanted = query.wanted(now)?;
    let found = at.api.manage.figures.overview(&at.by, at.project.in_mode(mode), wanted).await?;
    let overview = found.overview;
    let point = |(it, counts): (Interval, Counts)| FigurePoint {
        began_at: instant(it.from),
        counts: view(&counts),
    };
    let route = |route: RouteFigures| FigureRoute {
        channel: id(route.channel),
        provider: route.provider,
        counts: view(&route.counts),
    };
    Ok(Figures {
        period: match wanted {
            FiguresPeriod::Last(period) => Some(id(period)),
            FiguresPeriod::Between(..) => None,
        },
        mode: id(mode),
        since: instant(overview.range.window.from),
        until: instant(overview.range.window.until),
        as_of: found.age.map(|age| instant(now - age)),
        catching_up: found.catching_up,
        total: view(&overview.total),
        before: overview.before.as_ref().map(view),
        series: overview.series.into_iter().map(point).collect(),
        routes: overview.routes.into_iter().map(route).collect(),
    })
}

impl FiguresQuery {
    fn wanted(&self, now: Timestamp) -> AdminResult<FiguresPeriod> {
        let period = word("period", self.period.as_deref(), Period::from_word)?;
        let since = instant_of("since", self.since.as_deref())?;
        let until = instant_of("until", self.until.as_deref())?;
        match (period, since, until) {
            (Some(_), None, None) | (None, None, None) => {
                Ok(FiguresPeriod::Last(period.unwrap_or(Period::Day)))
            }
            (None, Some(since), until) => Ok(FiguresPeriod::Between(since, until.unwrap_or(now))),
            (None, None, Some(_)) => Err(ApiRefusal::field("until", "needs since")),
            (Some(_), ..) => {
                Err(ApiRefusal::field("period", "cannot be combined with since or until"))
            }
        }
    }
}

fn view(counts: &Counts) -> FigureCounts {
    let millis = |median: Option<Duration>| u64::try_from(median?.as_millis()).ok();
    let cause =
        |(cause, count): (Cause, u64)| FigureCause { cause: cause.as_str().to_owned(), count };
    let guard = &counts.guard;
    FigureCounts {
        requests: counts.requests,
        relayed: counts.relays,
        delivered: counts.delivered,
        verified: counts.verified,
        spent_paise: counts.spent.0,
        delivered_permille: counts.delivery().permille_of_any(),
        verified_permille: counts.conversion().permille_of_any(),
        median_ms: millis(counts.times.median()),
        median_delivery_ms: millis(counts.delivery_times.median()),
        spent_per_verified_paise: counts.cost_per_login().map(|cost| cost.0),
        messages: counts.attempts,
        messages_relayed: counts.relay_attempts,
        messages_accepted: counts.accepted,
        messages_arrived: counts.arrived,
        messages_failed: counts.failed,
        refused: counts.causes.refused(),
        causes: counts.causes.each().map(cause).collect(),
        guard: FigureGuard {
            judged: guard.judged,
            trusted: guard.trusted,
            trusted_verified: guard.trusted_verified,
            over_address: guard.over_address,
            over_series: guard.over_series,
            over_project: guard.over_project,
            over_day: guard.over_day,
            refusable_verified: guard.refusable_verified,
        },
    }
}
