//! What the elements of the root document come to: for those who show or compare more than steps.

use blueprint::{Address, Blueprint, Child, Expr, Head, Name, Resource, TypeId, Value};
use diag::Diagnostics;
use dialects::{Part, SpecAt};
use evaluate::resolve::{Evaluation, Members, Site, Slot};
use provider::{Catalogs, TypeRef};
use understand::check::conform::{conform_resource, conform_schema};
use understand::documents::whole::read_by;
use understand::documents::{Documents, Kind};
use understand::graph::{EdgeKind, Node};

use crate::plan::Staged;

/// What the root document comes to, as far as it is known.
#[derive(Clone, Debug, Default)]
pub struct Resolved {
    /// The value of each input, in document order.
    pub inputs: Vec<(Name, Value)>,
    /// Each named intermediate value; none for one in error.
    pub locals: Vec<(Name, Option<Value>)>,
    /// Each resource and child, in document order, resources first.
    pub elements: Vec<ResolvedElement>,
}

/// What a resource or a child comes to.
#[derive(Clone, Debug)]
pub struct ResolvedElement {
    /// Its name.
    pub name: Name,
    /// Its type as written; the path of a child.
    pub type_name: TypeId,
    /// Whether it is another document.
    pub is_child: bool,
    /// The id under which the thing exists elsewhere, where it is not managed here.
    pub external: Option<Name>,
    /// Whether it is there: its condition does not say otherwise.
    pub there: bool,
    /// What its spec, or what is handed to the child, comes to as written; none if that is in error.
    pub written: Option<Value>,
    /// The same as it is given to the provider, or to the child.
    pub given: Value,
    /// Its metadata; null for none.
    pub metadata: Value,
    /// What becomes of the thing when it is no longer declared, in Heat's words.
    pub deletion_policy: Name,
    /// How updates are carried out, if something is said of that; else null.
    pub update_policy: Value,
    /// Names of the resources and children of the document that it needs directly, sorted.
    pub needs: Vec<Name>,
    /// Names of those that it says to wait for, in the order in which it says so.
    pub depends_on: Vec<Name>,
}

fn plain(names: &[diag::Spanned<Name>]) -> Vec<Name> {
    names.iter().map(|name| name.item.clone()).collect()
}

/// Adds the children and resources that elements read or name, where children are resources of their own.
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
                    if let Head::Child(name) = &reference.head {
                        read.push(name.clone());
                    }
                });
            });
            read.extend(resource.depends_on.iter().map(|name| name.item.clone()));
        }
        element.needs.extend(read.into_iter().filter(|name| *name != element.name));
        element.needs.sort();
        element.needs.dedup();
    }
}

/// What a child is given of the inputs that are written, as its dialect shows it, and the nodes of all its inputs.
fn passed_in(
    evaluation: &Evaluation,
    child: Option<u32>,
    written: &[(Name, Value)],
) -> (Vec<(Name, Value)>, Vec<Node>) {
    let documents = &evaluation.documents;
    let (mut given, mut nodes) = (Vec::new(), Vec::new());
    if let Some(unit) = child {
        let unit = documents.unit(unit);
        let theirs = unit.checked.rules.inputs;
        for (position, (input, declared)) in unit.blueprint().inputs.iter().enumerate() {
            let number = unit.number(Kind::Input, position);
            nodes.push(Node::Input(number));
            let handed = written.iter().any(|(given, _)| given == input);
            if let Slot::Value(value) | Slot::Partial(value) = &evaluation.handed[number as usize]
                && handed
            {
                // What becomes of a property is the other document's affair.
                let as_written = written.iter().find(|(name, _)| name == input).map(|(_, value)| value);
                let shown = as_written.and_then(|written| theirs.shown(declared, written));
                given.push((input.clone(), shown.unwrap_or_else(|| value.clone())));
            }
        }
    }
    (given, nodes)
}

/// What a resource of the root document comes to, by its position.
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
    let (there, given, metadata) = match &evaluation.resources[number as usize] {
        Members::Single(member) => (true, member.spec.clone(), member.metadata.clone()),
        Members::Absent => (false, Value::Null, Value::Null),
        _ => (true, Value::Null, Value::Null),
    };
    let site = Site::of(0, &address);
    let given = rules.specs.shown(&resource.type_name.item, &given);
    let written = there.then(|| evaluation.present(site, &resource.spec, &mut Diagnostics::new()).ok());
    let (mut given, mut metadata) = (given, metadata);
    // What exists elsewhere may read what was settled after it.
    if let (Some(_), Some(Some(written)), TypeRef::Known(ty)) =
        (&resource.lifecycle.external, &written, catalogs.resource_type(&resource.type_name.item))
    {
        let at = SpecAt { expr: &resource.spec, holder: resource.spec_key, resource: name, part: Part::Spec };
        let native = |value: &Value, found: &mut Diagnostics| conform_resource(value, resource, &ty, found);
        given = rules.specs.fit(written, at, &ty.schema, &native, &mut Diagnostics::new());
        if let Some(custom) = &resource.metadata.custom {
            metadata = Value::map([("custom", presented(evaluation, Some(custom)))]);
        }
    }
    ResolvedElement {
        name: name.clone(),
        type_name: resource.stands_for.as_ref().map_or(&resource.type_name, |written| written).item.clone(),
        is_child: false,
        external: resource.lifecycle.external.clone(),
        there,
        written: written.flatten(),
        given,
        metadata,
        deletion_policy: deletion_policy(evaluation, resource.removal.as_deref()),
        update_policy: presented(evaluation, resource.update_policy.as_deref()),
        needs: direct_needs(&documents, vec![Node::Resource(number)], name),
        depends_on: plain(&resource.depends_on),
    }
}

