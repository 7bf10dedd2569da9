use super::audit::when;
use super::failure::Failure;
use super::open::{OneProject, Usage, open};
use crate::config::Config;
use dwar_admin::views::{Request, instant};
use dwar_console::{Activity, FailedFor, Management, RequestFilter, RequestLine};
use dwar_kernel::{KeyMode, ProjectId, Timestamp};
use dwar_operator::Requester;
use dwar_otp::{Channel, DeliveryStatus, OtpState};
use futures_util::TryStreamExt;
use std::io::{self, Write};
use std::pin::pin;
use std::process::ExitCode;

/// Requests that are read at once.
const PAGE: u32 = 500;

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    of: OneProject,
    /// Only requests with keys of this mode: live or test
    #[arg(long)]
    mode: Option<KeyMode>,
    /// Only requests with this delivery status: queued, sent, failed or delivered
    #[arg(long, value_name = "STATUS", value_parser = known(DeliveryStatus::from_word))]
    status: Option<DeliveryStatus>,
    /// Only requests whose code is in this state: active, locked, used, superseded, void or relayed
    #[arg(long, value_name = "STATE", value_parser = known(OtpState::from_word))]
    state: Option<OtpState>,
    /// Only requests with a message that failed for this reason, such as provider_auth, or `any`
    #[arg(long, value_name = "REASON", value_parser = known(FailedFor::from_word))]
    reason: Option<FailedFor>,
    /// Only requests that this channel was tried for: whatsapp or sms
    #[arg(long, value_name = "CHANNEL", value_parser = known(Channel::from_word))]
    channel: Option<Channel>,
    /// Only requests that this provider was tried for
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// Only requests since this day (UTC) or instant: 2026-11-24 or 2026-11-24T10:00:00Z
    #[arg(long, value_name = "WHEN", value_parser = when)]
    since: Option<Timestamp>,
    /// Only requests before this day (UTC) or instant
    #[arg(long, value_name = "WHEN", value_parser = when)]
    until: Option<Timestamp>,
    /// Number of requests
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..))]
    limit: u64,
    /// Print all of them as CSV, with the columns of the download on the page
    #[arg(long, conflicts_with = "limit")]
    csv: bool,
}

/// Prints requests, newest first, one per line; with `--json` each is a JSON object. Numbers are
/// masked.
pub async fn run(config: Config, asked: Args, json: bool) -> Result<ExitCode, Failure> {
    let Management { projects, activity, .. } = open(config, Usage::Reads).await?.management()?;
    let project = asked.of.id(&projects).await?;
    let (csv, limit) = (asked.csv, asked.limit);
    if csv && json {
        return Err(Failure::Usage("--csv and --json exclude each other".to_owned()));
    }
    let filter = RequestFilter {
        mode: asked.mode,
        status: asked.status,
        state: asked.state,
        failed: asked.reason,
        channel: asked.channel,
        provider: asked.provider,
        since: asked.since,
        until: asked.until,
    };
    let mut out = io::BufWriter::new(io::stdout().lock());
    if csv {
        let mut file = pin!(activity.csv(Requester::command_line(), project, filter).await?);
        while let Some(lines) = file.try_next().await? {
            out.write_all(lines.as_bytes())?;
        }
    } else {
        let text = |it: &RequestLine| if json { Request::from(it).to_line() } else { text_of(it) };
        print(&activity, project, &filter, limit, |it| out.write_all(text(it).as_bytes())).await?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

async fn print(
    activity: &Activity,
    project: ProjectId,
    filter: &RequestFilter,
    mut left: u64,
    mut line: impl FnMut(&RequestLine) -> io::Result<()>,
) -> Result<(), Failure> {
    let (by, mut before) = (Requester::command_line(), None);
    loop {
        let most = u32::try_from(left).unwrap_or(PAGE).min(PAGE);
        let page = activity.requests(&by, project, filter, before, most).await?;
        page.lines.iter().try_for_each(&mut line)?;
        left = left.saturating_sub(u64::try_from(page.lines.len()).unwrap_or(u64::MAX));
        before = page.next;
        if before.is_none() || left == 0 {
            return Ok(());
        }
    }
}

fn text_of(line: &RequestLine) -> String {
    let reason = line.cause().map(|cause| format!(" ({})", cause.as_str())).unwrap_or_default();
    let carrier =
        line.carrier.as_ref().map(|(channel, provider)| format!("{channel} via {provider}"));
    let phone = line.phone.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
    format!(
        "{} {} {} {}{reason}, {}, {}, {phone}, {}\n",
        instant(line.at),
        line.otp,
        line.mode,
        line.status,
        line.state,
        carrier.as_deref().unwrap_or("no provider"),
        line.charged
    )
}

fn known<T>(
    read: impl Fn(&str) -> Option<T> + Clone + Send + Sync + 'static,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static {
    move |word| read(word).ok_or_else(|| "no such word".to_owned())
}
