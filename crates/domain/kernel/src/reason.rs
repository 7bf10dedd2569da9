use crate::words;

words! {
    /// Why an attempt failed (docs/contract.md, Delivery).
    Reason {
        /// The number has no account on the messaging app.
        NotOnChannel = "not_on_channel",
        /// The provider does not send to this number.
        RejectedNumber = "rejected_number",
        /// The recipient or the mobile network blocks such messages.
        Blocked = "blocked",
        TemplateRejected = "template_rejected",
        ProviderAuth = "provider_auth",
        /// The provider asks for fewer messages.
        ProviderThrottled = "provider_throttled",
        /// The provider refused for a reason that Dwar does not know.
        ProviderRefused = "provider_refused",
        ProviderUnavailable = "provider_unavailable",
        Timeout = "timeout",
        /// The outcome of the call is unknown: the message may have been sent.
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
    /// Why a send was refused before any provider was called.
    Refusal {
        /// The phone had reached its limit of codes per window.
        Limit = "limit",
        /// The phone had reached the bound for a day that the guard enforces.
        Day = "day",
        /// The guard asked for a proof that a person wants the code.
        Proof = "proof",
        /// Sends to the phone are slowed after many wrong codes.
        Pace = "pace",
        /// Sends to the phone are stopped for a while after too many wrong codes.
        Stop = "stop",
        Balance = "balance",
        /// The project's spend of the day had reached its limit.
        SpendLimit = "spend_limit",
        /// The `Idempotency-Key` was used before, with another body.
        KeyReused = "key_reused",
        /// The API key reached its request limit; the phone was not read.
        Ceiling = "ceiling",
    }
}

impl Refusal {
    /// Whether the refusal concerns one phone, which gets codes again after a while.
    pub const fn is_of_phone(self) -> bool {
        matches!(self, Self::Limit | Self::Day | Self::Pace | Self::Stop)
    }
}
