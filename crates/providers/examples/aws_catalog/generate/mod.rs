//! From CloudFormation's resource schemas to a catalogue in compact form. The same schemas give the same bytes.

pub(crate) mod pack;
pub(crate) mod pattern;
pub(crate) mod shapes;
pub(crate) mod words;

use std::collections::{BTreeMap, HashMap};

use serde_json::Value as Json;

use self::shapes::{Kind, Type};

/// Types that no resource stands behind: CloudFormation replaces them by others, or calls something of the person's own.
const NO_RESOURCES: &[&str] = &["AWS::Serverless::", "AWS::CDK::", "AWS::CloudFormation::CustomResource"];

/// The types of the namespace `AWS` of some schemas, by name, and what stands in the way of a catalogue: two types or two fields of one name.
pub(crate) fn types(schemas: impl IntoIterator<Item = Json>) -> (Vec<Type>, Vec<String>) {
    let mut types: BTreeMap<String, Type> = BTreeMap::new();
    let mut wrong = Vec::new();
    for schema in schemas {
        let original = schema["typeName"].as_str().unwrap_or_default();
        if !original.starts_with("AWS::") || NO_RESOURCES.iter().any(|start| original.starts_with(start)) {
            continue;
        }
        let ty = shapes::lower(&schema);
        for shape in &ty.shapes {
            if let Kind::Object(members) = &shape.kind {
                let mut seen: HashMap<&str, &str> = HashMap::new();
                for member in members {
                    if let Some(other) = seen.insert(&member.name, &member.original) {
                        wrong.push(format!(
                            "{original}: `{other}` and `{}` are both `{}`",
                            member.original, member.name
                        ));
                    }
                }
            }
        }
        if let Some(other) = types.insert(ty.name.replace('-', ""), ty) {
            wrong.push(format!("`{}` and another type are both `{}`", other.original, other.name));
        }
    }
    (types.into_values().collect(), wrong)
}
