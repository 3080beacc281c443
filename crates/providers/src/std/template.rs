//! `std/template`: text from a template and variables.
//!
//! The language is Jinja. Values are not escaped; true, false and none are written as in the
//! dialects; the last line break of a template is kept; includes are not available. The number of
//! steps is limited, so that a huge loop is an error.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use blueprint::{Map, Name, Value};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Value as Item, ValueKind};
use minijinja::{AutoEscape, Environment, Output, State, UndefinedBehavior, escape_formatter};
use provider::{
    Call, CheckFindings, ErrorKind, FileAccess, ProviderError, SourceContent, SourceRead,
};
use sha2::{Digest, Sha256};

/// Maximum number of steps.
const FUEL: u64 = 10_000_000;

/// Checks that one of `template` and `source` is set, the names of variables, and the syntax of the
/// template.
pub(super) fn check(files: FileAccess, spec: &Value) -> CheckFindings {
    let mut checked = CheckFindings::default();
    let written = |name: &str| spec.get(name).filter(|value| !value.is_null());
    match (written("template"), written("source")) {
        (None, None) => checked.refuse("", "the template is missing: write `template` or `source`"),
        (Some(_), Some(_)) => {
            checked.refuse(
                "source",
                "`source` cannot stand beside `template`: there is one template",
            );
        }
        (Some(template), None) => {
            if let Some(text) = template.as_text()
                && let Err(error) = environment(true).template_from_named_str("template", text)
            {
                checked.refuse(
                    "template",
                    explain(&error, "the template", template.has_secret(), false),
                );
            }
        }
        (None, Some(_)) => {
            if let Some(why) = files.refusal() {
                checked.refuse("source", why);
            }
        }
    }
    if let Some(variables) = written("variables")
        && !variables.is_unknown()
        && variables.as_map().is_none()
    {
        checked.refuse(
            "variables",
            format!(
                "`variables` must be an object of names and values, not {}",
                variables.kind_word()
            ),
        );
    }
    checked
}

/// The computed fields: `rendered` and `sourceSha256`.
pub(super) async fn render(call: &Call, spec: &Value) -> Result<Map, ProviderError> {
    let template = spec.get("template").filter(|template| !template.is_null());
    let (text, place, field, digest) = match (template.and_then(Value::as_text), source(call, spec))
    {
        (Some(text), _) => (
            text.to_owned(),
            "the template".to_owned(),
            "template",
            Value::Null,
        ),
        (None, Some(path)) => {
            let place = format!("`{}`", path.display());
            let (text, digest) = read(call, path).await?;
            (text, place, "source", Value::from(digest))
        }
        (None, None) => {
            return Err(ProviderError::new(
                ErrorKind::Document,
                "the template is missing",
            ));
        }
    };
    let variables = spec.get("variables").cloned().unwrap_or_default();
    let secret_template = template.is_some_and(Value::has_secret);
    let secret = variables.has_secret() || secret_template;
    let strict = spec.get("strict").and_then(Value::as_bool).unwrap_or(true);
    let work = move || {
        let environment = environment(strict);
        environment
            .template_from_named_str("template", &text)
            .and_then(|template| template.render(item(&variables)))
            .map_err(|error| {
                ProviderError::new(
                    ErrorKind::Document,
                    explain(&error, &place, secret_template, secret),
                )
                .at(field)
            })
    };
    let rendered = run_blocking(call, work).await?;
    let fields: [(Name, Value); 2] = [
        ("rendered".into(), Value::from(rendered).tainted(secret)),
        ("sourceSha256".into(), digest),
    ];
    Ok(fields.into_iter().collect())
}

/// The current source, if there is one.
pub(super) async fn source_read(
    call: &Call,
    spec: &Value,
    changing: &BTreeSet<Name>,
) -> Result<Vec<SourceRead>, ProviderError> {
    let Some(written) = spec.get("source").and_then(Value::as_text) else {
        return Ok(Vec::new());
    };
    let path = call.folder.join(written);
    let content = if is_any(&path, changing) {
        SourceContent::Open
    } else {
        match read(call, path).await {
            Ok((_, digest)) => SourceContent::Digest(digest.into()),
            Err(error) if error.kind == ErrorKind::Cancelled || error.kind.is_retryable() => {
                return Err(error);
            }
            Err(error) => SourceContent::Unreadable(error.message),
        }
    };
    Ok(vec![SourceRead {
        field: "source".into(),
        name: written.into(),
        content,
    }])
}

/// Whether a path is one of these ids. The id of a file is its absolute path.
fn is_any(path: &Path, ids: &BTreeSet<Name>) -> bool {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return false;
    };
    folder
        .canonicalize()
        .is_ok_and(|folder| ids.contains(folder.join(name).display().to_string().as_str()))
}

fn source(call: &Call, spec: &Value) -> Option<PathBuf> {
    spec.get("source")
        .and_then(Value::as_text)
        .map(|source| call.folder.join(source))
}

async fn read(call: &Call, path: PathBuf) -> Result<(String, String), ProviderError> {
    call.files.refuse_remote("source")?;
    let most = call.files.most_bytes;
    run_blocking(call, move || {
        let refused = |kind, why: &str| {
            ProviderError::new(kind, format!("cannot read `{}`: {why}", path.display()))
                .at("source")
        };
        let bytes = crate::regular_file::read(&path, most).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => refused(ErrorKind::NotFound, "it is not there"),
            std::io::ErrorKind::PermissionDenied => {
                refused(ErrorKind::Permanent, "permission denied")
            }
            std::io::ErrorKind::FileTooLarge => refused(ErrorKind::Document, &error.to_string()),
            _ => refused(ErrorKind::Permanent, &error.to_string()),
        })?;
        let digest = data_encoding::HEXLOWER.encode(&Sha256::digest(&bytes));
        let text = String::from_utf8(bytes)
            .map_err(|_| refused(ErrorKind::Document, "it is not UTF-8 text"))?;
        Ok((text, digest))
    })
    .await
}

