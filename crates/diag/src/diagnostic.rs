//! A diagnostic and a collection of them.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, DefaultHasher, Hash as _, Hasher as _};

use crate::{Code, NativeMessage, Severity, Span, nearest};

/// A remark at a place in the source. The first label of a diagnostic is its main place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// The remark; may be empty.
    pub text: String,
}

/// A change of the source that fixes the mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// A description of the change, as an imperative.
    pub text: String,
    /// Replacement texts for ranges. Ranges of one file do not overlap.
    pub edits: Vec<(Span, String)>,
    /// Whether the change can be applied without review, because it does not change an unambiguous
    /// meaning.
    pub safe: bool,
}

/// One step of the include path that leads to the document of the diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trail {
    /// The place of the include.
    pub span: Span,
    /// A description, such as "included as `core`".
    pub text: String,
}

/// An error, a warning or a note about a document.
///
/// The message is a lower-case phrase without a full stop. Names are in backticks. The first label
/// is the place.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// The kind of the diagnostic.
    pub code: &'static Code,
    /// The severity in this case.
    pub severity: Severity,
    /// The mistake, in one line.
    pub message: String,
    /// Places and remarks. The first label is the main place; the others are related places.
    pub labels: Vec<Label>,
    /// Additional information, such as a provider's own message.
    pub notes: Vec<String>,
    /// Advice, in imperative sentences.
    pub help: Vec<String>,
    /// Changes that fix the mistake.
    pub fixes: Vec<Fix>,
    /// The includes above the document, outermost first.
    pub trail: Vec<Trail>,
    /// The corresponding message of the native tool of the dialect, so that people can search for
    /// it. Shown only on request.
    pub native_message: Option<Box<NativeMessage>>,
    /// Whether the diagnostic concerns more than its place. Of several with the same message, only
    /// the first is kept.
    pub once: bool,
}

impl Code {
    /// A diagnostic of this kind without a place.
    #[expect(
        clippy::new_ret_no_self,
        reason = "a code is what a diagnostic is made from"
    )]
    pub fn new(&'static self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(self, message)
    }
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
            native_message: None,
            once: false,
        }
    }

    /// Adds a label. The first label is the main place.
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.labels.push(Label {
            span,
            text: text.into(),
        });
        self
    }

    /// Adds additional information.
    pub fn note(mut self, text: impl Into<String>) -> Diagnostic {
        self.notes.push(text.into());
        self
    }

    /// Sets the corresponding message of the dialect's native tool.
    pub fn with_native_message(mut self, words: impl Into<NativeMessage>) -> Diagnostic {
        self.native_message = Some(Box::new(words.into()));
        self
    }

    /// Replaces the usual severity.
    pub fn with_severity(mut self, severity: Severity) -> Diagnostic {
        self.severity = severity;
        self
    }

    /// Marks the diagnostic as concerning more than its place: a collection keeps the first one
    /// with this message.
    pub fn once(mut self) -> Diagnostic {
        self.once = true;
        self
    }

    /// Adds advice on what to do.
    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.help.push(text.into());
        self
    }

    /// Adds "did you mean" if one of `candidates` is close to `written`.
    pub fn help_nearest<'a>(
        self,
        written: &str,
        candidates: impl IntoIterator<Item = &'a str>,
    ) -> Diagnostic {
        match nearest(written, candidates) {
            Some(found) => self.help(format!("did you mean `{found}`?")),
            None => self,
        }
    }

    /// Adds a change that fixes the mistake.
    pub fn fix(
        mut self,
        text: impl Into<String>,
        edits: Vec<(Span, String)>,
        safe: bool,
    ) -> Diagnostic {
        self.fixes.push(Fix {
            text: text.into(),
            edits,
            safe,
        });
        self
    }

    /// The place: the span of the first label, or [`Span::NONE`] if there is no label.
    pub fn span(&self) -> Span {
        self.labels.first().map_or(Span::NONE, |label| label.span)
    }

    /// Whether the diagnostic is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// Truncates long texts: a message may show a value of any size.
    fn shorten(&mut self) {
        shortened(&mut self.message);
        self.labels
            .iter_mut()
            .for_each(|label| shortened(&mut label.text));
        self.notes
            .iter_mut()
            .chain(&mut self.help)
            .for_each(shortened);
        if let Some(words) = &mut self.native_message
            && words.message.len() > LONGEST
        {
            let mut message = std::mem::take(&mut words.message).into_string();
            shortened(&mut message);
            words.message = message.into();
        }
    }
}

