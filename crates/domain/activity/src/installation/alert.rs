use async_trait::async_trait;
use dwar_kernel::{AlertKind, InstanceId, ProjectId, StoreError, Timestamp};

/// Something that is wrong and that only one instance can see, such as a loop of its own that ends again and again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    pub kind: AlertKind,
    /// What it is about, such as the name of a provider or a loop; empty for the instance itself.
    pub about: String,
    /// The cause, in a sentence. Nothing secret.
    pub detail: String,
    /// `None` if the instance cannot tell.
    pub since: Option<Timestamp>,
}

/// A trouble, and the machine of the instance that reported it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reported {
    pub host: String,
    pub trouble: Trouble,
}

/// An alert that is on record until it is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenAlert {
    pub kind: AlertKind,
    /// What tells it from others of its kind: the name of a provider, the id of an endpoint or of a project.
    pub about: String,
    /// The project that it concerns; `None` for the installation.
    pub project: Option<ProjectId>,
    pub since: Timestamp,
}

/// What became of the alerts on record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlertChanges {
    pub opened: Vec<OpenAlert>,
    pub over: Vec<OpenAlert>,
}

impl AlertChanges {
    /// What leads from the alerts on record to these; one that is in both stays as it is on record.
    pub fn between(known: &[OpenAlert], open: Vec<OpenAlert>) -> Self {
        let same = |one: &OpenAlert, other: &OpenAlert| {
            (one.kind, &one.about) == (other.kind, &other.about)
        };
        let lacks = |all: &[OpenAlert], one: &OpenAlert| !all.iter().any(|other| same(one, other));
        let over = known.iter().filter(|one| lacks(&open, one)).cloned().collect();
        let mut opened: Vec<OpenAlert> = Vec::new();
        for one in open {
            if lacks(known, &one) && lacks(&opened, &one) {
                opened.push(one);
            }
        }
        Self { opened, over }
    }
}

/// Keeps what is wrong on record: since when, and what single instances reported.
#[async_trait]
pub trait AlertStore: Send + Sync {
    /// Replaces what an instance has reported; of one that is not on record nothing is kept. It is dropped with
    /// the instance.
    async fn report(&self, instance: InstanceId, troubles: Vec<Trouble>) -> Result<(), StoreError>;

    /// What instances reported that were seen at `since` or later, by host, kind and what it is about.
    async fn reported(&self, since: Timestamp) -> Result<Vec<Reported>, StoreError>;

    /// The alerts on record, by kind and what they are about.
    async fn open_alerts(&self) -> Result<Vec<OpenAlert>, StoreError>;

    /// Makes `open` the alerts on record, by [`AlertChanges::between`]; of callers at the same time each change is
    /// told to one.
    async fn settle_alerts(&self, open: Vec<OpenAlert>) -> Result<AlertChanges, StoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alert(about: &str, seconds: i64) -> OpenAlert {
        OpenAlert {
            kind: AlertKind::ProviderAuth,
            about: about.to_owned(),
            project: None,
            since: Timestamp::from_timestamp(seconds, 0).unwrap(),
        }
    }

    #[test]
    fn what_goes_on_stays_as_it_is_and_the_rest_opens_or_is_over() {
        let known = [alert("meta", 1), alert("msg91", 2)];
        let changes = AlertChanges::between(
            &known,
            vec![alert("msg91", 9), alert("twilio", 9), alert("twilio", 9)],
        );
        assert_eq!(changes.over, [alert("meta", 1)]);
        assert_eq!(changes.opened, [alert("twilio", 9)]);
        assert_eq!(AlertChanges::between(&known, known.to_vec()), AlertChanges::default());
    }
}
