//! The addresses of the services: from the catalogue that Keystone returns, or from options.
//!
//! Not here: requests (`cloud`).

use std::collections::BTreeSet;

use ::provider::{ErrorKind, ProviderError};
use reqwest::Url;
use serde_json::Value as Json;

use super::Service;
use super::clouds::listed;
use super::failure::ServiceError;
use super::interface::Interface;
use super::service::{AfterVersion, ApiPath};

/// Where Keystone is, and which endpoints of the services are used.
pub(super) struct EndpointChoice {
    /// The address of Keystone without the version.
    pub(super) keystone: Url,
    pub(super) region: Option<String>,
    pub(super) interface: Interface,
    /// Addresses that take the place of those in the catalogue of services.
    pub(super) overrides: Vec<(Service, String)>,
    /// The cloud as messages name it.
    pub(super) named: String,
}

/// The addresses of the services of one cloud.
pub(super) struct Endpoints {
    found: Vec<(Service, Result<Url, String>)>,
}

impl Endpoints {
    /// The addresses of a catalogue, in the region and with the interface of an choice.
    ///
    /// # Errors
    /// [`ErrorKind::Credentials`] if the region does not exist, or if there are several and none is
    /// named.
    pub(super) fn of(
        catalogue: &Json,
        choice: &EndpointChoice,
        project: &str,
    ) -> Result<Endpoints, ProviderError> {
        let region = region(catalogue, choice)
            .map_err(|why| ProviderError::new(ErrorKind::Credentials, why))?;
        let lookup = CatalogueLookup {
            catalogue,
            region: region.as_deref(),
            choice,
        };
        let found = Service::ALL.map(|service| {
            let of_option = choice.overrides.iter().find(|(known, _)| *known == service);
            let written = match of_option {
                Some((_, url)) => Ok(url.clone()),
                None => lookup.address(service),
            };
            let url = written.and_then(|url| base(service, &url, project));
            (service, url)
        });
        Ok(Endpoints {
            found: found.into(),
        })
    }

    /// The address of a service: that with which all paths begin, without a slash at its end.
    ///
    /// # Errors
    /// If the cloud does not have it. Nothing is sent then.
    pub(super) fn address(&self, service: Service) -> Result<&Url, ServiceError> {
        let found = self.found.iter().find(|(known, _)| *known == service);
        let why = match found {
            Some((_, Ok(url))) => return Ok(url),
            Some((_, Err(why))) => why.clone(),
            None => format!("the cloud has no {}", service.kind()),
        };
        Err(ServiceError::not_sent(service, why).of_class(ErrorKind::Permanent))
    }
}

/// The region to use: the named one, or else the only one. `None` if the catalogue names none.
fn region(catalogue: &Json, choice: &EndpointChoice) -> Result<Option<String>, String> {
    let entries = catalogue.as_array().into_iter().flatten();
    let endpoints = entries
        .filter_map(|entry| entry["endpoints"].as_array())
        .flatten();
    let regions: BTreeSet<&str> = endpoints.filter_map(region_of).collect();
    let all = || listed(regions.iter().copied());
    match &choice.region {
        Some(wanted) if regions.is_empty() || regions.contains(wanted.as_str()) => {
            Ok(Some(wanted.clone()))
        }
        Some(wanted) => Err(format!(
            "{} has no region `{wanted}`; it has {}",
            choice.named,
            all()
        )),
        None if regions.len() > 1 => Err(format!(
            "{} has several regions: {}; choose one with the variable `OS_REGION_NAME` or the \
             setting `region`",
            choice.named,
            all(),
        )),
        None => Ok(regions.first().map(|region| (*region).to_owned())),
    }
}

fn region_of(endpoint: &Json) -> Option<&str> {
    endpoint["region_id"]
        .as_str()
        .or_else(|| endpoint["region"].as_str())
}

/// A catalogue with what is looked up in it.
struct CatalogueLookup<'a> {
    catalogue: &'a Json,
    region: Option<&'a str>,
    choice: &'a EndpointChoice,
}

impl CatalogueLookup<'_> {
    /// The address of a service as the catalogue has it.
    fn address(&self, service: Service) -> Result<String, String> {
        let interface = self.choice.interface.name();
        let endpoints = self.endpoints(service);
        let found = endpoints.iter().find(|it| it["interface"] == interface);
        // Keystone is there in any case: the sign-in used it.
        let of_keystone = (service == Service::Identity).then(|| self.choice.keystone.as_str());
        let url = found.and_then(|endpoint| endpoint["url"].as_str());
        if let Some(url) = url.or(of_keystone) {
            return Ok(url.to_owned());
        }
        let region = self
            .region
            .map_or_else(String::new, |it| format!(" in the region `{it}`"));
        if endpoints.is_empty() {
            let kind = service.kind();
            return Err(format!("the cloud has no {kind} ({service}){region}"));
        }
        let interfaces = endpoints.iter().filter_map(|it| it["interface"].as_str());
        let interfaces = listed(interfaces.collect::<BTreeSet<_>>());
        Err(format!(
            "{service} has no endpoint with the interface `{interface}`{region}; it has {interfaces}"
        ))
    }

    /// The endpoints of a service in the region, under the first of its names that has any.
    fn endpoints(&self, service: Service) -> Vec<&Json> {
        let in_region = |endpoint: &&Json| {
            let named = region_of(endpoint).zip(self.region);
            named.is_none_or(|(region, wanted)| region == wanted)
        };
        let of_type = |name: &&str| {
            let entries = self.catalogue.as_array().into_iter().flatten();
            let entries = entries.filter(|entry| entry["type"] == **name);
            let endpoints = entries.filter_map(|entry| entry["endpoints"].as_array());
            let found: Vec<&Json> = endpoints.flatten().filter(in_region).collect();
            (!found.is_empty()).then_some(found)
        };
        service
            .catalogue_types()
            .iter()
            .find_map(of_type)
            .unwrap_or_default()
    }
}

