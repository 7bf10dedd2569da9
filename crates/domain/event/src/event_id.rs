use std::fmt;
use std::str::FromStr;

/// The `webhook-id` by which a receiver recognises an event, as made by [`Event::id`](crate::Event::id).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventId(String);

/// Parse error: the text is empty, too long or not visible ASCII.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an event's id")]
pub struct MalformedEventId;

impl EventId {
    /// Longer than any id: a kind, two ids and the name of a provider.
    const LONGEST: usize = 200;

    /// The id as text, as in the `webhook-id` header.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for EventId {
    type Err = MalformedEventId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fits = (1..=Self::LONGEST).contains(&text.len());
        let visible = text.bytes().all(|byte| byte.is_ascii_graphic());
        if fits && visible { Ok(Self(text.to_owned())) } else { Err(MalformedEventId) }
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_visible_and_bounded() {
        let good = "provider_unhealthy_0189000000007000_my-sms_6000000";
        assert_eq!(good.parse().map(|id: EventId| id.to_string()), Ok(good.to_owned()));
        for bad in ["", " a", "a\0", "a\n", "\u{e9}", &"x".repeat(201)] {
            assert_eq!(bad.parse::<EventId>(), Err(MalformedEventId), "{bad:?}");
        }
    }
}
