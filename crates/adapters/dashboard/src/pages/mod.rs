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
mod parts;
mod passkeys;
mod playground;
mod settings;
mod settings_messages;
mod settings_webhooks;
pub(crate) mod team;
mod tokens;
mod wallet;
mod webhook;

mod wallet_proof;
mod wallet_statement;

use crate::assets;
use crate::refusal::Refusal;
use actix_web::HttpResponse;
use actix_web::http::header;
use actix_web::web::{self, ServiceConfig, get, post};

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
        .route("/sign-in/passkey", post().to(passkeys::let_in));
}

fn of_installation(config: &mut ServiceConfig) {
    config
        .route("/", get().to(home::home))
        .route("/projects", get().to(home::projects))
        .route("/theme", post().to(home::theme))
        .route("/sign-out", post().to(entrance::sign_out))
        .route("/sign-out-everywhere", post().to(entrance::sign_out_everywhere))
        .route("/account", get().to(account::show))
        .route("/account/password", post().to(account::password))
        .route("/account/totp", post().to(account::offer))
        .route("/account/totp/add", post().to(account::add))
        .route("/account/totp/remove", post().to(account::remove))
        .route("/account/passkeys/challenge", post().to(passkeys::offer))
        .route("/account/passkeys/add", post().to(passkeys::add))
        .route("/account/passkeys/remove", post().to(passkeys::remove))
        .route("/team", get().to(team::show))
        .route("/team", post().to(team::invite))
        .route("/team/{operator}/access", post().to(team::change))
        .route("/team/{operator}/remove", post().to(team::remove))
        .route("/audit", get().to(audit::all))
        .route("/tokens", get().to(tokens::show))
        .route("/tokens", post().to(tokens::make))
        .route("/tokens/{token}/revoke", post().to(tokens::revoke))
        .route("/operations", get().to(operations::show));
}

fn of_project(config: &mut ServiceConfig) {
    config
        .route("/overview", get().to(overview::show))
        .route("/playground", get().to(playground::show))
        .route("/playground/call", post().to(playground::call))
        .route("/keys", get().to(keys::show))
        .route("/keys/regenerate", post().to(keys::regenerate))
        .route("/settings", get().to(settings::show))
        .route("/settings/identities", post().to(settings::switches))
        .route("/settings/routing", post().to(settings::routing))
        .route("/settings/money", post().to(settings::money))
        .route("/settings/messages", post().to(settings_messages::save))
        .route("/settings/preview", post().to(settings_messages::preview))
        .route("/settings/webhooks", post().to(settings_webhooks::add))
        .route("/settings/webhooks/{id}", get().to(webhook::show))
        .route("/settings/webhooks/{id}/test", post().to(webhook::test))
        .route("/settings/webhooks/{id}/resend", post().to(webhook::resend))
        .route("/settings/webhooks/{id}/rotate", post().to(webhook::rotate))
        .route("/settings/webhooks/{id}/enable", post().to(webhook::enable))
        .route("/settings/webhooks/{id}/remove", post().to(webhook::remove))
        .route("/wallet", get().to(wallet::show))
        .route("/wallet/credit", post().to(wallet::credit))
        .route("/wallet/proof", post().to(wallet_proof::prove))
        .route("/wallet/statement.csv", get().to(wallet_statement::download))
        .route("/identities", get().to(identities::show))
        .route("/identities", post().to(identities::look_up))
        .route("/identities/erase", post().to(identities::erase))
        .route("/activity", get().to(activity::show))
        .route("/activity/live", get().to(activity::live))
        .route("/activity/phone", post().to(activity::of_phone))
        .route("/activity/unmask", post().to(activity_story::unmask))
        .route("/activity/unlock", post().to(activity_story::unlock))
        .route("/activity/{otp}", get().to(activity_story::of_request))
        .route("/identities/{mode}/{identity}/sessions", get().to(identity_sessions::show))
        .route("/identities/{mode}/{identity}/sessions/end", post().to(identity_sessions::end))
        .route("/audit", get().to(audit::of_project));
}

async fn nowhere() -> Result<HttpResponse, Refusal> {
    Err(Refusal::NotFound)
}

/// On to another page after something was done.
pub(crate) fn go(to: &str) -> HttpResponse {
    HttpResponse::SeeOther().insert_header((header::LOCATION, to)).finish()
}
