//! A diagnostic and a collection of them.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, DefaultHasher, Hash as _, Hasher as _};

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

impl Code {
    /// A diagnostic of this kind, not yet placed anywhere.
    #[expect(clippy::new_ret_no_self, reason = "a code is what a diagnostic is made from")]
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

    /// Cuts texts that are too long: a value that a message shows may have any size.
    fn shorten(&mut self) {
        shortened(&mut self.message);
        self.labels.iter_mut().for_each(|label| shortened(&mut label.text));
        self.notes.iter_mut().chain(&mut self.help).for_each(shortened);
        if let Some(words) = &mut self.words
            && words.message.len() > LONGEST
        {
            let mut message = std::mem::take(&mut words.message).into_string();
            shortened(&mut message);
            words.message = message.into();
        }
    }
}

/// So many errors are kept, and as many diagnostics that are none; of others only the number.
const KEPT: usize = 20_000;

/// So many bytes a text of a diagnostic may have.
const LONGEST: usize = 8 * 1024;

/// Diagnostics as they are found, in order.
///
/// The same mistake at the same place is kept once, however often it is found: what a document repeats by an alias is
/// written once. Of very many only the first are kept, and of very long texts the beginning.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    /// What is in the list, by what tells one mistake from another.
    seen: HashSet<u64, BuildHasherDefault<DefaultHasher>>,
    /// Errors and others that were found beyond those in the list.
    dropped: [usize; 2],
    /// Errors and others in the list.
    kept: [usize; 2],
}

impl Diagnostics {
    /// None yet.
    pub fn new() -> Diagnostics {
        Diagnostics::default()
    }

    /// Adds one, unless the same is there.
    pub fn push(&mut self, mut diagnostic: Diagnostic) {
        let kind = usize::from(!diagnostic.is_error());
        if !self.seen.insert(fingerprint(&diagnostic)) {
            return;
        }
        if self.kept[kind] >= KEPT {
            self.dropped[kind] += 1;
            return;
        }
        diagnostic.shorten();
        self.kept[kind] += 1;
        self.list.push(diagnostic);
    }

    /// Adds all of another collection.
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

    /// Whether any is an error.
    pub fn has_errors(&self) -> bool {
        self.dropped[0] > 0 || self.list.iter().any(Diagnostic::is_error)
    }

    /// How many errors, and how many others, were found beyond those that are kept.
    pub fn dropped(&self) -> (usize, usize) {
        (self.dropped[0], self.dropped[1])
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
        self.seen.clear();
        self.kept = [0, 0];
        for diagnostic in &self.list {
            self.seen.insert(fingerprint(diagnostic));
            self.kept[usize::from(!diagnostic.is_error())] += 1;
        }
    }
}

/// What tells one mistake from another: kind, place, message, and the way to the document.
fn fingerprint(diagnostic: &Diagnostic) -> u64 {
    let mut hasher = DefaultHasher::new();
    let place = |span: Span, hasher: &mut DefaultHasher| (span.file, span.start, span.end).hash(hasher);
    diagnostic.code.name.hash(&mut hasher);
    diagnostic.is_error().hash(&mut hasher);
    diagnostic.message.hash(&mut hasher);
    diagnostic.labels.iter().for_each(|label| place(label.span, &mut hasher));
    diagnostic.notes.hash(&mut hasher);
    diagnostic.trail.iter().for_each(|step| place(step.span, &mut hasher));
    hasher.finish()
}

/// Cuts a text that is too long.
fn shortened(text: &mut String) {
    if text.len() > LONGEST {
        let end = (0..=LONGEST).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
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

    static WRONG: Code = Code { name: "wrong", severity: Severity::Error, summary: "for tests", page: "" };
    static ODD: Code = Code { name: "odd", severity: Severity::Warning, summary: "for tests", page: "" };

    fn at(start: u32, message: &str) -> Diagnostic {
        WRONG.new(message).label(Span::new(FileId::new(0), start, start + 1), "here")
    }

    #[test]
    fn the_same_mistake_is_kept_once() {
        let mut found: Diagnostics = [at(1, "a"), at(1, "a"), at(2, "a"), at(1, "b")].into_iter().collect();
        assert_eq!(found.len(), 3);
        found.append([at(2, "a"), at(3, "a")].into_iter().collect());
        assert_eq!(found.len(), 4);
        found.retain(|one| one.span().start == 1);
        found.push(at(2, "a"));
        assert_eq!(found.len(), 3);
    }

    #[test]
    fn of_very_many_only_the_number_is_kept() {
        let mut found: Diagnostics = (0..KEPT as u32 + 4000).map(|start| at(start, "a")).collect();
        assert_eq!((found.len(), found.dropped()), (KEPT, (4000, 0)));
        found.push(ODD.new("a warning is kept beside them"));
        assert_eq!((found.len(), found.dropped()), (KEPT + 1, (4000, 0)));
        let mut other: Diagnostics = [at(2 * KEPT as u32, "a")].into_iter().collect();
        other.append(found);
        assert_eq!((other.len(), other.dropped()), (KEPT + 1, (4001, 0)));
        assert!(other.has_errors());
    }

    #[test]
    fn long_texts_are_cut() {
        let found: Diagnostics = [at(1, &"é".repeat(1 << 20)).note("n".repeat(1 << 20))].into_iter().collect();
        let one = found.iter().next().expect("it is there");
        assert!(one.message.len() < 9000 && one.notes[0].len() < 9000);
        assert!(one.message.ends_with(" ..."));
    }
}
