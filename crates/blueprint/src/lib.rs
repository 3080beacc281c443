//! The shared vocabulary: the result of lowering a dialect, and the input of the planner and of
//! providers.
//!
//! Values and their types, expression trees, schemas, addresses, and the [`Blueprint`] itself: one
//! immutable resource graph without dialect. Everything carries its place in the source.
//!
//! Not here: evaluation of expressions (`expr`), dialects (`dialect`), catalogues (`provider`).
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

mod address;
mod batches;
mod breakpoint;
mod document;
mod duration;
mod expression;
mod field_path;
mod home;
mod map;
mod names;
mod number;
mod package_calls;
mod package_family;
mod schema;
mod site;
mod ties;
mod type_id;
mod types;
mod value;
pub mod wire;

pub use address::{Address, AddressError, AddressParts, Key, LinkName};
pub use batches::Batches;
pub use breakpoint::{Breakpoint, Breakpoints};
pub use document::{
    Blueprint, Child, ConditionalErrors, DataSource, DataSourceExport, DeleteMode, Each, Expansion,
    Export, Filter, Input, Lifecycle, LinkSelector, Local, Move, Origin, ReadinessRule,
    ReplaceOrder, Resource, ResourceMetadata, Restricted, SourceMetadata, Timeouts,
};
pub use duration::{DurationError, format_duration, parse_duration};
pub use expression::{
    Accessor, AccessorKind, Argument, CallExpr, ChoiceExpr, Expr, ExprKind, Ref, ReferenceHead,
    TextPart,
};
pub use field_path::{FieldPath, PathStep};
pub use home::home_mistake;
pub use map::{Entries, IndexMap, MapIter, MapIterMut};
pub use names::Names;
pub use number::{format_float, parse_float, parse_integer};
pub use package_calls::{INVOKE, PackageCall};
pub use package_family::{PackageFamily, is_package_name};
pub use schema::{Constraint, Field, Kind, OpaqueKind, Schema, StandsFor, SupportStatus};
pub use site::DeclarationSite;
pub use ties::{FormerIdentity, FormerParent, StatedPlugin, Ties};
pub use type_id::{Package, Packages, TypeId};
pub use types::{ObjectType, Type};
pub use value::{Asset, Function, Map, Unknown, Value};

/// The type of resources that declare a further configuration of a provider.
pub const PROVIDER_TYPE: &str = "cyan/provider";

/// A name of a document. A clone copies a pointer.
pub type Name = std::sync::Arc<str>;
