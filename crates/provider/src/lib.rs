//! The contract of a provider: fixed facts as data ([`Catalog`]) and two small traits
//! ([`Provider`], [`Session`]).
//!
//! A provider manages the resources of a namespace: files, keys, a cloud. It knows no document, no
//! plan and no state. It sees values, never expressions, except in a [`transform`], which turns
//! abstract resources into real ones. Every implementation passes the suite
//! `contract_tests::provider`; `fake` is the strictest of these implementations.
//!
//! Not here: any provider (`providers`); the choice and order of calls (`engine`).
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

mod call_records;
mod catalog;
mod catalog_file;
mod catalogs;
pub mod codes;
mod contract;
mod diagnostic;
mod fit;
mod found_program;
mod hosted_package;
mod instances;
pub mod json;
mod link_kind;
mod operation;
mod overlay;
mod package_functions;
mod planning;
mod preflight;
mod provider_names;
mod provider_set;
mod rate_limits;
mod scrub;
pub mod transform;
mod type_source;
mod types;
mod unavailable;

pub use call_records::{CallProgress, CallRecords};
pub use catalog::Catalog;
pub use catalog_file::{CatalogError, read_catalog, read_catalog_over, read_limits};
pub use catalogs::{CatalogOrigin, Catalogs, LazyCatalog, TypeRef, combine};
pub use contract::{
    ApplyRequest, BoxFuture, Call, Candidate, CheckFindings, CheckRequest, Configuration,
    Configured, FetchRequest, Fetched, FileAccess, ImportRequest, Imported, InvokeRequest,
    Observed, Progress, Provider, ReadOutcome, ReadRequest, Readiness, RecordedObject, Session,
    SettingsChange, UpgradeRequest, Upgraded, configured,
};
pub use diagnostic::{Finding, ProviderDiagnostic, ProviderSeverity};
pub use fit::{Direction, Fit, Misfit};
pub use found_program::{FoundProgram, ProgramQuery};
pub use hosted_package::HostedPackage;
pub use instances::{FoundResource, InstanceReader, InstanceReference};
pub use link_kind::{LinkEffect, LinkEnd, LinkKind, LinkPart, LinkUse, Side, WriteMode};
pub use operation::{Applied, ErrorKind, Operation, ProviderError, Ready};
pub use overlay::{conflicting_names, overlay};
pub use planning::{PlanMode, PlanPhase, PlanRequest, Planned, Verdict};
pub use preflight::{Preflight, PreflightRequest, SourceContent, SourceRead, SourceTexts};
pub use provider_names::ProviderNames;
pub use provider_set::{Providers, SettingsSource};
pub use rate_limits::{Limits, Rate, Retries, RetryPolicy, TokenBucket};
pub use scrub::{RunScrubber, Scrubber};
pub use transform::{Transform, TransformError};
pub use type_source::{TypeSource, plain_name};
pub use types::{
    AbstractType, Annotation, Attribute, Attributes, Capabilities, CustomType, DataSourceType,
    FilterField, FilterType, Hosted, ImplicitDependency, OptionOf, Plans, Rejection, ReplacesWhere,
    ResourceType, Setting, TransformDef, depends_on_changes,
};
pub use unavailable::{SessionFailure, Unavailable};

pub use expr::Arguments;
