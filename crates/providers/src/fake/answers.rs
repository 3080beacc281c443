//! Fields that a user gives in place of generated values.

use blueprint::{IndexMap, Map, Name, TypeId, Value};
use provider::{Attributes, ResourceType};

/// Fields by the address of a resource, or by the name of a type.
#[derive(Debug, Default)]
pub(super) struct GivenAnswers(IndexMap<Name, Value>);

impl FromIterator<(Name, Value)> for GivenAnswers {
    fn from_iter<T: IntoIterator<Item = (Name, Value)>>(answers: T) -> GivenAnswers {
        GivenAnswers(answers.into_iter().collect())
    }
}

impl GivenAnswers {
    /// The fields of an object with the answers for its type and for its address, which take
    /// precedence. `place` is `INSTANCE/ADDRESS`.
    pub(super) fn on(&self, fields: Value, place: &str, resource_type: &ResourceType) -> Value {
        if self.0.is_empty() {
            return fields;
        }
        let of_type = self.0.get(resource_type.name.as_ref());
        let of_address = self.0.get(address_of(place));
        let answers = of_type.into_iter().chain(of_address);
        answers.fold(fields, |fields, answer| {
            merged(fields, &with_attributes(answer, resource_type))
        })
    }

    /// The fields of a candidate with the answers for its type.
    pub(super) fn of_type(&self, fields: Value, type_name: &TypeId) -> Value {
        match self.0.get(type_name.as_ref()) {
            Some(answer) => merged(fields, answer),
            None => fields,
        }
    }

    /// The id that the answers for an address give an object.
    pub(super) fn id(&self, resource_type: &ResourceType, place: &str) -> Option<Name> {
        let answer = self.0.get(address_of(place))?;
        let id = answer.get(resource_type.id_field.as_ref()?)?;
        id.as_text().filter(|id| !id.is_empty()).map(Name::from)
    }
}

/// An answer with the fields of the attributes that it names.
fn with_attributes(answer: &Value, resource_type: &ResourceType) -> Value {
    let (Some(entries), Attributes::Listed(fields) | Attributes::Open(fields)) =
        (answer.as_map(), &resource_type.attributes)
    else {
        return answer.clone();
    };
    let mut all = Map::default();
    for (name, value) in entries {
        let field = fields.get(name);
        if field.is_none() || resource_type.schema.fields.contains_key(name) {
            all.insert(name.clone(), value.clone());
        }
        if let Some(field) = field {
            all.insert(field.clone(), value.clone());
        }
    }
    Value::map(all)
}

fn address_of(place: &str) -> &str {
    place.split_once('/').map_or(place, |(_, address)| address)
}

/// `fields` with the entries of `answer`, also in nested maps.
fn merged(fields: Value, answer: &Value) -> Value {
    match (fields.as_map(), answer.as_map()) {
        (Some(before), Some(answer)) => {
            let mut all: Map = before.clone();
            for (name, value) in answer {
                let before = all.get(name).cloned().unwrap_or_default();
                all.insert(name.clone(), merged(before, value));
            }
            Value::map(all)
        }
        _ => answer.clone(),
    }
}
