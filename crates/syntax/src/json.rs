//! Parses JSON with comments and trailing commas, and recovers from errors.
//!
//! Otherwise the parser is strict: a syntax error is reported once at its place, and parsing
//! resumes after it at the next comma or closing bracket of the same container. Numbers are kept as
//! written.
//!
//! Not here: duplicate keys; the range of numbers.

use diag::{Diagnostic, Diagnostics, FileId, Span};

use crate::json_token::{JsonToken, JsonTokenKind, JsonTokens};
use crate::{
    Content, Format, INVALID_SYNTAX, JSON_EXTRA_SYNTAX, MAX_DEPTH, MAX_NODES, MapEntry, Node,
    Scalar, Style, Tree, syntax_error,
};

/// The number of errors after which parsing stops.
const MAX_ERRORS: usize = 100;

/// The expected next element.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ExpectedJson {
    /// The value of the document or of a key.
    Value,
    /// A key, an item, or the end of the container. `comma` is the offset of the comma before it,
    /// if there is one.
    Member {
        comma: Option<usize>,
    },
    Colon,
    CommaOrEnd,
    /// The document's value is complete.
    Nothing,
}

struct JsonContainer {
    node: Node,
    key: Option<Node>,
}

struct JsonReader<'t, 'f> {
    file: FileId,
    tokens: JsonTokens<'t>,
    comments: Vec<Span>,
    strict: bool,
    found: &'f mut Diagnostics,
    errors: usize,
    root: Option<Node>,
    open: Vec<JsonContainer>,
    nodes: usize,
    /// Whether an error was just reported. Errors that follow from it are not reported.
    suppresses_errors: bool,
}

pub(crate) fn parse(file: FileId, text: &str, format: Format, found: &mut Diagnostics) -> Tree {
    let mut reader = JsonReader {
        file,
        tokens: JsonTokens::new(text),
        comments: Vec::new(),
        strict: format == Format::Json,
        found,
        errors: 0,
        root: None,
        open: Vec::new(),
        nodes: 0,
        suppresses_errors: false,
    };
    reader.read();
    while !reader.open.is_empty() {
        reader.close(None);
    }
    Tree {
        root: reader.root,
        comments: reader.comments,
        format,
    }
}

impl JsonReader<'_, '_> {
    fn read(&mut self) {
        let mut want = ExpectedJson::Value;
        loop {
            if self.errors >= MAX_ERRORS {
                return;
            }
            if self.nodes > MAX_NODES {
                let at = self.tokens.at as u32;
                self.found.push(
                    syntax_error::too_many_nodes()
                        .label(Span::new(self.file, at, at), "not read from here on"),
                );
                return;
            }
            let Some(token) = self.next() else {
                self.end(want);
                return;
            };
            want = match want {
                ExpectedJson::Value => self.value(token),
                ExpectedJson::Member { comma } => self.member(token, comma),
                ExpectedJson::Colon => self.colon(token),
                ExpectedJson::CommaOrEnd => self.comma_or_end(token),
                ExpectedJson::Nothing => {
                    self.error(
                        "more text after the document's value",
                        token,
                        "a document is one value",
                    );
                    return;
                }
            };
        }
    }

    /// The next token. Records comments, and reports errors of the token.
    fn next(&mut self) -> Option<JsonToken> {
        loop {
            let token = self.tokens.next()?;
            let span = self.span(token.start, token.end);
            match token.kind {
                JsonTokenKind::Comment { closed } => {
                    self.comments.push(span);
                    if !closed {
                        self.error("a comment that does not end", token, "no `*/` follows");
                    } else if self.strict {
                        self.found.push(
                            JSON_EXTRA_SYNTAX
                                .new("a comment in a `.json` file")
                                .label(span, "JSON has no comments")
                                .help("name the file `.jsonc`, or remove the comment"),
                        );
                    }
                }
                _ => {
                    for (at, length, message, help) in std::mem::take(&mut self.tokens.faults) {
                        let span = self.span(at, at + length);
                        self.push(
                            INVALID_SYNTAX
                                .new(message)
                                .label(span, "not JSON")
                                .help(help),
                        );
                        self.suppresses_errors = true;
                    }
                    return Some(token);
                }
            }
        }
    }

