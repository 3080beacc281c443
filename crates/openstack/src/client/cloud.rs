//! A cloud that is signed in to: its token, its services, its requests.
//!
//! Not here: who signs in (`access`), connections (`transport`).

use std::sync::Arc;

use ::provider::{ErrorKind, ProviderError, SessionFailure};
use bytes::Bytes;
use reqwest::Url;
use serde_json::Value as Json;
use tokio::sync::{Mutex, OnceCell, RwLock};

use super::access::{self, Access, SignInScope};
use super::endpoints::Endpoints;
use super::environment::CloudEnvironment;
use super::failure::{Delivery, ServiceError};
use super::identity::{self, KeystoneToken, SignedIn};
use super::negotiation::{Shown, SupportedVersions};
use super::request::{ServiceAnswer, ServiceRequest};
use super::service::Microversion;
use super::transport::{self, Outgoing, RawAnswer, Repeat, Transport};
use super::url_signer::UrlSigner;
use super::{CloudSettings, Service};

/// A cloud, signed in to with one project.
pub(crate) struct Cloud {
    transport: Transport,
    access: Access,
    /// The configuration, for errors that concern all its requests.
    failure: SessionFailure,
    /// The id of the project of the token; empty without one.
    pub(crate) project: String,
    endpoints: Endpoints,
    token: RwLock<Arc<KeystoneToken>>,
    /// Held during a renewal of the token. A refusal is final: another try could lock the account.
    renewal: Mutex<Option<ServiceError>>,
    /// Signs temporary URLs, once the key of the account is read.
    pub(super) url_signer: OnceCell<UrlSigner>,
    /// The versions of services that do not have the wanted one.
    lowered: [(Service, OnceCell<Microversion>); 2],
}

impl Cloud {
    /// Signs in. Files are read on a thread for blocking work.
    ///
    /// # Errors
    /// [`ErrorKind::Credentials`] if there are none, if they are wrong, or if Keystone refuses them;
    /// [`ErrorKind::Permanent`] if Keystone is not trusted;
    /// [`ErrorKind::Transient`] if it does not answer. All of them concern the whole session.
    pub(crate) async fn connect(settings: &CloudSettings) -> Result<Cloud, ProviderError> {
        let environment = CloudEnvironment::of_process(&settings.folder);
        Cloud::connect_in(settings, environment).await
    }

    /// Signs in with the variables and folders of an environment.
    pub(super) async fn connect_in(
        settings: &CloudSettings,
        environment: CloudEnvironment,
    ) -> Result<Cloud, ProviderError> {
        let failure = SessionFailure {
            provider: settings.name.clone(),
            settings: None,
        };
        let connected = Cloud::connected(settings, environment, failure.clone()).await;
        connected.map_err(|error| ProviderError {
            session: Some(Box::new(failure)),
            ..error
        })
    }

    async fn connected(
        settings: &CloudSettings,
        environment: CloudEnvironment,
        failure: SessionFailure,
    ) -> Result<Cloud, ProviderError> {
        if let Some(name) = &settings.unknown {
            let message = format!("the setting `{name}` is not known before its resource is there");
            return Err(ProviderError::new(ErrorKind::Permanent, message));
        }
        let owned = settings.clone();
        let reading = tokio::task::spawn_blocking(move || access::access(&owned, &environment));
        let access = reading.await.unwrap_or_else(|_| {
            let message = "the files with clouds cannot be read";
            Err(ProviderError::new(ErrorKind::Permanent, message))
        })?;
        let transport = Transport::trusting(access.authorities.as_deref());
        let signed_in = identity::sign_in(&transport, &access).await;
        let signed_in =
            signed_in.map_err(|error| error.without(&access.secrets).into_provider_error(false))?;
        let SignedIn {
            token,
            project,
            catalogue,
        } = signed_in;
        if catalogue.as_array().is_none_or(Vec::is_empty) && access.endpoints.overrides.is_empty() {
            let why = match access.scope {
                SignInScope::Own => "no project is named: set `project_name` or `project_id`",
                _ => "its catalogue of services is empty",
            };
            let message = format!("{}: {why}", access.endpoints.named);
            return Err(ProviderError::new(ErrorKind::Credentials, message));
        }
        let endpoints = Endpoints::of(&catalogue, &access.endpoints, &project)?;
        Ok(Cloud {
            transport,
            access,
            failure,
            project,
            endpoints,
            token: RwLock::new(Arc::new(token)),
            renewal: Mutex::default(),
            url_signer: OnceCell::new(),
            lowered: [Service::Compute, Service::Volume].map(|it| (it, OnceCell::new())),
        })
    }

