//! The sections `variables` and `values`: declared types, and literals against them
//! (decisions/blueprint#text-of-typed-values, decisions/blueprint#defaults-and-allowed-values,
//! decisions/blueprint#declared-types-must-match).

use blueprint::{Expr, IndexMap, Input, Local, Name, Type, TypeId, Value};
use diag::{Span, Spanned};
use syntax::{Content, Node};

use super::lowering::{Lowering, SectionFields, article, listed, value_span};
use super::names::is_type_name;
use super::scalar::{Typed, has_substitution, typed};
use super::shape::{self, VALUE_TYPES};
use dialect::codes::{
    ALLOWED_VALUES_ON_BOOLEAN, UNKNOWN_TYPE, UNPARSABLE_VALUE, VALUE_NOT_ALLOWED,
};
use dialect::{ForeignWords, WordPlace};

/// The types of variables, except those of providers.
const PRIMITIVES: &[&str] = &["string", "integer", "float", "boolean"];

fn type_of(word: &str) -> Type {
    match word {
        "string" => Type::Text,
        "integer" => Type::Int,
        "float" => Type::Float,
        "boolean" => Type::Bool,
        "array" => Type::list(Type::Any),
        "object" => Type::map(Type::Any),
        _ => Type::Error,
    }
}

/// The type that a name from another language stands for.
fn suggested_type(word: &str) -> Option<&'static str> {
    let lower = word.to_ascii_lowercase();
    let row = ForeignWords::BLUEPRINT.find(WordPlace::Type, &lower)?;
    Some(row.ours)
}

