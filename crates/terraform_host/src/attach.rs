//! Providers that already run, for debugging: an environment variable holds their addresses.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

use plugins::{Endpoint, ListenAddress};
use serde_json::Value as Json;

use crate::ProtocolVersion;

/// The variable that lists running providers. A provider that is started with `-debug` prints the
/// value.
pub const REATTACH: &str = "TF_REATTACH_PROVIDERS";

/// A provider that already runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// The address at which it listens, with the version of the protocol.
    pub endpoint: Endpoint,
    /// The id of its process, if the entry has one.
    pub process: Option<u32>,
}

/// The running providers, by their source addresses: `registry.terraform.io/hashicorp/time`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attachments {
    providers: BTreeMap<String, Attachment>,
}

/// The reason why the value of [`REATTACH`] cannot be used. It names the provider.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AttachError {
    /// The value is not a JSON object.
    #[error("`{REATTACH}` is no JSON object of providers")]
    Json,
    /// An entry is incomplete or invalid.
    #[error("`{REATTACH}`: the entry `{provider}` {problem}")]
    Entry {
        /// The address of the provider.
        provider: String,
        /// The problem, as a phrase that continues its name.
        problem: &'static str,
    },
}

impl Attachments {
    /// Reads the value of [`REATTACH`].
    ///
    /// # Errors
    /// If the text does not have the form in which providers print it.
    pub fn read(text: &str) -> Result<Attachments, AttachError> {
        let Ok(Json::Object(entries)) = serde_json::from_str(text) else {
            return Err(AttachError::Json);
        };
        let one = |(provider, entry): (&String, &Json)| match attachment(entry) {
            Ok(attachment) => Ok((provider.clone(), attachment)),
            Err(problem) => Err(AttachError::Entry {
                provider: provider.clone(),
                problem,
            }),
        };
        Ok(Attachments {
            providers: entries
                .iter()
                .map(one)
                .collect::<Result<_, AttachError>>()?,
        })
    }

    /// The provider of a source address. The parts of `HOST/NAMESPACE/TYPE` before the type may be
    /// missing in either address.
    pub fn of(&self, address: &str) -> Option<&Attachment> {
        let found = self.providers.get(address);
        found.or_else(|| {
            let is_end = |long: &str, short: &str| {
                long.strip_suffix(short)
                    .is_some_and(|rest| rest.ends_with('/'))
            };
            let mut matching = self
                .providers
                .iter()
                .filter(|(key, _)| is_end(key, address) || is_end(address, key));
            matching
                .next()
                .filter(|_| matching.next().is_none())
                .map(|(_, attachment)| attachment)
        })
    }
}

fn attachment(entry: &Json) -> Result<Attachment, &'static str> {
    let text = |value: &Json, key: &str| value.get(key).and_then(Json::as_str).map(str::to_owned);
    if text(entry, "Protocol").as_deref() != Some("grpc") {
        return Err("is not called by gRPC");
    }
    let number = entry
        .get("ProtocolVersion")
        .and_then(Json::as_u64)
        .and_then(|number| u32::try_from(number).ok());
    // Old providers do not print it.
    let version = number
        .filter(|number| *number != 0)
        .unwrap_or(ProtocolVersion::Five.number());
    if ProtocolVersion::of(version).is_none() {
        return Err("does not speak protocol 5 or 6");
    }
    let address = entry.get("Addr").ok_or("has no address")?;
    let place = text(address, "String").ok_or("has no address")?;
    let address = match text(address, "Network").as_deref() {
        Some("unix") => ListenAddress::Unix(PathBuf::from(place)),
        Some("tcp") => ListenAddress::Tcp(
            place
                .parse::<SocketAddr>()
                .map_err(|_| "has an address that is none")?,
        ),
        _ => return Err("listens on an unknown kind of network"),
    };
    let process = entry
        .get("Pid")
        .and_then(Json::as_u64)
        .and_then(|number| u32::try_from(number).ok());
    Ok(Attachment {
        endpoint: Endpoint {
            address,
            protocol: Some(version),
            tls: false,
        },
        process,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = r#"{"registry.terraform.io/hashicorp/time":{"Protocol":"grpc","ProtocolVersion":5,"Pid":7,
        "Test":true,"Addr":{"Network":"unix","String":"/tmp/plugin1"}}}"#;

    #[test]
    fn a_provider_is_found_by_its_address_or_the_end_of_it() {
        let attachments = Attachments::read(ONE).unwrap();
        let endpoint = Endpoint {
            address: ListenAddress::Unix("/tmp/plugin1".into()),
            protocol: Some(5),
            tls: false,
        };
        let expected = Attachment {
            endpoint,
            process: Some(7),
        };
        for address in [
            "registry.terraform.io/hashicorp/time",
            "hashicorp/time",
            "time",
        ] {
            assert_eq!(attachments.of(address), Some(&expected), "{address}");
        }
        for address in ["hashicorp/runtime", "ime", "other/time", ""] {
            assert_eq!(attachments.of(address), None, "{address}");
        }
    }

    #[test]
    fn an_ambiguous_name_is_no_provider() {
        let entry = r#"{"Protocol":"grpc","Addr":{"Network":"tcp","String":"127.0.0.1:9"}}"#;
        let attachments =
            Attachments::read(&format!(r#"{{"a/x":{entry},"b/x":{entry}}}"#)).unwrap();
        assert_eq!(attachments.of("x"), None);
        assert_eq!(
            attachments.of("a/x").and_then(|one| one.endpoint.protocol),
            Some(5)
        );
    }

    #[test]
    fn a_malformed_entry_is_named() {
        assert_eq!(Attachments::read("[]"), Err(AttachError::Json));
        for (from, to, problem) in [
            (r#""grpc""#, r#""netrpc""#, "is not called by gRPC"),
            (r#":5"#, ":4", "does not speak protocol 5 or 6"),
            (r#""Addr""#, r#""Address""#, "has no address"),
            (
                r#""unix""#,
                r#""pipe""#,
                "listens on an unknown kind of network",
            ),
            (r#""unix""#, r#""tcp""#, "has an address that is none"),
        ] {
            let error = Attachments::read(&ONE.replace(from, to)).unwrap_err();
            let expected = format!(
                "`TF_REATTACH_PROVIDERS`: the entry `registry.terraform.io/hashicorp/time` {problem}"
            );
            assert_eq!(error.to_string(), expected);
        }
    }
}
