//! Checks hints of resources that need more than their own text: paths of ignored changes need the
//! type, and former addresses need all hints of a document.
//!
//! Not here: the form of a hint (its dialect), former addresses that the document still declares
//! (these need the state).

use blueprint::{Address, Field, FieldPath, IndexMap, Kind, Name, PathStep, Resource, Schema};
use diag::{Diagnostic, Severity, Span};
use dialect::codes::INVALID_ANNOTATION;
use provider::{Plans, ResourceType};

use super::{Checker, TypeOf};

/// A statement that the resource at an address had another address before.
pub struct FormerAddress {
    /// The former address.
    pub from: Address,
    /// The address now.
    pub to: Address,
    /// The place of the statement.
    pub span: Span,
}

/// Reports each circle of former addresses: a resource would change its address in every
/// operation.
pub fn circles_of_moves(hints: &[FormerAddress]) -> Vec<Diagnostic> {
    let by_from: IndexMap<&Address, &FormerAddress> =
        hints.iter().map(|hint| (&hint.from, hint)).collect();
    let mut found = Vec::new();
    // The number of the walk that came by an address first.
    let mut visited: IndexMap<&Address, usize> = IndexMap::default();
    for (walk, first) in by_from.values().enumerate() {
        let mut here = &first.from;
        while !visited.contains_key(here) {
            let Some(hint) = by_from.get(here).filter(|hint| hint.to != hint.from) else {
                break;
            };
            visited.insert(here, walk);
            here = &hint.to;
        }
        let closes = visited.get(here) == Some(&walk) && by_from.contains_key(here);
        if closes {
            found.push(circle(here, &by_from));
        }
    }
    found
}

fn circle(start: &Address, by_from: &IndexMap<&Address, &FormerAddress>) -> Diagnostic {
    let mut around = vec![format!("`{start}`")];
    let mut labels = Vec::new();
    let mut here = start;
    while let Some(hint) = by_from.get(here) {
        here = &hint.to;
        around.push(format!("`{here}`"));
        labels.push((hint.span, format!("`{}` becomes `{here}`", hint.from)));
        if here == start {
            break;
        }
    }
    let mut diagnostic = INVALID_ANNOTATION.new(format!(
        "former addresses form a circle: {}",
        around.join(" -> ")
    ));
    for (span, why) in labels {
        diagnostic = diagnostic.label(span, why);
    }
    diagnostic
        .note("each operation would move the resources once more")
        .help("remove one of these hints; to swap resources, deploy once with another name between")
}

impl Checker<'_> {
    /// Checks the hints of all resources.
    pub(super) fn hints(&mut self) {
        let blueprint = self.blueprint;
        let severity = match self.rules.specs.refuses_unknown_paths() {
            true => Severity::Error,
            false => Severity::Warning,
        };
        let mut found = Vec::new();
        for (resource, ty) in blueprint.resources.values().zip(&self.resources) {
            // The hints of an abstract resource apply to what a transform makes of it.
            if let TypeOf::Known(ty) = ty
                && resource.made_from.is_none()
            {
                ignored_paths(resource, ty, severity, &mut found);
            }
        }
        let of_resources = blueprint.resources.iter().flat_map(|(name, resource)| {
            let span = annotation_span(resource, "cyan.movedFrom");
            let former = resource.lifecycle.moved_from.iter();
            former.filter_map(move |from| {
                Some(FormerAddress {
                    from: from.parse().ok()?,
                    to: Address::inside(&[], name.clone()),
                    span,
                })
            })
        });
        let of_document = blueprint.moves.iter().map(|it| FormerAddress {
            from: it.from.clone(),
            to: it.to.clone(),
            span: it.span,
        });
        let hints: Vec<FormerAddress> = of_resources.chain(of_document).collect();
        found.extend(circles_of_moves(&hints));
        self.found.extend(found);
    }
}

/// The place of the value of an annotation, else that of the resource.
fn annotation_span(resource: &Resource, name: &str) -> Span {
    let annotations = resource.metadata.annotations.iter();
    annotations
        .filter(|(key, _)| key.item.as_ref() == name)
        .map(|(_, value)| value.span)
        .next()
        .unwrap_or(resource.span)
}

