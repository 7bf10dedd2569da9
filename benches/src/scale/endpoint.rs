//! The measured endpoints.

/// One kind of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Endpoint {
    Send,
    WrongCode,
    RightCode,
    Status,
    Validate,
    Refresh,
    Logout,
    Identity,
    Delete,
}

impl Endpoint {
    /// All endpoints in the order of requests: later ones use the results of earlier ones.
    pub const ALL: [Self; 9] = [
        Self::Send,
        Self::WrongCode,
        Self::RightCode,
        Self::Status,
        Self::Validate,
        Self::Refresh,
        Self::Logout,
        Self::Identity,
        Self::Delete,
    ];

    /// The name in the table.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Send => "send",
            Self::WrongCode => "verify, wrong code",
            Self::RightCode => "verify, right code",
            Self::Status => "status",
            Self::Validate => "validate",
            Self::Refresh => "refresh",
            Self::Logout => "logout",
            Self::Identity => "identity",
            Self::Delete => "delete",
        }
    }
}
