//! What was asked, what was answered, and when: all that the checks know.

use serde::Serialize;
use std::collections::BTreeMap;

/// Microseconds since the run began, by the one clock of this process.
pub type Micros = u64;

/// A second, in [`Micros`].
pub const SECOND: Micros = 1_000_000;

/// Everything that happened in a run.
#[derive(Clone, Debug, Default)]
pub struct History {
    pub settings: Settings,
    /// By when they began.
    pub ops: Vec<Op>,
    /// What reached the provider, by when it did.
    pub messages: Vec<Message>,
    pub faults: Vec<Fault>,
    /// What each project's wallet said at the end.
    pub ledgers: Vec<Ledger>,
    /// The longest that this process itself was kept from running: slow machines are not at fault.
    pub stall: Micros,
}

/// What the service was told to hold itself to.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Settings {
    /// How many sends per phone and window.
    pub sends: usize,
    pub send_window_ms: u64,
    /// The wrong guess that locks a code.
    pub max_wrong: usize,
    /// The wrong guess that stops a phone for longer than any run.
    pub stop_at: usize,
    /// The project whose requests are counted, by number; the others have no limit that matters.
    pub counted: usize,
    /// How many validations of a key in any minute.
    pub validates: usize,
    /// And how many of the requests that share the general limit.
    pub requests: usize,
    /// Whether these two are counted from the start of the one instance on.
    pub is_count_of_one_start: bool,
    pub code_lifetime: Micros,
    pub access_lifetime: Micros,
    /// Up to this long after its exchange a spent refresh token revokes nothing.
    pub leeway: Micros,
    /// How long an unfinished request keeps its `Idempotency-Key`.
    pub once_lease: Micros,
    /// A 503 takes no longer than this.
    pub soon: Micros,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            sends: 3,
            send_window_ms: 20_000,
            max_wrong: 5,
            stop_at: 12,
            counted: usize::MAX,
            validates: 300,
            requests: 100,
            is_count_of_one_start: false,
            code_lifetime: 600 * SECOND,
            access_lifetime: 900 * SECOND,
            leeway: 2 * SECOND,
            once_lease: 60 * SECOND,
            soon: 10 * SECOND,
        }
    }
}

/// One call: who asked what of whom, and what came back.
#[derive(Clone, Debug, Serialize)]
pub struct Op {
    pub client: u64,
    /// Which instance was asked; `None` for the command line.
    pub instance: Option<usize>,
    pub project: usize,
    /// Which of the project's API keys it was asked with, by number.
    pub key: usize,
    pub began: Micros,
    pub ended: Micros,
    pub action: Action,
    pub outcome: Outcome,
}

/// What was asked. Tokens stand for themselves by a digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    Send { phone: String, once: Option<String> },
    Verify { phone: String, code: String, otp: Option<String> },
    Validate { access: String },
    Refresh { refresh: String, once: Option<String> },
    Logout { access: String },
    Delete { identity: String },
    LookUp { identity: String },
    Status { otp: String },
    Turn { switch: Switch, on: bool },
    NewKey,
    TopUp { reference: String, paise: i64 },
}

/// What a project's owner switches on and off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Switch {
    LookUp,
    Delete,
}

/// What came back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Sent {
        otp: String,
        replayed: bool,
    },
    Pair(Pair),
    Valid {
        session: String,
        identity: String,
    },
    /// It was done, and there is nothing to say about it.
    Done,
    /// A new API key, by number.
    Key(usize),
    /// It was refused and had no effect beyond what the refusal says.
    Refused {
        status: u16,
        code: String,
    },
    /// A 5xx, or a command that failed: it may have taken effect, now or later.
    Failed {
        status: u16,
        code: String,
    },
    /// No answer: it may have taken effect, now or later.
    Lost {
        why: Lost,
    },
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Lost {
    /// Nobody listened, or the connection broke.
    Cut,
    /// The client gave up.
    TimedOut,
}

/// The tokens of a session, as verify and refresh give them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Pair {
    pub session: String,
    pub identity: String,
    pub access: String,
    pub refresh: String,
}

/// A message as the provider got it.
#[derive(Clone, Debug, Serialize)]
pub struct Message {
    pub at: Micros,
    pub phone: String,
    pub code: String,
    pub otp: String,
}

