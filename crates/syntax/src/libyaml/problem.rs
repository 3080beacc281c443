//! What is wrong with a text, in the words of libyaml.

use diag::{Diagnostic, FileId, Span};

use crate::syntax_error::{tab_in_indentation, too_deep, too_many_nodes};
use crate::{INVALID_SYNTAX, MAX_DEPTH, MULTIPLE_DOCUMENTS};

/// A mistake that ends the reading.
#[derive(Debug)]
pub(super) struct Problem {
    kind: ProblemKind,
    /// The place in bytes.
    at: usize,
    /// The start of the part that is wrong, if it is before `at`.
    context: Option<usize>,
}

#[derive(Debug)]
enum ProblemKind {
    /// An error of libyaml, in its words.
    Words(&'static str),
    /// An anchor whose name is that of the anchor at `first`.
    RepeatedAnchor {
        own: Span,
        first: Span,
    },
    SeveralDocuments,
    TooDeep,
    TooManyNodes,
}

/// A result of reading.
pub(super) type Scan<T> = Result<T, Problem>;

impl Problem {
    pub(super) fn new(words: &'static str, at: usize) -> Problem {
        Problem::of_kind(ProblemKind::Words(words), at)
    }

    pub(super) fn repeated_anchor(own: Span, first: Span) -> Problem {
        let kind = ProblemKind::RepeatedAnchor { own, first };
        Problem::of_kind(kind, own.start as usize)
    }

    pub(super) fn several_documents(at: usize) -> Problem {
        Problem::of_kind(ProblemKind::SeveralDocuments, at)
    }

    pub(super) fn too_deep(at: usize) -> Problem {
        Problem::of_kind(ProblemKind::TooDeep, at)
    }

    pub(super) fn too_many_nodes(at: usize) -> Problem {
        Problem::of_kind(ProblemKind::TooManyNodes, at)
    }

    fn of_kind(kind: ProblemKind, at: usize) -> Problem {
        Problem {
            kind,
            at,
            context: None,
        }
    }

    /// The same mistake in the part that begins at `context`.
    pub(super) fn within(self, context: usize) -> Problem {
        Problem {
            context: Some(context),
            ..self
        }
    }

    /// The place where the mistake begins.
    pub(super) fn start(&self) -> usize {
        self.context.unwrap_or(self.at).min(self.at)
    }

    /// The mistake as a diagnostic.
    pub(super) fn diagnostic(&self, file: FileId, text: &str) -> Diagnostic {
        let rest = text.get(self.at..).unwrap_or_default();
        let next = rest.chars().next().filter(|next| !next.is_control());
        let end = self.at + next.map_or(0, char::len_utf8);
        let here = Span::new(file, self.at as u32, end as u32);
        match &self.kind {
            ProblemKind::Words(words) if rest.starts_with('\t') => {
                let tab = Span::new(file, self.at as u32, self.at as u32 + 1);
                tab_in_indentation(tab).with_native_message(*words)
            }
            ProblemKind::Words(words) => INVALID_SYNTAX
                .new("this is not well-formed YAML")
                .label(here, "unexpected here")
                .note(words.replace('\'', "`"))
                .with_native_message(*words),
            ProblemKind::RepeatedAnchor { own, first } => {
                let name = text.get(own.range()).unwrap_or_default();
                INVALID_SYNTAX
                    .new(format!("`{name}` names two values"))
                    .label(*own, "the name is taken")
                    .label(*first, "the first value of this name")
                    .help("give every anchor a name of its own")
                    .with_native_message("found duplicate anchor")
            }
            ProblemKind::SeveralDocuments => MULTIPLE_DOCUMENTS
                .new("a file holds one document, this one holds several")
                .label(here, "another document begins here")
                .help("move what follows into a separate file"),
            ProblemKind::TooDeep => too_deep(file, self.at, MAX_DEPTH),
            ProblemKind::TooManyNodes => too_many_nodes().label(here, "not read from here on"),
        }
    }
}
