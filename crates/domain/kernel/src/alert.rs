use crate::words;

words! {
    /// How soon a person has to look at an alert.
    Severity {
        /// At once.
        Page = "page",
        /// On the next working day.
        Ticket = "ticket",
    }
}

/// Declares all alerts from one table: severity, meaning, end condition and runbook of each.
macro_rules! alerts {
    ($($variant:ident = $word:literal, $severity:ident, $means:literal, over: $over:literal, $runbook:literal;)+) => {
        words! {
            /// A kind of problem that a person has to solve.
            AlertKind { $($variant = $word,)+ }
        }

        impl AlertKind {
            /// How soon a person has to look at the alert.
            pub const fn severity(self) -> Severity {
                match self { $(Self::$variant => Severity::$severity,)+ }
            }

            /// What is wrong, as the rest of a sentence whose subject is the provider, project, address or
            /// part concerned.
            pub const fn means(self) -> &'static str {
                match self { $(Self::$variant => $means,)+ }
            }

            /// What ends the alert, as the rest of a sentence.
            pub const fn over(self) -> &'static str {
                match self { $(Self::$variant => $over,)+ }
            }

            /// File and section of the runbook, from the root of the repository.
            pub const fn runbook(self) -> &'static str {
                match self { $(Self::$variant => concat!("docs/runbooks.md#", $runbook),)+ }
            }
        }
    };
}

alerts! {
    ProviderAuth = "provider_auth", Page, "refuses the credentials of this service",
        over: "the provider accepts a message", "dwarproviderrefuses";
    ProviderFailing = "provider_failing", Ticket, "failed in three or more calls in a row",
        over: "the provider accepts a message", "dwarbreakeropen";
    WalletEmpty = "wallet_empty", Page, "has too little money for the next code",
        over: "money is added, or comes back from a hold", "an-empty-wallet";
    WalletEmptySoon = "wallet_empty_soon", Ticket, "spends what it has left within a day",
        over: "more money is left than was spent in the last 24 hours", "an-empty-wallet";
    WalletLow = "wallet_low", Ticket, "has less money than its threshold",
        over: "the balance is at the threshold again", "an-empty-wallet";
    TrustedUnverified = "trusted_unverified", Ticket, "vouches for visitors who do not enter their codes",
        over: "half of these codes of the last 24 hours are verified", "trusted-visitors-who-do-not-verify";
    EndpointDisabled = "endpoint_disabled", Page, "gets no events: it is disabled",
        over: "the endpoint is enabled or removed", "an-endpoint-that-fails";
    EndpointFailing = "endpoint_failing", Ticket, "failed to accept events three or more times \
                                                   in a row",
        over: "the endpoint accepts an event", "an-endpoint-that-fails";
    SendsBehind = "sends_behind", Page, "are overdue for more than 5 minutes",
        over: "none has waited that long", "dwarbacklogold";
    ReceiptsBehind = "receipts_behind", Page, "have waited for more than 5 minutes",
        over: "none has waited that long", "dwarbacklogold";
    EventsBehind = "events_behind", Page, "have been due for more than 5 minutes",
        over: "none has waited that long", "dwarbacklogold";
    HoldsBehind = "holds_behind", Page, "has been set aside for more than 15 minutes",
        over: "none has been set aside that long", "dwarbacklogold";
    FeedHeldBack = "feed_held_back", Ticket, "are held back by a transaction that stays open for more than 60 seconds",
        over: "the transaction ends", "dwarfeedheldback";
    LoopRestarting = "loop_restarting", Page, "does not keep running",
        over: "it has run for 5 minutes", "dwarloopnotrunning";
    ClockDiffers = "clock_differs", Page, "differs from the clock of the database by 20 seconds or more",
        over: "the clocks agree to 20 seconds", "dwarclockdiffers";
    ClockSetForward = "clock_set_forward", Ticket, "was set forward by more than 30 seconds",
        over: "the clock is set back, or the service restarts", "dwarclocksetforward";
    DatabaseAway = "database_away", Page, "does not answer",
        over: "it answers", "dwardatabaseaway";
    DatabaseReadOnly = "database_read_only", Page, "accepts no writes",
        over: "it accepts a write", "dwardatabaseaway";
    DiskFull = "disk_full", Page, "has no room to write",
        over: "there is room again", "dwardiskfull";
    DiskFills = "disk_fills", Ticket, "has less than 2 GiB of free disk left",
        over: "2 GiB are free", "dwardiskfills";
    SigningKeyOld = "signing_key_old", Ticket, "is to be rotated: it has signed for more than 180 days",
        over: "another key signs", "dwarsigningkeyold";
}
