use crate::{GuardSubjectKind, words};

words! {
    /// How the guard judged a send (docs/guard.md).
    GuardVerdict {
        /// Each level had a token, and the send took one from each.
        Admitted = "admitted",
        /// The caller vouched for the visitor.
        Trusted = "trusted",
        /// The device is known to the phone.
        Device = "device",
        /// The level of the visitor's address demands a proof.
        Address = "address",
        /// The level of the number's series demands a proof.
        Series = "series",
        /// The level of the project demands a proof.
        Project = "project",
        /// The phone has kept as many places as a day allows.
        Day = "day",
    }
}

impl GuardVerdict {
    /// Whether a guard that is enforced refuses the send.
    pub const fn is_refusal(self) -> bool {
        matches!(self, Self::Address | Self::Series | Self::Project | Self::Day)
    }
}

/// The verdict on a send for which a subject of this kind has no token left.
impl From<GuardSubjectKind> for GuardVerdict {
    fn from(exhausted: GuardSubjectKind) -> Self {
        match exhausted {
            GuardSubjectKind::Address => Self::Address,
            GuardSubjectKind::Series => Self::Series,
            GuardSubjectKind::Project => Self::Project,
        }
    }
}
