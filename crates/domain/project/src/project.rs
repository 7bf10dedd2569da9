use dwar_kernel::{
    ApiKeyId, FixedClaims, KeyMode, Paise, PriceList, ProjectId, ProjectMode, Timestamp,
};
use std::sync::Arc;

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
    /// Whether its live tokens name an issuer of its own, so that verifiers who look at nothing else take
    /// them for no other project's.
    pub own_issuer: bool,
    /// What these tokens say beside the claims of every token.
    pub token_claims: FixedClaims,
    /// Prices that differ from the configured ones.
    pub prices: Prices,
    /// How its messages read.
    pub messages: Messages,
    /// Who carries them.
    pub routing: Routing,
    /// A balance that falls below this is told as an event; `None` tells nothing.
    pub low_balance: Option<Paise>,
    /// When it was made.
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
    /// With the live key.
    pub live: bool,
    /// With the test key.
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
    /// Of one delivered over WhatsApp.
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
    /// Its id, made by the caller.
    pub id: ProjectId,
    /// What a person calls it.
    pub name: String,
    /// When it is made.
    pub created_at: Timestamp,
}

/// What to change, setting by setting; `None` leaves one as it is, and `Some(None)` goes back to the
/// installation's own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectChange {
    /// A new name.
    pub name: Option<String>,
    /// Whether `GET /v1/identity…` answers.
    pub identity_lookup: Option<bool>,
    /// Whether `DELETE /v1/identity/…` deletes.
    pub identity_delete: Option<bool>,
    /// Whether `POST /v1/otp/relay` sends with the live key.
    pub relay_live: Option<bool>,
    /// Whether it does with the test key.
    pub relay_test: Option<bool>,
    /// Whether its live tokens name an issuer of its own.
    pub own_issuer: Option<bool>,
    /// What these say beside the claims of every token.
    pub token_claims: Option<FixedClaims>,
    /// What a code delivered over WhatsApp costs.
    pub whatsapp_price: Option<Option<Paise>>,
    /// What a code delivered over SMS costs.
    pub sms_price: Option<Option<Paise>>,
    /// Who sends, as recipients know them.
    pub brand: Option<Option<String>>,
    /// The language of its texts, a BCP 47 tag.
    pub language: Option<Option<String>>,
    /// The text of an SMS with its placeholders.
    pub sms_text: Option<Option<String>>,
    /// The id under which that text is registered (DLT content template).
    pub sms_template_id: Option<Option<String>>,
    /// The site that may read the code out of the SMS (WebOTP).
    pub webotp_domain: Option<Option<String>>,
    /// The Android app that may read it (SMS Retriever).
    pub app_hash: Option<Option<String>>,
    /// Other domains and app hashes that a send may name.
    pub last_lines: Option<Vec<String>>,
    /// Providers over WhatsApp in order.
    pub whatsapp_providers: Option<Option<Vec<String>>>,
    /// Providers over SMS in order.
    pub sms_providers: Option<Option<Vec<String>>>,
    /// Seconds without a receipt after which the next channel is tried.
    pub fallback_seconds: Option<Option<u32>>,
    /// `Some(None)` tells nothing any more.
    pub low_balance: Option<Option<Paise>>,
}

impl ProjectChange {
    /// The change as it is kept, whoever typed it: no blanks around a text, lines that end in a line feed alone,
    /// and a text of nothing else is none.
    fn tidied(self) -> Self {
        fn tidy(text: String) -> String {
            match text.contains("\r\n") {
                true => text.trim().replace("\r\n", "\n"),
                false => text.trim().to_owned(),
            }
        }
        let own = |given: Option<Option<String>>| {
            given.map(|own| own.map(tidy).filter(|text| !text.is_empty()))
        };
        let all = |texts: Vec<String>| texts.into_iter().map(tidy).collect::<Vec<_>>();
        Self {
            name: self.name.map(tidy),
            brand: own(self.brand),
            language: own(self.language),
            sms_text: own(self.sms_text),
            sms_template_id: own(self.sms_template_id),
            webotp_domain: own(self.webotp_domain),
            app_hash: own(self.app_hash),
            last_lines: self.last_lines.map(all),
            whatsapp_providers: self.whatsapp_providers.map(|own| own.map(all)),
            sms_providers: self.sms_providers.map(|own| own.map(all)),
            ..self
        }
    }

