//! Checks of documents whose dialect has conventions of its own: what each expression comes to as far as everything is known,
//! and whether that fits.
//!
//! What is not known before anything exists is Unknown here, and fits everywhere. So the same code that makes values at
//! stage says at check what is wrong with those that are written out.
//!
//! Not here: names that lead nowhere in the document itself, which the dialect reports.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use blueprint::{AccessorKind, Child, Expr, ExprKind, Head, Name, Ref, Resource, Type, TypeId, Value};
use diag::{Diagnostic, Diagnostics, Severity, Span};
use dialects::{Conventions, Mistake, Part, Place, SpecAt};
use expr::{Ask, AskFailure, Read, Scope, Stop};
use provider::TypeRef;

use super::providers::TypeOf;
use super::{Checker, Passed, codes, pass_down};
use crate::documents::whole::read_by;
use crate::graph::Graph;

impl Checker<'_> {
    /// Checks everything but names, types of resources and order, which are checked for all dialects alike.
    pub(super) fn by_conventions(&mut self, conventions: &dyn Conventions, graph: &Graph) {
        let blueprint = self.blueprint;
        self.input_types = vec![Type::Any; blueprint.inputs.len()];
        self.custom_types = vec![None; blueprint.inputs.len()];
        self.local_types = vec![Type::Any; blueprint.locals.len()];
        let mut known = Known {
            checker_inputs: self.inputs,
            blueprint,
            locals: Vec::new(),
            functions: self.functions,
            // What is set counts where the documents are evaluated; here what would take too much is just not known.
            meter: Cell::new(expr::Meter::new(Some(expr::MOST), None)),
        };
        known.locals = vec![Value::unknown(None, None); blueprint.locals.len()];
        for node in graph.order() {
            let crate::graph::Node::Local(at) = node else { continue };
            let Some((name, local)) = blueprint.locals.get_index(at as usize) else { continue };
            if let Some(value) =
                known.value_at(conventions, Place::new(Part::Local, name, &local.value), &mut self.found)
            {
                known.locals[at as usize] = value;
            }
        }
        let mut gone: HashSet<Span, foldhash::fast::FixedState> = HashSet::default();
        for (at, (name, resource)) in blueprint.resources.iter().enumerate() {
            // What is not there is looked at too, but can be no mistake.
            let condition = resource.condition.as_deref();
            let there = condition.is_none_or(|it| !known.is_false(it));
            self.removal(conventions, resource.removal.as_deref(), &known);
            let mut mine = Diagnostics::new();
            match &resource.switched_off {
                Some(spec) => {
                    let whole = Resource { spec: (**spec).clone(), switched_off: None, ..resource.clone() };
                    self.spec_by_conventions(conventions, at, name, &whole, &known, &mut mine);
                }
                None => self.spec_by_conventions(conventions, at, name, resource, &known, &mut mine),
            }
            if there {
                self.found.append(mine);
            } else {
                self.found.extend(mine.iter().map(|one| one.clone().graded(Severity::Note)));
                gone.insert(resource.type_name.span);
            }
        }
        if !gone.is_empty() {
            // Nor can its type be one that nobody knows.
            let all = std::mem::take(&mut self.found);
            self.found.extend(all.iter().map(|one| {
                let one = one.clone();
                if gone.contains(&one.span()) { one.graded(Severity::Note) } else { one }
            }));
        }
        for (name, export) in &blueprint.exports {
            let place = Place::new(Part::Export, name, &export.field);
            // What is not shown stands for whatever may be read, and is no mistake before it is.
            if !export.hidden {
                self.gone(conventions, place, &export.field, &known);
            }
            export.field.references(&mut |reference| {
                let found = self.attribute(conventions, place, reference);
                // What a child does not export fails only the output that reads it.
                let only_a_warning = export.may_fail && matches!(reference.head, Head::Child(_));
                let severity = |one: Diagnostic| if only_a_warning { one.graded(Severity::Warning) } else { one };
                self.found.extend(found.map(severity));
            });
        }
        for (name, child) in &blueprint.children {
            let mut found = Diagnostics::new();
            let ty = child.expansion.as_ref().map(|it| self.catalogs.resource_type(&TypeId::from(&it.kind.item)));
            let ty = ty.as_ref().and_then(|ty| if let TypeRef::Known(ty) = ty { Some(ty) } else { None });
            let there = child.condition.as_ref().is_none_or(|it| !known.is_false(it));
            self.removal(conventions, child.removal.as_deref(), &known);
            // No group and no child can be kept as a snapshot.
            let policies = Policies {
                type_name: child.stands_for.as_ref().map_or_else(
                    || child.path.as_literal().and_then(Value::as_text).unwrap_or_default(),
                    |written| &written.item,
                ),
                removal: child.removal.as_deref(),
                update: match &child.expansion {
                    Some(expansion) => expansion.policy.as_ref(),
                    // A document gets to know what is said of it.
                    None => child.inputs.iter().find_map(|(input, said)| match &said.kind {
                        ExprKind::Map(said) if conventions.is_handed_unasked(&input.item) => {
                            said.iter().find(|(key, _)| key.item.as_ref() == "update_policy").map(|(_, policy)| policy)
                        }
                        _ => None,
                    }),
                },
                allowed: ty.and_then(|ty| ty.update_policy.as_ref()),
                snapshots: false,
            };
            if let Some(own) = read_by(child).into_iter().find(|read| read.item == *name).filter(|_| there) {
                let mut itself = codes::SELF_REFERENCE
                    .new(format!("`{name}` reads itself"))
                    .label(own.span, "this is the resource being defined")
                    .help("take the reference away");
                let round = [(name.as_ref(), policies.type_name)];
                itself.words = conventions.words(&Mistake::Circle(&round)).map(Box::new);
                found.push(itself);
            }
            if there {
                self.policies(name, policies, conventions, &known, &mut found);
            }
            let Some(expansion) = child.expansion.as_ref().filter(|_| there) else {
                self.found.append(found);
                continue;
            };
            let place = Place::new(Part::Spec, name, &expansion.spec);
            self.attributes(conventions, place, &mut found);
            let value = known.value_at(conventions, place, &mut found);
            let ty = self.catalogs.resource_type(&TypeId::from(&expansion.kind.item));
            if let (Some(value), TypeRef::Known(ty)) = (value, ty) {
                let (expr, holder) = (&expansion.spec, expansion.spec_key);
                let at = SpecAt { expr, holder, resource: name, part: Part::Spec };
                conventions.spec(&value, at, &ty.schema, &mut found);
            }
            self.found.append(found);
        }
        self.children_by_conventions(conventions, &known);
    }

    fn spec_by_conventions(
        &self,
        conventions: &dyn Conventions,
        at: usize,
        name: &Name,
        resource: &Resource,
        known: &Known<'_>,
        found: &mut Diagnostics,
    ) {
        resource.spec.references(&mut |reference| {
            if matches!(&reference.head, Head::Resource { name: read, .. } if read == name) {
                let mut itself = codes::SELF_REFERENCE
                    .new(format!("`{name}` reads itself"))
                    .label(reference.head_span, "this is the resource being defined")
                    .help("take the reference away");
                let round = [(name.as_ref(), resource.type_name.item.as_ref())];
                itself.words = conventions.words(&Mistake::Circle(&round)).map(Box::new);
                found.push(itself);
            }
        });
        if let Some(id) = &resource.lifecycle.external
            && let Some(needed) = resource.depends_on.first()
        {
            let mut depends = codes::EXTERNAL_DEPENDENCY
                .new(format!("`{name}` exists elsewhere and cannot depend on `{}`", needed.item))
                .label(needed.span, "named here");
            let mistake = Mistake::ExternalDepends { type_name: &resource.type_name.item, id };
            depends.words = conventions.words(&mistake).map(Box::new);
            found.push(depends);
        }
        let spec = Place::new(Part::Spec, name, &resource.spec);
        // Of what takes anything nothing is evaluated.
        let takes_anything = matches!(&self.resources[at], TypeOf::Known(ty) if ty.takes_anything());
        if !takes_anything {
            self.attributes(conventions, spec, found);
        }
        if let Some(metadata) = &resource.metadata.custom {
            let metadata = Place::new(Part::Metadata, name, metadata);
            self.attributes(conventions, metadata, found);
            let _ = known.value_at(conventions, metadata, found);
        }
        if let TypeOf::Known(ty) = &self.resources[at] {
            let policies = Policies {
                type_name: &ty.name,
                removal: resource.removal.as_deref(),
                update: resource.update_policy.as_deref().filter(|_| !takes_anything),
                allowed: ty.update_policy.as_ref(),
                snapshots: ty.capabilities.snapshots || takes_anything,
            };
            self.policies(name, policies, conventions, known, found);
        }
        if takes_anything {
            return;
        }
        // Where a part is in error the others are looked at all the same.
        let value = known.value_at(conventions, spec, found).unwrap_or_else(|| known.parts(&resource.spec));
        if let Some(schema) = self.resources[at].schema() {
            let (expr, holder) = (&resource.spec, resource.spec_key);
            let at = SpecAt { expr, holder, resource: name, part: Part::Spec };
            conventions.spec(&value, at, schema, found);
        }
    }

    /// What is said of the removal of a thing is one of the words for it, also where the thing is not there.
    fn removal(&mut self, conventions: &dyn Conventions, removal: Option<&Expr>, known: &Known<'_>) {
        let Some(removal) = removal else { return };
        let Some(said) = known.value(removal, &mut Diagnostics::new()).filter(|said| !said.has_unknown()) else {
            return;
        };
        let refused = conventions.removal(&said.revealed(), &self.blueprint.version);
        self.found.extend(refused.map(|refused| refused.label(removal.span, "this is what it comes to")));
    }

    /// What is said of removal and of updates is something that the type can do.
    fn policies(
        &self,
        name: &Name,
        policies: Policies<'_>,
        conventions: &dyn Conventions,
        known: &Known<'_>,
        found: &mut Diagnostics,
    ) {
        if let Some(removal) = policies.removal
            && let Some(word) = known.value_at(conventions, Place::new(Part::Removal, name, removal), found)
            && word.revealed().as_text().is_some_and(|word| word.eq_ignore_ascii_case("snapshot"))
            && !policies.snapshots
        {
            let mut none = dialects::codes::INVALID_DELETION_POLICY
                .new(format!("no snapshot can be taken of a `{}`", policies.type_name))
                .label(removal.span, "not possible for this type");
            none.words = conventions.words(&Mistake::NoSnapshot(name)).map(Box::new);
            found.push(none);
        }
        let Some(policy) = policies.update else { return };
        let none = Arc::new(blueprint::Schema::default());
        let schema = policies.allowed.unwrap_or(&none);
        let place = Place::new(Part::UpdatePolicy, name, policy);
        self.attributes(conventions, place, found);
        if let Some(value) = known.value_at(conventions, place, found) {
            let at = SpecAt { expr: policy, holder: policy.span, resource: name, part: Part::UpdatePolicy };
            conventions.spec(&value, at, schema, found);
        }
    }

    /// Attributes that are read of what is not there, where the dialect refuses that even if it would fail nothing else.
    fn gone(&mut self, conventions: &dyn Conventions, place: Place<'_>, expr: &Expr, known: &Known<'_>) {
        match &expr.kind {
            ExprKind::Choice(choice) => match known.value(&choice.condition, &mut Diagnostics::new()) {
                Some(Value::Bool(true)) => self.gone(conventions, place, &choice.then, known),
                Some(Value::Bool(false)) => self.gone(conventions, place, &choice.otherwise, known),
                _ => {}
            },
            ExprKind::List(items) => items.iter().for_each(|item| self.gone(conventions, place, item, known)),
            ExprKind::Map(entries) => {
                entries.iter().for_each(|(_, value)| self.gone(conventions, place, value, known));
            }
            ExprKind::Call(call) => {
                let arguments = call.arguments.iter();
                arguments.for_each(|argument| self.gone(conventions, place, &argument.value, known));
            }
            ExprKind::Access(inner, _) => self.gone(conventions, place, inner, known),
            ExprKind::Ref(reference) => {
                let (name, condition) = match &reference.head {
                    Head::Resource { name, .. } => {
                        (name, self.blueprint.resources.get(name).and_then(|it| it.condition.as_deref()))
                    }
                    Head::Child(name) => (name, self.blueprint.children.get(name).and_then(|it| it.condition.as_ref())),
                    _ => return,
                };
                let Some(condition) = condition.filter(|it| known.is_false(it)) else { return };
                if !conventions.reads_attribute(reference) {
                    return;
                }
                let mistake = Mistake::GoneAttribute { of: name, at: (place, reference.head_span) };
                let words = conventions.words(&mistake);
                let mut gone = conventions.absent().new(format!("`{name}` is not there"));
                gone = gone.label(reference.head_span, "read here").label(condition.span, "this is false");
                gone.words = words.map(Box::new);
                self.found.push(gone);
            }
            _ => {}
        }
    }

    /// Fields that an expression reads of resources, and exports that it reads of children, exist.
    fn attributes(&self, conventions: &dyn Conventions, place: Place<'_>, found: &mut Diagnostics) {
        place.expr.references(&mut |reference| found.extend(self.attribute(conventions, place, reference)));
    }

    fn attribute(&self, conventions: &dyn Conventions, place: Place<'_>, reference: &Ref) -> Option<Diagnostic> {
        let words = |of: &str, attribute: &str| {
            let at = Some((place, reference.head_span));
            conventions.words(&Mistake::NoAttribute { of, attribute, at }).map(Box::new)
        };
        match &reference.head {
            Head::Resource { name, .. } => {
                let at = self.blueprint.resources.get_index_of(name)?;
                let TypeOf::Known(ty) = &self.resources[at] else { return None };
                let accessor = reference.path.get(1)?;
                let AccessorKind::Name(attribute) = &accessor.kind else { return None };
                if ty.attribute(attribute).is_some() {
                    return None;
                }
                let mut nothing = expr::codes::UNKNOWN_FIELD
                    .new(format!("`{name}` has no attribute `{attribute}`"))
                    .label(accessor.span, format!("`{}` has no such attribute", ty.name))
                    .help_nearest(attribute, ty.attribute_names().map(|(name, _)| name.as_ref()));
                nothing.words = words(name, attribute);
                Some(nothing)
            }
            Head::Child(name) => {
                let at = self.blueprint.children.get_index_of(name)?;
                let included = self.child(at)?;
                let accessor = reference.path.first()?;
                let AccessorKind::Name(export) = &accessor.kind else { return None };
                if included.checked.blueprint.exports.contains_key(export) {
                    return None;
                }
                let exports = &included.checked.blueprint.exports;
                let shown = exports.iter().filter(|(_, export)| !export.hidden).map(|(name, _)| name.as_ref());
                let mut nothing = expr::codes::UNKNOWN_FIELD
                    .new(format!("`{name}` has no attribute `{export}`"))
                    .label(accessor.span, "its document has no such output")
                    .help_nearest(export, shown);
                nothing.words = words(name, export);
                Some(nothing)
            }
            _ => None,
        }
    }

    /// Inputs of children are declared, none is missing, and what is handed to them fits.
    fn children_by_conventions(&mut self, conventions: &dyn Conventions, known: &Known<'_>) {
        for (at, (name, child)) in self.blueprint.children.iter().enumerate() {
            let mut found = Diagnostics::new();
            let passed = self.child_by_conventions(at, name, child, conventions, known, &mut found);
            self.passed.push(passed);
            // What is not there is looked at too, but can be no mistake.
            if child.condition.as_ref().is_some_and(|it| known.is_false(it)) {
                found.iter_mut().for_each(|one| one.severity = Severity::Note);
            }
            self.found.append(found);
        }
    }

    fn child_by_conventions(
        &self,
        at: usize,
        name: &Name,
        child: &Child,
        conventions: &dyn Conventions,
        known: &Known<'_>,
        found: &mut Diagnostics,
    ) -> Option<Passed> {
        let mut values: HashMap<*const Expr, Option<Value>, foldhash::fast::FixedState> = HashMap::default();
        for (input, value) in &child.inputs {
            // What a group is given is a part of its definition, and said of that.
            let place = Place::given(name, &input.item, value);
            if child.expansion.is_some() {
                values.insert(value, known.value(value, &mut Diagnostics::new()));
                continue;
            }
            values.insert(value, known.value_at(conventions, place, found));
            self.attributes(conventions, place, found);
        }
        let below = &self.child(at)?.checked.blueprint;
        if let Some(written) = &child.stands_for
            && let TypeRef::Known(ty) = self.catalogs.resource_type(&TypeId::from(&written.item))
            && let Some(theirs) = dialects::conventions(below.dialect)
        {
            let attributes: Vec<Name> = ty.attribute_names().map(|(name, _)| name.clone()).collect();
            theirs.stands_for(below, written, &ty.schema, &attributes, found);
        }
        let inputs = &below.inputs;
        // Not by its name where it has another one: members of a group all make the same mistake, which is said once.
        let written = child.stands_for.as_ref().map(|written| written.item.as_ref());
        let written = written.or_else(|| child.path.as_literal()?.as_text());
        let document = written.map_or_else(|| format!("the document of `{name}`"), |written| format!("`{written}`"));
        for (given, _) in &child.inputs {
            if !inputs.contains_key(&given.item) && !conventions.is_handed_unasked(&given.item) {
                let mut unknown = codes::UNKNOWN_SPEC_FIELD
                    .new(format!("{document} has no parameter `{}`", given.item))
                    .label(given.span, "not declared there")
                    .help_nearest(&given.item, inputs.keys().map(|name| name.as_ref()));
                let mistake = Mistake::NoInput { child: name, input: &given.item };
                unknown.words = conventions.words(&mistake).map(Box::new);
                found.push(unknown);
            }
        }
        let given: HashSet<&Name, foldhash::fast::FixedState> =
            child.inputs.iter().map(|(given, _)| &given.item).collect();
        for (input, declared) in inputs {
            if !given.contains(input) && declared.default.is_none() {
                let mut missing = codes::MISSING_SPEC_FIELD
                    .new(format!("{document} needs its parameter `{input}`"))
                    .label(child.span, format!("`{input}` is not given and has no default"));
                let mistake = Mistake::InputMissing { child: name, input };
                missing.words = conventions.words(&mistake).map(Box::new);
                found.push(missing);
            }
        }
        let value = |expr: &Expr| values.get(&std::ptr::from_ref(expr)).cloned().flatten();
        pass_down(child, below, value, found, |one, input, expr| {
            conventions.placed(one, &Place::given(name, input, expr));
        })
    }
}

