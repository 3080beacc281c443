//! Finds the annotations that are read by a resource's type or by the kinds of its links
//! (decisions/links#annotations).

use blueprint::{IndexMap, Name, TypeId};
use diag::{Diagnostic, Span, Spanned};
use dialect::codes as document;
use provider::Annotation;

use crate::check::Checker;
use crate::links::Links;
use crate::links::wiring::LinkTarget;

/// Annotations with a reader, by the key as written.
#[derive(Default)]
pub(crate) struct KnownAnnotations {
    pub(crate) by_key: IndexMap<Name, Vec<Annotation>>,
    /// Groups of keys of which at least one must be written, with their type.
    pub(crate) required: Vec<(Vec<Name>, blueprint::Type)>,
}

impl KnownAnnotations {
    fn add(&mut self, key: Name, annotation: &Annotation) {
        let all = self.by_key.entry(key).or_default();
        let same =
            |other: &Annotation| other.ty == annotation.ty && other.allowed == annotation.allowed;
        if !all.iter().any(same) {
            all.push(annotation.clone());
        }
    }

    /// The annotations of a type.
    pub(crate) fn of_type(annotations: &[Annotation]) -> KnownAnnotations {
        let mut known = KnownAnnotations::default();
        for annotation in annotations {
            known.add(annotation.key.clone(), annotation);
            if annotation.required && annotation.default.is_none() {
                known
                    .required
                    .push((vec![annotation.key.clone()], annotation.ty.clone()));
            }
        }
        known
    }
}

/// A key with the name of the other end in place of the placeholder.
pub fn key_for(annotation: &Annotation, other: &Name) -> Name {
    let placeholder = if annotation.side.as_ref() == "a" {
        "<b>"
    } else {
        "<a>"
    };
    if annotation.key.contains(placeholder) {
        annotation.key.replace(placeholder, other).into()
    } else {
        annotation.key.clone()
    }
}

impl Checker<'_> {
    /// The annotations of a resource that its type or one of its links reads.
    pub(crate) fn annotations_read(&self, at: usize, links: &Links) -> KnownAnnotations {
        let mut known = match &self.resources[at] {
            crate::check::TypeOf::Known(ty) => KnownAnnotations::of_type(&ty.annotations),
            _ => KnownAnnotations::default(),
        };
        for (number, target) in links.of(at as u32) {
            let (Some(pair), LinkTarget::End(side)) = (links.pair(*number), target) else {
                continue;
            };
            let other = if *side == provider::Side::A {
                pair.b
            } else {
                pair.a
            };
            let Some((other, _)) = self.blueprint.resources.get_index(other as usize) else {
                continue;
            };
            let mine = |it: &&Annotation| crate::links::wiring::side_of(&it.side) == *side;
            for annotation in pair.kind.annotations.iter().filter(mine) {
                known.add(key_for(annotation, other), annotation);
            }
            for annotation in pair
                .kind
                .annotations
                .iter()
                .filter(mine)
                .filter(|it| it.required)
            {
                let same = pair
                    .kind
                    .annotations
                    .iter()
                    .filter(mine)
                    .filter(|it| it.alias == annotation.alias);
                if same.clone().all(|it| it.default.is_none()) {
                    let keys = same.map(|it| key_for(it, other)).collect();
                    known.required.push((keys, annotation.ty.clone()));
                }
            }
        }
        known
    }

    /// Reports keys in the provider's namespace without a reader.
    pub(crate) fn unread_annotation(
        &self,
        key: &Spanned<Name>,
        type_name: &TypeId,
        known: &KnownAnnotations,
    ) -> Option<Diagnostic> {
        let namespace = type_name.package_name();
        let in_namespace = key
            .item
            .strip_prefix(namespace)
            .is_some_and(|rest| rest.starts_with('.'));
        if !in_namespace || known.by_key.contains_key(&key.item) {
            return None;
        }
        let span: Span = key.span;
        Some(
            document::UNKNOWN_ANNOTATION
                .new(format!("the annotation `{}` has no effect", key.item))
                .label(
                    span,
                    "neither the type nor a link of this resource knows it",
                )
                .help_nearest(&key.item, known.by_key.keys().map(|key| key.as_ref())),
        )
    }
}
