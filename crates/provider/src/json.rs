//! Values as the JSON of an API, and back.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use blueprint::{FieldPath, Name, PathStep, Value};
use serde_json::{Map, Number, Value as Json};

/// A value that JSON cannot express.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{problem}")]
pub struct NotJson {
    /// The place of the value.
    pub path: FieldPath,
    /// The reason.
    pub problem: String,
}

/// The JSON of a value, and the paths of its unknown parts, which the JSON leaves out. Secret marks
/// are left out, so the JSON must not be shown.
///
/// # Errors
/// If a part cannot be expressed, for example a function.
pub fn to_json(value: &Value) -> Result<(Json, Vec<FieldPath>), NotJson> {
    let mut writer = JsonWriter::default();
    let json = writer.write(value)?.unwrap_or(Json::Null);
    Ok((json, writer.unknown))
}

#[derive(Default)]
struct JsonWriter {
    path: FieldPath,
    unknown: Vec<FieldPath>,
}

impl JsonWriter {
    /// The JSON; `None` if the value is unknown.
    fn write(&mut self, value: &Value) -> Result<Option<Json>, NotJson> {
        Ok(Some(match value.unmarked() {
            Value::Unknown(_) => {
                self.unknown.push(self.path.clone());
                return Ok(None);
            }
            Value::Null => Json::Null,
            Value::Bool(flag) => Json::Bool(*flag),
            Value::Int(number) => Json::Number((*number).into()),
            Value::Float(number) => self.number(*number)?,
            Value::Decimal(text) => match serde_json::from_str::<Number>(text) {
                Ok(number) => Json::Number(number),
                Err(_) => return Err(self.refuse("a number that JSON cannot express")),
            },
            Value::Text(text) => Json::String(text.to_string()),
            Value::Bytes(bytes) => Json::String(STANDARD.encode(bytes)),
            Value::List(items) | Value::Set(items) => {
                let mut list = Vec::with_capacity(items.len());
                for (at, item) in items.iter().enumerate() {
                    self.path.0.push(PathStep::Index(at as u64));
                    // The position of later items stays right, so an unknown item is null here.
                    list.push(self.write(item)?.unwrap_or(Json::Null));
                    self.path.0.pop();
                }
                Json::Array(list)
            }
            Value::Map(entries) => {
                let mut map = Map::with_capacity(entries.len());
                for (name, entry) in entries.iter() {
                    self.path.0.push(PathStep::Field(name.clone()));
                    if let Some(json) = self.write(entry)? {
                        map.insert(name.to_string(), json);
                    }
                    self.path.0.pop();
                }
                Json::Object(map)
            }
            Value::Asset(_) | Value::Resource(_) | Value::Function(_) => {
                let message = format!("JSON cannot express {}", value.kind_word());
                return Err(self.refuse(&message));
            }
            // `unmarked` removed the mark, and a mark is never around another one.
            Value::Secret(_) => return Err(self.refuse("a secret inside of a secret")),
        }))
    }

    fn number(&self, number: f64) -> Result<Json, NotJson> {
        // A whole number is written as one: the API has no floats in most places.
        if number.fract() == 0.0 && number.abs() < 9.0e15 {
            return Ok(Json::Number((number as i64).into()));
        }
        Number::from_f64(number)
            .map(Json::Number)
            .ok_or_else(|| self.refuse("a number that JSON cannot express"))
    }

    fn refuse(&self, problem: &str) -> NotJson {
        NotJson {
            path: self.path.clone(),
            problem: problem.to_owned(),
        }
    }
}

/// The value of some JSON.
pub fn from_json(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(flag) => Value::Bool(*flag),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => Value::Int(whole),
            (None, Some(float)) if number.is_f64() => Value::Float(float),
            _ => Value::Decimal(number.to_string().into()),
        },
        Json::String(text) => Value::text(text.as_str()),
        Json::Array(items) => Value::list(items.iter().map(from_json)),
        Json::Object(entries) => Value::map(
            entries
                .iter()
                .map(|(name, entry)| (Name::from(name.as_str()), from_json(entry))),
        ),
    }
}

/// The part of some JSON at a path of names and positions.
pub fn at<'j>(json: &'j Json, path: &FieldPath) -> Option<&'j Json> {
    path.0.iter().try_fold(json, |at, step| match step {
        PathStep::Field(name) | PathStep::Key(name) => at.get(name.as_ref()),
        PathStep::Index(index) => at.get(usize::try_from(*index).ok()?),
    })
}

/// Sets the part of some JSON at a path. The path must lead into it, except for its last name.
pub fn set(json: &mut Json, path: &FieldPath, value: Json) {
    let Some((last, way)) = path.0.split_last() else {
        *json = value;
        return;
    };
    let mut place = json;
    for step in way {
        let next = match step {
            PathStep::Field(name) | PathStep::Key(name) => place.get_mut(name.as_ref()),
            PathStep::Index(index) => usize::try_from(*index)
                .ok()
                .and_then(|index| place.get_mut(index)),
        };
        let Some(next) = next else { return };
        place = next;
    }
    match (last, place) {
        (PathStep::Field(name) | PathStep::Key(name), Json::Object(entries)) => {
            entries.insert(name.to_string(), value);
        }
        (PathStep::Index(index), Json::Array(items)) => {
            let item = usize::try_from(*index)
                .ok()
                .and_then(|at| items.get_mut(at));
            if let Some(item) = item {
                *item = value;
            }
        }
        _ => {}
    }
}
