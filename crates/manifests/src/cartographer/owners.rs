//! Lowers the owners: what the chain of a workload or a deliverable stamps for it.

use blueprint::{
    Expr, ExprKind, IndexMap, Local, Name, ReadinessRule, Ref, ReferenceHead, Resource, Type, Value,
};
use cartographer::kinds::CartoKind;
use cartographer::selection::{OptionChoice, Selection};
use diag::{Span, Spanned};

use super::codes::{GENERATED, NO_CHAIN, NO_OPTION, SEVERAL_CHAINS, STAMP_FAILED, UNKNOWN_TEMPLATE};
use super::functions::{OUTPUT, READY};
use super::lowering::LoweredParts;
use super::platform::{CartoObject, Platform};
use super::stamping::{StampContext, StampMistake, rendered, stamped, steps};
use super::written::{part_at, place_at};

/// Lowers owners with the chains and templates of a platform.
pub(super) struct OwnerLowering<'p> {
    /// The platform.
    pub(super) platform: &'p Platform,
}

/// One resource of the chain of an owner.
struct ChainResource<'r> {
    owner: &'r CartoObject,
    chain: &'r CartoObject,
    /// The entry of the chain.
    entry: &'r Value,
    /// The entry with its places.
    written: &'r Expr,
    /// The name in the chain.
    name: &'r Name,
    /// The beginning of the names of all resources of the owner.
    prefix: &'r str,
}
