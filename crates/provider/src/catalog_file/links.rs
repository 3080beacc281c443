//! Link kinds (decisions/links#kinds-are-data): data whose texts hold expressions with the heads
//! `a`, `b`, `note`, `part` and `use`.

use std::sync::Arc;

use blueprint::{
    AccessorKind, Expr, ExprKind, IndexMap, Name, Names, Ref, ReferenceHead, Schema, TypeId, Value,
};
use diag::{Diagnostics, Span, Spanned, TextMap};

use super::fields;
use super::reader::{CatalogError, JsonObject, JsonPlace};
use super::types::{annotation, in_namespace, is_missing, schema_of};
use crate::{
    Annotation, Catalog, LinkEffect, LinkEnd, LinkKind, LinkPart, LinkUse, Side, WriteMode,
};

/// The heads that an expression of a link kind may begin with.
const HEADS: &[&str] = &["a", "b", "note", "part", "use"];

/// Reads all link kinds into the catalogue, whose types have been read before.
pub(super) fn link_kinds(
    object: &JsonObject<'_>,
    catalog: &mut Catalog,
) -> Result<(), CatalogError> {
    let all = object.place.key("linkKinds");
    let mut kinds: IndexMap<(Name, Name), Arc<LinkKind>> = IndexMap::default();
    for (at, item) in object.items("linkKinds")?.iter().enumerate() {
        let place = all.index(at);
        let kind = link_kind(item, &place, catalog)?;
        check_part_cycle(&kind, &place)?;
        check_effect_cycle(&kind, catalog, &place)?;
        let pair = (kind.a.clone(), kind.b.clone());
        if kinds.contains_key(&pair) {
            return Err(place.error(format!(
                "there is a link kind from `{}` to `{}` already",
                pair.0, pair.1
            )));
        }
        kinds.insert(pair, Arc::new(kind));
    }
    catalog.link_kinds = kinds.into_values().collect();
    Ok(())
}

fn link_kind(
    item: &Value,
    place: &JsonPlace<'_>,
    catalog: &Catalog,
) -> Result<LinkKind, CatalogError> {
    let object = JsonObject::new(
        item,
        place,
        &[
            "a",
            "b",
            "order",
            "perA",
            "perB",
            "gives",
            "needs",
            "annotations",
            "require",
            "use",
            "parts",
            "effects",
            "data",
            "about",
            "docs",
            "handler",
        ],
    )?;
    // A handler would run the phases in the provider's own code. The contract has no such call.
    if object.has("handler") {
        return Err(object.error(
            "handler",
            "no provider carries links out by itself; write `parts` and `effects`",
        ));
    }
    let a = type_at(&object, "a", catalog)?;
    let b = type_at(&object, "b", catalog)?;
    if in_namespace(&a, catalog, place).is_err() && in_namespace(&b, catalog, place).is_err() {
        return Err(place.error("neither end lies in the namespace of the catalogue"));
    }
    let first = match object.text("order")?.as_deref() {
        None | Some("none") => None,
        Some("a-first") => Some(Side::A),
        Some("b-first") => Some(Side::B),
        Some(other) => {
            return Err(object.error(
                "order",
                format!("`{other}` is none of a-first, b-first, none"),
            ));
        }
    };
    let annotations = link_annotations(&object)?;
    let uses = uses(&object, &a, &b, catalog)?;
    let part_names: Vec<Name> = object
        .entries("parts")?
        .map(|(name, _)| name.clone())
        .collect();
    let texts = Texts {
        annotations: &annotations,
        uses: &uses,
        parts: &part_names,
    };

    let mut require = Vec::new();
    let place_of = object.place.key("require");
    for (at, item) in object.items("require")?.iter().enumerate() {
        let place = place_of.index(at);
        let object = JsonObject::new(item, &place, &["that", "say"])?;
        require.push((texts.at(&object, "that")?, texts.at(&object, "say")?));
    }

    let mut parts = IndexMap::default();
    let place_of = object.place.key("parts");
    for (name, item) in object.entries("parts")? {
        let place = place_of.key(name);
        // Parts and phases have addresses of the same form: `a::b/NAME`.
        if matches!(name.as_ref(), "a" | "b") || texts.uses.contains_key(name) {
            return Err(
                place.error("a part may not be called `a` or `b`, or like a neighbour in `use`")
            );
        }
        let object = JsonObject::new(item, &place, &["type", "spec", "if"])?;
        let type_name = type_at(&object, "type", catalog)?;
        let spec = texts.at(&object, "spec")?;
        if let (Some(schema), Value::Map(written)) =
            (schema_of(&type_name, catalog), object.need("spec")?)
        {
            let place = object.place.key("spec");
            for field in written.keys() {
                fields::need_field(schema, field, &place.key(field))?;
            }
        }
        let condition = object
            .get("if")
            .map(|_| texts.at(&object, "if"))
            .transpose()?;
        parts.insert(
            name.clone(),
            LinkPart {
                type_name: catalog.type_id(&type_name),
                spec,
                condition,
            },
        );
    }

    let mut effects = Vec::new();
    let place_of = object.place.key("effects");
    for (at, item) in object.items("effects")?.iter().enumerate() {
        effects.push(effect(item, &place_of.index(at), &texts, &a, &b, catalog)?);
    }

    let data = object
        .get("data")
        .map(|_| texts.at(&object, "data"))
        .transpose()?;
    let per_a = limits(&object, "perA")?;
    let per_b = limits(&object, "perB")?;
    let gives = guarantees(&object, "gives", &["side", "name"])?
        .into_iter()
        .map(|(side, name, _)| (side, name))
        .collect();
    let needs = guarantees(&object, "needs", &["side", "name", "must"])?;
    Ok(LinkKind {
        a,
        b,
        first,
        per_a,
        per_b,
        guarantees: gives,
        needs,
        annotations,
        conditions: require,
        uses,
        parts,
        effects,
        data,
    })
}