    /// Whether the cloud has a service.
    pub(crate) fn has(&self, service: Service) -> bool {
        self.endpoints.address(service).is_ok()
    }

    /// Sends a request. A request that only reads is repeated a few times if the connection breaks or
    /// the service asks for it; any other one is sent once, unless the service refuses the token or
    /// the microversion, which has no effect.
    ///
    /// # Errors
    /// If the cloud has no such service, if it does not answer, or if it refuses the request.
    pub(crate) async fn send(
        &self,
        request: ServiceRequest,
    ) -> Result<ServiceAnswer, ServiceError> {
        let service = request.service;
        let outgoing = self.outgoing(request)?;
        let answer = self.exchange(outgoing).await;
        let answer = answer.and_then(|answer| understood(service, answer));
        match answer {
            Ok(answer) => Ok(answer),
            Err(error) => Err(self.without_secrets(error).await),
        }
    }

    /// The address of a service: that with which all its paths begin, without a slash at its end.
    ///
    /// # Errors
    /// If the cloud does not have the service.
    pub(crate) fn address(&self, service: Service) -> Result<&Url, ServiceError> {
        self.endpoints.address(service)
    }

    /// Reads what is at an address of a service outside its API.
    ///
    /// # Errors
    /// If the service does not answer, or if it refuses the request.
    pub(super) async fn send_to(
        &self,
        service: Service,
        url: Url,
    ) -> Result<ServiceAnswer, ServiceError> {
        let outgoing = Outgoing {
            url,
            ..self.outgoing(ServiceRequest::get(service, ""))?
        };
        let answer = self.exchange(outgoing).await?;
        understood(service, answer)
    }

