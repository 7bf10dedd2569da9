//! Tests that measure time or memory closely. They run alone.

mod edge;
mod fairness;
