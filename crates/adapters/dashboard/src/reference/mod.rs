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
    anchors: Vec<(String, String, String)>,
}

impl Reference {
    /// Draws what an OpenAPI document describes; nothing of one that is no JSON.
    pub fn of(document: &str) -> Self {
        let document: Value = serde_json::from_str(document).unwrap_or_else(|cause| {
            tracing::error!(%cause, "the document of the API cannot be read");
            Value::Null
        });
        let api = read::read(&document);
        let anchor = |it: &model::Operation| (it.method.clone(), it.path.clone(), it.id.clone());
        let anchors = api.operations().map(anchor).collect();
        Self { content: draw::draw(&api), anchors }
    }

    /// What the page shows below its title.
    pub(crate) const fn content(&self) -> &Markup {
        &self.content
    }

    /// Where the page tells of an operation.
    pub(crate) fn address(&self, method: &str, path: &str) -> Option<String> {
        let mut anchors = self.anchors.iter();
        let (.., id) = anchors.find(|(its, at, _)| its == method && at == path)?;
        Some(format!("/reference#{id}"))
    }
}

impl Api {
    fn operations(&self) -> impl Iterator<Item = &model::Operation> {
        self.groups.iter().flat_map(|group| &group.operations)
    }

    fn operation(&self, id: &str) -> Option<&model::Operation> {
        self.operations().find(|operation| operation.id == id)
    }
}
