mod delivery;
mod world;

pub use delivery::{LIFETIMES, accepted, awaiting_receipt, refused};
pub use world::{LIMITS, World, broken, down};
