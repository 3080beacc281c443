//! A cloud that is signed in to: its token, its services, its requests.

use std::time::Duration;

use ::provider::{ErrorKind, ProviderError};
use http_client::Clients;
use reqwest::Url;
use serde_json::{Value as Json, json};

use super::failure::{Delivery, ServiceError};
use super::request::{Answer, ServiceRequest};
use super::settings::CloudSettings;
use super::{Service, clouds};

/// The time that a request may take. A service answers its first request seconds late.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A cloud, signed in to with one project.
pub(crate) struct Cloud {
    clients: Clients,
    token: String,
    /// The project of the token.
    pub(crate) project: String,
    services: Vec<(Service, Url)>,
}

impl Cloud {
    /// Signs in.
    ///
    /// # Errors
    /// [`ErrorKind::Credentials`] if there are none or they are refused;
    /// [`ErrorKind::Transient`] if Keystone does not answer.
    pub(crate) async fn connect(settings: &CloudSettings) -> Result<Cloud, ProviderError> {
        let access = clouds::access(settings)?;
        let clients = Clients::default();
        let base = access.auth_url.trim_end_matches('/');
        let base = base.strip_suffix("/v3").unwrap_or(base);
        let url = parsed(&format!("{base}/v3/auth/tokens"))?;
        let body = json!({"auth": {
            "identity": {"methods": ["password"], "password": {"user": {
                "name": access.username,
                "domain": {"id": access.user_domain},
                "password": access.password,
            }}},
            "scope": {"project": {"name": access.project, "domain": {"id": access.project_domain}}},
        }});
        let client = clients.of(&url).await.map_err(unusable)?;
        let sent = client.post(url).timeout(TIMEOUT).json(&body).send().await;
        let answer =
            sent.map_err(|error| lost(Service::Identity, &error).into_provider_error(false))?;
        let status = answer.status().as_u16();
        let token = answer.headers().get("x-subject-token");
        let token = token.and_then(|it| it.to_str().ok()).map(str::to_owned);
        let body: Json = answer.json().await.unwrap_or_default();
        let Some(token) = token.filter(|_| status == 201) else {
            return Err(
                ServiceError::answered(Service::Identity, status, &body).into_provider_error(false)
            );
        };
        let project = body["token"]["project"]["id"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        let all = [
            Service::Identity,
            Service::Compute,
            Service::Network,
            Service::Volume,
            Service::Image,
        ];
        let services = all.into_iter().filter_map(|service| {
            let url = endpoint(&body["token"]["catalog"], service, access.region.as_deref())?;
            Some((service, Url::parse(&url).ok()?))
        });
        Ok(Cloud {
            services: services.collect(),
            clients,
            token,
            project,
        })
    }

    /// Sends a request.
    ///
    /// # Errors
    /// If the cloud has no such service, if it does not answer, or if it refuses the request.
    pub(crate) async fn send(&self, request: ServiceRequest) -> Result<Answer, ServiceError> {
        let service = request.service;
        let not_sent = |message: String| ServiceError {
            service,
            delivery: Delivery::NotSent,
            name: None,
            message,
            request_id: None,
            retry_after: None,
        };
        let known = self.services.iter().find(|(known, _)| *known == service);
        let (_, base) =
            known.ok_or_else(|| not_sent("the cloud has no such service".to_owned()))?;
        let base = base.as_str().trim_end_matches('/');
        let suffix = format!("/{}", service.version());
        let base = base.strip_suffix(&suffix).unwrap_or(base);
        let url =
            Url::parse_with_params(&format!("{base}{suffix}/{}", request.path), &request.query);
        let url = url.map_err(|error| not_sent(error.to_string()))?;
        let client = self.clients.of(&url).await.map_err(not_sent)?;
        let mut building = client
            .request(request.method, url)
            .timeout(TIMEOUT)
            .header("X-Auth-Token", &self.token)
            .header("Accept", "application/json");
        if let Some(version) = service.microversion() {
            building = building.header("OpenStack-API-Version", version);
        }
        if let Some(body) = &request.body {
            building = building.json(body);
        }
        let answer = building
            .send()
            .await
            .map_err(|error| lost(service, &error))?;
        let status = answer.status().as_u16();
        let id = answer.headers().get("x-openstack-request-id");
        let request_id = id.and_then(|id| id.to_str().ok()).map(str::to_owned);
        let text = answer
            .bytes()
            .await
            .map_err(|error| lost(service, &error))?;
        let body: Json = serde_json::from_slice(&text).unwrap_or_default();
        if !(200..300).contains(&status) {
            let error = ServiceError::answered(service, status, &body);
            return Err(ServiceError {
                request_id,
                ..error
            });
        }
        Ok(Answer {
            status,
            body,
            request_id,
        })
    }
}

fn endpoint(catalogue: &Json, service: Service, region: Option<&str>) -> Option<String> {
    let entries = catalogue.as_array()?;
    let by_name = |name: &&str| {
        let entry = entries.iter().find(|entry| entry["type"] == **name)?;
        let endpoints = entry["endpoints"].as_array()?;
        endpoints.iter().find(|it| {
            it["interface"] == "public" && region.is_none_or(|region| it["region_id"] == region)
        })
    };
    let found = service.catalogue_types().iter().find_map(by_name)?;
    found["url"].as_str().map(str::to_owned)
}

fn parsed(url: &str) -> Result<Url, ProviderError> {
    Url::parse(url).map_err(|error| {
        ProviderError::new(
            ErrorKind::Credentials,
            format!("the address of Keystone: {error}"),
        )
    })
}

fn unusable(why: String) -> ProviderError {
    ProviderError::new(ErrorKind::Permanent, why)
}

/// The error of a request without an answer.
fn lost(service: Service, error: &reqwest::Error) -> ServiceError {
    let delivery = match error.is_connect() || error.is_builder() {
        true => Delivery::NotSent,
        false => Delivery::Lost,
    };
    ServiceError {
        service,
        delivery,
        name: None,
        message: http_client::innermost_message(error),
        request_id: None,
        retry_after: None,
    }
}
