//! The schema of a parameter (decisions/heat#parameters).

use blueprint::{Map, Name, Value};
use diag::Severity;

use super::codes::{INVALID_CONSTRAINT, INVALID_DEFAULT};
use super::{ParameterConstraint, ParameterKind, TYPES, kind_of};
use crate::refusal::ValueRefusal;
use crate::version::Version;
use dialect::codes::{MISSING_FIELD, NEWER_THAN_VERSION, UNKNOWN_KEY, UNKNOWN_TYPE, WRONG_SHAPE};

/// The schema of a parameter.
#[derive(Clone, Debug)]
pub struct HotParameterSchema {
    /// The kind of value.
    pub kind: ParameterKind,
    /// The default; never null.
    pub default: Option<Value>,
    /// The constraints on values.
    pub constraints: Vec<ParameterConstraint>,
    /// Whether the value is secret.
    pub hidden: bool,
    /// Whether an update must not change the value.
    pub immutable: bool,
    /// The name to display.
    pub label: Option<Name>,
    /// The description.
    pub description: Option<Name>,
    /// Tags for tools.
    pub tags: Vec<Value>,
}

/// The keys of a schema.
const KEYS: [&str; 8] = [
    "type",
    "default",
    "description",
    "label",
    "hidden",
    "constraints",
    "immutable",
    "tags",
];

/// Heat's class of errors for an invalid schema.
const CLASS: &str = "InvalidSchemaError";

impl HotParameterSchema {
    /// Parses the schema of a parameter. All mistakes and warnings go to `found`; `None` if the
    /// type is unknown.
    pub fn parse(
        name: &str,
        written: &Value,
        version: Version,
        found: &mut Vec<ValueRefusal>,
    ) -> Option<HotParameterSchema> {
        let Some(entries) = written.as_map() else {
            let words = format!("Invalid parameter ({name}), expected a mapping");
            let message = format!("a parameter must be a map, not {}", kind_of(written));
            found.push(
                ValueRefusal::new(&WRONG_SHAPE, message)
                    .heat(words)
                    .class(CLASS),
            );
            return None;
        };
        unknown_keys(name, entries, version, found);
        let tags = tags(name, entries, version, found);
        let constraints = constraints(name, entries, version, found);
        let kind = kind(name, entries, found)?;
        for (at, constraint) in &constraints {
            if let Err(mut refusal) = constraint.fits(kind) {
                refusal.heat = refusal
                    .heat
                    .map(|words| format!("Parameter '{name}' is invalid: {words}"));
                found.push(refusal.within(*at).within("constraints"));
            }
        }
        let fitting = constraints
            .into_iter()
            .map(|(_, constraint)| constraint)
            .filter(|one| one.fits(kind).is_ok());
        // Heat treats any value as true that Python does, including the text "false".
        let flag = |key: &str| entries.get(key).is_some_and(pycompat::truth);
        let text = |key: &str| {
            entries
                .get(key)
                .filter(|value| !value.is_null())
                .map(|value| Name::from(pycompat::text(value)))
        };
        let schema = HotParameterSchema {
            kind,
            default: entries
                .get("default")
                .filter(|value| !value.is_null())
                .cloned(),
            constraints: fitting.collect(),
            hidden: flag("hidden"),
            immutable: flag("immutable"),
            label: text("label"),
            description: text("description"),
            tags,
        };
        schema.check_default(name, found);
        Some(schema)
    }

    /// Whether the default satisfies the constraints.
    pub(super) fn default_fits_constraints(&self) -> bool {
        let mut found = Vec::new();
        self.check_default("", &mut found);
        found.is_empty()
    }

    /// Checks the default against the constraints, as Heat does even if it is not used. The check
    /// precedes the conversion, except for a comma-delimited list.
    fn check_default(&self, name: &str, found: &mut Vec<ValueRefusal>) {
        let Some(default) = &self.default else { return };
        let prefixed = |words: &str| format!("Parameter '{name}' is invalid: {words}");
        let checked = match (self.kind, default) {
            (ParameterKind::List, Value::Text(text)) => {
                Value::list(text.split(',').map(Value::from))
            }
            (ParameterKind::List, Value::List(items)) => {
                Value::list(items.iter().map(|item| Value::from(pycompat::text(item))))
            }
            (ParameterKind::List, other) => {
                let message = format!(
                    "the default of a list must be text or a list, not {}",
                    kind_of(other)
                );
                let words = format!(
                    "Default must be a comma-delimited list string: '{}' object has no attribute 'split'",
                    pycompat::type_name(other)
                );
                let refusal = ValueRefusal::new(&INVALID_DEFAULT, message)
                    .heat(prefixed(&words))
                    .class(CLASS);
                found.push(refusal.within("default"));
                return;
            }
            (_, other) => other.clone(),
        };
        for constraint in self
            .constraints
            .iter()
            .filter(|constraint| !constraint.is_custom())
        {
            if let Err(refusal) = constraint.check(self.kind, &checked) {
                let broken = refusal.heat.unwrap_or_default();
                let words = format!("Invalid default {} ({broken})", pycompat::text(default));
                let message =
                    format!("the default does not keep the parameter's own constraint: {broken}");
                found.push(
                    ValueRefusal::new(&INVALID_DEFAULT, message)
                        .heat(prefixed(&words))
                        .class(CLASS)
                        .within("default"),
                );
            }
        }
    }
}

