use super::header::common_headers;
use super::operation::Operation;
use super::refusal::{Refusal, examples, refused};
use serde_json::{Map, Value, json};

/// The parts of an OpenAPI document beside its operations.
pub struct OpenApi {
    pub title: &'static str,
    pub description: &'static str,
    pub server: &'static str,
    pub base: &'static str,
    /// Security schemes by name. The first applies to every operation that names none.
    pub security: Vec<(&'static str, Value)>,
    pub refusals: Vec<Refusal>,
    pub headers: Vec<(&'static str, Value)>,
    pub parameters: Vec<(&'static str, Value)>,
}

impl OpenApi {
    /// Renders the document as OpenAPI 3.1 with these operations.
    pub fn document(self, operations: impl IntoIterator<Item = Operation>) -> String {
        let (mut paths, mut schemas) = (Map::new(), Map::new());
        schemas.insert("Refused".to_owned(), refused(&self.refusals));
        for operation in operations {
            let path = paths.entry(format!("{}{}", self.base, operation.path));
            let method = operation.method.as_str().to_ascii_lowercase();
            let (described, referred) = operation.described();
            path.or_insert(json!({}))[method] = described;
            schemas.extend(referred);
        }
        let named = |all: Vec<(&str, Value)>| -> Map<String, Value> {
            all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
        };
        let usual: Map<_, _> =
            self.security.iter().take(1).map(|(name, _)| ((*name).to_owned(), json!([]))).collect();
        let mut headers = common_headers();
        headers.extend(named(self.headers));
        let mut components = json!({
            "schemas": schemas,
            "headers": headers,
            "examples": examples(&self.refusals),
            "securitySchemes": named(self.security),
        });
        if !self.parameters.is_empty() {
            components["parameters"] = named(self.parameters).into();
        }
        let document = json!({
            "openapi": "3.1.0",
            "info": {
                "title": self.title,
                "version": "1",
                "description": self.description,
                "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
            },
            "servers": [{
                "url": self.server,
                "description": "Default address in development",
            }],
            "security": [usual],
            "paths": paths,
            "components": components,
        });
        // A map without insertion order is written in order of names.
        let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
        text.push('\n');
        text
    }
}
