//! The rules of the dialect: given values of the configuration.

use blueprint::{Input, Name, Value};
use diag::{Diagnostics, Span};
use dialect::rules::{
    Checks, DialectRules, GivenValue, InputRules, NativeInput, NativePassedInput,
};

use crate::config;

/// The rules of programs.
struct PulumiRules;

/// The rules of the dialect.
pub(crate) const RULES: DialectRules = DialectRules {
    checks: Checks::BY_VALUE,
    inputs: &PulumiRules,
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
