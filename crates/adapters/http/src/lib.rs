//! actix-web drives the use cases: routes, callers, error table, request ids.