/// Reports paths whose changes are ignored or replace the resource, and that the type cannot have.
fn ignored_paths(
    resource: &Resource,
    ty: &ResourceType,
    severity: Severity,
    found: &mut Vec<Diagnostic>,
) {
    let takes_positions = ty.capabilities.plans != Plans::Never;
    let lifecycle = &resource.lifecycle;
    let ignored = lifecycle.ignore_changes.iter().cloned();
    let replacing = lifecycle.replace_on_changes.iter();
    // `#initerror` stands for the health of the object.
    let is_field = |path: &&FieldPath| {
        let first = path.0.first();
        !first.is_some_and(|step| matches!(step, PathStep::Field(name) if name.starts_with('#')))
    };
    let replacing = replacing
        .filter(is_field)
        .map(|path| Name::from(path.to_string()));
    let ignored = ignored.map(|path| ("ignoreChanges", path));
    let paths = ignored.chain(replacing.map(|path| ("replaceOnChanges", path)));
    for (option, path) in paths {
        let path = path.as_ref();
        let Err(wrong) = follow(&ty.schema, path, takes_positions) else {
            continue;
        };
        // The native dialect writes it as an annotation.
        let annotation = format!("cyan.{option}");
        let mut annotations = resource.metadata.annotations.iter();
        let is_annotation = annotations.any(|(key, _)| *key.item == *annotation);
        let shown = if is_annotation { &annotation } else { option };
        let span = annotation_span(resource, &annotation);
        let diagnostic = INVALID_ANNOTATION
            .new(format!(
                "`{shown}` names `{path}`, which `{}` cannot have",
                ty.name
            ))
            .label(span, wrong.why)
            .with_severity(severity);
        let is_list = path.contains(['"', '\'']) || path.starts_with('[') || path.ends_with(']');
        found.push(match path.strip_prefix("spec.") {
            Some(inner) if follow(&ty.schema, inner, takes_positions).is_ok() => {
                diagnostic.help(format!("write `{inner}`: paths begin inside `spec`"))
            }
            _ if is_list && wrong.candidates.len() != 1 => {
                diagnostic.help("write names, separated by commas, without brackets and quotes")
            }
            _ => diagnostic.help_nearest(path, wrong.candidates.iter().map(AsRef::as_ref)),
        });
    }
}

/// A path that leads nowhere.
struct WrongPath {
    why: String,
    /// Paths that exist instead.
    candidates: Vec<Name>,
}

/// Follows a path of names through a schema. `takes_positions` tells whether the provider
/// interprets positions of lists.
fn follow(schema: &Schema, path: &str, takes_positions: bool) -> Result<(), WrongPath> {
    let segments: Vec<&str> = path.split('.').collect();
    let mut inside = Inside::Fields(schema);
    for (at, segment) in segments.iter().enumerate() {
        let name = match segment.split_once('[') {
            Some((name, _)) if takes_positions => name,
            _ => *segment,
        };
        let before = segments[..at].iter().map(|it| format!("{it}."));
        let before: String = before.collect();
        match inside {
            Inside::Fields(fields) => match fields.fields.get(name) {
                Some(field) => inside = Inside::of(field, takes_positions),
                None if fields.open => return Ok(()),
                None => {
                    let candidates = fields.fields.keys();
                    return Err(WrongPath {
                        why: format!("there is no field `{name}`"),
                        candidates: candidates
                            .map(|field| format!("{before}{field}").into())
                            .collect(),
                    });
                }
            },
            Inside::Entries(field) => inside = Inside::of(field, takes_positions),
            Inside::Anything => return Ok(()),
            Inside::Nothing(what) => {
                return Err(WrongPath {
                    why: format!(
                        "`{}` is {what}, in which no name is ignored",
                        segments[..at].join(".")
                    ),
                    candidates: vec![segments[..at].join(".").into()],
                });
            }
        }
    }
    Ok(())
}

/// What the value of a field contains.
enum Inside<'a> {
    Fields(&'a Schema),
    Entries(&'a Field),
    Anything,
    Nothing(&'static str),
}

impl<'a> Inside<'a> {
    fn of(field: &'a Field, takes_positions: bool) -> Inside<'a> {
        match &field.kind {
            Kind::Object(schema) => Inside::Fields(schema),
            Kind::Map(inner) => Inside::Entries(inner),
            Kind::Array(item) if takes_positions => Inside::of(item, takes_positions),
            Kind::Array(_) => Inside::Nothing("a list"),
            Kind::Any | Kind::Union(_) => Inside::Anything,
            Kind::String | Kind::Integer | Kind::Float | Kind::Boolean => {
                Inside::Nothing("a single value")
            }
        }
    }
}
