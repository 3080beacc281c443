//! `cyan graph`.

use std::collections::{HashMap, HashSet};

use blueprint::Blueprint;
use engine::{EdgeKind, Graph as EngineGraph, Links, Node};

use crate::arguments::{Global, Graph, GraphFormat};
use crate::exit::{CommandError, Exit};
use crate::setup::{Document, Known, Setup, Source, raise_warnings};
use crate::view::graph::{Element, Kind, Picture, to_dot, to_json, to_mermaid, to_svg, to_text};
use crate::view::report::Report;

pub(crate) async fn run(arguments: Graph, global: &Global, report: &mut Report) -> Result<Exit, CommandError> {
    let source = Source::find(arguments.file.as_deref())?;
    let setup = Setup::beside(global, &source.folder, &mut report.terminal)?;
    let mut document =
        Document::check(source, &setup.global.offer, &Known::of(&engine::Given::default()), |_| false).await;
    raise_warnings(setup.global.strict, &mut document.found);
    report.diagnostics(&document.found, &document.files);
    let Some(checked) = document.checked.as_ref().filter(|_| !document.found.has_errors()) else {
        return Ok(Exit::Unusable);
    };
    let title = format!("what needs what in {}", document.source.shown);
    let picture = picture(&checked.graph, checked.blueprint.as_ref(), &checked.links, title);
    report.set_result(to_json(&picture));
    if !report.is_json() {
        let text = match arguments.format {
            GraphFormat::Text => to_text(&picture),
            GraphFormat::Dot => to_dot(&picture),
            GraphFormat::Mermaid => to_mermaid(&picture),
            GraphFormat::Svg => to_svg(&picture),
        };
        report.terminal.data(&text);
    }
    Ok(Exit::Done)
}

fn picture(graph: &EngineGraph, blueprint: &Blueprint, links: &Links, title: String) -> Picture {
    let places: HashMap<Node, usize> = graph.nodes().iter().enumerate().map(|(at, node)| (*node, at)).collect();
    let place = |node: Node| places.get(&node).copied().unwrap_or_default();
    let elements = graph
        .nodes()
        .iter()
        .map(|node| {
            // Each once with its reason, in the order of the text.
            let mut seen = HashSet::new();
            let needs = graph.edges(*node).iter().map(|edge| (place(edge.to), word(edge.kind)));
            let needs = needs.filter(|edge| seen.insert(*edge)).collect();
            if let Node::Link(at) = node
                && let Some(pair) = links.pairs().get(*at as usize)
            {
                // A link has two ends, whatever it waits for.
                let [a, b] = [Node::Resource(pair.a), Node::Resource(pair.b)];
                let ty = Some(format!("{}::{}", pair.kind.a, pair.kind.b));
                let name = format!("{}::{}", name(a, blueprint), name(b, blueprint));
                return Element { name, kind: Kind::Link, ty, needs: vec![(place(a), "from"), (place(b), "to")] };
            }
            Element { name: name(*node, blueprint), kind: kind(*node), ty: type_of(*node, blueprint), needs }
        })
        .collect();
    Picture { title, elements, order: graph.order().map(place).collect() }
}

fn kind(node: Node) -> Kind {
    match node {
        Node::Local(_) => Kind::Value,
        Node::DataSource(_) => Kind::DataSource,
        Node::Resource(_) => Kind::Resource,
        Node::Child(_) | Node::Input(_) => Kind::Child,
        Node::Link(_) => Kind::Link,
    }
}

/// An element with its section where the name alone could be mistaken: `values.x`, `datasources.x`; a resource by name.
fn name(node: Node, blueprint: &Blueprint) -> String {
    let (section, name) = match node {
        Node::Local(at) => ("values.", blueprint.locals.get_index(at as usize).map(|(name, _)| name)),
        Node::DataSource(at) => ("datasources.", blueprint.data_sources.get_index(at as usize).map(|(name, _)| name)),
        Node::Resource(at) => ("", blueprint.resources.get_index(at as usize).map(|(name, _)| name)),
        Node::Child(at) => ("children.", blueprint.children.get_index(at as usize).map(|(name, _)| name)),
        Node::Link(_) => ("", None),
        Node::Input(_) => ("variables.", None),
    };
    format!("{section}{}", name.map_or("", |name| name.as_ref()))
}

/// The type, where it has one.
fn type_of(node: Node, blueprint: &Blueprint) -> Option<String> {
    let name = match node {
        Node::Resource(at) => &blueprint.resources.get_index(at as usize)?.1.type_name.item,
        Node::DataSource(at) => &blueprint.data_sources.get_index(at as usize)?.1.type_name.item,
        Node::Local(_) | Node::Child(_) | Node::Link(_) | Node::Input(_) => return None,
    };
    Some(name.to_string())
}

fn word(kind: EdgeKind) -> &'static str {
    match kind {
        EdgeKind::Reads => "reads",
        EdgeKind::ReadsMetadata => "reads-metadata",
        EdgeKind::DependsOn => "depends-on",
        EdgeKind::Condition => "condition",
        EdgeKind::Link => "link",
    }
}
