use crate::cookies::choice;
use actix_web::HttpRequest;
use actix_web::cookie::Cookie;
use actix_web::http::header;
use dwar_kernel::words;

const COOKIE: &str = "dwar_language";

words! {
    /// Language of the pages, by its tag. A text without a translation is shown in English.
    Language {
        English = "en",
        Hindi = "hi",
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Translated(pub(crate) &'static str, pub(crate) &'static str);

impl Translated {
    pub(crate) const fn of(self, language: Language) -> &'static str {
        match language {
            Language::English => self.0,
            Language::Hindi => self.1,
        }
    }
}

impl Language {
    pub(crate) const fn own_name(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::Hindi => "हिन्दी",
        }
    }

    /// The chosen language, or else the one that the browser prefers.
    pub(crate) fn of(request: &HttpRequest) -> Self {
        let chosen = request.cookie(COOKIE);
        let chosen = chosen.and_then(|cookie| Self::from_word(cookie.value()));
        let wanted = || request.headers().get(header::ACCEPT_LANGUAGE)?.to_str().ok();
        chosen.unwrap_or_else(|| Self::wanted(wanted().unwrap_or_default()))
    }

    /// The first of our languages that an `Accept-Language` prefers (RFC 9110 section 12.5.4).
    fn wanted(header: &str) -> Self {
        let weighted = header.split(',').filter_map(|range| {
            let mut parts = range.split(';').map(str::trim);
            let tag = parts.next()?.split('-').next()?.to_ascii_lowercase();
            let weight = parts.find_map(|part| part.strip_prefix("q="));
            let weight = weight.map_or(Some(1.0), |weight| weight.trim().parse::<f32>().ok())?;
            Some((Self::from_word(&tag)?, weight))
        });
        // The first of equals, because `max_by` would return the last.
        let best = weighted
            .filter(|(_, weight)| *weight > 0.0)
            .reduce(|best, next| if next.1 > best.1 { next } else { best });
        best.map_or(Self::English, |(language, _)| language)
    }

    pub(crate) fn cookie(self, tls: bool) -> Cookie<'static> {
        choice(COOKIE, self.as_str(), tls)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_preferred_language_is_the_first_with_the_highest_weight() {
        for (header, language) in [
            ("", Language::English),
            ("hi", Language::Hindi),
            ("hi-IN,hi;q=0.9,en;q=0.8", Language::Hindi),
            ("en-IN,hi;q=0.9", Language::English),
            ("en;q=0.7, HI-in;q=0.8", Language::Hindi),
            ("ta,hi;q=0.5,en;q=0.4", Language::Hindi),
            ("hi;q=0,de", Language::English),
            ("hi;q=x", Language::English),
            ("*", Language::English),
        ] {
            assert_eq!(Language::wanted(header), language, "{header}");
        }
    }
}
