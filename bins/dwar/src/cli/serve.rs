use super::Failure;
use crate::config::Config;
use crate::wiring::{Application, Core, prepare};
use dwar_app::CreatedProject;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::oneshot;

/// A phone number for the examples; nothing is sent to it.
const PHONE: &str = "9876543210";

/// Serves until a signal to stop.
pub fn run(config: Config) -> Result<ExitCode, Failure> {
    actix_web::rt::System::new().block_on(serve(config))
}

async fn serve(config: Config) -> Result<ExitCode, Failure> {
    let core = Core::open(config)?;
    let prepared = Arc::new(AtomicBool::new(false));
    let application = Application::build(core.clone(), Arc::clone(&prepared))?;
    let addresses = application.addresses();
    let (failed, failure) = oneshot::channel();
    let preparing = tokio::spawn(async move {
        match prepare(&core).await {
            Ok(created) => {
                prepared.store(true, Ordering::Release);
                announce(&addresses, created.as_ref());
            }
            // The other side is gone only when the server has stopped already.
            Err(cause) => drop(failed.send(cause)),
        }
    });
    tokio::select! {
        served = application.run() => served?,
        Ok(cause) = failure => return Err(cause.into()),
    }
    preparing.abort();
    tracing::info!("stopped");
    Ok(ExitCode::SUCCESS)
}

fn announce(addresses: &[SocketAddr], created: Option<&CreatedProject>) {
    for address in addresses {
        tracing::info!("Dwar is listening on http://{address}");
    }
    if let (Some(project), Some(address)) = (created, addresses.first()) {
        // Whoever closed standard output does not want to know.
        let _ = writeln!(io::stdout(), "{}", welcome(project, *address));
    }
}

/// What the first start says, once: the keys and how to try them.
fn welcome(project: &CreatedProject, address: SocketAddr) -> String {
    let test_key = project.test_key.expose();
    let header = format!("-H 'X-Api-Key: {test_key}'");
    let url = format!("http://{address}/v1");
    format!(
        r#"
  Dwar is ready at http://{address}

  Project   {name} ({id}), balance {balance}
  Live key  {live_key}
  Test key  {test_key}

  The keys are shown this once. Try the whole flow with the test key; nothing is sent:

  curl -s {url}/otp/send {header} --json '{{"phone":"{PHONE}"}}'
  CODE=$(curl -s '{url}/sandbox/messages?phone={PHONE}' {header} | grep -o '"code":"[0-9]*' | head -n 1 | tail -c 7)
  curl -s {url}/otp/verify {header} --json '{{"phone":"{PHONE}","code":"'$CODE'"}}'
"#,
        name = project.name,
        id = project.id,
        balance = project.balance,
        live_key = project.live_key.expose(),
    )
}
