/// What a use case can refuse, each with its words, besides a store that failed.
macro_rules! refusals {
    ($(#[$doc:meta])* $name:ident {
        $($(#[$more:meta])* $refusal:ident $(($with:ty))? = $words:literal),+ $(,)?
    }) => {
        $(#[$doc])*
        #[derive(Debug, thiserror::Error)]
        pub enum $name {
            $(
                #[doc = concat!($words, ".")]
                $(#[$more])*
                #[error($words)]
                $refusal $(($with))?,
            )+
            /// A store failed: what was asked for may or may not have been done.
            #[error(transparent)]
            Store(#[from] dwar_kernel::StoreError),
        }
    };
}

pub(crate) use refusals;
