//! The documents of an instance in their places: the root, and every child where it is included.
//!
//! Elements are numbered through, each kind by itself: those of the root first, then those of the first include with
//! everything below it, and so on. A [`Node`](crate::graph::Node) of the graph over all documents names an element by that number. What was
//! read and checked once is shared by all places in which a document is included.
//!
//! Not here: reading children (`load`), what an element stands for (`resolve`).

pub mod whole;

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use blueprint::{Address, Blueprint, DataSource, Expr, IndexMap, Input, Local, Name, Resource, TypeId};
use diag::{Code, Diagnostic, Diagnostics, FileId, Span, Trail};
use provider::ResourceType;
use source::Location;

use crate::check::{Checked, Included};
use crate::graph::{Graph, Node};
use crate::links::Links;
use crate::pinned::Frozen;

/// A document in one place: the root, or a child where it is included.
#[derive(Clone, Debug)]
pub struct Unit {
    /// Its meaning, shared with other places of the same document.
    pub checked: Arc<Checked>,
    /// The children above its elements, outermost first; empty for the root.
    pub path: Arc<[Name]>,
    /// Where it was found; none for a text that has no place.
    pub location: Option<Location>,
    /// The folder it stands in, as [`World::file`](evaluate::world::World::file) takes it: the root's for a document from afar.
    pub folder: Name,
    /// The unit above it, and which of its includes this is; none for the root.
    pub parent: Option<(u32, u32)>,
    /// Its text.
    pub file: FileId,
    /// The unit of each of its includes, by position; none for one that could not be read.
    children: Vec<Option<u32>>,
    /// Positions of its includes that are not there because their condition is false.
    left_out: BTreeSet<u32>,
    /// It is in a group only so that it can stand in for others while these are changed.
    pub stands_in: bool,
    /// Numbers of its first element of each kind: see [`Kind`].
    first: [u32; 5],
}

/// Kinds of elements that are numbered through.
#[derive(Clone, Copy)]
pub enum Kind {
    /// Named intermediate values.
    Local,
    /// Data sources.
    DataSource,
    /// Resources.
    Resource,
    /// Links.
    Link,
    /// What a child is given; the root has none.
    Input,
}

/// A document that was read and checked, with its place.
pub struct Placed {
    /// Its meaning, shared with other places of the same document.
    pub checked: Arc<Checked>,
    /// What the place was called while documents were read.
    pub number: u32,
    /// The place above it, and which of its includes this is; none for the root.
    pub parent: Option<(u32, u32)>,
    /// Its includes whose condition is false.
    pub left_out: BTreeSet<u32>,
    /// Where it was found; none for a text that has no place.
    pub location: Option<Location>,
    /// The folder in which it stands.
    pub folder: Name,
    /// Its text.
    pub file: FileId,
}

impl Unit {
    /// Its meaning.
    pub fn blueprint(&self) -> &Blueprint {
        &self.checked.blueprint
    }

    /// The address of one of its elements.
    pub fn address(&self, name: &Name) -> Address {
        Address::inside(&self.path, name.clone())
    }

    /// How one of its elements is called where call sites and groups are remembered: `core/values.x`.
    pub fn named(&self, name: impl std::fmt::Display) -> String {
        let mut text = String::new();
        for child in &*self.path {
            text.push_str(child);
            text.push('/');
        }
        text.push_str(&name.to_string());
        text
    }

    /// How the address of one of its locals looks among dependencies: no resource may be called so.
    pub fn group_address(&self, name: &Name) -> Address {
        Address::inside(&self.path, format!("={name}"))
    }

    /// The number of its element of a kind at that position of the document.
    pub fn number(&self, kind: Kind, position: usize) -> u32 {
        self.first[kind as usize] + position as u32
    }

    /// The unit of the include at a position, if it could be read.
    pub fn child(&self, position: usize) -> Option<u32> {
        self.children.get(position).copied().flatten()
    }

