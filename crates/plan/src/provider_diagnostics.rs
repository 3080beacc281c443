//! Diagnostics of providers about a spec, reported at the places that they are about.
//!
//! Not here: when a provider is asked (`drafting::opinions`).

use blueprint::{Address, Expr, ExprKind, FieldPath, PathStep};
use diag::{Diagnostic, Diagnostics, Severity, Span};
use evaluate::question::SettingsRemark;
use evaluate::retry::failure;
use provider::{Finding, ProviderDiagnostic, ProviderSeverity};
use understand::documents::Documents;

/// Reports diagnostics of a provider about a spec. `span` is the place of diagnostics about no
/// written field.
pub fn report(
    diagnostics: Vec<ProviderDiagnostic>,
    address: &Address,
    spec: Option<&Expr>,
    span: Span,
    messages: &dyn dialect::rules::MessageRules,
    found: &mut Diagnostics,
) {
    for (place, path, reported) in placed(diagnostics, spec) {
        let place = place.unwrap_or(span);
        let whose = if path.is_empty() {
            format!("`{address}`")
        } else if place.is_some() {
            // The place in the document shows the resource.
            format!("`{path}`")
        } else {
            format!("`{path}` of `{address}`")
        };
        let misfit = |code: &'static diag::Code, what: &str, is_kind: bool| {
            let mistake = dialect::Mistake::InvalidSpec {
                resource: &address.name,
                field: &path,
                why: &reported.summary,
                is_kind,
            };
            let mut diagnostic = with_place(
                code.new(format!("{whose} {what}")),
                place,
                &reported.summary,
            );
            diagnostic.native_message = messages.of(&mistake).map(Box::new);
            diagnostic
        };
        let refused = &understand::check::codes::REJECTED_BY_PROVIDER;
        let mut diagnostic = match (reported.severity, reported.finding) {
            (ProviderSeverity::Error, Finding::WrongType) => {
                misfit(&expr::codes::TYPE_MISMATCH, "is of the wrong kind", true)
            }
            (ProviderSeverity::Error, Finding::OutOfRange) => misfit(
                &dialect::codes::VALUE_CONSTRAINT,
                "is outside its limits",
                false,
            ),
            (ProviderSeverity::Error, Finding::Refused) => with_place(
                refused.new(format!("the provider does not accept {whose}")),
                place,
                &reported.summary,
            ),
            (severity, _) => {
                let remark = refused.new(format!("the provider has a remark about `{address}`"));
                let mut remark = with_place(remark, place, &reported.summary);
                remark.severity = severity_of(severity);
                remark
            }
        };
        if !reported.detail.is_empty() {
            diagnostic = diagnostic.note(reported.detail);
        }
        found.push(diagnostic);
    }
}

/// A diagnostic with a remark at its place, or without a place with a note.
fn with_place(diagnostic: Diagnostic, place: Span, text: &str) -> Diagnostic {
    if place.is_some() {
        diagnostic.label(place, text)
    } else {
        diagnostic.note(text)
    }
}

/// Reports the diagnostics of providers about the resources that they read.
pub(crate) fn report_reads(
    diagnostics: Vec<(Address, Vec<ProviderDiagnostic>)>,
    documents: Option<&Documents>,
    found: &mut Diagnostics,
) {
    for (address, diagnostics) in diagnostics {
        report_at(diagnostics, &address, documents, found);
    }
}

/// Reports the diagnostics of providers about their settings: at the resource that declares the
/// settings, or with the place in the configuration file.
pub fn report_settings(
    diagnostics: Vec<SettingsRemark>,
    documents: Option<&Documents>,
    found: &mut Diagnostics,
) {
    for SettingsRemark {
        provider,
        instance,
        written,
        mut diagnostic,
    } in diagnostics
    {
        if let Some(address) = instance {
            diagnostic
                .path
                .0
                .insert(0, PathStep::Field("settings".into()));
            report_at(vec![diagnostic], &address, documents, found);
            continue;
        }
        let diagnostic = evaluate::codes::PROVIDER_SETTINGS
            .new(format!(
                "the provider `{provider}` has a remark about its settings"
            ))
            .with_severity(severity_of(diagnostic.severity))
            .note(diagnostic.text());
        found.push(match written {
            Some(written) => diagnostic.note(format!("its settings are at {written}")),
            None => diagnostic,
        });
    }
}

