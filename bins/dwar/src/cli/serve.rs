use super::failure::Failure;
use super::signals::Signals;
use crate::config::Config;
use crate::descriptors;
use crate::telemetry::LostLines;
use crate::wiring::causes;
use crate::wiring::{Access, Application, Core, Listeners, StopHandle, keep_preparing, prepare};
use dwar_app::CreatedProject;
use dwar_http::Server;
use dwar_kernel::{StoreError, with_causes};
use std::io::{self, IsTerminal, Write};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::SetOnce;

/// A phone number for the examples; nothing is sent to it.
const PHONE: &str = "9876543210";
/// Introduces the link to the playground, the last line that a first start prints.
const INVITATION: &str =
    "  Or try it in your browser. This link opens the playground; it works once, within an hour:";
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Serves until a signal asks it to stop.
pub fn run(mut config: Config, lost: LostLines) -> Result<ExitCode, Failure> {
    descriptors::make_room(&mut config);
    // Log collectors see only this line.
    let logged = |failure: &Failure| {
        tracing::error!(error = %with_causes(failure), "the service cannot continue");
    };
    on_threads(serve(config, lost)).inspect_err(logged)
}

/// Runs work on a runtime whose threads also finish the tasks that must outlive their clients.
pub fn on_threads<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let done = runtime.block_on(work);
    // A database that does not answer may block a thread, but no work waits for it any more.
    runtime.shutdown_timeout(LAST_WORDS);
    done
}

async fn serve(config: Config, lost: LostLines) -> Result<ExitCode, Failure> {
    let mut signals = Signals::take()?;
    // Bind before a database or a key is created, so that a failed start leaves nothing behind.
    let listeners = Listeners::take(&config)?;
    // A new database is created here, which may have to wait for other processes that do so.
    let core = tokio::select! {
        core = Core::open(config, Access::Write) => core?,
        signal = signals.stop() => {
            tracing::info!(signal, "stopped before the database was open");
            return Ok(ExitCode::SUCCESS);
        }
    };
    let prepared = Arc::new(SetOnce::new());
    let application = Application::build(core.clone(), listeners, Arc::clone(&prepared), lost)?;
    let addresses = application.server.addresses().to_vec();
    let first_sign_in = application.first_sign_in();
    for address in &addresses {
        tracing::info!("Dwar is listening on http://{address}");
    }
    let preparing = async {
        let created = match prepare(&core).await {
            // Health checks are answered meanwhile, and the API answers once the database is back.
            Err(cause) if cause.is_transient() => {
                let advice = causes::usual(&cause).map(|usual| usual.advice);
                tracing::warn!(
                    error = %with_causes(&cause), advice,
                    "the database is out of reach; trying again"
                );
                keep_preparing(&core).await
            }
            done => done,
        };
        let created = created?;
        // Only this code sets it.
        let _ = prepared.set(());
        tracing::info!("Dwar is ready");
        if let (Some(project), Some(address)) = (created, addresses.first()) {
            let link = match first_sign_in {
                Some(first) => first.link().await?,
                None => None,
            };
            greet(&project, *address, link.as_deref());
        }
        Ok::<_, StoreError>(())
    };
    let stopping = tokio::spawn(stop_on_signal(signals, application.stop_handle()));
    let serving = application.run();
    tokio::pin!(serving);
    tokio::select! {
        served = &mut serving => served?,
        prepared = preparing => {
            prepared?;
            serving.await?;
        }
    }
    stopping.abort();
    tracing::info!("stopped");
    Ok(ExitCode::SUCCESS)
}

/// Stops the server gracefully when the system or the terminal asks for it. A second signal only
/// logs how long the stop may take, because a shell often sends the first one twice.
async fn stop_on_signal(mut signals: Signals, server: StopHandle) {
    let signal = signals.stop().await;
    tracing::info!(signal, "stopping: requests in flight finish, new ones are refused");
    let told_again = async {
        loop {
            let (signal, seconds) = (signals.stop().await, Server::STOPS_WITHIN.as_secs());
            tracing::warn!(signal, "already stopping, within {seconds} s; KILL ends it at once");
        }
    };
    // The parent process waits for the end.
    tokio::join!(server.stop(), told_again);
}

/// Prints the keys and a first example after the first start.
fn greet(project: &CreatedProject, address: SocketAddr, link: Option<&str>) {
    // A failed write only means that standard output is closed.
    let _ = writeln!(io::stdout(), "{}", welcome(project, address));
    if let Some(link) = link {
        let link = if io::stdout().is_terminal() {
            format!("\x1b[1m{link}\x1b[0m")
        } else {
            link.to_owned()
        };
        let _ = writeln!(io::stdout(), "{INVITATION}\n\n  {link}");
    }
}

/// The text of the first start: the keys and how to try them.
fn welcome(project: &CreatedProject, address: SocketAddr) -> String {
    let test_key = project.test_key.expose();
    let header = format!("-H 'X-Api-Key: {test_key}'");
    let json = "-H 'Content-Type: application/json'";
    let url = format!("http://{address}/v1");
    format!(
        r#"
  Dwar is ready at http://{address}

  Project   {name} ({id}), balance {balance}
  Live key  {live_key}
  Test key  {test_key}

  Copy the keys now. You will not see them again. Try the whole flow with the test key; nothing is sent:

  curl -s {url}/otp/send {header} {json} -d '{{"phone":"{PHONE}"}}'
  CODE=$(curl -s '{url}/sandbox/messages?phone={PHONE}' {header} | grep -o '"code":"[0-9]*' | head -n 1 | tail -c 7)
  curl -s {url}/otp/verify {header} {json} -d '{{"phone":"{PHONE}","code":"'$CODE'"}}'
"#,
        name = project.name,
        id = project.id,
        balance = project.balance,
        live_key = project.live_key.expose(),
    )
}