/// Reads the name of a resource type. A type of this catalogue must exist; one of another cannot be
/// checked here.
fn type_at(object: &JsonObject<'_>, key: &str, catalog: &Catalog) -> Result<Name, CatalogError> {
    let name = object.need_text(key)?;
    let id = TypeId::from(&name);
    if id.package_name() == id.token() || is_missing(&name, catalog) {
        return Err(object.error(key, format!("there is no resource type `{name}`")));
    }
    Ok(name)
}

fn side_at(object: &JsonObject<'_>, key: &str) -> Result<LinkEnd, CatalogError> {
    match object.need_text(key)?.as_ref() {
        "a" => Ok(Side::A),
        "b" => Ok(Side::B),
        other => Err(object.error(key, format!("`{other}` is neither a nor b"))),
    }
}

fn limits(object: &JsonObject<'_>, key: &str) -> Result<(u32, Option<u32>), CatalogError> {
    let Some(value) = object.get(key) else {
        return Ok((0, None));
    };
    let place = object.place.key(key);
    let object = JsonObject::new(value, &place, &["min", "max"])?;
    let least = object.small_count("min")?.unwrap_or(0);
    let most = object.small_count("max")?;
    if most.is_some_and(|most| most < least) {
        return Err(object.error("max", "is less than the minimum"));
    }
    Ok((least, most))
}

fn guarantees(
    object: &JsonObject<'_>,
    key: &str,
    keys: &[&str],
) -> Result<Vec<(LinkEnd, Name, bool)>, CatalogError> {
    let place = object.place.key(key);
    let mut list = Vec::new();
    for (at, item) in object.items(key)?.iter().enumerate() {
        let place = place.index(at);
        let object = JsonObject::new(item, &place, keys)?;
        list.push((
            side_at(&object, "side")?,
            object.need_text("name")?,
            object.flag("must")?,
        ));
    }
    Ok(list)
}

