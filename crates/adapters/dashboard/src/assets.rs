use actix_web::http::header;
use actix_web::web::{self, ServiceConfig};
use actix_web::{HttpResponse, Resource};
use sha2::{Digest, Sha256};

/// A file that is part of the program.
pub(crate) struct Asset {
    name: &'static str,
    kind: &'static str,
    content: &'static str,
}

pub(crate) const CSS: Asset = Asset::css(
    "dwar.css",
    concat!(include_str!("assets/dwar.css"), include_str!("assets/phone.css")),
);
pub(crate) const PLAYGROUND_CSS: Asset =
    Asset::css("playground.css", include_str!("assets/playground.css"));
pub(crate) const REFERENCE_CSS: Asset =
    Asset::css("reference.css", include_str!("assets/reference.css"));
pub(crate) const MANUAL_CSS: Asset = Asset::css("manual.css", include_str!("assets/manual.css"));
pub(crate) const SCRIPT: Asset = Asset::script("dwar.js", include_str!("assets/dwar.js"));
pub(crate) const PLAYGROUND: Asset =
    Asset::script("playground.js", include_str!("assets/playground.js"));
/// The login form. Projects embed the same file in their own pages.
pub(crate) const LOGIN_FORM: Asset =
    Asset::script("dwar-login.js", include_str!("../../../../clients/form/dwar-login.js"));
pub(crate) const ACTIVITY: Asset = Asset::script(
    "activity.js",
    concat!(include_str!("assets/live.js"), include_str!("assets/activity.js")),
);
pub(crate) const INBOX: Asset = Asset::script(
    "inbox.js",
    concat!(include_str!("assets/live.js"), include_str!("assets/inbox.js")),
);
pub(crate) const PASSKEYS: Asset = Asset::script("passkeys.js", include_str!("assets/passkeys.js"));
pub(crate) const ICON: Asset =
    Asset { name: "icon.svg", kind: "image/svg+xml", content: include_str!("assets/icon.svg") };

const HOME: &str = "/assets/";

/// The path of an asset changes with its content, so browsers need never ask again.
const FOR_EVER: &str = "public, max-age=31536000, immutable";

impl Asset {
    const fn css(name: &'static str, content: &'static str) -> Self {
        Self { name, kind: "text/css; charset=utf-8", content }
    }

    const fn script(name: &'static str, content: &'static str) -> Self {
        Self { name, kind: "text/javascript; charset=utf-8", content }
    }

    pub(crate) fn path(&self) -> String {
        let digest = Sha256::digest(self.content);
        format!("{HOME}{}/{}", base16ct::lower::encode_string(&digest[..8]), self.name)
    }

    fn resource(&'static self) -> Resource {
        web::resource(self.path()).route(web::get().to(|| async {
            HttpResponse::Ok()
                .insert_header((header::CONTENT_TYPE, self.kind))
                .insert_header((header::CACHE_CONTROL, FOR_EVER))
                .body(self.content)
        }))
    }
}

/// Tells whether a path is that of an asset, which needs no store.
pub(crate) fn is_at(path: &str) -> bool {
    path.starts_with(HOME)
}

pub(crate) fn routes(config: &mut ServiceConfig) {
    const ALL: [&Asset; 11] = [
        &CSS,
        &PLAYGROUND_CSS,
        &REFERENCE_CSS,
        &MANUAL_CSS,
        &SCRIPT,
        &PLAYGROUND,
        &LOGIN_FORM,
        &ACTIVITY,
        &INBOX,
        &PASSKEYS,
        &ICON,
    ];
    for asset in ALL {
        config.service(asset.resource());
    }
}
