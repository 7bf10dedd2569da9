use dwar_kernel::{
    ApiKeyId, KeyMode, Paise, PriceList, ProjectId, ProjectMode, Timestamp, TokenProfile,
};

/// A customer's project and its settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// The tenant's id; also the `aud` and `client_id` of its access tokens.
    pub id: ProjectId,
    /// What a person calls it; also the brand in its messages.
    pub name: String,
    /// Whether `GET /v1/identity…` answers.
    pub identity_lookup: bool,
    /// Whether `DELETE /v1/identity/…` deletes.
    pub identity_delete: bool,
    /// In which modes `POST /v1/otp/relay` sends.
    pub relay: Relay,
    /// Whether its events can be read (`GET /v1/events`).
    pub events_feed: EventsFeed,
    /// Whether its live tokens name an issuer of its own, so that verifiers who look at nothing else take
    /// them for no other project's.
    pub own_issuer: bool,
    /// How these tokens look; kept, without effect, while they name the installation's issuer.
    pub token_profile: TokenProfile,
    pub prices: Prices,
    pub messages: Messages,
    pub routing: Routing,
    /// A balance that falls below this is told as an event; `None` tells nothing.
    pub low_balance: Option<Paise>,
    pub created_at: Timestamp,
    /// Since when its API keys are refused; `None` while it is in use.
    pub archived_at: Option<Timestamp>,
}

/// How a project's messages read; `None` means the default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Messages {
    /// Who sends them, as recipients know it; the project's name by default.
    pub brand: Option<String>,
    /// BCP 47 tag of their language; English by default.
    pub language: Option<String>,
    /// The text of an SMS with its placeholders; the language's own text by default.
    pub text: Option<String>,
    /// The id under which the operator registered that text (DLT content template).
    pub template_id: Option<String>,
    /// The site that may read the code out of the SMS (WebOTP).
    pub domain: Option<String>,
    /// The 11 characters that let an Android app read the code (SMS Retriever).
    pub app_hash: Option<String>,
    /// Other domains and app hashes that a send may name in place of these, such as those of a debug build.
    pub last_lines: Vec<String>,
}

/// In which modes a project has codes that somebody else made delivered; in none to begin with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Relay {
    pub live: bool,
    pub test: bool,
}

impl Relay {
    /// Whether it is switched on for this mode.
    pub const fn is_on(self, mode: KeyMode) -> bool {
        match mode {
            KeyMode::Live => self.live,
            KeyMode::Test => self.test,
        }
    }
}

/// Whether a project's events are kept for `GET /v1/events`; they are not to begin with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventsFeed {
    pub on: bool,
    /// How often it was switched on. What happened while it was off is missing, so no cursor leads across that.
    pub run: u32,
}

/// Which providers carry a project's messages; `None` means as configured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Routing {
    /// Providers over WhatsApp in order; an empty list skips the channel.
    pub whatsapp: Option<Vec<String>>,
    /// Providers over SMS in order; an empty list skips the channel.
    pub sms: Option<Vec<String>>,
    /// Seconds without a delivery receipt after which the next channel is tried; 0 waits for none.
    pub fallback_seconds: Option<u32>,
}

/// Prices of one delivered code per channel; `None` means the configured price.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prices {
    pub whatsapp: Option<Paise>,
    /// Of one delivered over SMS, however many parts it has.
    pub sms: Option<Paise>,
}

impl Prices {
    /// The project's prices, where `configured` counts for those it does not set.
    pub fn over(self, configured: PriceList) -> PriceList {
        PriceList {
            whatsapp: self.whatsapp.unwrap_or(configured.whatsapp),
            sms: self.sms.unwrap_or(configured.sms),
        }
    }
}

/// A project to be created, its switches off (docs/contract.md, Identities).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewProject {
    pub id: ProjectId,
    pub name: String,
    pub created_at: Timestamp,
}

impl NewProject {
    /// The project right after its creation.
    pub fn into_project(self) -> Project {
        Project {
            id: self.id,
            name: self.name,
            identity_lookup: false,
            identity_delete: false,
            relay: Relay::default(),
            events_feed: EventsFeed::default(),
            own_issuer: false,
            token_profile: TokenProfile::default(),
            prices: Prices::default(),
            messages: Messages::default(),
            routing: Routing::default(),
            low_balance: None,
            created_at: self.created_at,
            archived_at: None,
        }
    }
}

impl Messages {
    /// How many last lines a send may choose from, beside the default.
    pub const MOST_LAST_LINES: usize = 16;

    /// The last line that a send names; `None` if the project does not allow it.
    pub fn last_line(&self, named: String) -> Option<LastLine> {
        let own = [&self.domain, &self.app_hash].into_iter().flatten();
        own.chain(&self.last_lines).any(|known| *known == named).then_some(LastLine(named))
    }
}

/// What stands in the last line of an SMS in place of the project's own domain or app hash: one that the project
/// allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastLine(String);

impl LastLine {
    /// What a name has to be, for people.
    pub const RULE: &str = "one of the domains and app hashes that the project allows";
}

impl From<LastLine> for String {
    fn from(LastLine(named): LastLine) -> Self {
        named
    }
}

impl Project {
    /// The longest wait for a delivery receipt, in seconds: the next channel must be tried while the
    /// code is valid.
    pub const LONGEST_FALLBACK: u32 = 300;

    /// How its tokens in this mode look; `None` where they name the installation's issuer.
    pub fn own_profile(&self, mode: KeyMode) -> Option<&TokenProfile> {
        (self.own_issuer && mode == KeyMode::Live).then_some(&self.token_profile)
    }

    /// The project archived at this instant, or in use without one. One that is archived already keeps
    /// its own instant.
    #[must_use]
    pub fn archived(mut self, at: Option<Timestamp>) -> Self {
        self.archived_at = at.map(|at| self.archived_at.unwrap_or(at));
        self
    }
}

/// Whom a valid API key speaks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The project, with its settings as of this request.
    pub project: Project,
    pub mode: KeyMode,
    pub key: ApiKeyId,
}

impl Caller {
    /// The world that the key opens.
    pub const fn world(&self) -> ProjectMode {
        self.project.id.in_mode(self.mode)
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
