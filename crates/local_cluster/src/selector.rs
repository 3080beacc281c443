//! Selectors of labels and fields.

use serde_json::Value as Json;

use crate::failure::RefusedRequest;
use crate::naming::ResourceName;

/// What a list or a watch selects.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ObjectFilter {
    labels: Vec<LabelRequirement>,
    fields: Vec<FieldTest>,
}

#[derive(Clone, Debug, PartialEq)]
enum LabelRequirement {
    In(String, Vec<String>),
    NotIn(String, Vec<String>),
    Exists(String),
    Missing(String),
    /// The label is a number above (`true`) or below the value.
    Compares(String, Bound, i64),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Bound {
    Above,
    Below,
}

#[derive(Clone, Debug, PartialEq)]
struct FieldTest {
    /// A JSON pointer.
    pointer: String,
    relation: FieldRelation,
    value: String,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum FieldRelation {
    Equal,
    Different,
}

impl ObjectFilter {
    /// Reads both selectors of a query.
    ///
    /// # Errors
    /// If one is not well formed, or a field cannot be selected.
    pub(crate) fn read(
        labels: Option<&str>,
        fields: Option<&str>,
        resource: &ResourceName,
    ) -> Result<ObjectFilter, RefusedRequest> {
        Ok(ObjectFilter {
            labels: labels.map_or(Ok(Vec::new()), label_requirements)?,
            fields: fields.map_or(Ok(Vec::new()), |text| field_tests(text, resource))?,
        })
    }

    /// Whether the object is selected.
    pub(crate) fn selects(&self, object: &Json) -> bool {
        let labels = &object["metadata"]["labels"];
        self.labels.iter().all(|own| own.holds(labels))
            && self.fields.iter().all(|own| own.holds(object))
    }

    /// Labels of which a selected object has one of the values.
    pub(crate) fn wanted_labels(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.labels.iter().filter_map(|own| match own {
            LabelRequirement::In(key, values) => Some((key.as_str(), &values[..])),
            _ => None,
        })
    }

