use crate::call::{Answer, ApiCall};
use crate::error::ErrorCode;
use actix_web::http::{Method, StatusCode};
use actix_web::{Handler, Route, web};
use dwar_wire::openapi::{Schemas, reference};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

/// An endpoint with everything about it: how it is reached, what it does, and how it is described.
///
/// Routes and the document are both made of a list of these (docs/adr/0031).
pub(crate) struct Operation {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    /// For generated clients.
    pub(crate) id: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) description: &'static str,
    pub(crate) tag: &'static str,
    /// Of path, query and headers; of the header that every request may have, nothing.
    pub(crate) parameters: Vec<Value>,
    pub(crate) body: Option<Value>,
    /// By status: what it answers when it does what it is asked for.
    pub(crate) answers: Map<String, Value>,
    /// What it refuses with, beside what all with a key, a body or a path can.
    pub(crate) codes: Vec<ErrorCode>,
    /// Headers of an answer of its own.
    pub(crate) headers: Vec<(&'static str, StatusCode)>,
    pub(crate) schemas: Schemas,
    pub(crate) route: Box<dyn Fn(Method) -> Route>,
}

fn operation<H>(method: Method, path: &'static str, id: &'static str, handler: H) -> Operation
where
    H: Handler<(ApiCall,), Output = Answer>,
{
    Operation {
        method,
        path,
        id,
        summary: "",
        description: "",
        tag: "",
        parameters: Vec::new(),
        body: None,
        answers: Map::new(),
        codes: Vec::new(),
        headers: Vec::new(),
        schemas: Schemas::new(),
        route: Box::new(move |method| web::method(method).to(handler.clone())),
    }
}

pub(crate) fn get<H>(path: &'static str, id: &'static str, handler: H) -> Operation
where
    H: Handler<(ApiCall,), Output = Answer>,
{
    operation(Method::GET, path, id, handler)
}

pub(crate) fn post<H>(path: &'static str, id: &'static str, handler: H) -> Operation
where
    H: Handler<(ApiCall,), Output = Answer>,
{
    operation(Method::POST, path, id, handler)
}

pub(crate) fn delete<H>(path: &'static str, id: &'static str, handler: H) -> Operation
where
    H: Handler<(ApiCall,), Output = Answer>,
{
    operation(Method::DELETE, path, id, handler)
}

impl Operation {
    /// What it does, in one line and in several.
    pub(crate) fn says(mut self, summary: &'static str, description: &'static str) -> Self {
        (self.summary, self.description) = (summary, description);
        self
    }

    /// A parameter of this kind: `path`, `query` or `header`; only headers may be left out.
    pub(crate) fn reads(
        mut self,
        kind: &str,
        name: &str,
        description: &str,
        schema: utoipa::openapi::Object,
    ) -> Self {
        self.parameters.push(json!({
            "name": name,
            "in": kind,
            "required": kind != "header",
            "description": description,
            "schema": schema,
        }));
        self
    }

    /// A JSON object as its body.
    pub(crate) fn takes<T: ToSchema>(mut self) -> Self {
        let schema = reference::<T>(&mut self.schemas);
        self.body = Some(json!({
            "required": true,
            "content": { "application/json": { "schema": schema } },
        }));
        self
    }

    /// A 200 with this JSON object.
    pub(crate) fn gives<T: ToSchema>(mut self, description: &str) -> Self {
        let schema = reference::<T>(&mut self.schemas);
        let content = json!({ "application/json": { "schema": schema } });
        let answer = json!({ "description": description, "content": content });
        self.answers.insert(StatusCode::OK.as_str().to_owned(), answer);
        self
    }

    /// A success without a body.
    pub(crate) fn gives_nothing(mut self, status: StatusCode, description: &str) -> Self {
        self.answers.insert(status.as_str().to_owned(), json!({ "description": description }));
        self
    }

    /// What it can refuse with, beside what others can too.
    pub(crate) fn refuses(mut self, codes: impl IntoIterator<Item = ErrorCode>) -> Self {
        self.codes.extend(codes);
        self
    }

    /// A header of its answers with one of these statuses.
    pub(crate) fn tells(
        mut self,
        header: &'static str,
        statuses: impl IntoIterator<Item = StatusCode>,
    ) -> Self {
        self.headers.extend(statuses.into_iter().map(|status| (header, status)));
        self
    }

    /// Where a 200 leads to: the operation, and its parameters or its body as expressions of this answer
    /// (OpenAPI 3.1, Link Object).
    pub(crate) fn leads_to(mut self, name: &str, operation: &str, rest: Value) -> Self {
        let mut link = json!({ "operationId": operation });
        if let (Some(link), Value::Object(rest)) = (link.as_object_mut(), rest) {
            link.extend(rest);
        }
        self.answers[StatusCode::OK.as_str()]["links"][name] = link;
        self
    }

    /// Where a pair of tokens leads to.
    pub(crate) fn opens_session(self) -> Self {
        let access = json!({ "requestBody": { "access_token": "$response.body#/access_token" } });
        let refresh =
            json!({ "requestBody": { "refresh_token": "$response.body#/refresh_token" } });
        let identity = json!({ "parameters": { "id": "$response.body#/identity_id" } });
        self.leads_to("validate", "validateSession", access.clone())
            .leads_to("refresh", "refreshSession", refresh)
            .leads_to("logout", "logoutSession", access)
            .leads_to("identity", "getIdentity", identity.clone())
            .leads_to("delete", "deleteIdentity", identity)
    }

    /// Whether `X-Api-Key` is asked for.
    pub(crate) fn needs_key(&self) -> bool {
        self.path.starts_with("/v1/")
    }

    /// Every code that it can answer with.
    pub(crate) fn all_codes(&self) -> Vec<ErrorCode> {
        use ErrorCode::{
            InternalError, InvalidApiKey, InvalidRequest, MissingApiKey, PayloadTooLarge,
            RateLimited, ServiceUnavailable, UnsupportedMediaType,
        };
        let with_key = [MissingApiKey, InvalidApiKey, RateLimited];
        let with_body = [InvalidRequest, PayloadTooLarge, UnsupportedMediaType];
        let by_text = |parameter: &Value| parameter["in"] != "header";
        let mut codes = self.codes.clone();
        codes.extend(with_key.into_iter().filter(|_| self.needs_key()));
        codes.extend(with_body.into_iter().filter(|_| self.body.is_some()));
        if self.body.is_none() && self.parameters.iter().any(by_text) {
            codes.push(InvalidRequest);
        }
        codes.extend([InternalError, ServiceUnavailable].into_iter().filter(|_| self.needs_key()));
        codes
    }
}
