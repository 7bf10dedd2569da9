//! What measures time: these tests run with nothing beside them.

mod lock_order;
