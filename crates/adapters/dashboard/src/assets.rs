use actix_web::http::header;
use actix_web::web::{self, ServiceConfig};
use actix_web::{HttpResponse, Resource};
use sha2::{Digest, Sha256};

/// A file that is part of the program.
struct Asset {
    name: &'static str,
    kind: &'static str,
    content: &'static str,
}

const CSS: Asset = Asset {
    name: "dwar.css",
    kind: "text/css; charset=utf-8",
    content: concat!(include_str!("assets/dwar.css"), include_str!("assets/phone.css")),
};
const PLAYGROUND_CSS: Asset = Asset {
    name: "playground.css",
    kind: "text/css; charset=utf-8",
    content: include_str!("assets/playground.css"),
};
const REFERENCE_CSS: Asset = Asset {
    name: "reference.css",
    kind: "text/css; charset=utf-8",
    content: include_str!("assets/reference.css"),
};
const SCRIPT: Asset = Asset {
    name: "dwar.js",
    kind: "text/javascript; charset=utf-8",
    content: include_str!("assets/dwar.js"),
};
const PLAYGROUND: Asset = Asset {
    name: "playground.js",
    kind: "text/javascript; charset=utf-8",
    content: include_str!("assets/playground.js"),
};
/// The login form, which the same file is for everybody's own pages.
const LOGIN_FORM: Asset = Asset {
    name: "dwar-login.js",
    kind: "text/javascript; charset=utf-8",
    content: include_str!("../../../../clients/form/dwar-login.js"),
};
const ACTIVITY: Asset = Asset {
    name: "activity.js",
    kind: "text/javascript; charset=utf-8",
    content: include_str!("assets/activity.js"),
};
const INBOX: Asset = Asset {
    name: "inbox.js",
    kind: "text/javascript; charset=utf-8",
    content: include_str!("assets/inbox.js"),
};
const PASSKEYS: Asset = Asset {
    name: "passkeys.js",
    kind: "text/javascript; charset=utf-8",
    content: include_str!("assets/passkeys.js"),
};
const ICON: Asset =
    Asset { name: "icon.svg", kind: "image/svg+xml", content: include_str!("assets/icon.svg") };

/// Where all of them are.
const HOME: &str = "/assets/";

/// A path changes with the content behind it, so browsers need never ask again.
const FOR_EVER: &str = "public, max-age=31536000, immutable";

impl Asset {
    fn path(&self) -> String {
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

/// Whether a path is that of an asset, which needs nothing but this program.
pub(crate) fn is_at(path: &str) -> bool {
    path.starts_with(HOME)
}

/// Where the style sheet is.
pub(crate) fn css() -> String {
    CSS.path()
}

/// Where the script of every page is.
pub(crate) fn script() -> String {
    SCRIPT.path()
}

/// Where the style sheet of the playground is, which no other page needs.
pub(crate) fn playground_css() -> String {
    PLAYGROUND_CSS.path()
}

/// Where the style sheet of the API reference is.
pub(crate) fn reference_css() -> String {
    REFERENCE_CSS.path()
}

/// Where the playground's script is.
pub(crate) fn playground() -> String {
    PLAYGROUND.path()
}

/// Where the login form's script is.
pub(crate) fn login_form() -> String {
    LOGIN_FORM.path()
}

/// Where the script of the live list is.
pub(crate) fn activity() -> String {
    ACTIVITY.path()
}

/// Where the script of the inbox is.
pub(crate) fn inbox() -> String {
    INBOX.path()
}

/// Where the script of pages with passkeys is.
pub(crate) fn passkeys() -> String {
    PASSKEYS.path()
}

/// Where the icon is.
pub(crate) fn icon() -> String {
    ICON.path()
}

pub(crate) fn routes(config: &mut ServiceConfig) {
    const ALL: [&Asset; 10] = [
        &CSS,
        &PLAYGROUND_CSS,
        &REFERENCE_CSS,
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