    fn value(&mut self, token: JsonToken) -> ExpectedJson {
        match token.kind {
            JsonTokenKind::Open { map } => return self.begin(token, map),
            JsonTokenKind::String
            | JsonTokenKind::Number
            | JsonTokenKind::True
            | JsonTokenKind::False
            | JsonTokenKind::Null
            | JsonTokenKind::Faulty { .. } => {
                let node = self.scalar(token);
                self.add_node(node);
            }
            JsonTokenKind::Comma
            | JsonTokenKind::Close { .. }
            | JsonTokenKind::Colon
            | JsonTokenKind::Comment { .. } => {
                self.error("expected a value", token, "no value can begin like this");
                self.tokens.unread(token);
                return self.skip();
            }
        }
        self.after_value()
    }

    fn member(&mut self, token: JsonToken, comma: Option<usize>) -> ExpectedJson {
        let in_map = self.in_map();
        if let JsonTokenKind::Close { .. } = token.kind {
            if let Some(comma) = comma
                && self.strict
            {
                self.found.push(
                    JSON_EXTRA_SYNTAX
                        .new("a trailing comma in a `.json` file")
                        .label(self.span(comma, comma + 1), "nothing follows")
                        .help("remove the comma, or name the file `.jsonc`")
                        .fix(
                            "remove the comma",
                            vec![(self.span(comma, comma + 1), String::new())],
                            true,
                        ),
                );
            }
            return self.comma_or_end(token);
        }
        if !in_map {
            return self.value(token);
        }
        match token.kind {
            JsonTokenKind::String | JsonTokenKind::Faulty { text: true } => {
                self.suppresses_errors = false;
                let key = self.key(token);
                self.add_node(key);
                ExpectedJson::Colon
            }
            _ => {
                self.error(
                    "expected a key in double quotes",
                    token,
                    "no key can begin like this",
                );
                self.tokens.unread(token);
                self.skip()
            }
        }
    }

    fn colon(&mut self, token: JsonToken) -> ExpectedJson {
        match token.kind {
            JsonTokenKind::Colon => ExpectedJson::Value,
            JsonTokenKind::Comma | JsonTokenKind::Close { .. } => {
                self.error("a key without a value", token, "expected `:` and a value");
                self.tokens.unread(token);
                self.skip()
            }
            _ => {
                self.error(
                    "expected `:`",
                    token,
                    "a colon stands between a key and its value",
                );
                self.value(token)
            }
        }
    }

    fn comma_or_end(&mut self, token: JsonToken) -> ExpectedJson {
        match token.kind {
            JsonTokenKind::Comma => {
                self.suppresses_errors = false;
                ExpectedJson::Member {
                    comma: Some(token.start),
                }
            }
            JsonTokenKind::Close { map } => {
                self.suppresses_errors = false;
                if self.in_map() == map {
                    self.close(Some(token.end));
                    return self.after_value();
                }
                let (sign, opener) = if map { ('}', '[') } else { (']', '{') };
                self.error(
                    &format!("`{sign}` cannot close `{opener}`"),
                    token,
                    "the wrong bracket",
                );
                // Treat the bracket as the intended one. A missing bracket is then not reported
                // again at the end of the text.
                self.close(Some(token.end));
                self.after_value()
            }
            JsonTokenKind::Colon => {
                self.error("expected `,`", token, "a colon only stands behind a key");
                self.skip()
            }
            _ => {
                self.error("expected `,`", token, "a comma stands between two members");
                self.member(token, None)
            }
        }
    }

    /// Reports the end of the text if `want` is missing.
    fn end(&mut self, want: ExpectedJson) {
        if want == ExpectedJson::Nothing || self.suppresses_errors {
            return;
        }
        match self.open.last() {
            Some(open) => {
                let map = matches!(open.node.content, Content::Map(_));
                let (sign, other) = if map { ('{', '}') } else { ('[', ']') };
                let start = open.node.span.start as usize;
                self.push(
                    INVALID_SYNTAX
                        .new(format!("a `{sign}` that is never closed"))
                        .label(self.span(start, start + 1), "opened here")
                        .help(format!("close it with `{other}`")),
                );
            }
            None => {
                let at = self.tokens.at;
                self.push(
                    INVALID_SYNTAX
                        .new("expected a value")
                        .label(self.span(at, at), "the text ends here"),
                );
            }
        }
    }

