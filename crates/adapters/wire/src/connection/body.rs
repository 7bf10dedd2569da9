use super::chunks::ChunkedBody;
use super::state::{Body, Connection, Shared};
use actix_http::BoxedPayloadStream;
use actix_web::dev::{Payload, RequestHead};
use actix_web::error::PayloadError;
use actix_web::http::header;
use actix_web::web::Bytes;
use futures_util::Stream;
use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

/// Tells the connection that the parser has read a request and how its body ends. Returns the body,
/// wrapped to report how much of it was read.
///
/// The connection keeps the body until the next request. If the reader drops a chunked body before
/// its end, the server would otherwise promise to read the rest and further requests, however
/// slowly the client sends. So the response announces the end of the connection instead (RFC 9112
/// section 9.6).
pub(crate) fn begin(connection: &Rc<Connection>, head: &RequestHead, body: Payload) -> Payload {
    connection.begin(framing(head, &body));
    if matches!(body, Payload::None) {
        return body;
    }
    let body = Rc::new(RefCell::new(body));
    connection.hold(Rc::clone(&body));
    let watched: BoxedPayloadStream =
        Box::pin(WatchedBody { body, connection: Rc::clone(connection) });
    Payload::Stream { payload: watched }
}

/// How the body ends, checked in the same order as the parser does.
fn framing(head: &RequestHead, body: &Payload) -> Body {
    let headers = head.headers();
    let websocket = |value: &header::HeaderValue| {
        value.to_str().is_ok_and(|text| text.trim().eq_ignore_ascii_case("websocket"))
    };
    if matches!(body, Payload::None) {
        Body::Length(0)
    } else if headers.contains_key(header::TRANSFER_ENCODING) {
        Body::Chunked(ChunkedBody::default())
    } else if headers.get_all(header::UPGRADE).any(websocket) {
        Body::Endless
    } else {
        let length = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
        let length = length.and_then(|text| text.trim().parse().ok());
        length.map_or(Body::Endless, Body::Length)
    }
}

/// A body that tells its connection when the reader waits for more bytes.
struct WatchedBody {
    body: Shared,
    connection: Rc<Connection>,
}

impl Stream for WatchedBody {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = Pin::new(&mut *self.body.borrow_mut()).poll_next(context);
        match next {
            Poll::Pending => self.connection.starve(context),
            Poll::Ready(_) => self.connection.feed(),
        }
        next
    }
}
