//! Renders diagnostics as text for a terminal. This is the only file that uses annotate-snippets.
//!
//! The renderer gets the lines around the labels, not the whole file, so the cost of a diagnostic
//! does not depend on the size of the document.

use std::borrow::Cow;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Patch, Renderer, Snippet};

use crate::{
    Diagnostic, File, FileId, Files, Label, Position, Severity, Span, visible, visible_line,
};

/// Labels that are more lines apart than this are shown in separate excerpts.
const MAX_EXCERPT_GAP: usize = 100;

/// Lines with more bytes are cut to the part around the labels.
const LONG: usize = 4096;

/// Bytes shown before and after the labels of a line that is cut.
const CONTEXT_BYTES: usize = 200;

/// Whether the output is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colors {
    /// With ANSI escapes.
    On,
    /// Plain text.
    Off,
}

/// Renders one diagnostic. The text ends with a line break.
pub fn draw(diagnostic: &Diagnostic, files: &Files, colors: Colors) -> String {
    let clean = cleaned(diagnostic);
    let diagnostic = &clean;
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let mut group = Group::with_title(
        level
            .primary_title(diagnostic.message.as_str())
            .id(diagnostic.code.name),
    );
    let place = diagnostic.span().file;
    let mut order: Vec<FileId> = Vec::new();
    for label in &diagnostic.labels {
        if !order.contains(&label.span.file) {
            order.push(label.span.file);
        }
    }
    let mut has_no_position = true;
    for id in order {
        let Some(file) = files.get(id) else { continue };
        has_no_position = false;
        let path = visible_line(file.name());
        if file.is_withheld() {
            for label in diagnostic
                .labels
                .iter()
                .filter(|label| label.span.file == id)
            {
                let position = file.position(label.span.start);
                group = group.element(at(path.clone(), position));
                if !label.text.is_empty() {
                    group = group.element(Level::NOTE.message(label.text.as_str()));
                }
            }
            continue;
        }
        let labels: Vec<(usize, &Label)> = diagnostic
            .labels
            .iter()
            .enumerate()
            .filter(|(_, label)| label.span.file == id)
            .collect();
        for excerpt in excerpts(file, &labels) {
            let (start, text) = (excerpt.window.start, &file.shown()[excerpt.window.clone()]);
            let mut snippet = Snippet::source(text).line_start(excerpt.line);
            if excerpt.cut {
                group = group.element(at(
                    path.clone(),
                    file.position(excerpt.labels[0].1.span.start),
                ));
            } else {
                snippet = snippet.path(path.clone());
            }
            for (number, label) in excerpt.labels {
                let kind = if number == 0 && id == place {
                    AnnotationKind::Primary
                } else {
                    AnnotationKind::Context
                };
                let range = within(label.span, file.text());
                let mut annotation = kind.span(shifted(range, start, text.len()));
                if !label.text.is_empty() {
                    annotation = annotation.label(label.text.as_str());
                }
                snippet = snippet.annotation(annotation);
            }
            group = group.element(snippet);
        }
    }
    for step in diagnostic.trail.iter().rev() {
        if let Some(file) = files.get(step.span.file) {
            has_no_position = false;
            let position = file.position(step.span.start);
            group = group
                .element(at(visible_line(file.name()), position))
                .element(Level::NOTE.message(step.text.as_str()));
        }
    }
    for note in &diagnostic.notes {
        group = group.element(Level::NOTE.message(note.as_str()));
    }
    for help in &diagnostic.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    let mut report = vec![group];
    for fix in &diagnostic.fixes {
        let file = fix.edits.first().and_then(|(span, _)| files.get(span.file));
        let Some(file) = file.filter(|file| !file.is_withheld()) else {
            continue;
        };
        let ranges: Vec<Range<usize>> = fix
            .edits
            .iter()
            .map(|(span, _)| within(*span, file.text()))
            .collect();
        let Some(whole) = ranges
            .iter()
            .cloned()
            .reduce(|a, b| a.start.min(b.start)..a.end.max(b.end))
        else {
            continue;
        };
        let (line, window) = lines_around(file, &whole);
        if window.len() > LONG && !file.text()[window.clone()].trim_end().contains('\n') {
            report.push(Group::with_title(
                Level::HELP.secondary_title(fix.text.as_str()),
            ));
            continue;
        }
        let mut snippet = Snippet::source(&file.shown()[window.clone()]).line_start(line);
        for (range, (_, text)) in ranges.into_iter().zip(&fix.edits) {
            snippet = snippet.patch(Patch::new(
                shifted(range, window.start, window.len()),
                text.as_str(),
            ));
        }
        report.push(
            Group::with_title(Level::HELP.secondary_title(fix.text.as_str())).element(snippet),
        );
    }
    let renderer = match colors {
        Colors::On => Renderer::styled(),
        Colors::Off => Renderer::plain(),
    };
    let drawn = renderer.render(&report).to_string();
    let mut text = String::with_capacity(drawn.len() + 1);
    for line in drawn.lines() {
        // Drop the margin below a message without a place: no source text follows it.
        if !(has_no_position && is_margin(line)) {
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}

fn at(path: Cow<'_, str>, position: Position) -> Origin<'_> {
    Origin::path(path)
        .line(position.line as usize)
        .char_column(position.column as usize)
}

/// The diagnostic with hidden characters in its texts made visible.
fn cleaned(diagnostic: &Diagnostic) -> Diagnostic {
    let clean = |text: &mut String| {
        if let Cow::Owned(visible) = visible(text) {
            *text = visible;
        }
    };
    let mut diagnostic = diagnostic.clone();
    clean(&mut diagnostic.message);
    diagnostic
        .labels
        .iter_mut()
        .for_each(|label| clean(&mut label.text));
    diagnostic
        .notes
        .iter_mut()
        .chain(&mut diagnostic.help)
        .for_each(clean);
    diagnostic
        .trail
        .iter_mut()
        .for_each(|step| clean(&mut step.text));
    for fix in &mut diagnostic.fixes {
        clean(&mut fix.text);
        fix.edits.iter_mut().for_each(|(_, text)| clean(text));
    }
    diagnostic
}

/// Labels with their indices in the diagnostic.
type Numbered<'d> = Vec<(usize, &'d Label)>;

/// A part of a file with its labels.
struct Excerpt<'d> {
    /// The number of the first line.
    line: usize,
    /// The byte range.
    window: Range<usize>,
    /// Whether the excerpt begins or ends inside a line.
    cut: bool,
    /// The labels with their indices in the diagnostic, in this order.
    labels: Numbered<'d>,
}

/// The excerpts of a file that contain the labels. The excerpt with the first label comes first.
/// The others follow from top to bottom.
fn excerpts<'d>(file: &File, labels: &[(usize, &'d Label)]) -> Vec<Excerpt<'d>> {
    let mut sorted: Vec<_> = labels
        .iter()
        .map(|label| (within(label.1.span, file.text()), *label))
        .collect();
    sorted.sort_by_key(|(range, _)| range.start);
    let mut clusters: Vec<(Range<usize>, Numbered<'d>)> = Vec::new();
    for (range, label) in sorted {
        match clusters.last_mut() {
            Some((whole, labels))
                if line_of(file, range.start) <= line_of(file, whole.end) + MAX_EXCERPT_GAP =>
            {
                whole.end = whole.end.max(range.end);
                labels.push(label);
            }
            _ => clusters.push((range, vec![label])),
        }
    }
    let first = labels.first().map(|(number, _)| *number);
    clusters.sort_by_key(|(_, labels)| !labels.iter().any(|(number, _)| Some(*number) == first));
    let excerpt = |(whole, mut labels): (Range<usize>, Numbered<'d>)| {
        labels.sort_by_key(|(number, _)| *number);
        let (line, window) = lines_around(file, &whole);
        if window.len() <= LONG || line_of(file, whole.start) != line_of(file, whole.end) {
            return Excerpt {
                line,
                window,
                cut: false,
                labels,
            };
        }
        let text = file.text();
        let starts = file.line_starts();
        let at = line_of(file, whole.start);
        let (begin, end) = (
            starts[at],
            starts
                .get(at + 1)
                .map_or(text.len(), |next| *next as usize - 1),
        );
        let end = end.min((whole.end.min(whole.start + LONG)) + CONTEXT_BYTES);
        let window = ceiling(
            text,
            (begin as usize).max(whole.start.saturating_sub(CONTEXT_BYTES)),
        )..floor(text, end);
        Excerpt {
            line: at + 1,
            window,
            cut: true,
            labels,
        }
    };
    clusters.into_iter().map(excerpt).collect()
}

