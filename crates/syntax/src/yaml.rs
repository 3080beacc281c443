//! Parses YAML to a tree: events become nodes with exact places.
//!
//! ````text
//! text ── events ── open containers ── root ── aliases ── Tree
//!            │              ▲
//!         trouble ── recovery: diagnostic, and the line at which parsing resumes
//! ````
//!
//! Only this module and `parser_stop` use the YAML parser. After an error (`recovery`) parsing
//! resumes at the start of a line inside some containers: a short prefix that opens these
//! containers is put before the rest of the document.

use diag::{Diagnostics, FileId, Span, Spanned};
use granit_parser::{Event, Options, Parser, ScalarStyle, StructureStyle};

use crate::parser_stop::ParserStop;
use crate::place::line_is_document_start;
use crate::reader::{OpenContainer, Total, TreeBuilder};
use crate::syntax_error::too_many_nodes;
use crate::{Content, Format, MAX_DEPTH, MAX_NODES, Node, Style, Tree, simple};

/// Translates offsets of a part to offsets of the whole text.
#[derive(Clone, Copy)]
struct OffsetMap {
    /// The length of the prefix that opens containers and is not in the text.
    prefix: usize,
    /// The offset of the rest in the text.
    from: usize,
}

impl OffsetMap {
    fn offset(self, offset: usize) -> usize {
        (offset + self.from)
            .saturating_sub(self.prefix)
            .max(self.from)
    }

    fn span(self, file: FileId, at: granit_parser::Span) -> Span {
        let range = at.byte_range().unwrap_or(0..0);
        let start = self.offset(range.start);
        Span::new(file, start as u32, self.offset(range.end).max(start) as u32)
    }
}

/// Parses the first document of a text. A second one is reported.
pub(crate) fn parse(file: FileId, text: &str, found: &mut Diagnostics) -> Tree {
    simple::parse(file, text).unwrap_or_else(|| parse_events(file, text, found))
}

/// Parses all documents of a text, at least one.
pub(crate) fn parse_stream(file: FileId, text: &str, found: &mut Diagnostics) -> Vec<Tree> {
    match simple::parse(file, text) {
        Some(tree) => vec![tree],
        None => read_documents(file, text, 0, true, found),
    }
}

fn parse_events(file: FileId, text: &str, found: &mut Diagnostics) -> Tree {
    parse_from(file, text, 0, found)
}

/// Parses the first document of the text from `from` on.
pub(crate) fn parse_from(file: FileId, text: &str, from: usize, found: &mut Diagnostics) -> Tree {
    let empty = || Tree {
        root: None,
        comments: Vec::new(),
        format: Format::Yaml,
    };
    read_documents(file, text, from, false, found)
        .pop()
        .unwrap_or_else(empty)
}

/// Parses the documents of the text from `from` on: all of them, or only the first one.
fn read_documents(
    file: FileId,
    text: &str,
    mut from: usize,
    all: bool,
    found: &mut Diagnostics,
) -> Vec<Tree> {
    if text[from..].starts_with('\u{feff}') {
        from += '\u{feff}'.len_utf8();
    }
    let mut reader = TreeBuilder {
        file,
        text,
        found,
        root: None,
        open: Vec::new(),
        comments: Vec::new(),
        masks: Vec::new(),
        last_event_offset: from,
        nodes: 0,
        last_error_offset: None,
        aliases: false,
        spare_entries: Vec::new(),
        spare_items: Vec::new(),
        reads_all_documents: all,
        begin: from,
        ended: None,
        documents: Vec::new(),
        total: Total::default(),
    };
    let mut trouble = reader.read(&text[from..], OffsetMap { prefix: 0, from });
    while let Some(what) = trouble {
        match reader.recover(what, from.max(reader.begin)) {
            Some(next) => from = next,
            None => break,
        }
        reader.last_event_offset = from;
        let (source, prefix) = reader.continuation_text(from);
        trouble = reader.read(&source, OffsetMap { prefix, from });
    }
    reader.finish_document(text.len());
    reader.documents
}