    /// The number of its local at that position of the document.
    pub fn local(&self, position: usize) -> u32 {
        self.first[0] + position as u32
    }

    /// The number of its data source at that position of the document.
    pub fn data_source(&self, position: usize) -> u32 {
        self.first[1] + position as u32
    }

    /// The number of its resource at that position of the document.
    pub fn resource(&self, position: usize) -> u32 {
        self.first[2] + position as u32
    }
}

/// The name under which the group of a local is kept, if that is what an address names.
pub fn group_key(address: &Address) -> Option<Cow<'_, str>> {
    let name = address.name.strip_prefix('=')?;
    if address.path.is_empty() {
        return Some(Cow::Borrowed(name));
    }
    Some(Cow::Owned(address.path.iter().map(AsRef::as_ref).chain([name]).collect::<Vec<_>>().join("/")))
}

/// The address among dependencies of the group that is kept under a name.
pub fn address_of_group(key: &str) -> Address {
    let mut path: Vec<Name> = key.split('/').map(Name::from).collect();
    let name = path.pop().unwrap_or_else(|| "".into());
    Address::inside(&path, format!("={name}"))
}

/// What a child is given for one of its inputs.
pub struct Handed<'d> {
    /// The unit of the child.
    pub unit: u32,
    /// The input's position in the child.
    pub position: usize,
    /// The input's name.
    pub name: &'d Name,
    /// Its declaration.
    pub input: &'d Input,
    /// The unit in which the include stands.
    pub above: u32,
    /// What stands there for it.
    pub given: Option<&'d Expr>,
    /// Where the include is written.
    pub include: Span,
}

impl Handed<'_> {
    /// Whether its value is written out, so that it waits for nothing.
    pub fn is_written_out(&self) -> bool {
        self.given.is_none_or(|expr| expr.inner().as_literal().is_some())
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

/// What the documents that were read depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// On their texts alone.
    Fixed,
    /// On inputs too: other inputs may give other documents.
    ByInputs,
    /// On inputs that were not given: some includes could not be followed yet.
    Incomplete,
}

/// Everything that is planned as one: a root document and its children.
#[derive(Clone, Debug)]
pub struct Documents {
    units: Vec<Unit>,
    graph: Arc<Graph>,
    /// The links of all documents, between the resources by number. No link leads from one document into another.
    links: Arc<Links>,
    /// How many elements of each kind there are.
    counts: [usize; 5],
    /// What reading them has found, as a plan keeps it.
    pub frozen: Frozen,
    reach: Reach,
    /// How much they may ask for.
    pub room: dialects::Room,
}

impl Documents {
    /// A root without children. Its folder is as [`World::file`](evaluate::world::World::file) takes it.
    pub fn single(checked: Arc<Checked>, folder: Name) -> Documents {
        let graph = checked.graph.clone();
        let links = checked.links.clone();
        let counts = counts_of(&checked, true);
        let reach = if checked.blueprint.children.is_empty() { Reach::Fixed } else { Reach::Incomplete };
        let file = checked.blueprint.span.map_or(FileId::NONE, |span| span.file);
        let children = vec![None; checked.blueprint.children.len()];
        let path = Arc::from([]);
        let root = Unit {
            checked,
            path,
            location: None,
            folder,
            parent: None,
            file,
            children,
            left_out: BTreeSet::new(),
            stands_in: false,
            first: [0; 5],
        };
        Documents {
            units: vec![root],
            graph,
            links,
            counts,
            frozen: Frozen::default(),
            reach,
            room: dialects::Room::USUAL,
        }
    }

    /// The same documents in the same places, some of them with another meaning.
    pub fn with_meanings(
        &self,
        meaning: impl Fn(&Arc<Checked>) -> Option<Arc<Checked>>,
        found: &mut Diagnostics,
    ) -> Documents {
        let placed = (0..).zip(&self.units).map(|(number, unit)| Placed {
            checked: meaning(&unit.checked).unwrap_or_else(|| unit.checked.clone()),
            number,
            parent: unit.parent,
            left_out: unit.left_out.clone(),
            location: unit.location.clone(),
            folder: unit.folder.clone(),
            file: unit.file,
        });
        Documents::assemble(placed.collect(), self.frozen.clone(), self.reach, found).within(self.room)
    }

