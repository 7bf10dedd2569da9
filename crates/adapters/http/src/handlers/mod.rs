//! One function per route: parse, call, map.

pub(crate) mod health;
pub(crate) mod identity;
pub(crate) mod jwks;
pub(crate) mod otp;
pub(crate) mod sandbox;
pub(crate) mod session;
pub(crate) mod webhooks;
