//! Builds the dependency graph over all documents. An export depends on the elements that it reads,
//! not on its document as a whole.
//!
//! The wiring of a document is computed once, and instantiated for each of its places.
//!
//! Not here: cycles in one document (`check::cycles` reports them).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use blueprint::{AccessorKind, Expr, ExprKind, Name, PackageCall, Ref, ReferenceHead, TypeId};
use diag::{Diagnostics, Span, Spanned};

use super::{
    DocumentDependence, DocumentInstance, Documents, NumberedKind, PlacedDocument, counts_of,
};
use crate::check::edges::{expressions, read_by, reads_metadata};
use crate::check::{Checked, codes};
use crate::graph::{Edge, EdgeKind, Graph, GraphNode};
use crate::links::Links;
use crate::pinned::Pinned;

/// A dependency of an element, as seen in its own document.
#[derive(Clone, Copy)]
struct DocumentEdge {
    to: EdgeTarget,
    kind: EdgeKind,
    span: Span,
}

/// The target of a dependency.
#[derive(Clone, Copy)]
enum EdgeTarget {
    /// An element of the document, by position.
    Own(GraphNode),
    /// An input of the document.
    Input(u32),
    /// An export of a child.
    Export { child: u32, export: u32 },
    /// Every resource of a child and of the documents below it.
    Child(u32),
}

/// The dependencies of the elements of one document.
struct DocumentWiring {
    /// The dependencies of locals, data sources, resources and links, in this order.
    elements: [Vec<Vec<DocumentEdge>>; 4],
    /// The dependencies of the inputs of each child, in the order in which the document writes
    /// them.
    passed: Vec<Vec<Vec<DocumentEdge>>>,
    exports: Vec<Vec<DocumentEdge>>,
    /// The names that each child waits for as a whole, in addition to its `dependsOn`.
    waits: Vec<Vec<Spanned<Name>>>,
}

/// The members of a group that do not stay: they are removed, or exist only during an update.
fn temporary_members(unit: &DocumentInstance) -> HashSet<Name, foldhash::fast::FixedState> {
    unit.blueprint()
        .batches
        .iter()
        .flat_map(|batches| batches.beyond.iter().cloned())
        .collect()
}

impl Documents {
    /// Assembles documents in their places, each after the one that includes it. Reports cycles
    /// through several documents.
    pub fn assemble(
        placed: Vec<PlacedDocument>,
        pinned: Pinned,
        dependence: DocumentDependence,
        found: &mut Diagnostics,
    ) -> Documents {
        let mut units: Vec<DocumentInstance> = Vec::with_capacity(placed.len());
        let mut counts = [0_usize; 5];
        let mut of_place: HashMap<u32, u32, foldhash::fast::FixedState> = HashMap::default();
        let mut beyond: HashMap<
            u32,
            HashSet<Name, foldhash::fast::FixedState>,
            foldhash::fast::FixedState,
        > = HashMap::default();
        for PlacedDocument {
            checked,
            number,
            parent,
            left_out,
            location,
            folder,
            file,
        } in placed
        {
            let unit = units.len() as u32;
            of_place.insert(number, unit);
            let parent =
                parent.and_then(|(above, include)| Some((*of_place.get(&above)?, include)));
            let mut path: Vec<Name> = Vec::new();
            let mut is_temporary = false;
            if let Some((above, include)) = parent {
                let beyond = beyond
                    .entry(above)
                    .or_insert_with(|| temporary_members(&units[above as usize]));
                let above = &mut units[above as usize];
                above.children[include as usize] = Some(unit);
                path.extend(above.path.iter().cloned());
                path.extend(
                    above
                        .checked
                        .blueprint
                        .children
                        .get_index(include as usize)
                        .map(|(name, _)| name.clone()),
                );
                is_temporary = above.is_temporary_member
                    || path.last().is_some_and(|name| beyond.contains(name));
            }
            let children = vec![None; checked.blueprint.children.len()];
            let first = counts.map(|count| count as u32);
            for (all, more) in counts.iter_mut().zip(counts_of(&checked, unit == 0)) {
                *all += more;
            }
            let path = path.into();
            units.push(DocumentInstance {
                checked,
                path,
                location,
                folder,
                parent,
                file,
                children,
                left_out,
                is_temporary_member: is_temporary,
                first,
            });
        }
        let graph = units
            .first()
            .map(|root| root.checked.graph.clone())
            .unwrap_or_default();
        let links = units
            .first()
            .map(|root| root.checked.links.clone())
            .unwrap_or_default();
        let mut documents = Documents {
            units,
            graph,
            links,
            counts,
            pinned,
            dependence,
            limits: dialect::DocumentLimits::DEFAULT,
        };
        if documents.units.len() > 1 {
            let pairs = documents.units.iter().flat_map(|unit| {
                unit.checked
                    .links
                    .pairs()
                    .iter()
                    .map(|pair| pair.from(unit.first[NumberedKind::Resource as usize]))
            });
            documents.links = Arc::new(Links::new(pairs.collect()));
            documents.graph = Arc::new(self::graph(&documents, found));
        }
        documents
    }
}