fn link_annotations(object: &JsonObject<'_>) -> Result<Vec<Annotation>, CatalogError> {
    let place = object.place.key("annotations");
    let mut annotations: Vec<Annotation> = Vec::new();
    for (at, item) in object.items("annotations")?.iter().enumerate() {
        let place = place.index(at);
        let object = JsonObject::new(
            item,
            &place,
            &[
                "as", "side", "key", "type", "required", "default", "allowed", "docs", "about",
            ],
        )?;
        side_at(&object, "side")?;
        let annotation = Annotation {
            alias: object.need_text("as")?,
            side: object.need_text("side")?,
            ..annotation(&object)?
        };
        // A general key and a key with the other end's name may share a name. The latter takes
        // precedence (decisions/links#annotations).
        let twice = annotations
            .iter()
            .filter(|other| other.alias == annotation.alias);
        let general = |key: &str| !key.contains('<');
        if twice.clone().any(|other| {
            other.side != annotation.side
                || other.ty != annotation.ty
                || general(&other.key) == general(&annotation.key)
        }) {
            return Err(object.error("as", format!("`{}` is listed twice", annotation.alias)));
        }
        // A placeholder stands for the other end's name.
        let other = if annotation.side.as_ref() == "a" {
            "<b>"
        } else {
            "<a>"
        };
        let marks = annotation.key.matches(['<', '>']).count();
        if marks > 2 || (marks > 0 && annotation.key.matches(other).count() != 1) {
            return Err(object.error("key", format!("may hold one placeholder, `{other}`")));
        }
        annotations.push(annotation);
    }
    Ok(annotations)
}

fn uses(
    object: &JsonObject<'_>,
    a: &Name,
    b: &Name,
    catalog: &Catalog,
) -> Result<IndexMap<Name, LinkUse>, CatalogError> {
    let place = object.place.key("use");
    let mut uses = IndexMap::default();
    for (name, item) in object.entries("use")? {
        let place = place.key(name);
        let object = JsonObject::new(item, &place, &["of", "field", "type"])?;
        let of = side_at(&object, "of")?;
        let field = object.need_text("field")?;
        if let Some(schema) = schema_of(if of == Side::A { a } else { b }, catalog) {
            fields::need_field(schema, &field, &object.place.key("field"))?;
        }
        if matches!(name.as_ref(), "a" | "b") {
            return Err(place.error("a neighbour may not be called `a` or `b`"));
        }
        uses.insert(
            name.clone(),
            LinkUse {
                of,
                field,
                type_name: type_at(&object, "type", catalog)?,
            },
        );
    }
    Ok(uses)
}

fn effect(
    item: &Value,
    place: &JsonPlace<'_>,
    texts: &Texts<'_>,
    a: &Name,
    b: &Name,
    catalog: &Catalog,
) -> Result<LinkEffect, CatalogError> {
    let object = JsonObject::new(
        item,
        place,
        &["into", "set", "put", "add", "key", "by", "value", "when"],
    )?;
    let into = object.need_text("into")?;
    let target = match into.as_ref() {
        "a" => a,
        "b" => b,
        other => match other
            .strip_prefix("use.")
            .and_then(|name| texts.uses.get(name))
        {
            Some(used) => &used.type_name,
            None => {
                return Err(object.error(
                    "into",
                    format!("`{other}` is neither a, b nor one of `use`"),
                ));
            }
        },
    };
    let verbs: Vec<&str> = ["set", "put", "add"]
        .into_iter()
        .filter(|verb| object.has(verb))
        .collect();
    let [verb] = verbs.as_slice() else {
        return Err(place.error("needs exactly one of `set`, `put`, `add`"));
    };
    let path = object.need_text(verb)?;
    for (key, of) in [("key", "put"), ("by", "add")] {
        if object.has(key) && *verb != of {
            return Err(object.error(key, format!("is only allowed together with `{of}`")));
        }
    }
    let field = match schema_of(target, catalog) {
        Some(schema) => Some(fields::need_field(schema, &path, &object.place.key(verb))?),
        None => None,
    };
    if field.is_some_and(|field| !field.is_settable()) {
        return Err(object.error(verb, format!("`{path}` is filled in by the provider")));
    }
    let opinion = match *verb {
        "set" => WriteMode::Set(path),
        "put" => WriteMode::Put(path, texts.at(&object, "key")?),
        _ => WriteMode::Add(path, object.text("by")?),
    };
    let after = match object.text("when")?.as_deref() {
        None | Some("with") => false,
        Some("after") => true,
        Some(other) => {
            return Err(object.error("when", format!("`{other}` is neither with nor after")));
        }
    };
    Ok(LinkEffect {
        target: into,
        mode: opinion,
        value: texts.at(&object, "value")?,
        is_own_step: after,
    })
}