async fn run_blocking<T: Send + 'static>(
    call: &Call,
    work: impl FnOnce() -> Result<T, ProviderError> + Send + 'static,
) -> Result<T, ProviderError> {
    if call.cancel.is_cancelled() {
        return Err(ProviderError::new(ErrorKind::Cancelled, "cancelled"));
    }
    let handle = tokio::task::spawn_blocking(work);
    let joined = match call.deadline {
        Some(deadline) => tokio::time::timeout(deadline, handle).await.map_err(|_| {
            ProviderError::new(ErrorKind::TimedOut, "not rendered in the time given")
        })?,
        None => handle.await,
    };
    joined.unwrap_or_else(|_| {
        Err(ProviderError::new(
            ErrorKind::Permanent,
            "the work on this template broke off",
        ))
    })
}

fn environment<'a>(strict: bool) -> Environment<'a> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    // Building fails only for conflicting delimiters, and these are the defaults.
    if let Ok(syntax) = SyntaxConfig::builder().keep_trailing_newline(true).build() {
        environment.set_syntax(syntax);
    }
    environment.set_formatter(format_value);
    environment.set_undefined_behavior(if strict {
        UndefinedBehavior::Strict
    } else {
        UndefinedBehavior::Chainable
    });
    environment.set_fuel(Some(FUEL));
    environment.set_debug(true);
    environment
}

/// Writes `true`, `false`, and nothing for `none`, like an interpolation in a document and unlike
/// Python.
fn format_value(
    out: &mut Output<'_>,
    state: &mut State<'_, '_>,
    value: &Item,
) -> Result<(), minijinja::Error> {
    match value.kind() {
        ValueKind::Bool => out
            .write_str(if value.is_true() { "true" } else { "false" })
            .map_err(minijinja::Error::from),
        ValueKind::None => Ok(()),
        _ => escape_formatter(out, state, value),
    }
}

/// Describes an error and its place. A secret template is not quoted. With secret values the
/// message of the library is left out, because it may contain one.
fn explain(
    error: &minijinja::Error,
    place: &str,
    secret_template: bool,
    secret_values: bool,
) -> String {
    use minijinja::ErrorKind as Kind;
    let mut place = place.to_owned();
    let source = error.template_source().unwrap_or_default();
    // The library points at the last part of `a.b.c`. The message names the whole expression.
    let range = error.range().map(|range| {
        let before = source.get(..range.start).unwrap_or_default();
        let name = before.trim_end_matches(|c: char| c.is_alphanumeric() || matches!(c, '_' | '.'));
        let begins_a_name = source
            .get(range.start..)
            .is_some_and(|rest| rest.starts_with('.'));
        if begins_a_name {
            name.len()..range.end
        } else {
            range
        }
    });
    if let Some(line) = error.line() {
        place.push_str(&format!(", line {line}"));
        if let Some(range) = &range {
            let before = source.get(..range.start).unwrap_or_default();
            let column = before
                .rsplit('\n')
                .next()
                .unwrap_or_default()
                .chars()
                .count()
                + 1;
            place.push_str(&format!(", column {column}"));
        }
    }
    let quoted = range.and_then(|range| source.get(range)).filter(|quoted| {
        !secret_template && !quoted.is_empty() && quoted.len() <= 80 && !quoted.contains('\n')
    });
    let detail = error
        .detail()
        .filter(|_| !secret_template && !secret_values)
        .map(|detail| format!(": {detail}"))
        .unwrap_or_default();
    let what = match (error.kind(), quoted) {
        (Kind::UndefinedError, Some(name)) => {
            format!("`{name}` is not defined; add it to `variables`, or write `strict: false` to leave it empty")
        }
        (Kind::UndefinedError, None) => {
            "a variable is not defined; add it to `variables`, or write `strict: false` to leave it empty".into()
        }
        (Kind::OutOfFuel, _) => "the template takes too many steps".into(),
        (Kind::TemplateNotFound, _) => "other templates cannot be included here".into(),
        (kind, Some(quoted)) => format!("{kind}{detail} (at `{quoted}`)"),
        (kind, None) => format!("{kind}{detail}"),
    };
    format!("{place}: {what}")
}

/// A value for the template language, with revealed secrets.
fn item(value: &Value) -> Item {
    match value {
        Value::Null | Value::Unknown(_) | Value::Function(_) | Value::Asset(_) => Item::from(()),
        Value::Bool(value) => Item::from(*value),
        Value::Int(value) => Item::from(*value),
        Value::Float(value) => Item::from(*value),
        Value::Decimal(text) | Value::Text(text) => Item::from(text.clone()),
        Value::Bytes(bytes) => Item::from(String::from_utf8_lossy(bytes).into_owned()),
        Value::List(items) | Value::Set(items) => {
            Item::from(items.iter().map(item).collect::<Vec<_>>())
        }
        Value::Map(entries) => Item::from_pairs(
            entries
                .iter()
                .map(|(key, value)| (Item::from(key.clone()), item(value))),
        ),
        Value::Resource(address) => Item::from(address.to_string()),
        Value::Secret(inner) => item(inner),
    }
}
