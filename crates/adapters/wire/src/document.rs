use actix_web::http::header::{
    self, AcceptEncoding, ContentEncoding, Encoding, Header, HeaderMap, HeaderValue,
};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse};
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};
use std::io::{self, Write};

/// A public JSON document that never changes while the process runs. It is compressed once, and
/// clients that have it get 304.
#[derive(Clone, Debug)]
pub struct Document {
    plain: Version,
    /// The compressed version; `None` if compression failed.
    gzip: Option<Version>,
}

/// The document in one content coding, with the entity tag of exactly these bytes.
#[derive(Clone, Debug)]
struct Version {
    bytes: Bytes,
    etag: String,
}

impl Document {
    /// Makes a document of this JSON text, and compresses it.
    pub fn json(text: String) -> Self {
        let gzip = compressed(text.as_bytes()).ok().map(Version::of);
        Self { plain: Version::of(text.into_bytes()), gzip }
    }

    /// Answers with the document in the coding that the client prefers, or with 304 if the client
    /// has it (RFC 9110 sections 8.8.3, 12.5.3 and 13.1.2).
    pub fn answer(&self, request: &HttpRequest) -> HttpResponse {
        let packed = self.gzip.as_ref().filter(|_| prefers_gzip(request));
        let version = packed.unwrap_or(&self.plain);
        let known = is_known(request.headers(), &version.etag);
        let mut response = if known { HttpResponse::NotModified() } else { HttpResponse::Ok() };
        response
            .insert_header((header::ETAG, format!("\"{}\"", version.etag)))
            .insert_header((header::VARY, HeaderValue::from_static("accept-encoding")))
            .insert_header((header::CACHE_CONTROL, HeaderValue::from_static("no-cache")));
        if known {
            return response.finish();
        }
        if packed.is_some() {
            response.insert_header(ContentEncoding::Gzip);
        }
        response.content_type("application/json").body(version.bytes.clone())
    }
}

impl Version {
    fn of(bytes: Vec<u8>) -> Self {
        let digest = Sha256::digest(&bytes);
        let etag = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        Self { bytes: bytes.into(), etag }
    }
}

fn compressed(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(bytes)?;
    gzip.finish()
}

/// Tells whether the client accepts gzip at least as much as the plain document.
fn prefers_gzip(request: &HttpRequest) -> bool {
    let both = [Encoding::gzip(), Encoding::identity()];
    let accepted = AcceptEncoding::parse(request).ok();
    accepted.and_then(|accepted| accepted.negotiate(both.iter())) == Some(Encoding::gzip())
}

/// Tells whether the client has the version with this entity tag (RFC 9110 section 13.1.2, weak
/// comparison).
pub fn is_known(headers: &HeaderMap, etag: &str) -> bool {
    let values = headers.get_all(header::IF_NONE_MATCH).filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(str::trim).any(|tag| {
        let opaque = tag.strip_prefix("W/").unwrap_or(tag);
        let quoted = opaque.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        tag == "*" || quoted == Some(etag)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::test::TestRequest;

    #[test]
    fn gzip_is_for_whoever_names_it_and_does_not_refuse_it() {
        let accepts = |values: &[&str]| {
            let request = values.iter().fold(TestRequest::default(), |request, value| {
                request.append_header((header::ACCEPT_ENCODING, *value))
            });
            prefers_gzip(&request.to_http_request())
        };
        for yes in
            ["gzip", "GZIP", "gzip, deflate, br", "br;q=1.0, gzip;q=0.8, *;q=0.1", "gzip;q=0.001"]
        {
            assert!(accepts(&[yes]), "{yes}");
        }
        assert!(accepts(&["br", "gzip"]), "in two headers");
        for no in [
            "",
            "identity",
            "br",
            "gzip;q=0",
            "gzip;q=0.0, *",
            "identity, gzip;q=0.5",
            "deflate;;,",
        ] {
            assert!(!accepts(&[no]), "{no}");
        }
        assert!(!accepts(&[]));
    }

    #[test]
    fn each_coding_has_a_name_of_its_own() {
        let document = Document::json("{}".repeat(1_000));
        let gzip = document.gzip.unwrap();
        assert_ne!(document.plain.etag, gzip.etag);
        assert!(gzip.bytes.len() * 10 < document.plain.bytes.len());
    }
}
