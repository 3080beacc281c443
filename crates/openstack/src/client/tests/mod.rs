//! Tests of the client: with a server that plays a cloud, with files, and with a real cloud.

mod choosing;
mod mock;
mod real;
mod requests;
mod sign_in;

use std::path::Path;

use blueprint::{Name, Value};

use super::CloudSettings;
use super::environment::CloudEnvironment;

/// An environment with these variables, without any folder.
fn variables(entries: &[(&str, &str)]) -> CloudEnvironment {
    let owned = entries
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    CloudEnvironment {
        variables: owned.collect(),
        ..CloudEnvironment::default()
    }
}

/// The settings of a configuration with these entries.
fn settings(entries: &[(&str, &str)]) -> CloudSettings {
    let entries = entries
        .iter()
        .map(|(name, value)| (Name::from(*name), Value::text(*value)));
    CloudSettings::read(&Value::map(entries), Path::new("/nowhere")).unwrap()
}
