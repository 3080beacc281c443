//! The areas `validation` and `validation/owners`: what upstream's webhooks and an API server say to
//! an object. The definitions of the pack are compared as well.

use std::collections::{BTreeMap, BTreeSet};

use blueprint::{Map, Value};
use cartographer::checks::faults_of_set;
use cartographer::definitions::definition;
use cartographer::kinds::{CartoKind, VERSION};
use cartographer::validation::{Fault, FaultClass, faults, lints};
use kubernetes::structural::StructuralSchema;

use crate::pack::{Tally, cases, equal, folder, id, value};

#[test]
fn objects_are_judged_as_upstream_judges_them() {
    let Some(cases) = cases("validation/cases.json") else {
        return;
    };
    let schemas = schemas();
    let mut tally = Tally::new("validation");
    for case in &cases {
        let verdict = webhook_agrees(case).and_then(|()| schema_agrees(&schemas, case));
        tally.count(id(case), verdict);
    }
    tally.finish(98);
}

#[test]
fn owners_are_judged_as_the_api_server_judges_them() {
    let Some(cases) = cases("validation/owners.json") else {
        return;
    };
    let schemas = schemas();
    let mut tally = Tally::new("validation/owners");
    for case in &cases {
        tally.count(id(case), schema_agrees(&schemas, case));
    }
    tally.finish(98);
}

/// The first fault must be of the class of the one at which upstream stops.
fn webhook_agrees(case: &Value) -> Result<(), String> {
    let found = faults(part(case, "object"));
    let class = part(case, "webhook").get("class").and_then(Value::as_text);
    let shown = || format!("found {:?}", found.iter().map(shown).collect::<Vec<_>>());
    match class {
        None if found.is_empty() => Ok(()),
        None => Err(format!("upstream accepts it, {}", shown())),
        Some(class)
            if found
                .first()
                .is_some_and(|fault| upstream_class(fault) == class) =>
        {
            Ok(())
        }
        Some(class) => Err(format!("upstream says {class}, {}", shown())),
    }
}

/// The class of the pack. Ours names a key that starts with its owner apart.
fn upstream_class(fault: &Fault) -> &'static str {
    match fault.class {
        FaultClass::SelectorOwnerPrefix => FaultClass::FieldPath.as_str(),
        class => class.as_str(),
    }
}

/// A fault in one line.
pub(crate) fn shown(fault: &Fault) -> String {
    format!("{} {} {}", fault.class.as_str(), fault.path, fault.message)
}

fn part<'a>(value: &'a Value, key: &str) -> &'a Value {
    value.get(key).unwrap_or(&Value::Null)
}

/// The schema of each kind.
pub(crate) fn schemas() -> BTreeMap<CartoKind, StructuralSchema> {
    let schema = |kind| {
        let schema = StructuralSchema::of_definition(&definition(kind), VERSION);
        (kind, schema.expect("the schema is well formed"))
    };
    CartoKind::ALL.into_iter().map(schema).collect()
}

/// Acceptance, the stored object and the fields of the causes must be equal.
fn schema_agrees(
    schemas: &BTreeMap<CartoKind, StructuralSchema>,
    case: &Value,
) -> Result<(), String> {
    let (object, recorded) = (part(case, "object"), part(case, "schema"));
    let kind = CartoKind::of(object).ok_or("the object has no kind")?;
    let admitted = schemas[&kind].admit(object);
    let accepted = admitted.dropped.is_empty() && admitted.violations.is_empty();
    if Some(accepted) != part(recorded, "accepted").as_bool() {
        return Err(format!("accepted: {accepted}, {admitted:?}"));
    }
    let stored = part(recorded, "stored");
    let lenient = part(recorded, "lenient");
    let wanted = match (accepted, stored.is_null(), lenient.is_null()) {
        (true, true, _) => Some(object),
        (true, false, _) => Some(stored),
        (false, _, false) => Some(lenient),
        (false, _, true) => None,
    };
    for key in ["spec", "status"] {
        let (own, wanted) = (
            part(&admitted.object, key),
            wanted.map(|one| part(one, key)),
        );
        if wanted.is_some_and(|wanted| !equal(own, wanted)) {
            return Err(format!("{key} is stored as {own}"));
        }
    }
    let causes = part(recorded, "causes").as_list().unwrap_or_default();
    let causes: BTreeSet<String> = causes
        .iter()
        .filter_map(|cause| cause.get("field")?.as_text().map(str::to_owned))
        .collect();
    // The server looks for violations only if no field is dropped.
    let found: BTreeSet<String> = match admitted.dropped.is_empty() {
        true => admitted.violations.iter().map(|one| one.field()).collect(),
        false => BTreeSet::new(),
    };
    if found != causes {
        return Err(format!("the fields are {found:?}, not {causes:?}"));
    }
    let is_same = |one: &str| {
        part(recorded, "message")
            .as_text()
            .is_some_and(|all| all.contains(one))
    };
    match admitted
        .violations
        .iter()
        .find(|one| !is_same(&one.to_string()))
    {
        Some(other) if admitted.dropped.is_empty() => {
            Err(format!("the server does not say {other}"))
        }
        _ => Ok(()),
    }
}