/// The graph over all documents. Reports cycles through several documents.
pub fn graph(documents: &Documents, found: &mut Diagnostics) -> Graph {
    let mut known: HashMap<*const Checked, Arc<DocumentWiring>, foldhash::fast::FixedState> =
        HashMap::default();
    let wirings: Vec<Arc<DocumentWiring>> = documents
        .units()
        .iter()
        .map(|unit| {
            let children: Vec<Option<&Checked>> = (0..unit.blueprint().children.len())
                .map(|at| documents.included(unit, at))
                .collect();
            known
                .entry(Arc::as_ptr(&unit.checked))
                .or_insert_with(|| Arc::new(wiring(&unit.checked, &children)))
                .clone()
        })
        .collect();
    let whole = WholeGraph {
        documents,
        wirings: &wirings,
    };
    let [locals, data_sources, resources] = documents.counts();
    let links = documents.count(NumberedKind::Link);
    let inputs = documents.count(NumberedKind::Input);
    let counts = [locals, data_sources, resources, 0, links, inputs];
    let mut any_metadata = false;
    let (graph, cycles) = Graph::new(counts, |node, out| {
        let before = out.len();
        whole.edges(node, out);
        any_metadata |= out[before..]
            .iter()
            .any(|edge| edge.kind == EdgeKind::ReadsMetadata);
    });
    let crossing = |cycles: Vec<Vec<(GraphNode, Edge)>>| -> Vec<Vec<(GraphNode, Edge)>> {
        cycles
            .into_iter()
            .filter(|cycle| whole.is_crossing(cycle))
            .collect()
    };
    let cycles = crossing(cycles);
    if cycles.is_empty() {
        return graph;
    }
    // References to metadata order only evaluation
    // (decisions/blueprint#references-that-cause-an-order).
    let (graph, cycles) = if any_metadata {
        let (graph, cycles) = Graph::new(counts, |node, out| {
            whole.edges(node, out);
            out.retain(|edge| edge.kind != EdgeKind::ReadsMetadata);
        });
        (graph, crossing(cycles))
    } else {
        (graph, cycles)
    };
    for cycle in &cycles {
        found.push(whole.cycle(cycle));
    }
    graph
}

