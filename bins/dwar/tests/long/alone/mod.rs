//! What measures time or memory closely: these tests run with nothing beside them.

mod edge;
mod fairness;
