use crate::document::document;
use crate::endpoint::{AdminApi, AdminCode, ApiRefusal};
use crate::{BASE, resources};
use actix_web::http::Method;
use actix_web::web::{self, Data, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse, Resource};
use dwar_wire::openapi::{Operation, by_path};
use dwar_wire::{Document, allow};

/// Relative to [`BASE`].
const DOCUMENT: &str = "/openapi.json";

/// Adds every endpoint, and the document that describes them. The document is public, as it is in
/// the source code.
pub fn routes(config: &mut ServiceConfig) {
    let shown =
        Operation::new(Method::GET, DOCUMENT, "", |method| web::method(method).to(described));
    let mut paths = by_path(resources::all().into_iter().chain([shown]));
    // Fixed paths must be registered before a pattern that matches them. Sorting does that, because
    // `{` sorts after the letters.
    paths.sort_unstable_by_key(|(path, _)| *path);
    let scope = paths.into_iter().fold(web::scope(BASE), |scope, (path, operations)| {
        scope.service(resource(path, &operations))
    });
    config.service(scope.default_service(web::to(nowhere)));
}

fn resource(path: &str, operations: &[Operation]) -> Resource {
    let allow = allow(operations.iter().map(|operation| &operation.method));
    let other = move || {
        let refusal = ApiRefusal::method_not_allowed(allow.clone());
        async { Err::<HttpResponse, _>(refusal) }
    };
    let resource = web::resource(path).default_service(web::to(other));
    operations.iter().fold(resource, |resource, operation| {
        resource.route(operation.route(operation.method.clone()))
    })
}

async fn described(request: HttpRequest, api: Data<AdminApi>) -> HttpResponse {
    api.document.get_or_init(|| Document::json(document())).answer(&request)
}

async fn nowhere() -> Result<HttpResponse, ApiRefusal> {
    Err(AdminCode::NotFound.into())
}