fn wiring(checked: &Checked, children: &[Option<&Checked>]) -> DocumentWiring {
    let blueprint = &checked.blueprint;
    let are_whole = checked.rules.children.are_atomic();
    let outward = |expr: &Expr, kind: EdgeKind, wires: &mut Vec<DocumentEdge>| {
        expr.references(&mut |reference| {
            wires.extend(cross_document_edge(checked, children, reference, kind));
            if let ReferenceHead::Child(name) = &reference.head
                && are_whole
                && kind == EdgeKind::Reads
                && let Some(child) = blueprint.children.get_index_of(name)
            {
                let to = EdgeTarget::Child(child as u32);
                wires.push(DocumentEdge {
                    to,
                    kind: EdgeKind::DependsOn,
                    span: reference.head_span,
                });
            }
        });
    };
    let element = |node: GraphNode| {
        // A read of a child is resolved by its export. `dependsOn` a child waits for every resource
        // in it.
        let wire = |edge: &Edge| {
            let to = match (edge.to, edge.kind) {
                (GraphNode::Child(child), EdgeKind::DependsOn) => EdgeTarget::Child(child),
                (GraphNode::Child(_), _) => return None,
                (to, _) => EdgeTarget::Own(to),
            };
            Some(DocumentEdge {
                to,
                kind: edge.kind,
                span: edge.span,
            })
        };
        let mut wires: Vec<DocumentEdge> =
            checked.graph.edges(node).iter().filter_map(wire).collect();
        let before = wires.len();
        expressions(blueprint, node, &mut |expr, kind| {
            outward(expr, kind, &mut wires)
        });
        if wires.len() > before {
            wires.sort_by_key(|wire| wire.span.start);
        }
        wires
    };
    // Expressions outside of elements have no edges in the graph of their document.
    let outside = |expr: &Expr| {
        let mut wires = Vec::new();
        expr.references(&mut |reference| {
            let target = match &reference.head {
                ReferenceHead::Local(name) => blueprint
                    .locals
                    .get_index_of(name)
                    .map(|at| GraphNode::Local(at as u32)),
                ReferenceHead::DataSource(name) => blueprint
                    .data_sources
                    .get_index_of(name)
                    .map(|at| GraphNode::DataSource(at as u32)),
                ReferenceHead::Resource { name, .. } => blueprint
                    .resources
                    .get_index_of(name)
                    .map(|at| GraphNode::Resource(at as u32)),
                _ => None,
            };
            let kind = if reads_metadata(reference) {
                EdgeKind::ReadsMetadata
            } else {
                EdgeKind::Reads
            };
            wires.extend(target.map(|to| DocumentEdge {
                to: EdgeTarget::Own(to),
                kind,
                span: reference.head_span,
            }));
            wires.extend(cross_document_edge(
                checked,
                children,
                reference,
                EdgeKind::Reads,
            ));
        });
        wires
    };
    let all = |count: usize, node: fn(u32) -> GraphNode| {
        (0..count as u32).map(|at| element(node(at))).collect()
    };
    DocumentWiring {
        elements: [
            all(blueprint.locals.len(), GraphNode::Local),
            all(blueprint.data_sources.len(), GraphNode::DataSource),
            all(blueprint.resources.len(), GraphNode::Resource),
            all(checked.links.pairs().len(), GraphNode::Link),
        ],
        passed: blueprint
            .children
            .values()
            .map(|child| child.inputs.iter().map(|(_, expr)| outside(expr)).collect())
            .collect(),
        exports: blueprint
            .exports
            .values()
            .map(|export| outside(&export.field))
            .collect(),
        waits: blueprint
            .children
            .values()
            .map(|child| {
                if are_whole {
                    read_by(child)
                } else {
                    Vec::new()
                }
            })
            .collect(),
    }
}

/// The dependency of a reference on another document.
fn cross_document_edge(
    checked: &Checked,
    children: &[Option<&Checked>],
    reference: &Ref,
    kind: EdgeKind,
) -> Option<DocumentEdge> {
    let blueprint = &checked.blueprint;
    let to = match &reference.head {
        ReferenceHead::Input(name) => {
            EdgeTarget::Input(blueprint.inputs.get_index_of(name)? as u32)
        }
        ReferenceHead::Child(name) => {
            let child = blueprint.children.get_index_of(name)?;
            let AccessorKind::Name(export) = &reference.path.first()?.kind else {
                return None;
            };
            let export = children
                .get(child)
                .copied()
                .flatten()?
                .blueprint
                .exports
                .get_index_of(export)?;
            EdgeTarget::Export {
                child: child as u32,
                export: export as u32,
            }
        }
        _ => return None,
    };
    Some(DocumentEdge {
        to,
        kind,
        span: reference.head_span,
    })
}

struct WholeGraph<'a> {
    documents: &'a Documents,
    wirings: &'a [Arc<DocumentWiring>],
}

