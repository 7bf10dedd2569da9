use crate::cookies::choice;
use actix_web::HttpRequest;
use actix_web::cookie::Cookie;
use dwar_kernel::words;

const COOKIE: &str = "dwar_theme";

words! {
    /// What somebody prefers to look at.
    Theme {
        System = "system",
        Light = "light",
        Dark = "dark",
    }
}

impl Theme {
    /// What was chosen with the switch.
    pub(crate) fn of(request: &HttpRequest) -> Self {
        let cookie = request.cookie(COOKIE);
        cookie.and_then(|cookie| Self::from_word(cookie.value())).unwrap_or(Self::System)
    }

    /// Lets the browser keep the choice.
    pub(crate) fn cookie(self, tls: bool) -> Cookie<'static> {
        choice(COOKIE, self.as_str(), tls)
    }
}
