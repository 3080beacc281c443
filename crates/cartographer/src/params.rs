//! Parameters of a resource (decisions/cartographer#params): template, blueprint, resource and
//! owner set them, in this order of precedence.

use blueprint::{Map, Name, Value};

/// Where the value of a parameter comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamOrigin {
    /// The `default` of the template.
    TemplateDefault,
    /// The `default` of the blueprint.
    BlueprintDefault,
    /// The `value` of the blueprint.
    BlueprintValue,
    /// The `default` of the resource in the blueprint.
    ResourceDefault,
    /// The `value` of the resource in the blueprint.
    ResourceValue,
    /// The owner.
    Owner,
}

impl ParamOrigin {
    /// Whether a value of the owner applies instead.
    pub fn yields_to_owner(self) -> bool {
        !matches!(
            self,
            ParamOrigin::BlueprintValue | ParamOrigin::ResourceValue
        )
    }
}

/// A parameter with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct ParamValue {
    /// The name.
    pub name: Name,
    /// The value that applies.
    pub value: Value,
    /// Where the value comes from.
    pub origin: ParamOrigin,
    /// The value of the owner that does not apply, if there is one.
    pub refused: Option<Value>,
}

/// The parameters of a resource, each once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Params {
    entries: Vec<ParamValue>,
}

/// The four lists of parameters, as the objects have them; null for an absent one.
#[derive(Clone, Copy, Debug)]
pub struct ParamSources<'a> {
    /// `spec.params` of the template.
    pub template: &'a Value,
    /// `spec.params` of the blueprint.
    pub blueprint: &'a Value,
    /// `params` of the resource.
    pub resource: &'a Value,
    /// `spec.params` of the owner.
    pub owner: &'a Value,
}

impl Params {
    /// Merges the four lists. In a list the last entry of a name counts. Entries without a name are
    /// left out.
    pub fn merge(sources: &ParamSources<'_>) -> Params {
        let mut params = Positions::default();
        for (name, entry) in named(sources.template) {
            let value = entry.get("default").cloned().unwrap_or_default();
            params.set(name, value, ParamOrigin::TemplateDefault);
        }
        for (name, entry) in named(sources.blueprint) {
            if let Some((value, is_fixed)) = delegated(entry) {
                let origin = match is_fixed {
                    true => ParamOrigin::BlueprintValue,
                    false => ParamOrigin::BlueprintDefault,
                };
                params.set(name, value, origin);
            }
        }
        for (name, entry) in named(sources.resource) {
            if let Some((value, is_fixed)) = delegated(entry) {
                let origin = match is_fixed {
                    true => ParamOrigin::ResourceValue,
                    false => ParamOrigin::ResourceDefault,
                };
                params.set(name, value, origin);
            }
        }
        for (name, entry) in named(sources.owner) {
            let value = entry.get("value").cloned().unwrap_or_default();
            params.offer(name, value);
        }
        Params {
            entries: params.entries,
        }
    }

    /// The parameters: those of the template in its order, then those that others add.
    pub fn iter(&self) -> impl Iterator<Item = &ParamValue> {
        self.entries.iter()
    }

    /// The parameter with a name.
    pub fn get(&self, name: &str) -> Option<&ParamValue> {
        self.entries.iter().find(|entry| *entry.name == *name)
    }

    /// The values by name.
    pub fn values(&self) -> Value {
        Value::map(
            self.entries
                .iter()
                .map(|entry| (entry.name.clone(), entry.value.clone())),
        )
    }
}

/// Parameters with the position of each name.
#[derive(Default)]
struct Positions {
    entries: Vec<ParamValue>,
    by_name: blueprint::IndexMap<Name, usize>,
}

impl Positions {
    fn entry(&mut self, name: &Name) -> Option<&mut ParamValue> {
        let at = *self.by_name.get(name)?;
        self.entries.get_mut(at)
    }

    fn set(&mut self, name: &Name, value: Value, origin: ParamOrigin) {
        match self.entry(name) {
            Some(entry) => {
                entry.value = value;
                entry.origin = origin;
            }
            None => {
                self.by_name.insert(name.clone(), self.entries.len());
                self.entries.push(ParamValue {
                    name: name.clone(),
                    value,
                    origin,
                    refused: None,
                });
            }
        }
    }

    fn offer(&mut self, name: &Name, value: Value) {
        match self.entry(name) {
            Some(entry) if !entry.origin.yields_to_owner() => entry.refused = Some(value),
            _ => self.set(name, value, ParamOrigin::Owner),
        }
    }
}

/// The entries of a list that have a name.
fn named(list: &Value) -> impl Iterator<Item = (&Name, &Map)> {
    list.as_list()
        .unwrap_or_default()
        .iter()
        .filter_map(|entry| {
            let entry = entry.as_map()?;
            match entry.get("name")?.unmarked() {
                Value::Text(name) => Some((name, entry)),
                _ => None,
            }
        })
}

/// The value of an entry of a blueprint, and whether the owner cannot change it. A null `value`
/// counts as absent.
fn delegated(entry: &Map) -> Option<(Value, bool)> {
    let (value, default) = (entry.get("value"), entry.get("default"));
    match (value, default) {
        (Some(value), _) if !value.is_null() => Some((value.clone(), true)),
        (_, Some(default)) => Some((default.clone(), false)),
        (Some(value), None) => Some((value.clone(), true)),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use blueprint::Value;

    use super::{ParamOrigin, ParamSources, Params};

    fn entry(name: &str, key: &'static str, value: i64) -> Value {
        Value::map([("name", Value::from(name)), (key, Value::Int(value))])
    }

    fn merged(blueprint: Value, resource: Value) -> Params {
        Params::merge(&ParamSources {
            template: &Value::list([entry("a", "default", 1)]),
            blueprint: &Value::list([blueprint]),
            resource: &Value::list([resource]),
            owner: &Value::list([entry("a", "value", 4), entry("z", "value", 5)]),
        })
    }

    #[test]
    fn a_value_of_the_blueprint_refuses_that_of_the_owner() {
        let params = merged(entry("a", "value", 2), Value::Null);
        let param = params.get("a").expect("the parameter");
        assert_eq!(
            (&param.value, param.origin),
            (&Value::Int(2), ParamOrigin::BlueprintValue)
        );
        assert_eq!(param.refused, Some(Value::Int(4)));
    }

    #[test]
    fn a_default_of_the_resource_frees_the_owner_again() {
        let params = merged(entry("a", "value", 2), entry("a", "default", 3));
        let param = params.get("a").expect("the parameter");
        assert_eq!(
            (&param.value, param.origin),
            (&Value::Int(4), ParamOrigin::Owner)
        );
    }

    #[test]
    fn parameters_of_the_owner_need_no_declaration() {
        let params = merged(Value::Null, Value::Null);
        assert_eq!(
            params.get("z").map(|param| &param.value),
            Some(&Value::Int(5))
        );
        let names: Vec<_> = params.iter().map(|param| param.name.to_string()).collect();
        assert_eq!(names, ["a", "z"]);
    }
}