/// The maximum number of errors in the list, and of other diagnostics. Further ones are only
/// counted.
const MAX_DIAGNOSTICS: usize = 20_000;

/// The maximum length of a text of a diagnostic in bytes.
const LONGEST: usize = 8 * 1024;

/// Diagnostics in the order in which they were found.
///
/// Equal diagnostics at the same place are kept once: an alias may repeat a mistake that is written
/// once. Diagnostics that concern more than their place ([`Diagnostic::once`]) are kept once for
/// all places. Only the first 20,000 errors, the first 20,000 others, and the first 8 KiB of each
/// text are kept.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    /// The fingerprints of the diagnostics in the list.
    seen: HashSet<u64, BuildHasherDefault<DefaultHasher>>,
    /// The numbers of errors and of others that were dropped.
    dropped: [usize; 2],
    /// The numbers of errors and of others in the list.
    kept: [usize; 2],
}

impl Diagnostics {
    /// An empty collection.
    pub fn new() -> Diagnostics {
        Diagnostics::default()
    }

    /// Adds a diagnostic unless an equal one is present.
    pub fn push(&mut self, mut diagnostic: Diagnostic) {
        let kind = usize::from(!diagnostic.is_error());
        if !self.seen.insert(fingerprint(&diagnostic)) {
            return;
        }
        if self.kept[kind] >= MAX_DIAGNOSTICS {
            self.dropped[kind] += 1;
            return;
        }
        diagnostic.shorten();
        self.kept[kind] += 1;
        self.list.push(diagnostic);
    }

    /// Adds all diagnostics of another collection.
    pub fn append(&mut self, other: Diagnostics) {
        if self.list.is_empty() && self.dropped == [0, 0] {
            *self = other;
            return;
        }
        let dropped = other.dropped;
        self.extend(other.list);
        for (mine, theirs) in self.dropped.iter_mut().zip(dropped) {
            *mine += theirs;
        }
    }

    /// Whether the collection has an error.
    pub fn has_errors(&self) -> bool {
        self.dropped[0] > 0 || self.list.iter().any(Diagnostic::is_error)
    }

    /// The numbers of errors and of others that were dropped.
    pub fn dropped(&self) -> (usize, usize) {
        (self.dropped[0], self.dropped[1])
    }

    /// Whether the collection is empty.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The number of diagnostics.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// The diagnostics in the order in which they were found, or sorted after
    /// [`Diagnostics::sort`].
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.list.iter()
    }

    /// The diagnostics, for changes in place.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, Diagnostic> {
        self.list.iter_mut()
    }

    /// Sorts by place. Diagnostics at the same place keep their order.
    pub fn sort(&mut self) {
        self.list.sort_by_key(|diagnostic| {
            let span = diagnostic.span();
            (span.file, span.start, span.end)
        });
    }

    /// Keeps the diagnostics for which `keep` returns true.
    pub fn retain(&mut self, keep: impl FnMut(&Diagnostic) -> bool) {
        self.list.retain(keep);
        self.seen.clear();
        self.kept = [0, 0];
        for diagnostic in &self.list {
            self.seen.insert(fingerprint(diagnostic));
            self.kept[usize::from(!diagnostic.is_error())] += 1;
        }
    }
}

