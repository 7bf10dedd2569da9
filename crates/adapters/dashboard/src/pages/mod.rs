//! One file a page: what it asks, and how it looks.

mod account;
mod activity;
mod activity_story;
mod audit;
mod entrance;
mod home;
mod identities;
mod identity_sessions;
mod keys;
mod operations;
mod overview;
pub(crate) mod parts;
mod passkeys;
mod playground;
mod settings;
mod settings_messages;
mod settings_routing;
mod settings_webhooks;
pub(crate) mod team;
mod tokens;
mod wallet;
mod webhook;

mod wallet_proof;
mod wallet_statement;

use crate::assets;
use crate::refusal::Refusal;
use actix_web::http::header;
use actix_web::web::{self, ServiceConfig, get, post};
use actix_web::{FromRequest, Handler, HttpRequest, HttpResponse, Resource, Responder};
use std::future::ready;

/// Every address of the dashboard.
pub(crate) fn routes(config: &mut ServiceConfig) {
    config
        .configure(assets::routes)
        .configure(for_strangers)
        .configure(of_installation)
        .configure(dwar_admin::routes)
        .service(web::scope("/p/{project}").configure(of_project))
        .default_service(web::to(nowhere));
}

fn for_strangers(config: &mut ServiceConfig) {
    config
        .route("/start", get().to(entrance::start))
        .route("/start", post().to(entrance::enter))
        .route("/invite", get().to(entrance::invite))
        .route("/invite", post().to(entrance::accept))
        .route("/sign-in", get().to(entrance::sign_in))
        .route("/sign-in", post().to(entrance::let_in))
        .route("/sign-in/passkey/challenge", post().to(passkeys::ask))
        .route("/sign-in/passkey", post().to(passkeys::let_in))
        .route("/language", post().to(home::language));
}

fn of_installation(config: &mut ServiceConfig) {
    config
        .route("/", get().to(home::home))
        .route("/projects", get().to(home::projects))
        .service(form("/theme", "/", home::theme))
        .service(form("/sign-out", "/", entrance::sign_out))
        .service(form("/sign-out-everywhere", "/account", entrance::sign_out_everywhere))
        .route("/account", get().to(account::show))
        .service(form("/account/password", "/account", account::password))
        .service(form("/account/totp", "/account", account::offer))
        .service(form("/account/totp/add", "/account", account::add))
        .service(form("/account/totp/remove", "/account", account::remove))
        .route("/account/passkeys/challenge", post().to(passkeys::offer))
        .route("/account/passkeys/add", post().to(passkeys::add))
        .route("/account/passkeys/remove", post().to(passkeys::remove))
        .route("/team", get().to(team::show))
        .route("/team", post().to(team::invite))
        .service(form("/team/{operator}/access", "/team", team::change))
        .service(form("/team/{operator}/remove", "/team", team::remove))
        .route("/audit", get().to(audit::all))
        .route("/tokens", get().to(tokens::show))
        .route("/tokens", post().to(tokens::make))
        .service(form("/tokens/{token}/revoke", "/tokens", tokens::revoke))
        .route("/operations", get().to(operations::show));
}

fn of_project(config: &mut ServiceConfig) {
    config
        .route("/overview", get().to(overview::show))
        .route("/playground", get().to(playground::show))
        .route("/playground/call", post().to(playground::call))
        .route("/keys", get().to(keys::show))
        .service(form("/keys/regenerate", "/keys", keys::regenerate))
        .route("/settings", get().to(settings::show))
        .service(form("/settings/identities", "/settings", settings::switches))
        .service(form("/settings/routing", "/settings", settings_routing::save))
        .service(form("/settings/money", "/settings", settings::money))
        .service(form("/settings/messages", "/settings", settings_messages::save))
        .route("/settings/preview", post().to(settings_messages::preview))
        .service(form("/settings/webhooks", "/settings", settings_webhooks::add))
        .route("/settings/webhooks/{id}", get().to(webhook::show))
        .service(form("/settings/webhooks/{id}/test", "/settings/webhooks/{id}", webhook::test))
        .service(form("/settings/webhooks/{id}/resend", "/settings/webhooks/{id}", webhook::resend))
        .service(form("/settings/webhooks/{id}/rotate", "/settings/webhooks/{id}", webhook::rotate))
        .service(form("/settings/webhooks/{id}/enable", "/settings/webhooks/{id}", webhook::enable))
        .service(form("/settings/webhooks/{id}/remove", "/settings/webhooks/{id}", webhook::remove))
        .route("/wallet", get().to(wallet::show))
        .service(form("/wallet/credit", "/wallet", wallet::credit))
        .service(form("/wallet/proof", "/wallet", wallet_proof::prove))
        .route("/wallet/statement.csv", get().to(wallet_statement::download))
        .route("/identities", get().to(identities::show))
        .route("/identities", post().to(identities::look_up))
        .service(form("/identities/erase", "/identities", identities::erase))
        .route("/activity", get().to(activity::show))
        .route("/activity/live", get().to(activity::live))
        .service(form("/activity/phone", "/activity", activity::of_phone))
        .service(form("/activity/unmask", "/activity", activity_story::unmask))
        .service(form("/activity/unlock", "/activity", activity_story::unlock))
        .route("/activity/{otp}", get().to(activity_story::of_request))
        .route("/identities/{mode}/{identity}/sessions", get().to(identity_sessions::show))
        .service(form(
            "/identities/{mode}/{identity}/sessions/end",
            "/identities/{mode}/{identity}/sessions",
            identity_sessions::end,
        ))
        .route("/audit", get().to(audit::of_project));
}

/// Where a form of `page` is sent. Whoever comes back to that address, by a reload or a change of colours,
/// is led to the page.
fn form<F, Args>(path: &str, page: &str, handler: F) -> Resource
where
    F: Handler<Args>,
    Args: FromRequest + 'static,
    F::Output: Responder + 'static,
{
    let below = segments(path).count() - segments(page).count();
    let back = move |request: HttpRequest| {
        let all: Vec<_> = segments(request.path()).collect();
        let page = all[..all.len().saturating_sub(below)].join("/");
        ready(go(&format!("/{page}")))
    };
    web::resource(path).route(post().to(handler)).route(get().to(back))
}

fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|segment| !segment.is_empty())
}

async fn nowhere() -> Result<HttpResponse, Refusal> {
    Err(Refusal::NotFound)
}

/// On to another page after something was done.
pub(crate) fn go(to: &str) -> HttpResponse {
    HttpResponse::SeeOther().insert_header((header::LOCATION, to)).finish()
}
