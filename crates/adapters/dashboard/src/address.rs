use actix_web::HttpRequest;
use actix_web::http::{Method, header};
use dwar_kernel::ProjectId;

const LONGEST: usize = 1_024;
/// The field with the result of the last form. It is shown once and is not part of an address to
/// return to.
const DONE: &str = "done=";

/// Tells which path patterns are pages that a GET shows to a signed-in operator.
pub(crate) struct PagePatterns(pub(crate) fn(&str) -> bool);

/// Tells whether a text is a path on this host. Browsers treat `//` and `/\` as the start of
/// another host.
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

/// The query of these fields; empty ones are left out.
pub(crate) fn query<'a, V: AsRef<str> + ?Sized + 'a>(
    fields: impl IntoIterator<Item = (&'a str, &'a V)>,
) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    let fields = fields.into_iter().map(|(name, value)| (name, value.as_ref()));
    query.extend_pairs(fields.filter(|(_, value)| !value.is_empty())).finish()
}

/// The address of one of our pages with its query, to come back to.
///
/// It may come from a form or a link, which anyone can forge. So it never leads to another site,
/// and only to pages that a GET shows to a signed-in operator.
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

    /// The page of this request, or the page that sent its form.
    pub(crate) fn of(request: &HttpRequest) -> Option<Self> {
        if request.method() == Method::GET {
            return Self::read(request, request.uri().path_and_query()?.as_str());
        }
        let sender = request.headers().get(header::REFERER)?.to_str().ok()?;
        let (_, rest) = sender.split_once("://")?;
        Self::read(request, &rest[rest.find('/')?..])
    }

    /// The address of the page that answers this request, if it differs from the request's. For a
    /// form that is answered without a redirect it is the address of that page, or of the page that
    /// sent the form. If the page shows the result of a form, its address is without that field.
    pub(crate) fn answered(request: &HttpRequest) -> Option<Self> {
        let asked = request.uri().path_and_query()?.as_str();
        let own = Self::read(request, asked);
        if request.method() == Method::POST {
            return own.or_else(|| Self::of(request));
        }
        own.filter(|own| own.0 != asked)
    }

    /// The same page for the other mode: without the fields of its query that belong to this one.
    pub(crate) fn for_any_mode(&self) -> String {
        without(&self.0, &["mode=", "before="])
    }

    /// The project in the address, if there is one.
    pub(crate) fn project(&self) -> Option<Result<ProjectId, ()>> {
        let id = self.0.strip_prefix("/p/")?.split(['/', '?', '#']).next()?;
        Some(id.parse().map_err(drop))
    }

    /// The address of the sign-in page that returns to `page`.
    pub(crate) fn sign_in(page: Option<&Self>) -> String {
        Self::with_next("/sign-in", page)
    }

    /// An address of the sign-in process that finally leads to `page`.
    pub(crate) fn with_next(path: &str, page: Option<&Self>) -> String {
        match page.filter(|page| page.0 != "/") {
            None => path.to_owned(),
            Some(page) => {
                let next: String = form_urlencoded::byte_serialize(page.0.as_bytes()).collect();
                format!("{path}?next={next}")
            }
        }
    }

    /// The page, or the home page if there is none.
    pub(crate) fn or_home(page: Option<&Self>) -> &str {
        page.map_or("/", |page| &page.0)
    }
}
