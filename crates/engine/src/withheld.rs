//! Diagnostics about texts that may contain secrets.

use diag::Diagnostic;

/// Removes quotations of a file from a diagnostic: its values may be secret.
pub(crate) fn unquoted(mut diagnostic: Diagnostic, file: &str) -> Diagnostic {
    let clean = |text: &mut String| {
        let parts = text.split('`').enumerate().map(|(at, part)| {
            // Every second part is in backticks. A single character is not treated as a secret.
            let word = part.trim_start_matches(['&', '*']);
            let is_quoted = at % 2 == 1 && word.chars().nth(1).is_some() && file.contains(word);
            if is_quoted { "(not shown)" } else { part }
        });
        *text = parts.collect::<Vec<_>>().join("`");
    };
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
    diagnostic.fixes.clear();
    diagnostic
}
