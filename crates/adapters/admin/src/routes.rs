use crate::endpoint::AdminApi;
use crate::endpoint::operation::Operation;
use crate::endpoint::refusal::{AdminCode, ApiRefusal};
use crate::{BASE, resources};
use actix_web::dev::Payload;
use actix_web::http::Method;
use actix_web::web::{self, Data, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse, Resource, Route};
use dwar_wire::allow;
use std::collections::BTreeMap;

/// Below [`BASE`].
const DOCUMENT: &str = "/openapi.json";

/// Every endpoint, and the document that describes them, which is for everybody: it is in the
/// source as well.
pub fn routes(config: &mut ServiceConfig) {
    let mut paths: BTreeMap<&'static str, Vec<Operation>> = BTreeMap::new();
    for operation in resources::all().into_iter().flat_map(|(_, all)| all) {
        paths.entry(operation.head.path).or_default().push(operation);
    }
    let shown = resource(DOCUMENT, vec![(Method::GET, web::get().to(described))]);
    let mut scope = web::scope(BASE).service(shown);
    for (path, operations) in paths {
        let routes = operations.into_iter().map(|one| (one.head.method.clone(), route(one)));
        scope = scope.service(resource(path, routes.collect()));
    }
    config.service(scope.default_service(web::to(nowhere)));
}

fn route(operation: Operation) -> Route {
    let run = operation.run;
    let handler = move |request: HttpRequest, payload: web::Payload| {
        let payload: Payload = payload.into_inner();
        run(request, payload)
    };
    web::method(operation.head.method).to(handler)
}

fn resource(path: &str, routes: Vec<(Method, Route)>) -> Resource {
    let allow = allow(routes.iter().map(|(method, _)| method));
    let other = move || {
        let refusal = ApiRefusal::method_not_allowed(allow.clone());
        async { Err::<HttpResponse, _>(refusal) }
    };
    let resource = web::resource(path).default_service(web::to(other));
    routes.into_iter().fold(resource, |resource, (_, route)| resource.route(route))
}

async fn described(request: HttpRequest, api: Data<AdminApi>) -> HttpResponse {
    api.document.answer(&request)
}

async fn nowhere() -> Result<HttpResponse, ApiRefusal> {
    Err(AdminCode::NotFound.into())
}
