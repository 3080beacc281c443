//! The evaluated elements of the root document, which the cases with templates compare with Heat.
//!
//! This module drops the diagnostics of its evaluations.
//!
//! Not here: evaluation (`evaluate`), decisions about steps (`plan`).

use blueprint::{Address, Blueprint, Child, Expr, Name, ReferenceHead, Resource, TypeId, Value};
use diag::Diagnostics;
use dialect::{ExpressionPart, SpecAt};
use engine::Staged;
use evaluate::resolve::{Evaluation, ExpressionSite, Members, Slot};
use provider::{Catalogs, TypeRef};
use understand::check::conform::{conform_resource, conform_schema};
use understand::check::edges::read_by;
use understand::documents::{Documents, NumberedKind};
use understand::graph::{EdgeKind, GraphNode};

/// The evaluated root document. Values that are known only at deployment are unknown here.
#[derive(Clone, Debug, Default)]
pub(super) struct Resolved {
    /// The value of each input, in document order.
    pub(super) inputs: Vec<(Name, Value)>,
    /// Each named intermediate value, in document order; `None` if it has no value, for example
    /// because of an error.
    pub(super) locals: Vec<(Name, Option<Value>)>,
    /// Each resource in document order, then each child in document order.
    pub(super) elements: Vec<ResolvedElement>,
}

/// An evaluated resource or child.
#[derive(Clone, Debug)]
pub(super) struct ResolvedElement {
    /// The name of the element in the document.
    pub(super) name: Name,
    /// The type as the document writes it. For a child that the document does not write as a
    /// resource of a type: its path, empty if the path is not a literal.
    pub(super) type_name: TypeId,
    /// Whether the element is a child, which another document defines.
    pub(super) is_child: bool,
    /// The id of an existing resource that this instance reads and does not manage.
    pub(super) external: Option<Name>,
    /// Whether the element exists: false if the condition of the resource is false, or if the
    /// document of the child was not read.
    pub(super) is_present: bool,
    /// The evaluated spec of the resource, or the evaluated inputs of the child, before conversion
    /// and defaults. `None` if the spec fails to evaluate or the resource does not exist. Inputs
    /// that fail to evaluate are left out.
    pub(super) written: Option<Value>,
    /// The spec after conversion and with defaults, or the passed inputs after conversion, in the
    /// form that the dialect shows to users. Null if there is no such spec.
    pub(super) given: Value,
    /// The metadata; null if there is none.
    pub(super) metadata: Value,
    /// Heat's name of the deletion policy: `Delete`, `Retain` or `Snapshot`.
    pub(super) deletion_policy: Name,
    /// The evaluated update policy; null if there is none.
    pub(super) update_policy: Value,
    /// The names of the resources and children of the root document on which the element depends
    /// directly, sorted. The list leaves out the element itself and elements that do not exist.
    pub(super) needs: Vec<Name>,
    /// The names that the element declares as explicit dependencies, in the order of the
    /// declaration.
    pub(super) depends_on: Vec<Name>,
}

fn without_spans(names: &[diag::Spanned<Name>]) -> Vec<Name> {
    names.iter().map(|name| name.item.clone()).collect()
}

/// Extends the dependencies of the elements for a dialect in which a child counts as one element:
/// the child depends on everything that its definition refers to, and a resource depends on each
/// child that it refers to.
fn add_reads_of_children(blueprint: &Blueprint, elements: &mut [ResolvedElement]) {
    for element in elements {
        let resource = blueprint.resources.get(&element.name);
        let child = blueprint.children.get(&element.name);
        let mut read: Vec<Name> = Vec::new();
        if let Some(child) = child {
            read.extend(read_by(child).into_iter().map(|name| name.item));
            read.extend(child.depends_on.iter().map(|name| name.item.clone()));
        }
        if let Some(resource) = resource.filter(|resource| resource.lifecycle.external.is_none()) {
            let expressions = std::iter::once(&resource.spec).chain(&resource.metadata.custom);
            expressions.for_each(|expr| {
                expr.references(&mut |reference| {
                    if let ReferenceHead::Child(name) = &reference.head {
                        read.push(name.clone());
                    }
                });
            });
            read.extend(resource.depends_on.iter().map(|name| name.item.clone()));
        }
        element
            .needs
            .extend(read.into_iter().filter(|name| *name != element.name));
        element.needs.sort();
        element.needs.dedup();
    }
}

