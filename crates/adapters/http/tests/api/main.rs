//! Tests of the API over HTTP, with mocks behind the ports.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "everything here runs inside tests")]

mod bodies;
mod callers;
mod devices;
mod document;
mod frame;
mod guarded;
mod identities;
mod in_process;
mod limits;
mod otps;
mod ports;
mod provoked;
mod proxies;
mod relays;
mod sandbox;
mod sessions;
mod sockets;
mod support;
mod table;
mod webhooks;
