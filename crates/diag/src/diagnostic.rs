//! A diagnostic and a collection of them.

use crate::{Code, Severity, Span, Words, nearest};

/// A remark at a place. The first label of a diagnostic is its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// Why here; may be empty.
    pub text: String,
}

/// A change of the text that mends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What the change does, as an imperative.
    pub text: String,
    /// Texts to put in place of ranges; ranges of one file do not overlap.
    pub edits: Vec<(Span, String)>,
    /// Whether the change may be made unseen, because it cannot change a meaning that was clear.
    pub safe: bool,
}

/// One step on the way to the document in which the diagnostic stands: the include above it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trail {
    /// Where the step was written.
    pub span: Span,
    /// What it is, as in "included as `core`".
    pub text: String,
}

/// Something that was written wrongly, or that has to be known about what was written.
///
/// The message is a lower-case phrase, names in backticks, without a full stop; the first label says where.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// What kind.
    pub code: &'static Code,
    /// How bad it is here.
    pub severity: Severity,
    /// What is wrong, in a line.
    pub message: String,
    /// Where and why; the first is the place, the rest what belongs to it.
    pub labels: Vec<Label>,
    /// What else one needs to know, such as a provider's own words.
    pub notes: Vec<String>,
    /// What to do, as imperatives.
    pub help: Vec<String>,
    /// Changes that mend it.
    pub fixes: Vec<Fix>,
    /// The includes above the document, outermost first.
    pub trail: Vec<Trail>,
    /// What the tool whose documents these are says of it, as people search for it; shown only where that is asked for.
    pub words: Option<Box<Words>>,
}

impl Diagnostic {
    /// A diagnostic without a place.
    pub fn new(code: &'static Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            code,
            severity: code.severity,
            message: message.into(),
            labels: Vec::new(),
            notes: Vec::new(),
            help: Vec::new(),
            fixes: Vec::new(),
            trail: Vec::new(),
            words: None,
        }
    }

    /// Adds a label; the first one is the place of the diagnostic.
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// Adds what else one needs to know.
    pub fn note(mut self, text: impl Into<String>) -> Diagnostic {
        self.notes.push(text.into());
        self
    }

    /// Sets what the tool whose documents these are says of it.
    pub fn words(mut self, words: impl Into<Words>) -> Diagnostic {
        self.words = Some(Box::new(words.into()));
        self
    }

    /// Makes it as bad as this, which is not what it usually is.
    pub fn graded(mut self, severity: Severity) -> Diagnostic {
        self.severity = severity;
        self
    }

    /// Adds what to do.
    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.help.push(text.into());
        self
    }

    /// Adds "did you mean" where one of `candidates` is close to `written`.
    pub fn help_nearest<'a>(self, written: &str, candidates: impl IntoIterator<Item = &'a str>) -> Diagnostic {
        match nearest(written, candidates) {
            Some(found) => self.help(format!("did you mean `{found}`?")),
            None => self,
        }
    }

    /// Adds a change that mends it.
    pub fn fix(mut self, text: impl Into<String>, edits: Vec<(Span, String)>, safe: bool) -> Diagnostic {
        self.fixes.push(Fix { text: text.into(), edits, safe });
        self
    }

    /// The place: the span of the first label, [`Span::NONE`] without one.
    pub fn span(&self) -> Span {
        self.labels.first().map_or(Span::NONE, |label| label.span)
    }

    /// Whether it is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Diagnostics as they are found, in order.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// None yet.
    pub fn new() -> Diagnostics {
        Diagnostics::default()
    }

    /// Adds one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.list.push(diagnostic);
    }

    /// Adds all of another collection.
    pub fn append(&mut self, mut other: Diagnostics) {
        self.list.append(&mut other.list);
    }

    /// Whether any is an error.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(Diagnostic::is_error)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// In the order in which they were found, or sorted.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.list.iter()
    }

    /// For changing them in place.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, Diagnostic> {
        self.list.iter_mut()
    }

    /// Sorts by place, keeping the order of those at one place.
    pub fn sort(&mut self) {
        self.list.sort_by_key(|diagnostic| {
            let span = diagnostic.span();
            (span.file, span.start, span.end)
        });
    }

    /// Keeps those for which `keep` says so.
    pub fn retain(&mut self, keep: impl FnMut(&Diagnostic) -> bool) {
        self.list.retain(keep);
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}

impl FromIterator<Diagnostic> for Diagnostics {
    fn from_iter<I: IntoIterator<Item = Diagnostic>>(list: I) -> Self {
        Diagnostics { list: list.into_iter().collect() }
    }
}

impl Extend<Diagnostic> for Diagnostics {
    fn extend<I: IntoIterator<Item = Diagnostic>>(&mut self, more: I) {
        self.list.extend(more);
    }
}
