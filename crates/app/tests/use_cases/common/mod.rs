mod delivery;
mod house;
mod world;

pub use delivery::{End, FORGIVEN, FREE, LIFETIMES, accepted, awaiting_receipt, charged, refused};
pub use house::{House, RUPEE, sms, spent, whatsapp};
pub use world::{World, broken, down, limits};
