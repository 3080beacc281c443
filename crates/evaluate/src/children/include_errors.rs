//! Diagnostics about includes that cannot be followed.

use std::sync::Arc;

use blueprint::{Blueprint, Child, Expr};
use diag::Diagnostic;
use dialect::{DialectLimits, DialectRules, Mistake};
use source::SourceError;

use understand::check::codes;

/// Adds the message of the dialect of the including document to a diagnostic.
pub(super) fn with_dialect_message(
    include: Option<(Arc<Blueprint>, usize)>,
    rules: &DialectRules,
    mut diagnostic: Diagnostic,
) -> Diagnostic {
    if let Some((including_document, position)) = include
        && let Some((_, child)) = including_document.children.get_index(position)
    {
        let path = child.path.as_literal().and_then(|path| path.as_text());
        let mistake = match diagnostic.code {
            code if code.name == expr::codes::SOURCE_UNREADABLE.name => {
                path.map(Mistake::UnreadableChild)
            }
            // A cycle nests without end, so it exceeds every maximum depth.
            code if [codes::CHILD_DEPTH.name, codes::CHILD_CYCLE.name].contains(&code.name) => {
                Some(Mistake::TooDeep(
                    rules.sizes.most_levels(&DialectLimits::default()),
                ))
            }
            _ => None,
        };
        diagnostic.native_message = mistake
            .and_then(|mistake| rules.messages.of(&mistake))
            .map(Box::new);
    }
    diagnostic
}

/// The diagnostic for groups and included documents with too many resources in total, at the one
/// that exceeds the limit.
pub(super) fn too_many_members(child: &Child, most: usize) -> Diagnostic {
    dialect::codes::VALUE_CONSTRAINT
        .new(format!("all groups and included documents together may have at most {most} resources"))
        .label(child.span, "the resources of this one are too many")
        .help("divide the document into instances of their own, or raise `all-members` under `[documents]` in `cyan.toml`")
}

/// The diagnostic for a document that could not be read, at the part of the include that caused it.
pub(super) fn read_failed(child: &Child, error: &SourceError) -> Diagnostic {
    let entry = |name: &str| {
        child
            .source
            .iter()
            .flat_map(|source| &source.entries)
            .find(|(key, _)| key.item.as_ref() == name)
    };
    let diagnostic = match error {
        SourceError::UnknownKind { kind } => codes::UNKNOWN_SOURCE_TYPE
            .new(format!("unknown source type `{kind}`"))
            .label(
                entry("sourceType").map_or(child.path.span, |(_, value)| value.span),
                "no such kind of remote source",
            ),
        SourceError::Settings { key, problem } if key != "path" => codes::SOURCE_METADATA
            .new("keys of a remote source are missing or wrong")
            .label(
                child
                    .source
                    .as_ref()
                    .map_or(child.path.span, |source| source.span),
                format!("`{key}` {problem}"),
            ),
        // Here the key is `path`, which a document writes outside of the settings of a source.
        SourceError::Settings { problem, .. } => expr::codes::SOURCE_UNREADABLE
            .new("the document cannot be read")
            .label(child.path.span, format!("it {problem}")),
        SourceError::Checksum { expected, found } => codes::CHECKSUM_MISMATCH
            .new("the document is not the one that `checksum` pins")
            .label(child.path.span, "its content is something else")
            .note(format!("pinned: {expected}"))
            .note(format!("found:  {found}")),
        other => expr::codes::SOURCE_UNREADABLE
            .new("the document cannot be read")
            .label(child.path.span, other.to_string()),
    };
    // A resource type can be mapped to a document. The resource shows only its type, so the note
    // says which document that is.
    let target = child
        .path
        .as_literal()
        .and_then(|path| path.as_text())
        .filter(|_| child.stands_for.is_some());
    let diagnostic = match (target, &child.stands_for) {
        (Some(target), Some(written)) => {
            diagnostic.note(format!("`{}` is mapped to `{target}`", written.item))
        }
        _ => diagnostic,
    };
    let path = child.path.as_literal().and_then(|path| path.as_text());
    match error.help() {
        Some(_) if path.is_some_and(is_git_address) => diagnostic.help(
            "Git is no source of documents: include a copy on disk, or an `https://` address of the file",
        ),
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}

/// Whether a path is an address of a Git repository, as other tools take it.
fn is_git_address(path: &str) -> bool {
    [
        "git::",
        "git@",
        "git://",
        "ssh://",
        "github.com/",
        "gitlab.com/",
        "bitbucket.org/",
    ]
    .iter()
    .any(|start| path.starts_with(start))
}

/// The diagnostic for a document that includes itself.
pub(super) fn include_cycle(name: &str, child: &Child, shown: &str) -> Diagnostic {
    codes::CHILD_CYCLE
        .new(format!(
            "the include `{name}` leads back to a document that it is a part of"
        ))
        .label(
            child.path.span,
            format!("this is `{shown}`, which includes this document"),
        )
        .help("move what both use into a separate document")
}

pub(super) fn too_deep(child: &Child, most: u32) -> Diagnostic {
    codes::CHILD_DEPTH
        .new(format!("documents are nested more than {most} deep"))
        .label(child.path.span, format!("this would be level {}", most + 1))
        .help("include it nearer to the root")
}

/// The diagnostic for too many included documents. It has the code of the depth, because both limits
/// stop includes that never end.
pub(super) fn too_many(child: &Child, most: usize) -> Diagnostic {
    codes::CHILD_DEPTH
        .new(format!("more than {most} documents are included in all"))
        .label(child.path.span, "from here on nothing is read any more")
        .help("include fewer documents, or repeat resources with `each`")
}

/// The diagnostic for a part of an include that is known only on deploy.
pub(super) fn unknown(expr: &Expr, what: &str) -> Diagnostic {
    let mut places = Vec::new();
    understand::check::children::substitutions(expr, &mut places);
    let span = places.first().map_or(expr.span, |(span, _)| *span);
    codes::INCLUDE_PATH_UNKNOWN
        .new(format!(
            "the {} of an include must be known before the deployment",
            quoted(what)
        ))
        .label(span, "this is known on deploy")
        .help("use variables, values made from them, or data sources that can be read at stage")
}

/// The name of a part of an include: `path` is a word of the message, everything else is a key of
/// the document.
fn quoted(what: &str) -> String {
    if what == "path" {
        what.to_owned()
    } else {
        format!("`{what}`")
    }
}

/// The diagnostic for a secret in the location of a document.
pub(super) fn secret(expr: &Expr) -> Diagnostic {
    let mut places = Vec::new();
    understand::check::children::substitutions(expr, &mut places);
    codes::SECRET_EXPOSED
        .new("a secret would show in the path of an include")
        .label(
            places.first().map_or(expr.span, |(span, _)| *span),
            "this comes from a secret",
        )
        .help("use a value that is not secret")
}

/// The problem of bytes that are not UTF-8 after the first `valid_bytes`.
pub(super) fn not_utf8(valid_bytes: usize) -> String {
    format!("no UTF-8 text (byte {} cannot be read)", valid_bytes + 1)
}