    /// A request as it is sent, but for the token and the microversion.
    fn outgoing(&self, request: ServiceRequest) -> Result<Outgoing, ServiceError> {
        let service = request.service;
        let url = self.url(&request)?;
        let repeat = match request.only_reads() {
            true => Repeat::Allowed,
            false => Repeat::Never,
        };
        let json = request.body.map(|json| Bytes::from(json.to_string()));
        let json = json.map(|bytes| ("application/json", bytes));
        let raw = request.raw.map(|raw| (raw.content_type, raw.bytes));
        let (content_type, body) = raw.or(json).unzip();
        let content_type = content_type.map(|it| ("Content-Type", it));
        let own = request
            .headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()));
        let all = [("Accept", "application/json")]
            .into_iter()
            .chain(content_type)
            .chain(own);
        let headers = transport::headers(all).map_err(|why| impossible(service, why))?;
        Ok(Outgoing {
            service,
            method: request.method,
            url,
            headers,
            body,
            repeat,
        })
    }

    /// The address of a request.
    fn url(&self, request: &ServiceRequest) -> Result<Url, ServiceError> {
        let base = self.endpoints.address(request.service)?;
        let base = base.as_str().trim_end_matches('/');
        let url = match request.path.is_empty() {
            true => base.to_owned(),
            false => format!("{base}/{}", request.path),
        };
        let url = match request.query.is_empty() {
            true => Url::parse(&url),
            false => Url::parse_with_params(&url, &request.query),
        };
        url.map_err(|error| {
            impossible(request.service, format!("the path of the request: {error}"))
        })
    }

    /// Sends a request with a token and a microversion, and again if the service refuses those.
    async fn exchange(&self, mut outgoing: Outgoing) -> Result<RawAnswer, ServiceError> {
        let service = outgoing.service;
        let mut token = self.token().await?;
        let (mut is_renewed, mut is_lowered) = (false, false);
        loop {
            let version = self.version(service);
            let version = version.map(|(name, version)| format!("{name} {}", Shown(version)));
            let version = version.as_deref().map(|it| ("OpenStack-API-Version", it));
            let added = [("X-Auth-Token", token.text.as_str())]
                .into_iter()
                .chain(version);
            let added = transport::headers(added).map_err(|why| impossible(service, why))?;
            outgoing.headers.extend(added);
            let answer = self.transport.exchange(&outgoing).await?;
            match answer.status {
                401 if !is_renewed => {
                    token = self.renewed(&token).await?;
                    is_renewed = true;
                }
                406 if version.is_some() && !is_lowered => {
                    self.lower(service, &token, &answer).await?;
                    is_lowered = true;
                }
                _ => return Ok(answer),
            }
        }
    }

    async fn without_secrets(&self, error: ServiceError) -> ServiceError {
        let token = self.token.read().await.text.clone();
        error.without(&self.access.secrets).without(&[token])
    }

    /// The token, renewed if it is about to expire.
    async fn token(&self) -> Result<Arc<KeystoneToken>, ServiceError> {
        let token = self.token.read().await.clone();
        match token.is_old() {
            false => Ok(token),
            true => match self.renewed(&token).await {
                // The token is still good for a while, and Keystone may come back.
                Err(error) if error.session.is_none() => Ok(token),
                renewed => renewed,
            },
        }
    }

    /// A token in place of one that is refused or about to expire. Requests at the same time wait
    /// for one renewal.
    ///
    /// # Errors
    /// If Keystone refuses, now or before. The error concerns the whole session.
    async fn renewed(
        &self,
        former: &Arc<KeystoneToken>,
    ) -> Result<Arc<KeystoneToken>, ServiceError> {
        let mut refusal = self.renewal.lock().await;
        let current = self.token.read().await.clone();
        if !Arc::ptr_eq(&current, former) {
            return Ok(current);
        }
        if let Some(refusal) = &*refusal {
            return Err(refusal.clone());
        }
        match identity::sign_in(&self.transport, &self.access).await {
            Ok(signed_in) => {
                let token = Arc::new(signed_in.token);
                *self.token.write().await = token.clone();
                Ok(token)
            }
            Err(error) => {
                // The request of the caller has had no effect: its token was refused, or it was not
                // sent.
                let is_final = error.class == Some(ErrorKind::Credentials);
                let error = ServiceError {
                    message: format!("the session cannot be renewed: {}", error.message),
                    delivery: Delivery::NotSent,
                    class: error.class.or(Some(ErrorKind::Transient)),
                    session: is_final.then(|| Box::new(self.failure.clone())),
                    ..error
                };
                if is_final {
                    *refusal = Some(error.clone());
                }
                Err(error)
            }
        }
    }

    /// The name of a service in the header of microversions, with the version to ask for. `None` for
    /// services without microversions.
    fn version(&self, service: Service) -> Option<(&'static str, Microversion)> {
        let versions = service.microversions()?;
        let lowered = self.lowered.iter().find(|(known, _)| *known == service);
        let lowered = lowered.and_then(|(_, version)| version.get().copied());
        Some((versions.name, lowered.unwrap_or(versions.wanted)))
    }

    /// Finds the version of a service that refuses the wanted one with this answer.
    ///
    /// # Errors
    /// The refusal, if the service does not say which versions it has, or if they are not supported.
    async fn lower(
        &self,
        service: Service,
        token: &KeystoneToken,
        refusal: &RawAnswer,
    ) -> Result<(), ServiceError> {
        let lowered = self.lowered.iter().find(|(known, _)| *known == service);
        let Some(((_, version), versions)) = lowered.zip(service.microversions()) else {
            return Err(refusal.error(service));
        };
        let ask = || async {
            let supported = self.supported(service, token).await?;
            let supported = supported.ok_or_else(|| refusal.error(service))?;
            let chosen = supported.choose(service, versions);
            chosen.map_err(|why| impossible(service, why))
        };
        version.get_or_try_init(ask).await?;
        Ok(())
    }

    /// The microversions that a service says it has; `None` if it says nothing of them.
    async fn supported(
        &self,
        service: Service,
        token: &KeystoneToken,
    ) -> Result<Option<SupportedVersions>, ServiceError> {
        let mut url = self.endpoints.address(service)?.clone();
        // Without a project, the address describes the API.
        let path = url.path().trim_end_matches('/').to_owned();
        let path = path.strip_suffix(&self.project).unwrap_or(&path);
        url.set_path(&format!("{}/", path.trim_end_matches('/')));
        let headers = [
            ("Accept", "application/json"),
            ("X-Auth-Token", token.text.as_str()),
        ];
        let outgoing = Outgoing {
            service,
            method: reqwest::Method::GET,
            url,
            headers: transport::headers(headers).map_err(|why| impossible(service, why))?,
            body: None,
            repeat: Repeat::Allowed,
        };
        let answer = self.transport.exchange(&outgoing).await?;
        let description: Option<Json> = serde_json::from_slice(&answer.body).ok();
        Ok(description.as_ref().and_then(SupportedVersions::of))
    }
}

