//! The documents of an instance in their places: the root, and every child where it is included.
//!
//! Elements have consecutive numbers per kind: first the elements of the root, then those of the
//! first include and of all documents below it, and so on. A [`GraphNode`] of the graph over all
//! documents identifies an element by that number. All places of a document share the text and the
//! result of its check.
//!
//! Not here: reading children (`evaluate::children`), evaluating elements
//! (`evaluate::resolve`).

pub mod providers;
mod urns;
pub mod whole_graph;

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use blueprint::{
    Address, Blueprint, DataSource, Expr, IndexMap, Input, Local, Name, Resource, TypeId,
};
use diag::{Code, Diagnostic, Diagnostics, FileId, Span, Trail};
use provider::ResourceType;
use source::Location;

use crate::check::{Checked, Included};
use crate::graph::{Graph, GraphNode};
use crate::links::Links;
use crate::pinned::Pinned;

/// A document in one place: the root, or a child where it is included. Also called a unit.
#[derive(Clone, Debug)]
pub struct DocumentInstance {
    /// The checked document, shared with its other places.
    pub checked: Arc<Checked>,
    /// The names of the includes above its elements, outermost first; empty for the root.
    pub path: Arc<[Name]>,
    /// The location; `None` for a text without one.
    pub location: Option<Location>,
    /// The folder, in the form that `Question::File` in `evaluate` takes. A remote document has the
    /// root's.
    pub folder: Name,
    /// The unit above it, and the position of its include there; `None` for the root.
    pub parent: Option<(u32, u32)>,
    /// The text of the document.
    pub file: FileId,
    /// The unit of each of its includes, by position; `None` for one that could not be read.
    children: Vec<Option<u32>>,
    /// Positions of its includes whose condition is false.
    left_out: BTreeSet<u32>,
    /// Whether it belongs to a group member that is removed, or that exists only during an update.
    pub is_temporary_member: bool,
    /// The numbers of its first element of each kind: see [`NumberedKind`].
    first: [u32; 5],
}

/// The kinds of numbered elements.
#[derive(Clone, Copy)]
pub enum NumberedKind {
    /// Named intermediate values.
    Local,
    /// Data sources.
    DataSource,
    /// Resources.
    Resource,
    /// Links.
    Link,
    /// Inputs of children; the root has none.
    Input,
}

/// A checked document with its place.
pub struct PlacedDocument {
    /// The checked document, shared with its other places.
    pub checked: Arc<Checked>,
    /// The number of the place while documents were read.
    pub number: u32,
    /// The place above it, and the position of its include there; `None` for the root.
    pub parent: Option<(u32, u32)>,
    /// The positions of its includes whose condition is false.
    pub left_out: BTreeSet<u32>,
    /// The location; `None` for a text without one.
    pub location: Option<Location>,
    /// The folder of the document.
    pub folder: Name,
    /// The text of the document.
    pub file: FileId,
}

impl DocumentInstance {
    /// The blueprint of the document.
    pub fn blueprint(&self) -> &Blueprint {
        &self.checked.blueprint
    }

    /// The address of one of its elements.
    pub fn address(&self, name: &Name) -> Address {
        Address::inside(&self.path, name.clone())
    }

    /// The key of one of its elements for call sites and groups: `core/values.x`.
    pub fn named(&self, name: impl std::fmt::Display) -> String {
        let mut text = String::new();
        for child in &*self.path {
            text.push_str(child);
            text.push('/');
        }
        text.push_str(&name.to_string());
        text
    }

    /// The address that stands for one of its locals among dependencies. No resource can have such
    /// a name.
    pub fn group_address(&self, name: &Name) -> Address {
        Address::inside(&self.path, format!("={name}"))
    }

    /// The number of its element of a kind at a position of the document.
    pub fn number(&self, kind: NumberedKind, position: usize) -> u32 {
        self.first[kind as usize] + position as u32
    }

    /// The unit of the include at a position, if it could be read.
    pub fn child(&self, position: usize) -> Option<u32> {
        self.children.get(position).copied().flatten()
    }

    /// The number of its local at a position of the document.
    pub fn local(&self, position: usize) -> u32 {
        self.first[0] + position as u32
    }

    /// The number of its data source at a position of the document.
    pub fn data_source(&self, position: usize) -> u32 {
        self.first[1] + position as u32
    }

    /// The number of its resource at a position of the document.
    pub fn resource(&self, position: usize) -> u32 {
        self.first[2] + position as u32
    }
}

