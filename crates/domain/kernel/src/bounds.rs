//! Bounds of configured numbers: each section declares them beside its fields.

use std::ops::RangeInclusive;

/// Reason for the upper bound of a time limit.
pub const SLOW: &str = "a client or server that never answers would hold its place forever";
/// Reason for the upper bound of a number of concurrent things.
pub const LOAD: &str = "more than one machine can handle";

/// The values of a number that production accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    pub takes: RangeInclusive<u64>,
    /// Why other values are refused, as the end of a sentence.
    pub reason: &'static str,
    /// Whether nothing could work with 0, so that development refuses 0 too.
    pub positive: bool,
}

/// A number of the configuration: its name within its section, its value and its bound.
pub type BoundedNumber = (&'static str, u64, Bound);

/// A bound whose values production accepts, for this reason.
pub const fn within(takes: RangeInclusive<u64>, reason: &'static str) -> Bound {
    Bound { takes, reason, positive: false }
}

/// Like [`within`], for numbers of which 0 is refused in development too.
pub const fn positive(takes: RangeInclusive<u64>, reason: &'static str) -> Bound {
    Bound { takes, reason, positive: true }
}

/// Declares structs for sections of a configuration. Their serde derive comes from the crate that declares
/// them. A number may have a [`Bound`] after its `=`; the method `numbers` returns all numbers that have one.
#[macro_export]
macro_rules! sections {
    ($($(#[$about:meta])* pub struct $section:ident {
        $($(#[$field_about:meta])* pub $field:ident: $kind:ty $(= $bound:expr)?,)*
    })*) => {$(
        $(#[$about])*
        #[derive(Clone, Debug, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $section {
            $($(#[$field_about])* pub $field: $kind,)*
        }

        impl $section {
            /// The numbers that have a bound, with name and value.
            pub fn numbers(&self) -> Vec<$crate::bounds::BoundedNumber> {
                // No such number is wider than 64 bits.
                vec![$($((stringify!($field), self.$field as u64, $bound),)?)*]
            }
        }
    )*};
}