/// Returns the values that a child receives for the written inputs, in the form that its dialect
/// shows to users, and the graph nodes of all inputs of the child. Both are empty if the document
/// of the child was not read.
fn passed_in(
    evaluation: &Evaluation,
    child: Option<u32>,
    written: &[(Name, Value)],
) -> (Vec<(Name, Value)>, Vec<GraphNode>) {
    let documents = &evaluation.documents;
    let (mut given, mut nodes) = (Vec::new(), Vec::new());
    if let Some(unit) = child {
        let unit = documents.unit(unit);
        let child_rules = unit.checked.rules.inputs;
        for (position, (input, declared)) in unit.blueprint().inputs.iter().enumerate() {
            let number = unit.number(NumberedKind::Input, position);
            nodes.push(GraphNode::Input(number));
            let passed = written.iter().any(|(given, _)| given == input);
            if let Slot::Value(value) | Slot::Partial(value) =
                &evaluation.passed_inputs[number as usize]
                && passed
            {
                // The rules of the child's dialect determine how the passed value is shown.
                let as_written = written
                    .iter()
                    .find(|(name, _)| name == input)
                    .map(|(_, value)| value);
                let shown = as_written.and_then(|written| child_rules.shown(declared, written));
                given.push((input.clone(), shown.unwrap_or_else(|| value.clone())));
            }
        }
    }
    (given, nodes)
}

/// Evaluates the resource of the root document at a position.
fn resource_element(
    evaluation: &mut Evaluation,
    catalogs: &Catalogs,
    at: usize,
    (name, resource): (&Name, &Resource),
) -> ResolvedElement {
    let documents = evaluation.documents.clone();
    let root = documents.root();
    let rules = root.checked.rules;
    let number = root.resource(at);
    let address = Address::root(name.clone()).to_string();
    let (is_present, given, metadata) = match &evaluation.resources[number as usize] {
        Members::Single(member) => (true, member.spec.clone(), member.metadata.clone()),
        Members::Absent => (false, Value::Null, Value::Null),
        _ => (true, Value::Null, Value::Null),
    };
    let site = ExpressionSite::of(0, &address);
    let given = rules.specs.shown(&resource.type_name.item, &given);
    let written = is_present.then(|| {
        evaluation
            .present(site, &resource.spec, &mut Diagnostics::new())
            .ok()
    });
    let (mut given, mut metadata) = (given, metadata);
    // The spec of an external resource adds no dependencies, so evaluation may reach the resource
    // before the elements that its spec reads. All of them are evaluated now: fit the spec again.
    if let (Some(_), Some(Some(written)), TypeRef::Known(ty)) = (
        &resource.lifecycle.external,
        &written,
        catalogs.resource_type(&resource.type_name.item),
    ) {
        let at = SpecAt {
            expr: &resource.spec,
            missing_part_span: resource.spec_key,
            resource: name,
            part: ExpressionPart::Spec,
            is_external: resource.lifecycle.external.is_some(),
        };
        let native =
            |value: &Value, found: &mut Diagnostics| conform_resource(value, resource, &ty, found);
        given = rules
            .specs
            .fit(written, at, &ty.schema, &native, &mut Diagnostics::new());
        if let Some(custom) = &resource.metadata.custom {
            metadata = Value::map([("custom", presented(evaluation, Some(custom)))]);
        }
    }
    ResolvedElement {
        name: name.clone(),
        type_name: resource
            .stands_for
            .as_ref()
            .map_or(&resource.type_name, |written| written)
            .item
            .clone(),
        is_child: false,
        external: resource
            .lifecycle
            .external
            .as_ref()
            .map(|id| id.item.clone()),
        is_present,
        written: written.flatten(),
        given,
        metadata,
        deletion_policy: deletion_policy(evaluation, resource.removal.as_deref()),
        update_policy: presented(evaluation, resource.update_policy.as_deref()),
        needs: direct_needs(&documents, vec![GraphNode::Resource(number)], name),
        depends_on: without_spans(&resource.depends_on),
    }
}

/// Evaluates the child of the root document at a position.
fn child_element(
    evaluation: &mut Evaluation,
    catalogs: &Catalogs,
    at: usize,
    (name, child): (&Name, &Child),
) -> ResolvedElement {
    let documents = evaluation.documents.clone();
    let root = documents.root();
    let rules = root.checked.rules;
    let spec = child.expansion.as_ref().map(|expansion| {
        let value = evaluation
            .present(
                ExpressionSite::of(0, name),
                &expansion.spec,
                &mut Diagnostics::new(),
            )
            .ok();
        let ty = catalogs.resource_type(&expansion.kind.item);
        let given = match (&value, ty) {
            (Some(value), TypeRef::Known(ty)) => {
                let (expr, holder) = (&expansion.spec, expansion.spec_key);
                let at = SpecAt {
                    expr,
                    missing_part_span: holder,
                    resource: name,
                    part: ExpressionPart::Spec,
                    is_external: false,
                };
                let native = |value: &Value, found: &mut Diagnostics| {
                    conform_schema(value, expr, holder, &ty.schema, found)
                };
                rules
                    .specs
                    .fit(value, at, &ty.schema, &native, &mut Diagnostics::new())
            }
            _ => Value::Null,
        };
        (value, given)
    });
    let mut written = Vec::new();
    // An input that every child receives, also without a declaration, is not a property.
    for (input, expr) in child
        .inputs
        .iter()
        .filter(|(input, _)| !rules.children.is_passed_undeclared(&input.item))
    {
        if let Ok(Some(value)) =
            evaluation.entry(ExpressionSite::of(0, name), expr, &mut Diagnostics::new())
        {
            written.push((input.item.clone(), value));
        }
    }
    let (given, nodes) = passed_in(evaluation, root.child(at), &written);
    ResolvedElement {
        name: name.clone(),
        type_name: match &child.stands_for {
            Some(written) => written.item.clone(),
            None => child
                .path
                .as_literal()
                .and_then(Value::as_text)
                .unwrap_or_default()
                .into(),
        },
        is_child: true,
        external: None,
        is_present: root.child(at).is_some(),
        written: match &spec {
            Some((written, _)) => written.clone(),
            None => Some(Value::map(written)),
        },
        given: spec.map_or_else(|| Value::map(given), |(_, given)| given),
        metadata: {
            let facts = child
                .inputs
                .iter()
                .filter(|(input, _)| rules.children.is_passed_undeclared(&input.item));
            let metadata =
                facts.map(|(_, expr)| presented(evaluation, Some(expr)).get("metadata").cloned());
            match metadata.flatten().next() {
                Some(metadata) => Value::map([("custom", metadata)]),
                None => Value::Null,
            }
        },
        deletion_policy: deletion_policy(evaluation, child.removal.as_deref()),
        update_policy: presented(
            evaluation,
            child
                .expansion
                .as_ref()
                .and_then(|expansion| expansion.policy.as_ref()),
        ),
        needs: direct_needs(&documents, nodes, name),
        depends_on: without_spans(&child.depends_on),
    }
}

