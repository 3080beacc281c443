//! Parses the text of a document as the dialect that recognises it reads it: one tree or a stream,
//! YAML or JSON, or the listing of a folder.
//!
//! A text of one tree is parsed once, by the dialect that probably recognises it if that parses its
//! texts itself. Only a text with a second tree is parsed again, if a dialect reads streams.

use std::sync::Arc;

use diag::{Diagnostics, FileId};
use syntax::{Format, MULTIPLE_DOCUMENTS, Tree};

use crate::{Dialect, DialectText, Dialects, Document, FolderEntry, LoadContext, TextOrigin};

/// A parsed text.
pub struct ParsedText<'a> {
    /// The name of the document: the last part of its path.
    pub name: &'a str,
    /// The dialect that recognises the text; `None` if no dialect does.
    pub dialect: Option<&'static dyn Dialect>,
    /// The syntax errors.
    pub found: Diagnostics,
    file: FileId,
    text: &'a str,
    context: &'a LoadContext,
    content: ParsedContent,
}

/// What a text consists of. A single tree needs no vector.
enum ParsedContent {
    One(Tree),
    Stream(Vec<Tree>),
    Folder(Arc<[FolderEntry]>),
}

impl ParsedText<'_> {
    /// The document, with the trees that its dialect reads.
    pub fn document(&self) -> Document<'_> {
        let &ParsedText {
            file,
            name,
            text,
            context,
            ..
        } = self;
        match &self.content {
            ParsedContent::One(tree) => {
                Document::new(file, name, text, std::slice::from_ref(tree), context)
            }
            ParsedContent::Stream(trees) => Document::new(file, name, text, trees, context),
            ParsedContent::Folder(entries) => {
                Document::of_folder(file, name, text, entries, context)
            }
        }
    }

    /// The same text with its dialect.
    fn detected(mut self, dialects: &Dialects) -> Self {
        self.dialect = dialects.detect(&self.document());
        self
    }
}

impl Dialects {
    /// Parses a text and finds its dialect. `path` ends with the name of the document. Never fails:
    /// a text with errors has the trees that can be determined.
    pub fn parse<'a>(
        &self,
        file: FileId,
        path: &'a str,
        text: &'a str,
        context: &'a LoadContext,
    ) -> ParsedText<'a> {
        let path = if context.is_folder {
            path.trim_end_matches('/')
        } else {
            path
        };
        let name = path.rsplit('/').next().unwrap_or(path);
        let parsed = |content, found| {
            let parsed = ParsedText {
                name,
                dialect: None,
                found,
                file,
                text,
                context,
                content,
            };
            parsed.detected(self)
        };
        if context.is_folder {
            let entries = FolderEntry::of_listing(text);
            return parsed(ParsedContent::Folder(entries), Diagnostics::new());
        }
        let format = Format::of_name(name);
        let most = context.settings.limits.text_bytes();
        if let Some((tree, found)) = syntax::refuse_longer(file, text, format, most) {
            return parsed(ParsedContent::One(tree), found);
        }
        let own = DialectText {
            file,
            text,
            format,
            origin: if context.is_written_out {
                TextOrigin::WrittenOut
            } else {
                TextOrigin::File
            },
        };
        let is_expected = |dialect: &&'static dyn Dialect| {
            context.dialect == Some(dialect.name()) || dialect.may_parse(text)
        };
        for dialect in self.iter().filter(is_expected) {
            if let Some((tree, found)) = dialect.parse(&own) {
                let parsed = parsed(ParsedContent::One(tree), found);
                if parsed.dialect.map(Dialect::name) == Some(dialect.name()) {
                    return parsed;
                }
            }
        }
        let (tree, found) = syntax::parse(file, text, format);
        if has_second_tree(&found) && self.iter().any(|dialect| dialect.reads_streams()) {
            let (trees, found) = syntax::parse_stream(file, text, format);
            let stream = parsed(ParsedContent::Stream(trees), found);
            if stream
                .dialect
                .is_some_and(|dialect| dialect.reads_streams())
            {
                return stream;
            }
        }
        parsed(ParsedContent::One(tree), found)
    }

    /// Parses a file that is given together with the root. `name` is its name. Never fails.
    pub fn parse_companion(&self, file: FileId, name: &str, text: &str) -> (Tree, Diagnostics) {
        let format = Format::of_name(name);
        let companion = DialectText {
            file,
            text,
            format,
            origin: TextOrigin::Companion,
        };
        self.iter()
            .find_map(|dialect| dialect.parse(&companion))
            .unwrap_or_else(|| syntax::parse(file, text, format))
    }
}

/// Whether the syntax errors of one tree say that the text has a second one.
fn has_second_tree(found: &Diagnostics) -> bool {
    found
        .iter()
        .any(|one| one.code.name == MULTIPLE_DOCUMENTS.name)
}