/// The key of the group of a local, if `address` belongs to a local.
pub fn group_key(address: &Address) -> Option<Cow<'_, str>> {
    let name = address.name.strip_prefix('=')?;
    if address.path.is_empty() {
        return Some(Cow::Borrowed(name));
    }
    Some(Cow::Owned(
        address
            .path
            .iter()
            .map(AsRef::as_ref)
            .chain([name])
            .collect::<Vec<_>>()
            .join("/"),
    ))
}

/// The address of the group with this key among dependencies.
pub fn address_of_group(key: &str) -> Address {
    let mut path: Vec<Name> = key.split('/').map(Name::from).collect();
    let name = path.pop().unwrap_or_else(|| "".into());
    Address::inside(&path, format!("={name}"))
}

/// The value that a child receives for one of its inputs.
pub struct PassedInput<'d> {
    /// The unit of the child.
    pub unit: u32,
    /// The input's position in the child.
    pub position: usize,
    /// The input's name.
    pub name: &'d Name,
    /// The input's declaration.
    pub input: &'d Input,
    /// The unit of the include.
    pub above: u32,
    /// The expression in the include, if there is one.
    pub given: Option<&'d Expr>,
    /// The place of the include.
    pub include: Span,
}

impl PassedInput<'_> {
    /// Whether its value is a literal or missing, so that it depends on nothing.
    pub fn is_literal(&self) -> bool {
        self.given
            .is_none_or(|expr| expr.inner().as_literal().is_some())
    }
}

fn counts_of(checked: &Checked, root: bool) -> [usize; 5] {
    let blueprint = &checked.blueprint;
    let inputs = if root { 0 } else { blueprint.inputs.len() };
    [
        blueprint.locals.len(),
        blueprint.data_sources.len(),
        blueprint.resources.len(),
        checked.links.pairs().len(),
        inputs,
    ]
}

/// The dependence of the set of documents on inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentDependence {
    /// The set depends only on the texts of the documents.
    Fixed,
    /// The set also depends on inputs: other inputs may lead to other documents.
    ByInputs,
    /// The set depends on inputs that are not given yet, so that some includes are not followed.
    Incomplete,
}

/// A root document and its children, which are planned together.
#[derive(Clone, Debug)]
pub struct Documents {
    units: Vec<DocumentInstance>,
    graph: Arc<Graph>,
    /// The links of all documents, with resources by number. Links stay within a document.
    links: Arc<Links>,
    /// The number of elements of each kind.
    counts: [usize; 5],
    /// The results of reading the documents, as a plan keeps them.
    pub pinned: Pinned,
    dependence: DocumentDependence,
    /// The size limits of the documents.
    pub limits: dialect::DocumentLimits,
}

impl Documents {
    /// A root without children. `folder` has the form that `Question::File` in `evaluate` takes.
    pub fn single(checked: Arc<Checked>, folder: Name) -> Documents {
        let graph = checked.graph.clone();
        let links = checked.links.clone();
        let counts = counts_of(&checked, true);
        let dependence = if checked.blueprint.children.is_empty() {
            DocumentDependence::Fixed
        } else {
            DocumentDependence::Incomplete
        };
        let file = checked
            .blueprint
            .span
            .map_or(FileId::NONE, |span| span.file);
        let children = vec![None; checked.blueprint.children.len()];
        let path = Arc::from([]);
        let root = DocumentInstance {
            checked,
            path,
            location: None,
            folder,
            parent: None,
            file,
            children,
            left_out: BTreeSet::new(),
            is_temporary_member: false,
            first: [0; 5],
        };
        Documents {
            units: vec![root],
            graph,
            links,
            counts,
            pinned: Pinned::default(),
            dependence,
            limits: dialect::DocumentLimits::DEFAULT,
        }
    }

    /// Returns the same places, with some of the checked documents replaced.
    pub fn with_checked(
        &self,
        meaning: impl Fn(&Arc<Checked>) -> Option<Arc<Checked>>,
        found: &mut Diagnostics,
    ) -> Documents {
        let placed = (0..).zip(&self.units).map(|(number, unit)| PlacedDocument {
            checked: meaning(&unit.checked).unwrap_or_else(|| unit.checked.clone()),
            number,
            parent: unit.parent,
            left_out: unit.left_out.clone(),
            location: unit.location.clone(),
            folder: unit.folder.clone(),
            file: unit.file,
        });
        Documents::assemble(
            placed.collect(),
            self.pinned.clone(),
            self.dependence,
            found,
        )
        .with_limits(self.limits)
    }