    /// The same, with what they may ask for.
    pub fn within(self, room: dialects::Room) -> Documents {
        Documents { room, ..self }
    }

    /// Whether the documents may be others with other inputs: they are read again when all inputs are given.
    pub fn is_open(&self) -> bool {
        self.reach != Reach::Fixed
    }

    /// Whether some children could not be followed, because where they lead depends on inputs that were not given yet.
    pub fn is_incomplete(&self) -> bool {
        self.reach == Reach::Incomplete
    }

    /// What reading the children has found.
    pub fn frozen(&self) -> &Frozen {
        &self.frozen
    }

    /// The children of a unit, as a check of its document takes them.
    pub fn children_of(&self, unit: u32) -> Vec<Option<Included>> {
        let unit = self.unit(unit);
        let included = |child: u32| Included { checked: self.unit(child).checked.clone() };
        unit.children.iter().map(|child| child.map(included)).collect()
    }

    /// The meaning of each document, once however many places it has.
    pub fn distinct(&self) -> impl Iterator<Item = &Arc<Checked>> {
        let mut seen: std::collections::HashSet<*const Checked, foldhash::fast::FixedState> = Default::default();
        self.units.iter().map(|unit| &unit.checked).filter(move |checked| seen.insert(Arc::as_ptr(checked)))
    }

    /// Reports each include that was not followed: nothing can be planned without it.
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

