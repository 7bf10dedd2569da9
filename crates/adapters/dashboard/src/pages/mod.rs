//! One file per page: its requests and its look.

mod account;
mod account_passkeys;
mod activity;
mod activity_filter;
mod activity_list;
mod activity_story;
mod audit;
mod audit_names;
mod entrance;
mod find;
mod first_steps;
mod help;
mod home;
mod identities;
mod identity_sessions;
mod inbox;
mod keys;
mod new_project;
mod operations;
mod overview;
mod overview_charts;
mod parts;
mod passkeys;
mod playground;
mod provider;
mod reference;
mod refused;
mod reply;
mod settings;
mod settings_changes;
mod settings_form;
mod settings_guard;
mod settings_hooks;
mod settings_messages;
mod settings_money;
mod settings_parts;
mod settings_project;
mod settings_routing;
mod settings_tokens;
mod settings_values;
mod settings_webhooks;
mod sign_in;
mod sign_in_passkey;
mod team;
mod tokens;
mod wallet;
mod webhook;

mod wallet_booking;
mod wallet_proof;
mod wallet_spend;
mod wallet_statement;

use self::settings_form::{FORMS, SettingsForm};
use self::settings_parts::Part;
use crate::address::PagePatterns;
use crate::answer::{PageResult, go};
use crate::assets;
use crate::refusal::Refusal;
use actix_web::web::{self, ServiceConfig, get, post};
use actix_web::{FromRequest, Handler, HttpRequest, Resource, Responder};
use std::future::ready;

const PROJECT: &str = "/p/{project}";

/// Every address of the dashboard. Forms come first, because the address of a form may match the
/// pattern of a page.
pub(crate) fn routes(config: &mut ServiceConfig) {
    config
        .app_data(PagePatterns(is_page))
        .configure(assets::routes)
        .configure(for_strangers)
        .configure(forms_of_installation)
        .configure(pages_of_installation)
        .configure(dwar_admin::routes)
        .service(web::scope(PROJECT).configure(forms_of_project).configure(pages_of_project))
        .default_service(web::to(nowhere));
}

/// Tells whether addresses of this pattern are pages that a GET shows to a signed-in operator.
fn is_page(pattern: &str) -> bool {
    match pattern.strip_prefix(PROJECT) {
        Some(page) => OF_PROJECT.contains(&page),
        None => OF_INSTALLATION.contains(&pattern),
    }
}

/// One list of pages, for the routes and for the check of their addresses.
macro_rules! pages {
    ($routes:ident, $list:ident: $($address:literal => $page:path,)+) => {
        const $list: &[&str] = &[$($address),+];

        fn $routes(config: &mut ServiceConfig) {
            config$(.route($address, get().to($page)))+;
        }
    };
}

pages! { pages_of_installation, OF_INSTALLATION:
    "/" => home::home,
    "/projects" => home::projects,
    "/playground" => home::playground,
    "/reference" => reference::show,
    "/help" => help::show,
    "/help/{page:.+}" => help::show,
    "/find" => find::show,
    "/account" => account::show,
    "/team" => team::show,
    "/audit" => audit::all,
    "/tokens" => tokens::show,
    "/operations" => operations::show,
}

pages! { pages_of_project, OF_PROJECT:
    "/overview" => overview::show,
    "/playground" => playground::show,
    "/inbox" => inbox::show,
    "/keys" => keys::show,
    "/settings" => settings::first,
    "/settings/messages" => settings::show,
    "/settings/delivery" => settings::show,
    "/settings/delivery/{provider}" => provider::show,
    "/settings/tokens" => settings::show,
    "/settings/events" => settings::show,
    "/settings/project" => settings::show,
    "/settings/events/{id}" => webhook::show,
    "/settings/webhooks/{id}" => webhook::moved,
    "/wallet" => wallet::show,
    "/identities" => identities::show,
    "/activity" => activity::show,
    "/activity/{otp}" => activity_story::of_request,
    "/identities/{mode}/{identity}/sessions" => identity_sessions::show,
    "/audit" => audit::of_project,
}

fn for_strangers(config: &mut ServiceConfig) {
    config
        .route("/start", get().to(entrance::start))
        .route("/start", post().to(entrance::enter))
        .route("/invite", get().to(entrance::invite))
        .route("/invite", post().to(entrance::accept))
        .route("/sign-in", get().to(sign_in::show))
        .route("/sign-in", post().to(sign_in::let_in))
        .route("/sign-in/code", get().to(sign_in::ask_code))
        .route("/sign-in/code", post().to(sign_in::enter_code))
        .route("/sign-in/passkey/challenge", post().to(sign_in_passkey::ask))
        .route("/sign-in/passkey", post().to(sign_in_passkey::let_in))
        .route("/language", post().to(home::language));
}

