//! A toy dialect: it shows what a dialect must implement, and uses every native rule.
//!
//! ````yaml
//! toy: 1
//! given:
//!   size: 3
//! objects:
//!   disk: {is: test/data, input: $size}
//!   note: {is: test/record, title: <title.txt}
//!   queue: {is: test/queue, fill: true}
//! shows:
//!   label: $disk.input
//! ````
//!
//! `$size` reads an input and `$disk.input` a field. `<title.txt` is the text of a file. `fill`
//! sets every required text field to its own name. The dialect requests the file and the schema
//! before it lowers the document.

use blueprint::{
    Accessor, AccessorKind, Blueprint, Export, Expr, ExprKind, Input, Kind, Name, Packages, Ref,
    ReferenceHead, Resource, Schema, Type, Value,
};
use diag::{Diagnostics, Span, Spanned};
use dialect::{
    Answer, Dialect, DialectRules, DialectSetting, Document, KeyForm, Lowered, Offer, Section,
    SectionKey, SettingKind, Shape, Wanted,
};
use expr::FunctionTable;
use syntax::{MapEntry, Node};

/// The toy dialect with configurable rules.
pub struct ToyDialect {
    /// The rules of the dialect.
    pub rules: DialectRules,
}

/// The dialect with the native rules.
pub static TOY: ToyDialect = ToyDialect {
    rules: DialectRules::NATIVE,
};

static SHAPE: Shape = Shape {
    sections: &[&DOCUMENT, &OBJECT],
};

static DOCUMENT: Section = Section {
    name: "document",
    keys: &[
        SectionKey::new("toy", KeyForm::Scalar, "The version of the language.").required(),
        SectionKey::new("given", KeyForm::Map, "Inputs with their defaults."),
        SectionKey::new("objects", KeyForm::Map, "Objects to manage.").definitions("object"),
        SectionKey::new("shows", KeyForm::Map, "Values that others may read."),
    ],
};

static OBJECT: Section = Section {
    name: "object",
    keys: &[
        SectionKey::new("is", KeyForm::Text, "The type.")
            .required()
            .offer(Offer::ResourceType),
        SectionKey::new(
            "fill",
            KeyForm::Scalar,
            "Gives required text fields their own names.",
        ),
    ],
};

impl Dialect for ToyDialect {
    fn name(&self) -> &'static str {
        "toy"
    }

    fn recognise(&self, document: &Document<'_>) -> u8 {
        if document
            .tree()
            .root
            .as_ref()
            .is_some_and(|root| root.get("toy").is_some())
        {
            100
        } else {
            0
        }
    }

    fn shape(&self) -> &'static Shape {
        &SHAPE
    }

    fn settings(&self) -> &'static [DialectSetting] {
        &[("shout", SettingKind::Switch)]
    }

    fn rules(&self) -> DialectRules {
        self.rules
    }

    fn required_data(&self, document: &Document<'_>) -> Vec<Wanted> {
        let mut wanted = Vec::new();
        for (_, object) in entries(document, "objects") {
            for (_, value) in named(object) {
                if let Some(path) = value.text().and_then(|text| text.strip_prefix('<')) {
                    wanted.extend([Wanted::File(path.into()), Wanted::Setting("shout".into())]);
                }
            }
            if let (Some(_), Some(ty)) = (object.get("fill"), object.get("is").and_then(Node::text))
            {
                wanted.push(Wanted::Schema(ty.into()));
            }
        }
        wanted
    }

    fn lower(&self, document: &Document<'_>, _: &FunctionTable, _: &Packages) -> Lowered {
        let mut lowering = ToyLowering {
            document,
            found: Diagnostics::new(),
        };
        let mut blueprint = Blueprint {
            dialect: "toy",
            version: "1".into(),
            ..Blueprint::default()
        };
        blueprint.span = document.tree().root.as_ref().map(|root| root.span.head());
        for (name, node) in entries(document, "given") {
            let default = literal(node);
            let ty = Type::of(&default);
            let default = Some(Spanned::new(default, node.span));
            blueprint.inputs.insert(
                name.item,
                Input {
                    ty,
                    default,
                    ..Input::optional_untyped(name.span)
                },
            );
        }
        for (name, node) in entries(document, "objects") {
            if let Some(resource) = lowering.object(name.span, node) {
                blueprint.resources.insert(name.item, resource);
            }
        }
        for (name, node) in entries(document, "shows") {
            let field = lowering.value(node);
            let export = Export {
                span: name.span,
                ty: Type::Any,
                field,
                may_fail: false,
                hidden: false,
                by_entry: false,
                description: None,
            };
            blueprint.exports.insert(name.item, export);
        }
        Lowered {
            blueprint,
            diagnostics: lowering.found,
        }
    }
}