/// What is said of the removal and the updates of a thing, and what its type can do.
struct Policies<'p> {
    type_name: &'p str,
    removal: Option<&'p Expr>,
    update: Option<&'p Expr>,
    allowed: Option<&'p Arc<blueprint::Schema>>,
    snapshots: bool,
}

/// What is known of a document before anything exists.
struct Known<'k> {
    /// Inputs by position, where they are known.
    checker_inputs: Option<&'k [Value]>,
    blueprint: &'k blueprint::Blueprint,
    /// Named intermediate values by position.
    locals: Vec<Value>,
    functions: &'k expr::FunctionTable,
    /// What values have taken so far.
    meter: Cell<expr::Meter>,
}

impl Known<'_> {
    /// Whether a condition is known not to hold.
    fn is_false(&self, condition: &Expr) -> bool {
        matches!(self.value(condition, &mut Diagnostics::new()), Some(Value::Bool(false) | Value::Null))
    }

    /// What the parts of an expression come to; those in error, which has been said, are unknown.
    fn parts(&self, expr: &Expr) -> Value {
        match &expr.kind {
            ExprKind::List(items) => Value::list(items.iter().map(|item| self.parts(item))),
            ExprKind::Map(entries) => {
                Value::map(entries.iter().map(|(key, value)| (key.item.clone(), self.parts(value))).collect::<Vec<_>>())
            }
            _ => self.value(expr, &mut Diagnostics::new()).unwrap_or_else(|| Value::unknown(None, None)),
        }
    }

    /// The same, the dialect completing what is said of mistakes in an expression that stands there.
    fn value_at(&self, conventions: &dyn Conventions, place: Place<'_>, found: &mut Diagnostics) -> Option<Value> {
        let mut mine = Diagnostics::new();
        let value = self.value(place.expr, &mut mine);
        mine.iter_mut().for_each(|one| conventions.placed(one, &place));
        found.append(mine);
        value
    }

    /// What an expression comes to; none where it is in error, which goes to `found`, or asks something of the world.
    fn value(&self, expr: &Expr, found: &mut Diagnostics) -> Option<Value> {
        let mut frame = KnownFrame { known: self, meter: self.meter.get() };
        let mut mine = Diagnostics::new();
        let outcome = expr::evaluate(expr, self.functions.of(self.blueprint.dialect), &mut frame, &mut mine);
        found.append(mine);
        self.meter.set(frame.meter);
        match outcome {
            Ok(value) => Some(value),
            Err(Stop::Failed(diagnostic)) => {
                found.push(*diagnostic);
                None
            }
            Err(_) => None,
        }
    }
}

struct KnownFrame<'f, 'k> {
    known: &'f Known<'k>,
    meter: expr::Meter,
}

impl Scope for KnownFrame<'_, '_> {
    fn read(&mut self, reference: &Ref) -> Result<Read, Stop> {
        let blueprint = self.known.blueprint;
        let value = match &reference.head {
            Head::Input(name) => {
                let at = blueprint.inputs.get_index_of(name);
                at.and_then(|at| self.known.checker_inputs?.get(at).cloned())
            }
            Head::Local(name) => blueprint.locals.get_index_of(name).map(|at| self.known.locals[at].clone()),
            _ => None,
        };
        match value {
            Some(value) => Ok(Read { value, used: 0 }),
            None => Ok(Read { value: Value::unknown(None, None), used: reference.path.len() }),
        }
    }

    fn answer(&mut self, _: &Ask) -> Option<Result<Value, AskFailure>> {
        Some(Ok(Value::unknown(None, None)))
    }

    fn meter(&mut self) -> Option<&mut expr::Meter> {
        Some(&mut self.meter)
    }

    fn link(&mut self, _: &str, _: &str) -> Result<Value, Stop> {
        Ok(Value::unknown(None, None))
    }
}
