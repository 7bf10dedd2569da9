//! Tests that measure time. They run alone.

mod lock_order;
