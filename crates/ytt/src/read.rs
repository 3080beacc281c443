//! Reads a YAML text as a tree with comments.
//!
//! A comment belongs to the last node that begins on its line, or else to the first node that
//! begins below. Comments below the last node of a document belong to the next document.

use std::collections::{BTreeMap, HashMap};

use diag::{FileId, Severity};
use syntax::{Content, Node, Style};

use crate::mistake::TemplateMistake;
use crate::scalar;
use crate::yaml_tree::{SourceComment, SourceNode, YamlKind, YamlScalar};

/// Reads a text.
///
/// # Errors
/// If it is no YAML, or a key is no scalar.
pub(crate) fn read(text: &str) -> Result<SourceNode, TemplateMistake> {
    let reader = YamlReader {
        text,
        starts: std::iter::once(0)
            .chain(text.match_indices('\n').map(|(at, _)| at + 1))
            .collect(),
    };
    let markers = reader.markers();
    let begins_with_marker = begins_with_marker(text);
    let mut parts: Vec<(usize, Option<u32>)> = Vec::new();
    if !begins_with_marker || markers.is_empty() {
        parts.push((0, None));
    }
    parts.extend(markers.iter().map(|at| (*at, Some(reader.line(*at)))));
    let mut set = SourceNode::new(YamlKind::DocumentSet, None);
    let mut left: Vec<SourceComment> = Vec::new();
    for (at, (start, line)) in parts.iter().enumerate() {
        let end = parts.get(at + 1).map_or(text.len(), |(next, _)| *next);
        let (mut document, comments) = reader.document(*start..end, *line)?;
        let unassigned = assign(&mut document, comments);
        let mut own = std::mem::replace(&mut left, unassigned);
        own.append(&mut document.comments);
        document.comments = own;
        set.children.push(document);
    }
    if let Some(first) = set.children.first_mut() {
        first.line.get_or_insert(1);
    }
    set.children.iter_mut().for_each(place_collections);
    if !left.is_empty() {
        let mut last = SourceNode::new(YamlKind::Document, None);
        last.comments = left;
        set.children.push(last);
    }
    Ok(set)
}

/// Whether a text begins with a marker that something follows.
fn begins_with_marker(text: &str) -> bool {
    let rest = text.trim_start().strip_prefix("---");
    rest.is_some_and(|rest| rest.starts_with(char::is_whitespace))
}