impl TreeBuilder<'_> {
    /// Reads events until the end of the text, the end of the only wanted document, or an error.
    fn read(&mut self, source: &str, part: OffsetMap) -> Option<ParserStop> {
        let mut options = Options::default();
        options.max_buffered_comment_events = usize::MAX;
        options.emit_anchor_events = true;
        options.emit_unresolved_aliases = true;
        let mut parser = Parser::new_from_str_with_options(source, options);
        let mut started = false;
        while let Some(next) = parser.next_event() {
            let (event, at) = match next {
                Ok(next) => next,
                Err(error) => {
                    let at = part.offset(error.marker().byte_offset().unwrap_or(source.len()));
                    return Some(ParserStop::Error {
                        at: at.min(self.text.len()),
                        kind: error.kind().clone(),
                    });
                }
            };
            let in_prefix = at.start.byte_offset().unwrap_or(0) < part.prefix;
            match event {
                Event::Scalar(text, style, ..) => {
                    if in_prefix {
                        self.add_empty_value_of_prefix(at.is_empty());
                        continue;
                    }
                    let span = part.span(self.file, at);
                    let style = style_of(style);
                    if style == Style::Plain
                        && let Some(trouble) = self.detect_split(span, !self.in_flow())
                    {
                        return Some(trouble);
                    }
                    let mut node = self.node(span, at, part);
                    self.scalar(&mut node, text, style);
                    self.add_node(node);
                }
                Event::MappingStart(style, ..) | Event::SequenceStart(style, ..) if !in_prefix => {
                    let mut span = part.span(self.file, at);
                    if style == StructureStyle::Block && matches!(event, Event::SequenceStart(..)) {
                        span.start = self.first_dash(span.start);
                    }
                    if style == StructureStyle::Block {
                        span.end = span.start;
                    }
                    if self.open.len() >= MAX_DEPTH {
                        return Some(ParserStop::TooDeep {
                            at: span.start as usize,
                        });
                    }
                    let mut node = self.node(span, at, part);
                    node.content = match event {
                        Event::MappingStart(..) => {
                            Content::Map(self.spare_entries.pop().unwrap_or_default())
                        }
                        _ => Content::List(self.spare_items.pop().unwrap_or_default()),
                    };
                    self.open.push(OpenContainer {
                        node,
                        key: None,
                        flow: style == StructureStyle::Flow,
                    });
                    self.last_event_offset = span.start as usize;
                }
                Event::MappingEnd | Event::SequenceEnd => {
                    let span = part.span(self.file, at);
                    if !span.is_empty() {
                        self.last_event_offset = span.start as usize;
                    }
                    self.close((!span.is_empty()).then_some(span.end));
                }
                Event::Anchor(..) => {
                    let span = part.span(self.file, at);
                    self.anchor(span);
                }
                Event::Alias(_) | Event::UnresolvedAlias(_) => {
                    self.aliases = true;
                    let span = part.span(self.file, at);
                    let mut node = Node::missing(span);
                    node.set_alias(span);
                    self.add_node(node);
                }
                Event::Comment(..) => self.comments.push(part.span(self.file, at)),
                Event::DocumentStart(..) if started => {
                    let span = part.span(self.file, at);
                    if !self.reads_all_documents {
                        self.second_document(span);
                        return None;
                    }
                    // Without `---` the parser places the start of a document after its first
                    // indicator.
                    let start = span.start as usize;
                    let is_marker = line_is_document_start(self.text, start);
                    self.finish_document(self.ended.filter(|_| !is_marker).unwrap_or(start));
                }
                Event::DocumentStart(..) => {
                    started = true;
                    let start = part.span(self.file, at).start as usize;
                    if !in_prefix && line_is_document_start(self.text, start) {
                        self.begin = start;
                    }
                }
                Event::DocumentEnd if !at.is_empty() && !in_prefix => {
                    self.ended = Some(part.span(self.file, at).end as usize);
                }
                _ => {}
            }
            if self.total.nodes + self.nodes > MAX_NODES {
                let place = Span::new(
                    self.file,
                    self.last_event_offset as u32,
                    self.last_event_offset as u32,
                );
                self.found
                    .push(too_many_nodes().label(place, "not read from here on"));
                return None;
            }
        }
        None
    }

    fn node(&self, span: Span, at: granit_parser::Span, part: OffsetMap) -> Node {
        let mut node = Node::missing(span);
        if let Some(tag) = at.tag_span() {
            let span = part.span(self.file, tag);
            if let Some(written) = self.text.get(span.range()) {
                node.set_tag(Spanned::new(written.into(), span));
            }
        }
        node
    }
}

fn style_of(style: ScalarStyle) -> Style {
    match style {
        ScalarStyle::Plain => Style::Plain,
        ScalarStyle::SingleQuoted => Style::SingleQuoted,
        ScalarStyle::DoubleQuoted => Style::DoubleQuoted,
        ScalarStyle::Literal => Style::Literal,
        ScalarStyle::Folded => Style::Folded,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Both parsers must agree on every text that the simple one accepts.
    fn agree(text: &str) -> Result<bool, TestCaseError> {
        let file = FileId::new(0);
        let Some(simple) = simple::parse(file, text) else {
            return Ok(false);
        };
        let mut found = Diagnostics::new();
        let events = parse_events(file, text, &mut found);
        prop_assert!(found.is_empty(), "{found:?}");
        prop_assert_eq!(format!("{:?}", simple), format!("{:?}", events));
        Ok(true)
    }

    /// Generates lines that are often simple, with indentation that often fits.
    fn lines() -> impl Strategy<Value = String> {
        let content = prop::sample::select(vec![
            "a:",
            "b: 1",
            "c: x y",
            "d: \"q # r\"",
            "e: 'q: r' # c",
            "- f",
            "- g: 1",
            "- ",
            "-",
            "- - h",
            "- i:",
            "# c",
            "",
            "j",
            "k: -1",
            "l: - m",
            "n: ${f(\"x\")} y",
            "o: ${x",
            "p: {}",
            "q: |",
            "r:  s  ",
            "t : u",
            "u: v#w",
            "w: x:y",
            "x: é",
            "- \"y\"",
            "- z # c",
            "-  - a",
            "-   b:   c",
            "a:   # c",
            "---",
            "f: \"x\\n\"",
            "g: 'it''s'",
            "h: !t i",
            "- - - 1",
            "k: ~",
            "l: $",
            "m: - ",
            "n: .5",
            "é: 1",
        ]);
        let line = (0usize..4, content)
            .prop_map(|(indent, content)| format!("{}{content}\n", "  ".repeat(indent)));
        prop::collection::vec(line, 0..8).prop_map(|lines| lines.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn fast_parser_gives_the_same_tree(text in lines(), cut in any::<prop::sample::Index>()) {
            agree(&text)?;
            let mut at = cut.index(text.len() + 1);
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            agree(&text[..at])?;
        }
    }

    #[test]
    fn simple_documents_use_the_fast_parser() {
        for text in [
            "",
            "# c\n",
            "version: 2023-04-20\nresources:\n  r0:\n    type: test/data # c\n    spec:\n      input: v ${r.spec.id}\n",
            "a:\n- b\n- c: 1\n  d: \"e\"\n-\n  - f\ng:\nh:\n  i: 'j'",
            "- - a\n  - b\n-\n- c:\n    d: é\n",
        ] {
            assert!(agree(text).expect("the same tree"), "{text}");
        }
    }
}