    /// Returns the same documents with other size limits.
    pub fn with_limits(self, room: dialect::DocumentLimits) -> Documents {
        Documents {
            limits: room,
            ..self
        }
    }

    /// Whether other inputs may lead to other documents. The documents are then read again when all
    /// inputs are given.
    pub fn is_open(&self) -> bool {
        self.dependence != DocumentDependence::Fixed
    }

    /// Whether some children are not followed, because their location depends on inputs that are
    /// not given yet.
    pub fn is_incomplete(&self) -> bool {
        self.dependence == DocumentDependence::Incomplete
    }

    /// The results of reading the children.
    pub fn pinned(&self) -> &Pinned {
        &self.pinned
    }

    /// The children of a unit, in the form that a check of its document takes.
    pub fn children_of(&self, unit: u32) -> Vec<Option<Included>> {
        let unit = self.unit(unit);
        let included = |child: u32| Included {
            checked: self.unit(child).checked.clone(),
        };
        unit.children
            .iter()
            .map(|child| child.map(included))
            .collect()
    }

    /// Each checked document once, even if it has several places.
    pub fn distinct(&self) -> impl Iterator<Item = &Arc<Checked>> {
        let mut seen: std::collections::HashSet<*const Checked, foldhash::fast::FixedState> =
            Default::default();
        self.units
            .iter()
            .map(|unit| &unit.checked)
            .filter(move |checked| seen.insert(Arc::as_ptr(checked)))
    }

    /// Reports each include that was not followed. A plan needs all includes.
    pub fn refuse_open(&self, found: &mut Diagnostics) {
        for unit in &self.units {
            for (at, (name, child)) in unit.blueprint().children.iter().enumerate() {
                if unit.child(at).is_none() && !unit.left_out.contains(&(at as u32)) {
                    found.push(
                        expr::codes::SOURCE_UNREADABLE
                            .new(format!("the child document `{name}` has not been read"))
                            .label(child.path.span, "where it leads was not known"),
                    );
                }
            }
        }
    }

