//! The use cases, one file each, over mocked ports where a call, its order or its failure is the point.
//! `states.rs` and `half_way.rs` test them over a store in memory, where the resulting records are the point.
//!
//! A mock without expectations fails the test when it is called: a port that a test does not mention must
//! stay unused.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod admit_request;
mod apply_receipts;
mod authenticate;
mod call_endpoints;
mod clock_set_back;
mod clock_watch;
mod common;
mod delete_identity;
mod emptied_levels;
mod find_identity;
mod guard;
mod half_way;
mod idempotency;
mod known_devices;
mod logout;
mod message_text;
mod otp_status;
mod public_keys;
mod receipt;
mod receive_webhook;
mod refresh_session;
mod relay_otp;
mod routes;
mod sandbox_messages;
mod send_otp;
mod send_otp_fallback;
mod send_otp_project;
mod signing_keys;
mod spans;
mod states;
mod sweep;
mod tell_events;
mod usage_recorder;
mod validate_session;
mod verify_otp;
mod worker_pool;
