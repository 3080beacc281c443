//! Where the replicas of objects stand.

use serde_json::{Value as Json, json};

use crate::naming::ResourceName;
use crate::object::set_field;

/// Where the parts of a scale stand in an object: names of fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ScalePaths {
    replicas: Vec<String>,
    current: Vec<String>,
    /// A selector as a text, or the map `matchLabels` of one.
    selector: Vec<String>,
}

impl ScalePaths {
    /// The paths of a kind of every server. `None` if it has no scale.
    pub(crate) fn of_builtin(resource: &ResourceName) -> Option<ScalePaths> {
        let selector = match (&*resource.group, &*resource.plural) {
            ("apps", "deployments" | "replicasets" | "statefulsets") => {
                ".spec.selector.matchLabels"
            }
            ("", "replicationcontrollers") => ".spec.selector",
            _ => return None,
        };
        Some(ScalePaths {
            replicas: names(".spec.replicas"),
            current: names(".status.replicas"),
            selector: names(selector),
        })
    }

    /// The paths that a version of a definition states. `None` if it has no scale.
    pub(crate) fn of_definition(version: &Json) -> Option<ScalePaths> {
        let scale = &version["subresources"]["scale"];
        let path = |field: &str| scale[field].as_str().map(names);
        Some(ScalePaths {
            replicas: path("specReplicasPath")?,
            current: path("statusReplicasPath")?,
            selector: path("labelSelectorPath").unwrap_or_default(),
        })
    }

    /// The object `Scale` of an object.
    pub(crate) fn scale_of(&self, object: &Json) -> Json {
        let number = |path: &[String]| at(object, path).and_then(Json::as_i64).unwrap_or(0);
        let selector = match at(object, &self.selector) {
            Some(Json::String(text)) => text.clone(),
            Some(Json::Object(labels)) => {
                let pair = |(name, value): (&String, &Json)| {
                    format!("{name}={}", value.as_str().unwrap_or_default())
                };
                let mut pairs: Vec<String> = labels.iter().map(pair).collect();
                pairs.sort();
                pairs.join(",")
            }
            _ => String::new(),
        };
        let mut metadata = json!({});
        for field in [
            "name",
            "namespace",
            "uid",
            "resourceVersion",
            "creationTimestamp",
        ] {
            set_field(&mut metadata, field, object["metadata"].get(field).cloned());
        }
        let mut status = json!({"replicas": number(&self.current)});
        if !selector.is_empty() {
            status["selector"] = selector.into();
        }
        json!({"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata,
            "spec": {"replicas": number(&self.replicas)}, "status": status})
    }

    /// The object with the replicas of a scale.
    pub(crate) fn scaled(&self, object: &Json, replicas: i64) -> Json {
        let mut object = object.clone();
        let mut place = &mut object;
        for name in &self.replicas {
            if !place.is_object() {
                *place = json!({});
            }
            place = &mut place[name.as_str()];
        }
        *place = replicas.into();
        object
    }
}

/// The names of a path such as `.spec.replicas`.
fn names(path: &str) -> Vec<String> {
    let names = path.split('.').filter(|name| !name.is_empty());
    names.map(str::to_owned).collect()
}

fn at<'o>(object: &'o Json, path: &[String]) -> Option<&'o Json> {
    if path.is_empty() {
        return None;
    }
    path.iter()
        .try_fold(object, |at, name| at.get(name.as_str()))
}