    /// Completes the diagnostics of evaluation: removes duplicates, adds the includes that lead to
    /// errors in children, and adds one `child-failed` for each of these includes. Errors with a
    /// code in `not_of_the_document` concern a later use of the document and do not make its
    /// include fail.
    pub fn attribute_errors(&self, not_of_the_document: &[&'static Code], found: &mut Diagnostics) {
        if self.units.len() == 1 {
            return;
        }
        let mut reported: std::collections::HashSet<
            (&'static str, Span, String),
            foldhash::fast::FixedState,
        > = Default::default();
        found.retain(|it| {
            !it.span().is_some() || reported.insert((it.code.name, it.span(), it.message.clone()))
        });
        self.add_missing_trails(found);
        let mut failed: IndexMap<Span, Vec<Trail>> = IndexMap::default();
        let is_excepted = |it: &Diagnostic| {
            not_of_the_document
                .iter()
                .any(|code| code.name == it.code.name)
        };
        for mistake in found.iter().filter(|it| it.is_error() && !is_excepted(it)) {
            for (at, step) in mistake.trail.iter().enumerate() {
                failed
                    .entry(step.span)
                    .or_insert_with(|| mistake.trail[..at].to_vec());
            }
        }
        for (span, trail) in failed {
            let mut diagnostic = crate::check::codes::CHILD_FAILED
                .new("the child document has errors")
                .label(span, "included here")
                .help("fix the errors of the child");
            diagnostic.trail = trail;
            found.push(diagnostic);
        }
    }

    /// The includes that lead to a unit, outermost first.
    pub fn trail(&self, unit: u32) -> Vec<Trail> {
        let mut trail = Vec::new();
        let mut at = unit;
        while let Some((above, include)) = self.units[at as usize].parent {
            let children = &self.units[above as usize].checked.blueprint.children;
            if let Some((name, child)) = children.get_index(include as usize) {
                trail.push(Trail {
                    span: child.span,
                    text: format!("included as `{name}`"),
                });
            }
            at = above;
        }
        trail.reverse();
        trail
    }

    /// Adds the includes that lead to a unit to its diagnostics. The dialects above complete the
    /// messages.
    pub fn add_trails(&self, unit: u32, found: &mut Diagnostics) {
        if found.is_empty() {
            return;
        }
        let trail = self.trail(unit);
        for one in found.iter_mut() {
            self.add_trail(unit, &trail, one);
        }
    }

    fn add_trail(&self, unit: u32, trail: &[Trail], one: &mut Diagnostic) {
        one.trail = trail.to_vec();
        let mut at = unit;
        while let Some((above, include)) = self.units[at as usize].parent {
            let checked = &self.units[above as usize].checked;
            if let Some((name, child)) = checked.blueprint.children.get_index(include as usize) {
                checked
                    .rules
                    .messages
                    .complete_in_child(one, name, child, at == unit);
            }
            at = above;
        }
    }

    /// Adds the includes that lead to a child to its diagnostics, unless they have them.
    pub fn add_missing_trails(&self, found: &mut Diagnostics) {
        if self.units.len() == 1 {
            return;
        }
        let mut first: HashMap<FileId, u32, foldhash::fast::FixedState> = HashMap::default();
        for (number, unit) in (0..).zip(&self.units) {
            first.entry(unit.file).or_insert(number);
        }
        for diagnostic in found.iter_mut().filter(|it| it.trail.is_empty()) {
            if let Some(unit) = first.get(&diagnostic.span().file) {
                self.add_trail(*unit, &self.trail(*unit), diagnostic);
            }
        }
    }

    /// The root document.
    pub fn root(&self) -> &DocumentInstance {
        &self.units[0]
    }

    /// All documents in their places: the root first, each before its children.
    pub fn units(&self) -> &[DocumentInstance] {
        &self.units
    }

    /// The dependencies over all documents.
    pub fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    /// The links of all documents, with resources by number.
    pub fn links(&self) -> &Arc<Links> {
        &self.links
    }

    /// The numbers of locals, data sources and resources.
    pub fn counts(&self) -> [usize; 3] {
        let [locals, data_sources, resources, ..] = self.counts;
        [locals, data_sources, resources]
    }

    /// The number of elements of a kind.
    pub fn count(&self, kind: NumberedKind) -> usize {
        self.counts[kind as usize]
    }

    /// The unit that holds the element of a kind with this number, and the element's position in
    /// it.
    pub fn place_of(&self, kind: NumberedKind, number: u32) -> (u32, usize) {
        self.place(kind as usize, number)
    }

    /// The unit of a node.
    pub fn unit_of(&self, node: GraphNode) -> u32 {
        match node {
            GraphNode::Local(number) => self.place_of(NumberedKind::Local, number).0,
            GraphNode::DataSource(number) => self.place_of(NumberedKind::DataSource, number).0,
            GraphNode::Resource(number) => self.place_of(NumberedKind::Resource, number).0,
            GraphNode::Link(number) => self.place_of(NumberedKind::Link, number).0,
            GraphNode::Input(number) => self.place_of(NumberedKind::Input, number).0,
            GraphNode::Child(_) => 0,
        }
    }

    fn place(&self, kind: usize, number: u32) -> (u32, usize) {
        // A unit without elements of the kind starts at the same number as the next unit, so take
        // the last unit that starts there.
        let unit = self
            .units
            .partition_point(|unit| unit.first[kind] <= number)
            .saturating_sub(1);
        (
            unit as u32,
            (number - self.units[unit].first[kind]) as usize,
        )
    }

    /// The unit with this number.
    pub fn unit(&self, number: u32) -> &DocumentInstance {
        &self.units[number as usize]
    }

    /// The folder of a document, relative to that of the root document; empty for the root's own
    /// folder.
    pub fn folder_seen_from_root(&self, unit: u32) -> Name {
        let root = &self.root().folder;
        let folder = &self.unit(unit).folder;
        if root == folder {
            Name::default()
        } else {
            Location::disk(folder.clone())
                .relative_to(root)
                .identity()
                .clone()
        }
    }

    /// The local with this number, and its unit.
    pub fn local(&self, number: u32) -> Option<(u32, &Name, &Local)> {
        let (unit, position) = self.place(0, number);
        let (name, local) = self.unit(unit).blueprint().locals.get_index(position)?;
        Some((unit, name, local))
    }

    /// The data source with this number, and its unit.
    pub fn data_source(&self, number: u32) -> Option<(u32, &Name, &DataSource)> {
        let (unit, position) = self.place(1, number);
        let (name, source) = self
            .unit(unit)
            .blueprint()
            .data_sources
            .get_index(position)?;
        Some((unit, name, source))
    }

    /// The input of a child with this number, with its declaration and its expression in the
    /// include.
    pub fn passed_input(&self, number: u32) -> Option<PassedInput<'_>> {
        let (unit, position) = self.place(NumberedKind::Input as usize, number);
        let (above, include) = self.unit(unit).parent?;
        let (name, input) = self.unit(unit).blueprint().inputs.get_index(position)?;
        let (_, child) = self
            .unit(above)
            .blueprint()
            .children
            .get_index(include as usize)?;
        let given = child
            .inputs
            .iter()
            .find(|(given, _)| given.item == *name)
            .map(|(_, expr)| expr);
        Some(PassedInput {
            unit,
            position,
            name,
            input,
            above,
            given,
            include: child.span,
        })
    }

    /// The resource with this number, and its unit.
    pub fn resource(&self, number: u32) -> Option<(u32, &Name, &Resource)> {
        let (unit, position) = self.place(2, number);
        let (name, resource) = self.unit(unit).blueprint().resources.get_index(position)?;
        Some((unit, name, resource))
    }

    /// The type of the resource with this number; `None` if the type is unknown.
    pub fn resource_type(&self, number: u32) -> Option<&Arc<ResourceType>> {
        let (unit, position) = self.place(2, number);
        self.unit(unit)
            .checked
            .resource_types
            .get(position)?
            .as_ref()
    }

    /// The checked document of the include at a position of a unit, if it could be read.
    pub fn included(&self, unit: &DocumentInstance, position: usize) -> Option<&Checked> {
        unit.child(position)
            .map(|child| self.unit(child).checked.as_ref())
    }

    /// The name of a node as seen from the root: `core/values.x`.
    pub fn name_of(&self, node: GraphNode) -> String {
        let (kind, number) = match node {
            GraphNode::Local(number) => (NumberedKind::Local, number),
            GraphNode::DataSource(number) => (NumberedKind::DataSource, number),
            GraphNode::Resource(number) => (NumberedKind::Resource, number),
            GraphNode::Link(number) => (NumberedKind::Link, number),
            GraphNode::Input(number) => (NumberedKind::Input, number),
            GraphNode::Child(at) => {
                let name = self
                    .root()
                    .blueprint()
                    .children
                    .get_index(at as usize)
                    .map(|(name, _)| name.as_ref());
                return format!("children.{}", name.unwrap_or_default());
            }
        };
        let (unit, at) = self.place_of(kind, number);
        let unit = self.unit(unit);
        let blueprint = unit.blueprint();
        let resource = |at: u32| {
            blueprint
                .resources
                .get_index(at as usize)
                .map_or("", |(name, _)| name.as_ref())
        };
        unit.named(match kind {
            NumberedKind::Local => blueprint
                .locals
                .get_index(at)
                .map(|(name, _)| format!("values.{name}"))
                .unwrap_or_default(),
            NumberedKind::DataSource => blueprint
                .data_sources
                .get_index(at)
                .map(|(name, _)| format!("datasources.{name}"))
                .unwrap_or_default(),
            NumberedKind::Resource => resource(at as u32).to_owned(),
            NumberedKind::Link => {
                let pair = unit.checked.links.pairs().get(at);
                pair.map(|pair| format!("{}::{}", resource(pair.a), resource(pair.b)))
                    .unwrap_or_default()
            }
            NumberedKind::Input => blueprint
                .inputs
                .get_index(at)
                .map(|(name, _)| format!("variables.{name}"))
                .unwrap_or_default(),
        })
    }

    /// The type of a resource or data source, as written.
    pub fn type_of(&self, node: GraphNode) -> Option<&TypeId> {
        match node {
            GraphNode::Resource(number) => self
                .resource(number)
                .map(|(.., resource)| &resource.type_name.item),
            GraphNode::DataSource(number) => self
                .data_source(number)
                .map(|(.., source)| &source.type_name.item),
            _ => None,
        }
    }

    /// The abstract resource from which a transform made a resource.
    pub fn made_from(&self, node: GraphNode) -> Option<&Name> {
        match node {
            GraphNode::Resource(number) => self
                .resource(number)
                .and_then(|(.., resource)| resource.made_from.as_ref()),
            _ => None,
        }
    }

    /// The number of the resource at an address, in any document.
    pub fn declared(&self, address: &Address) -> Option<u32> {
        let mut unit = self.root();
        for child in &*address.path {
            unit = self.unit(unit.children[unit.blueprint().children.get_index_of(child)?]?);
        }
        Some(unit.resource(unit.blueprint().resources.get_index_of(&address.name)?))
    }
}
