//! Which hidden parameters of another tool's stack still need a value.

use std::collections::BTreeSet;

use blueprint::{Name, Value};
use diag::{Diagnostics, Files};
use dialect::Dialects;

use super::form::{ForeignStack, HiddenParameter};
use crate::error::Error;
use crate::inputs::{self, InputSource, Inputs};

/// Sections of an environment that give values.
const SECTIONS: [&str; 2] = ["parameters", "parameter_defaults"];

/// The maximum number of bytes of a file of inputs whose names are read. The plan has the limit of
/// the configuration.
const MOST_BYTES: usize = 64 << 20;

impl ForeignStack {
    /// The hidden parameters that neither the given inputs nor variables of the process set.
    ///
    /// Fails if a file of inputs cannot be read. Mistakes in it are diagnostics of the plan.
    pub fn missing_parameters(
        &self,
        given: &Inputs,
        dialects: &Dialects,
    ) -> Result<Vec<HiddenParameter>, Error> {
        let mut names: BTreeSet<Name> = BTreeSet::new();
        for written in &given.written {
            match written {
                InputSource::Text(name, _) | InputSource::Value(name, _) => {
                    names.insert(name.clone());
                }
                InputSource::File(file) => {
                    let (mut files, mut found) = (Files::new(), Diagnostics::new());
                    let read = inputs::read_file(file, MOST_BYTES, &mut files, &mut found)?;
                    names.extend(read.into_iter().map(|(name, _)| name));
                }
            }
        }
        for file in &given.environments {
            let text = file.text()?;
            let environment = dialects.iter().find_map(|dialect| dialect.data(&text));
            let sections = SECTIONS.iter().filter_map(|section| {
                let section = environment.as_ref()?.get(section);
                section.and_then(Value::as_map).cloned()
            });
            names.extend(sections.flat_map(|section| section.keys().cloned().collect::<Vec<_>>()));
        }
        let is_set = |name: &Name| {
            names.contains(name) || std::env::var_os(format!("{}{name}", inputs::PREFIX)).is_some()
        };
        let missing = self.hidden.iter().filter(|hidden| !is_set(&hidden.name));
        Ok(missing.cloned().collect())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;
    use crate::foreign::Form as _;
    use crate::foreign::heat::HeatFormat;

    fn stack() -> ForeignStack {
        let tree = json!({
            "name": "shop", "action": "CREATE", "status": "COMPLETE",
            "template": {"parameters": {"secret": {}, "size": {}}, "resources": {}},
            "environment": {
                "parameters": {"secret": "******", "size": 3},
                "parameter_defaults": {"secret": "******", "inner": "******", "plain": "x"},
            },
            "resources": {},
        });
        HeatFormat.read(&tree).unwrap()
    }

    fn missing(stack: &ForeignStack, given: &Inputs) -> Vec<String> {
        let missing = stack.missing_parameters(given, &testkit::dialects());
        let missing = missing.unwrap().into_iter();
        missing.map(|one| one.name.to_string()).collect()
    }

    #[test]
    fn hidden_values_are_in_no_file() {
        let stack = stack();
        let inputs: Vec<bool> = stack.hidden.iter().map(|one| one.is_input).collect();
        assert_eq!(missing(&stack, &Inputs::default()), ["secret", "inner"]);
        assert_eq!(inputs, [true, false]);
        let (_, environment) = &stack.files[1];
        let environment: Json = serde_json::from_str(environment).unwrap();
        assert_eq!(
            environment,
            json!({"parameters": {"size": 3}, "parameter_defaults": {"plain": "x"}})
        );
    }

    #[test]
    fn a_given_value_is_not_missing() {
        let written = vec![InputSource::Text("secret".into(), "x".into())];
        let given = Inputs {
            written,
            ..Inputs::default()
        };
        assert_eq!(missing(&stack(), &given), ["inner"]);
    }
}
