//! A macro for tables of refusals.

/// Seconds after which a client may retry when a store was unavailable.
pub const RETRY_AN_OUTAGE: u64 = 2;

/// Makes an enum of refusals from a table: the variant, the stable code for clients, the HTTP
/// status, and the sentence for people.
///
/// ```
/// dwar_wire::codes! {
///     /// Why there is no tea.
///     pub enum TeaCode {
///         Teapot "TEAPOT" IM_A_TEAPOT "This is a teapot."
///         NoWater "NO_WATER" SERVICE_UNAVAILABLE "There is no water."
///     }
/// }
///
/// assert_eq!(TeaCode::ALL, [TeaCode::Teapot, TeaCode::NoWater]);
/// assert_eq!(TeaCode::Teapot.as_str(), "TEAPOT");
/// assert_eq!(TeaCode::Teapot.status(), 418);
/// assert_eq!(TeaCode::NoWater.message(), "There is no water.");
/// ```
#[macro_export]
macro_rules! codes {
    (
        $(#[$meta:meta])*
        pub enum $name:ident { $($variant:ident $code:literal $status:ident $message:literal)+ }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $(#[doc = $message] $variant,)+ }

        impl $name {
            /// The whole table, in order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The stable word that clients switch on.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $code,)+ }
            }

            /// The sentence for people, where there is nothing more exact to say.
            pub const fn message(self) -> &'static str {
                match self { $(Self::$variant => $message,)+ }
            }

            /// The HTTP status that goes with it.
            pub fn status(self) -> u16 {
                self.status_code().as_u16()
            }

            /// The same, typed.
            pub const fn status_code(self) -> $crate::StatusCode {
                match self { $(Self::$variant => $crate::StatusCode::$status,)+ }
            }
        }

        impl From<$name> for $crate::openapi::Refusal {
            fn from(code: $name) -> Self {
                (code.as_str(), code.status_code(), code.message())
            }
        }
    };
}
