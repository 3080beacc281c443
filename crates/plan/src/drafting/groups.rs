//! Groups: the addresses that an intermediate value, an input of a child or a data source uses. A
//! reader of such a value depends on the group instead of its addresses, so each list of addresses
//! is stored once.
//!
//! Not here: the evaluation of values (`evaluate::resolve`).

use blueprint::{AccessorKind, Address, Expr, IndexMap, Name, ReferenceHead, Resource};
use evaluate::resolve::links::slots::LinkSlot;
use evaluate::resolve::{Evaluation, Members};
use understand::documents::{Documents, group_key};
use understand::graph::{EdgeKind, GraphNode};

use crate::model::HashSet;

/// The addresses that an element uses, each once, in the order in which they were found. A short
/// list is searched from its beginning; a longer list has an index.
#[derive(Default)]
pub(crate) struct UsedAddresses {
    pub(crate) list: Vec<Address>,
    pub(crate) index: HashSet<Address>,
}

impl UsedAddresses {
    /// The greatest length of a list without an index.
    const MAX_UNINDEXED: usize = 8;

    pub(crate) fn add(&mut self, address: Address) {
        if self.index.is_empty() {
            if self.list.contains(&address) {
                return;
            }
            if self.list.len() == UsedAddresses::MAX_UNINDEXED {
                self.index = self.list.iter().cloned().collect();
            }
        }
        if self.list.len() < UsedAddresses::MAX_UNINDEXED || self.index.insert(address.clone()) {
            self.list.push(address);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(crate) fn into_list(self) -> Vec<Address> {
        self.list
    }
}

/// Stores the group of an intermediate value: the resources that it uses, and other intermediate
/// values with groups.
pub(crate) fn store_local_group(
    documents: &Documents,
    index: u32,
    evaluation: &Evaluation,
    groups: &mut IndexMap<Name, Vec<Address>>,
) {
    let Some((unit, name, local)) = documents.local(index) else {
        return;
    };
    let mut used = UsedAddresses::default();
    let readers = [&local.value];
    let reads = ReadPositions::new(documents, unit, &readers);
    for edge in documents.graph().edges(GraphNode::Local(index)) {
        addresses_of(
            documents, evaluation, groups, edge.to, edge.kind, &reads, &mut used,
        );
    }
    if !used.is_empty() {
        let name = if unit == 0 {
            name.clone()
        } else {
            documents.unit(unit).named(name).into()
        };
        groups.insert(name, used.into_list());
    }
}

/// Stores the group of a data source: the addresses that its search uses. A reader of the data
/// source waits for them too, because the data source may be read only after them.
pub(crate) fn store_data_source_group(
    documents: &Documents,
    index: u32,
    evaluation: &Evaluation,
    groups: &mut IndexMap<Name, Vec<Address>>,
) {
    let Some((unit, name, source)) = documents.data_source(index) else {
        return;
    };
    let mut used = UsedAddresses::default();
    let mut readers: Vec<&Expr> = source.filters.iter().map(|filter| &filter.search).collect();
    readers.extend(source.metadata.annotations.iter().map(|(_, value)| value));
    let reads = ReadPositions::new(documents, unit, &readers);
    for edge in documents.graph().edges(GraphNode::DataSource(index)) {
        if edge.kind != EdgeKind::ReadsMetadata {
            addresses_of(
                documents, evaluation, groups, edge.to, edge.kind, &reads, &mut used,
            );
        }
    }
    if !used.is_empty()
        && let Some(key) = group_key(
            &documents
                .unit(unit)
                .group_address(&data_source_group_name(name)),
        )
    {
        groups.insert(key.as_ref().into(), used.into_list());
    }
}

/// The name of the group of a data source. No intermediate value can have such a name.
pub(crate) fn data_source_group_name(name: &Name) -> Name {
    format!("?{name}").into()
}

/// Stores what an input of a child uses: one address, or a group of several.
pub(crate) fn store_input_group(
    documents: &Documents,
    number: u32,
    evaluation: &mut Evaluation,
    groups: &mut IndexMap<Name, Vec<Address>>,
) {
    let Some(passed) = documents.passed_input(number) else {
        return;
    };
    let readers: Vec<&Expr> = passed.given.into_iter().collect();
    let mut used = UsedAddresses::default();
    let reads = ReadPositions::new(documents, passed.above, &readers);
    for edge in documents.graph().edges(GraphNode::Input(number)) {
        if edge.kind != EdgeKind::ReadsMetadata {
            addresses_of(
                documents, evaluation, groups, edge.to, edge.kind, &reads, &mut used,
            );
        }
    }
    let mut used = used.into_list();
    evaluation.passed_input_uses[number as usize] = match used.len() {
        0 | 1 => used.pop(),
        _ => {
            // No name of an input has a colon.
            let address = documents
                .unit(passed.unit)
                .group_address(&format!(":{}", passed.name).into());
            if let Some(key) = group_key(&address) {
                groups.insert(key.as_ref().into(), used);
            }
            Some(address)
        }
    };
}

/// The positions at which expressions read the members of templates, by the template's number;
/// looked up only if needed.
pub(crate) struct ReadPositions<'a> {
    pub(crate) documents: &'a Documents,
    pub(crate) unit: u32,
    pub(crate) readers: &'a [&'a Expr],
    pub(crate) positions: std::cell::OnceCell<IndexMap<u32, Vec<usize>>>,
}

