/// Why an event was not delivered to an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendFailure {
    /// The address is not public, or not HTTPS.
    #[error("the address is not allowed")]
    AddressNotAllowed,
    #[error("the endpoint did not answer in time")]
    TimedOut,
    #[error("the endpoint's name cannot be resolved")]
    Unresolved,
    #[error("the endpoint refused the connection")]
    ConnectionRefused,
    /// The certificate is not trusted, or the endpoint speaks no TLS.
    #[error("no TLS connection to the endpoint can be made")]
    Tls,
    #[error("the endpoint cannot be reached")]
    Unreachable,
    #[error("the endpoint answered {0}")]
    Status(u16),
    /// The signing secret or the phone number in the event cannot be decrypted with the present keys.
    #[error("the event cannot be signed")]
    Unsigned,
}

impl SendFailure {
    /// Whether the endpoint answered that it is gone for good (Standard Webhooks).
    pub const fn is_gone(self) -> bool {
        matches!(self, Self::Status(410))
    }

    /// The word for tables and answers, with the status if there was one.
    pub const fn word(self) -> (&'static str, Option<u16>) {
        match self {
            Self::AddressNotAllowed => ("forbidden", None),
            Self::TimedOut => ("timed_out", None),
            Self::Unresolved => ("unresolved", None),
            Self::ConnectionRefused => ("connection_refused", None),
            Self::Tls => ("tls", None),
            Self::Unreachable => ("unreachable", None),
            Self::Status(status) => ("status", Some(status)),
            Self::Unsigned => ("unsigned", None),
        }
    }

    /// Parses what [`SendFailure::word`] returned; `None` for an unknown word.
    pub fn from_word(word: &str, status: Option<u16>) -> Option<Self> {
        let plain = [
            Self::AddressNotAllowed,
            Self::TimedOut,
            Self::Unresolved,
            Self::ConnectionRefused,
            Self::Tls,
            Self::Unreachable,
            Self::Unsigned,
        ];
        let answered = status.map(Self::Status);
        plain.into_iter().chain(answered).find(|it| it.word() == (word, status))
    }
}
