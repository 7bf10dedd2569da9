use dwar_kernel::{
    ApiKeyId, GuardMode, KeyMode, Paise, PriceList, ProjectId, ProjectMode, Timestamp, TokenProfile,
};

/// A customer's project with its settings, as every use case sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// Id of the tenant; also the `aud` and `client_id` of its access tokens.
    pub id: ProjectId,
    /// Display name; also the default brand in its messages.
    pub name: String,
    /// Whether `GET /v1/identity…` is allowed.
    pub identity_lookup: bool,
    /// Whether `DELETE /v1/identity/…` is allowed.
    pub identity_delete: bool,
    /// The modes in which `POST /v1/otp/relay` is allowed.
    pub relay: Relay,
    /// Whether events can be read by `GET /v1/events`.
    pub events_feed: EventsFeed,
    /// What happens to live sends during a flood.
    pub guard: GuardMode,
    /// Whether its live tokens name an issuer of its own, so that verifiers that check only the issuer do not
    /// accept them for another project.
    pub own_issuer: bool,
    /// Type and claims of these tokens; stored without effect while tokens name the issuer of the
    /// installation.
    pub token_profile: TokenProfile,
    pub prices: Prices,
    pub messages: Messages,
    pub routing: Routing,
    /// A balance that falls below this causes an event; `None` means no event.
    pub low_balance: Option<Paise>,
    /// The most that its live sends may spend on one day in Indian time; `None` for no limit.
    pub daily_spend: Option<Paise>,
    pub created_at: Timestamp,
    /// When its API keys were switched off; `None` while the project is in use.
    pub archived_at: Option<Timestamp>,
}

/// Texts of a project's messages; `None` means the default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Messages {
    /// Sender name that recipients see; the project's name by default.
    pub brand: Option<String>,
    /// BCP 47 tag of the language; English by default.
    pub language: Option<String>,
    /// SMS template with placeholders; the default template of the language if unset.
    pub text: Option<String>,
    /// Id under which the text is registered with a telecom operator (DLT content template).
    pub template_id: Option<String>,
    /// The site that may read the code out of the SMS (WebOTP).
    pub domain: Option<String>,
    /// The 11 characters that let an Android app read the code (SMS Retriever).
    pub app_hash: Option<String>,
    /// Other domains and app hashes that a send may name instead, such as those of a debug build.
    pub last_lines: Vec<String>,
}

/// The modes in which a project relays codes of other systems; none by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Relay {
    pub live: bool,
    pub test: bool,
}

impl Relay {
    /// Whether the project relays codes of other systems in `mode`.
    pub const fn is_on(self, mode: KeyMode) -> bool {
        match mode {
            KeyMode::Live => self.live,
            KeyMode::Test => self.test,
        }
    }
}

/// Whether events of a project are kept for `GET /v1/events`; off by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventsFeed {
    pub on: bool,
    /// How many times the feed was switched on. Events that happened while it was off are missing, so a
    /// cursor of an earlier run is refused.
    pub run: u32,
}

/// Providers that carry a project's messages; `None` means the configured ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Routing {
    /// WhatsApp providers in order; an empty list skips the channel.
    pub whatsapp: Option<Vec<String>>,
    /// SMS providers in order; an empty list skips the channel.
    pub sms: Option<Vec<String>>,
    /// Seconds without a delivery receipt after which the next channel is tried; 0 does not wait for
    /// receipts.
    pub fallback_seconds: Option<u32>,
}

/// Price of one delivered code per channel; `None` means the configured price.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prices {
    pub whatsapp: Option<Paise>,
    /// For one code over SMS, however many parts the message has.
    pub sms: Option<Paise>,
}

impl Prices {
    /// The project's prices; unset ones are taken from `configured`.
    pub fn over(self, configured: PriceList) -> PriceList {
        PriceList {
            whatsapp: self.whatsapp.unwrap_or(configured.whatsapp),
            sms: self.sms.unwrap_or(configured.sms),
        }
    }
}

/// A project to be created, with all switches off (docs/contract.md, Identities).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewProject {
    pub id: ProjectId,
    pub name: String,
    pub created_at: Timestamp,
}

impl NewProject {
    /// The project as it is right after creation.
    pub fn into_project(self) -> Project {
        Project {
            id: self.id,
            name: self.name,
            identity_lookup: false,
            identity_delete: false,
            relay: Relay::default(),
            events_feed: EventsFeed::default(),
            guard: GuardMode::default(),
            own_issuer: false,
            token_profile: TokenProfile::default(),
            prices: Prices::default(),
            messages: Messages::default(),
            routing: Routing::default(),
            low_balance: None,
            daily_spend: None,
            created_at: self.created_at,
            archived_at: None,
        }
    }
}

impl Messages {
    /// Most last lines that a send may choose from, besides the default.
    pub const MOST_LAST_LINES: usize = 16;

    /// The last line that a send names; `None` if the project does not allow it.
    pub fn last_line(&self, named: String) -> Option<LastLine> {
        let own = [&self.domain, &self.app_hash].into_iter().flatten();
        own.chain(&self.last_lines).any(|known| *known == named).then_some(LastLine(named))
    }
}

/// Domain or app hash for the last line of an SMS, chosen by a send among those that the project allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastLine(String);

impl LastLine {
    /// The rule for last lines in words, for error messages.
    pub const RULE: &str = "one of the domains and app hashes that the project allows";
}

impl From<LastLine> for String {
    fn from(LastLine(named): LastLine) -> Self {
        named
    }
}

impl Project {
    /// Longest wait for a delivery receipt, in seconds: the next channel must be tried while the code is
    /// valid.
    pub const LONGEST_FALLBACK: u32 = 300;

    /// Token profile of this mode; `None` if tokens name the issuer of the installation.
    pub fn own_profile(&self, mode: KeyMode) -> Option<&TokenProfile> {
        (self.own_issuer && mode == KeyMode::Live).then_some(&self.token_profile)
    }

    /// The project archived at this instant, or restored if `at` is `None`. A project that is archived
    /// already keeps the time of its archival.
    #[must_use]
    pub fn archived(mut self, at: Option<Timestamp>) -> Self {
        self.archived_at = at.map(|at| self.archived_at.unwrap_or(at));
        self
    }
}

/// The project and mode of a valid API key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    pub project: Project,
    pub mode: KeyMode,
    pub key: ApiKeyId,
}

impl Caller {
    /// Project and mode of the key, as ports take them.
    pub const fn project_mode(&self) -> ProjectMode {
        self.project.id.in_mode(self.mode)
    }

    /// Whether the guard counts sends with this key: test keys send nothing.
    pub fn is_guarded(&self) -> bool {
        self.mode == KeyMode::Live && self.project.guard != GuardMode::Off
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn project() -> Project {
        let id = "00000000-0000-7000-8000-000000000001".parse().unwrap();
        let created_at = Timestamp::UNIX_EPOCH;
        NewProject { id, name: "Chai".to_owned(), created_at }.into_project()
    }

    #[test]
    fn the_first_archival_counts_until_the_project_is_restored() {
        let at = |seconds| Timestamp::UNIX_EPOCH + Duration::from_secs(seconds);
        let new = project();
        assert_eq!(new.archived_at, None);
        assert_eq!(new.clone().archived(None), new);
        let archived = new.clone().archived(Some(at(1)));
        assert_eq!(archived, Project { archived_at: Some(at(1)), ..new.clone() });
        assert_eq!(archived.clone().archived(Some(at(2))), archived);
        let again = archived.archived(None).archived(Some(at(3)));
        assert_eq!(again.archived_at, Some(at(3)));
    }
}