/// The hash by which equal diagnostics are recognised: kind, place, message and include path.
fn fingerprint(diagnostic: &Diagnostic) -> u64 {
    let mut hasher = DefaultHasher::new();
    let place =
        |span: Span, hasher: &mut DefaultHasher| (span.file, span.start, span.end).hash(hasher);
    diagnostic.code.name.hash(&mut hasher);
    diagnostic.is_error().hash(&mut hasher);
    diagnostic.message.hash(&mut hasher);
    if diagnostic.once {
        return hasher.finish();
    }
    diagnostic
        .labels
        .iter()
        .for_each(|label| place(label.span, &mut hasher));
    diagnostic.notes.hash(&mut hasher);
    diagnostic
        .trail
        .iter()
        .for_each(|step| place(step.span, &mut hasher));
    hasher.finish()
}

/// Truncates a long text.
fn shortened(text: &mut String) {
    if text.len() > LONGEST {
        let end = (0..=LONGEST)
            .rev()
            .find(|at| text.is_char_boundary(*at))
            .unwrap_or(0);
        text.truncate(end);
        text.push_str(" ...");
        text.shrink_to_fit();
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
        let mut all = Diagnostics::new();
        all.extend(list);
        all
    }
}

impl Extend<Diagnostic> for Diagnostics {
    fn extend<I: IntoIterator<Item = Diagnostic>>(&mut self, more: I) {
        more.into_iter().for_each(|one| self.push(one));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FileId;

    static WRONG: Code = Code {
        name: "wrong",
        severity: Severity::Error,
        summary: "for tests",
        page: "",
    };
    static ODD: Code = Code {
        name: "odd",
        severity: Severity::Warning,
        summary: "for tests",
        page: "",
    };

    fn at(start: u32, message: &str) -> Diagnostic {
        WRONG
            .new(message)
            .label(Span::new(FileId::new(0), start, start + 1), "here")
    }

    #[test]
    fn the_same_mistake_is_kept_once() {
        let mut found: Diagnostics = [at(1, "a"), at(1, "a"), at(2, "a"), at(1, "b")]
            .into_iter()
            .collect();
        assert_eq!(found.len(), 3);
        found.append([at(2, "a"), at(3, "a")].into_iter().collect());
        assert_eq!(found.len(), 4);
        found.retain(|one| one.span().start == 1);
        found.push(at(2, "a"));
        assert_eq!(found.len(), 3);
    }

    #[test]
    fn a_mistake_about_more_than_its_place_is_kept_at_the_first_place() {
        let mut found: Diagnostics = [at(1, "a").once(), at(2, "a").once(), at(2, "b").once()]
            .into_iter()
            .collect();
        found.append([at(3, "a").once()].into_iter().collect());
        assert_eq!(
            found.iter().map(|one| one.span().start).collect::<Vec<_>>(),
            [1, 2]
        );
    }

    #[test]
    fn diagnostics_beyond_the_limit_are_counted() {
        let mut found: Diagnostics = (0..MAX_DIAGNOSTICS as u32 + 4000)
            .map(|start| at(start, "a"))
            .collect();
        assert_eq!((found.len(), found.dropped()), (MAX_DIAGNOSTICS, (4000, 0)));
        found.push(ODD.new("a warning is kept beside them"));
        assert_eq!(
            (found.len(), found.dropped()),
            (MAX_DIAGNOSTICS + 1, (4000, 0))
        );
        let mut other: Diagnostics = [at(2 * MAX_DIAGNOSTICS as u32, "a")].into_iter().collect();
        other.append(found);
        assert_eq!(
            (other.len(), other.dropped()),
            (MAX_DIAGNOSTICS + 1, (4001, 0))
        );
        assert!(other.has_errors());
    }

    #[test]
    fn long_texts_are_cut() {
        let found: Diagnostics = [at(1, &"é".repeat(1 << 20)).note("n".repeat(1 << 20))]
            .into_iter()
            .collect();
        let one = found.iter().next().expect("it is there");
        assert!(one.message.len() < 9000 && one.notes[0].len() < 9000);
        assert!(one.message.ends_with(" ..."));
    }
}
