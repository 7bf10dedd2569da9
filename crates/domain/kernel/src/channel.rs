use crate::words;

words! {
    Channel {
        /// The messaging app, tried first.
        Whatsapp = "whatsapp",
        /// The fallback.
        Sms = "sms",
    }
}
