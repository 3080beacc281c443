//! Diagnostics as text for a terminal. The only file that names annotate-snippets.

use std::borrow::Cow;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Patch, Renderer, Snippet};

use crate::{Diagnostic, FileId, Files, Position, Severity, Span, visible, visible_line};

/// Whether to colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colors {
    /// With ANSI escapes.
    On,
    /// Plain text.
    Off,
}

/// One diagnostic as text, ending in a line break.
pub fn draw(diagnostic: &Diagnostic, files: &Files, colors: Colors) -> String {
    let clean = cleaned(diagnostic);
    let diagnostic = &clean;
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let mut group = Group::with_title(level.primary_title(diagnostic.message.as_str()).id(diagnostic.code.name));
    let place = diagnostic.span().file;
    let mut order: Vec<FileId> = Vec::new();
    for label in &diagnostic.labels {
        if !order.contains(&label.span.file) {
            order.push(label.span.file);
        }
    }
    let mut placeless = true;
    for id in order {
        let Some(file) = files.get(id) else { continue };
        placeless = false;
        let path = visible_line(file.name());
        if file.is_withheld() {
            for label in diagnostic.labels.iter().filter(|label| label.span.file == id) {
                let position = file.position(label.span.start);
                group = group.element(at(path.clone(), position));
                if !label.text.is_empty() {
                    group = group.element(Level::NOTE.message(label.text.as_str()));
                }
            }
            continue;
        }
        let mut snippet = Snippet::source(file.shown().as_ref()).path(path);
        for (number, label) in diagnostic.labels.iter().enumerate().filter(|(_, label)| label.span.file == id) {
            let kind = if number == 0 && id == place { AnnotationKind::Primary } else { AnnotationKind::Context };
            let mut annotation = kind.span(within(label.span, file.text()));
            if !label.text.is_empty() {
                annotation = annotation.label(label.text.as_str());
            }
            snippet = snippet.annotation(annotation);
        }
        group = group.element(snippet);
    }
    for step in diagnostic.trail.iter().rev() {
        if let Some(file) = files.get(step.span.file) {
            placeless = false;
            let position = file.position(step.span.start);
            group =
                group.element(at(visible_line(file.name()), position)).element(Level::NOTE.message(step.text.as_str()));
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
        let Some(file) = file.filter(|file| !file.is_withheld()) else { continue };
        let mut snippet = Snippet::source(file.shown().as_ref());
        for (span, text) in &fix.edits {
            snippet = snippet.patch(Patch::new(within(*span, file.text()), text.as_str()));
        }
        report.push(Group::with_title(Level::HELP.secondary_title(fix.text.as_str())).element(snippet));
    }
    let renderer = match colors {
        Colors::On => Renderer::styled(),
        Colors::Off => Renderer::plain(),
    };
    let drawn = renderer.render(&report).to_string();
    let mut text = String::with_capacity(drawn.len() + 1);
    for line in drawn.lines() {
        // Below a message without a place there is no text that a margin would lead down from.
        if !(placeless && is_margin(line)) {
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}

fn at(path: Cow<'_, str>, position: Position) -> Origin<'_> {
    Origin::path(path).line(position.line as usize).char_column(position.column as usize)
}

/// The diagnostic with words that a terminal shows as they are.
fn cleaned(diagnostic: &Diagnostic) -> Diagnostic {
    let clean = |text: &mut String| {
        if let Cow::Owned(visible) = visible(text) {
            *text = visible;
        }
    };
    let mut diagnostic = diagnostic.clone();
    clean(&mut diagnostic.message);
    diagnostic.labels.iter_mut().for_each(|label| clean(&mut label.text));
    diagnostic.notes.iter_mut().chain(&mut diagnostic.help).for_each(clean);
    diagnostic.trail.iter_mut().for_each(|step| clean(&mut step.text));
    for fix in &mut diagnostic.fixes {
        clean(&mut fix.text);
        fix.edits.iter_mut().for_each(|(_, text)| clean(text));
    }
    diagnostic
}

/// Whether a line, apart from its colours, is nothing but the bar between a text and what is said below it.
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

/// The range of a span, kept inside the text and on character boundaries.
fn within(span: Span, text: &str) -> std::ops::Range<usize> {
    let floor = |mut at: usize| {
        at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = floor(span.start as usize);
    start..floor(span.end as usize).max(start)
}
