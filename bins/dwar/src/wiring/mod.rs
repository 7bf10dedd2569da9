//! Builds the program: chooses the adapter behind each port.

mod application;
mod background;
pub mod causes;
pub mod checks;
mod core;
mod dashboard;
mod error;
mod finding;
mod gateways;
mod keys;
mod listeners;
mod local;
mod metrics;
mod operations;
mod policies;
mod readiness;
mod stores;

pub use application::{Application, StopHandle, keep_preparing, prepare};
pub use core::{Core, data_folder, key_file, open_files};
pub use error::WiringError;
pub use gateways::{
    available as available_providers, http_client, reporting as reporting_providers,
};
pub use keys::check_file as check_keys_of_file;
pub use listeners::Listeners;
pub use local::Machine;
pub use stores::{Access, Location, MIB};
