//! The documents of an instance in their places: the root, and every child where it is included.
//!
//! Elements are numbered through, each kind by itself: those of the root first, then those of the first include with
//! everything below it, and so on. A [`Node`](crate::Node) of the graph over all documents names an element by that number. What was
//! read and checked once is shared by all places in which a document is included.
//!
//! Not here: reading children (`load`), what an element stands for (`resolve`).

use std::borrow::Cow;
use std::sync::Arc;

use blueprint::{Address, Blueprint, DataSource, Local, Name, Resource};
use provider::ResourceType;

use crate::check::Checked;
use crate::graph::Graph;
use crate::links::Links;

/// A document in one place: the root, or a child where it is included.
#[derive(Clone, Debug)]
pub struct Unit {
    /// Its meaning, shared with other places of the same document.
    pub checked: Arc<Checked>,
    /// The children above its elements, outermost first; empty for the root.
    pub path: Vec<Name>,
    /// The folder it stands in, as [`World::file`](crate::World::file) takes it.
    pub folder: Name,
    /// The unit of each of its includes, by position; none for one that could not be read.
    children: Vec<Option<u32>>,
    /// Numbers of its first local, data source and resource.
    first: [u32; 3],
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
    pub(crate) fn named(&self, name: impl std::fmt::Display) -> String {
        let mut text = String::new();
        for child in &self.path {
            text.push_str(child);
            text.push('/');
        }
        text.push_str(&name.to_string());
        text
    }

    /// How the address of one of its locals looks among dependencies: no resource may be called so.
    pub(crate) fn group_address(&self, name: &Name) -> Address {
        Address::inside(&self.path, format!("={name}"))
    }

    /// The number of its local at that position of the document.
    pub(crate) fn local(&self, position: usize) -> u32 {
        self.first[0] + position as u32
    }

    /// The number of its data source at that position of the document.
    pub(crate) fn data_source(&self, position: usize) -> u32 {
        self.first[1] + position as u32
    }

    /// The number of its resource at that position of the document.
    pub(crate) fn resource(&self, position: usize) -> u32 {
        self.first[2] + position as u32
    }
}

/// The name under which the group of a local is kept, if that is what an address names.
pub(crate) fn group_key(address: &Address) -> Option<Cow<'_, str>> {
    let name = address.name.strip_prefix('=')?;
    if address.path.is_empty() {
        return Some(Cow::Borrowed(name));
    }
    Some(Cow::Owned(address.path.iter().map(AsRef::as_ref).chain([name]).collect::<Vec<_>>().join("/")))
}

/// The address among dependencies of the group that is kept under a name.
pub(crate) fn address_of_group(key: &str) -> Address {
    let mut path: Vec<Name> = key.split('/').map(Name::from).collect();
    let name = path.pop().unwrap_or_else(|| "".into());
    Address::inside(&path, format!("={name}"))
}

/// Everything that is planned as one: a root document and its children.
#[derive(Clone, Debug)]
pub struct Documents {
    units: Vec<Unit>,
    graph: Arc<Graph>,
    /// The links of all documents, between the resources by number. No link leads from one document into another.
    links: Arc<Links>,
    /// How many locals, data sources and resources there are.
    counts: [usize; 3],
}

impl Documents {
    /// A root without children. Its folder is as [`World::file`](crate::World::file) takes it.
    pub fn single(checked: Arc<Checked>, folder: Name) -> Documents {
        let graph = checked.graph.clone();
        let links = checked.links.clone();
        let counts =
            [checked.blueprint.locals.len(), checked.blueprint.data_sources.len(), checked.blueprint.resources.len()];
        let children = vec![None; checked.blueprint.children.len()];
        let root = Unit { checked, path: Vec::new(), folder, children, first: [0; 3] };
        Documents { units: vec![root], graph, links, counts }
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
    pub(crate) fn links(&self) -> &Arc<Links> {
        &self.links
    }

    /// How many locals, data sources and resources there are.
    pub(crate) fn counts(&self) -> [usize; 3] {
        self.counts
    }

    /// The document in which an element of that kind (0 local, 1 data source, 2 resource) stands, and its position there.
    fn place(&self, kind: usize, number: u32) -> (u32, usize) {
        // Units without elements of the kind begin where the next one does, so the last that begins there has it.
        let unit = self.units.partition_point(|unit| unit.first[kind] <= number).saturating_sub(1);
        (unit as u32, (number - self.units[unit].first[kind]) as usize)
    }

    /// The unit of that number.
    pub(crate) fn unit(&self, number: u32) -> &Unit {
        &self.units[number as usize]
    }

    /// The local of that number, with its unit.
    pub(crate) fn local(&self, number: u32) -> Option<(u32, &Name, &Local)> {
        let (unit, position) = self.place(0, number);
        let (name, local) = self.unit(unit).blueprint().locals.get_index(position)?;
        Some((unit, name, local))
    }

    /// The data source of that number, with its unit.
    pub(crate) fn data_source(&self, number: u32) -> Option<(u32, &Name, &DataSource)> {
        let (unit, position) = self.place(1, number);
        let (name, source) = self.unit(unit).blueprint().data_sources.get_index(position)?;
        Some((unit, name, source))
    }

    /// The resource of that number, with its unit.
    pub(crate) fn resource(&self, number: u32) -> Option<(u32, &Name, &Resource)> {
        let (unit, position) = self.place(2, number);
        let (name, resource) = self.unit(unit).blueprint().resources.get_index(position)?;
        Some((unit, name, resource))
    }

    /// The type of the resource of that number; none where it is unknown.
    pub(crate) fn resource_type(&self, number: u32) -> Option<&Arc<ResourceType>> {
        let (unit, position) = self.place(2, number);
        self.unit(unit).checked.resource_types.get(position)?.as_ref()
    }

    /// The number of the resource that an address names, in whichever document it stands.
    pub(crate) fn declared(&self, address: &Address) -> Option<u32> {
        let mut unit = self.root();
        for child in &*address.path {
            unit = self.unit(unit.children[unit.blueprint().children.get_index_of(child)?]?);
        }
        Some(unit.resource(unit.blueprint().resources.get_index_of(&address.name)?))
    }
}