fn unknown_keys(name: &str, entries: &Map, version: Version, found: &mut Vec<ValueRefusal>) {
    for key in entries.keys() {
        let words = format!("Invalid key '{key}' for parameter ({name})");
        if key.as_ref() == "tags" && version < Version::V2018_03_02 {
            found.push(
                ValueRefusal::new(
                    &NEWER_THAN_VERSION,
                    "the key `tags` of parameters came with version 2018-03-02",
                )
                .graded(Severity::Error)
                .help("use `heat_template_version: 2018-03-02` or later")
                .heat(words)
                .class(CLASS)
                .within("tags"),
            );
        } else if !KEYS.contains(&key.as_ref()) {
            let mut refusal =
                ValueRefusal::new(&UNKNOWN_KEY, format!("a parameter has no key `{key}`"));
            if let Some(nearest) = diag::nearest(key, KEYS) {
                refusal = refusal.help(format!("did you mean `{nearest}`?"));
            }
            found.push(refusal.heat(words).class(CLASS).within(key.as_ref()));
        }
    }
}

fn kind(name: &str, entries: &Map, found: &mut Vec<ValueRefusal>) -> Option<ParameterKind> {
    let Some(written) = entries.get("type") else {
        let words = format!("Missing parameter type for parameter: {name}");
        let refusal = ValueRefusal::new(
            &MISSING_FIELD,
            format!("the parameter `{name}` has no type"),
        );
        found.push(refusal.heat(words).class(CLASS).help("add `type`"));
        return None;
    };
    let kind = written.as_text().and_then(ParameterKind::of_parameter);
    if kind.is_none() {
        let text = pycompat::text(written);
        let names = TYPES.map(|(name, _)| name);
        let meant = match text.as_str() {
            "CommaDelimitedList" | "list" | "array" => Some("comma_delimited_list"),
            "Json" | "JSON" | "map" | "object" => Some("json"),
            "int" | "integer" | "Integer" | "float" => Some("number"),
            other => diag::nearest(&other.to_lowercase(), names),
        };
        let help = match meant {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!(
                "use one of {}",
                names.map(|name| format!("`{name}`")).join(", ")
            ),
        };
        let refusal = ValueRefusal::new(
            &UNKNOWN_TYPE,
            format!("there is no type `{text}` of parameters"),
        );
        found.push(
            refusal
                .heat(format!("Invalid type ({text})"))
                .class(CLASS)
                .help(help)
                .within("type"),
        );
    }
    kind
}

fn tags(name: &str, entries: &Map, version: Version, found: &mut Vec<ValueRefusal>) -> Vec<Value> {
    match entries.get("tags") {
        Some(Value::List(tags)) => tags.to_vec(),
        Some(other) if version >= Version::V2018_03_02 => {
            let words = format!("Tags property should be a list for parameter: {name}");
            let refusal = ValueRefusal::new(
                &WRONG_SHAPE,
                format!("`tags` must be a list, not {}", kind_of(other)),
            );
            found.push(refusal.heat(words).class(CLASS).within("tags"));
            Vec::new()
        }
        _ => Vec::new(),
    }
}

/// The constraints, with their positions in the list.
fn constraints(
    name: &str,
    entries: &Map,
    version: Version,
    found: &mut Vec<ValueRefusal>,
) -> Vec<(usize, ParameterConstraint)> {
    let items = match entries.get("constraints") {
        None | Some(Value::Null) => return Vec::new(),
        Some(Value::List(items)) => items,
        Some(other) => {
            let words =
                format!("Invalid parameter constraints for parameter {name}, expected a list");
            let refusal = ValueRefusal::new(
                &INVALID_CONSTRAINT,
                format!("`constraints` must be a list, not {}", kind_of(other)),
            );
            found.push(refusal.heat(words).class(CLASS).within("constraints"));
            return Vec::new();
        }
    };
    let mut read = Vec::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        let mut own = Vec::new();
        if let Some(constraint) = ParameterConstraint::parse(item, version, &mut own) {
            read.push((at, constraint));
        }
        found.extend(
            own.into_iter()
                .map(|refusal| refusal.within(at).within("constraints")),
        );
    }
    read
}
