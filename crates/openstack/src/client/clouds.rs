//! The clouds of a user: `clouds.yaml`.

use std::collections::HashMap;
use std::path::PathBuf;

use ::provider::{ErrorKind, ProviderError};
use serde::Deserialize;

use super::CloudSettings;

/// What a sign-in needs.
pub(super) struct Access {
    pub(super) auth_url: String,
    pub(super) username: String,
    pub(super) password: String,
    pub(super) project: String,
    pub(super) user_domain: String,
    pub(super) project_domain: String,
    pub(super) region: Option<String>,
}

#[derive(Deserialize)]
struct CloudsFile {
    clouds: HashMap<String, CloudEntry>,
}

#[derive(Deserialize)]
struct CloudEntry {
    auth: HashMap<String, String>,
    region_name: Option<String>,
}

/// The access of the settings.
///
/// # Errors
/// [`ErrorKind::Credentials`] if no cloud is named, or the named one is not described.
pub(super) fn access(settings: &CloudSettings) -> Result<Access, ProviderError> {
    let refuse = |why: String| ProviderError::new(ErrorKind::Credentials, why);
    let name = settings
        .cloud
        .clone()
        .or_else(|| std::env::var("OS_CLOUD").ok());
    let name = name.ok_or_else(|| refuse("no cloud is named: set `OS_CLOUD`".to_owned()))?;
    let file = std::env::var_os("OS_CLIENT_CONFIG_FILE").map(PathBuf::from);
    let file = file.unwrap_or_else(|| PathBuf::from("clouds.yaml"));
    let text = std::fs::read_to_string(&file);
    let text = text.map_err(|error| refuse(format!("{}: {error}", file.display())))?;
    let read: CloudsFile = serde_saphyr::from_str(&text)
        .map_err(|error| refuse(format!("{}: {error}", file.display())))?;
    let entry = read.clouds.get(&name);
    let entry = entry.ok_or_else(|| refuse(format!("{} has no cloud `{name}`", file.display())))?;
    let part = |key: &str| entry.auth.get(key).cloned().unwrap_or_default();
    Ok(Access {
        auth_url: part("auth_url"),
        username: part("username"),
        password: part("password"),
        project: part("project_name"),
        user_domain: part("user_domain_id"),
        project_domain: part("project_domain_id"),
        region: settings
            .region
            .clone()
            .or_else(|| entry.region_name.clone()),
    })
}
