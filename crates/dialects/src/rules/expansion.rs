//! Groups of members, and documents that depend on their inputs.

use blueprint::{Blueprint, Expansion};
use diag::Diagnostics;

use crate::{Evaluating, Expanded, Expanding};

/// How a dialect writes out groups, and settles documents.
pub trait ExpansionRules: Send + Sync {
    /// The document that a group of members is, in one of its places. Never fails: what is wrong is reported in the
    /// answer.
    fn expand(&self, _expansion: &Expansion, _place: &Expanding<'_>) -> Expanded {
        Expanded::default()
    }

    /// An [unsettled](Blueprint::unsettled) document in one of its places, where `value` evaluates an expression:
    /// Unknown as far as it is not known before the deployment, or the error unless that is reported elsewhere.
    /// `complete`: what is not known now never will be in time.
    fn settle(
        &self,
        blueprint: &Blueprint,
        _complete: bool,
        _value: Evaluating<'_>,
        _found: &mut Diagnostics,
    ) -> Blueprint {
        blueprint.clone()
    }
}
