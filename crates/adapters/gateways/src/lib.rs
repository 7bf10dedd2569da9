//! Providers that carry messages: one file each.
