use actix_web::HttpRequest;
use actix_web::http::{Method, header};
use dwar_kernel::ProjectId;

const LONGEST: usize = 1_024;
/// What was done just now: said once, and part of no address to come back to.
const DONE: &str = "done=";

/// Tells which patterns of addresses are pages, which a GET shows to whoever is signed in.
pub(crate) struct PagePatterns(pub(crate) fn(&str) -> bool);

/// Whether a text leads to this host, whoever wrote it. Browsers take `//` and `/\` for the beginning of
/// another one.
pub(crate) fn is_local(text: &str) -> bool {
    let local = text.starts_with('/') && !text.starts_with("//") && text.len() <= LONGEST;
    local && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
}

/// An address without some fields of its query.
fn without(address: &str, fields: &[&str]) -> String {
    let (address, fragment) = address.split_at(address.find('#').unwrap_or(address.len()));
    let Some((path, query)) = address.split_once('?') else {
        return format!("{address}{fragment}");
    };
    let is_left_out = |pair: &&str| fields.iter().any(|name| pair.starts_with(name));
    let rest: Vec<&str> = query.split('&').filter(|pair| !is_left_out(pair)).collect();
    let query = if rest.is_empty() { String::new() } else { format!("?{}", rest.join("&")) };
    format!("{path}{query}{fragment}")
}

/// The address of one of our pages with its query, to come back to.
///
/// It may come from a form or a link, and so from anybody: it leads to no other site, and to nothing
/// but what a GET shows to whoever is signed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageAddress(String);

impl PageAddress {
    /// The address in a text, if it is one.
    pub(crate) fn read(request: &HttpRequest, text: &str) -> Option<Self> {
        if !is_local(text) {
            return None;
        }
        let path = text.split(['?', '#']).next()?;
        let pattern = request.resource_map().match_pattern(path)?;
        let PagePatterns(is_page) = request.app_data()?;
        is_page(&pattern).then(|| Self(without(text, &[DONE])))
    }

    /// The page that is asked for, or that sent its form.
    pub(crate) fn of(request: &HttpRequest) -> Option<Self> {
        if request.method() == Method::GET {
            return Self::read(request, request.uri().path_and_query()?.as_str());
        }
        let sender = request.headers().get(header::REFERER)?.to_str().ok()?;
        let (_, rest) = sender.split_once("://")?;
        Self::read(request, &rest[rest.find('/')?..])
    }

    /// The address that the page goes by which answers this request, where it has another one. For a form that
    /// is answered without a redirect it is the page at its own address, or the one that sent it; a page that
    /// says what was done goes by its own address without that word.
    pub(crate) fn answered(request: &HttpRequest) -> Option<Self> {
        let asked = request.uri().path_and_query()?.as_str();
        let own = Self::read(request, asked);
        if request.method() == Method::POST {
            return own.or_else(|| Self::of(request));
        }
        own.filter(|own| own.0 != asked)
    }

    /// The same page for the other mode: without what its query says of this one.
    pub(crate) fn for_any_mode(&self) -> String {
        without(&self.0, &["mode=", "before="])
    }

    /// The project that it is about, if it is about one.
    pub(crate) fn project(&self) -> Option<Result<ProjectId, ()>> {
        let id = self.0.strip_prefix("/p/")?.split(['/', '?', '#']).next()?;
        Some(id.parse().map_err(drop))
    }

    /// Where one signs in to come back here.
    pub(crate) fn sign_in(page: Option<&Self>) -> String {
        Self::with_next("/sign-in", page)
    }

    /// An address on the way in, which leads on to the page in the end.
    pub(crate) fn with_next(path: &str, page: Option<&Self>) -> String {
        match page.filter(|page| page.0 != "/") {
            None => path.to_owned(),
            Some(page) => {
                let next: String = form_urlencoded::byte_serialize(page.0.as_bytes()).collect();
                format!("{path}?next={next}")
            }
        }
    }

    /// The page, or the first one where there is none to come back to.
    pub(crate) fn or_home(page: Option<&Self>) -> &str {
        page.map_or("/", |page| &page.0)
    }
}
