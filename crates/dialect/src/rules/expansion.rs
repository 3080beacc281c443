//! Groups of members, and documents that depend on their inputs.

use blueprint::{Blueprint, Expansion};
use diag::Diagnostics;

use crate::{EvaluateFn, Expanded, ExpansionContext};

/// The rules for expanding groups and settling documents.
pub trait ExpansionRules: Send + Sync {
    /// Expands a group of members to a document, in one of its places. Never fails: mistakes are
    /// part of the result.
    fn expand(&self, _expansion: &Expansion, _place: &ExpansionContext<'_>) -> Expanded {
        Expanded::default()
    }

    /// Settles an [unsettled](Blueprint::unsettled) document in one of its places. `value`
    /// evaluates an expression: parts that are not known before the deployment are unknown, and an
    /// error is `None` if it is reported elsewhere. `complete`: values that are unknown now will
    /// not become known in time.
    fn resolve_computed_parts(
        &self,
        blueprint: &Blueprint,
        _complete: bool,
        _value: EvaluateFn<'_>,
        _found: &mut Diagnostics,
    ) -> Blueprint {
        blueprint.clone()
    }
}
