use async_trait::async_trait;
use dwar_kernel::{AlertKind, InstanceId, ProjectId, StoreError, Timestamp};

/// A problem that only one instance can see, such as a loop of its own that keeps restarting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstanceTrouble {
    pub kind: AlertKind,
    /// The thing concerned, such as the name of a provider or a loop; empty for the instance itself.
    pub about: String,
    /// The cause in one sentence, without secrets.
    pub detail: String,
    /// `None` if the instance cannot tell.
    pub since: Option<Timestamp>,
}

/// A problem, with the host name of the instance that reported it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedTrouble {
    pub host: String,
    pub trouble: InstanceTrouble,
}

/// An alert on record, until it is resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenAlert {
    pub kind: AlertKind,
    /// Tells alerts of one kind apart: name of a provider, id of an endpoint or of a project.
    pub about: String,
    pub project: Option<ProjectId>,
    pub since: Timestamp,
}

/// Which alerts were opened and which were resolved, between two sets of alerts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlertChanges {
    pub opened: Vec<OpenAlert>,
    pub over: Vec<OpenAlert>,
}

impl AlertChanges {
    /// The changes from the alerts on record to `open`. An alert in both keeps its record.
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

/// Keeps open alerts with the time since when, and the problems that single instances reported.
#[async_trait]
pub trait AlertStore: Send + Sync {
    /// Replaces all problems that an instance has reported; ignored if the instance is not on record. They
    /// are deleted together with the instance.
    async fn report(
        &self,
        instance: InstanceId,
        troubles: Vec<InstanceTrouble>,
    ) -> Result<(), StoreError>;

    /// Problems of instances that were seen at `since` or later, ordered by host, kind and subject.
    async fn reported(&self, since: Timestamp) -> Result<Vec<ReportedTrouble>, StoreError>;

    /// The open alerts, ordered by kind and subject.
    async fn open_alerts(&self) -> Result<Vec<OpenAlert>, StoreError>;

    /// Replaces the open alerts by `open` and returns the changes of [`AlertChanges::between`]. Exactly one of several
    /// concurrent callers gets each change.
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
