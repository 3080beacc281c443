//! Configuration entries as inputs, and the values that are given for them. The declared type
//! decides the meaning of a given text (decisions/pulumi#configuration).

use std::fmt;
use std::sync::Arc;

use blueprint::{IndexMap, Input, Name, Type, Value};
use diag::{Diagnostics, Span, Spanned};
use syntax::Node;

use crate::codes::{DEPRECATED_SECTION, UNKNOWN_NAME};
use crate::compat;
use crate::constant::{self, NotConstant};
use crate::lowering::ProgramLowering;
use crate::read::{TextEntry, is_null, value_span};
use crate::scalar::kind_words;
use crate::shape;
use crate::untyped::{guess, number, of_json};
use dialect::GivenValue;
use dialect::codes::{MISSING_FIELD, MISSING_VARIABLE, UNKNOWN_TYPE, UNPARSABLE_VALUE};
use expr::codes::TYPE_MISMATCH;

/// The rule of an input whose given texts are guessed, whatever type it declares.
const GUESSED: &str = "guessed";

/// The type of a configuration entry.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ConfigType {
    Text,
    Number,
    Integer,
    Boolean,
    Object,
    List(Box<ConfigType>),
    /// Not declared, and not known from a default.
    Any,
}

impl fmt::Display for ConfigType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConfigType::Text => f.write_str("string"),
            ConfigType::Number => f.write_str("number"),
            ConfigType::Integer => f.write_str("integer"),
            ConfigType::Boolean => f.write_str("boolean"),
            ConfigType::Object => f.write_str("object"),
            ConfigType::List(item) => write!(f, "list<{item}>"),
            ConfigType::Any => f.write_str("any"),
        }
    }
}

impl ConfigType {
    /// Parses a type in any case; `None` for an unknown word.
    pub(crate) fn parse(text: &str) -> Option<ConfigType> {
        let text = text.trim().to_ascii_lowercase();
        Some(match text.as_str() {
            "string" => ConfigType::Text,
            "number" => ConfigType::Number,
            "int" | "integer" => ConfigType::Integer,
            "bool" | "boolean" => ConfigType::Boolean,
            "object" => ConfigType::Object,
            "array" => ConfigType::List(Box::new(ConfigType::Any)),
            "any" => ConfigType::Any,
            other => {
                let item = other.strip_prefix("list<")?.strip_suffix('>')?;
                ConfigType::List(Box::new(ConfigType::parse(item)?))
            }
        })
    }

    /// The type of a default.
    fn of(value: &Value) -> ConfigType {
        match value.unmarked() {
            Value::Text(_) => ConfigType::Text,
            Value::Bool(_) => ConfigType::Boolean,
            Value::Int(_) | Value::Decimal(_) => ConfigType::Integer,
            Value::Float(_) => ConfigType::Number,
            Value::Map(_) => ConfigType::Object,
            Value::List(items) => {
                let mut types = items.iter().map(ConfigType::of);
                let first = types.next().unwrap_or(ConfigType::Any);
                let same = types.all(|ty| ty == first);
                ConfigType::List(Box::new(if same { first } else { ConfigType::Any }))
            }
            _ => ConfigType::Any,
        }
    }

    /// The type in the terms of the blueprint.
    fn ty(&self) -> Type {
        match self {
            ConfigType::Text => Type::Text,
            ConfigType::Number => Type::number(),
            ConfigType::Integer => Type::Int,
            ConfigType::Boolean => Type::Bool,
            ConfigType::Object => Type::map(Type::Any),
            ConfigType::List(item) => Type::list(item.ty()),
            ConfigType::Any => Type::Any,
        }
    }

    /// The value of a given text; `None` if it is not of the type.
    fn of_text(&self, text: &str) -> Option<Value> {
        match self {
            ConfigType::Text => Some(Value::text(text)),
            ConfigType::Boolean => match text.to_ascii_lowercase().as_str() {
                "true" => Some(Value::Bool(true)),
                "false" => Some(Value::Bool(false)),
                _ => None,
            },
            ConfigType::Number | ConfigType::Integer => self.accept(number(text.trim())?),
            ConfigType::Object | ConfigType::List(_) => {
                let value: serde_json::Value = serde_json::from_str(text).ok()?;
                self.accept(of_json(value))
            }
            ConfigType::Any => Some(guess(text)),
        }
    }