    /// The only name that is selected, if the filter names one.
    pub(crate) fn wanted_name(&self) -> Option<&str> {
        let named = self
            .fields
            .iter()
            .find(|own| own.pointer == "/metadata/name" && own.relation == FieldRelation::Equal);
        named.map(|own| own.value.as_str())
    }
}

impl LabelRequirement {
    fn holds(&self, labels: &Json) -> bool {
        let value = |key: &str| labels.get(key).and_then(Json::as_str);
        match self {
            LabelRequirement::In(key, values) => {
                value(key).is_some_and(|own| values.iter().any(|value| value == own))
            }
            LabelRequirement::NotIn(key, values) => {
                !value(key).is_some_and(|own| values.iter().any(|value| value == own))
            }
            LabelRequirement::Exists(key) => value(key).is_some(),
            LabelRequirement::Missing(key) => value(key).is_none(),
            LabelRequirement::Compares(key, bound, limit) => {
                let number = value(key).and_then(|text| text.parse::<i64>().ok());
                number.is_some_and(|number| match bound {
                    Bound::Above => number > *limit,
                    Bound::Below => number < *limit,
                })
            }
        }
    }
}

impl FieldTest {
    fn holds(&self, object: &Json) -> bool {
        let value = match object.pointer(&self.pointer) {
            Some(Json::String(text)) => text.clone(),
            None | Some(Json::Null) => String::new(),
            Some(other) => other.to_string(),
        };
        (value == self.value) == (self.relation == FieldRelation::Equal)
    }
}

fn label_requirements(text: &str) -> Result<Vec<LabelRequirement>, RefusedRequest> {
    let wrong = |part: &str| {
        RefusedRequest::bad_request(format!(
            "unable to parse requirement: found '{part}' in the label selector \"{text}\""
        ))
    };
    let parts = split_outside_brackets(text).into_iter().map(str::trim);
    let parts = parts.filter(|part| !part.is_empty());
    parts
        .map(|part| {
            let requirement = label_requirement(part).ok_or_else(|| wrong(part))?;
            Ok(requirement)
        })
        .collect()
}

/// Parts between commas that are not in brackets.
fn split_outside_brackets(text: &str) -> Vec<&str> {
    let mut depth = 0_i32;
    text.split(|letter| {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        letter == ',' && depth == 0
    })
    .collect()
}

fn label_requirement(part: &str) -> Option<LabelRequirement> {
    if let Some(key) = part.strip_prefix('!') {
        return Some(LabelRequirement::Missing(key_of(key)?));
    }
    if let Some((left, values)) = part.split_once('(') {
        let values = values.strip_suffix(')')?;
        let values = values.split(',').map(value_of).collect::<Option<_>>()?;
        let (key, word) = left.trim().rsplit_once(char::is_whitespace)?;
        return match word {
            "in" => Some(LabelRequirement::In(key_of(key)?, values)),
            "notin" => Some(LabelRequirement::NotIn(key_of(key)?, values)),
            _ => None,
        };
    }
    if let Some((key, value)) = part.split_once("!=") {
        return Some(LabelRequirement::NotIn(
            key_of(key)?,
            vec![value_of(value)?],
        ));
    }
    if let Some((key, value)) = part.split_once("==").or_else(|| part.split_once('=')) {
        return Some(LabelRequirement::In(key_of(key)?, vec![value_of(value)?]));
    }
    for (sign, bound) in [('>', Bound::Above), ('<', Bound::Below)] {
        if let Some((key, value)) = part.split_once(sign) {
            let limit = value.trim().parse().ok()?;
            return Some(LabelRequirement::Compares(key_of(key)?, bound, limit));
        }
    }
    Some(LabelRequirement::Exists(key_of(part)?))
}

fn key_of(text: &str) -> Option<String> {
    let text = text.trim();
    let fits = !text.is_empty()
        && text
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || "-_./".contains(letter));
    fits.then(|| text.to_owned())
}

fn value_of(text: &str) -> Option<String> {
    let text = text.trim();
    let fits = text
        .chars()
        .all(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(letter));
    fits.then(|| text.to_owned())
}

fn field_tests(text: &str, resource: &ResourceName) -> Result<Vec<FieldTest>, RefusedRequest> {
    let parts = text.split(',').filter(|part| !part.is_empty());
    parts
        .map(|part| {
            let (field, relation, value) = if let Some((field, value)) = part.split_once("!=") {
                (field, FieldRelation::Different, value)
            } else if let Some((field, value)) =
                part.split_once("==").or_else(|| part.split_once('='))
            {
                (field, FieldRelation::Equal, value)
            } else {
                return Err(RefusedRequest::bad_request(format!(
                    "invalid selector: '{text}'; can't understand '{part}'"
                )));
            };
            if !is_selectable(field, resource) {
                return Err(RefusedRequest::bad_request(format!(
                    "field label not supported: {field}"
                )));
            }
            // The reporting component of an event stands in another field.
            let field = match field {
                "reportingComponent" if resource.is("", "events") => "source.component",
                other => other,
            };
            Ok(FieldTest {
                pointer: format!("/{}", field.replace('.', "/")),
                relation,
                value: value.to_owned(),
            })
        })
        .collect()
}

/// The fields that kube-apiserver selects by, for each kind.
fn is_selectable(field: &str, resource: &ResourceName) -> bool {
    if matches!(field, "metadata.name" | "metadata.namespace") {
        return true;
    }
    let fields: &[&str] = match (&*resource.group, &*resource.plural) {
        ("", "events") => &[
            "involvedObject.kind",
            "involvedObject.namespace",
            "involvedObject.name",
            "involvedObject.uid",
            "involvedObject.apiVersion",
            "involvedObject.resourceVersion",
            "involvedObject.fieldPath",
            "reason",
            "reportingComponent",
            "source",
            "type",
        ],
        ("", "pods") => &[
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            "status.nominatedNodeName",
        ],
        ("", "secrets") => &["type"],
        ("", "namespaces") => &["status.phase"],
        ("", "nodes") => &["spec.unschedulable"],
        ("", "services") => &["spec.clusterIP", "spec.type"],
        ("batch", "jobs") => &["status.successful"],
        _ => &[],
    };
    fields.contains(&field)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn selects(selector: &str, labels: Json) -> bool {
        let resource = ResourceName::new("", "pods");
        let filter = ObjectFilter::read(Some(selector), None, &resource).unwrap();
        filter.selects(&json!({"metadata": {"labels": labels}}))
    }

    #[test]
    fn labels_are_selected_by_all_forms() {
        let labels = || json!({"app": "web", "carto.run/name": "a", "n": "7"});
        for selector in [
            "app=web",
            "app==web,carto.run/name=a",
            "app in (web, db)",
            "app notin (db)",
            "other notin (db)",
            "app",
            "!other",
            "app!=db",
            "other!=db",
            "n>6",
            "n<8",
            "",
        ] {
            assert!(selects(selector, labels()), "{selector}");
        }
        for selector in [
            "app=db",
            "!app",
            "app notin (web)",
            "other",
            "n>7",
            "other=x",
        ] {
            assert!(!selects(selector, labels()), "{selector}");
        }
        let resource = ResourceName::new("", "pods");
        for wrong in ["a in b", "a=b=c", "a b", "a>x", "=a"] {
            assert!(
                ObjectFilter::read(Some(wrong), None, &resource).is_err(),
                "{wrong}"
            );
        }
    }

    #[test]
    fn only_fields_of_the_kind_are_selected() {
        let events = ResourceName::new("", "events");
        let filter = ObjectFilter::read(
            None,
            Some("involvedObject.name=a,type!=Warning,metadata.namespace=x"),
            &events,
        );
        let filter = filter.unwrap();
        let event = |kind: &str| {
            json!({"metadata": {"namespace": "x"}, "involvedObject": {"name": "a"},
            "type": kind})
        };
        assert!(filter.selects(&event("Normal")) && !filter.selects(&event("Warning")));
        let other = ResourceName::new("shop.io", "tills");
        assert!(ObjectFilter::read(None, Some("spec.a=b"), &other).is_err());
        assert!(ObjectFilter::read(None, Some("metadata.name=b"), &other).is_ok());
    }
}