/// The answer of a service, if it is a success.
fn understood(service: Service, answer: RawAnswer) -> Result<ServiceAnswer, ServiceError> {
    if !(200..300).contains(&answer.status) {
        return Err(answer.error(service));
    }
    let request_id = answer.request_id();
    let content_type = answer.header("content-type").unwrap_or_default();
    let is_json = content_type.contains("json");
    // A page of a proxy is no answer of the service, which may have carried out the request.
    let is_page = content_type.contains("html") && service != Service::ObjectStore;
    let body = match answer.body.is_empty() {
        true => Some(Json::Null),
        false if is_page => None,
        false => match serde_json::from_slice(&answer.body) {
            Ok(body) => Some(body),
            Err(_) if is_json => None,
            Err(_) => Some(Json::Null),
        },
    };
    let Some(body) = body else {
        let message = format!(
            "the answer ({}, {} bytes of `{content_type}`) is not the JSON of the service",
            answer.status,
            answer.body.len(),
        );
        return Err(ServiceError {
            request_id,
            ..ServiceError::lost(service, message)
        });
    };
    Ok(ServiceAnswer {
        status: answer.status,
        body,
        bytes: answer.body,
        headers: answer.headers,
        request_id,
    })
}

/// The error of a request that cannot be sent.
fn impossible(service: Service, why: impl Into<String>) -> ServiceError {
    ServiceError::not_sent(service, why).of_class(ErrorKind::Permanent)
}

#[cfg(test)]
impl Cloud {
    /// The text of the token.
    pub(super) async fn token_text(&self) -> String {
        self.token.read().await.text.clone()
    }

    /// The id of the user of the token.
    pub(super) async fn user(&self) -> Option<String> {
        let token = self.token_text().await;
        let request = ServiceRequest::get(Service::Identity, "auth/tokens");
        let answer = self
            .send(request.with_header("X-Subject-Token", token))
            .await;
        let body = answer.ok()?.body;
        body["token"]["user"]["id"].as_str().map(str::to_owned)
    }

    /// The address of Keystone.
    pub(super) fn keystone(&self) -> Url {
        self.access.endpoints.keystone.clone()
    }
}
