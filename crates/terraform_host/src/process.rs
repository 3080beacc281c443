//! The processes of this family: how they are started, connected and configured.

use std::sync::{Arc, Mutex, PoisonError};

use blueprint::Value;
use plugin_host::{CallEffect, Family, PackageHost, PluginProcess};
use plugins::{Launch, Plugin, Protocol};
use provider::{ErrorKind, ProviderDiagnostic, ProviderError, Scrubber};

use crate::problems::{error_of, warnings_of};
use crate::program::{KnownProgram, note};
use crate::{
    CallFailure, Client, Handshake, OpenOptions, ProgramDigest, ProtocolVersion, SchemaCache,
    Schemas,
};

/// The word of the family.
pub const FAMILY: &str = "terraform";

/// The process of a configured package.
pub(crate) type PackageProcess = PluginProcess<Terraform>;

/// The family, with what the processes of a package share.
pub(crate) struct Terraform {
    /// The digest of the program; `None` if nothing is cached.
    digest: Option<ProgramDigest>,
    /// The schemas, once they are known.
    known: Mutex<Option<(ProtocolVersion, Arc<Schemas>)>>,
}

impl Terraform {
    pub(crate) fn new(program: KnownProgram) -> Terraform {
        Terraform {
            digest: program.digest,
            known: Mutex::new(program.known),
        }
    }

    /// The schemas with the version of the protocol, if they are already known.
    pub(crate) fn known(&self) -> Option<(ProtocolVersion, Arc<Schemas>)> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.clone()
    }
}

/// Settings in the form that the provider takes.
pub(crate) struct Prepared {
    values: Value,
    warnings: Vec<ProviderDiagnostic>,
}

/// A configured plugin.
#[derive(Clone)]
pub(crate) struct ConfiguredClient {
    pub(crate) client: Client,
    /// The provider's diagnostics about the settings.
    pub(crate) warnings: Vec<ProviderDiagnostic>,
}

/// Configures a process with settings, and begins a session. Parts of the settings may be unknown.
pub(crate) async fn configure(
    process: &PackageProcess,
    settings: &Value,
) -> Result<ConfiguredClient, ProviderError> {
    // Settings that another session has are validated already.
    let prepared = match process.settings() {
        Some(prepared) => prepared,
        None => {
            let (_lease, client) = process.client().await?;
            let secrets = Scrubber::of([settings]);
            let validated = client
                .validate_provider(settings)
                .await
                .map_err(|failure| error_of(failure, CallEffect::Reads, &secrets))?;
            Arc::new(Prepared {
                values: validated.value,
                warnings: warnings_of(&validated.warnings, &secrets),
            })
        }
    };
    process.configure(prepared).await
}

impl Family for Terraform {
    const NAME: &'static str = FAMILY;
    const TIMED_OUT: &'static str = "the provider did not answer in time";

    type Client = Client;
    type Settings = Prepared;
    type Session = ConfiguredClient;

    async fn launch(
        host: &PackageHost<Terraform>,
    ) -> Result<(Launch, Arc<dyn Protocol>), ProviderError> {
        Ok((host.launch(), Arc::new(Handshake)))
    }

    async fn connect(
        host: &PackageHost<Terraform>,
        plugin: &Plugin,
    ) -> Result<Client, ProviderError> {
        let family = &host.family;
        // A running plugin may change at any time.
        let cached = host
            .package
            .cache
            .as_ref()
            .filter(|_| host.attached.is_none())
            .map(SchemaCache::new);
        let known = family.known();
        let was_known = known.is_some();
        let options = OpenOptions {
            known,
            cache: cached.as_ref().zip(family.digest.as_ref()),
            output: Some(host.log_sink()),
        };
        let client = Client::open(plugin, options)
            .await
            .map_err(|failure| error_of(failure, CallEffect::Reads, &Scrubber::default()))?;
        let version = client.version();
        *family.known.lock().unwrap_or_else(PoisonError::into_inner) =
            Some((version, client.schemas().clone()));
        let digest = family.digest.filter(|_| cached.is_some() && !was_known);
        if let Some(digest) = digest {
            let (package, identity) = (host.package.clone(), host.identity.clone());
            let noted =
                tokio::task::spawn_blocking(move || note(&package, &identity, &digest, version));
            // Without a note, the program is read again next time.
            let _ = noted.await;
        }
        Ok(client)
    }

    async fn configure(
        client: &Client,
        settings: &Prepared,
    ) -> Result<ConfiguredClient, ProviderError> {
        let secrets = Scrubber::of([&settings.values]);
        let answer = client
            .configure(&settings.values)
            .await
            .map_err(|failure| refused(failure, &secrets))?;
        let mut warnings = settings.warnings.clone();
        for warning in warnings_of(&answer.warnings, &secrets) {
            if !settings.warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
        Ok(ConfiguredClient {
            client: client.clone(),
            warnings,
        })
    }

    async fn cut_calls_short(client: Client) {
        // A provider that cannot stop continues, and the time limit of the call ends it.
        let _ = client.stop().await;
    }
}

/// Returns the error of a configuration that the provider refuses. An error that names no setting
/// usually concerns credentials.
fn refused(failure: CallFailure, secrets: &Scrubber) -> ProviderError {
    let names_none = failure
        .diagnostics()
        .iter()
        .filter(|said| said.is_error())
        .all(|said| said.path.0.is_empty());
    let is_rejected = matches!(failure, CallFailure::Rejected(_));
    let error = error_of(failure, CallEffect::Reads, secrets);
    if is_rejected && names_none {
        ProviderError {
            kind: ErrorKind::Credentials,
            ..error
        }
    } else {
        error
    }
}
