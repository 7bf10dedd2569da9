mod office;
mod world;

pub use office::{Office, PASSWORD, at};
pub use world::{BY, World, down, limits};
