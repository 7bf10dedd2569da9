use dwar_kernel::{EndpointId, ProjectId, Sealed, Timestamp};

/// An address that a project's events go to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Its id.
    pub id: EndpointId,
    /// The tenant.
    pub project: ProjectId,
    /// Where events are posted.
    pub url: String,
    /// Whether events carry the whole phone number instead of a masked one.
    pub full_phone: bool,
    /// What signs them, unreadable at rest.
    pub secret: Sealed,
    /// The secret before, while both sign.
    pub previous: Option<PreviousSecret>,
    /// When it was made.
    pub created_at: Timestamp,
}

/// A secret that was replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreviousSecret {
    /// The secret, unreadable at rest.
    pub secret: Sealed,
    /// The first instant at which it no longer signs.
    pub until: Timestamp,
}

/// A secret to take the place of the present one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSecret {
    /// The secret, unreadable at rest.
    pub secret: Sealed,
    /// Until when the present one signs along.
    pub previous_until: Timestamp,
}

impl Endpoint {
    /// Puts a new secret in the place of the present one, which signs along for a while.
    pub fn replace_secret(&mut self, new: NewSecret) {
        let secret = std::mem::replace(&mut self.secret, new.secret);
        self.previous = Some(PreviousSecret { secret, until: new.previous_until });
    }

    /// The secrets that sign at `now`, the newest first.
    pub fn secrets(&self, now: Timestamp) -> Vec<&Sealed> {
        let previous = self.previous.as_ref().filter(|previous| now < previous.until);
        std::iter::once(&self.secret).chain(previous.map(|previous| &previous.secret)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_old_secret_signs_along_until_its_end() {
        let now = Timestamp::from_timestamp(1_800_000_000, 0).unwrap();
        let mut endpoint = Endpoint {
            id: "00000000-0000-7000-8000-000000000001".parse().unwrap(),
            project: "00000000-0000-7000-8000-000000000002".parse().unwrap(),
            url: "https://example.com".to_owned(),
            full_phone: false,
            secret: Sealed(vec![1]),
            previous: None,
            created_at: now,
        };
        let until = now + Duration::from_secs(60);
        endpoint.replace_secret(NewSecret { secret: Sealed(vec![2]), previous_until: until });
        let last = until - Duration::from_millis(1);
        assert_eq!(endpoint.secrets(last), [&Sealed(vec![2]), &Sealed(vec![1])]);
        assert_eq!(endpoint.secrets(until), [&Sealed(vec![2])]);
    }
}
