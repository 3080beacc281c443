//! Checks children by value: their inputs are declared, complete and valid.

use std::collections::{HashMap, HashSet};

use blueprint::{Child, Expr, ExprKind, Name, Value};
use diag::{Diagnostics, Severity};
use dialect::{ExpressionPart, ExpressionPlace, Mistake, SpecAt};
use provider::TypeRef;

use super::known::KnownValues;
use super::policies::Policies;
use crate::check::edges::read_by;
use crate::check::{Checker, PassedInputs, codes, compute_passed_inputs};

impl Checker<'_> {
    /// Checks every child, and stores its inputs.
    pub(crate) fn children_by_value(&mut self, known: &KnownValues<'_>) {
        self.child_definitions(known);
        self.child_inputs_by_value(known);
    }

    /// Checks the definitions of groups and the policies of children.
    fn child_definitions(&mut self, known: &KnownValues<'_>) {
        let blueprint = self.blueprint;
        for (name, child) in &blueprint.children {
            let mut found = Diagnostics::new();
            let ty = child
                .expansion
                .as_ref()
                .map(|it| self.catalogs.resource_type(&it.kind.item));
            let ty = ty.as_ref().and_then(|ty| {
                if let TypeRef::Known(ty) = ty {
                    Some(ty)
                } else {
                    None
                }
            });
            let is_present = child
                .condition
                .as_ref()
                .is_none_or(|it| !known.is_false(it));
            self.removal(child.removal.as_deref(), known);
            // Neither groups nor children support snapshots.
            let policies = Policies {
                type_name: child.stands_for.as_ref().map_or_else(
                    || {
                        child
                            .path
                            .as_literal()
                            .and_then(Value::as_text)
                            .unwrap_or_default()
                    },
                    |written| &written.item,
                ),
                removal: child.removal.as_deref(),
                update: match &child.expansion {
                    Some(expansion) => expansion.policy.as_ref(),
                    // A child's document receives its policy as an input.
                    None => child
                        .inputs
                        .iter()
                        .find_map(|(input, value)| match &value.kind {
                            ExprKind::Map(value)
                                if self.rules.children.is_passed_undeclared(&input.item) =>
                            {
                                value
                                    .iter()
                                    .find(|(key, _)| key.item.as_ref() == "update_policy")
                                    .map(|(_, policy)| policy)
                            }
                            _ => None,
                        }),
                },
                allowed: ty.and_then(|ty| ty.update_policy.as_ref()),
                snapshots: false,
            };
            if let Some(own) = read_by(child)
                .into_iter()
                .find(|read| read.item == *name)
                .filter(|_| is_present)
            {
                let mut itself = codes::SELF_REFERENCE
                    .new(format!("`{name}` reads itself"))
                    .label(own.span, "this is the resource being defined")
                    .help("take the reference away");
                let round = [(name.as_ref(), policies.type_name)];
                itself.native_message = self
                    .rules
                    .messages
                    .of(&Mistake::Cycle(&round))
                    .map(Box::new);
                found.push(itself);
            }
            if is_present {
                self.policies(name, policies, known, &mut found);
            }
            let Some(expansion) = child.expansion.as_ref().filter(|_| is_present) else {
                self.found.append(found);
                continue;
            };
            let place = ExpressionPlace::new(ExpressionPart::Spec, name, &expansion.spec);
            self.attributes(place, &mut found);
            let value = known.value_at(place, &mut found);
            let ty = self.catalogs.resource_type(&expansion.kind.item);
            if let (Some(value), TypeRef::Known(ty)) = (value, ty) {
                let expr = &expansion.spec;
                let holder = expansion.spec_key;
                let at = SpecAt {
                    expr,
                    missing_part_span: holder,
                    resource: name,
                    part: ExpressionPart::Spec,
                    is_external: false,
                };
                self.fit(&value, at, &ty.schema, &mut found);
            }
            self.found.append(found);
        }
    }

    /// Checks that inputs of children are declared, complete and valid.
    fn child_inputs_by_value(&mut self, known: &KnownValues<'_>) {
        for (at, (name, child)) in self.blueprint.children.iter().enumerate() {
            let mut found = Diagnostics::new();
            let passed = self.child_by_value(at, name, child, known, &mut found);
            self.passed.push(passed);
            // An absent child is checked too, but its errors are only notes.
            if child
                .condition
                .as_ref()
                .is_some_and(|it| known.is_false(it))
            {
                found
                    .iter_mut()
                    .for_each(|one| one.severity = Severity::Note);
            }
            self.found.append(found);
        }
    }

    fn child_by_value(
        &self,
        at: usize,
        name: &Name,
        child: &Child,
        known: &KnownValues<'_>,
        found: &mut Diagnostics,
    ) -> Option<PassedInputs> {
        let mut values: HashMap<*const Expr, Option<Value>, foldhash::fast::FixedState> =
            HashMap::default();
        for (input, value) in &child.inputs {
            // Report errors of a group's inputs at its definition, which contains them.
            let place = ExpressionPlace::given(name, &input.item, value);
            if child.expansion.is_some() {
                values.insert(value, known.value(value, &mut Diagnostics::new()));
                continue;
            }
            values.insert(value, known.value_at(place, found));
            self.attributes(place, found);
        }
        let included = &self.child(at)?.checked;
        let below = &included.blueprint;
        if let Some(written) = &child.stands_for
            && let TypeRef::Known(ty) = self.catalogs.resource_type(&written.item)
        {
            let attributes: Vec<Name> =
                ty.attribute_names().map(|(name, _)| name.clone()).collect();
            included.rules.children.check_substitution(
                below,
                written,
                &ty.schema,
                &attributes,
                found,
            );
        }
        let inputs = &below.inputs;
        // Prefer the document's name to the child's: all members of a group have the same error, so
        // it is reported once.
        let written = child
            .stands_for
            .as_ref()
            .map(|written| written.item.as_ref());
        let written = written.or_else(|| child.path.as_literal()?.as_text());
        let document = written.map_or_else(
            || format!("the document of `{name}`"),
            |written| format!("`{written}`"),
        );
        for (given, _) in &child.inputs {
            if !inputs.contains_key(&given.item)
                && !self.rules.children.is_passed_undeclared(&given.item)
            {
                let mut unknown = codes::UNKNOWN_SPEC_FIELD
                    .new(format!("{document} has no parameter `{}`", given.item))
                    .label(given.span, "not declared there")
                    .help_nearest(&given.item, inputs.keys().map(|name| name.as_ref()));
                let mistake = Mistake::NoInput {
                    child: name,
                    input: &given.item,
                };
                unknown.native_message = self.rules.messages.of(&mistake).map(Box::new);
                found.push(unknown);
            }
        }
        let given: HashSet<&Name, foldhash::fast::FixedState> =
            child.inputs.iter().map(|(given, _)| &given.item).collect();
        for (input, declared) in inputs {
            if !given.contains(input) && declared.default.is_none() {
                let mut missing = codes::MISSING_SPEC_FIELD
                    .new(format!("{document} needs its parameter `{input}`"))
                    .label(
                        child.span,
                        format!("`{input}` is not given and has no default"),
                    );
                let mistake = Mistake::InputMissing { child: name, input };
                missing.native_message = self.rules.messages.of(&mistake).map(Box::new);
                found.push(missing);
            }
        }
        let value = |expr: &Expr| values.get(&std::ptr::from_ref(expr)).cloned().flatten();
        compute_passed_inputs(
            child,
            below,
            &included.rules,
            value,
            found,
            |one, input, expr| {
                self.rules
                    .messages
                    .complete_at(one, &ExpressionPlace::given(name, input, expr));
            },
        )
    }
}
