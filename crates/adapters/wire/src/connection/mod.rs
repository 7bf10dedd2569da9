//! What one connection may cost: how much it queues, how long it may take, which one has to go.
//!
//! The HTTP/1 parser of actix-http decodes all that it is given, keeps up to 128 KiB of what it
//! cannot decode yet, and has a clock for the first head only. So it is given little: a [`Gate`]
//! sits between it and the socket, and [`Visit::serve`](edge::Visit::serve) around both.

mod body;
mod chunks;
mod edge;
mod gate;
mod head;
mod state;

pub(crate) use body::begin;
pub(crate) use edge::Edge;
pub(crate) use gate::Gate;
pub use state::{Connection, Patience};

#[cfg(test)]
mod tests;
