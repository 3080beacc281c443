//! The rules of the dialect: values of parameters (decisions/heat#parameters), properties
//! (decisions/heat#types-of-properties), names, messages.

use std::sync::Arc;

use blueprint::{
    AccessorKind, Blueprint, Child, Expansion, Input, Name, Ref, ReferenceHead, Schema, TypeId,
    Value,
};
use diag::{Diagnostic, Diagnostics, NativeMessage, Span, Spanned};

use super::codes::TOO_LARGE;
use super::fitting::{self, fit_properties};
use super::message_path::invalid;
use super::parameters::{ParameterKind, property};
use super::version::Version;
use super::{computed_parts, groups, inputs, messages, naming, outputs, resources};
use dialect::codes::UNKNOWN_RESOURCE;
use dialect::rules::{
    Absence, Checks, ChildRules, DialectRules, DocumentName, ExpansionRules, GivenValue,
    InputQuestion, InputRules, MessageRules, NamingRules, NativeInput, NativePassedInput,
    NativeSpec, Reads, ReferenceRules, SizeRules, SpecAt, SpecRules,
};
use dialect::{
    DialectLimits, EvaluateFn, Expanded, ExpansionContext, ExpressionPlace, ForeignWords, Mistake,
};

/// The default limit of resources in a stack with all nested stacks.
const MOST_RESOURCES: usize = 1000;

/// Heat's rules.
struct HotRules;

/// The rules of the dialect.
pub(super) const RULES: DialectRules = DialectRules {
    checks: Checks::BY_VALUE,
    inputs: &HotRules,
    specs: &HotRules,
    references: &HotRules,
    children: &HotRules,
    expansion: &HotRules,
    naming: &HotRules,
    sizes: &HotRules,
    messages: &HotRules,
    reads: Reads::BeforePlans,
    words: ForeignWords::HEAT,
};

impl InputRules for HotRules {
    fn value(
        &self,
        name: &Name,
        input: &Input,
        given: Option<GivenValue<'_>>,
        _native: NativeInput<'_>,
        found: &mut Diagnostics,
    ) -> Option<Value> {
        inputs::value(name, input, given, found)
    }

    fn passed(
        &self,
        name: &Name,
        input: &Input,
        given: Option<&Value>,
        place: Span,
        _native: NativePassedInput<'_>,
        found: &mut Diagnostics,
    ) -> Option<Value> {
        inputs::child_input_value(name, input, given, place, found)
    }

    fn shown(&self, input: &Input, written: &Value) -> Option<Value> {
        let is_json = input.rules.get("type").and_then(Value::as_text) == Some("json");
        match written.unmarked() {
            Value::List(_) if is_json && !written.has_unknown() => {
                let text = pycompat::json_in_order(&written.revealed());
                Some(Value::text(text).tainted(written.has_secret()))
            }
            Value::Text(_) if is_json => Some(written.clone()),
            Value::List(_) | Value::Map(_) => Some(written.clone()),
            _ => None,
        }
    }

    fn are_stored(&self) -> bool {
        true
    }

    fn is_immutable(&self, name: &Name, input: &Input) -> bool {
        inputs::is_immutable(name, input)
    }

    fn questions(&self, name: &Name, input: &Input, value: &Value) -> Vec<InputQuestion> {
        inputs::questions(name, input, value)
    }
}

impl SpecRules for HotRules {
    fn fit(
        &self,
        value: &Value,
        at: SpecAt<'_>,
        schema: &Schema,
        _native: NativeSpec<'_>,
        found: &mut Diagnostics,
    ) -> Value {
        let (bare, secret) = value.split_secret();
        let Value::Map(map) = bare else {
            return value.clone();
        };
        Value::Map(Arc::new(fit_properties(map, at, schema, found))).tainted(secret)
    }

    fn skips_open_types(&self) -> bool {
        true
    }

    fn shown(&self, type_name: &str, given: &Value) -> Value {
        // The `type` is only checked, but Heat shows the value converted to that type.
        let kind = given
            .get("type")
            .and_then(Value::as_text)
            .and_then(ParameterKind::of_parameter);
        let (Some(kind), Value::Map(fields), "OS::Heat::Value") =
            (kind, given.unmarked(), type_name)
        else {
            return given.clone();
        };
        let mut fields = (**fields).clone();
        if let Some(value) = fields.get("value")
            && let Ok(value) = property(kind, value, None)
        {
            fields.insert("value".into(), value);
        }
        Value::Map(fields.into()).tainted(matches!(given, Value::Secret(_)))
    }

    fn removal(&self, policy: &Value, version: &str) -> Option<Diagnostic> {
        // A null policy counts as no policy.
        if policy.is_null() {
            return None;
        }
        resources::removal(policy, Version::of(version).unwrap_or(Version::V2021_04_16))
    }
}

