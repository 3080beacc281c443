//! `cyan graph`.

use std::collections::{HashMap, HashSet};

use engine::{Documents, EdgeKind, Node};

use crate::arguments::{Global, Graph, GraphFormat};
use crate::exit::{CommandError, Exit};
use crate::setup::{Document, Setup, Source, raise_warnings};
use crate::view::graph::{Element, Kind, Picture, to_dot, to_json, to_mermaid, to_svg, to_text};
use crate::view::report::Report;

pub(crate) async fn run(arguments: Graph, global: &Global, report: &mut Report) -> Result<Exit, CommandError> {
    let inputs = &arguments.inputs;
    let source = Source::find(arguments.file.as_deref())?.with(&inputs.environments)?;
    let setup = Setup::beside(global, &source.folder, report)?;
    let (offer, strict) = (&setup.global.offer, setup.global.strict);
    let (mut document, _) = Document::check_given(source, offer, &setup.config, inputs, strict, report).await?;
    let transformed = document.transformed().await;
    raise_warnings(strict, &mut document.found);
    report.diagnostics(&document.found, &document.files);
    let made = transformed.as_ref().or(document.documents.as_ref());
    let Some(documents) = made.filter(|_| !document.found.has_errors()) else {
        return Ok(Exit::Unusable);
    };
    let title = format!("what needs what in {}", document.source.shown);
    let picture = picture(documents, title);
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

fn picture(documents: &Documents, title: String) -> Picture {
    let (graph, links) = (documents.graph(), documents.links());
    // What is handed to a child and waits for nothing is like a variable of the root, which is not shown either.
    let idle = |node: &Node| matches!(node, Node::Input(_)) && graph.edges(*node).is_empty();
    let nodes: Vec<Node> = graph.nodes().iter().copied().filter(|node| !idle(node)).collect();
    let places: HashMap<Node, usize> = nodes.iter().enumerate().map(|(at, node)| (*node, at)).collect();
    let place = |node: Node| places.get(&node).copied().unwrap_or_default();
    let elements = nodes
        .iter()
        .map(|node| {
            // Each once with its reason, in the order of the text.
            let mut seen = HashSet::new();
            let needs = graph.edges(*node).iter().filter_map(|edge| Some((*places.get(&edge.to)?, word(edge.kind))));
            let needs = needs.filter(|edge| seen.insert(*edge)).collect();
            if let Node::Link(at) = node
                && let Some(pair) = links.pairs().get(*at as usize)
            {
                // A link has two ends, whatever it waits for.
                let [a, b] = [Node::Resource(pair.a), Node::Resource(pair.b)];
                let ty = Some(format!("{}::{}", pair.kind.a, pair.kind.b));
                let name = documents.name_of(*node);
                return Element { name, kind: Kind::Link, ty, needs: vec![(place(a), "from"), (place(b), "to")] };
            }
            let ty = documents.type_of(*node).map(|ty| match documents.made_from(*node) {
                Some(source) => format!("{ty}, made from {source}"),
                None => ty.to_string(),
            });
            Element { name: documents.name_of(*node), kind: kind(*node), ty, needs }
        })
        .collect();
    Picture { title, elements, order: graph.order().filter(|node| !idle(node)).map(place).collect() }
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

fn word(kind: EdgeKind) -> &'static str {
    match kind {
        EdgeKind::Reads => "reads",
        EdgeKind::ReadsMetadata => "reads-metadata",
        EdgeKind::DependsOn => "depends-on",
        EdgeKind::Condition => "condition",
        EdgeKind::Link => "link",
    }
}
