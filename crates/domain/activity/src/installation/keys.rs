use dwar_kernel::{Digest, StoreError};

/// The keys that a process was given, by the digests that a database recognises them by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenKeys {
    /// The master key, which seals what is written from now on.
    pub master: Digest,
    /// The other master keys, which open what was or will be sealed under them.
    pub older: Vec<Digest>,
    pub lookup: Digest,
}

/// The keys that a database was used with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownKeys {
    /// Each master key that has sealed something, the one in use last; none if nobody has noted it.
    pub masters: Vec<Digest>,
    /// The key of all look-up digests, if it was noted.
    pub lookup: Option<Digest>,
}

/// Keys are not those of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForeignKey {
    /// The master key in use is not among those given.
    Master,
    Lookup,
}

/// What a database is to note of the keys that are used from now on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NewKeys {
    /// The master key in use from now on.
    pub master: Option<Digest>,
    /// The lookup key, once and for all.
    pub lookup: Option<Digest>,
}

/// What a database holds by which it can be told whether it belongs to some keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    pub is_empty: bool,
    pub known: KnownKeys,
}

/// Holds the keys of a process against those of a database.
pub trait KeyHolder: Send + Sync {
    /// Decides before anything is changed, while nobody else can change it: gives what the database is
    /// to note of these keys. For an empty database the keys are safely kept once this returns.
    ///
    /// # Errors
    /// [`StoreError::Foreign`], in a sentence for the operator, if the database belongs to other keys.
    fn claim(&self, found: &Found) -> Result<NewKeys, StoreError>;
}

impl GivenKeys {
    /// What a database that was used with `known` keys lacks of these.
    ///
    /// # Errors
    /// [`ForeignKey`] if the master key in use is not among these, or the lookup key is another one.
    pub fn meet(&self, known: &KnownKeys) -> Result<NewKeys, ForeignKey> {
        let used = known.masters.last();
        if used.is_some_and(|used| *used != self.master && !self.older.contains(used)) {
            return Err(ForeignKey::Master);
        }
        if known.lookup.is_some_and(|used| used != self.lookup) {
            return Err(ForeignKey::Lookup);
        }
        Ok(NewKeys {
            master: (used != Some(&self.master)).then_some(self.master),
            lookup: known.lookup.is_none().then_some(self.lookup),
        })
    }

    /// What a database is to note of these keys. One that holds something has noted its own.
    ///
    /// # Errors
    /// [`ForeignKey`] as [`GivenKeys::meet`], or if it holds something and has noted no key.
    pub fn claim(&self, found: &Found) -> Result<NewKeys, ForeignKey> {
        if !found.is_empty && found.known.masters.is_empty() {
            return Err(ForeignKey::Master);
        }
        self.meet(&found.known)
    }

    /// The given master keys that have not sealed anything in a database yet.
    pub fn unused(&self, known: &KnownKeys) -> usize {
        let given = std::iter::once(&self.master).chain(&self.older);
        given.filter(|key| !known.masters.contains(key)).count()
    }

    /// How many master keys have sealed something in a database and are not given.
    pub fn missing(&self, known: &KnownKeys) -> usize {
        let given = |key: &&Digest| **key == self.master || self.older.contains(key);
        known.masters.iter().filter(|key| !given(key)).count()
    }
}

#[cfg(test)]
#[path = "keys_tests.rs"]
mod tests;
