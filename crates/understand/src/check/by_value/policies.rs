//! Checks policies: the type must support the policies for removal and updates.

use std::sync::Arc;

use blueprint::{Expr, Name};
use diag::{Diagnostic, Diagnostics, Span};
use dialect::rules::MessageRules;
use dialect::{ExpressionPart, ExpressionPlace, Mistake, SpecAt};

use super::known::KnownValues;
use crate::check::Checker;

/// The removal and update policies of a resource, and the policies that its type supports.
pub(super) struct Policies<'p> {
    pub(super) type_name: &'p str,
    pub(super) removal: Option<&'p Expr>,
    pub(super) update: Option<&'p Expr>,
    pub(super) allowed: Option<&'p Arc<blueprint::Schema>>,
    pub(super) snapshots: bool,
}

impl Checker<'_> {
    /// Checks that the removal policy is a known word, even if the resource is absent.
    pub(super) fn removal(&mut self, removal: Option<&Expr>, known: &KnownValues<'_>) {
        let Some(removal) = removal else { return };
        let Some(policy) = known
            .value(removal, &mut Diagnostics::new())
            .filter(|policy| !policy.has_unknown())
        else {
            return;
        };
        let refused = self
            .rules
            .specs
            .removal(&policy.revealed(), &self.blueprint.version);
        self.found.extend(
            refused.map(|refused| refused.label(removal.span, "it evaluates to this value")),
        );
    }

    /// Checks that the type supports the removal and update policies.
    pub(super) fn policies(
        &self,
        name: &Name,
        policies: Policies<'_>,
        known: &KnownValues<'_>,
        found: &mut Diagnostics,
    ) {
        if let Some(removal) = policies.removal
            && let Some(word) = known.value_at(
                ExpressionPlace::new(ExpressionPart::Removal, name, removal),
                found,
            )
            && word
                .revealed()
                .as_text()
                .is_some_and(|word| word.eq_ignore_ascii_case("snapshot"))
            && !policies.snapshots
        {
            let messages = self.rules.messages;
            found.push(no_snapshot(
                name,
                policies.type_name,
                removal.span,
                messages,
            ));
        }
        let Some(policy) = policies.update else {
            return;
        };
        let none = Arc::new(blueprint::Schema::default());
        let schema = policies.allowed.unwrap_or(&none);
        let place = ExpressionPlace::new(ExpressionPart::UpdatePolicy, name, policy);
        self.attributes(place, found);
        if let Some(value) = known.value_at(place, found) {
            let at = SpecAt {
                expr: policy,
                missing_part_span: policy.span,
                resource: name,
                part: ExpressionPart::UpdatePolicy,
                is_external: false,
            };
            self.fit(&value, at, schema, found);
        }
    }
}

/// The diagnostic for a removal policy at `policy` that wants a snapshot of a resource whose type
/// has none.
pub fn no_snapshot(
    name: &str,
    type_name: &str,
    policy: Span,
    messages: &dyn MessageRules,
) -> Diagnostic {
    let mut none = dialect::codes::INVALID_DELETION_POLICY
        .new(format!("no snapshot can be taken of a `{type_name}`"))
        .label(policy, "not possible for this type");
    none.native_message = messages.of(&Mistake::NoSnapshot(name)).map(Box::new);
    none
}
