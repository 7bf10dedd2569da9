//! The entry of a command in the audit log is the same, whichever interface was used.

use crate::doors::asking::Given;
use crate::doors::stage::Stage;
use dwar_kernel::ProjectId;
use dwar_operator::{Action, Requester};
use serde_json::Value;

/// An entry, without the parts that differ each time: who, when, and new ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    pub action: String,
    pub subject: String,
    /// Names of facts only, because the values before depend on the previous call.
    pub before: Vec<String>,
    pub after: Vec<(String, Value)>,
}

impl Stage {
    /// The entries since the one with this id, oldest first.
    pub async fn audited_since(&self, last: &str) -> Vec<Value> {
        let log = self.owner.get("/audit?limit=20").await.ok();
        let mut new: Vec<Value> = log["items"].as_array().unwrap().clone();
        let known = new.iter().position(|entry| entry["id"] == last);
        new.truncate(known.expect("more entries than one page has"));
        new.reverse();
        new
    }

    pub async fn last_audited(&self) -> String {
        let log = self.owner.get("/audit?limit=1").await.ok();
        log["items"][0]["id"].as_str().unwrap().to_owned()
    }
}

impl Written {
    /// Checks actor, project and action, and returns the parts that have to be the same in every
    /// interface.
    ///
    /// # Errors
    /// A description of the wrong part.
    pub fn read(
        entry: &Value,
        by: &Requester,
        action: Action,
        project: Option<&str>,
        it: &Given<'_>,
    ) -> Result<Self, String> {
        let actor = entry["actor"]["name"] == by.actor.to_string();
        let where_it_was = project.is_none_or(|project| entry["project_id"] == project);
        if !actor || !where_it_was || entry["action"] != action.as_str() {
            return Err(format!("{action} by {}, in {project:?}, and not {entry}", by.actor));
        }
        let text = |text: &str| same(text, it);
        let facts = |facts: &Value| -> Vec<(String, Value)> {
            let facts = facts.as_object().cloned().unwrap_or_default();
            let value = |value: Value| match value {
                Value::String(value) => text(&value).into(),
                Value::Number(_) => "NUMBER".into(),
                value => value,
            };
            let told = facts.into_iter().filter(|(name, _)| !RANDOM.contains(&name.as_str()));
            told.map(|(name, fact)| (name, value(fact))).collect()
        };
        Ok(Self {
            action: action.to_string(),
            subject: match action {
                Action::SigningKeyRotated => "KEY".to_owned(),
                _ => text(entry["subject"].as_str().unwrap()),
            },
            before: facts(&entry["before"]).into_iter().map(|(name, _)| name).collect(),
            after: facts(&entry["after"]),
        })
    }
}

const RANDOM: [&str; 2] = ["ending", "created_at"];

/// The text with placeholders for the subject, word, number and instant of this call.
fn same(text: &str, it: &Given<'_>) -> String {
    let Given { stage, subject, word, .. } = it;
    let mut text = text.to_owned();
    let known = [
        (&stage.ours.id, "PROJECT"),
        (&stage.theirs.id, "PROJECT"),
        (&subject.id, "SUBJECT"),
        (&subject.name, "NAME"),
        (&subject.event, "EVENT"),
        (&subject.session, "SESSION"),
        (word, "WORD"),
    ];
    for (own, name) in known {
        if !own.is_empty() {
            text = text.replace(own.as_str(), name);
        }
    }
    let is_id = text.parse::<ProjectId>().is_ok();
    if is_id { "ID".to_owned() } else { text.replace(|letter: char| letter.is_ascii_digit(), "#") }
}