/// What was done to the service.
#[derive(Clone, Debug, Serialize)]
pub struct Fault {
    pub kind: &'static str,
    /// Which instance; `None` for all of them.
    pub instance: Option<usize>,
    pub began: Micros,
    /// When everything ran again.
    pub ended: Micros,
}

/// A wallet and its movements, oldest first.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Ledger {
    pub project: usize,
    pub balance: i64,
    pub held: i64,
    pub entries: Vec<Entry>,
    /// What `dwar wallet prove --everything` said.
    pub sound: bool,
    /// What `dwar wallet verify` said, over all wallets.
    pub difference: i64,
}

/// A movement.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Entry {
    pub kind: String,
    pub paise: i64,
    pub balance_after: i64,
    pub reference: String,
}

impl Op {
    /// Whether nobody can say if it took effect.
    pub const fn is_unknown(&self) -> bool {
        matches!(self.outcome, Outcome::Failed { .. } | Outcome::Lost { .. })
    }

    /// Whether it may have taken effect.
    pub const fn may_have_worked(&self) -> bool {
        !matches!(self.outcome, Outcome::Refused { .. })
    }

    /// The code of a refusal.
    pub fn refusal(&self) -> Option<&str> {
        match &self.outcome {
            Outcome::Refused { code, .. } => Some(code),
            _ => None,
        }
    }

    /// The pair that it gave out.
    pub const fn pair(&self) -> Option<&Pair> {
        match &self.outcome {
            Outcome::Pair(pair) => Some(pair),
            _ => None,
        }
    }

    /// Its action and outcome in a word each, for the summary.
    pub fn words(&self) -> (&'static str, String) {
        let action = match self.action {
            Action::Send { once: None, .. } => "send",
            Action::Send { once: Some(_), .. } => "send with Idempotency-Key",
            Action::Verify { .. } => "verify",
            Action::Validate { .. } => "validate",
            Action::Refresh { .. } => "refresh",
            Action::Logout { .. } => "logout",
            Action::Delete { .. } => "delete",
            Action::LookUp { .. } => "look-up",
            Action::Status { .. } => "status",
            Action::Turn { .. } => "switch",
            Action::NewKey => "new API key",
            Action::TopUp { .. } => "top-up",
        };
        let outcome = match &self.outcome {
            Outcome::Refused { code, .. } => code.clone(),
            Outcome::Failed { status, .. } => status.to_string(),
            Outcome::Lost { why: Lost::Cut } => "cut".to_owned(),
            Outcome::Lost { why: Lost::TimedOut } => "timed out".to_owned(),
            Outcome::Sent { replayed: true, .. } => "replayed".to_owned(),
            _ => "ok".to_owned(),
        };
        (action, outcome)
    }
}

impl History {
    /// Every operation with its place in the history.
    pub fn numbered(&self) -> impl Iterator<Item = (usize, &Op)> {
        self.ops.iter().enumerate()
    }

    /// The history as JSON lines: settings, operations, messages, faults, ledgers.
    pub fn lines(&self) -> Vec<String> {
        let line = |kind: &str, value: Result<serde_json::Value, serde_json::Error>| {
            serde_json::json!({ kind: value.unwrap_or_default() }).to_string()
        };
        let mut lines = vec![line("settings", serde_json::to_value(self.settings))];
        lines.extend(self.ops.iter().map(|op| line("op", serde_json::to_value(op))));
        lines.extend(self.messages.iter().map(|one| line("message", serde_json::to_value(one))));
        lines.extend(self.faults.iter().map(|one| line("fault", serde_json::to_value(one))));
        lines.extend(self.ledgers.iter().map(|one| line("ledger", serde_json::to_value(one))));
        lines
    }

    /// How many operations of each kind had which outcome.
    pub fn tally(&self) -> BTreeMap<&'static str, BTreeMap<String, usize>> {
        let mut tally: BTreeMap<&str, BTreeMap<String, usize>> = BTreeMap::new();
        for op in &self.ops {
            let (action, outcome) = op.words();
            *tally.entry(action).or_default().entry(outcome).or_default() += 1;
        }
        tally
    }
}
