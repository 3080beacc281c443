//! The form of a YAML text: PyYAML accepts less than the parser does
//! (decisions/heat#text-of-a-template).
//!
//! A key without a `?` must be on one line with its colon and not empty, and no tab may be between
//! a dash and its item.

use diag::{Diagnostic, Diagnostics, Span};
use syntax::{Content, Node, Style};

/// Reports YAML that PyYAML refuses.
pub(super) fn check(text: &str, root: &Node, found: &mut Diagnostics) {
    FormCheck { text, found }.node(root, false);
}

struct FormCheck<'f> {
    text: &'f str,
    found: &'f mut Diagnostics,
}

impl FormCheck<'_> {
    fn node(&mut self, node: &Node, in_flow: bool) {
        // The value of an alias is checked at its anchor.
        if node.alias().is_some() {
            return;
        }
        let opens = |bracket: char| {
            self.text
                .get(node.span.start as usize..)
                .is_some_and(|it| it.starts_with(bracket))
        };
        match &node.content {
            Content::Map(entries) => {
                let in_flow = in_flow || opens('{');
                for entry in entries {
                    self.key(&entry.key, in_flow);
                    self.node(&entry.key, in_flow);
                    self.node(&entry.value, in_flow);
                }
            }
            Content::List(items) => {
                let in_flow = in_flow || opens('[');
                for item in items {
                    if !in_flow {
                        self.dash(item);
                    }
                    self.node(item, in_flow);
                }
            }
            Content::Scalar(_) | Content::Missing => {}
        }
    }

    fn key(&mut self, key: &Node, in_flow: bool) {
        let written = key.span_with_properties();
        let before = self
            .text
            .get(..written.start as usize)
            .unwrap_or_default()
            .trim_end();
        if key.is_missing() || before.ends_with('?') {
            return;
        }
        let is_empty = key
            .as_scalar()
            .is_some_and(|scalar| scalar.style == Style::Plain && scalar.text.is_empty());
        if is_empty && key.tag().is_none() && key.span.is_empty() {
            let words = "while parsing a flow node expected the node content, but found ':'";
            self.refuse(
                "there is no key before the colon",
                "nothing stands before it",
                written,
                words,
            );
            return;
        }
        let rest = self.text.get(written.end as usize..).unwrap_or_default();
        let blank = rest.len() - rest.trim_start().len();
        let has_colon = rest[blank..].starts_with(':');
        let to_colon = self
            .text
            .get(written.start as usize..written.end as usize + blank)
            .unwrap_or_default();
        if in_flow && has_colon && to_colon.contains(['\n', '\r']) {
            let words = "while parsing a flow mapping expected ',' or '}', but got ':'";
            self.refuse(
                "a key and its colon must stand on one line",
                "the line ends before the colon",
                written,
                words,
            );
        }
    }

    fn dash(&mut self, item: &Node) {
        let before = self
            .text
            .get(..item.span_with_properties().start as usize)
            .unwrap_or_default();
        let up_to_dash = before.trim_end_matches([' ', '\t']);
        let between = &before[up_to_dash.len()..];
        if up_to_dash.ends_with('-') && between.contains('\t') {
            let end = before.len() as u32;
            let tab = Span::new(item.span.file, up_to_dash.len() as u32, end);
            let words = "while scanning for the next token found character '\\t' that cannot start any token";
            self.refuse(
                "a tab stands between a dash and its item",
                "write a blank here",
                tab,
                words,
            );
        }
    }

    fn refuse(&mut self, message: &str, why: &str, span: Span, words: &str) {
        let diagnostic: Diagnostic = syntax::INVALID_SYNTAX
            .new(message.to_owned())
            .label(span, why.to_owned());
        self.found.push(diagnostic.with_native_message(words));
    }
}
