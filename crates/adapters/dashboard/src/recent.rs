//! The project whose pages were open last, stored by the browser. Pages of the installation link
//! back to it.

use crate::cookies::choice;
use actix_web::HttpRequest;
use actix_web::cookie::Cookie;
use dwar_kernel::ProjectId;

const COOKIE: &str = "dwar_project";

/// The id of that project, which may no longer exist.
pub(crate) fn of(request: &HttpRequest) -> Option<ProjectId> {
    request.cookie(COOKIE)?.value().parse().ok()
}

pub(crate) fn cookie(project: ProjectId, tls: bool) -> Cookie<'static> {
    choice(COOKIE, &project.to_string(), tls)
}
