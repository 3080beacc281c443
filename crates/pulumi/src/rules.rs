//! The rules of the dialect: given values of the configuration, and properties.

use std::borrow::Cow;

use blueprint::{Blueprint, Field, Input, Name, Schema, Type, Value};
use diag::{Diagnostics, Span};
use dialect::rules::{
    Checks, DialectRules, ExpansionRules, FormerNames, GivenValue, InputRules, NamedResource,
    NamingRules, NativeInput, NativePassedInput, NativeSpec, Reads, SpecAt, SpecRules,
};
use dialect::{EvaluateFn, ForeignWords};

use crate::former::former_urns;
use crate::shape::UNNAMED;
use crate::tokens::token_of;
use crate::{computed, config, fitting, reference};

/// The rules of programs.
struct PulumiRules;

/// The rules of the dialect.
pub(crate) const RULES: DialectRules = DialectRules {
    checks: Checks::BY_VALUE,
    inputs: &PulumiRules,
    specs: &PulumiRules,
    expansion: &PulumiRules,
    naming: &PulumiRules,
    reads: Reads::OnRequest,
    words: ForeignWords::PULUMI,
    ..DialectRules::NATIVE
};

impl InputRules for PulumiRules {
    fn value(
        &self,
        name: &Name,
        input: &Input,
        given: Option<GivenValue<'_>>,
        _native: NativeInput<'_>,
        found: &mut Diagnostics,
    ) -> Option<Value> {
        config::value(name, input, given, found)
    }

    fn passed(
        &self,
        name: &Name,
        input: &Input,
        given: Option<&Value>,
        _place: Span,
        _native: NativePassedInput<'_>,
        found: &mut Diagnostics,
    ) -> Option<Value> {
        if given.is_some_and(Value::has_unknown) {
            return given.cloned();
        }
        config::value(name, input, given.map(GivenValue::Typed), found)
    }
}

impl ExpansionRules for PulumiRules {
    fn resolve_computed_parts(
        &self,
        blueprint: &Blueprint,
        complete: bool,
        value: EvaluateFn<'_>,
        found: &mut Diagnostics,
    ) -> Blueprint {
        computed::resolve(blueprint, complete, value, found)
    }
}

impl NamingRules for PulumiRules {
    fn resource(&self, resource: &NamedResource<'_>) -> Name {
        let NamedResource {
            instance,
            project,
            path,
            types,
            name,
        } = resource;
        let types: Vec<Cow<'_, str>> = types.iter().map(|name| token_of(name)).collect();
        let above: String = path.iter().map(|child| format!("{child}/")).collect();
        // A name has no `::`, which separates the parts.
        let name = format!("{above}{name}").replace("::", "--");
        let project = if project.is_empty() { UNNAMED } else { project };
        format!(
            "urn:pulumi:{instance}::{project}::{}::{name}",
            types.join("$")
        )
        .into()
    }

    fn in_instance(&self, urn: &str, instance: &str) -> Option<Name> {
        let (stack, rest) = urn.strip_prefix("urn:pulumi:")?.split_once("::")?;
        (stack != instance).then(|| format!("urn:pulumi:{instance}::{rest}").into())
    }

    fn former_resources(&self, names: &FormerNames<'_>) -> Vec<Name> {
        former_urns(names)
    }
}

impl SpecRules for PulumiRules {
    fn fit(
        &self,
        value: &Value,
        _at: SpecAt<'_>,
        schema: &Schema,
        native: NativeSpec<'_>,
        found: &mut Diagnostics,
    ) -> Value {
        native(&fitting::converted(value, schema), found)
    }

    fn refuses_unknown_paths(&self) -> bool {
        false
    }

    fn is_only_check(&self) -> bool {
        true
    }

    fn is_resource(&self, value: &Value) -> bool {
        reference::is_reference(value)
    }

    fn accepts(&self, found: &Type, wanted: &Field) -> bool {
        fitting::accepts(found, wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn urn(project: &str, path: &[Name], types: &[&str], name: &str) -> String {
        let resource = NamedResource {
            instance: "dev",
            project,
            path,
            types: types.to_vec(),
            name,
        };
        PulumiRules.resource(&resource).to_string()
    }

    #[test]
    fn a_urn_has_the_types_of_the_parents_and_the_path_of_the_child() {
        let (bucket, item) = ("pulumi:aws/s3/bucket:Bucket", "pulumi:shop/index:Item");
        for (found, expected) in [
            (
                urn("shop", &[], &[bucket], "logs"),
                "urn:pulumi:dev::shop::aws:s3/bucket:Bucket::logs",
            ),
            (
                urn("shop", &[], &[item, bucket], "logs"),
                "urn:pulumi:dev::shop::shop:index:Item$aws:s3/bucket:Bucket::logs",
            ),
            (
                urn("shop", &["net".into()], &[item], "a::b"),
                "urn:pulumi:dev::shop::shop:index:Item::net/a--b",
            ),
            (
                urn("", &[], &["pulumi:aws"], "prov"),
                "urn:pulumi:dev::project::pulumi:providers:aws::prov",
            ),
        ] {
            assert_eq!(found, expected);
        }
    }
}