/// The address that all paths of a service begin with, for an endpoint with or without a version, a
/// project, or a path in front of them.
fn base(service: Service, endpoint: &str, project: &str) -> Result<Url, String> {
    let mut endpoint = endpoint.to_owned();
    for place in [
        "$(project_id)s",
        "%(project_id)s",
        "$(tenant_id)s",
        "%(tenant_id)s",
    ] {
        endpoint = endpoint.replace(place, project);
    }
    let mut url = Url::parse(&endpoint)
        .ok()
        .filter(Url::has_host)
        .ok_or_else(|| {
            format!(
                "the address of {service} in the catalogue of the cloud is not usable: `{endpoint}`"
            )
        })?;
    url.set_query(None);
    url.set_fragment(None);
    let path = url.path().trim_end_matches('/').to_owned();
    let ApiPath::Version(version, after) = service.api_path() else {
        url.set_path(&path);
        return Ok(url);
    };
    let (before, written) = split_at_version(&path);
    let rest = match after {
        AfterVersion::Nothing => None,
        AfterVersion::ProjectIfWritten => written,
        AfterVersion::Project => written.or(Some(project)),
    };
    let path = match rest {
        Some(rest) => format!("{before}/{version}/{rest}"),
        None => format!("{before}/{version}"),
    };
    url.set_path(&path);
    Ok(url)
}

/// The path in front of the last version in a path, and what follows the version. Without a version,
/// the path and nothing.
fn split_at_version(path: &str) -> (&str, Option<&str>) {
    let mut end = path.len();
    while let Some(slash) = path.get(..end).and_then(|head| head.rfind('/')) {
        let segment = &path[slash + 1..end];
        if is_version(segment) {
            let after = path[end..].trim_matches('/');
            return (
                &path[..slash],
                Some(after).filter(|after| !after.is_empty()),
            );
        }
        end = slash;
    }
    (path, None)
}

/// Whether a segment of a path is a version, such as `v3` or `v2.1`.
fn is_version(segment: &str) -> bool {
    let Some(number) = segment.strip_prefix('v') else {
        return false;
    };
    let parts = number.split('.');
    parts.clone().count() <= 2
        && parts
            .into_iter()
            .all(|part| !part.is_empty() && part.bytes().all(|it| it.is_ascii_digit()))
}

/// An address without its version and what follows it, and without a slash at its end.
pub(super) fn without_version(mut url: Url) -> Url {
    let path = url.path().trim_end_matches('/').to_owned();
    let (before, _) = split_at_version(&path);
    url.set_path(before);
    url.set_query(None);
    url.set_fragment(None);
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_get_the_version_of_the_api() {
        for (service, endpoint, expected) in [
            (Service::Identity, "http://h:5000", "http://h:5000/v3"),
            (
                Service::Identity,
                "http://h/identity/v2.0/",
                "http://h/identity/v3",
            ),
            (Service::Compute, "http://h:8774/v2.1", "http://h:8774/v2.1"),
            (
                Service::Compute,
                "http://h/compute/v2/p1",
                "http://h/compute/v2.1",
            ),
            (Service::Network, "http://h:9696/", "http://h:9696/v2.0"),
            (
                Service::Network,
                "http://h/networking/v2.0",
                "http://h/networking/v2.0",
            ),
            (Service::Volume, "http://h:8776/v3", "http://h:8776/v3"),
            (
                Service::Volume,
                "http://h:8776/v3/p1",
                "http://h:8776/v3/p1",
            ),
            (
                Service::Volume,
                "http://h/volume/v2/%(project_id)s",
                "http://h/volume/v3/p1",
            ),
            (Service::Image, "http://h/image", "http://h/image/v2"),
            (
                Service::LoadBalancer,
                "http://h/load-balancer",
                "http://h/load-balancer/v2",
            ),
            (Service::KeyManager, "http://h:9311", "http://h:9311/v1"),
            (
                Service::Orchestration,
                "http://h:8004/v1/p1",
                "http://h:8004/v1/p1",
            ),
            (
                Service::Orchestration,
                "http://h/heat-api/v1",
                "http://h/heat-api/v1/p1",
            ),
            (
                Service::ObjectStore,
                "http://h:8080/v1/AUTH_p1",
                "http://h:8080/v1/AUTH_p1",
            ),
            (
                Service::ObjectStore,
                "http://h/swift/v1/",
                "http://h/swift/v1",
            ),
        ] {
            let url = base(service, endpoint, "p1").expect(endpoint);
            assert_eq!(url.as_str(), expected, "{service}: {endpoint}");
        }
    }

    #[test]
    fn an_unusable_address_is_an_error() {
        for endpoint in ["", "h:80", "/v3", "mailto:x"] {
            let error = base(Service::Network, endpoint, "p").expect_err(endpoint);
            assert!(error.contains("Neutron"), "{error}");
        }
    }
}