struct YamlReader<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl YamlReader<'_> {
    fn line(&self, at: usize) -> u32 {
        self.starts.partition_point(|start| *start <= at) as u32
    }

    /// The places of the lines that begin a document.
    fn markers(&self) -> Vec<usize> {
        let lines = self.starts.iter().copied();
        lines
            .filter(|at| {
                let rest = self.text[*at..].strip_prefix("---");
                rest.is_some_and(|rest| {
                    rest.is_empty() || rest.starts_with([' ', '\t', '\n', '\r'])
                })
            })
            .collect()
    }

    fn document(
        &self,
        part: std::ops::Range<usize>,
        line: Option<u32>,
    ) -> Result<(SourceNode, Vec<SourceComment>), TemplateMistake> {
        let (tree, found) = syntax::parse_libyaml(FileId::new(0), self.text, part);
        if let Some(error) = found.iter().find(|one| one.severity == Severity::Error) {
            let span = error.span().range();
            let line = self.line(span.start.min(self.text.len()));
            let mut mistake = TemplateMistake::new(line, format!("yaml: {}", error.message));
            mistake.span = Some(span);
            return Err(mistake);
        }
        let mut document = SourceNode::new(YamlKind::Document, line);
        let mut blocks: Vec<std::ops::Range<usize>> = Vec::new();
        if let Some(root) = &tree.root {
            self.fill(&mut document, root, &mut blocks)?;
        }
        blocks.sort_unstable_by_key(|block| block.start);
        let is_inside = |at: usize| {
            let next = blocks.partition_point(|block| block.start <= at);
            let block = next.checked_sub(1).and_then(|last| blocks.get(last));
            block.is_some_and(|block| block.contains(&at))
        };
        let comments = tree.comments.iter().map(|span| span.range());
        let comments = comments.filter(|span| !is_inside(span.start)).map(|span| {
            let text = self.text.get(span.start + 1..span.end).unwrap_or_default();
            SourceComment {
                line: self.line(span.start),
                text: text.trim_end_matches('\r').to_owned(),
            }
        });
        Ok((document, comments.collect()))
    }

    /// Sets the value of a document or item.
    fn fill(
        &self,
        into: &mut SourceNode,
        node: &Node,
        blocks: &mut Vec<std::ops::Range<usize>>,
    ) -> Result<(), TemplateMistake> {
        match &node.content {
            Content::Scalar(scalar) => {
                if matches!(scalar.style, Style::Literal | Style::Folded) {
                    // A comment behind the indicator belongs to nothing.
                    let header = self.text[node.span.start as usize..].find('\n');
                    let start = node.span.start as usize;
                    blocks.push(start..start + header.unwrap_or_default());
                }
                into.value = self.scalar(node)?;
            }
            Content::Map(_) => {
                let mut map = SourceNode::new(YamlKind::Map, None);
                self.entries(&mut map, node, blocks)?;
                into.children.push(map);
            }
            Content::List(items) => {
                let mut list = SourceNode::new(YamlKind::Array, None);
                let mut from = node.span.start as usize;
                for item in items {
                    let start = item.span_with_properties().start as usize;
                    let dash = self.dash(from).unwrap_or(start);
                    let mut child = SourceNode::new(YamlKind::ArrayItem, Some(self.line(dash)));
                    self.fill(&mut child, item, blocks)?;
                    list.children.push(child);
                    from = item.span_with_properties().end as usize;
                }
                into.children.push(list);
            }
            Content::Missing => {}
        }
        Ok(())
    }

    /// The dash that follows a place with only blanks and comments between; `None` if something else
    /// follows.
    fn dash(&self, from: usize) -> Option<usize> {
        let mut at = from;
        loop {
            match self.text.as_bytes().get(at)? {
                b'-' => return Some(at),
                b'#' => at += self.text[at..].find('\n')?,
                b' ' | b'\t' | b'\n' | b'\r' => at += 1,
                _ => return None,
            }
        }
    }

    fn entries(
        &self,
        map: &mut SourceNode,
        node: &Node,
        blocks: &mut Vec<std::ops::Range<usize>>,
    ) -> Result<(), TemplateMistake> {
        for entry in node.as_map().into_iter().flatten() {
            let start = entry.key.span_with_properties().start as usize;
            let is_merge = entry.key.as_scalar().is_some_and(|key| {
                &*key.text == "<<" && key.style == Style::Plain && entry.key.tag().is_none()
            });
            if is_merge {
                // Of several maps only the first one counts, as in ytt.
                let merged = match entry.value.as_list() {
                    Some(items) => items.first(),
                    None => Some(&entry.value),
                };
                match merged {
                    Some(merged) if merged.as_map().is_some() => {
                        self.entries(map, merged, blocks)?;
                    }
                    None => {}
                    Some(_) => {
                        let words = "map merge requires map or sequence of maps as the value";
                        return Err(TemplateMistake::new(self.line(start), words));
                    }
                }
                continue;
            }
            let mut item = SourceNode::new(YamlKind::MapItem, Some(self.line(start)));
            item.key = self.scalar(&entry.key)?;
            self.fill(&mut item, &entry.value, blocks)?;
            map.children.push(item);
        }
        Ok(())
    }

    fn scalar(&self, node: &Node) -> Result<YamlScalar, TemplateMistake> {
        let line = self.line(node.span.start as usize);
        let Some(scalar) = node.as_scalar() else {
            return Err(TemplateMistake::new(line, "yaml: a key must be a scalar"));
        };
        let tag = node.tag().map(|tag| &*tag.item);
        scalar::typed(scalar, tag)
            .map_err(|message| TemplateMistake::new(line, format!("yaml: {message}")))
    }
}

/// Gives each comment to its node. Returns the comments below all nodes.
fn assign(document: &mut SourceNode, comments: Vec<SourceComment>) -> Vec<SourceComment> {
    let mut lines: BTreeMap<u32, (usize, usize)> = BTreeMap::new();
    let mut count = 0;
    number_lines(document, &mut count, &mut lines);
    let mut by_node: HashMap<usize, Vec<SourceComment>> = HashMap::new();
    let mut unassigned = Vec::new();
    for comment in comments {
        match lines.range(comment.line..).next() {
            Some((line, (first, last))) => {
                let node = if *line == comment.line { *last } else { *first };
                by_node.entry(node).or_default().push(comment);
            }
            None => unassigned.push(comment),
        }
    }
    let mut count = 0;
    attach(document, &mut count, &mut by_node);
    unassigned
}

/// Finds the first and the last node of each line, numbered in the order of the tree.
fn number_lines(node: &SourceNode, count: &mut usize, lines: &mut BTreeMap<u32, (usize, usize)>) {
    *count += 1;
    if let Some(line) = node.line {
        lines.entry(line).or_insert((*count, *count)).1 = *count;
    }
    for child in &node.children {
        number_lines(child, count, lines);
    }
}

fn attach(
    node: &mut SourceNode,
    count: &mut usize,
    comments: &mut HashMap<usize, Vec<SourceComment>>,
) {
    *count += 1;
    if let Some(own) = comments.remove(count) {
        node.comments = own;
    }
    for child in &mut node.children {
        attach(child, count, comments);
    }
}

/// Gives maps and lists the lines of the nodes that hold them.
fn place_collections(node: &mut SourceNode) {
    let line = node.line;
    for child in &mut node.children {
        if child.line.is_none() {
            child.line = line;
        }
        place_collections(child);
    }
}