/// Every part of every object is replaced by something else, in turn.
#[test]
fn no_part_of_an_object_makes_a_check_panic() {
    let (Some(mut all), Some(owners)) = (
        cases("validation/cases.json"),
        cases("validation/owners.json"),
    ) else {
        return;
    };
    all.extend(owners);
    let schemas = schemas();
    let others = [
        Value::Null,
        Value::Int(-1),
        Value::from("$(a.\u{e9}[)$"),
        Value::list([Value::Null]),
        Value::map([("name", Value::Bool(true))]),
        Value::unknown(None, None),
        Value::from("s").secret(),
    ];
    let mut turn = 0;
    for case in &all {
        let object = part(case, "object");
        let Some(kind) = CartoKind::of(object) else {
            continue;
        };
        let parts = count_parts(object);
        for at in 0..parts {
            turn += 1;
            let changed = replaced(object, &mut (at + 1), &others[turn % others.len()]);
            faults(&changed);
            lints(&changed);
            schemas[&kind].admit(&changed);
            faults_of_set(&[changed, object.clone()], &|_, _| schemas.get(&kind));
        }
    }
}

fn count_parts(value: &Value) -> usize {
    let inner: usize = match value {
        Value::List(items) => items.iter().map(count_parts).sum(),
        Value::Map(entries) => entries.values().map(count_parts).sum(),
        _ => 0,
    };
    inner + 1
}

/// The value with its part at a position, counted down, replaced.
fn replaced(value: &Value, left: &mut usize, other: &Value) -> Value {
    *left = left.wrapping_sub(1);
    if *left == 0 {
        return other.clone();
    }
    match value {
        Value::List(items) => Value::list(items.iter().map(|item| replaced(item, left, other))),
        Value::Map(entries) => Value::map(
            entries
                .iter()
                .map(|(key, entry)| (key.clone(), replaced(entry, left, other))),
        ),
        value => value.clone(),
    }
}

#[test]
fn definitions_are_equal_to_those_of_upstream() {
    let Some(folder) = folder() else {
        return;
    };
    for kind in CartoKind::ALL {
        let path = folder.join(format!("crds/carto.run_{}.yaml", kind.plural()));
        let text = std::fs::read_to_string(&path).expect("the pack has the definition");
        let recorded: serde_json::Value = serde_saphyr::from_str(&text).expect("it is YAML");
        let (recorded, own) = (plain(&value(&recorded)), plain(&definition(kind)));
        for key in ["apiVersion", "kind", "spec"] {
            let (recorded, own) = (part(&recorded, key), part(&own, key));
            assert!(
                equal(recorded, own),
                "{kind:?} {key}:\n{recorded}\nis upstream's, ours is\n{own}"
            );
        }
    }
}

/// A definition without descriptions, with lists of names sorted.
fn plain(definition: &Value) -> Value {
    match definition {
        Value::Map(entries) => {
            let is_kept = |(key, entry): &(&blueprint::Name, &Value)| {
                **key != "description".into() || entry.as_text().is_none()
            };
            let entries = entries.iter().filter(is_kept).map(|(key, entry)| {
                let mut entry = plain(entry);
                if **key == *"required"
                    && let Some(names) = entry.as_list()
                {
                    let names: BTreeSet<&str> = names.iter().filter_map(Value::as_text).collect();
                    entry = Value::list(names.into_iter().map(Value::from));
                }
                (key.clone(), entry)
            });
            Value::Map(std::sync::Arc::new(entries.collect::<Map>()))
        }
        Value::List(items) => Value::list(items.iter().map(plain)),
        other => other.clone(),
    }
}
