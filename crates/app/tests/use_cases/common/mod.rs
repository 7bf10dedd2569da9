mod delivery;
mod world;

pub use delivery::{accepted, awaiting_receipt, refused};
pub use world::{LIMITS, World, broken, down};
