//! A request for a command: by whom, through which interface, with what content.

use crate::doors::stage::{NOBODY, Stage, Subject};
use reqwest::Method;
use serde_json::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Case {
    /// A valid request, in the caller's project.
    Right,
    /// About an unknown or invalid subject.
    Wrong,
    /// With a value beyond its bounds.
    Beyond,
    Elsewhere,
}

impl Case {
    pub const ALL: [Self; 4] = [Self::Right, Self::Wrong, Self::Beyond, Self::Elsewhere];
}

pub enum Call {
    /// A request to the admin API, below `/admin/v1`.
    Api(Method, String, Value),
    Page(String),
    Form(String, Vec<(String, String)>),
    Json(String, Value),
    /// Arguments of `dwar`.
    Cli(Vec<String>),
}

/// The request for a command in a case, or `None` if the interface cannot express it.
pub type DoorCall = fn(&Given<'_>) -> Option<Call>;

/// The input of a way to make a request.
pub struct Given<'a> {
    pub case: Case,
    pub stage: &'a Stage,
    pub subject: &'a Subject,
    pub word: String,
    /// A phone number that no other call has.
    pub phone: String,
}

impl Given<'_> {
    /// The project of the request: the other one in the case `Elsewhere`.
    pub fn project(&self) -> &str {
        match self.case {
            Case::Elsewhere => &self.stage.theirs.id,
            _ => &self.stage.ours.id,
        }
    }

    /// Like [`Given::project`], but an unknown one in the case `Wrong`. It has no bounds.
    pub fn any_project(&self) -> Option<&str> {
        match self.case {
            Case::Wrong => Some(NOBODY),
            Case::Beyond => None,
            Case::Right | Case::Elsewhere => Some(self.project()),
        }
    }

    /// The id of the subject; an unknown one in the case `Wrong`. It has no bounds.
    pub fn id(&self) -> Option<&str> {
        self.of(&self.subject.id, NOBODY)
    }

    pub fn of<T>(&self, right: T, wrong: T) -> Option<T> {
        match self.case {
            Case::Right | Case::Elsewhere => Some(right),
            Case::Wrong => Some(wrong),
            Case::Beyond => None,
        }
    }

    pub fn pick<T>(&self, right: T, wrong: T, beyond: T) -> T {
        match self.case {
            Case::Right | Case::Elsewhere => right,
            Case::Wrong => wrong,
            Case::Beyond => beyond,
        }
    }

    /// A number of two digits that differs from the previous call's.
    pub fn number(&self) -> i64 {
        let letter = self.word.bytes().next().unwrap_or_default();
        i64::from(letter - b'a') + 10
    }

    /// Like [`Given::id`], for a request that also has bounds.
    pub fn id_or_bound(&self) -> &str {
        self.pick(&self.subject.id, NOBODY, &self.subject.id)
    }

    /// Only the valid case can be expressed; also elsewhere.
    pub fn right(&self) -> Option<()> {
        matches!(self.case, Case::Right | Case::Elsewhere).then_some(())
    }

    /// Only the valid case can be expressed, and it concerns no project.
    pub fn only_right(&self) -> Option<()> {
        (self.case == Case::Right).then_some(())
    }

    /// The request concerns no project, so it cannot name another one.
    pub fn anywhere(&self) -> Option<()> {
        (self.case != Case::Elsewhere).then_some(())
    }
}

/// `GET`, of the admin API.
pub fn get(path: impl Into<String>) -> Option<Call> {
    Some(Call::Api(Method::GET, path.into(), Value::Null))
}

pub fn api(method: Method, path: impl Into<String>, body: Value) -> Option<Call> {
    Some(Call::Api(method, path.into(), body))
}

pub fn post(path: impl Into<String>, body: Value) -> Option<Call> {
    api(Method::POST, path, body)
}

pub fn page(path: impl Into<String>) -> Option<Call> {
    Some(Call::Page(path.into()))
}

pub fn form(path: impl Into<String>, fields: &[(&str, &str)]) -> Option<Call> {
    let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let fields = fields.iter().map(own).collect();
    Some(Call::Form(path.into(), fields))
}

/// The words of a command, with `--name value` for each option.
pub fn cli(words: &str, options: &[(&str, &str)]) -> Option<Call> {
    let words = words.split(' ').map(str::to_owned);
    // As one argument, because values may begin with a hyphen.
    let options = options.iter().map(|(name, value)| format!("--{name}={value}"));
    Some(Call::Cli(words.chain(options).collect()))
}