/// The names that the texts of one link kind may use.
struct Texts<'a> {
    annotations: &'a [Annotation],
    uses: &'a IndexMap<Name, LinkUse>,
    parts: &'a [Name],
}

impl Texts<'_> {
    /// Reads the expression under a required key. Its texts may hold `${..}`.
    fn at(&self, object: &JsonObject<'_>, key: &str) -> Result<Expr, CatalogError> {
        self.expression(object.need(key)?, &object.place.key(key))
    }

    fn expression(&self, value: &Value, place: &JsonPlace<'_>) -> Result<Expr, CatalogError> {
        let kind = match value {
            Value::Text(text) => {
                let expr = self.text(text).map_err(|message| place.error(message))?;
                return self.check(&expr, place).map(|()| expr);
            }
            Value::List(items) => {
                let items: Result<Vec<Expr>, CatalogError> = items
                    .iter()
                    .enumerate()
                    .map(|(at, item)| self.expression(item, &place.index(at)))
                    .collect();
                ExprKind::List(items?)
            }
            Value::Map(entries) => {
                let entries: Result<Vec<(Spanned<Name>, Expr)>, CatalogError> = entries
                    .iter()
                    .map(|(key, item)| {
                        Ok((
                            Spanned {
                                item: key.clone(),
                                span: Span::NONE,
                            },
                            self.expression(item, &place.key(key))?,
                        ))
                    })
                    .collect();
                ExprKind::Map(entries?)
            }
            other => ExprKind::Literal(other.clone()),
        };
        Ok(Expr::new(kind, Span::NONE))
    }

    /// Parses a text with expressions. The first mistake is the error.
    fn text(&self, text: &str) -> Result<Expr, String> {
        let map = TextMap::identity(Span::NONE.file, 0, text.len() as u32);
        let mut found = Diagnostics::new();
        let expr = expr::parse_text_scoped(
            text,
            &map,
            Span::NONE,
            expr::core_functions(),
            HEADS,
            &mut Names::default(),
            &mut found,
        );
        match found.iter().find(|diagnostic| diagnostic.is_error()) {
            Some(diagnostic) => Err(format!("`{text}`: {}", diagnostic.message)),
            None => Ok(expr),
        }
    }

    /// Checks that each reference has a known head and names a declared item.
    fn check(&self, expr: &Expr, place: &JsonPlace<'_>) -> Result<(), CatalogError> {
        let mut wrong = None;
        expr.references(&mut |reference| {
            let ReferenceHead::Scoped(head) = &reference.head else {
                wrong.get_or_insert_with(|| {
                    format!(
                        "an expression of a link kind begins with one of {}",
                        HEADS.join(", ")
                    )
                });
                return;
            };
            let member = reference.path.first().and_then(name_of);
            let known = match head.as_ref() {
                "note" => member
                    .is_some_and(|name| self.annotations.iter().any(|note| note.alias == *name)),
                "part" => member.is_some_and(|name| self.parts.contains(name)),
                "use" => member.is_some_and(|name| self.uses.contains_key(name)),
                _ => {
                    member.is_some_and(|name| matches!(name.as_ref(), "name" | "spec" | "metadata"))
                }
            };
            if !known {
                let member = member.map_or(String::new(), |name| format!(".{name}"));
                wrong.get_or_insert_with(|| {
                    format!("`{head}{member}` is not known to this link kind")
                });
            }
        });
        wrong.map_or(Ok(()), |message| Err(place.error(message)))
    }
}

