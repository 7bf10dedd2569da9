//! The cookies of the dashboard.

use actix_web::HttpRequest;
use actix_web::cookie::time::Duration as CookieDuration;
use actix_web::cookie::{Cookie, CookieBuilder, SameSite};
use dwar_operator::BrowserToken;
use std::time::Duration;

/// A cookie with a secret. Over TLS its name prefix keeps other hosts and plain connections from
/// setting it.
pub(crate) struct SecretCookie {
    over_tls: &'static str,
    plain: &'static str,
    same: SameSite,
}

/// The session cookie. It ends with the browser, or when the session ends.
///
/// A link on another site may open a page with it (`Lax`), because no page changes anything and
/// forms are accepted only from our own pages.
pub(crate) const SESSION: SecretCookie =
    SecretCookie { over_tls: "__Host-dwar", plain: "dwar_dashboard", same: SameSite::Lax };

/// Remembers that an operator signed in with this browser before. It grants no access.
pub(crate) const BROWSER: SecretCookie =
    SecretCookie { over_tls: "__Host-dwar-browser", plain: "dwar_browser", same: SameSite::Strict };

pub(crate) const PENDING: SecretCookie =
    SecretCookie { over_tls: "__Host-dwar-pending", plain: "dwar_pending", same: SameSite::Strict };

impl SecretCookie {
    const fn name(&self, tls: bool) -> &'static str {
        if tls { self.over_tls } else { self.plain }
    }

    pub(crate) fn of(&self, request: &HttpRequest, tls: bool) -> Option<String> {
        request.cookie(self.name(tls)).map(|cookie| cookie.value().to_owned())
    }

    /// Sets the cookie, until the browser ends unless a lifetime is given.
    pub(crate) fn keep(
        &self,
        value: &str,
        lifetime: Option<Duration>,
        tls: bool,
    ) -> Cookie<'static> {
        let mut cookie = cookie(self.name(tls), value, self.same, tls).finish();
        cookie.set_max_age(lifetime.map(|it| CookieDuration::seconds_f64(it.as_secs_f64())));
        cookie
    }

    pub(crate) fn forget(&self, tls: bool) -> Cookie<'static> {
        self.keep("", Some(Duration::ZERO), tls)
    }
}

/// A cookie which remembers that an operator signed in with this browser.
pub(crate) fn browser_cookie(token: &BrowserToken, tls: bool) -> Cookie<'static> {
    BROWSER.keep(token.expose(), Some(BrowserToken::LIFETIME), tls)
}

/// A preference for the look of pages, kept for a year.
pub(crate) fn choice(name: &'static str, word: &str, tls: bool) -> Cookie<'static> {
    cookie(name, word, SameSite::Lax, tls).max_age(CookieDuration::days(365)).finish()
}

fn cookie(name: &'static str, value: &str, same: SameSite, tls: bool) -> CookieBuilder<'static> {
    let cookie = Cookie::build(name, value.to_owned()).path("/").secure(tls);
    cookie.http_only(true).same_site(same)
}
