//! The contract that a provider fulfils: fixed facts as data ([`Catalog`]) and one small trait ([`Provider`]).
//!
//! A provider manages real things of some namespace: files, keys, a cloud. It knows no document, no plan and no state;
//! it sees values, never expressions, except where it turns abstract resources into real ones ([`transform`]). Every implementation passes [`conformance`]; `fake` is the strictest of them.
//!
//! Not here: any provider (`providers`); deciding what to call and when (`engine`).
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

mod catalog;
mod catalog_file;
mod catalogs;
pub mod codes;
pub mod conformance;
mod contract;
mod fit;
mod lazy;
mod overlay;
mod pace;
mod preflight;
mod scrub;
pub mod transform;

pub use catalog::{
    AbstractType, Annotation, Attribute, Attributes, Capabilities, Catalog, Catalogs, CustomType, DataSourceType,
    FilterField, FilterType, Hosted, LinkEffect, LinkEnd, LinkKind, LinkPart, LinkUse, Operation, Opinion, OptionOf,
    Rejection, ReplacesWhere, ResourceType, Setting, Side, TransformDef, TypeRef, Wait, follows,
};
pub use catalog_file::{CatalogError, read_catalog, read_catalog_over, read_limits};
pub use catalogs::combine;
pub use contract::{
    Applied, ApplyRequest, BoxFuture, Call, Candidate, CheckRequest, Checked, ErrorKind, FetchRequest, Fetched,
    PlanRequest, Planned, Progress, Provider, ProviderError, ReadRequest, Recalled, Seen, Stability,
};
pub use fit::{Direction, Fit, Misfit};
pub use lazy::{TypeSource, plain_name};
pub use overlay::{overlay, twice};
pub use pace::{Limits, Rate, Retries, RetryPolicy};
pub use preflight::{Preflight, PreflightRequest, SourceContent, SourceRead};
pub use scrub::{RunScrub, Scrub};
pub use transform::{Transform, TransformError};
