//! Limits the cost of a connection: how much it queues, how long it takes, and which one is closed
//! when places run out.
//!
//! The HTTP/1 parser of actix-http decodes everything it receives, keeps up to 128 KiB that it
//! cannot decode yet, and has a time limit only for the first head. So it receives little at a
//! time: a [`Gate`] sits between the parser and the socket, and
//! [`Visit::serve`](edge::Visit::serve) runs both.

mod body;
mod chunks;
mod edge;
mod gate;
mod head;
mod state;

pub(crate) use body::begin;
pub(crate) use edge::Edge;
pub(crate) use gate::Gate;
pub use state::{ClientTimeouts, Connection};

#[cfg(test)]
mod tests;
