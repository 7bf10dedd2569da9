use crate::words;

words! {
    /// A way to reach a phone.
    Channel {
        /// The messaging app, tried first.
        Whatsapp = "whatsapp",
        /// The fallback.
        Sms = "sms",
    }
}
