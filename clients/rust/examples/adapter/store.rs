use std::{fs, io, process};

use dwar_client::{BoxError, Store};

/// The store that the processes of a case share.
#[derive(Debug)]
pub struct File(pub String);

impl Store for File {
    async fn load(&self) -> Result<Option<String>, BoxError> {
        match fs::read_to_string(&self.0) {
            Ok(pair) => Ok(Some(pair)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    async fn save(&self, pair: &str) -> Result<(), BoxError> {
        let own = format!("{}.{}", self.0, process::id());
        fs::write(&own, pair)?;
        Ok(fs::rename(own, &self.0)?)
    }
}
