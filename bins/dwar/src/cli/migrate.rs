use super::{Answer, Failure};
use crate::config::Config;
use crate::wiring::Core;
use serde_json::json;

pub async fn run(config: Config) -> Result<Answer, Failure> {
    let core = Core::open(config)?;
    let applied = core.database.migrate().await?;
    let text = if applied.is_empty() {
        "The database is up to date.".to_owned()
    } else {
        format!("Applied {}.", applied.join(", "))
    };
    Ok(Answer::new(json!({ "applied": applied }), text))
}
