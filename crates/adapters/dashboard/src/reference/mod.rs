//! The API reference for people, rendered from the OpenAPI 3.1 document, which is given as text.
//!
//! `read.rs` and `schema.rs` parse OpenAPI, `model.rs` defines the result, `draw.rs` renders the
//! page.

mod draw;
mod model;
mod read;
mod sample;
mod schema;

use maud::Markup;
use model::Api;
use serde_json::Value;

/// The page about the API, rendered once. It contains nothing about this installation.
pub struct Reference {
    content: Markup,
    api: Api,
}

impl Reference {
    /// Renders an OpenAPI document; an empty page if it is not JSON.
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

    /// The call of an operation with curl, with this address and key.
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
