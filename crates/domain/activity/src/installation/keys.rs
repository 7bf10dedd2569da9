use dwar_kernel::{Digest, StoreError};

/// Digests of the keys that a process was given, to compare with those of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenKeys {
    pub master: Digest,
    /// Other master keys, which open data that was or will be sealed under them.
    pub older: Vec<Digest>,
    pub lookup: Digest,
}

/// Digests of the keys that a database was used with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownKeys {
    /// Every master key that has sealed something, the present one last; empty if none was recorded.
    pub masters: Vec<Digest>,
    /// The key of all look-up digests, if one was recorded.
    pub lookup: Option<Digest>,
}

/// The given keys do not fit the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForeignKey {
    /// The master key of the database is not among the given ones.
    Master,
    Lookup,
}

/// Keys that a database has to record, because they are used from now on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NewKeys {
    pub master: Option<Digest>,
    /// The lookup key, if none is recorded yet; it never changes.
    pub lookup: Option<Digest>,
}

/// The facts by which a database is matched with keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredKeys {
    pub is_empty: bool,
    pub known: KnownKeys,
}

/// Compares the keys of a process with those of a database.
pub trait KeyHolder: Send + Sync {
    /// Decides which keys the database has to record, before anything is changed and while no other process
    /// can change it. For an empty database the keys are safely stored once this returns.
    ///
    /// # Errors
    /// [`StoreError::Foreign`], in a sentence for the operator, if the database belongs to other keys.
    fn claim(&self, found: &StoredKeys) -> Result<NewKeys, StoreError>;
}

impl GivenKeys {
    /// The keys that a database with the `known` keys has to add to its record.
    ///
    /// # Errors
    /// [`ForeignKey`] if the master key of the database is not among the given ones, or the lookup keys differ.
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

    /// The keys that a database has to record. A database that is not empty has recorded its own.
    ///
    /// # Errors
    /// [`ForeignKey`] like [`GivenKeys::meet`], or if the database is not empty and has recorded no key.
    pub fn claim(&self, found: &StoredKeys) -> Result<NewKeys, ForeignKey> {
        if !found.is_empty && found.known.masters.is_empty() {
            return Err(ForeignKey::Master);
        }
        self.meet(&found.known)
    }

    /// Number of given master keys that have sealed nothing in the database yet.
    pub fn unused(&self, known: &KnownKeys) -> usize {
        let given = std::iter::once(&self.master).chain(&self.older);
        given.filter(|key| !known.masters.contains(key)).count()
    }

    /// Number of master keys that have sealed something in the database and are not given.
    pub fn missing(&self, known: &KnownKeys) -> usize {
        let given = |key: &&Digest| **key == self.master || self.older.contains(key);
        known.masters.iter().filter(|key| !given(key)).count()
    }
}

#[cfg(test)]
#[path = "keys_tests.rs"]
mod tests;
