//! Messages and projects that the tests of every gateway use.

use dwar_kernel::{BlindIndex, KeyMode, ProjectMode};
use dwar_otp::{Channel, Message};

pub const OTP: &str = "01900000-0000-7000-8000-00000000000a";
pub const ATTEMPT: &str = "01900000-0000-7000-8000-00000000000b";
pub const PROJECT: &str = "01900000-0000-7000-8000-000000000001";
pub const CODE: &str = "012345";
pub const TEXT: &str = "012345 is your code.\n@example.com #012345";

pub fn message(mode: KeyMode, channel: Channel, phone: &str) -> Message {
    Message {
        otp: OTP.parse().unwrap(),
        attempt: ATTEMPT.parse().unwrap(),
        project_mode: ProjectMode { project: PROJECT.parse().unwrap(), mode },
        channel,
        phone: phone.parse().unwrap(),
        phone_index: BlindIndex([7; 32]),
        code: CODE.parse().unwrap(),
        text: TEXT.to_owned(),
        brand: "Acme".to_owned(),
        language: "en".to_owned(),
        minutes: 10,
        template_id: None,
    }
}
