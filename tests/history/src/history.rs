//! The calls, their answers and times: the only input of the checks.

use serde::Serialize;
use std::collections::BTreeMap;

/// Microseconds since the run began, by the clock of this process.
pub type Micros = u64;

/// A second, in [`Micros`].
pub const SECOND: Micros = 1_000_000;

/// Everything that happened in a run.
#[derive(Clone, Debug, Default)]
pub struct History {
    pub settings: Settings,
    /// Ordered by start.
    pub ops: Vec<Op>,
    /// Messages that reached the provider, ordered by arrival.
    pub messages: Vec<Message>,
    pub faults: Vec<Fault>,
    /// Each project's wallet at the end.
    pub ledgers: Vec<Ledger>,
    /// The longest time that this process itself could not run, because slow machines are not at
    /// fault.
    pub stall: Micros,
}

/// The limits of the service in a run.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Settings {
    /// Sends per phone and window.
    pub sends: usize,
    pub send_window_ms: u64,
    /// The wrong guess that locks a code.
    pub max_wrong: usize,
    /// The wrong guess that stops a phone for longer than any run.
    pub stop_at: usize,
    /// The number of the project whose requests are counted; the others have no relevant limit.
    pub counted: usize,
    /// Validations of a key in any minute.
    pub validates: usize,
    /// Requests within the general limit in any minute.
    pub requests: usize,
    /// Whether these two are counted from each start of the only instance.
    pub is_count_of_one_start: bool,
    pub code_lifetime: Micros,
    pub access_lifetime: Micros,
    /// Time after its exchange in which a spent refresh token revokes nothing.
    pub leeway: Micros,
    /// How long an unfinished request keeps its `Idempotency-Key`.
    pub once_lease: Micros,
    /// Longest time of a 503.
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

/// One call: the caller, the request, and the answer.
#[derive(Clone, Debug, Serialize)]
pub struct Op {
    pub client: u64,
    /// The called instance; `None` for the command line.
    pub instance: Option<usize>,
    pub project: usize,
    /// The number of the project's API key in the call.
    pub key: usize,
    pub began: Micros,
    pub ended: Micros,
    pub action: Action,
    pub outcome: Outcome,
}

/// The request. Tokens are replaced by their digests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    Send {
        phone: String,
        once: Option<String>,
    },
    Verify {
        phone: String,
        code: String,
        otp: Option<String>,
    },
    Validate {
        access: String,
    },
    Refresh {
        refresh: String,
        once: Option<String>,
    },
    Logout {
        access: String,
    },
    Delete {
        identity: String,
    },
    LookUp {
        identity: String,
    },
    Status {
        otp: String,
    },
    Turn {
        switch: Switch,
        on: bool,
    },
    NewKey,
    TopUp {
        reference: String,
        paise: i64,
    },
    /// The limit on the spend of a day.
    Limit {
        paise: i64,
    },
}

/// A switch of a project's owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Switch {
    LookUp,
    Delete,
}

/// The answer.
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
    /// Done, without further information.
    Done,
    /// A new API key, by number.
    Key(usize),
    /// Refused without any effect except the one that the refusal describes.
    Refused {
        status: u16,
        code: String,
    },
    /// A 5xx, or a failed command: it may have taken effect, now or later.
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
    TimedOut,
}

/// The tokens of a session, as verify and refresh return them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Pair {
    pub session: String,
    pub identity: String,
    pub access: String,
    pub refresh: String,
}

/// A message that the provider received.
#[derive(Clone, Debug, Serialize)]
pub struct Message {
    pub at: Micros,
    pub phone: String,
    pub code: String,
    pub otp: String,
}

/// A fault of the service.
#[derive(Clone, Debug, Serialize)]
pub struct Fault {
    pub kind: &'static str,
    /// The instance; `None` for all of them.
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
    /// The result of `dwar wallet prove --everything`.
    pub sound: bool,
    /// The result of `dwar wallet verify`, over all wallets.
    pub difference: i64,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct Entry {
    pub kind: String,
    pub paise: i64,
    /// Change of the money on hold.
    pub held: i64,
    /// RFC 3339 in UTC.
    pub at: String,
    pub balance_after: i64,
    pub reference: String,
}

impl Op {
    /// Tells whether it is unknown if the call took effect.
    pub const fn is_unknown(&self) -> bool {
        matches!(self.outcome, Outcome::Failed { .. } | Outcome::Lost { .. })
    }

    /// Tells whether the call may have taken effect.
    pub const fn may_have_worked(&self) -> bool {
        !matches!(self.outcome, Outcome::Refused { .. })
    }

    pub fn refusal(&self) -> Option<&str> {
        match &self.outcome {
            Outcome::Refused { code, .. } => Some(code),
            _ => None,
        }
    }

    /// The pair that it returned.
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
            Action::Limit { .. } => "spend limit",
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

    /// The number of operations by kind and outcome.
    pub fn tally(&self) -> BTreeMap<&'static str, BTreeMap<String, usize>> {
        let mut tally: BTreeMap<&str, BTreeMap<String, usize>> = BTreeMap::new();
        for op in &self.ops {
            let (action, outcome) = op.words();
            *tally.entry(action).or_default().entry(outcome).or_default() += 1;
        }
        tally
    }
}
