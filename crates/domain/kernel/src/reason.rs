use crate::words;

words! {
    /// Why an attempt failed (docs/contract.md, Delivery).
    Reason {
        /// The number has no account on the messaging app.
        NotOnChannel = "not_on_channel",
        /// The provider will not send to this number.
        RejectedNumber = "rejected_number",
        /// The recipient or the operator blocks such messages.
        Blocked = "blocked",
        TemplateRejected = "template_rejected",
        ProviderAuth = "provider_auth",
        /// The provider asks for fewer messages.
        ProviderThrottled = "provider_throttled",
        /// The provider refused outright, for a reason unknown here.
        ProviderRefused = "provider_refused",
        ProviderUnavailable = "provider_unavailable",
        Timeout = "timeout",
        /// It is unknown what became of the call: the message may have been sent.
        Unknown = "unknown",
    }
}

impl Reason {
    /// Whether another provider of the same channel would fail too.
    pub const fn is_about_the_number(self) -> bool {
        matches!(self, Self::NotOnChannel | Self::RejectedNumber | Self::Blocked)
    }

    /// Whether the provider certainly did not send the message. After the other reasons it may have: its
    /// answer came too late, or is unknown.
    pub const fn is_refusal(self) -> bool {
        !matches!(self, Self::Timeout | Self::Unknown)
    }
}

words! {
    /// Why a send was refused before any provider was asked.
    Refusal {
        /// The phone had as many codes as it may get in the window.
        Limit = "limit",
        /// After many wrong codes the phone gets fewer.
        Pace = "pace",
        /// After too many wrong codes it gets none for a while.
        Stop = "stop",
        Balance = "balance",
        /// The `Idempotency-Key` was used before, with another body.
        KeyReused = "key_reused",
        /// The API key asked too often; the phone was not read.
        Ceiling = "ceiling",
    }
}

impl Refusal {
    /// Whether the refusal concerns one phone, which gets codes again after a while.
    pub const fn is_of_phone(self) -> bool {
        matches!(self, Self::Limit | Self::Pace | Self::Stop)
    }
}
