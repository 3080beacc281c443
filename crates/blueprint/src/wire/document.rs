//! The wire form of a [`Blueprint`], which transforms receive and return
//! (decisions/documents#transforms).
//!
//! It is one JSON object: `format`, `blueprint`, and `resources` as a list of pairs of name and
//! resource, in order. The list can express that two resources have the same name, which a map
//! cannot. The other keys are the fields of [`Blueprint`], in camel case. `at` is a place: three
//! numbers that only the engine interprets. A transform copies the place of the source element to
//! each element that it generates.
//!
//! Not here: the dialect of the document, which the engine knows.

use serde::{Deserialize, Serialize};

use crate::{Blueprint, IndexMap, Name, Resource};

/// A blueprint in the wire form.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WireDocument {
    /// The version of the form: [`VERSION`](super::VERSION).
    pub format: u32,
    /// Everything except the resources.
    pub blueprint: Blueprint,
    /// The resources, in order.
    pub resources: Vec<(Name, Resource)>,
}

/// The error for a text that is not in this form.
#[derive(Debug)]
pub struct WireDocumentError(
    /// The reason.
    pub String,
);

impl std::fmt::Display for WireDocumentError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for WireDocumentError {}

impl WireDocument {
    /// The wire form of a blueprint.
    pub fn of(mut blueprint: Blueprint) -> WireDocument {
        let resources = std::mem::take(&mut blueprint.resources)
            .into_iter()
            .collect();
        WireDocument {
            format: super::VERSION,
            blueprint,
            resources,
        }
    }

    /// The blueprint, and the positions and names of resources that are left out because an earlier
    /// resource has the same name.
    pub fn into_blueprint(self) -> (Blueprint, Vec<(usize, Name)>) {
        let WireDocument {
            mut blueprint,
            resources,
            ..
        } = self;
        let mut named = IndexMap::with_capacity_and_hasher(resources.len(), Default::default());
        let mut twice = Vec::new();
        for (at, (name, resource)) in resources.into_iter().enumerate() {
            match named.entry(name) {
                indexmap::map::Entry::Occupied(taken) => twice.push((at, taken.key().clone())),
                indexmap::map::Entry::Vacant(place) => drop(place.insert(resource)),
            }
        }
        blueprint.resources = named;
        (blueprint, twice)
    }

    /// The form as JSON text. Fails if a part cannot be written, such as a function value.
    pub fn to_json(&self) -> Result<String, WireDocumentError> {
        serde_json::to_string(self).map_err(|error| WireDocumentError(error.to_string()))
    }

    /// Reads the form. Fails if the text is not in this form, has another version, or is nested too
    /// deeply.
    pub fn from_json(text: &str) -> Result<WireDocument, WireDocumentError> {
        let document: WireDocument =
            serde_json::from_str(text).map_err(|error| WireDocumentError(error.to_string()))?;
        if document.format != super::VERSION {
            return Err(WireDocumentError(format!(
                "format {} is not known",
                document.format
            )));
        }
        Ok(document)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Accessor, AccessorKind, Expr, ExprKind, Ref, ReferenceHead, TextPart, Type, Value,
    };
    use diag::{FileId, Span, Spanned};

    fn at(start: u32) -> Span {
        Span::new(FileId::new(0), start, start + 3)
    }

    fn document() -> WireDocument {
        let reference = Ref {
            head: ReferenceHead::Resource {
                name: "other".into(),
                bare: true,
            },
            head_span: at(40),
            path: vec![
                Accessor {
                    kind: AccessorKind::Name("spec".into()),
                    span: at(46),
                },
                Accessor {
                    kind: AccessorKind::Index(2),
                    span: at(50),
                },
            ],
        };
        let parts = vec![
            TextPart::Text("a-".into()),
            TextPart::Expr(
                Expr::new(ExprKind::Ref(Box::new(reference)), at(40)),
                at(38),
            ),
        ];
        let entries = vec![
            (
                Spanned::new("name".into(), at(30)),
                Expr::new(ExprKind::Text(parts), at(36)),
            ),
            (
                Spanned::new("$secret".into(), at(60)),
                Expr::literal(Value::Null, at(70)),
            ),
        ];
        let resource = Resource {
            span: at(1),
            type_name: Spanned::new("made/thing".into(), at(10)),
            spec: Expr::new(ExprKind::Map(entries), at(30)),
            spec_key: at(20),
            each: None,
            condition: Some(Expr::literal(Value::Bool(true), at(5)).into()),
            external: Some(Expr::literal(Value::from("id"), at(6)).into()),
            depends_on: vec![Spanned::new("x".into(), at(7))],
            provider: None,
            readiness: Some(Box::new(crate::ReadinessRule {
                function: "is_ready".into(),
                rule: Value::text("later"),
            })),
            parent: Some(Box::new(Spanned::new("y".into(), at(8)))),
            logical_name: Some("thing".into()),
            protection: Some(Expr::literal(Value::Bool(true), at(12)).into()),
            ties: Some(Box::new(crate::Ties {
                deleted_with: Some(Spanned::new("y".into(), at(9))),
                former: vec![crate::FormerIdentity {
                    parent: crate::FormerParent::Resource(Spanned::new("z".into(), at(11))),
                    ..Default::default()
                }],
                ..Default::default()
            })),
            link_selector: None,
            metadata: Default::default(),
            lifecycle: crate::Lifecycle {
                retain: true,
                ..Default::default()
            },
            description: None,
            made_from: None,
            removal: None,
            update_policy: None,
            switched_off: None,
            computed: None,
            stands_for: Default::default(),
        };
        let mut blueprint = Blueprint {
            version: "2023-04-20".into(),
            ..Blueprint::default()
        };
        let list = Type::list(Type::Text);
        blueprint.exports.insert(
            "e".into(),
            crate::Export {
                span: at(80),
                ty: list,
                field: Expr::error(at(90)),
                may_fail: false,
                hidden: false,
                by_entry: false,
                description: None,
            },
        );
        blueprint.resources.insert("r".into(), resource);
        WireDocument::of(blueprint)
    }

    #[test]
    fn a_blueprint_reads_back_as_it_was() {
        let text = document().to_json().unwrap();
        let read = WireDocument::from_json(&text).unwrap();
        assert_eq!(read.to_json().unwrap(), text);
        let (name, resource) = &read.resources[0];
        assert_eq!(
            (name.as_ref(), resource.span, resource.lifecycle.retain),
            ("r", at(1), true)
        );
        assert_eq!(resource.spec, document().resources[0].1.spec);
    }

    #[test]
    fn other_versions_are_refused() {
        let text = document()
            .to_json()
            .unwrap()
            .replacen("\"format\":1", "\"format\":2", 1);
        assert!(WireDocument::from_json(&text).is_err());
        assert!(WireDocument::from_json("{}").is_err());
    }

    #[test]
    fn duplicate_resource_name_is_reported() {
        let mut document = document();
        let again = document.resources[0].clone();
        document.resources.push(again);
        let (blueprint, twice) = document.into_blueprint();
        assert_eq!(
            (blueprint.resources.len(), twice),
            (1, vec![(1, "r".into())])
        );
    }
}
