//! Amazon S3 and compatible services.
//!
//! Credentials: `AWS_ACCESS_KEY_ID` with `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`; a web
//! identity; the profile `AWS_PROFILE` of the shared files; the credentials of the container or
//! machine. `AWS_ENDPOINT_URL_S3` and `AWS_ENDPOINT_URL` select another service. With
//! `AWS_SKIP_SIGNATURE=true` requests are not signed, which public buckets allow.
//!
//! Not here: single sign-on and credential programs.

use std::collections::BTreeMap;
use std::path::PathBuf;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use source::SourceError;

use super::connection::Connector;
use super::refusal;
use super::service::{OpenedBucket, Service, retries};
use crate::environment::Variables;
use crate::kinds;

pub(super) static SERVICE: Service = Service {
    kind: &kinds::AWS_S3,
    bucket_key: "bucket",
    bucket_word: "bucket",
    is_bucket_name: |name| {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
        !name.is_empty() && name.len() <= 255 && name.bytes().all(allowed)
    },
    default_region: |environment| {
        Some(
            environment
                .first(&["AWS_REGION", "AWS_DEFAULT_REGION"])
                .unwrap_or("us-east-1")
                .to_owned(),
        )
    },
    open,
    credentials: "`AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`, or a profile in `~/.aws/credentials`",
};

fn open(
    environment: &Variables,
    bucket: &str,
    region: Option<&str>,
    connector: Connector,
) -> OpenedBucket {
    let mut builder = AmazonS3Builder::new();
    for (name, value) in environment.of_prefix("AWS_") {
        if let Ok(key) = name.to_ascii_lowercase().parse::<AmazonS3ConfigKey>() {
            builder = builder.with_config(key, value);
        }
    }
    if !has_own_credentials(environment) {
        match profile(environment)? {
            Some(profile) => {
                let value = |key: &str| profile.get(key).cloned().unwrap_or_default();
                builder = builder
                    .with_access_key_id(value("aws_access_key_id"))
                    .with_secret_access_key(value("aws_secret_access_key"));
                if let Some(token) = profile.get("aws_session_token") {
                    builder = builder.with_token(token);
                }
            }
            None if environment.is_yes("AWS_EC2_METADATA_DISABLED") => {
                return Err(SourceError::Credentials {
                    words: SERVICE.credentials.to_owned(),
                });
            }
            None => {}
        }
    }
    if let Some(endpoint) = environment.first(&["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"]) {
        // The user who sets the endpoint also decides whether it needs TLS.
        builder = builder
            .with_endpoint(endpoint)
            .with_allow_http(endpoint.starts_with("http://"));
    }
    if let Some(region) = region {
        builder = builder.with_region(region);
    }
    let builder = builder
        .with_bucket_name(bucket)
        .with_retry(retries())
        .with_http_connector(connector);
    let store = builder
        .build()
        .map_err(|error| refusal::of_setup(&SERVICE, error))?;
    Ok(Box::new(store))
}

/// Whether environment variables contain the credentials or their source, or disable signatures.
fn has_own_credentials(environment: &Variables) -> bool {
    let named = [
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_WEB_IDENTITY_TOKEN_FILE",
        "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
        "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    ];
    environment.first(&named).is_some() || environment.is_yes("AWS_SKIP_SIGNATURE")
}

/// The keys of the selected profile in the shared files. `None` if no profile was selected and the
/// default profile has no keys.
///
/// # Errors
/// [`SourceError::Credentials`] if the selected profile has no keys.
fn profile(environment: &Variables) -> Result<Option<BTreeMap<String, String>>, SourceError> {
    let asked = environment.first(&["AWS_PROFILE", "AWS_DEFAULT_PROFILE"]);
    let name = asked.unwrap_or("default");
    let home = environment
        .first(&["HOME", "USERPROFILE"])
        .map(PathBuf::from);
    let file = |variable: &str, usual: &str| {
        let named = environment.get(variable).map(PathBuf::from);
        named.or_else(|| home.as_ref().map(|home| home.join(".aws").join(usual)))
    };
    for (variable, usual) in [
        ("AWS_SHARED_CREDENTIALS_FILE", "credentials"),
        ("AWS_CONFIG_FILE", "config"),
    ] {
        let Some(text) = file(variable, usual).and_then(|path| std::fs::read_to_string(path).ok())
        else {
            continue;
        };
        let section = section(&text, name);
        if section.contains_key("aws_access_key_id")
            && section.contains_key("aws_secret_access_key")
        {
            return Ok(Some(section));
        }
    }
    match asked {
        Some(name) => Err(SourceError::Credentials {
            words: format!("the profile `{name}` has no keys in the shared files"),
        }),
        None => Ok(None),
    }
}

/// The entries of the section `[name]` or `[profile name]`.
fn section(text: &str, name: &str) -> BTreeMap<String, String> {
    let mut entries = BTreeMap::new();
    let mut inside = false;
    for line in text.lines().map(str::trim) {
        if let Some(header) = line
            .strip_prefix('[')
            .and_then(|line| line.split(']').next())
        {
            let header = header.trim();
            inside = header.strip_prefix("profile ").unwrap_or(header).trim() == name;
        } else if inside
            && !line.starts_with(['#', ';'])
            && let Some((key, value)) = line.split_once('=')
        {
            entries.insert(key.trim().to_ascii_lowercase(), value.trim().to_owned());
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::section;

    #[test]
    fn the_selected_profile_is_read() {
        let text = "[default]\naws_access_key_id = A\n\n[profile work]\n# note = x\nAWS_Access_Key_Id=B\n; y = z\n \
                    aws_secret_access_key = s=t\n[other]\naws_access_key_id=C\n";
        let found = section(text, "work");
        assert_eq!(found.len(), 2);
        assert_eq!(found["aws_access_key_id"], "B");
        assert_eq!(found["aws_secret_access_key"], "s=t");
        assert_eq!(section(text, "default")["aws_access_key_id"], "A");
        assert!(section(text, "none").is_empty());
    }
}