    /// A value as one of the type; `None` if it is not. A whole number is an integer.
    fn accept(&self, value: Value) -> Option<Value> {
        if let Value::Secret(inner) = &value {
            return self.accept(inner.as_ref().clone()).map(Value::secret);
        }
        Some(match (self, value) {
            (ConfigType::Any, value) => value,
            (ConfigType::Text, value @ Value::Text(_)) => value,
            (ConfigType::Boolean, value @ Value::Bool(_)) => value,
            (ConfigType::Number, value @ (Value::Int(_) | Value::Float(_) | Value::Decimal(_))) => {
                value
            }
            (ConfigType::Integer, value @ (Value::Int(_) | Value::Decimal(_))) => value,
            (ConfigType::Integer, Value::Float(float))
                if float.fract() == 0.0 && float.abs() < 9e15 =>
            {
                Value::Int(float as i64)
            }
            (ConfigType::Object, value @ Value::Map(_)) => value,
            (ConfigType::List(item), Value::List(items)) => {
                let items: Option<Vec<Value>> = items
                    .iter()
                    .map(|value| item.accept(value.clone()))
                    .collect();
                Value::List(Arc::new(items?))
            }
            _ => return None,
        })
    }
}

/// The value of an input of the root, or of a child. `None` if it is in error, which was reported.
pub(crate) fn value(
    name: &Name,
    input: &Input,
    given: Option<GivenValue<'_>>,
    found: &mut Diagnostics,
) -> Option<Value> {
    let declared = input.rules.get("type").and_then(Value::as_text);
    let declared = declared
        .and_then(ConfigType::parse)
        .unwrap_or(ConfigType::Any);
    if let Some(GivenValue::Typed(value)) = given
        && value.is_unknown()
    {
        return Some(value.clone().tainted(input.secret));
    }
    let is_guessed = input.rules.get(GUESSED).and_then(Value::as_bool) == Some(true);
    if let Some(given) = given.filter(|_| is_guessed) {
        let value = match given {
            GivenValue::Text(text) => compat::guessed(&Value::text(text)),
            GivenValue::Typed(value) => compat::guessed(value),
        };
        return Some(value.tainted(input.secret));
    }
    let (value, shown) = match given {
        None => {
            return match &input.default {
                Some(default) => Some(default.item.clone().tainted(input.secret)),
                None => {
                    found.push(
                        MISSING_VARIABLE
                            .new(format!("no value is given for the configuration `{name}`"))
                            .label(input.span, "it has no default")
                            .help(format!(
                                "give it with `--var {name}=VALUE`, or add `default`"
                            )),
                    );
                    None
                }
            };
        }
        Some(GivenValue::Text(text)) => (declared.of_text(text), "the given text".to_owned()),
        Some(GivenValue::Typed(value)) => {
            let text = value.unmarked().as_text();
            let accepted = declared.accept(value.clone());
            let parsed = || {
                let parsed = declared.of_text(text?)?;
                Some(parsed.tainted(matches!(value, Value::Secret(_))))
            };
            (accepted.or_else(parsed), kind_words(value).to_owned())
        }
    };
    match value {
        Some(value) => Some(value.tainted(input.secret)),
        None => {
            found.push(
                UNPARSABLE_VALUE
                    .new(format!(
                        "the value of the configuration `{name}` is not of the type `{declared}`"
                    ))
                    .label(
                        input.span,
                        format!("declared as `{declared}`, given {shown}"),
                    ),
            );
            None
        }
    }
}