impl WholeGraph<'_> {
    /// Appends the dependencies of a node.
    fn edges(&self, node: GraphNode, out: &mut Vec<Edge>) {
        let documents = self.documents;
        let (kind, number) = match node {
            GraphNode::Local(number) => (NumberedKind::Local, number),
            GraphNode::DataSource(number) => (NumberedKind::DataSource, number),
            GraphNode::Resource(number) => (NumberedKind::Resource, number),
            GraphNode::Link(number) => (NumberedKind::Link, number),
            GraphNode::Input(number) => return self.add_passed_input_edges(number, out),
            GraphNode::Child(_) => return,
        };
        let (unit, position) = documents.place_of(kind, number);
        for wire in &self.wirings[unit as usize].elements[kind as usize][position] {
            self.add_edges(unit, *wire, wire.kind, wire.span, out);
        }
        if matches!(node, GraphNode::Resource(_)) {
            self.add_include_edges(unit, out);
        }
        // A configuration that the element names itself is already an edge of its document.
        if let Some(choice) = documents
            .provider_of(node)
            .filter(|choice| choice.unit != unit)
        {
            let to = GraphNode::Resource(choice.resource(documents));
            out.push(Edge {
                to,
                kind: EdgeKind::DependsOn,
                span: choice.span,
            });
        }
        self.add_inherited_call_edges(unit, (kind, position), out);
    }

    /// Appends the dependencies on configurations that calls of functions of packages inherit from
    /// the includes above their document.
    fn add_inherited_call_edges(
        &self,
        unit: u32,
        (kind, position): (NumberedKind, usize),
        out: &mut Vec<Edge>,
    ) {
        let document = self.documents.unit(unit);
        if document.parent.is_none() || document.checked.package_functions.is_empty() {
            return;
        }
        let position = position as u32;
        let node = match kind {
            NumberedKind::Local => GraphNode::Local(position),
            NumberedKind::DataSource => GraphNode::DataSource(position),
            NumberedKind::Resource => GraphNode::Resource(position),
            NumberedKind::Link | NumberedKind::Input => return,
        };
        expressions(document.blueprint(), node, &mut |expr, _| {
            expr.walk(&mut |part| {
                let ExprKind::Call(call) = &part.kind else {
                    return;
                };
                let inherits = PackageCall::of(call).filter(|call| call.provider().is_none());
                let Some((name, span)) = inherits.and_then(PackageCall::function) else {
                    return;
                };
                let id = TypeId::parse(name.clone());
                if let Some(choice) = self.documents.provider_for(unit, None, id.package_name()) {
                    out.push(Edge {
                        to: GraphNode::Resource(choice.resource(self.documents)),
                        kind: EdgeKind::DependsOn,
                        span,
                    });
                }
            });
        });
    }

    /// Appends the dependencies of the includes above a document.
    fn add_include_edges(&self, unit: u32, out: &mut Vec<Edge>) {
        let mut at = unit;
        while let Some((above, include)) = self.documents.unit(at).parent {
            let here = self.documents.unit(above);
            let blueprint = here.blueprint();
            let child = blueprint
                .children
                .get_index(include as usize)
                .map(|(_, child)| child);
            let mut wait = |name: &Name, span: Span| {
                if let Some(at) = blueprint.resources.get_index_of(name) {
                    let to = GraphNode::Resource(here.number(NumberedKind::Resource, at));
                    out.push(Edge {
                        to,
                        kind: EdgeKind::DependsOn,
                        span,
                    });
                } else if let Some(child) = blueprint
                    .children
                    .get_index_of(name)
                    .and_then(|at| here.child(at))
                {
                    self.add_resource_edges(child, EdgeKind::DependsOn, span, out);
                }
            };
            for name in child.into_iter().flat_map(|child| &child.depends_on) {
                wait(&name.item, name.span);
            }
            for name in &self.wirings[above as usize].waits[include as usize] {
                wait(&name.item, name.span);
            }
            at = above;
        }
    }

    /// Appends every resource of a document and of the documents below it.
    fn add_resource_edges(&self, unit: u32, kind: EdgeKind, span: Span, out: &mut Vec<Edge>) {
        let here = self.documents.unit(unit);
        for at in 0..here.blueprint().resources.len() {
            out.push(Edge {
                to: GraphNode::Resource(here.number(NumberedKind::Resource, at)),
                kind,
                span,
            });
        }
        for child in (0..here.blueprint().children.len()).filter_map(|at| here.child(at)) {
            self.add_resource_edges(child, kind, span, out);
        }
    }

    fn add_passed_input_edges(&self, number: u32, out: &mut Vec<Edge>) {
        let documents = self.documents;
        let Some(passed) = documents.passed_input(number) else {
            return;
        };
        let Some((_, include)) = documents.unit(passed.unit).parent else {
            return;
        };
        let blueprint = documents.unit(passed.above).blueprint();
        let Some((_, child)) = blueprint.children.get_index(include as usize) else {
            return;
        };
        let Some(at) = child
            .inputs
            .iter()
            .position(|(given, _)| given.item == *passed.name)
        else {
            return;
        };
        for wire in &self.wirings[passed.above as usize].passed[include as usize][at] {
            self.add_edges(passed.above, *wire, wire.kind, wire.span, out);
        }
    }

    /// Appends the edges of a wire in one place of its document.
    fn add_edges(
        &self,
        unit: u32,
        wire: DocumentEdge,
        kind: EdgeKind,
        span: Span,
        out: &mut Vec<Edge>,
    ) {
        let kind = if wire.kind == EdgeKind::ReadsMetadata {
            wire.kind
        } else {
            kind
        };
        let here = self.documents.unit(unit);
        let to = match wire.to {
            EdgeTarget::Own(node) => match node {
                GraphNode::Local(at) => {
                    GraphNode::Local(here.number(NumberedKind::Local, at as usize))
                }
                GraphNode::DataSource(at) => {
                    GraphNode::DataSource(here.number(NumberedKind::DataSource, at as usize))
                }
                GraphNode::Resource(at) => {
                    GraphNode::Resource(here.number(NumberedKind::Resource, at as usize))
                }
                GraphNode::Link(at) => {
                    GraphNode::Link(here.number(NumberedKind::Link, at as usize))
                }
                GraphNode::Child(_) | GraphNode::Input(_) => return,
            },
            EdgeTarget::Input(at) => {
                let number = here.number(NumberedKind::Input, at as usize);
                // A literal input depends on nothing and is always settled.
                match self.documents.passed_input(number) {
                    Some(passed) if here.parent.is_some() && !passed.is_literal() => {
                        GraphNode::Input(number)
                    }
                    _ => return,
                }
            }
            EdgeTarget::Child(child) => {
                if let Some(child) = here.child(child as usize) {
                    self.add_resource_edges(child, kind, span, out);
                }
                return;
            }
            EdgeTarget::Export { child, export } => {
                let Some(child) = here.child(child as usize) else {
                    return;
                };
                for wire in &self.wirings[child as usize].exports[export as usize] {
                    self.add_edges(child, *wire, kind, span, out);
                }
                return;
            }
        };
        out.push(Edge { to, kind, span });
    }

    /// Whether a cycle leads through more than one document. Cycles in one document are already
    /// reported.
    fn is_crossing(&self, cycle: &[(GraphNode, Edge)]) -> bool {
        let mut units = cycle.iter().map(|(node, _)| self.documents.unit_of(*node));
        let first = units.next();
        units.any(|unit| Some(unit) != first)
    }

    fn cycle(&self, cycle: &[(GraphNode, Edge)]) -> diag::Diagnostic {
        let first = (0..cycle.len())
            .min_by_key(|at| (cycle[*at].1.span.file, cycle[*at].1.span.start))
            .unwrap_or(0);
        let round = || cycle[first..].iter().chain(&cycle[..first]);
        let mut path: Vec<String> = round()
            .map(|(node, _)| self.documents.name_of(*node))
            .collect();
        path.extend(path.first().cloned());
        let mut diagnostic =
            codes::CYCLE.new(format!("elements need each other: {}", path.join(" -> ")));
        for (node, edge) in round() {
            let text = format!(
                "`{}` reads `{}`",
                self.documents.name_of(*node),
                self.documents.name_of(edge.to)
            );
            diagnostic = diagnostic.label(edge.span, text);
        }
        diagnostic.help("take away one of these references")
    }
}
