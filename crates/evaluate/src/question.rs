//! The questions to a [`World`](crate::world::World), and the replies, as data.
//!
//! All questions to providers are one group, [`ProviderQuestion`]. A new call of the provider
//! contract is a new [`ProviderRequest`] with its [`ProviderReply`], which `run::shell` passes to
//! the provider.
//!
//! A [`Question`] borrows its data and lives as long as the caller waits for the reply.
//! [`EvaluationQuestion`](crate::evaluation_question::EvaluationQuestion) is another type: it owns
//! its data, has a key for its place among the answers, and stays in the state machine of `apply`
//! until it is answered.
//!
//! Not here: asking (`world`).

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use blueprint::wire::WireDocument;
use blueprint::{Address, DeclarationSite, Name, PROVIDER_TYPE, Package, TypeId, Value};
use dialect::PackageRequest;
use provider::{
    CheckFindings, CheckRequest, ErrorKind, FetchRequest, Fetched, ImportRequest, Imported,
    InvokeRequest, PlanRequest, Planned, Preflight, PreflightRequest, ProviderDiagnostic,
    ProviderError, ReadOutcome, ReadRequest, SettingsChange, TransformError, UpgradeRequest,
    Upgraded,
};
use state::{ProviderRef, Snapshot};

/// The message for a reply of another kind than the question, which is a bug of the world.
pub(crate) const OTHER_KIND: &str =
    "internal error: the reply is of another kind than the question";

/// The error of a failed read of a text or of bytes.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct SourceError {
    /// The error, as a phrase.
    pub message: String,
}