impl ReferenceRules for HotRules {
    fn reads_attribute(&self, reference: &Ref) -> bool {
        match (
            &reference.head,
            reference.path.first().map(|accessor| &accessor.kind),
        ) {
            (ReferenceHead::Child(_), Some(AccessorKind::Name(name))) => {
                name.as_ref() != "OS::stack_id"
            }
            (_, first) => first.is_some(),
        }
    }

    fn absence(&self) -> Absence {
        Absence::Mistake(&UNKNOWN_RESOURCE)
    }
}

impl ChildRules for HotRules {
    fn are_atomic(&self) -> bool {
        true
    }

    fn are_decided_early(&self) -> bool {
        true
    }

    fn share_dialect(&self) -> bool {
        // A file without a version is a template if another template uses it as a type.
        true
    }

    fn is_passed_undeclared(&self, input: &str) -> bool {
        // Pseudo parameters, and the metadata and policies of the template's own resource.
        input.starts_with("OS::")
    }

    fn add_exports(&self, child: &mut Blueprint) {
        outputs::add_template_exports(child);
    }

    fn check_substitution(
        &self,
        document: &Blueprint,
        type_name: &Spanned<TypeId>,
        schema: &Schema,
        attributes: &[Name],
        found: &mut Diagnostics,
    ) {
        fitting::check_facade(document, type_name, schema, attributes, found);
    }
}

impl ExpansionRules for HotRules {
    fn expand(&self, expansion: &Expansion, place: &ExpansionContext<'_>) -> Expanded {
        groups::expand(expansion, place)
    }

    fn resolve_computed_parts(
        &self,
        blueprint: &Blueprint,
        complete: bool,
        value: EvaluateFn<'_>,
        found: &mut Diagnostics,
    ) -> Blueprint {
        computed_parts::resolve_computed_parts(blueprint, complete, value, found)
    }
}

impl NamingRules for HotRules {
    fn instance(&self, name: &str, document: Option<Span>) -> Option<Diagnostic> {
        let fits = name
            .bytes()
            .next()
            .is_some_and(|first| first.is_ascii_alphabetic())
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'))
            && name.len() <= 255;
        if fits {
            return None;
        }
        let diagnostic = dialect::codes::INVALID_NAME
            .new(format!("`{name}` cannot be the name of a stack"))
            .help("begin with a letter; go on with letters, digits, `_`, `.` and `-`, 255 at most")
            .with_native_message(invalid(format!(
                "Invalid stack name {name} must contain only alphanumeric or \"_-.\" characters, must start with alpha \
                 and must be 255 characters or less."
            )));
        Some(document.into_iter().fold(diagnostic, |diagnostic, span| {
            diagnostic.label(span, "a template of Heat")
        }))
    }

    fn document(&self, instance: &str, path: &[Name]) -> DocumentName {
        DocumentName {
            name: naming::stack_name(instance, path),
            id: naming::stack_identifier(instance, path),
        }
    }

    fn unknown_type_help(&self, name: &str) -> Option<String> {
        let is_of_cloud = ["OS::", "AWS::"]
            .iter()
            .any(|start| name.starts_with(start));
        (!is_of_cloud && name.contains("::")).then(|| {
            format!(
                "map it to a template in an environment file, `resource_registry: {{\"{name}\": FILE.yaml}}`, and give that file with `-e`"
            )
        })
    }

    fn types_begin_with_provider(&self) -> bool {
        false
    }
}

impl SizeRules for HotRules {
    fn most_levels(&self, limits: &DialectLimits) -> u32 {
        // As in Heat, every nested stack counts.
        limits.levels.unwrap_or(5)
    }

    fn resources(&self, count: usize, limits: &DialectLimits, place: Span) -> Option<Diagnostic> {
        let most = limits.resources.unwrap_or(MOST_RESOURCES);
        if count <= most {
            return None;
        }
        let who = if limits.resources.is_some() {
            "more than the settings allow"
        } else {
            "more than Heat takes"
        };
        let diagnostic = TOO_LARGE
            .new(format!(
                "the template has more than {most} resources with those below it, {who}"
            ))
            .label(place, "the root of them all")
            .help("divide it into stacks of their own")
            .with_native_message(NativeMessage::of(
                "RequestLimitExceeded",
                "Request limit exceeded: Maximum resources per stack exceeded.",
            ));
        Some(diagnostic)
    }
}

impl MessageRules for HotRules {
    fn of(&self, mistake: &Mistake<'_>) -> Option<NativeMessage> {
        messages::of(mistake)
    }

    fn complete_at(&self, found: &mut Diagnostic, at: &ExpressionPlace<'_>) {
        messages::complete_message(found, at);
    }

    fn complete_in_child(&self, found: &mut Diagnostic, name: &str, child: &Child, nearest: bool) {
        messages::prepend_child_path(found, name, child, nearest);
    }
}
