use actix_web::HttpResponse;
use actix_web::http::header;
use actix_web::web::Bytes;
use dwar_kernel::{StoreError, with_causes};
use futures_util::{Stream, TryStreamExt};
use std::error::Error;
use std::fmt;

/// The store failed while an answer was being sent. The client sees a truncated answer, and the log
/// has the cause.
#[derive(Clone, Copy, Debug)]
pub struct CutOff;

impl fmt::Display for CutOff {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the answer was cut off")
    }
}

impl Error for CutOff {}

/// Makes the body of an answer that is read from a store while it is sent. An error of the store
/// is logged here and replaced by [`CutOff`], because the HTTP library would log the error verbatim.
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

/// Makes a CSV download that is read from a store while it is sent. `name` is the file name.
pub fn csv_download(
    name: &str,
    parts: impl Stream<Item = Result<String, StoreError>> + 'static,
) -> HttpResponse {
    download(name, "text/csv; charset=utf-8", parts.map_ok(Bytes::from))
}

/// Makes a download of this media type that is read from a store while it is sent. `name` is the
/// file name.
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
