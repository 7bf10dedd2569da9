//! What the numbers of a configuration may be: each section says it beside its fields.

use std::ops::RangeInclusive;

/// Why waiting has an end.
pub const SLOW: &str = "a client or server that never answers would hold its place forever";
/// Why there is no more than this at once.
pub const LOAD: &str = "more than one machine can handle";

/// Which values of a number production takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    pub takes: RangeInclusive<u64>,
    /// Why no others, as the end of a sentence.
    pub reason: &'static str,
    /// Whether nothing could work if it were 0, so that development refuses that too.
    pub positive: bool,
}

/// A number of the configuration: its name within its section, what it is set to and may be.
pub type Number = (&'static str, u64, Bound);

/// Production takes these values, for this reason.
pub const fn within(takes: RangeInclusive<u64>, reason: &'static str) -> Bound {
    Bound { takes, reason, positive: false }
}

/// As [`within`], where nothing could work with a 0.
pub const fn positive(takes: RangeInclusive<u64>, reason: &'static str) -> Bound {
    Bound { takes, reason, positive: true }
}

/// Declares the structs of sections of a configuration, read by the serde of the crate that declares them. Behind the
/// `=` of a number is its [`Bound`]; the method `numbers` gives all that have one.
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
            /// Its numbers, with what production takes of each.
            pub fn numbers(&self) -> Vec<$crate::bounds::Number> {
                // None is wider than 64 bits.
                vec![$($((stringify!($field), self.$field as u64, $bound),)?)*]
            }
        }
    )*};
}
