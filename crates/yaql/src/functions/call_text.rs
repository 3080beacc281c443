//! The text of a call for the reference page.

use super::{CallForm, YaqlFunction};
use crate::signature::{DefaultValue, Parameter, ParameterPlace};

impl YaqlFunction {
    /// The text of a call with the types of its parameters: `collection.limit(count: int)`,
    /// `left + right`.
    pub fn written(&self) -> String {
        let names: Vec<_> = self
            .parameters
            .iter()
            .map(|parameter| parameter.name)
            .collect();
        let all: Vec<_> = self.parameters.iter().map(Parameter::written).collect();
        let first = names.first().copied().unwrap_or_default();
        match self.how {
            CallForm::Plain => format!("{}({})", self.name, all.join(", ")),
            CallForm::Method | CallForm::Both
                if self
                    .parameters
                    .first()
                    .is_some_and(|one| one.place == ParameterPlace::One) =>
            {
                format!("{first}.{}({})", self.name, all[1..].join(", "))
            }
            CallForm::Method | CallForm::Both => {
                format!("{first}.{}({})", self.name, all.join(", "))
            }
            CallForm::Property => format!(
                "{first}.{}",
                self.name.rsplit('#').next().unwrap_or(self.name)
            ),
            CallForm::Operator => match (self.name, &*names) {
                ("#list", _) => "[value, ..]".into(),
                ("#map", _) => "{key => value, ..}".into(),
                ("#indexer", [_, rest @ ..]) => format!("{first}[{}]", rest.join(", ")),
                ("#operator_+", [_]) => "text + text".into(),
                (name, [operand]) => {
                    format!("{} {operand}", name.trim_start_matches("#unary_operator_"))
                }
                ("*equal", _) => "left = right".into(),
                ("*not_equal", _) => "left != right".into(),
                (name, [left, right, ..]) => {
                    format!("{left} {} {right}", name.trim_start_matches("#operator_"))
                }
                (name, []) => name.into(),
            },
        }
    }
}

impl Parameter {
    /// The name with the type and the default: `count: int = 1`.
    pub fn written(&self) -> String {
        let stars = match self.place {
            ParameterPlace::One => "",
            ParameterPlace::Rest => "*",
            ParameterPlace::Named => "**",
        };
        let null = if self.nullable && !self.kind.is_lazy() {
            "?"
        } else {
            ""
        };
        let default = match self.default {
            None => String::new(),
            Some(DefaultValue::Null) => " = null".into(),
            Some(DefaultValue::Bool(value)) => format!(" = {value}"),
            Some(DefaultValue::Int(value)) => format!(" = {value}"),
            Some(DefaultValue::Absent) => " = ..".into(),
            Some(DefaultValue::NoTime) => " = timespan()".into(),
        };
        format!("{stars}{}: {}{null}{default}", self.name, self.kind.word())
    }
}

#[cfg(test)]
mod tests {
    use super::super::functions;

    #[test]
    fn text_of_a_call_follows_the_notation_of_users() {
        let written = |name: &str| {
            functions()
                .iter()
                .find(|one| one.name == name)
                .map(|one| one.written())
                .unwrap_or_default()
        };
        assert_eq!(written("limit"), "collection.limit(count: int)");
        assert_eq!(written("range"), "range(stop: int)");
        assert_eq!(written("zip"), "collections.zip(*collections: iterable)");
        assert_eq!(written("*equal"), "left = right");
        assert_eq!(written("#operator_mod"), "left mod right");
        assert_eq!(written("#unary_operator_not"), "not arg");
        assert_eq!(written("#property#year"), "obj.year");
        assert_eq!(written("#map"), "{key => value, ..}");
    }
}
