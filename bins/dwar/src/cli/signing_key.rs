use super::answer::{Answer, lines};
use super::failure::Failure;
use super::open::{Usage, open};
use crate::config::Config;
use clap::Subcommand;
use dwar_admin::views::{self, Page, instant};
use dwar_operator::Requester;
use dwar_session::{KeyState, SigningKey};

#[derive(Subcommand)]
pub enum Command {
    /// List the current, next and previous signing keys
    List,
    /// Publish a new key, which starts signing once verifiers have had time to fetch it
    Rotate,
}

pub async fn run(config: Config, command: Command) -> Result<Answer, Failure> {
    let usage = match command {
        Command::List => Usage::Reads,
        Command::Rotate => Usage::Changes,
    };
    let core = open(config, usage).await?;
    let (keys, by) = (core.management()?.signing_keys, Requester::command_line());
    match command {
        Command::List => {
            let listed = keys.list(&by).await?;
            let view = Page::whole(listed.iter().map(views::SigningKey::from));
            let none = "No signing keys yet. `dwar serve` creates the first one.";
            Ok(Answer::of(&view, lines(&listed, line, none)))
        }
        Command::Rotate => {
            let key = keys.rotate(&by).await?;
            let text = format!(
                "New {} key {}\nPublished now, signs from {}.",
                key.algorithm,
                key.kid,
                instant(key.signs_from)
            );
            Ok(Answer::of(&views::SigningKey::from(&(key, KeyState::Next)), text))
        }
    }
}

fn line((key, state): &(SigningKey, KeyState)) -> String {
    let from = instant(key.signs_from);
    format!("{:<8} {:<6} {}  signs from {from}", state.as_str(), key.algorithm.as_str(), key.kid)
}
