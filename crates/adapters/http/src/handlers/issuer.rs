use super::jwks::key_set;
use crate::ErrorCode;
use crate::call::{Answer, ApiCall, JSON};
use crate::error::ApiError;
use crate::json::published::{IssuerMetadata, PublicKeys};
use crate::json::schema;
use crate::operation::get;
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::CACHE_CONTROL;
use dwar_app::PublishedIssuer;
use dwar_kernel::ProjectId;
use dwar_wire::openapi::Operation;

pub(crate) fn operations() -> Vec<Operation> {
    let of_issuer = |path, id, title| {
        get(path, id, metadata)
            .summary(title)
            .description(
                "For verifiers that find the keys from the `iss` of a token. A project without \
                 its own issuer gets 404.",
            )
            .parameter("path", "project", "Id of the project.", schema::id())
            .response::<IssuerMetadata>("The metadata.")
            .refuses(REFUSES)
    };
    vec![
        of_issuer(
            "/p/{project}/.well-known/openid-configuration",
            "getOpenIdConfiguration",
            "Get the metadata of a project's issuer (OpenID Connect Discovery)",
        ),
        of_issuer(
            "/p/{project}/.well-known/oauth-authorization-server",
            "getIssuerMetadata",
            "Get the metadata of a project's issuer (RFC 8414)",
        ),
        of_issuer(
            "/.well-known/oauth-authorization-server/p/{project}",
            "getIssuerMetadataByPath",
            "Get the metadata of a project's issuer at the path of RFC 8414 section 3.1",
        ),
        get("/p/{project}/.well-known/jwks.json", "getIssuerKeys", keys)
            .summary("Get the public keys of a project's issuer")
            .description("All projects share the keys of the installation.")
            .parameter("path", "project", "Id of the project.", schema::id())
            .parameter("header", "If-None-Match", "The `ETag` of an answer.", schema::any_text())
            .response::<PublicKeys>("The public keys.")
            .empty_response(StatusCode::NOT_MODIFIED, "The keys have not changed.")
            .refuses(REFUSES)
            .header("ETag", [StatusCode::OK, StatusCode::NOT_MODIFIED]),
    ]
}

const REFUSES: [ErrorCode; 3] =
    [ErrorCode::NotFound, ErrorCode::InternalError, ErrorCode::ServiceUnavailable];

/// `GET /p/{project}/.well-known/openid-configuration`, and the path of RFC 8414.
async fn metadata(call: ApiCall) -> Answer {
    let PublishedIssuer { issuer, keys } = find(&call).await?;
    let body = serde_json::to_vec(&IssuerMetadata::new(issuer, &keys.algorithms));
    let body = body.map_err(|_| ErrorCode::InternalError)?;
    let cached = (CACHE_CONTROL, "public, max-age=300");
    Ok(HttpResponse::Ok().insert_header(cached).content_type(JSON).body(body))
}

async fn keys(call: ApiCall) -> Answer {
    let found = find(&call).await?;
    Ok(key_set(&call, found.keys))
}

/// The caller is not authenticated, so concurrent look-ups are limited.
async fn find(call: &ApiCall) -> Result<PublishedIssuer, ApiError> {
    call.check_path()?;
    let project = call.request.match_info().get("project").and_then(|text| text.parse().ok());
    let project: ProjectId = project.ok_or(ErrorCode::NotFound)?;
    let find = &call.use_cases()?.project_issuer;
    let _seat = call.api.throttle.seat().await.ok_or(ErrorCode::ServiceUnavailable)?;
    Ok(find.find(project).await?)
}