/// What a child of the root document comes to, by its position.
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
        let value = evaluation.present(Site::of(0, name), &expansion.spec, &mut Diagnostics::new()).ok();
        let ty = catalogs.resource_type(&TypeId::from(&expansion.kind.item));
        let given = match (&value, ty) {
            (Some(value), TypeRef::Known(ty)) => {
                let (expr, holder) = (&expansion.spec, expansion.spec_key);
                let at = SpecAt { expr, holder, resource: name, part: Part::Spec };
                let native =
                    |value: &Value, found: &mut Diagnostics| conform_schema(value, expr, holder, &ty.schema, found);
                rules.specs.fit(value, at, &ty.schema, &native, &mut Diagnostics::new())
            }
            _ => Value::Null,
        };
        (value, given)
    });
    let mut written = Vec::new();
    for (input, expr) in child.inputs.iter().filter(|(input, _)| !rules.children.is_passed_undeclared(&input.item)) {
        if let Ok(Some(value)) = evaluation.entry(Site::of(0, name), expr, &mut Diagnostics::new()) {
            written.push((input.item.clone(), value));
        }
    }
    let (given, nodes) = passed_in(evaluation, root.child(at), &written);
    ResolvedElement {
        name: name.clone(),
        type_name: match &child.stands_for {
            Some(written) => TypeId::from(&written.item),
            None => child.path.as_literal().and_then(Value::as_text).unwrap_or_default().into(),
        },
        is_child: true,
        external: None,
        there: root.child(at).is_some(),
        written: match &spec {
            Some((written, _)) => written.clone(),
            None => Some(Value::map(written)),
        },
        given: spec.map_or_else(|| Value::map(given), |(_, given)| given),
        metadata: {
            let facts = child.inputs.iter().filter(|(input, _)| rules.children.is_passed_undeclared(&input.item));
            let metadata = facts.map(|(_, expr)| presented(evaluation, Some(expr)).get("metadata").cloned());
            match metadata.flatten().next() {
                Some(metadata) => Value::map([("custom", metadata)]),
                None => Value::Null,
            }
        },
        deletion_policy: deletion_policy(evaluation, child.removal.as_deref()),
        update_policy: presented(evaluation, child.expansion.as_ref().and_then(|expansion| expansion.policy.as_ref())),
        needs: direct_needs(&documents, nodes, name),
        depends_on: plain(&child.depends_on),
    }
}

/// The value of an expression of the root document; null if there is none or it is in error.
fn presented(evaluation: &mut Evaluation, expr: Option<&Expr>) -> Value {
    let value = expr.map(|expr| evaluation.present(Site::of(0, ""), expr, &mut Diagnostics::new()));
    value.and_then(Result::ok).unwrap_or_default()
}

fn deletion_policy(evaluation: &mut Evaluation, expr: Option<&Expr>) -> Name {
    match presented(evaluation, expr).as_text().map(str::to_ascii_lowercase).as_deref() {
        Some("retain") => "Retain".into(),
        Some("snapshot") => "Snapshot".into(),
        _ => "Delete".into(),
    }
}

/// Names of the elements of the root document that nodes need directly, sorted. A resource in a child counts as the
/// child.
fn direct_needs(documents: &Documents, nodes: Vec<Node>, own: &Name) -> Vec<Name> {
    let name_of = |node: Node| -> Option<Name> {
        let unit = documents.unit_of(node);
        if let Some(above) = documents.unit(unit).path.first() {
            return Some(above.clone());
        }
        match node {
            Node::Resource(number) => documents.resource(number).map(|(_, name, _)| name.clone()),
            _ => None,
        }
    };
    let mut names: Vec<Name> = Vec::new();
    for node in nodes {
        for edge in documents.graph().edges(node).iter().filter(|edge| edge.kind != EdgeKind::Condition) {
            names.extend(name_of(edge.to).filter(|name| name != own));
        }
    }
    names.sort();
    names.dedup();
    names
}

impl Staged {
    /// What the elements of the root document come to. None where nothing was staged but a destruction.
    pub fn resolved(&mut self) -> Option<Resolved> {
        let evaluation = self.evaluation.as_mut()?;
        let documents = evaluation.documents.clone();
        let root = documents.root();
        let blueprint = root.blueprint();
        let inputs = blueprint.inputs.keys().cloned().zip(evaluation.inputs.iter().cloned()).collect();
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
            elements.push(resource_element(evaluation, &self.catalogs, at, resource));
        }
        for (at, child) in blueprint.children.iter().enumerate() {
            elements.push(child_element(evaluation, &self.catalogs, at, child));
        }
        if root.checked.rules.children.are_whole() {
            add_reads_of_children(blueprint, &mut elements);
        }
        let gone: Vec<Name> = elements.iter().filter(|one| !one.there).map(|one| one.name.clone()).collect();
        for element in &mut elements {
            element.needs.retain(|name| !gone.contains(name));
        }
        Some(Resolved { inputs, locals, elements })
    }
}