    /// Whether it changes what codes cost, or which balance is low.
    pub const fn is_about_money(&self) -> bool {
        self.whatsapp_price.is_some() || self.sms_price.is_some() || self.low_balance.is_some()
    }

    /// Whether it changes anything else, or nothing at all.
    pub fn is_about_settings(&self) -> bool {
        let money = Self {
            whatsapp_price: self.whatsapp_price,
            sms_price: self.sms_price,
            low_balance: self.low_balance,
            ..Self::default()
        };
        *self != money || *self == Self::default()
    }
}

/// A setting that a project cannot have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct InvalidSetting {
    /// Its name in the admin API.
    pub field: &'static str,
    /// Why, as a sentence.
    pub reason: String,
}

/// Says which of a project's settings cannot work. Stores ask about the project as it would be, while
/// they hold its lock.
pub type ProjectRules = Arc<dyn Fn(&Project) -> Vec<InvalidSetting> + Send + Sync>;

/// The answer to a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Changed {
    /// The project as it is now.
    Done(Box<Project>),
    /// Nothing changed.
    Refused(InvalidSetting),
    /// There is no such project.
    NoSuchProject,
}

impl Changed {
    /// The project as it is now, if it was changed.
    pub fn done(self) -> Option<Project> {
        match self {
            Self::Done(project) => Some(*project),
            Self::Refused(_) | Self::NoSuchProject => None,
        }
    }
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
            own_issuer: false,
            token_claims: FixedClaims::default(),
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

    /// The project with what is `Some` in `change`, nothing else touched.
    #[must_use]
    pub fn with(mut self, change: ProjectChange) -> Self {
        let change = change.tidied();
        fn set<T>(setting: &mut T, given: Option<T>) {
            if let Some(own) = given {
                *setting = own;
            }
        }
        set(&mut self.name, change.name);
        set(&mut self.identity_lookup, change.identity_lookup);
        set(&mut self.identity_delete, change.identity_delete);
        set(&mut self.relay.live, change.relay_live);
        set(&mut self.relay.test, change.relay_test);
        set(&mut self.own_issuer, change.own_issuer);
        set(&mut self.token_claims, change.token_claims);
        set(&mut self.prices.whatsapp, change.whatsapp_price);
        set(&mut self.prices.sms, change.sms_price);
        set(&mut self.messages.brand, change.brand);
        set(&mut self.messages.language, change.language);
        set(&mut self.messages.text, change.sms_text);
        set(&mut self.messages.template_id, change.sms_template_id);
        set(&mut self.messages.domain, change.webotp_domain);
        set(&mut self.messages.app_hash, change.app_hash);
        set(&mut self.messages.last_lines, change.last_lines);
        set(&mut self.routing.whatsapp, change.whatsapp_providers);
        set(&mut self.routing.sms, change.sms_providers);
        set(&mut self.routing.fallback_seconds, change.fallback_seconds);
        set(&mut self.low_balance, change.low_balance);
        self
    }

    /// The project with a change that `rules` let pass. What they object to already, and the change leaves as
    /// it is, keeps nobody from changing the rest.
    ///
    /// # Errors
    /// The first setting that the project cannot have.
    pub fn changed(
        self,
        change: ProjectChange,
        rules: &ProjectRules,
    ) -> Result<Self, InvalidSetting> {
        let changed = self.clone().with(change);
        let faults = rules(&changed);
        let known = if faults.is_empty() { Vec::new() } else { rules(&self) };
        let is_new = |it: &InvalidSetting| !known.contains(it) || !self.agrees(&changed, it.field);
        faults.into_iter().find(is_new).map_or(Ok(changed), Err)
    }

