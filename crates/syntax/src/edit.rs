//! Sets and removes single values of a text. Everything else, comments and order included, stays as
//! it is.
//!
//! Not here: the meaning of the values. A caller parses the result and compares: texts with unusual
//! layouts can come out wrong.

use diag::Span;

use crate::{Content, Format, MapEntry, Node, Style, Tree};

/// A step of a path in a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditStep<'a> {
    /// An entry of a map.
    Key(&'a str),
    /// An item of a list; its length stands for a new item.
    Index(usize),
}

/// A value to write.
#[derive(Clone, Debug, PartialEq)]
pub enum NewNode {
    /// A text, quoted where needed.
    Text(String),
    /// A plain word such as `true` or `12`.
    Word(String),
    /// A map.
    Map(Vec<(String, NewNode)>),
    /// A list.
    List(Vec<NewNode>),
}

/// The reason why a place cannot be edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditError {
    /// An alias: the value is written elsewhere.
    Alias(Span),
    /// A step needs a map.
    NotAMap(Span),
    /// A step needs a list.
    NotAList(Span),
    /// The list has only this many items.
    OutOfRange(Span, usize),
}

/// Returns the text with the value at a path set. Missing maps and lists on the way are added.
pub fn set(
    text: &str,
    tree: &Tree,
    path: &[EditStep<'_>],
    value: &NewNode,
) -> Result<String, EditError> {
    let edit = TextEdit {
        text,
        is_json: tree.format != Format::Yaml,
    };
    let Some(root) = tree.root.as_ref().filter(|root| !is_empty(root)) else {
        let at = Span::new(diag::FileId::new(0), 0, 0);
        new_lists_begin_at_0(path, tree.root.as_ref().map_or(at, |root| root.span))?;
        return Ok(edit.appended(&nested(path, value)));
    };
    let mut at = Slot {
        node: root,
        after: None,
        parent: 0,
        is_flow: edit.is_json,
    };
    for (done, step) in path.iter().enumerate() {
        let below = &path[done + 1..];
        let rest = nested(below, value);
        let from_here = || {
            new_lists_begin_at_0(&path[done..], at.node.span).map(|()| nested(&path[done..], value))
        };
        if at.node.alias().is_some() {
            return Err(EditError::Alias(at.node.span_with_properties()));
        }
        let is_flow = at.is_flow || edit.is_flow(at.node);
        match (&at.node.content, step) {
            _ if is_empty(at.node) => return Ok(edit.replaced(&at, &from_here()?)),
            (Content::Map(entries), EditStep::Key(key)) => {
                let Some(entry) = entries.iter().find(|entry| entry.key.text() == Some(key)) else {
                    new_lists_begin_at_0(below, at.node.span)?;
                    return Ok(match entries.last() {
                        None => edit.replaced(&at, &from_here()?),
                        Some(last) => edit.with_entry(at.node, last, is_flow, key, &rest),
                    });
                };
                at = Slot {
                    node: &entry.value,
                    after: edit.after_colon(entry),
                    parent: edit.column(at.node),
                    is_flow,
                };
            }
            (Content::List(items), EditStep::Index(index)) => {
                let Some(item) = items.get(*index) else {
                    if *index > items.len() {
                        return Err(EditError::OutOfRange(at.node.span, items.len()));
                    }
                    new_lists_begin_at_0(below, at.node.span)?;
                    return Ok(match items.last() {
                        None => edit.replaced(&at, &from_here()?),
                        Some(last) => edit.with_item(at.node, last, is_flow, &rest),
                    });
                };
                at = Slot {
                    node: item,
                    after: edit.after_dash(item),
                    parent: edit.column(at.node),
                    is_flow,
                };
            }
            (_, EditStep::Key(_)) => return Err(EditError::NotAMap(at.node.span)),
            (_, EditStep::Index(_)) => return Err(EditError::NotAList(at.node.span)),
        }
    }
    Ok(edit.replaced(&at, value))
}

/// Returns the text without the value at a path; `None` if there is none.
pub fn remove(text: &str, tree: &Tree, path: &[EditStep<'_>]) -> Result<Option<String>, EditError> {
    let edit = TextEdit {
        text,
        is_json: tree.format != Format::Yaml,
    };
    let (Some(mut node), Some((last, before))) = (tree.root.as_ref(), path.split_last()) else {
        return Ok(None);
    };
    let mut is_flow = edit.is_json;
    let mut after = None;
    let mut parent = 0;
    for step in before.iter().chain([last]) {
        if node.alias().is_some() {
            return Err(EditError::Alias(node.span_with_properties()));
        }
        let own_flow = is_flow || edit.is_flow(node);
        let parts = edit.parts(node);
        let position = match (&node.content, step) {
            (Content::Map(entries), EditStep::Key(key)) => entries
                .iter()
                .position(|entry| entry.key.text() == Some(key)),
            (Content::List(items), EditStep::Index(index)) => {
                Some(*index).filter(|index| *index < items.len())
            }
            _ => None,
        };
        let Some(position) = position else {
            return Ok(None);
        };
        if std::ptr::eq(step, last) {
            if parts.len() == 1 {
                let empty = match &node.content {
                    Content::Map(_) => NewNode::Map(Vec::new()),
                    _ => NewNode::List(Vec::new()),
                };
                let slot = Slot {
                    node,
                    after,
                    parent,
                    is_flow,
                };
                return Ok(Some(edit.replaced(&slot, &empty)));
            }
            return Ok(Some(edit.without(&parts, position, own_flow)));
        }
        is_flow = own_flow;
        parent = edit.column(node);
        (node, after) = match &node.content {
            Content::Map(entries) => (
                &entries[position].value,
                edit.after_colon(&entries[position]),
            ),
            Content::List(items) => (&items[position], edit.after_dash(&items[position])),
            _ => return Ok(None),
        };
    }
    Ok(None)
}

/// Whether the lists that would be added for a path begin with their first item.
fn new_lists_begin_at_0(path: &[EditStep<'_>], place: Span) -> Result<(), EditError> {
    let is_later = |step: &EditStep<'_>| matches!(step, EditStep::Index(1..));
    match path.iter().any(is_later) {
        true => Err(EditError::OutOfRange(place, 0)),
        false => Ok(()),
    }
}

/// The value at the rest of a path, with the maps and lists around it.
fn nested(path: &[EditStep<'_>], value: &NewNode) -> NewNode {
    path.iter()
        .rev()
        .fold(value.clone(), |inner, step| match step {
            EditStep::Key(key) => NewNode::Map(vec![((*key).to_owned(), inner)]),
            EditStep::Index(_) => NewNode::List(vec![inner]),
        })
}

/// Whether nothing is written: an omitted value or a plain null.
fn is_empty(node: &Node) -> bool {
    match &node.content {
        Content::Missing => true,
        Content::Scalar(scalar) => {
            scalar.style == Style::JsonNull
                || scalar.style == Style::Plain && matches!(&*scalar.text, "" | "~" | "null")
        }
        _ => false,
    }
}

/// A value in its place.
struct Slot<'t> {
    node: &'t Node,
    /// The offset behind the `:` or `-` before it; `None` for the root.
    after: Option<usize>,
    /// The column of the map or list that holds it.
    parent: usize,
    /// Whether it stands within brackets.
    is_flow: bool,
}

struct TextEdit<'t> {
    text: &'t str,
    is_json: bool,
}

impl TextEdit<'_> {
    fn is_flow(&self, node: &Node) -> bool {
        self.text[node.span.start as usize..].starts_with(['{', '['])
    }

    /// The column of a node, in bytes.
    fn column(&self, node: &Node) -> usize {
        let start = node.span.start as usize;
        start - self.line_start(start)
    }

    fn line_start(&self, at: usize) -> usize {
        self.text[..at].rfind('\n').map_or(0, |found| found + 1)
    }

    /// The end of the line, before its line break.
    fn line_end(&self, at: usize) -> usize {
        let rest = &self.text[at..];
        let end = at + rest.find('\n').unwrap_or(rest.len());
        match self.text[..end].strip_suffix('\r') {
            Some(before) if before.len() >= at => before.len(),
            _ => end,
        }
    }

    fn after_colon(&self, entry: &MapEntry) -> Option<usize> {
        let end = entry.key.span_with_properties().end as usize;
        Some(end + self.text[end..].find(':')? + 1)
    }

    fn after_dash(&self, item: &Node) -> Option<usize> {
        let start = item.span_with_properties().start as usize;
        Some(self.text[..start].rfind('-')? + 1)
    }

    /// The parts of a map or list, each from its start to the end of its value.
    fn parts(&self, node: &Node) -> Vec<(usize, usize)> {
        let end = |node: &Node| node.span_with_properties().end as usize;
        match &node.content {
            Content::Map(entries) => entries
                .iter()
                .map(|entry| {
                    let start = entry.key.span_with_properties().start as usize;
                    let colon = self.after_colon(entry).unwrap_or(start);
                    (start, end(&entry.value).max(colon))
                })
                .collect(),
            Content::List(items) => {
                let is_flow = self.is_flow(node);
                let start = |item: &Node| match self.after_dash(item).filter(|_| !is_flow) {
                    Some(after) => after - 1,
                    None => item.span_with_properties().start as usize,
                };
                items
                    .iter()
                    .map(|item| (start(item), end(item).max(start(item) + 1)))
                    .collect()
            }
            _ => Vec::new(),
        }
    }

    fn splice(&self, from: usize, to: usize, new: &str) -> String {
        format!("{}{new}{}", &self.text[..from], &self.text[to..])
    }

    /// The text with a value at its end, for a text without a value.
    fn appended(&self, value: &NewNode) -> String {
        if self.is_json {
            return format!("{}\n", self.flow(value));
        }
        let gap = match self.text.is_empty() || self.text.ends_with('\n') {
            true => "",
            false => "\n",
        };
        format!("{}{gap}{}\n", self.text, block(value, 0))
    }

    fn replaced(&self, slot: &Slot<'_>, value: &NewNode) -> String {
        let old = slot.node.span_with_properties();
        let (start, end) = (old.start as usize, old.end as usize);
        let line_break = match self.text[start..end].ends_with('\n') {
            true => "\n",
            false => "",
        };
        if slot.is_flow {
            return self.splice(start, end, &self.flow(value));
        }
        let after = slot.after.unwrap_or(start);
        let is_below = start > after && self.text[after..start].contains('\n');
        let is_inline = is_inline(value);
        let indent = match slot.after {
            None => 0,
            Some(_) => slot.parent + 2,
        };
        let new = match (is_inline, slot.after) {
            (true, None) => inline(value),
            (false, None) => block(value, 0),
            (true, Some(_)) => format!(" {}", inline(value)),
            (false, Some(_)) => format!("\n{}{}", " ".repeat(indent), block(value, indent)),
        };
        if !is_below {
            return self.splice(
                after.min(start),
                end.max(after),
                &format!("{new}{line_break}"),
            );
        }
        // A comment behind the key stays.
        let first_end = self.line_end(after);
        let comment = &self.text[after..first_end];
        let whole = match is_inline {
            true => format!("{new}{comment}{line_break}"),
            false => format!("{comment}{new}{line_break}"),
        };
        self.splice(after, end, &whole)
    }

    fn with_entry(
        &self,
        map: &Node,
        last: &MapEntry,
        is_flow: bool,
        key: &str,
        value: &NewNode,
    ) -> String {
        let column = self.column_of(last.key.span_with_properties().start as usize);
        let colon = self.after_colon(last).unwrap_or_default();
        let end = (last.value.span_with_properties().end as usize).max(colon);
        if is_flow {
            let first = self.parts(map).first().map_or(end, |part| part.0);
            let key = match self.is_json {
                true => quoted(key),
                false => scalar(key),
            };
            let new = format!("{key}: {}", self.flow(value));
            return self.splice(end, end, &self.next_in_flow(first, &new));
        }
        let new = match is_inline(value) {
            true => format!("{}: {}", scalar(key), inline(value)),
            false => {
                let inner = column + 2;
                format!(
                    "{}:\n{}{}",
                    scalar(key),
                    " ".repeat(inner),
                    block(value, inner)
                )
            }
        };
        self.with_line(end, column, &new)
    }

    fn with_item(&self, list: &Node, last: &Node, is_flow: bool, value: &NewNode) -> String {
        let parts = self.parts(list);
        let end = last.span_with_properties().end as usize;
        if is_flow {
            let first = parts.first().map_or(end, |part| part.0);
            return self.splice(end, end, &self.next_in_flow(first, &self.flow(value)));
        }
        let (start, end) = parts.last().copied().unwrap_or((end, end));
        let column = self.column_of(start);
        self.with_line(end, column, &format!("- {}", block(value, column + 2)))
    }

    /// A further part within brackets: on a line of its own if the first one is.
    fn next_in_flow(&self, first: usize, new: &str) -> String {
        let line = self.line_start(first);
        match self.text[line..first].trim().is_empty() && line > 0 {
            true => format!(",\n{}{new}", &self.text[line..first]),
            false => format!(", {new}"),
        }
    }

    fn column_of(&self, at: usize) -> usize {
        at - self.line_start(at)
    }

    /// The text with a line below the one that ends at or behind `end`.
    fn with_line(&self, end: usize, column: usize, new: &str) -> String {
        let indent = " ".repeat(column);
        if self.text[..end].ends_with('\n') {
            return self.splice(end, end, &format!("{indent}{new}\n"));
        }
        let at = self.line_end(end);
        self.splice(at, at, &format!("\n{indent}{new}"))
    }

    /// The text without one of several parts.
    fn without(&self, parts: &[(usize, usize)], position: usize, is_flow: bool) -> String {
        let (start, end) = parts[position];
        let line = self.line_start(start);
        let is_alone = self.text[line..start].trim().is_empty();
        if !is_flow && is_alone {
            if self.text[..end].ends_with('\n') {
                return self.splice(line, end, "");
            }
            let to = self.text[end..].find('\n').map(|found| end + found + 1);
            return self.splice(line, to.unwrap_or(self.text.len()), "");
        }
        match parts.get(position + 1) {
            Some((next, _)) => self.splice(start, *next, ""),
            None => self.splice(parts[position - 1].1, end, ""),
        }
    }

    /// A value within brackets, or as JSON.
    fn flow(&self, value: &NewNode) -> String {
        match value {
            NewNode::Text(text) if self.is_json => quoted(text),
            NewNode::Text(text) => scalar(text),
            NewNode::Word(word) => word.clone(),
            NewNode::List(items) => {
                let items: Vec<String> = items.iter().map(|item| self.flow(item)).collect();
                format!("[{}]", items.join(", "))
            }
            NewNode::Map(entries) => {
                let entry = |(key, value): &(String, NewNode)| {
                    let key = match self.is_json {
                        true => quoted(key),
                        false => scalar(key),
                    };
                    format!("{key}: {}", self.flow(value))
                };
                let entries: Vec<String> = entries.iter().map(entry).collect();
                format!("{{{}}}", entries.join(", "))
            }
        }
    }
}

/// Whether a value stands behind its key, not below it.
fn is_inline(value: &NewNode) -> bool {
    match value {
        NewNode::Text(_) | NewNode::Word(_) => true,
        NewNode::Map(entries) => entries.is_empty(),
        NewNode::List(items) => items.is_empty(),
    }
}

fn inline(value: &NewNode) -> String {
    match value {
        NewNode::Text(text) => scalar(text),
        NewNode::Word(word) => word.clone(),
        NewNode::Map(_) => "{}".to_owned(),
        NewNode::List(_) => "[]".to_owned(),
    }
}

/// A value whose first line stands at this column.
fn block(value: &NewNode, column: usize) -> String {
    let indent = " ".repeat(column);
    let lines: Vec<String> = match value {
        NewNode::Map(entries) if !entries.is_empty() => entries
            .iter()
            .map(|(key, value)| match is_inline(value) {
                true => format!("{}: {}", scalar(key), inline(value)),
                false => {
                    let below = block(value, column + 2);
                    format!("{}:\n{indent}  {below}", scalar(key))
                }
            })
            .collect(),
        NewNode::List(items) if !items.is_empty() => items
            .iter()
            .map(|item| format!("- {}", block(item, column + 2)))
            .collect(),
        other => vec![inline(other)],
    };
    lines.join(&format!("\n{indent}"))
}

/// A text as YAML: plain where every reader takes it as a string.
fn scalar(text: &str) -> String {
    const WORDS: [&str; 10] = [
        "true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan",
    ];
    let first_fits = text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '/');
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "-_./:@+=".contains(letter);
    let is_plain = first_fits
        && text.chars().all(fits)
        && !text.ends_with(':')
        && !WORDS.iter().any(|word| word.eq_ignore_ascii_case(text));
    match is_plain {
        true => text.to_owned(),
        false => quoted(text),
    }
}

