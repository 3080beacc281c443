//! Converts CloudFormation's resource schemas to a catalogue in compact form. The same schemas give
//! the same bytes.

pub(crate) mod pack;
pub(crate) mod pattern;
pub(crate) mod shapes;
pub(crate) mod words;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value as Json;

use self::shapes::{Kind, Type};

/// Prefixes of types without a resource: CloudFormation replaces them by other types, or calls code
/// of the user.
const NO_RESOURCES: &[&str] = &[
    "AWS::Serverless::",
    "AWS::CDK::",
    "AWS::CloudFormation::CustomResource",
];

/// The types of the namespace `AWS` of some schemas, by name, and the problems that prevent a
/// catalogue: two types or two fields of one name.
pub(crate) fn types(schemas: impl IntoIterator<Item = Json>) -> (Vec<Type>, Vec<String>) {
    let mut types: BTreeMap<String, Type> = BTreeMap::new();
    let mut wrong = Vec::new();
    for schema in schemas {
        let original = schema["typeName"].as_str().unwrap_or_default();
        if !original.starts_with("AWS::")
            || NO_RESOURCES.iter().any(|start| original.starts_with(start))
        {
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
            wrong.push(format!(
                "`{}` and another type are both `{}`",
                other.original, other.name
            ));
        }
    }
    (types.into_values().collect(), wrong)
}

/// The instance sizes that at least one region has: lists under `enum`, by region. Within a family,
/// smaller sizes come first.
pub(crate) fn sizes(by_region: &Json) -> Vec<String> {
    let all = by_region
        .as_object()
        .into_iter()
        .flat_map(|regions| regions.values());
    let names = all
        .flat_map(|region| region["enum"].as_array().into_iter().flatten())
        .filter_map(Json::as_str);
    let names: BTreeSet<(&str, usize, &str)> = names
        .filter_map(|name| {
            let (family, size) = name.split_once('.')?;
            Some((family, in_order(size), size))
        })
        .collect();
    names
        .into_iter()
        .map(|(family, _, size)| format!("{family}.{size}"))
        .collect()
}

/// The rank of a size: `nano` before `micro`, `2xlarge` before `12xlarge`; others last.
fn in_order(size: &str) -> usize {
    const WORDS: [&str; 6] = ["nano", "micro", "small", "medium", "large", "xlarge"];
    match WORDS.iter().position(|word| *word == size) {
        Some(at) => at,
        None => size
            .strip_suffix("xlarge")
            .and_then(|times| times.parse::<usize>().ok())
            .map_or(1_000, |times| 6 + times),
    }
}
