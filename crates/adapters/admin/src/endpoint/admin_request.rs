use crate::endpoint::api::AdminApi;
use crate::endpoint::refusal::{AdminCode, ApiRefusal};
use actix_web::HttpRequest;
use actix_web::http::header::{self, HeaderMap};
use actix_web::web::Data;
use dwar_kernel::ProjectId;
use dwar_operator::{Command, Requester};
use dwar_wire::client_address;
use std::ops::Deref;
use std::str::FromStr;

pub(crate) struct AdminRequest {
    pub(crate) api: Data<AdminApi>,
    pub(crate) by: Requester,
    request: HttpRequest,
}

/// A request about a project, in which the token has the right that the endpoint needs.
pub(crate) struct ProjectRequest {
    call: AdminRequest,
    pub(crate) project: ProjectId,
}

pub(crate) trait Scope: Sized + 'static {
    fn enter(call: AdminRequest, command: Command) -> Result<Self, ApiRefusal>;

    fn call(&self) -> &AdminRequest;

    /// The project of the request; `None` for the whole installation.
    fn project(&self) -> Option<ProjectId>;
}

impl Scope for AdminRequest {
    fn enter(call: Self, command: Command) -> Result<Self, ApiRefusal> {
        call.api.manage.control.admit(&call.by, command, None)?;
        Ok(call)
    }

    fn call(&self) -> &AdminRequest {
        self
    }

    fn project(&self) -> Option<ProjectId> {
        None
    }
}

impl Scope for ProjectRequest {
    fn enter(call: AdminRequest, command: Command) -> Result<Self, ApiRefusal> {
        let project = call.part("project")?;
        call.api.manage.control.admit(&call.by, command, Some(project))?;
        Ok(Self { call, project })
    }

    fn call(&self) -> &AdminRequest {
        &self.call
    }

    fn project(&self) -> Option<ProjectId> {
        Some(self.project)
    }
}

impl Deref for ProjectRequest {
    type Target = AdminRequest;

    fn deref(&self) -> &AdminRequest {
        &self.call
    }
}

impl AdminRequest {
    /// Whom the bearer token speaks for.
    ///
    /// # Errors
    /// 401 without a valid token, 429 after too many invalid tokens from one address, 503 if too
    /// many look-ups are in progress.
    pub(crate) async fn authenticate(request: &HttpRequest) -> Result<Self, ApiRefusal> {
        let api = request.app_data::<Data<AdminApi>>().ok_or(AdminCode::InternalError)?.clone();
        let token = bearer(request.headers())?;
        let from = client_address(request, api.behind_proxy);
        let found = {
            let _seat = api.throttle.seat().await.ok_or(AdminCode::ServiceUnavailable)?;
            api.manage.tokens.authenticate(token, from).await?
        };
        match found {
            Some(token) => {
                let by = Requester::token(&token, from);
                Ok(Self { api, by, request: request.clone() })
            }
            None => Err(match api.throttle.failed(from, api.tools.now()) {
                None => AdminCode::InvalidAdminToken.into(),
                Some(seconds) => ApiRefusal::limited(seconds),
            }),
        }
    }

    /// Parses a part of the path; an invalid part is answered as not found.
    pub(crate) fn part<T: FromStr>(&self, name: &str) -> Result<T, ApiRefusal> {
        let text = self.request.match_info().get(name);
        text.and_then(|text| text.parse().ok()).ok_or_else(|| AdminCode::NotFound.into())
    }
}

/// The token of the only `Authorization` header (RFC 6750 section 2.1). Cookies, query and API keys
/// are never read.
fn bearer(headers: &HeaderMap) -> Result<&str, ApiRefusal> {
    let mut values = headers.get_all(header::AUTHORIZATION);
    let (Some(value), None) = (values.next(), values.next()) else {
        return Err(AdminCode::MissingAdminToken.into());
    };
    let text = value.to_str().map_err(|_| AdminCode::InvalidAdminToken)?;
    let (scheme, token) = text.split_once(' ').ok_or(AdminCode::MissingAdminToken)?;
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(AdminCode::MissingAdminToken.into());
    }
    Ok(token.trim())
}