/// The entries of a section with their names.
fn entries<'t>(
    document: &Document<'t>,
    section: &str,
) -> impl Iterator<Item = (Spanned<Name>, &'t Node)> {
    let section = document
        .tree()
        .root
        .as_ref()
        .and_then(|root| root.get(section));
    section.into_iter().flat_map(named)
}

pub(super) fn named(node: &Node) -> impl Iterator<Item = (Spanned<Name>, &Node)> {
    let name = |entry: &MapEntry| Some(Spanned::new(Name::from(entry.key.text()?), entry.key.span));
    node.as_map()
        .unwrap_or_default()
        .iter()
        .filter_map(move |entry| Some((name(entry)?, &entry.value)))
}

pub(super) fn literal(node: &Node) -> Value {
    let text = node.text().unwrap_or_default();
    let is_plain = node
        .as_scalar()
        .is_some_and(|scalar| !scalar.style.is_text());
    text.parse()
        .ok()
        .filter(|_| is_plain)
        .map_or_else(|| Value::text(text), Value::Int)
}

struct ToyLowering<'d> {
    document: &'d Document<'d>,
    found: Diagnostics,
}

impl ToyLowering<'_> {
    fn object(&mut self, span: Span, node: &Node) -> Option<Resource> {
        let ty = node.get("is")?;
        let type_name = Spanned::new(Name::from(ty.text()?), ty.span);
        let mut spec = Vec::new();
        for (key, value) in named(node).filter(|(key, _)| OBJECT.key(&key.item).is_none()) {
            spec.push((key, self.value(value)));
        }
        if let (Some(fill), Some(Answer::Schema(schema))) = (
            node.get("fill"),
            self.answer(&Wanted::Schema(type_name.item.clone())),
        ) {
            let written: Vec<Name> = spec.iter().map(|(key, _)| key.item.clone()).collect();
            for name in required_texts(schema).filter(|name| !written.contains(name)) {
                let value = Expr::literal(Value::Text(name.clone()), fill.span);
                spec.push((Spanned::new(name.clone(), fill.span), value));
            }
        }
        let type_name = Spanned::new(type_name.item.into(), type_name.span);
        Some(Resource::new(
            span,
            type_name,
            span,
            Expr::new(ExprKind::Map(spec), node.span),
        ))
    }

    fn answer(&self, wanted: &Wanted) -> Option<&Answer> {
        self.document.context.answers.get(wanted)
    }

    fn value(&mut self, node: &Node) -> Expr {
        let text = node.text().unwrap_or_default();
        if let Some(path) = text.strip_prefix('<') {
            return self.file(path, node.span);
        }
        match text.strip_prefix('$').map(|path| path.split_once('.')) {
            None => Expr::literal(literal(node), node.span),
            Some(None) => reference(ReferenceHead::Input(text[1..].into()), &[], node.span),
            Some(Some((object, field))) => reference(
                ReferenceHead::Resource {
                    name: object.into(),
                    bare: true,
                },
                &["spec", field],
                node.span,
            ),
        }
    }

    fn file(&mut self, path: &str, span: Span) -> Expr {
        let shouts = self.answer(&Wanted::Setting("shout".into()));
        let shouts = matches!(shouts, Some(Answer::Setting(Value::Bool(true))));
        match self.answer(&Wanted::File(path.into())) {
            Some(Answer::File(text)) => {
                let text = text.trim_end();
                Expr::literal(
                    Value::text(if shouts {
                        text.to_uppercase()
                    } else {
                        text.to_owned()
                    }),
                    span,
                )
            }
            Some(Answer::Missing(why)) => {
                let diagnostic =
                    expr::codes::SOURCE_UNREADABLE.new(format!("`{path}` cannot be read"));
                self.found.push(diagnostic.label(span, why.to_string()));
                Expr::error(span)
            }
            _ => Expr::error(span),
        }
    }
}

fn required_texts(schema: &Schema) -> impl Iterator<Item = &Name> {
    schema
        .fields
        .iter()
        .filter(|(_, field)| field.required && matches!(field.kind, Kind::String))
        .map(|(name, _)| name)
}

fn reference(head: ReferenceHead, path: &[&str], span: Span) -> Expr {
    let path = path
        .iter()
        .map(|name| Accessor {
            kind: AccessorKind::Name((*name).into()),
            span,
        })
        .collect();
    Expr::new(
        ExprKind::Ref(Box::new(Ref {
            head,
            head_span: span,
            path,
        })),
        span,
    )
}
