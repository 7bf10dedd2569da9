//! In-process request limiter, for one instance.
