//! Google Cloud Storage.
//!
//! Credentials: `GOOGLE_APPLICATION_CREDENTIALS` or `GOOGLE_SERVICE_ACCOUNT`, the application
//! default credentials of `gcloud`, or the credentials of the machine. `STORAGE_EMULATOR_HOST`
//! selects another service, which gets no credentials.

use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};

use super::connection::Connector;
use super::refusal;
use super::service::{OpenedBucket, Service, retries};
use crate::environment::Variables;
use crate::kinds;

pub(super) static SERVICE: Service = Service {
    kind: &kinds::GOOGLE_STORAGE,
    bucket_key: "bucket",
    bucket_word: "bucket",
    is_bucket_name: |name| {
        let allowed = |byte: u8| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.' | b'_')
        };
        !name.is_empty() && name.len() <= 222 && name.bytes().all(allowed)
    },
    default_region: |_| None,
    open,
    credentials: "`GOOGLE_APPLICATION_CREDENTIALS`, or those of `gcloud auth application-default login`",
};

fn open(
    environment: &Variables,
    bucket: &str,
    _region: Option<&str>,
    connector: Connector,
) -> OpenedBucket {
    let mut builder = GoogleCloudStorageBuilder::new();
    for (name, value) in environment.of_prefix("GOOGLE_") {
        if let Ok(key) = name.to_ascii_lowercase().parse::<GoogleConfigKey>() {
            builder = builder.with_config(key, value);
        }
    }
    if let Some(host) = environment.get("STORAGE_EMULATOR_HOST") {
        let base = if host.contains("://") {
            host.to_owned()
        } else {
            format!("http://{host}")
        };
        builder = builder
            .with_base_url(base.trim_end_matches('/'))
            .with_skip_signature(true);
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