fn name_of(accessor: &blueprint::Accessor) -> Option<&Name> {
    match &accessor.kind {
        AccessorKind::Name(name) => Some(name),
        AccessorKind::Index(_) => None,
    }
}

/// Checks for effects without `when: after` that cannot be planned: both sides wait for computed
/// fields of each other, or a side waits for its own.
fn check_effect_cycle(
    kind: &LinkKind,
    catalog: &Catalog,
    place: &JsonPlace<'_>,
) -> Result<(), CatalogError> {
    let waits = |into: &str, head: &str, other: &Name| {
        let Some(schema) = schema_of(other, catalog) else {
            return false;
        };
        kind.effects
            .iter()
            .filter(|effect| effect.target.as_ref() == into && !effect.is_own_step)
            .any(|effect| {
                let key = match &effect.mode {
                    WriteMode::Put(_, key) => Some(key),
                    WriteMode::Set(_) | WriteMode::Add(..) => None,
                };
                key.into_iter()
                    .chain([&effect.value])
                    .any(|expr| reads_computed(expr, head, schema))
            })
    };
    if waits("a", "b", &kind.b) && waits("b", "a", &kind.a) {
        return Err(place
            .error("the effects on both sides read each other's computed fields; one of them must be `when: after`"));
    }
    for (side, own) in [("a", &kind.a), ("b", &kind.b)] {
        if waits(side, side, own) {
            return Err(place.error(format!(
                "an effect on {side} reads a computed field of {side} itself; it must be `when: after`"
            )));
        }
        let Some(schema) = schema_of(own, catalog) else {
            continue;
        };
        let with = kind
            .effects
            .iter()
            .filter(|effect| effect.target.as_ref() == side && !effect.is_own_step);
        let read = with.flat_map(|effect| parts_read(kind, &effect.value));
        if read
            .flat_map(part_texts)
            .any(|expr| reads_computed(expr, side, schema))
        {
            return Err(place.error(format!(
                "an effect on {side} reads a part that reads a computed field of {side}; it must be `when: after`"
            )));
        }
    }
    Ok(())
}

/// Checks for parts that read each other, so that none can be created first.
fn check_part_cycle(kind: &LinkKind, place: &JsonPlace<'_>) -> Result<(), CatalogError> {
    for (name, part) in &kind.parts {
        let itself = |other: &LinkPart| std::ptr::eq(other, part);
        if part_texts(part).any(|expr| parts_read(kind, expr).into_iter().any(itself)) {
            return Err(place.error(format!("the part `{name}` needs itself")));
        }
    }
    Ok(())
}

/// The parts that an expression reads, directly or indirectly.
fn parts_read<'k>(kind: &'k LinkKind, expr: &'k Expr) -> Vec<&'k LinkPart> {
    let mut found: IndexMap<Name, &LinkPart> = IndexMap::default();
    let mut stack = vec![expr];
    while let Some(expr) = stack.pop() {
        expr.references(&mut |reference: &Ref| {
            if matches!(&reference.head, ReferenceHead::Scoped(head) if head.as_ref() == "part")
                && let Some(name) = reference.path.first().and_then(name_of)
                && let Some(part) = kind.parts.get(name)
                && found.insert(name.clone(), part).is_none()
            {
                stack.extend(part_texts(part));
            }
        });
    }
    found.into_values().collect()
}

/// The expressions of a part.
fn part_texts(part: &LinkPart) -> impl Iterator<Item = &Expr> {
    [&part.spec].into_iter().chain(&part.condition)
}

fn reads_computed(expr: &Expr, head: &str, schema: &Schema) -> bool {
    let mut reads = false;
    expr.references(&mut |reference: &Ref| {
        reads |= matches!(&reference.head, ReferenceHead::Scoped(name) if name.as_ref() == head)
            && match reference.path.as_slice() {
                [spec, field, ..] if name_of(spec).is_some_and(|name| name.as_ref() == "spec") => {
                    name_of(field)
                        .and_then(|name| schema.fields.get(name))
                        .is_some_and(|field| field.computed)
                }
                _ => false,
            };
    });
    reads
}
