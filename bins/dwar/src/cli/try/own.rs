//! A service within the process of one command.

use crate::cli::failure::Failure;
use crate::config::Config;
use crate::telemetry::LostLines;
use crate::wiring::{Access, Application, Core, Listeners, prepare};
use dwar_gateways::BaseUrl;
use dwar_project::ApiKey;
use std::sync::Arc;
use tokio::sync::SetOnce;

/// The service that `dwar serve` runs, with its demo project; not yet serving.
pub struct Own {
    application: Application,
    pub url: BaseUrl,
    pub key: ApiKey,
}

impl Own {
    /// Builds the service; `config` must keep its data in memory.
    pub async fn build(config: Config, lost: LostLines) -> Result<Self, Failure> {
        let listeners = Listeners::take(&config)?;
        let core = Core::open(config, Access::Write).await?;
        let project = prepare(&core).await?;
        let prepared = Arc::new(SetOnce::new());
        let application = Application::build(core, listeners, Arc::clone(&prepared), lost)?;
        // Only this code sets it.
        let _ = prepared.set(());
        let address = application.server.addresses().first();
        let url = address.and_then(|address| format!("http://{address}").parse().ok());
        match (project, url) {
            (Some(project), Some(url)) => Ok(Self { application, url, key: project.test_key }),
            _ => Err(Failure::Refused("the service in memory did not start".to_owned())),
        }
    }

    /// Serves while `work` runs, then stops.
    pub async fn serve_during<T>(self, work: impl Future<Output = T>) -> Result<T, Failure> {
        let stop = self.application.stop_handle();
        let working = async {
            let done = work.await;
            stop.stop().await;
            done
        };
        let (served, done) = tokio::join!(self.application.run(), working);
        served?;
        Ok(done)
    }
}
