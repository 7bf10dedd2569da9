mod delivery;
mod office;
mod world;

pub use delivery::{LIFETIMES, accepted, awaiting_receipt, refused};
pub use office::{Office, PASSWORD, at};
pub use world::{BY, World, broken, down, limits};