/// The index of the line that contains an offset.
fn line_of(file: &File, offset: usize) -> usize {
    file.line_starts()
        .partition_point(|start| *start as usize <= offset)
        .saturating_sub(1)
}

/// The byte range of the lines of a range plus one line on each side, and the number of the first
/// line.
fn lines_around(file: &File, range: &Range<usize>) -> (usize, Range<usize>) {
    let starts = file.line_starts();
    let first = line_of(file, range.start).saturating_sub(1);
    let end = starts
        .get(line_of(file, range.end) + 2)
        .map_or(file.text().len(), |start| *start as usize);
    (first + 1, starts[first] as usize..end)
}

/// A range of a file, relative to a window of `length` bytes that begins at `start`.
fn shifted(range: Range<usize>, start: usize, length: usize) -> Range<usize> {
    let start_of = range.start.saturating_sub(start).min(length);
    start_of..range.end.saturating_sub(start).clamp(start_of, length)
}

/// Whether a line consists only of the margin bar, apart from colours.
fn is_margin(line: &str) -> bool {
    let mut rest = line;
    let mut bar = false;
    while let Some(first) = rest.chars().next() {
        rest = match first {
            '\u{1b}' => rest.split_once('m').map_or("", |(_, after)| after),
            '|' | ' ' => {
                bar |= first == '|';
                &rest[1..]
            }
            _ => return false,
        };
    }
    bar
}

