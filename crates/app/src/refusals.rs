/// Declares the error of a use case: its refusals with their messages, and a failed store.
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
            /// The store failed: the request may have been carried out or not.
            #[error(transparent)]
            Store(#[from] dwar_kernel::StoreError),
        }
    };
}

pub(crate) use refusals;