/// A text in double quotes, as JSON and YAML read it.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for letter in text.chars() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            hidden
                if hidden.is_control()
                    || matches!(hidden, '\u{2028}' | '\u{2029}' | '\u{feff}') =>
            {
                quoted.push_str(&format!("\\u{:04x}", u32::from(hidden)));
            }
            plain => quoted.push(plain),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(text: &str, format: Format) -> Tree {
        let (tree, found) = crate::parse(diag::FileId::new(0), text, format);
        assert!(!found.has_errors(), "{text}");
        tree
    }

    fn yaml(text: &str, path: &[EditStep<'_>], value: &NewNode) -> String {
        set(text, &tree(text, Format::Yaml), path, value).expect("it can be set")
    }

    fn without(text: &str, path: &[EditStep<'_>]) -> String {
        let removed = remove(text, &tree(text, Format::Yaml), path);
        removed.expect("it can be removed").expect("it is there")
    }

    fn word(text: &str) -> NewNode {
        NewNode::Text(text.to_owned())
    }

    use EditStep::{Index, Key};

    const TEXT: &str = "# top\nconfig: # all\n  a:b: one # first\n  list:\n    # inner\n    - x\n    - y # last\n  # end\n  map: {k: v}\nother: 1\n";

    #[test]
    fn a_value_is_set_and_comments_stay() {
        let at = |path: &[EditStep<'_>]| yaml(TEXT, path, &word("new"));
        assert_eq!(at(&[Key("config"), Key("a:b")]), TEXT.replace("one", "new"));
        assert_eq!(
            at(&[Key("config"), Key("list"), Index(1)]),
            TEXT.replace("- y", "- new")
        );
        assert_eq!(
            at(&[Key("config"), Key("list"), Index(2)]),
            TEXT.replace("# last\n", "# last\n    - new\n")
        );
        assert_eq!(
            at(&[Key("config"), Key("map"), Key("z")]),
            TEXT.replace("{k: v}", "{k: v, z: new}")
        );
        assert_eq!(
            at(&[Key("config"), Key("c"), Key("d")]),
            TEXT.replace("{k: v}\n", "{k: v}\n  c:\n    d: new\n")
        );
        assert_eq!(
            at(&[Key("config"), Key("list")]),
            TEXT.replace(":\n    # inner\n    - x\n    - y #", ": new #")
        );
        assert_eq!(at(&[Key("config")]), "# top\nconfig: new # all\nother: 1\n");
    }

    #[test]
    fn empty_places_are_filled() {
        let path = [Key("config"), Key("a"), Index(0), Key("b")];
        let whole = "config:\n  a:\n    - b: new\n";
        for text in ["", "config:\n", "config: {}\n", "config: ~\n"] {
            assert_eq!(yaml(text, &path, &word("new")), whole, "{text}");
        }
        assert_eq!(
            yaml("# only\n", &[Key("a")], &word("1")),
            "# only\na: \"1\"\n"
        );
        assert_eq!(
            yaml(
                "a:\n  - b: 1\n",
                &[Key("a"), Index(0), Key("c")],
                &word("x")
            ),
            "a:\n  - b: 1\n    c: x\n"
        );
        assert_eq!(
            yaml("a: |\n  text\nb: 1\n", &[Key("a")], &word("x")),
            "a: x\nb: 1\n"
        );
    }

    #[test]
    fn a_value_is_removed() {
        assert_eq!(
            without(TEXT, &[Key("config"), Key("a:b")]),
            TEXT.replace("  a:b: one # first\n", "")
        );
        assert_eq!(
            without(TEXT, &[Key("config"), Key("list"), Index(0)]),
            TEXT.replace("    - x\n", "")
        );
        assert_eq!(
            without(TEXT, &[Key("config"), Key("map"), Key("k")]),
            TEXT.replace("{k: v}", "{}")
        );
        assert_eq!(
            without("a: {b: 1, c: 2, d: 3}\n", &[Key("a"), Key("d")]),
            "a: {b: 1, c: 2}\n"
        );
        assert_eq!(without("a:\n  b: 1\n", &[Key("a"), Key("b")]), "a: {}\n");
        let gone = remove(TEXT, &tree(TEXT, Format::Yaml), &[Key("nothing")]);
        assert_eq!(gone, Ok(None));
    }

    #[test]
    fn json_stays_json() {
        let text = "{\n  \"config\": {\n    \"a\": \"1\"\n  }\n}\n";
        let json = tree(text, Format::Json);
        let new = set(text, &json, &[Key("config"), Key("b")], &word("x"));
        assert_eq!(
            new.as_deref(),
            Ok("{\n  \"config\": {\n    \"a\": \"1\",\n    \"b\": \"x\"\n  }\n}\n")
        );
    }

    #[test]
    fn what_cannot_be_edited_says_why() {
        let text = "a: &x {b: 1}\nc: *x\nd: [1]\n";
        let tree = tree(text, Format::Yaml);
        let at = |path: &[EditStep<'_>]| set(text, &tree, path, &word("x")).err();
        assert!(matches!(
            at(&[Key("c"), Key("b")]),
            Some(EditError::Alias(_))
        ));
        assert!(matches!(
            at(&[Key("d"), Key("b")]),
            Some(EditError::NotAMap(_))
        ));
        assert!(matches!(
            at(&[Key("d"), Index(2)]),
            Some(EditError::OutOfRange(_, 1))
        ));
        assert!(matches!(
            at(&[Key("e"), Index(1)]),
            Some(EditError::OutOfRange(_, 0))
        ));
    }
}
