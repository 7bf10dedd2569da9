use crate::endpoint::{Answered, Operation, ProjectRequest, Query, get, modes, one_of, word};
use crate::views::{id, instant};
use dwar_activity::{Counts, Period, Route};
use dwar_kernel::KeyMode;
use dwar_operator::Command;
use serde::{Deserialize, Serialize};
use utoipa::openapi::Object;
use utoipa::{IntoParams, ToSchema};

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        get("/projects/{project}/figures", Command::ShowFigures, show)
            .summary("What was sent, delivered, verified and spent, against the period before"),
    ]
}

/// Which figures.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
struct FiguresQuery {
    /// A month has 30 days; a day without.
    #[param(schema_with = periods)]
    period: Option<String>,
    /// Live without.
    #[param(schema_with = modes)]
    mode: Option<String>,
}

fn periods() -> Object {
    one_of(Period::ALL.map(Period::as_str))
}

/// Figures of one period up to now.
#[derive(Serialize, ToSchema)]
struct Figures {
    period: String,
    mode: String,
    /// Up to when everything is counted; null before the first count.
    #[schema(format = "date-time")]
    as_of: Option<String>,
    /// Whether older figures are still being counted, after an absence.
    catching_up: bool,
    total: FigureCounts,
    /// The same stretch one period earlier.
    before: FigureCounts,
    /// Point by point, oldest first.
    series: Vec<FigurePoint>,
    /// By channel and provider.
    routes: Vec<FigureRoute>,
}

/// What became of requests, and of the messages that were handed to providers for them.
#[derive(Serialize, ToSchema)]
struct FigureCounts {
    requests: u64,
    /// Of these, relayed codes, which are not verified here.
    relayed: u64,
    delivered: u64,
    verified: u64,
    /// Charged, less what was given back.
    spent_paise: i64,
    /// Of a thousand requests, how many were delivered.
    delivered_permille: Option<u64>,
    /// Of a thousand requests for login codes, how many were verified.
    verified_permille: Option<u64>,
    /// From being asked for to being verified: half of them took no longer.
    median_ms: Option<u64>,
    /// Handed over to a provider.
    messages: u64,
    messages_relayed: u64,
    messages_accepted: u64,
    messages_arrived: u64,
    messages_failed: u64,
}

/// Figures of one point of time.
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

async fn show(at: ProjectRequest, Query(query): Query<FiguresQuery>) -> Answered<Figures> {
    let mode = word("mode", query.mode.as_deref(), KeyMode::from_word)?;
    let period = word("period", query.period.as_deref(), Period::from_word)?;
    let (mode, period) = (mode.unwrap_or(KeyMode::Live), period.unwrap_or(Period::Day));
    let now = at.api.tools.now();
    let found = at.api.manage.figures.overview(&at.by, at.project.in_mode(mode), period).await?;
    let overview = found.overview;
    let point = |(began, counts)| FigurePoint { began_at: instant(began), counts: view(&counts) };
    let route = |route: Route| FigureRoute {
        channel: id(route.channel),
        provider: route.provider,
        counts: view(&route.counts),
    };
    Ok(Figures {
        period: id(period),
        mode: id(mode),
        as_of: found.age.map(|age| instant(now - age)),
        catching_up: found.catching_up,
        total: view(&overview.total),
        before: view(&overview.before),
        series: overview.series.into_iter().map(point).collect(),
        routes: overview.routes.into_iter().map(route).collect(),
    })
}

fn view(counts: &Counts) -> FigureCounts {
    let median = counts.times.median();
    FigureCounts {
        requests: counts.requests,
        relayed: counts.relays,
        delivered: counts.delivered,
        verified: counts.verified,
        spent_paise: counts.spent.0,
        delivered_permille: counts.delivery().permille_of_any(),
        verified_permille: counts.conversion().permille_of_any(),
        median_ms: median.and_then(|median| u64::try_from(median.as_millis()).ok()),
        messages: counts.attempts,
        messages_relayed: counts.relay_attempts,
        messages_accepted: counts.accepted,
        messages_arrived: counts.arrived,
        messages_failed: counts.failed,
    }
}