/// A question that the core may ask a world before it applies a plan.
#[derive(Debug)]
pub enum Question<'a> {
    /// A question to a provider. The reply is [`Reply::Provider`].
    Provider(ProviderQuestion<'a>),
    /// The bytes of a file, at most 16 MiB. The reply is [`Reply::Bytes`].
    File {
        /// The folder of the document, or the address of a remote document.
        folder: &'a str,
        /// The path, relative to `folder`.
        path: &'a str,
    },
    /// The bytes at an http or https URL: up to 5 redirects, status 2xx only, 30 s, 16 MiB. The
    /// reply is [`Reply::Bytes`].
    Http {
        /// The URL.
        url: &'a str,
    },
    /// An included document. The reply is [`Reply::Document`].
    Document(&'a source::Request),
    /// A document after a transform. The reply is [`Reply::Transformed`].
    Transform {
        /// The name of the transform.
        name: &'a str,
        /// The document.
        document: Box<WireDocument>,
    },
    /// Opens a hosted package: afterwards its types can be looked up. The reply is
    /// [`Reply::Package`].
    Package(&'a PackageRequest),
    /// Passes the recorded resources to their providers
    /// ([`provider::Provider::set_recorded_objects`]). The reply is [`Reply::Done`].
    Recall(&'a Snapshot),
    /// Waits. A world without time replies at once. The reply is [`Reply::Done`].
    Pause {
        /// The duration of the pause.
        duration: Duration,
        /// The question that is asked again after the pause, for display; `None` if the pause is
        /// not for a retry.
        retry: Option<Retry<'a>>,
    },
}

/// The reason why a provider is asked again.
#[derive(Clone, Copy, Debug)]
pub struct Retry<'a> {
    /// The subject of the question.
    pub what: &'a str,
    /// The provider's error message.
    pub why: &'a str,
}

/// The reply of a world.
#[derive(Debug)]
pub enum Reply {
    /// The reply of a provider.
    Provider(Result<ProviderReply, ProviderError>),
    /// The content of a file or URL.
    Bytes(Result<Arc<[u8]>, SourceError>),
    /// An included document, with its location.
    Document(Result<source::FetchedDocument, source::SourceError>),
    /// A transformed document.
    Transformed(Result<Box<WireDocument>, TransformError>),
    /// The opened package, or the reason why it cannot be used, as a phrase.
    Package(Result<Arc<Package>, Name>),
    /// The question is done and has no answer.
    Done,
}

/// A question to a provider.
#[derive(Clone, Copy, Debug)]
pub struct ProviderQuestion<'a> {
    /// The namespace of the provider.
    pub namespace: &'a str,
    /// The configuration of the provider; `None` for the default configuration.
    pub instance: Option<&'a ProviderInstance>,
    /// The subject of the question.
    pub subject: Subject<'a>,
    /// The declaration of the subject.
    pub site: DeclarationSite<&'a str>,
    /// The request.
    pub request: ProviderRequest<'a>,
}

/// A configuration of a provider that a resource of type [`PROVIDER_TYPE`] declares.
#[derive(Clone, Debug, PartialEq)]
pub struct ProviderInstance {
    /// The address of the declaring resource.
    pub address: Address,
    /// The settings: a map, or null. They may hold unknown values while a plan is made.
    pub settings: Value,
    /// The settings as recorded; null if nothing is recorded.
    pub former: Value,
}

impl ProviderInstance {
    /// The configuration as recorded in the state. A deposed object has precedence if the reference
    /// has its id. `None` if no configuration is recorded.
    pub fn recorded(of: &ProviderRef, snapshot: &Snapshot) -> Option<ProviderInstance> {
        let record = snapshot.records.get(&of.address)?.as_ref();
        let deposed = record
            .deposed_objects()
            .find(|old| old.id == of.id && record.id != of.id);
        let settings = deposed
            .unwrap_or(record)
            .inputs
            .get("settings")
            .cloned()
            .unwrap_or_default();
        Some(ProviderInstance {
            address: of.address.clone(),
            former: settings.clone(),
            settings,
        })
    }
}

/// The configurations that a state records, by the references of its records.
#[derive(Debug, Default)]
pub struct RecordedInstances(Vec<(ProviderRef, ProviderInstance)>);

impl RecordedInstances {
    /// The configurations in a state.
    pub fn of(snapshot: &Snapshot) -> RecordedInstances {
        let declared = snapshot
            .records
            .iter()
            .filter(|(_, record)| record.type_name.name().as_ref() == PROVIDER_TYPE);
        let mut all = Vec::new();
        for (address, record) in declared {
            let ids =
                std::iter::once(&record.id).chain(record.deposed_objects().map(|old| &old.id));
            for of in ids.map(|id| ProviderRef {
                address: address.clone(),
                id: id.clone(),
            }) {
                all.extend(
                    ProviderInstance::recorded(&of, snapshot).map(|instance| (of, instance)),
                );
            }
        }
        RecordedInstances(all)
    }

    /// The configuration that a record refers to, or else the current one at the same address.
    /// `None` if the state has neither.
    pub fn get(&self, of: Option<&ProviderRef>) -> Option<&ProviderInstance> {
        let of = of?;
        let named = self.0.iter().find(|(known, _)| known == of);
        let found = named.or_else(|| self.0.iter().find(|(known, _)| known.address == of.address));
        found.map(|(_, instance)| instance)
    }
}

/// A provider's remark about its settings, made when its session was opened.
#[derive(Clone, Debug, PartialEq)]
pub struct SettingsRemark {
    /// The provider: its namespace, or the address of the resource that declares the configuration.
    pub provider: Name,
    /// The address of the declaring resource; `None` for the default configuration.
    pub instance: Option<Address>,
    /// The place of the setting in the configuration file, as `FILE:LINE:COLUMN`.
    pub written: Option<Name>,
    /// The remark of the provider, without secrets.
    pub diagnostic: ProviderDiagnostic,
}

/// The subject of a question to a provider. Displayed as its name in messages.
#[derive(Clone, Copy, Debug)]
pub enum Subject<'a> {
    /// A resource.
    Resource(&'a Address),
    /// A data source of this type.
    DataSource(&'a TypeId),
    /// A function.
    Function(&'a str),
}

/// A request to a provider. The provider contract defines the requests.
#[derive(Clone, Copy, Debug)]
pub enum ProviderRequest<'a> {
    /// The validation of a spec. The reply is [`ProviderReply::Checked`].
    Check(CheckRequest<'a>),
    /// The current state of a resource. The reply is [`ProviderReply::Read`].
    Read(ReadRequest<'a>),
    /// The plan of a change. The reply is [`ProviderReply::Planned`].
    Plan(PlanRequest<'a>),
    /// The preflight of an operation. The reply is [`ProviderReply::Preflight`].
    Preflight(PreflightRequest<'a>),
    /// The candidates of a data source. The reply is [`ProviderReply::Fetched`].
    Fetch(FetchRequest<'a>),
    /// The value of a function. The reply is [`ProviderReply::Returned`].
    Invoke(InvokeRequest<'a>),
    /// Existing resources by the id of an import. The reply is [`ProviderReply::Imported`].
    Import(ImportRequest<'a>),
    /// Recorded values to be converted to the current version of their schema. The reply is
    /// [`ProviderReply::Upgraded`].
    Upgrade(UpgradeRequest<'a>),
    /// The effect of the provider's settings on resources that were managed with its former
    /// settings. The reply is [`ProviderReply::Configured`].
    Configure,
}

/// The reply of a provider, by [`ProviderRequest`].
#[derive(Clone, Debug)]
pub enum ProviderReply {
    /// The provider's findings about a spec.
    Checked(CheckFindings),
    /// The result of a read.
    Read(ReadOutcome),
    /// The plan of a change.
    Planned(Planned),
    /// The result of a preflight.
    Preflight(Preflight),
    /// The candidates of a data source.
    Fetched(Fetched),
    /// The value of a function.
    Returned(Value),
    /// The resources that an import found.
    Imported(Vec<Imported>),
    /// The recorded values in the current version of their schema.
    Upgraded(Upgraded),
    /// The effect of a change of settings.
    Configured(SettingsChange),
}

/// A resource as the subject of a question to its provider.
#[derive(Clone, Copy, Debug)]
pub struct ResourceTarget<'a> {
    /// The namespace of its provider.
    pub namespace: &'a str,
    /// The configuration of its provider; `None` for the default configuration.
    pub instance: Option<&'a ProviderInstance>,
    /// The address of the resource.
    pub address: &'a Address,
    /// The declaration of the resource.
    pub site: DeclarationSite<&'a str>,
}

impl<'a> ResourceTarget<'a> {
    /// The resource of this type at an address.
    pub fn new(
        address: &'a Address,
        type_name: &'a TypeId,
        site: DeclarationSite<&'a str>,
    ) -> ResourceTarget<'a> {
        ResourceTarget {
            namespace: type_name.package_name(),
            instance: None,
            address,
            site,
        }
    }

    /// The same resource, managed with this configuration of its provider; `None` for the default
    /// configuration.
    pub fn managed_by(self, instance: Option<&'a ProviderInstance>) -> ResourceTarget<'a> {
        ResourceTarget { instance, ..self }
    }

    /// A question about this resource.
    pub fn question(self, request: ProviderRequest<'a>) -> ProviderQuestion<'a> {
        let ResourceTarget {
            namespace,
            instance,
            address,
            site,
        } = self;
        ProviderQuestion {
            namespace,
            instance,
            subject: Subject::Resource(address),
            site,
            request,
        }
    }
}

impl fmt::Display for Subject<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Resource(address) => address.fmt(f),
            Subject::DataSource(type_name) => f.write_str(type_name),
            Subject::Function(name) => f.write_str(name),
        }
    }
}

impl Question<'_> {
    /// The reply of a world that does not answer this question: an error with this message, of the
    /// kind of the question. A question without an answer counts as done.
    pub fn refused(&self, message: &str) -> Reply {
        match self {
            Question::Provider(_) => {
                Reply::Provider(Err(ProviderError::new(ErrorKind::Permanent, message)))
            }
            Question::File { .. } | Question::Http { .. } => Reply::Bytes(Err(SourceError {
                message: message.to_owned(),
            })),
            Question::Document(_) => Reply::Document(Err(source::SourceError::broken(message))),
            Question::Transform { .. } => Reply::Transformed(Err(TransformError::whole(message))),
            Question::Package(_) => Reply::Package(Err(message.into())),
            Question::Recall(_) | Question::Pause { .. } => Reply::Done,
        }
    }
}

/// The error for a reply of another kind than the question.
pub(crate) fn internal_error() -> ProviderError {
    ProviderError::new(ErrorKind::Permanent, OTHER_KIND)
}
