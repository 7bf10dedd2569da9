use crate::calendar::Happening;
use crate::numbers::Number;
use std::net::IpAddr;

/// A code is asked for.
#[derive(Clone, Copy, Debug)]
pub struct SendRequest {
    pub number: Number,
    pub address: IpAddr,
    /// Whether the person has proven to be one.
    pub proven: bool,
    /// Whether the device of the last login of the number is shown.
    pub by_device: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The provider accepted the message.
    Sent,
    /// The provider could not be reached.
    NotSent,
    /// The defence asks for a proof, or refuses.
    Stopped,
    /// The phone has had enough codes for now.
    Limited,
}

/// Decides which requests for a code reach the provider.
pub trait Defence {
    /// Whether a person who is stopped can bring a proof.
    const TAKES_PROOFS: bool;

    fn begin_second(&mut self, second: u64, happening: Happening);
    async fn send(&mut self, request: &SendRequest) -> Answer;
    /// Enters the newest code of a number, on the device of its last login or on another one; whether that logs in.
    async fn enter(&mut self, number: Number, by_device: bool) -> bool;
    async fn guess_wrong(&mut self, number: Number);
    /// Deletes the account of a number.
    async fn delete(&mut self, number: Number);
    async fn end_second(&mut self);
}