fn forms_of_installation(config: &mut ServiceConfig) {
    config
        .service(form("/theme", "/", home::theme))
        .service(form("/mode", "/", home::mode))
        .route("/find", post().to(find::search))
        .route("/audit/export", get().to(audit::export))
        .service(form("/sign-out", "/", sign_in::sign_out))
        .service(form("/sign-out-everywhere", "/account", sign_in::sign_out_everywhere))
        .service(form("/account/password", "/account", account::password))
        .service(form("/account/totp", "/account", account::offer))
        .service(form("/account/totp/add", "/account", account::add))
        .service(form("/account/totp/remove", "/account", account::remove))
        .route("/account/passkeys/challenge", post().to(account_passkeys::offer))
        .route("/account/passkeys/add", post().to(account_passkeys::add))
        .route("/account/passkeys/remove", post().to(account_passkeys::remove))
        .route("/projects", post().to(new_project::create))
        .route("/team", post().to(team::invite))
        .service(form("/team/{operator}/invitation", "/team", team::renew))
        .service(form("/team/{operator}/access", "/team", team::change))
        .service(form("/team/{operator}/unlock", "/team", team::unlock))
        .service(form("/team/{operator}/remove", "/team", team::remove))
        .route("/tokens", post().to(tokens::make))
        .service(form("/tokens/{token}/revoke", "/tokens", tokens::revoke));
}

fn forms_of_project(config: &mut ServiceConfig) {
    for SettingsForm { name, .. } in FORMS {
        let (path, page) = (format!("/settings/{name}"), Part::with(name).as_str());
        if page == *name {
            config.route(&path, post().to(settings::save));
        } else {
            config.service(form(&path, &format!("/settings/{page}"), settings::save));
        }
    }
    config
        .route("/playground/call", post().to(playground::call))
        .route("/playground/login/{step}", post().to(playground::log_in))
        .route("/inbox", post().to(inbox::search))
        .route("/inbox/live", get().to(inbox::live))
        .service(form("/keys/regenerate", "/keys", keys::regenerate))
        .service(form("/settings/archive", "/settings/project", settings_changes::archive))
        .service(form("/settings/restore", "/settings/project", settings_changes::restore))
        .service(form(
            "/settings/delivery/{provider}/probe",
            "/settings/delivery/{provider}",
            provider::probe,
        ))
        .service(form(
            "/settings/delivery/{provider}/test",
            "/settings/delivery/{provider}",
            provider::test,
        ))
        .route("/settings/preview", post().to(settings_messages::preview))
        .service(form("/settings/hooks", "/settings/events", settings_changes::add_hook))
        .service(form("/settings/hooks/change", "/settings/events", settings_changes::change_hook))
        .service(form(
            "/settings/hooks/{id}/rotate",
            "/settings/events",
            settings_changes::rotate_hook,
        ))
        .service(form(
            "/settings/hooks/{id}/remove",
            "/settings/events",
            settings_changes::remove_hook,
        ))
        .route("/settings/events", post().to(settings_changes::add_webhook))
        // Former addresses.
        .service(form("/settings/webhooks", "/settings/events", settings_changes::add_webhook))
        .service(form("/settings/events/{id}/test", "/settings/events/{id}", webhook::test))
        .service(form("/settings/events/{id}/resend", "/settings/events/{id}", webhook::resend))
        .service(form("/settings/events/{id}/rotate", "/settings/events/{id}", webhook::rotate))
        .service(form("/settings/events/{id}/enable", "/settings/events/{id}", webhook::enable))
        .service(form("/settings/events/{id}/remove", "/settings/events/{id}", webhook::remove))
        .service(form("/wallet/credit", "/wallet", wallet::credit))
        .service(form("/wallet/refund", "/wallet", wallet::refund))
        .service(form("/wallet/adjustment", "/wallet", wallet::adjust))
        .service(form("/wallet/proof", "/wallet", wallet_proof::prove))
        .route("/wallet/statement.csv", get().to(wallet_statement::download))
        .route("/audit/export", get().to(audit::export))
        .route("/identities", post().to(identities::look_up))
        .service(form("/identities/erase", "/identities", identities::erase))
        .route("/activity.csv", get().to(activity::download))
        .route("/activity/live", get().to(activity::live))
        .service(form("/activity/phone", "/activity", activity::of_phone))
        .service(form("/activity/unmask", "/activity", activity_story::unmask))
        .service(form("/activity/unlock", "/activity", activity_story::unlock))
        .service(form(
            "/identities/{mode}/{identity}/sessions/end",
            "/identities/{mode}/{identity}/sessions",
            identity_sessions::end,
        ));
}

/// The route of a form of `page`. A GET of that address, after a reload or a change of theme,
/// redirects to the page.
fn form<F, Args>(path: &str, page: &str, handler: F) -> Resource
where
    F: Handler<Args>,
    Args: FromRequest + 'static,
    F::Output: Responder + 'static,
{
    let own = |address: &str| segments(address).map(str::to_owned).collect::<Vec<_>>();
    let (form, page) = (own(path), own(page));
    let back = move |request: HttpRequest| {
        let all: Vec<_> = segments(request.path()).collect();
        let (scope, asked) = all.split_at(all.len().saturating_sub(form.len()));
        // The segments that both have in common may be ids.
        let of_page = |(place, segment): (usize, &String)| {
            let common = form.get(place) == Some(segment);
            asked
                .get(place)
                .filter(|_| common)
                .map_or_else(|| segment.clone(), |id| (*id).to_owned())
        };
        let page: Vec<_> = page.iter().enumerate().map(of_page).collect();
        let page: Vec<_> = scope.iter().copied().chain(page.iter().map(String::as_str)).collect();
        ready(go(&format!("/{}", page.join("/"))))
    };
    web::resource(path).route(post().to(handler)).route(get().to(back))
}

fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|segment| !segment.is_empty())
}

async fn nowhere() -> PageResult {
    Err(Refusal::NotFound)
}
