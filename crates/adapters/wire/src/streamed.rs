use actix_web::HttpResponse;
use actix_web::http::header;
use actix_web::web::Bytes;
use dwar_kernel::{StoreError, with_causes};
use futures_util::{Stream, TryStreamExt};
use std::error::Error;
use std::fmt;

/// The store failed while an answer was sent. Its reader sees that it was cut off, and the log says why.
#[derive(Clone, Copy, Debug)]
pub struct CutOff;

impl fmt::Display for CutOff {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the answer was cut off")
    }
}

impl Error for CutOff {}

/// The body of an answer that is read from a store as it is sent. A failure of the store goes to a
/// log line of ours and no further: the server below would log it verbatim.
pub fn streamed(
    parts: impl Stream<Item = Result<Bytes, StoreError>>,
) -> impl Stream<Item = Result<Bytes, CutOff>> {
    parts.map_err(|cause| {
        let chain = with_causes(&cause);
        if cause.is_transient() {
            tracing::warn!(cause = chain, "an answer was cut off");
        } else {
            tracing::error!(cause = chain, "an answer was cut off");
        }
        CutOff
    })
}

/// A file `name` of CSV that is read from a store as it is sent.
pub fn csv_download(
    name: &str,
    parts: impl Stream<Item = Result<String, StoreError>> + 'static,
) -> HttpResponse {
    download(name, "text/csv; charset=utf-8", parts.map_ok(Bytes::from))
}

/// A file `name` of this media type that is read from a store as it is sent.
pub fn download(
    name: &str,
    kind: &'static str,
    parts: impl Stream<Item = Result<Bytes, StoreError>> + 'static,
) -> HttpResponse {
    HttpResponse::Ok()
        .content_type(kind)
        .insert_header((header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")))
        .streaming(Box::pin(streamed(parts)))
}