/// The range of a span, clamped to the text and to character boundaries.
fn within(span: Span, text: &str) -> Range<usize> {
    let start = floor(text, span.start as usize);
    start..floor(text, span.end as usize).max(start)
}

/// The last character boundary at or before an offset.
fn floor(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The first character boundary at or after an offset.
fn ceiling(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;

    const CODE: Code = Code {
        name: "a-code",
        severity: Severity::Error,
        summary: "a code",
        page: "",
    };

    fn drawn(text: &str, spans: &[(u32, u32)]) -> String {
        let mut files = Files::new();
        let id = files.add("doc.yaml", text);
        let diagnostic = spans.iter().enumerate().fold(
            Diagnostic::new(&CODE, "something is wrong"),
            |it, (at, span)| it.label(Span::new(id, span.0, span.1), format!("label {at}")),
        );
        draw(&diagnostic, &files, Colors::Off)
    }

    /// The renderer gets a window of lines, so the cost of a diagnostic does not grow with the
    /// document.
    #[test]
    fn an_excerpt_holds_only_the_lines_around_its_labels() {
        let mut files = Files::new();
        let id = files.add("doc.yaml", "key: value\n".repeat(10_000));
        let file = files.get(id).unwrap();
        let label = Label {
            span: Span::new(id, 55_000, 55_003),
            text: String::new(),
        };
        let excerpts = excerpts(file, &[(0, &label)]);
        assert_eq!(excerpts.len(), 1);
        assert_eq!(
            (excerpts[0].line, excerpts[0].window.clone()),
            (5000, 54_989..55_022)
        );
    }

    #[test]
    fn lines_and_columns_are_those_of_the_whole_file() {
        let text = "key: value\n".repeat(1000);
        let drawn = drawn(&text, &[(5505, 5510)]);
        assert!(drawn.contains("doc.yaml:501:6"), "{drawn}");
        assert!(drawn.contains("501 | key: value"), "{drawn}");
        assert!(drawn.contains("^^^^^ label 0"), "{drawn}");
        assert_eq!(drawn.lines().count(), 5, "{drawn}");
    }

    #[test]
    fn labels_far_apart_have_excerpts_of_their_own() {
        let text = "key: value\n".repeat(1000);
        let drawn = drawn(&text, &[(5505, 5510), (0, 3)]);
        let (first, second) = (
            drawn.find("501 | key").unwrap(),
            drawn.find("1 | key: value").unwrap(),
        );
        assert!(drawn.find("doc.yaml:501:6").unwrap() < first, "{drawn}");
        assert!(
            drawn.contains("label 0") && drawn.contains("label 1"),
            "{drawn}"
        );
        assert!(
            first < drawn.rfind("  1 | key: value").unwrap_or(second),
            "{drawn}"
        );
    }

    #[test]
    fn a_long_line_is_cut_around_its_label() {
        let text = format!("{{\"a\": [{}]}}", "1234, ".repeat(20_000));
        let drawn = drawn(&text, &[(60_008, 60_012)]);
        assert!(drawn.contains("doc.yaml:1:60009"), "{drawn}");
        assert!(drawn.contains("^^^^ label 0"), "{drawn}");
        assert!(drawn.len() < 2000, "{drawn}");
    }

    #[test]
    fn the_end_of_a_file_can_be_labelled() {
        let drawn = drawn("a: 1\nb: 2\n", &[(10, 10)]);
        assert!(drawn.contains("label 0"), "{drawn}");
    }
}
