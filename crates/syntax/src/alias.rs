//! Resolves aliases: each gets a copy of its anchor's value.
//!
//! The tree is walked once in the order of the text, so a name refers to its last definition above.
//! Limits of nodes and depth prevent a small text from becoming a huge tree.

use std::collections::{HashMap, HashSet};

use diag::{Diagnostics, Span};

use crate::{Content, DOCUMENT_TOO_LARGE, INVALID_SYNTAX, MAX_DEPTH, Node, syntax_error};

/// The value of each anchor; `None` while that value is being read.
type Anchors<'t> = HashMap<&'t str, Option<AnchorCopy>>;

struct AnchorCopy {
    node: Node,
    nodes: usize,
    depth: usize,
}

struct AliasWalk<'t, 'f> {
    text: &'t str,
    anchors: Anchors<'t>,
    /// The names that aliases use. Other anchors need no copy.
    wanted: HashSet<&'t str>,
    nodes: usize,
    /// The maximum number of nodes.
    most: usize,
    /// The number of nodes in `anchors`.
    stored_nodes: usize,
    full: bool,
    unknown: usize,
    found: &'f mut Diagnostics,
}

/// Gives every alias below `root` the value of its anchor.
///
/// `nodes` is the number of nodes of the text before that, `most` the maximum. Returns the number
/// of nodes afterwards.
pub(crate) fn resolve(
    root: &mut Node,
    text: &str,
    nodes: usize,
    most: usize,
    found: &mut Diagnostics,
) -> usize {
    let mut wanted = HashSet::new();
    collect(root, text, &mut wanted);
    let mut walk = AliasWalk {
        text,
        anchors: HashMap::new(),
        wanted,
        nodes,
        most,
        stored_nodes: 0,
        full: false,
        unknown: 0,
        found,
    };
    walk.node(root, 0);
    walk.nodes
}

fn collect<'t>(node: &Node, text: &'t str, wanted: &mut HashSet<&'t str>) {
    if let Some(alias) = node.alias() {
        wanted.insert(name(text, alias));
    }
    match &node.content {
        Content::Map(entries) => entries.iter().for_each(|entry| {
            collect(&entry.key, text, wanted);
            collect(&entry.value, text, wanted);
        }),
        Content::List(items) => items.iter().for_each(|item| collect(item, text, wanted)),
        _ => {}
    }
}

/// The name in `&name` or `*name`.
fn name(text: &str, span: Span) -> &str {
    text.get(span.start as usize + 1..span.end as usize)
        .unwrap_or("")
}

impl<'t> AliasWalk<'t, '_> {
    /// Resolves the aliases below a node. Returns the nesting depth of its containers.
    fn node(&mut self, node: &mut Node, above: usize) -> usize {
        if let Some(alias) = node.alias() {
            return self.alias(node, alias, above);
        }
        let anchor = node
            .anchor()
            .map(|anchor| name(self.text, anchor))
            .filter(|name| self.wanted.contains(name));
        if let Some(name) = anchor {
            self.anchors.insert(name, None);
        }
        let mut depth = 0;
        match &mut node.content {
            Content::Map(entries) => {
                for entry in entries {
                    depth = depth
                        .max(self.node(&mut entry.key, above + 1))
                        .max(self.node(&mut entry.value, above + 1));
                }
                depth += 1;
            }
            Content::List(items) => {
                for item in items {
                    depth = depth.max(self.node(item, above + 1));
                }
                depth += 1;
            }
            _ => {}
        }
        if let Some(name) = anchor {
            let nodes = node.count();
            if self.stored_nodes + nodes <= self.most {
                self.stored_nodes += nodes;
                self.anchors.insert(
                    name,
                    Some(AnchorCopy {
                        node: node.clone(),
                        nodes,
                        depth,
                    }),
                );
            } else {
                self.full = true;
                self.anchors.remove(name);
            }
        }
        depth
    }

    fn alias(&mut self, node: &mut Node, alias: Span, above: usize) -> usize {
        let written = name(self.text, alias);
        match self.anchors.get(written) {
            Some(Some(copy)) if above + copy.depth > MAX_DEPTH => {
                self.found.push(syntax_error::too_deep(
                    alias.file,
                    alias.start as usize,
                    MAX_DEPTH,
                ));
                0
            }
            Some(Some(copy)) => {
                if self.nodes + copy.nodes - 1 > self.most {
                    self.too_large(alias);
                    return 0;
                }
                self.nodes += copy.nodes - 1;
                node.span = copy.node.span;
                node.content = copy.node.content.clone();
                if let Some(tag) = copy.node.tag() {
                    node.set_tag(tag.clone());
                }
                copy.depth
            }
            Some(None) => {
                self.found.push(
                    INVALID_SYNTAX
                        .new(format!(
                            "`*{written}` is inside the value of its own anchor"
                        ))
                        .label(alias, "an endless value"),
                );
                0
            }
            None if self.full => {
                self.too_large(alias);
                0
            }
            None => {
                // Stop reporting after 100 errors, and suggest from 100 names at most, so that the
                // cost stays linear.
                self.unknown += 1;
                if self.unknown > 100 {
                    return 0;
                }
                let known = self.anchors.keys().copied().take(100);
                self.found.push(
                    INVALID_SYNTAX
                        .new(format!("nothing above is named `&{written}`"))
                        .label(alias, "an alias repeats a value that was named before")
                        .help_nearest(written, known)
                        .help("quote the text if it just begins with `*`"),
                );
                0
            }
        }
    }

    /// Reported once: all further aliases exceed the limit for the same reason.
    fn too_large(&mut self, alias: Span) {
        let is_reported = self
            .found
            .iter()
            .any(|diagnostic| diagnostic.code.name == DOCUMENT_TOO_LARGE.name);
        if !is_reported {
            let most = self.most;
            let diagnostic = DOCUMENT_TOO_LARGE
                .new(format!(
                    "the document has more than {most} values after its aliases are expanded"
                ))
                .label(alias, "with this it would have more");
            self.found
                .push(diagnostic.help("repeat less by aliases, or split the document"));
        }
    }
}
