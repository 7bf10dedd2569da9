use super::{Answer, Failure};
use crate::config::Config;
use crate::wiring::Core;
use serde_json::json;

pub async fn run(config: Config) -> Result<Answer, Failure> {
    let core = Core::open(config)?;
    let pending = core.stores.database.pending_migrations().await?;
    core.stores.database.migrate().await?;
    let text = if pending.is_empty() {
        "The database is up to date.".to_owned()
    } else {
        format!("Applied {}.", pending.join(", "))
    };
    Ok(Answer::new(json!({ "applied": pending }), text))
}
