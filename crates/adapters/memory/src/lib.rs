//! In-process request limiter, for one instance.

mod request_limiter;

pub use request_limiter::MemoryRequestLimiter;
