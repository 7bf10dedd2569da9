//! What the API offers, as people read it: drawn from its document (OpenAPI 3.1), which comes in as text.
//!
//! `read.rs` and `schema.rs` know OpenAPI, `model.rs` holds what they found, `draw.rs` knows pages.

mod draw;
mod model;
mod read;
mod sample;
mod schema;

use maud::Markup;
use model::Api;
use serde_json::Value;

/// The page about the API, drawn once. There is nothing of this installation in it.
pub struct Reference {
    content: Markup,
    api: Api,
}

impl Reference {
    /// Draws what an OpenAPI document describes; nothing of one that is no JSON.
    pub fn of(document: &str) -> Self {
        let document: Value = serde_json::from_str(document).unwrap_or_else(|cause| {
            tracing::error!(%cause, "the document of the API cannot be read");
            Value::Null
        });
        let api = read::read(&document);
        Self { content: draw::draw(&api), api }
    }

    pub(crate) const fn content(&self) -> &Markup {
        &self.content
    }

    pub(crate) fn address(&self, method: &str, path: &str) -> Option<String> {
        let mut all = self.api.operations();
        let found = all.find(|it| it.method == method && it.path == path)?;
        Some(format!("/reference#{}", found.id))
    }

    /// The call of an operation by curl, with the address and the key that stand in it.
    pub(crate) fn curl(&self, id: &str, (base, key): (&str, &str)) -> Option<String> {
        let curl = sample::call(self.api.operation(id)?, self.api.key.as_ref());
        Some(curl.replace("$BASE", base).replace("$KEY", key))
    }
}

impl Api {
    fn operations(&self) -> impl Iterator<Item = &model::Operation> {
        self.groups.iter().flat_map(|group| &group.operations)
    }

    fn operation(&self, id: &str) -> Option<&model::Operation> {
        self.operations().find(|operation| operation.id == id)
    }

    /// The first operation that answers with these fields.
    fn first_with(&self, fields: &[model::Field]) -> Option<&model::Operation> {
        self.operations().find(|it| it.answers.iter().any(|answer| answer.fields == fields))
    }
}
