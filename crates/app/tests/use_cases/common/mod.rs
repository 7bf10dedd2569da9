mod delivery;
mod house;
mod office;
mod world;

pub use delivery::{End, FORGIVEN, FREE, LIFETIMES, accepted, awaiting_receipt, charged, refused};
pub use house::{House, RUPEE, sms, spent, whatsapp};
pub use office::{Office, PASSWORD, at};
pub use world::{BY, World, broken, down, limits};
