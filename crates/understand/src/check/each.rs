//! Checks that `each` is a list that is known before deployment (decisions/blueprint#items-of-each,
//! decisions/blueprint#each-is-known-at-stage).
//!
//! Not here: the meaning of `elem` and `i` (`references`), and the expansion.

use blueprint::{Each, Type, Value};

use super::edges::Edges;
use super::types::{joined, with_article, without_none};
use super::{Checker, ExpressionContext, codes};
use crate::graph::{Edge, EdgeKind, Graph, GraphNode};

/// The maximum number of displayed elements of a path.
const MOST_SHOWN: usize = 32;

/// For each value and data source, by position, the edge that leads to a resource or child, if
/// there is one.
#[derive(Default)]
pub(super) struct DeployedDependencies {
    locals: Vec<Option<Edge>>,
    data_sources: Vec<Option<Edge>>,
}

impl DeployedDependencies {
    fn of(&self, node: GraphNode) -> Option<Edge> {
        match node {
            GraphNode::Local(at) => self.locals.get(at as usize).copied().flatten(),
            GraphNode::DataSource(at) => self.data_sources.get(at as usize).copied().flatten(),
            GraphNode::Resource(_)
            | GraphNode::Child(_)
            | GraphNode::Link(_)
            | GraphNode::Input(_) => None,
        }
    }

    fn is_deployed(&self, node: GraphNode) -> bool {
        matches!(
            node,
            GraphNode::Resource(_) | GraphNode::Child(_) | GraphNode::Link(_)
        ) || self.of(node).is_some()
    }
}

impl Checker<'_> {
    /// Finds the values and data sources that depend on a resource or child, directly or
    /// indirectly.
    pub(super) fn leads(&self, graph: &Graph) -> DeployedDependencies {
        let mut leads = DeployedDependencies {
            locals: vec![None; self.blueprint.locals.len()],
            data_sources: vec![None; self.blueprint.data_sources.len()],
        };
        for node in graph.order() {
            let edge = graph
                .edges(node)
                .iter()
                .find(|edge| leads.is_deployed(edge.to))
                .copied();
            match node {
                GraphNode::Local(at) => leads.locals[at as usize] = edge,
                GraphNode::DataSource(at) => leads.data_sources[at as usize] = edge,
                GraphNode::Resource(_)
                | GraphNode::Child(_)
                | GraphNode::Link(_)
                | GraphNode::Input(_) => {}
            }
        }
        leads
    }

    /// Checks `each`. Returns the type of its items.
    pub(super) fn each(
        &mut self,
        each: &Each,
        node: GraphNode,
        leads: &DeployedDependencies,
    ) -> Type {
        let ty = self.infer(&each.list, ExpressionContext::of(node, "`each` itself"));
        if ty == Type::Error {
            return Type::Error;
        }
        let span = each.list.span;
        let mut items = Vec::new();
        for ty in ty.alternatives() {
            match ty {
                Type::List(item) => items.push(without_none(item)),
                Type::Any => items.push(Type::Any),
                _ => {}
            }
        }
        if items.is_empty() && ty != Type::Null {
            let diagnostic = codes::EACH_NOT_LIST
                .new("`each` needs a list")
                .label(span, format!("this is {}", with_article(&ty)));
            self.found.push(match ty {
                Type::Map(_) | Type::Object(_) => {
                    diagnostic
                        .help("take the values of the map: `vals(..)`")
                        .help("to keep the keys: `keys(MAP)` under `each`, `lookup(MAP, elem)` for the value, and the annotation `cyan.eachKey: \"${elem}\"`")
                }
                Type::Text => diagnostic
                    .help("make a list of the text: `split(.., \",\")` or `jsondecode(..)`"),
                Type::Int => match each.list.as_literal() {
                    Some(Value::Int(count)) => diagnostic.fix(
                        format!("write a list of {count} positions"),
                        vec![(span, format!("\"${{range(0, {count})}}\""))],
                        false,
                    ),
                    _ => diagnostic.help("make a list of positions: `range(0, ..)`"),
                },
                _ => diagnostic.help("make a list: `list(..)`"),
            });
            return Type::Error;
        }
        self.report_unknown_list(each, node, leads);
        joined(items)
    }

    /// Reports a list that depends on a resource or child, with the path.
    fn report_unknown_list(&mut self, each: &Each, node: GraphNode, leads: &DeployedDependencies) {
        let mut first: Option<Edge> = None;
        Edges {
            blueprint: self.blueprint,
            links: &self.links,
        }
        .needs(&each.list, EdgeKind::Reads, &mut |edge| {
            if first.is_none() && leads.is_deployed(edge.to) {
                first = Some(edge);
            }
        });
        let Some(first) = first else { return };
        let mut path = vec![self.node_name(node), self.node_name(first.to)];
        let mut labels = vec![(first.span, format!("reads `{}`", self.node_name(first.to)))];
        let mut at = first.to;
        while let Some(edge) = leads.of(at) {
            if path.len() == MOST_SHOWN {
                path.push("..".into());
                break;
            }
            labels.push((
                edge.span,
                format!(
                    "`{}` reads `{}`",
                    self.node_name(at),
                    self.node_name(edge.to)
                ),
            ));
            path.push(self.node_name(edge.to));
            at = edge.to;
        }
        let word = if matches!(at, GraphNode::Child(_)) {
            "an include"
        } else {
            "a resource"
        };
        let mut diagnostic = codes::EACH_NOT_STATIC
            .new(format!("`each` depends on {word}: {}", path.join(" -> ")))
            .label(
                each.list.span,
                "this list must be known before anything is deployed",
            );
        for (span, text) in labels {
            diagnostic = diagnostic.label(span, text);
        }
        self.found
            .push(diagnostic.help("make the list from variables, values or data sources"));
    }
}