impl<'a> ReadPositions<'a> {
    pub(crate) fn new(
        documents: &'a Documents,
        unit: u32,
        readers: &'a [&'a Expr],
    ) -> ReadPositions<'a> {
        ReadPositions {
            documents,
            unit,
            readers,
            positions: std::cell::OnceCell::new(),
        }
    }

    /// The positions at which members of the template are read.
    pub(crate) fn of(&self, template: u32) -> &[usize] {
        self.positions
            .get_or_init(|| self.find_positions())
            .get(&template)
            .map_or(&[], Vec::as_slice)
    }

    pub(crate) fn find_positions(&self) -> IndexMap<u32, Vec<usize>> {
        let mut reads: IndexMap<u32, Vec<usize>> = IndexMap::default();
        for reader in self.readers {
            self.collect_positions(self.unit, reader, &mut reads);
        }
        reads
    }

    pub(crate) fn collect_positions(
        &self,
        unit: u32,
        expr: &Expr,
        reads: &mut IndexMap<u32, Vec<usize>>,
    ) {
        let unit = self.documents.unit(unit);
        let blueprint = unit.blueprint();
        expr.references(&mut |reference| {
            let first = reference.path.first().map(|accessor| &accessor.kind);
            match (&reference.head, first) {
                (ReferenceHead::Resource { name, .. }, Some(AccessorKind::Index(at))) => {
                    if let Some(position) = blueprint.resources.get_index_of(name) {
                        reads
                            .entry(unit.resource(position))
                            .or_default()
                            .push(*at as usize);
                    }
                }
                // The references of an export belong to the document of the export.
                (ReferenceHead::Child(name), Some(AccessorKind::Name(export))) => {
                    let child = blueprint
                        .children
                        .get_index_of(name)
                        .and_then(|at| unit.child(at));
                    let Some(child) = child else { return };
                    if let Some(export) = self.documents.unit(child).blueprint().exports.get(export)
                    {
                        self.collect_positions(child, &export.field, reads);
                    }
                }
                _ => {}
            }
        });
    }
}

/// The addresses that an edge leads to: members of a resource, or the group of an intermediate
/// value.
pub(crate) fn addresses_of(
    documents: &Documents,
    evaluation: &Evaluation,
    groups: &IndexMap<Name, Vec<Address>>,
    to: GraphNode,
    kind: EdgeKind,
    reads: &ReadPositions<'_>,
    used: &mut UsedAddresses,
) {
    let mut add = |address: Address| used.add(address);
    match to {
        GraphNode::Local(index) => {
            let Some((unit, name, _)) = documents.local(index) else {
                return;
            };
            let address = documents.unit(unit).group_address(name);
            if group_key(&address).is_some_and(|key| groups.contains_key(key.as_ref())) {
                add(address);
            }
        }
        GraphNode::Resource(index) => match &evaluation.resources[index as usize] {
            Members::Single(member) => add(member.address.clone()),
            Members::Many(members) if kind == EdgeKind::DependsOn => {
                members
                    .iter()
                    .flatten()
                    .for_each(|member| add(member.address.clone()));
            }
            Members::Many(members) => {
                for at in reads.of(index) {
                    if let Some(Some(member)) = members.get(*at) {
                        add(member.address.clone());
                    }
                }
            }
            Members::Open | Members::Failed | Members::Absent => {}
        },
        GraphNode::DataSource(index) => {
            let Some((unit, name, _)) = documents.data_source(index) else {
                return;
            };
            let address = documents
                .unit(unit)
                .group_address(&data_source_group_name(name));
            if group_key(&address).is_some_and(|key| groups.contains_key(key.as_ref())) {
                add(address);
            }
        }
        GraphNode::Link(number) if kind != EdgeKind::Link => {
            let Some(pair) = evaluation.pair(number) else {
                return;
            };
            let named = |resource: u32, position: Option<u32>| {
                let read = reads.of(resource);
                position.is_none_or(|at| read.is_empty() || read.contains(&(at as usize)))
            };
            if let LinkSlot::Ready(links) = &evaluation.links.slots[number as usize] {
                let read = links
                    .iter()
                    .filter(|link| named(pair.a, link.a) && named(pair.b, link.b));
                read.for_each(|link| add(link.address.clone()));
            }
        }
        GraphNode::Input(number) => evaluation.passed_input_uses[number as usize]
            .iter()
            .for_each(|address| add(address.clone())),
        GraphNode::Child(_) | GraphNode::Link(_) => {}
    }
}

/// The direct dependencies that all members of a resource share, from its edges in the graph.
pub(crate) fn common_dependencies(
    evaluation: &Evaluation,
    documents: &Documents,
    unit: u32,
    index: u32,
    resource: &Resource,
    groups: &IndexMap<Name, Vec<Address>>,
) -> Vec<Address> {
    let mut readers: Vec<&Expr> = vec![&resource.spec];
    readers.extend(resource.condition.as_deref());
    let reads = ReadPositions::new(documents, unit, &readers);
    let mut used = UsedAddresses::default();
    for edge in documents.graph().edges(GraphNode::Resource(index)) {
        if edge.kind != EdgeKind::ReadsMetadata {
            addresses_of(
                documents, evaluation, groups, edge.to, edge.kind, &reads, &mut used,
            );
        }
    }
    used.into_list()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn used_addresses_are_listed_once_in_order() {
        for count in [
            0,
            1,
            UsedAddresses::MAX_UNINDEXED,
            UsedAddresses::MAX_UNINDEXED + 1,
            100,
        ] {
            let mut used = UsedAddresses::default();
            let names = || (0..count).map(|n| Address::root(format!("r{n}")));
            names().chain(names()).for_each(|address| used.add(address));
            assert_eq!(used.into_list(), names().collect::<Vec<_>>());
        }
    }
}
