use dwar_kernel::{ApiKeyId, KeyMode, Paise, ProjectId, Timestamp};

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
    /// Prices that differ from the configured ones.
    pub prices: Prices,
    pub messages: Messages,
    pub routing: Routing,
    /// A balance that falls below this is told as an event; `None` tells nothing.
    pub low_balance: Option<Paise>,
    pub created_at: Timestamp,
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
    pub sms: Option<Paise>,
}

/// A project to be created, its switches off (docs/contract.md, Identities).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewProject {
    pub id: ProjectId,
    /// What a person calls it.
    pub name: String,
    pub created_at: Timestamp,
}

/// What `project set` changes; `None` leaves a setting as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectChange {
    pub name: Option<String>,
    pub identity_lookup: Option<bool>,
    pub identity_delete: Option<bool>,
    /// `Some(None)` goes back to the configured WhatsApp price.
    pub whatsapp_price: Option<Option<Paise>>,
    /// `Some(None)` goes back to the configured SMS price.
    pub sms_price: Option<Option<Paise>>,
    /// New texts, all of them.
    pub messages: Option<Messages>,
    /// New routing, all of it.
    pub routing: Option<Routing>,
    /// `Some(None)` tells nothing any more.
    pub low_balance: Option<Option<Paise>>,
}

impl NewProject {
    /// The project as it stands right after its creation.
    pub fn into_project(self) -> Project {
        Project {
            id: self.id,
            name: self.name,
            identity_lookup: false,
            identity_delete: false,
            prices: Prices::default(),
            messages: Messages::default(),
            routing: Routing::default(),
            low_balance: None,
            created_at: self.created_at,
        }
    }
}

impl Project {
    /// Applies what is `Some` in `change`.
    pub fn apply(&mut self, change: ProjectChange) {
        if let Some(name) = change.name {
            self.name = name;
        }
        self.identity_lookup = change.identity_lookup.unwrap_or(self.identity_lookup);
        self.identity_delete = change.identity_delete.unwrap_or(self.identity_delete);
        self.prices.whatsapp = change.whatsapp_price.unwrap_or(self.prices.whatsapp);
        self.prices.sms = change.sms_price.unwrap_or(self.prices.sms);
        self.low_balance = change.low_balance.unwrap_or(self.low_balance);
        if let Some(messages) = change.messages {
            self.messages = messages;
        }
        if let Some(routing) = change.routing {
            self.routing = routing;
        }
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
