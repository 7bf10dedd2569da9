//! Requests per API key, counted across instances (docs/contract.md, Limits).

mod fallback;
mod limiter;
mod link;
mod settings;

pub use fallback::{Away, FallbackRequestLimiter};
pub use limiter::RedisRequestLimiter;
pub use settings::{InvalidRedisUrl, RedisUrl, Settings};