/// Reports diagnostics at the declaration of a resource; without a place if no document declares
/// it.
pub(crate) fn report_at(
    diagnostics: Vec<ProviderDiagnostic>,
    address: &Address,
    documents: Option<&Documents>,
    found: &mut Diagnostics,
) {
    let messages = documents.map_or(dialect::DialectRules::NATIVE.messages, |it| {
        it.root().checked.rules.messages
    });
    let declared = documents.and_then(|documents| {
        let (unit, _, resource) = documents.resource(documents.declared(address)?)?;
        Some((documents, unit, resource))
    });
    let Some((documents, unit, resource)) = declared else {
        return report(diagnostics, address, None, Span::NONE, messages, found);
    };
    let mut mine = Diagnostics::new();
    report(
        diagnostics,
        address,
        Some(&resource.spec),
        resource.span,
        messages,
        &mut mine,
    );
    documents.add_trails(unit, &mut mine);
    found.append(mine);
}

fn severity_of(severity: ProviderSeverity) -> Severity {
    match severity {
        ProviderSeverity::Error => Severity::Error,
        ProviderSeverity::Warning => Severity::Warning,
        ProviderSeverity::Note => Severity::Note,
    }
}

/// Diagnostics with the places and the texts of their paths, in an order that does not depend on
/// the provider.
///
/// Providers report a wrong combination of fields at each of the fields. A diagnostic at a field
/// that the spec does not set is left out if the same diagnostic at a field that the spec sets
/// names the unset field.
fn placed(
    diagnostics: Vec<ProviderDiagnostic>,
    spec: Option<&Expr>,
) -> impl Iterator<Item = (Option<Span>, String, ProviderDiagnostic)> {
    let place =
        |reported: &ProviderDiagnostic| spec.and_then(|spec| place_at(spec, &reported.path));
    let mut placed: Vec<_> = diagnostics
        .into_iter()
        .map(|reported| (place(&reported), reported.path.to_string(), reported))
        .collect();
    let repeats = |one: &(Option<Span>, String, ProviderDiagnostic)| {
        let (None, path, reported) = one else {
            return false;
        };
        let names = |text: &str| {
            text.split(|it: char| !it.is_alphanumeric() && it != '_')
                .any(|word| word == path)
        };
        placed.iter().any(|(place, _, other)| {
            let is_same =
                (other.severity, &other.summary) == (reported.severity, &reported.summary);
            place.is_some() && is_same && names(&other.detail)
        })
    };
    let repeated: Vec<bool> = placed.iter().map(repeats).collect();
    let mut repeated = repeated.into_iter();
    placed.retain(|_| repeated.next() != Some(true));
    placed.sort_by(
        |(place, path, reported), (other_place, other_path, other)| {
            let key = place.map(|span| (span.start, span.end));
            let other_key = other_place.map(|span| (span.start, span.end));
            (key, path, &reported.summary, &reported.detail).cmp(&(
                other_key,
                other_path,
                &other.summary,
                &other.detail,
            ))
        },
    );
    placed.into_iter()
}

/// The place where the value at a path of a spec is written: that of the deepest part of the path
/// that is written.
pub fn place_at(spec: &Expr, path: &FieldPath) -> Option<Span> {
    let mut here = spec;
    for step in &path.0 {
        let inside = match (&here.inner().kind, step) {
            (ExprKind::Map(entries), PathStep::Field(name) | PathStep::Key(name)) => entries
                .iter()
                .find(|(key, _)| key.item == *name)
                .map(|(_, value)| value),
            (ExprKind::List(items), PathStep::Index(at)) => {
                usize::try_from(*at).ok().and_then(|at| items.get(at))
            }
            _ => break,
        };
        match inside {
            Some(inside) => here = inside,
            // Not even the first part of the path is written.
            None if std::ptr::eq(here, spec) => return None,
            None => break,
        }
    }
    Some(here.span)
}

pub(crate) fn provider_failed(
    address: &Address,
    span: Span,
    error: &provider::ProviderError,
) -> diag::Diagnostic {
    let diagnostic = failure(error, || format!("the provider cannot plan `{address}`"));
    diagnostic.label(span, "declared here")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: u32) -> Span {
        Span {
            start,
            end: start + 1,
            ..Span::NONE
        }
    }

    #[test]
    fn combination_of_fields_is_reported_where_the_spec_sets_them() {
        let field = |name: &str, start| {
            let value = ExprKind::Literal(name.into());
            (
                diag::Spanned::new(blueprint::Name::from(name), span(start)),
                Expr::new(value, span(start)),
            )
        };
        let spec = Expr::new(
            ExprKind::Map(vec![field("source", 9), field("content", 5)]),
            span(0),
        );
        let wrong = |path: &str, others: &str| {
            ProviderDiagnostic::error(path, "Invalid Combination")
                .detailed(format!("not beside [{others}]"))
        };
        let diagnostics = vec![
            wrong("sensitive", "content,source"),
            wrong("source", "content,sensitive"),
            wrong("content", "source,sensitive"),
            wrong("other", "mode"),
        ];
        let found: Vec<String> = placed(diagnostics, Some(&spec))
            .map(|(_, path, _)| path)
            .collect();
        assert_eq!(found, ["other", "content", "source"]);
    }
}
