//! Azure Blob Storage.
//!
//! The account comes from the environment: `AZURE_STORAGE_CONNECTION_STRING`, or
//! `AZURE_STORAGE_ACCOUNT` with `AZURE_STORAGE_KEY`, `AZURE_STORAGE_SAS_TOKEN`, `AZURE_CLIENT_ID`
//! with `AZURE_CLIENT_SECRET` and `AZURE_TENANT_ID`, a federated token, or the identity of the
//! machine. `AZURE_STORAGE_ENDPOINT` selects another service.

use std::collections::BTreeMap;

use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};

use super::connection::Connector;
use super::refusal;
use super::service::{OpenedBucket, Service, retries};
use crate::environment::Variables;
use crate::kinds;

pub(super) static SERVICE: Service = Service {
    kind: &kinds::AZURE_BLOB,
    bucket_key: "container",
    bucket_word: "container",
    is_bucket_name: |name| {
        let allowed = |byte: u8| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'$')
        };
        !name.is_empty() && name.len() <= 63 && name.bytes().all(allowed)
    },
    default_region: |_| None,
    open,
    credentials: "`AZURE_STORAGE_CONNECTION_STRING`, or `AZURE_STORAGE_ACCOUNT` and `AZURE_STORAGE_KEY`",
};

/// The published account of Azure's storage emulators.
const EMULATOR: &str = "AccountName=devstoreaccount1;AccountKey=\
     Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;\
     BlobEndpoint=http://127.0.0.1:10000/devstoreaccount1";

fn open(
    environment: &Variables,
    container: &str,
    _region: Option<&str>,
    connector: Connector,
) -> OpenedBucket {
    let mut builder = MicrosoftAzureBuilder::new();
    for (name, value) in environment.of_prefix("AZURE_") {
        if let Ok(key) = name.to_ascii_lowercase().parse::<AzureConfigKey>() {
            builder = builder.with_config(key, value);
        }
    }
    // The names of variables that the vendor's own tools use.
    for (name, key) in [
        ("AZURE_STORAGE_ACCOUNT", AzureConfigKey::AccountName),
        ("AZURE_STORAGE_KEY", AzureConfigKey::AccessKey),
        ("AZURE_STORAGE_SAS_TOKEN", AzureConfigKey::SasKey),
    ] {
        if let Some(value) = environment.get(name) {
            builder = builder.with_config(key, value);
        }
    }
    let mut endpoint = environment
        .first(&["AZURE_STORAGE_ENDPOINT", "AZURE_ENDPOINT"])
        .map(str::to_owned);
    if let Some(text) = environment.get("AZURE_STORAGE_CONNECTION_STRING") {
        let parts = connection_string(text);
        for (name, key) in [
            ("accountname", AzureConfigKey::AccountName),
            ("accountkey", AzureConfigKey::AccessKey),
            ("sharedaccesssignature", AzureConfigKey::SasKey),
        ] {
            if let Some(value) = parts.get(name) {
                builder = builder.with_config(key, value);
            }
        }
        endpoint = blob_endpoint(&parts).or(endpoint);
    }
    if let Some(endpoint) = endpoint {
        // The user who sets the endpoint also decides whether it needs TLS.
        let http = endpoint.starts_with("http://");
        builder = builder.with_endpoint(endpoint).with_allow_http(http);
    }
    let builder = builder
        .with_container_name(container)
        .with_retry(retries())
        .with_http_connector(connector);
    let store = builder
        .build()
        .map_err(|error| refusal::of_setup(&SERVICE, error))?;
    Ok(Box::new(store))
}

/// Parses `Name=value;Name=value`. Names become lower case.
fn connection_string(text: &str) -> BTreeMap<String, String> {
    let parts = text.split(';').filter_map(|part| part.split_once('='));
    let parts: BTreeMap<String, String> = parts
        .map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    if parts
        .get("usedevelopmentstorage")
        .is_some_and(|value| value.eq_ignore_ascii_case("true"))
    {
        return connection_string(EMULATOR);
    }
    parts
}

/// The endpoint of the account. `None` for the public service.
fn blob_endpoint(parts: &BTreeMap<String, String>) -> Option<String> {
    let written = parts
        .get("blobendpoint")
        .map(|endpoint| endpoint.trim_end_matches('/').to_owned());
    written.or_else(|| {
        let (account, suffix) = (parts.get("accountname")?, parts.get("endpointsuffix")?);
        let protocol = parts
            .get("defaultendpointsprotocol")
            .map_or("https", String::as_str);
        (suffix != "core.windows.net").then(|| format!("{protocol}://{account}.blob.{suffix}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_string_gives_account_key_and_endpoint() {
        let parts = connection_string(
            "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=k==;EndpointSuffix=x.example",
        );
        assert_eq!(parts["accountkey"], "k==");
        assert_eq!(
            blob_endpoint(&parts).as_deref(),
            Some("https://a.blob.x.example")
        );
        let usual = connection_string("AccountName=a;AccountKey=k;EndpointSuffix=core.windows.net");
        assert_eq!(blob_endpoint(&usual), None);
        let emulator = connection_string("UseDevelopmentStorage=true");
        assert_eq!(
            blob_endpoint(&emulator).as_deref(),
            Some("http://127.0.0.1:10000/devstoreaccount1")
        );
    }
}