    /// Completes what was found while values were made: each mistake once, those in a child with the includes that lead
    /// there, and one `child-failed` for each of these includes. Errors with a code of `not_of_the_document` are about what would
    /// be done with the document, and make no include fail.
    pub fn attribute(&self, not_of_the_document: &[&'static Code], found: &mut Diagnostics) {
        if self.units.len() == 1 {
            return;
        }
        let mut said: std::collections::HashSet<(&'static str, Span, String), foldhash::fast::FixedState> =
            Default::default();
        found.retain(|it| !it.span().is_some() || said.insert((it.code.name, it.span(), it.message.clone())));
        self.give_trails(found);
        let mut failed: IndexMap<Span, Vec<Trail>> = IndexMap::default();
        let is_excepted = |it: &Diagnostic| not_of_the_document.iter().any(|code| code.name == it.code.name);
        for mistake in found.iter().filter(|it| it.is_error() && !is_excepted(it)) {
            for (at, step) in mistake.trail.iter().enumerate() {
                failed.entry(step.span).or_insert_with(|| mistake.trail[..at].to_vec());
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
                trail.push(Trail { span: child.span, text: format!("included as `{name}`") });
            }
            at = above;
        }
        trail.reverse();
        trail
    }

    /// Gives diagnostics about a unit the includes that lead there; the dialects above complete what they say of them.
    pub fn lead_to(&self, unit: u32, found: &mut Diagnostics) {
        if found.is_empty() {
            return;
        }
        let trail = self.trail(unit);
        for one in found.iter_mut() {
            self.lead_one(unit, &trail, one);
        }
    }

    fn lead_one(&self, unit: u32, trail: &[Trail], one: &mut Diagnostic) {
        one.trail = trail.to_vec();
        let mut at = unit;
        while let Some((above, include)) = self.units[at as usize].parent {
            let checked = &self.units[above as usize].checked;
            if let Some((name, child)) = checked.blueprint.children.get_index(include as usize) {
                checked.rules.messages.complete_below(one, name, child, at == unit);
            }
            at = above;
        }
    }

    /// Gives diagnostics that stand in a child the includes that lead there, unless they have them.
    pub fn give_trails(&self, found: &mut Diagnostics) {
        if self.units.len() == 1 {
            return;
        }
        let mut first: HashMap<FileId, u32, foldhash::fast::FixedState> = HashMap::default();
        for (number, unit) in (0..).zip(&self.units) {
            first.entry(unit.file).or_insert(number);
        }
        for diagnostic in found.iter_mut().filter(|it| it.trail.is_empty()) {
            if let Some(unit) = first.get(&diagnostic.span().file) {
                self.lead_one(*unit, &self.trail(*unit), diagnostic);
            }
        }
    }

    /// The root document.
    pub fn root(&self) -> &Unit {
        &self.units[0]
    }

    /// All documents in their places, the root first, each before its children.
    pub fn units(&self) -> &[Unit] {
        &self.units
    }

    /// What needs what, over all documents.
    pub fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    /// The links of all documents, between the resources by number.
    pub fn links(&self) -> &Arc<Links> {
        &self.links
    }

    /// How many locals, data sources and resources there are.
    pub fn counts(&self) -> [usize; 3] {
        let [locals, data_sources, resources, ..] = self.counts;
        [locals, data_sources, resources]
    }

    /// How many elements of a kind there are.
    pub fn count(&self, kind: Kind) -> usize {
        self.counts[kind as usize]
    }

    /// The unit in which an element of that kind stands, and its position there.
    pub fn place_of(&self, kind: Kind, number: u32) -> (u32, usize) {
        self.place(kind as usize, number)
    }

    /// The unit in which a node stands.
    pub fn unit_of(&self, node: Node) -> u32 {
        match node {
            Node::Local(number) => self.place_of(Kind::Local, number).0,
            Node::DataSource(number) => self.place_of(Kind::DataSource, number).0,
            Node::Resource(number) => self.place_of(Kind::Resource, number).0,
            Node::Link(number) => self.place_of(Kind::Link, number).0,
            Node::Input(number) => self.place_of(Kind::Input, number).0,
            Node::Child(_) => 0,
        }
    }

    fn place(&self, kind: usize, number: u32) -> (u32, usize) {
        // Units without elements of the kind begin where the next one does, so the last that begins there has it.
        let unit = self.units.partition_point(|unit| unit.first[kind] <= number).saturating_sub(1);
        (unit as u32, (number - self.units[unit].first[kind]) as usize)
    }

    /// The unit of that number.
    pub fn unit(&self, number: u32) -> &Unit {
        &self.units[number as usize]
    }

    /// The folder of a document as seen from that of the root document; empty if it is that.
    pub fn folder_seen_from_root(&self, unit: u32) -> Name {
        let (root, folder) = (&self.root().folder, &self.unit(unit).folder);
        match root == folder {
            true => Name::default(),
            false => Location::disk(folder.clone()).relative_to(root).identity().clone(),
        }
    }

    /// The folder of the document that declares the resource of that number, as seen from that of the root document; empty
    /// for a resource that no document declares.
    pub fn folder_declaring(&self, number: Option<u32>) -> Name {
        let unit = number.and_then(|number| self.resource(number));
        unit.map(|(unit, ..)| self.folder_seen_from_root(unit)).unwrap_or_default()
    }

    /// The local of that number, with its unit.
    pub fn local(&self, number: u32) -> Option<(u32, &Name, &Local)> {
        let (unit, position) = self.place(0, number);
        let (name, local) = self.unit(unit).blueprint().locals.get_index(position)?;
        Some((unit, name, local))
    }

    /// The data source of that number, with its unit.
    pub fn data_source(&self, number: u32) -> Option<(u32, &Name, &DataSource)> {
        let (unit, position) = self.place(1, number);
        let (name, source) = self.unit(unit).blueprint().data_sources.get_index(position)?;
        Some((unit, name, source))
    }

    /// The input of a child of that number: its unit, its declaration, the unit above with what stands there for it, if
    /// anything does, and where the include is written.
    pub fn handed(&self, number: u32) -> Option<Handed<'_>> {
        let (unit, position) = self.place(Kind::Input as usize, number);
        let (above, include) = self.unit(unit).parent?;
        let (name, input) = self.unit(unit).blueprint().inputs.get_index(position)?;
        let (_, child) = self.unit(above).blueprint().children.get_index(include as usize)?;
        let given = child.inputs.iter().find(|(given, _)| given.item == *name).map(|(_, expr)| expr);
        Some(Handed { unit, position, name, input, above, given, include: child.span })
    }

    /// The resource of that number, with its unit.
    pub fn resource(&self, number: u32) -> Option<(u32, &Name, &Resource)> {
        let (unit, position) = self.place(2, number);
        let (name, resource) = self.unit(unit).blueprint().resources.get_index(position)?;
        Some((unit, name, resource))
    }

    /// The type of the resource of that number; none where it is unknown.
    pub fn resource_type(&self, number: u32) -> Option<&Arc<ResourceType>> {
        let (unit, position) = self.place(2, number);
        self.unit(unit).checked.resource_types.get(position)?.as_ref()
    }

    /// The meaning of the include at a position of a unit, if it could be read.
    pub fn included(&self, unit: &Unit, position: usize) -> Option<&Checked> {
        unit.child(position).map(|child| self.unit(child).checked.as_ref())
    }

    /// How a node is written, seen from the root: `core/values.x`.
    pub fn name_of(&self, node: Node) -> String {
        let (kind, number) = match node {
            Node::Local(number) => (Kind::Local, number),
            Node::DataSource(number) => (Kind::DataSource, number),
            Node::Resource(number) => (Kind::Resource, number),
            Node::Link(number) => (Kind::Link, number),
            Node::Input(number) => (Kind::Input, number),
            Node::Child(at) => {
                let name = self.root().blueprint().children.get_index(at as usize).map(|(name, _)| name.as_ref());
                return format!("children.{}", name.unwrap_or_default());
            }
        };
        let (unit, at) = self.place_of(kind, number);
        let unit = self.unit(unit);
        let blueprint = unit.blueprint();
        let resource = |at: u32| blueprint.resources.get_index(at as usize).map_or("", |(name, _)| name.as_ref());
        unit.named(match kind {
            Kind::Local => blueprint.locals.get_index(at).map(|(name, _)| format!("values.{name}")).unwrap_or_default(),
            Kind::DataSource => {
                blueprint.data_sources.get_index(at).map(|(name, _)| format!("datasources.{name}")).unwrap_or_default()
            }
            Kind::Resource => resource(at as u32).to_owned(),
            Kind::Link => {
                let pair = unit.checked.links.pairs().get(at);
                pair.map(|pair| format!("{}::{}", resource(pair.a), resource(pair.b))).unwrap_or_default()
            }
            Kind::Input => {
                blueprint.inputs.get_index(at).map(|(name, _)| format!("variables.{name}")).unwrap_or_default()
            }
        })
    }

    /// The type of a resource or data source, as it is written.
    pub fn type_of(&self, node: Node) -> Option<&TypeId> {
        match node {
            Node::Resource(number) => self.resource(number).map(|(.., resource)| &resource.type_name.item),
            Node::DataSource(number) => self.data_source(number).map(|(.., source)| &source.type_name.item),
            _ => None,
        }
    }

    /// The abstract resource of its document that a transform made a resource from.
    pub fn made_from(&self, node: Node) -> Option<&Name> {
        match node {
            Node::Resource(number) => self.resource(number).and_then(|(.., resource)| resource.made_from.as_ref()),
            _ => None,
        }
    }

    /// The number of the resource that an address names, in whichever document it stands.
    pub fn declared(&self, address: &Address) -> Option<u32> {
        let mut unit = self.root();
        for child in &*address.path {
            unit = self.unit(unit.children[unit.blueprint().children.get_index_of(child)?]?);
        }
        Some(unit.resource(unit.blueprint().resources.get_index_of(&address.name)?))
    }
}
