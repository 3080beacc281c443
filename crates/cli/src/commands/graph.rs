//! `cyan graph`.

use blueprint::Blueprint;
use engine::{Edge, EdgeKind, Graph as EngineGraph, Node};
use serde_json::{Value as Json, json};

use crate::arguments::{Global, Graph, GraphFormat};
use crate::exit::{CommandError, Exit};
use crate::setup::{Document, Setup, Source, raise_warnings};
use crate::view::report::Report;

pub(crate) fn run(arguments: Graph, global: &Global, report: &mut Report) -> Result<Exit, CommandError> {
    let source = Source::find(arguments.file.as_deref())?;
    let setup = Setup::beside(global, &source.folder, &mut report.terminal)?;
    let mut document = Document::check(source, |_| false);
    raise_warnings(setup.global.strict, &mut document.found);
    report.diagnostics(&document.found, &document.files);
    let Some(checked) = document.checked.as_ref().filter(|_| !document.found.has_errors()) else {
        return Ok(Exit::Unusable);
    };
    let (graph, blueprint) = (&checked.graph, checked.blueprint.as_ref());
    report.set_result(to_json(graph, blueprint));
    if !report.is_json() {
        let text = match arguments.format {
            GraphFormat::Text => to_text(graph, blueprint),
            GraphFormat::Dot => to_dot(graph, blueprint),
        };
        report.terminal.data(&text);
    }
    Ok(Exit::Done)
}

/// An element with its section where the name alone could be mistaken: `values.x`, `datasources.x`; a resource by name.
fn name(node: Node, blueprint: &Blueprint) -> String {
    let (section, name) = match node {
        Node::Local(at) => ("values.", blueprint.locals.get_index(at as usize).map(|(name, _)| name)),
        Node::DataSource(at) => ("datasources.", blueprint.data_sources.get_index(at as usize).map(|(name, _)| name)),
        Node::Resource(at) => ("", blueprint.resources.get_index(at as usize).map(|(name, _)| name)),
        Node::Child(at) => ("children.", blueprint.children.get_index(at as usize).map(|(name, _)| name)),
    };
    format!("{section}{}", name.map_or("", |name| name.as_ref()))
}

/// The type, where it has one.
fn type_of(node: Node, blueprint: &Blueprint) -> Option<&str> {
    match node {
        Node::Resource(at) => blueprint.resources.get_index(at as usize).map(|(_, one)| one.type_name.item.as_ref()),
        Node::DataSource(at) => {
            blueprint.data_sources.get_index(at as usize).map(|(_, one)| one.type_name.item.as_ref())
        }
        Node::Local(_) | Node::Child(_) => None,
    }
}

fn word(kind: EdgeKind) -> &'static str {
    match kind {
        EdgeKind::Reads => "reads",
        EdgeKind::ReadsMetadata => "reads-metadata",
        EdgeKind::DependsOn => "depends-on",
        EdgeKind::Condition => "condition",
    }
}

/// What a node needs, each once with its strongest reason, in the order of the text.
fn needs(graph: &EngineGraph, node: Node) -> Vec<Edge> {
    let mut seen = std::collections::HashSet::new();
    graph.edges(node).iter().filter(|edge| seen.insert((edge.to, word(edge.kind)))).copied().collect()
}

fn to_text(graph: &EngineGraph, blueprint: &Blueprint) -> String {
    let mut text = String::new();
    for node in graph.order() {
        let ty = type_of(node, blueprint).map(|ty| format!(" ({ty})")).unwrap_or_default();
        text.push_str(&format!("{}{ty}\n", name(node, blueprint)));
        for edge in needs(graph, node) {
            text.push_str(&format!("  {} {}\n", word(edge.kind).replace('-', " "), name(edge.to, blueprint)));
        }
    }
    text
}

fn to_dot(graph: &EngineGraph, blueprint: &Blueprint) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let mut text = String::from("digraph blueprint {\n  rankdir=LR;\n  node [shape=box];\n");
    for node in graph.nodes() {
        let own = name(*node, blueprint);
        let label = type_of(*node, blueprint).map_or_else(|| own.clone(), |ty| format!("{own}\n{ty}"));
        let shape = match node {
            Node::Resource(_) | Node::Child(_) => "",
            Node::Local(_) => ", shape=ellipse",
            Node::DataSource(_) => ", style=rounded",
        };
        text.push_str(&format!("  {} [label={}{shape}];\n", quoted(&own), quoted(&label).replace('\n', "\\n")));
    }
    for node in graph.nodes() {
        for edge in needs(graph, *node) {
            let style = if edge.kind == EdgeKind::Reads {
                String::new()
            } else {
                format!(" [style=dashed, label={}]", quoted(word(edge.kind)))
            };
            text.push_str(&format!(
                "  {} -> {}{style};\n",
                quoted(&name(*node, blueprint)),
                quoted(&name(edge.to, blueprint))
            ));
        }
    }
    text.push_str("}\n");
    text
}

fn to_json(graph: &EngineGraph, blueprint: &Blueprint) -> Json {
    let nodes: Vec<Json> = graph
        .nodes()
        .iter()
        .map(|node| {
            let kind = match node {
                Node::Local(_) => "value",
                Node::DataSource(_) => "datasource",
                Node::Resource(_) => "resource",
                Node::Child(_) => "child",
            };
            let needs: Vec<Json> = needs(graph, *node)
                .iter()
                .map(|edge| json!({"name": name(edge.to, blueprint), "why": word(edge.kind)}))
                .collect();
            json!({"name": name(*node, blueprint), "kind": kind, "type": type_of(*node, blueprint), "needs": needs})
        })
        .collect();
    json!({"nodes": nodes})
}
