//! The JSON form in which Terraform stores a value: a part of dynamic type is an object of the
//! value and its type.

use std::fmt::Write as _;

use blueprint::Value;
use terraform_wire::wire::{WireError, WireProblem};
use terraform_wire::{Path, ValueType};

/// Writes the JSON of a value. `dynamic` has the types of the parts that have a dynamic type in the
/// schema. Secret marks are left out, so the bytes must not be shown.
///
/// # Errors
/// If a part of the value has no such form, for example an unknown one.
pub(crate) fn write(value: &Value, dynamic: &[(Path, ValueType)]) -> Result<Vec<u8>, WireError> {
    let mut out = String::new();
    let writer = TerraformJsonWriter { dynamic };
    writer.value(value, &Path::default(), &mut out)?;
    Ok(out.into_bytes())
}

struct TerraformJsonWriter<'a> {
    dynamic: &'a [(Path, ValueType)],
}

impl TerraformJsonWriter<'_> {
    fn value(&self, value: &Value, path: &Path, out: &mut String) -> Result<(), WireError> {
        let dynamic = self.dynamic.iter().find(|(at, _)| at == path);
        let Some((_, ty)) = dynamic.filter(|_| !value.is_null()) else {
            return self.plain(value, path, out);
        };
        out.push_str(r#"{"value":"#);
        self.plain(value, path, out)?;
        let _ = write!(out, r#","type":{}}}"#, ty.to_json());
        Ok(())
    }

    fn plain(&self, value: &Value, path: &Path, out: &mut String) -> Result<(), WireError> {
        match value.unmarked() {
            Value::Null => out.push_str("null"),
            Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
            Value::Int(number) => {
                let _ = write!(out, "{number}");
            }
            Value::Float(number) if number.is_finite() => {
                let _ = write!(out, "{number}");
            }
            Value::Decimal(text) => out.push_str(text),
            Value::Text(text) => quote(text, out),
            Value::List(items) => {
                self.list(items, out, |at| path.index(at))?;
            }
            // An element of a set has no path of its own.
            Value::Set(items) => self.list(items, out, |_| path.clone())?,
            Value::Map(entries) => {
                out.push('{');
                for (at, (key, part)) in entries.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    quote(key, out);
                    out.push(':');
                    // Only the type tells whether the key is an attribute or a key of a map.
                    let (attribute, entry) = (path.attribute(key), path.key(key));
                    let is_entry = self
                        .dynamic
                        .iter()
                        .any(|(at, _)| at.0.starts_with(&entry.0));
                    self.value(part, if is_entry { &entry } else { &attribute }, out)?;
                }
                out.push('}');
            }
            other => {
                let problem = WireProblem::Kind {
                    wanted: "a known value",
                    found: other.kind_word(),
                };
                return Err(WireError {
                    path: path.clone(),
                    problem,
                });
            }
        }
        Ok(())
    }

    fn list(
        &self,
        items: &[Value],
        out: &mut String,
        path: impl Fn(usize) -> Path,
    ) -> Result<(), WireError> {
        out.push('[');
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            self.value(item, &path(at), out)?;
        }
        out.push(']');
        Ok(())
    }
}

fn quote(text: &str, out: &mut String) {
    out.push_str(&serde_json::Value::from(text).to_string());
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn written(value: &Value, dynamic: &[(Path, ValueType)]) -> String {
        String::from_utf8(write(value, dynamic).unwrap()).unwrap()
    }

    #[test]
    fn values_keep_their_json_form() {
        let value = Value::map([
            ("a", Value::from("q\"\n").secret()),
            (
                "b",
                Value::list([
                    Value::Int(-3),
                    Value::Float(0.5),
                    Value::Decimal("1e400".into()),
                ]),
            ),
            (
                "c",
                Value::Set(Arc::new(vec![Value::Bool(true), Value::Null])),
            ),
        ]);
        assert_eq!(
            written(&value, &[]),
            r#"{"a":"q\"\n","b":[-3,0.5,1e400],"c":[true,null]}"#
        );
    }

    #[test]
    fn a_dynamic_part_has_its_type() {
        let value = Value::map([("a", Value::map([("k", Value::Int(1)), ("l", Value::Null)]))]);
        let at = |key: &str| Path::default().attribute(&"a".into()).key(&key.into());
        let dynamic = [(at("k"), ValueType::Number), (at("l"), ValueType::String)];
        assert_eq!(
            written(&value, &dynamic),
            r#"{"a":{"k":{"value":1,"type":"number"},"l":null}}"#
        );
    }

    #[test]
    fn an_unknown_value_has_no_form() {
        let value = Value::map([("a", Value::list([Value::unknown(None, None)]))]);
        assert_eq!(write(&value, &[]).unwrap_err().path.to_string(), "a[0]");
    }
}