impl Lowering<'_> {
    pub(super) fn variables(&mut self, node: &Node) -> IndexMap<Name, Input> {
        let definitions = self.definitions(node, &shape::VARIABLE);
        let mut inputs = IndexMap::with_capacity_and_hasher(definitions.len(), Default::default());
        for (entry, map) in definitions {
            let (name, span) = (entry.key.text().unwrap_or(""), entry.key.span);
            self.name(name, span, "a variable");
            let fields = self.fields(&shape::VARIABLE, map, span);
            let input = self.variable(&fields, span);
            inputs.insert(Name::from(name), input);
        }
        inputs
    }

    fn variable(&mut self, fields: &SectionFields<'_>, span: Span) -> Input {
        let (ty, custom_type) = self.variable_type(fields, span);
        let labels = custom_type.is_some();
        // A value of a custom type is given by its label, and labels are text.
        let written = if labels { &Type::Text } else { &ty };
        let mut allowed = Vec::new();
        // If an entry is in error, the default cannot be checked.
        let mut complete = true;
        if let Some(entry) = fields.entry("allowedValues") {
            if ty == Type::Bool {
                self.found.push(
                    ALLOWED_VALUES_ON_BOOLEAN
                        .new("a boolean takes no list of allowed values")
                        .label(entry.key.span, "a boolean is `true` or `false` anyway")
                        .help("remove `allowedValues`"),
                );
            } else {
                for item in entry.value.as_list().unwrap_or(&[]) {
                    match self.typed_literal(item, written, "an allowed value") {
                        Some(value) => allowed.push(Spanned::new(value, item.span)),
                        None => complete = false,
                    }
                }
            }
        }
        let default = fields.get("default").and_then(|node| {
            let value = self.typed_literal(node, written, "`default`")?;
            let known = labels
                || !complete
                || allowed.is_empty()
                || allowed.iter().any(|option| option.item == value);
            if !known {
                // The message does not show the values, because they may be secret.
                let mut not_allowed = VALUE_NOT_ALLOWED
                    .new("`default` is not among the allowed values")
                    .label(value_span(node), "not allowed");
                if let Some(entry) = fields.entry("allowedValues") {
                    not_allowed = not_allowed.label(entry.key.span, "the values allowed");
                }
                self.found
                    .push(not_allowed.help("use one of `allowedValues`, or add it there"));
                return None;
            }
            Some(Spanned::new(value, node.span))
        });
        let secret = self.secret(fields);
        let description = fields
            .get("description")
            .and_then(|node| self.fixed_text(node, "description"))
            .map(Name::from);
        Input {
            span,
            ty,
            custom_type,
            default,
            allowed,
            secret,
            rules: Value::Null,
            description,
        }
    }

    fn variable_type(
        &mut self,
        fields: &SectionFields<'_>,
        span: Span,
    ) -> (Type, Option<Spanned<TypeId>>) {
        let Some(node) = fields.get("type") else {
            return (Type::Error, None);
        };
        let Some(text) = self.fixed_text(node, "type") else {
            return (Type::Error, None);
        };
        if text.is_empty() {
            self.report_missing_key(shape::VARIABLE.name, "type", span);
            return (Type::Error, None);
        }
        if self.is_hosted_type(text) {
            return (
                Type::Any,
                Some(Spanned::new(self.packages.resolve(text), node.span)),
            );
        }
        if is_type_name(text) {
            if text.split('/').count() == 3 {
                self.report_newer_feature(value_span(node), "a variable type with three segments");
            }
            return (Type::Any, Some(Spanned::new(text.into(), node.span)));
        }
        (self.known_type(text, node, PRIMITIVES, "variables"), None)
    }

    /// The type with a name, if it is in `known`. Other names are reported.
    fn known_type(&mut self, text: &str, node: &Node, known: &[&str], of: &str) -> Type {
        if known.contains(&text) {
            return type_of(text);
        }
        let unknown = UNKNOWN_TYPE.new(format!("unknown type `{text}`")).label(
            value_span(node),
            format!("{of} are {}", listed(known).replace(" and ", " or ")),
        );
        if matches!(suggested_type(text).unwrap_or(text), "array" | "object")
            && !known.contains(&"array")
        {
            self.found.push(
                unknown
                    .fix("write `string`", vec![(node.span, "string".to_owned())], false)
                    .help("a variable is one value: give lists and maps as JSON text, and read them with `jsondecode(variables.NAME)`"),
            );
            return Type::Text;
        }
        let near = suggested_type(text)
            .filter(|word| known.contains(word))
            .or_else(|| diag::nearest(text, known.iter().copied()));
        self.found.push(match near {
            Some(near) => unknown.help(format!("did you mean `{near}`?")).fix(
                format!("write `{near}`"),
                vec![(node.span, near.to_owned())],
                false,
            ),
            None => unknown,
        });
        Type::Error
    }

    /// The declared type of a value or export.
    pub(super) fn declared_type(
        &mut self,
        fields: &SectionFields<'_>,
        section: &str,
        known: &[&str],
        span: Span,
    ) -> Spanned<Type> {
        let Some(node) = fields.get("type") else {
            return Spanned::new(Type::Error, span);
        };
        let ty = match self.fixed_text(node, "type") {
            Some("") => {
                self.report_missing_key(section, "type", span);
                Type::Error
            }
            Some(text) => self.known_type(text, node, known, &format!("{section}s")),
            None => Type::Error,
        };
        Spanned::new(ty, node.span)
    }

    fn secret(&mut self, fields: &SectionFields<'_>) -> bool {
        let Some(node) = fields.get("secret") else {
            return false;
        };
        matches!(
            self.typed_literal(node, &Type::Bool, "`secret`"),
            Some(Value::Bool(true))
        )
    }

    /// The value of a literal of a declared scalar type. Reports other values and returns `None`.
    pub(super) fn typed_literal(&mut self, node: &Node, ty: &Type, what: &str) -> Option<Value> {
        let wanted = format!("{} {ty}", article(&ty.to_string()));
        let scalar = match &node.content {
            Content::Missing => return None,
            Content::Scalar(scalar) => scalar,
            Content::Map(_) | Content::List(_) if *ty == Type::Error => return None,
            Content::Map(_) | Content::List(_) => {
                let found = if node.as_map().is_some() {
                    "an object"
                } else {
                    "an array"
                };
                let mismatch = self.mismatch(node, what, &wanted, found);
                self.found
                    .push(mismatch.help("give it as text and decode it with `jsondecode`"));
                return None;
            }
        };
        if self.has_substitution(node, scalar, what.trim_matches('`')) {
            return None;
        }
        let kind = typed(node, scalar);
        match (ty, kind) {
            (Type::Text, Typed::Text)
            | (Type::Int, Typed::Int(_))
            | (Type::Float, Typed::Float(_))
            | (Type::Bool, Typed::Bool(_))
            | (_, Typed::OutOfRange)
            | (Type::Any, _) => self.literal(node, scalar, kind),
            (Type::Float, Typed::Int(_)) => match self.literal(node, scalar, kind) {
                Some(Value::Int(value)) => Some(Value::Float(value as f64)),
                other => other,
            },
            (Type::Error, _) => None,
            _ => {
                let mismatch = self.mismatch(node, what, &wanted, kind.words());
                self.found.push(match (ty, kind) {
                    (Type::Text, Typed::Int(_) | Typed::Float(_) | Typed::Bool(_)) => mismatch.fix(
                        "quote it",
                        vec![(node.span, format!("\"{}\"", scalar.text))],
                        false,
                    ),
                    (_, Typed::Text) if expr::parse_as(&scalar.text, ty).is_some() => mismatch.fix(
                        "remove the quotes",
                        vec![(node.span, scalar.text.trim().to_owned())],
                        false,
                    ),
                    _ => mismatch,
                });
                None
            }
        }
    }

    pub(super) fn values(&mut self, node: &Node) -> IndexMap<Name, Local> {
        let definitions = self.definitions(node, &shape::VALUE);
        let mut locals = IndexMap::with_capacity_and_hasher(definitions.len(), Default::default());
        for (entry, map) in definitions {
            let (name, span) = (entry.key.text().unwrap_or(""), entry.key.span);
            self.name(name, span, "a value");
            let fields = self.fields(&shape::VALUE, map, span);
            let ty = self.declared_type(&fields, "value", VALUE_TYPES, span).item;
            let value = match fields.get("value") {
                Some(node) => self.value(node, &ty),
                None => Expr::error(span),
            };
            let secret = self.secret(&fields);
            let description = fields
                .get("description")
                .map(|node| self.substituted_text(node, "description"));
            locals.insert(
                Name::from(name),
                Local {
                    span,
                    ty,
                    value,
                    secret,
                    description,
                },
            );
        }
        locals
    }

    /// The expression of a value: a text is parsed as the declared type; other literals need the
    /// later version.
    fn value(&mut self, node: &Node, ty: &Type) -> Expr {
        if let Some(scalar) = node.as_scalar()
            && typed(node, scalar) == Typed::Text
        {
            let expr = self.text_expr(node, scalar);
            return if has_substitution(&scalar.text) {
                expr
            } else {
                self.parsed(node, &scalar.text, ty, expr)
            };
        }
        if node.is_missing() {
            return Expr::error(node.span);
        }
        self.report_newer_feature(value_span(node), "a value that is not text");
        let found = match &node.content {
            Content::List(_) => "an array",
            Content::Map(_) => "an object",
            Content::Scalar(scalar) => {
                let found = typed(node, scalar).words();
                if !matches!(ty, Type::List(_) | Type::Map(_)) {
                    return match self.typed_literal(node, ty, "`value`") {
                        Some(value) => Expr::literal(value, node.span),
                        None => Expr::error(node.span),
                    };
                }
                found
            }
            Content::Missing => return Expr::error(node.span),
        };
        let fits = match ty {
            Type::Error => true,
            Type::List(_) => node.as_list().is_some(),
            Type::Map(_) => node.as_map().is_some(),
            _ => false,
        };
        let content = self.content(node);
        if fits {
            return content;
        }
        let wanted = declared_words(ty);
        let mismatch = self.mismatch(node, "`value`", &wanted, found);
        self.found.push(mismatch);
        Expr::error(node.span)
    }

    fn parsed(&mut self, node: &Node, text: &str, ty: &Type, literal: Expr) -> Expr {
        match ty {
            Type::Text => literal,
            Type::Int | Type::Float | Type::Bool => match expr::parse_as(text, ty) {
                Some(value) => Expr::literal(value, node.span),
                None => {
                    self.found.push(
                        UNPARSABLE_VALUE
                            .new(format!("the text is not {} {ty}", article(&ty.to_string())))
                            .label(value_span(node), format!("declared as {ty}"))
                            .help("change the text or the declared type"),
                    );
                    Expr::error(node.span)
                }
            },
            Type::List(_) | Type::Map(_) => {
                let wanted = declared_words(ty);
                let mismatch = self.mismatch(node, "`value`", &wanted, "a string");
                self.found
                    .push(mismatch.help("decode text with `${jsondecode(..)}`"));
                Expr::error(node.span)
            }
            _ => Expr::error(node.span),
        }
    }
}

/// A type in the words of a value's declaration.
fn declared_words(ty: &Type) -> String {
    match ty {
        Type::Map(_) => "an object".into(),
        other => format!("{} {other}", article(&other.to_string())),
    }
}