    /// Skips unreadable tokens up to the comma or bracket at which the open container continues.
    fn skip(&mut self) -> ExpectedJson {
        let mut inside = 0usize;
        loop {
            let before = self.tokens.at;
            let Some(token) = self.tokens.next() else {
                break;
            };
            self.tokens.faults.clear();
            match token.kind {
                JsonTokenKind::Open { .. } => inside += 1,
                JsonTokenKind::Close { .. } if inside > 0 => inside -= 1,
                JsonTokenKind::Comma | JsonTokenKind::Close { .. }
                    if inside == 0 && !self.open.is_empty() =>
                {
                    self.tokens.unread(token);
                    break;
                }
                JsonTokenKind::Comment { .. } => {
                    self.comments.push(self.span(token.start, token.end))
                }
                _ => {}
            }
            debug_assert!(self.tokens.at > before, "every token has a length");
        }
        if self.open.last().is_some_and(|open| open.key.is_some()) {
            let at = self.tokens.at;
            self.add_node(Node::missing(self.span(at, at)));
        }
        if self.open.is_empty() {
            ExpectedJson::Nothing
        } else {
            ExpectedJson::CommaOrEnd
        }
    }

    fn begin(&mut self, token: JsonToken, map: bool) -> ExpectedJson {
        let span = self.span(token.start, token.end);
        if self.open.len() >= MAX_DEPTH {
            self.push(syntax_error::too_deep(self.file, token.start, MAX_DEPTH));
            self.suppresses_errors = true;
            self.tokens.unread(token);
            let want = self.skip();
            return want;
        }
        let content = if map {
            Content::Map(Vec::new())
        } else {
            Content::List(Vec::new())
        };
        self.open.push(JsonContainer {
            node: Node::new(span, content),
            key: None,
        });
        self.suppresses_errors = false;
        ExpectedJson::Member { comma: None }
    }

    fn scalar(&mut self, token: JsonToken) -> Node {
        let style = match token.kind {
            JsonTokenKind::String => Style::JsonString,
            JsonTokenKind::Number => Style::JsonNumber,
            JsonTokenKind::True => Style::JsonTrue,
            JsonTokenKind::False => Style::JsonFalse,
            JsonTokenKind::Null => Style::JsonNull,
            _ => return Node::missing(self.span(token.start, token.end)),
        };
        let text = self.tokens.decoded(token);
        Node::new(
            self.span(token.start, token.end),
            Content::Scalar(Scalar { text, style }),
        )
    }

    fn key(&mut self, token: JsonToken) -> Node {
        let text = self.tokens.decoded(token);
        let quoted = self.tokens.is_quoted(token);
        let scalar = Scalar {
            text,
            style: if quoted {
                Style::JsonString
            } else {
                Style::Plain
            },
        };
        Node::new(self.span(token.start, token.end), Content::Scalar(scalar))
    }

    fn in_map(&self) -> bool {
        self.open
            .last()
            .is_some_and(|open| matches!(open.node.content, Content::Map(_)))
    }

    fn after_value(&self) -> ExpectedJson {
        if self.open.is_empty() {
            ExpectedJson::Nothing
        } else {
            ExpectedJson::CommaOrEnd
        }
    }

    fn add_node(&mut self, node: Node) {
        self.nodes += 1;
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return;
        };
        match &mut open.node.content {
            Content::Map(entries) => match open.key.take() {
                Some(key) => entries.push(MapEntry { key, value: node }),
                None => open.key = Some(node),
            },
            Content::List(items) => items.push(node),
            _ => {}
        }
    }

    /// Closes the innermost container at `end`, or at the end of its last child.
    fn close(&mut self, end: Option<usize>) {
        let Some(JsonContainer { mut node, key }) = self.open.pop() else {
            return;
        };
        let last = match &mut node.content {
            Content::Map(entries) => {
                if let Some(key) = key {
                    let at = Span {
                        start: key.span.end,
                        ..key.span
                    };
                    entries.push(MapEntry {
                        key,
                        value: Node::missing(at),
                    });
                }
                entries.last().map(|entry| entry.value.span.end)
            }
            Content::List(items) => items.last().map(|item| item.span.end),
            _ => None,
        };
        node.span.end = end
            .map(|end| end as u32)
            .or(last)
            .unwrap_or(node.span.end)
            .max(node.span.end);
        self.add_node(node);
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file, start as u32, end as u32)
    }

    /// Reports a token that does not fit, unless it follows from the previous error.
    fn error(&mut self, message: &str, token: JsonToken, label: &str) {
        if !std::mem::replace(&mut self.suppresses_errors, true) {
            let span = self.span(token.start, token.end);
            self.push(INVALID_SYNTAX.new(message).label(span, label));
        }
    }

    fn push(&mut self, diagnostic: Diagnostic) {
        self.errors += 1;
        self.found.push(diagnostic);
    }
}