/// Evaluates an expression of the root document outside a spec, such as a policy. Null if there is
/// none or it fails.
fn presented(evaluation: &mut Evaluation, expr: Option<&Expr>) -> Value {
    let value = expr
        .map(|expr| evaluation.present(ExpressionSite::of(0, ""), expr, &mut Diagnostics::new()));
    value.and_then(Result::ok).unwrap_or_default()
}

/// Returns Heat's name of a deletion policy, in any letter case; `Delete` if there is none.
fn deletion_policy(evaluation: &mut Evaluation, expr: Option<&Expr>) -> Name {
    match presented(evaluation, expr)
        .as_text()
        .map(str::to_ascii_lowercase)
        .as_deref()
    {
        Some("retain") => "Retain".into(),
        Some("snapshot") => "Snapshot".into(),
        _ => "Delete".into(),
    }
}

/// Returns the names of the elements of the root document on which nodes depend directly, sorted,
/// without `own`. A dependency on an element inside a child counts as a dependency on that child of
/// the root. References in conditions do not count.
fn direct_needs(documents: &Documents, nodes: Vec<GraphNode>, own: &Name) -> Vec<Name> {
    let name_of = |node: GraphNode| -> Option<Name> {
        let unit = documents.unit_of(node);
        if let Some(above) = documents.unit(unit).path.first() {
            return Some(above.clone());
        }
        match node {
            GraphNode::Resource(number) => {
                documents.resource(number).map(|(_, name, _)| name.clone())
            }
            _ => None,
        }
    };
    let mut names: Vec<Name> = Vec::new();
    for node in nodes {
        for edge in documents
            .graph()
            .edges(node)
            .iter()
            .filter(|edge| edge.kind != EdgeKind::Condition)
        {
            names.extend(name_of(edge.to).filter(|name| name != own));
        }
    }
    names.sort();
    names.dedup();
    names
}

/// Returns the evaluated elements of the root document. `None` if the plan was staged without a
/// document, for example for a destroy.
pub(super) fn resolved(staged: &mut Staged) -> Option<Resolved> {
    let evaluation = staged.evaluation.as_mut()?;
    let documents = evaluation.documents.clone();
    let root = documents.root();
    let blueprint = root.blueprint();
    let inputs = blueprint
        .inputs
        .keys()
        .cloned()
        .zip(evaluation.inputs.iter().cloned())
        .collect();
    let locals = blueprint.locals.keys().enumerate().map(|(at, name)| {
        let value = match &evaluation.locals[root.local(at) as usize] {
            Slot::Value(value) | Slot::Partial(value) => Some(value.clone()),
            _ => None,
        };
        (name.clone(), value)
    });
    let locals = locals.collect();
    let mut elements = Vec::new();
    for (at, resource) in blueprint.resources.iter().enumerate() {
        elements.push(resource_element(evaluation, &staged.catalogs, at, resource));
    }
    for (at, child) in blueprint.children.iter().enumerate() {
        elements.push(child_element(evaluation, &staged.catalogs, at, child));
    }
    if root.checked.rules.children.are_atomic() {
        add_reads_of_children(blueprint, &mut elements);
    }
    let absent: Vec<Name> = elements
        .iter()
        .filter(|one| !one.is_present)
        .map(|one| one.name.clone())
        .collect();
    for element in &mut elements {
        element.needs.retain(|name| !absent.contains(name));
    }
    Some(Resolved {
        inputs,
        locals,
        elements,
    })
}