    /// Whether both have the same setting of this name.
    fn agrees(&self, other: &Self, field: &str) -> bool {
        let (own, its) = (&self.messages, &other.messages);
        match field {
            "name" => self.name == other.name,
            "own_issuer" => self.own_issuer == other.own_issuer,
            "token_claims" => self.token_claims == other.token_claims,
            "whatsapp_price_paise" => self.prices.whatsapp == other.prices.whatsapp,
            "sms_price_paise" => self.prices.sms == other.prices.sms,
            "brand" => own.brand == its.brand,
            "language" => own.language == its.language,
            "sms_text" => own.text == its.text,
            "sms_template_id" => own.template_id == its.template_id,
            "webotp_domain" => own.domain == its.domain,
            "app_hash" => own.app_hash == its.app_hash,
            "last_lines" => own.last_lines == its.last_lines,
            "whatsapp_providers" => self.routing.whatsapp == other.routing.whatsapp,
            "sms_providers" => self.routing.sms == other.routing.sms,
            "fallback_seconds" => self.routing.fallback_seconds == other.routing.fallback_seconds,
            "low_balance_paise" => self.low_balance == other.low_balance,
            _ => false,
        }
    }

    /// The claims of its tokens in this mode beside those of every token; `None` where they are the
    /// installation's.
    pub fn own_claims(&self, mode: KeyMode) -> Option<&FixedClaims> {
        (self.own_issuer && mode == KeyMode::Live).then_some(&self.token_claims)
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
    /// Which world the key opens.
    pub mode: KeyMode,
    /// Which key it was.
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
    fn a_text_is_kept_alike_whoever_typed_it() {
        let own = |text: &str| Some(Some(text.to_owned()));
        let change = ProjectChange {
            name: Some("\u{a0}Chai & Co\t".to_owned()),
            brand: own(" \u{3000}\r\n"),
            sms_text: own("\r\n{code}\r\nis it\n"),
            app_hash: own("FA+9qCX9VSu "),
            last_lines: Some(vec![" staging.example.com".to_owned()]),
            sms_providers: Some(Some(vec!["msg91 ".to_owned()])),
            ..ProjectChange::default()
        };
        let changed = project().with(change);
        assert_eq!(changed.name, "Chai & Co");
        assert_eq!(changed.messages.brand, None);
        assert_eq!(changed.messages.text.as_deref(), Some("{code}\nis it"));
        assert_eq!(changed.messages.app_hash.as_deref(), Some("FA+9qCX9VSu"));
        assert_eq!(changed.messages.last_lines, ["staging.example.com"]);
        assert_eq!(changed.routing.sms, Some(vec!["msg91".to_owned()]));
    }

    #[test]
    fn what_was_wrong_before_keeps_nobody_from_changing_the_rest() {
        let rules: ProjectRules = Arc::new(|project| {
            let refused = |field| InvalidSetting { field, reason: "no lower case".to_owned() };
            let lower = |text: &Option<String>| text.as_ref().is_some_and(|it| it.contains('a'));
            let (brand, hash) = (&project.messages.brand, &project.messages.app_hash);
            let faults = [(lower(brand), "brand"), (lower(hash), "app_hash")];
            faults.into_iter().filter(|(is, _)| *is).map(|(_, field)| refused(field)).collect()
        });
        let mut unfit = project();
        unfit.messages.brand = Some("chai".to_owned());
        let change = |brand: &str, hash: Option<&str>| ProjectChange {
            brand: Some(Some(brand.to_owned())),
            app_hash: hash.map(|hash| Some(hash.to_owned())),
            ..ProjectChange::default()
        };
        let field = |change| unfit.clone().changed(change, &rules).map_err(|cause| cause.field);
        let named = ProjectChange { name: Some("Tea".to_owned()), ..ProjectChange::default() };
        assert_eq!(field(named).unwrap().name, "Tea");
        assert!(field(change("chai", None)).is_ok(), "as it is");
        assert_eq!(field(change("cha", None)), Err("brand"), "no better");
        assert_eq!(field(change("chai", Some("a"))), Err("app_hash"), "a new one");
        assert!(field(change("CHAI", Some("A"))).is_ok());
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