impl ProgramLowering<'_> {
    /// Lowers `config` and `configuration`.
    pub(crate) fn config(&mut self, entries: &[(TextEntry<'_>, bool)]) -> IndexMap<Name, Input> {
        let mut inputs = IndexMap::default();
        for (entry, _) in entries {
            let name = &entry.key.item;
            if inputs.contains_key(name) || self.is_foreign(name) {
                continue;
            }
            if let Some(mut input) = self.config_entry(entry) {
                if self.compat {
                    input.ty = Type::Any;
                    input.rules = Value::map([(GUESSED, Value::Bool(true))]);
                }
                inputs.insert(name.clone(), input);
            }
        }
        inputs
    }

    /// Whether a key belongs to the configuration of a package, such as `aws:region`.
    fn is_foreign(&self, key: &str) -> bool {
        key.split_once(':')
            .is_some_and(|(namespace, _)| *namespace != *self.project)
    }

    /// Collects the settings of packages, such as `aws:region`, from the program's configuration.
    pub(crate) fn package_settings(&mut self, config: &[(TextEntry<'_>, bool)]) {
        for (entry, _) in config {
            let key = &entry.key.item;
            if !self.is_foreign(key) || self.package_settings.contains_key(key) {
                continue;
            }
            let value = match entry.value.as_map() {
                Some(_) => {
                    let written = entry.value.get("value");
                    written.or_else(|| entry.value.get("default"))
                }
                None => Some(entry.value),
            };
            let value = value.and_then(|node| self.literal(node, "the value"));
            if let Some(value) = value {
                self.package_settings.insert(key.clone(), value);
            }
        }
    }

    /// Reports the former name of the section.
    pub(crate) fn deprecated_configuration(&mut self, span: Span) {
        self.found.push(
            DEPRECATED_SECTION
                .new("`configuration` is the former name of `config`")
                .label(span, "still read")
                .fix("write `config`", vec![(span, "config".to_owned())], false),
        );
    }

    fn config_entry(&mut self, entry: &TextEntry<'_>) -> Option<Input> {
        let span = entry.key.span;
        if entry.value.as_map().is_none() {
            // A value alone is the value for all stacks.
            let default = self.literal(entry.value, "the value")?;
            return Some(input(
                span,
                ConfigType::of(&default.item),
                Some(default),
                false,
            ));
        }
        let what = format!("the configuration `{}`", entry.key.item);
        let fields = self.fields(&shape::CONFIG, entry.value, &what)?;
        self.ignored_keys(&shape::CONFIG, &fields.others);
        let declared = fields
            .written("type")
            .map(|node| self.config_type(node, fields.get("items")));
        let written = fields.get("value").or_else(|| fields.get("default"));
        let default = written.and_then(|node| self.literal(node, "the default"));
        let secret = fields
            .get("secret")
            .and_then(|node| self.switch(node, "`secret`"))
            .unwrap_or(false);
        let shows_no_type =
            |node: &Node| is_null(node) || node.as_list().is_some_and(<[Node]>::is_empty);
        if declared.is_none() && written.is_some_and(shows_no_type) {
            self.found.push(
                MISSING_FIELD
                    .new(format!("the default of {what} shows no type"))
                    .label(span, "`type` is missing")
                    .help("add a type, such as `type: list<string>`"),
            );
            return None;
        }
        if declared.is_none() && written.is_none() {
            self.found.push(
                MISSING_FIELD
                    .new(format!("{what} has neither a type nor a default"))
                    .label(span, "one of the two is needed")
                    .help("add `type: string`"),
            );
            return None;
        }
        let declared = match declared {
            Some(declared) => declared?,
            None => default
                .as_ref()
                .map_or(ConfigType::Any, |default| ConfigType::of(&default.item)),
        };
        let default = match default {
            Some(Spanned { item, span: place }) => match declared.accept(item.clone()) {
                Some(value) => Some(Spanned::new(value, place)),
                None => {
                    let kind = kind_words(&item);
                    self.found.push(
                        TYPE_MISMATCH
                            .new(format!(
                                "the default must be of the type `{declared}`, found {kind}"
                            ))
                            .label(place, kind),
                    );
                    return None;
                }
            },
            None => None,
        };
        let mut read = input(span, declared, default, secret);
        let description = fields.written("description").and_then(Node::text);
        read.description = description.map(Name::from);
        Some(read)
    }

    /// The type that an entry declares; `None` for an unknown one, which is reported.
    fn config_type(&mut self, node: &Node, items: Option<&Node>) -> Option<ConfigType> {
        let written = self.fixed_text(node, "`type`")?;
        let Some(declared) = ConfigType::parse(written.item) else {
            let known = [
                "string",
                "number",
                "integer",
                "boolean",
                "object",
                "array",
                "list<string>",
            ];
            self.found.push(
                UNKNOWN_TYPE
                    .new(format!("there is no type `{}`", written.item))
                    .label(written.span, "no type of configuration")
                    .help_nearest(written.item, known),
            );
            return None;
        };
        let item = items.and_then(|items| items.get("type"));
        if matches!(declared, ConfigType::List(_))
            && written.item.eq_ignore_ascii_case("array")
            && item.is_none()
        {
            self.found.push(
                MISSING_FIELD
                    .new("an `array` needs the type of its items")
                    .label(written.span, "`items` is missing")
                    .help("add `items: {type: string}`, or write `list<string>`"),
            );
            return None;
        }
        match (declared, item) {
            (ConfigType::List(_), Some(node)) => {
                let inner = items.and_then(|items| items.get("items"));
                let item = self.config_type(node, inner)?;
                Some(ConfigType::List(Box::new(item)))
            }
            (declared, _) => Some(declared),
        }
    }

    /// The value of a node that the program alone determines: without accesses and calls of packages.
    /// Any other is reported.
    fn literal(&mut self, node: &Node, what: &str) -> Option<Spanned<Value>> {
        let expr = self.expr(node);
        let place = value_span(node);
        match constant::value_of(&expr) {
            Ok(value) => Some(Spanned::new(value, place)),
            Err(NotConstant::Reported) => None,
            Err(NotConstant::Refused(mistake)) => {
                self.found.push(*mistake);
                None
            }
            Err(NotConstant::Named(part)) => {
                self.found.push(
                    UNKNOWN_NAME
                        .new(format!("{what} of a configuration cannot read this"))
                        .label(part, "the configuration is read before anything else")
                        .help("make the value in a variable, and read that"),
                );
                None
            }
            Err(NotConstant::Called(part)) => {
                self.found.push(
                    TYPE_MISMATCH
                        .new(format!(
                            "{what} of a configuration cannot be the result of a call"
                        ))
                        .label(part, "the configuration is read before anything is called")
                        .help("make the value in a variable, and read that"),
                );
                None
            }
        }
    }
}

fn input(span: Span, declared: ConfigType, default: Option<Spanned<Value>>, secret: bool) -> Input {
    Input {
        span,
        ty: declared.ty(),
        custom_type: None,
        default,
        allowed: Vec::new(),
        secret,
        rules: Value::map([("type", Value::text(declared.to_string()))]),
        description: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_written_in_any_case() {
        for (text, ty) in [
            ("String", "string"),
            ("NUMBER", "number"),
            ("Integer", "integer"),
            ("int", "integer"),
            ("List<Number>", "list<number>"),
            ("list<list<string>>", "list<list<string>>"),
            ("array", "list<any>"),
        ] {
            let parsed = ConfigType::parse(text).map(|ty| ty.to_string());
            assert_eq!(parsed.as_deref(), Some(ty), "{text}");
        }
        assert_eq!(ConfigType::parse("texts"), None);
        assert_eq!(ConfigType::parse("list<texts>"), None);
    }

    #[test]
    fn the_declared_type_decides_the_meaning_of_a_text() {
        for (ty, text, value) in [
            ("string", "0x10", Some(Value::text("0x10"))),
            ("string", "true", Some(Value::text("true"))),
            ("number", "1.5", Some(Value::Float(1.5))),
            ("number", "1e3", Some(Value::Float(1000.0))),
            ("number", "0x10", None),
            ("number", "inf", None),
            ("integer", "3", Some(Value::Int(3))),
            ("integer", "3.0", Some(Value::Int(3))),
            ("integer", "3.5", None),
            ("boolean", "TRUE", Some(Value::Bool(true))),
            ("boolean", "yes", None),
            (
                "list<number>",
                "[1, 2]",
                Some(Value::list([Value::Int(1), Value::Int(2)])),
            ),
            ("list<number>", "[1, \"a\"]", None),
            (
                "object",
                "{\"a\": 1}",
                Some(Value::map([("a", Value::Int(1))])),
            ),
            ("object", "[]", None),
        ] {
            let ty = ConfigType::parse(ty).unwrap();
            assert_eq!(ty.of_text(text), value, "{ty} {text}");
        }
    }
}
