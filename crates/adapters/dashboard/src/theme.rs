use crate::cookies::choice;
use actix_web::HttpRequest;
use actix_web::cookie::Cookie;
use dwar_kernel::words;

const COOKIE: &str = "dwar_theme";

words! {
    Theme {
        System = "system",
        Light = "light",
        Dark = "dark",
    }
}

impl Theme {
    pub(crate) fn of(request: &HttpRequest) -> Self {
        let cookie = request.cookie(COOKIE);
        cookie.and_then(|cookie| Self::from_word(cookie.value())).unwrap_or(Self::System)
    }

    pub(crate) fn cookie(self, tls: bool) -> Cookie<'static> {
        choice(COOKIE, self.as_str(), tls)
    }
}
