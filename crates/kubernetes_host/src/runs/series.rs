//! A series: the runs that a selector finds, the newest one first.

use std::cmp::Reverse;
use std::fmt;
use std::str::FromStr;

use ::kubernetes::GroupKind;
use ::provider::{ErrorKind, ProviderError};
use blueprint::{Name, Value};
use cartographer::conditions::TRUE;
use cartographer::health::{resource_health, run_health, run_problem};
use cartographer::retention::{KeptRuns, RunLimits};
use serde_json::{Value as Json, json};

use super::spec::{HASH_ANNOTATION, NUMBER_ANNOTATION, RunSpec};
use crate::applying::TOKEN_LABEL;
use crate::context::{CallContext, short_digest};
use crate::data::escaped;
use crate::kinds::ApiKind;
use crate::observed::fields_of;

/// The identity of a series in a cluster: `run/GROUP/KIND/NAMESPACE/LABEL=VALUE,...`. The namespace is
/// empty for a kind without namespaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SeriesId {
    /// The kind of the runs.
    pub(super) kind: GroupKind,
    /// Their namespace.
    pub(super) namespace: Option<Name>,
    /// Their labels, as the API takes a selector.
    pub(super) selector: String,
}

impl SeriesId {
    /// The series of a spec in a namespace.
    pub(super) fn new(spec: &RunSpec, namespace: Option<Name>) -> SeriesId {
        let labels = spec.selector.iter();
        let labels: Vec<String> = labels
            .map(|(label, value)| format!("{label}={value}"))
            .collect();
        SeriesId {
            kind: spec.manifest.kind.clone(),
            namespace,
            selector: labels.join(","),
        }
    }

    /// Whether the selector finds an object of another series.
    pub(super) fn finds(&self, other: &SeriesId, object: &Json) -> bool {
        let labels = &object["metadata"]["labels"];
        let mut selected = self.selector.split(',');
        self.kind == other.kind
            && self.namespace == other.namespace
            && selected.all(|label| {
                let (key, value) = label.split_once('=').unwrap_or((label, ""));
                labels[key] == json!(value)
            })
    }

    /// Reads a recorded id.
    ///
    /// # Errors
    /// [`ErrorKind::Document`] if the text is no id of a series.
    pub(super) fn read(id: &str) -> Result<SeriesId, ProviderError> {
        id.parse().map_err(|()| {
            let message = format!("`{id}` is no id of a series of runs");
            ProviderError::new(ErrorKind::Document, message)
        })
    }
}

impl fmt::Display for SeriesId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let namespace = self.namespace.as_deref().unwrap_or_default();
        write!(f, "run/{}/{namespace}/{}", self.kind, self.selector)
    }
}

impl FromStr for SeriesId {
    type Err = ();

    fn from_str(text: &str) -> Result<SeriesId, ()> {
        let mut parts = text.splitn(5, '/');
        let mut part = || parts.next().ok_or(());
        let (word, group, kind, namespace, selector) =
            (part()?, part()?, part()?, part()?, part()?);
        if word != "run" || selector.is_empty() {
            return Err(());
        }
        Ok(SeriesId {
            kind: format!("{group}/{kind}").parse().map_err(|_| ())?,
            namespace: Some(namespace).filter(|it| !it.is_empty()).map(Name::from),
            selector: selector.to_owned(),
        })
    }
}

/// A run, with what its rule says about it.
#[derive(Clone, Debug)]
pub(super) struct Run {
    /// The object.
    pub(super) object: Json,
    /// Its fields. Data of secrets are marked.
    fields: Value,
    /// `True` if it is healthy, `False` if it is not, else `Unknown`.
    pub(super) health: &'static str,
    /// Why.
    message: Name,
}

impl Run {
    fn judge(kind: &GroupKind, rule: &Value, object: Json) -> Run {
        let fields = fields_of(kind, &object);
        let message = match rule.is_null() {
            true => "".into(),
            false => resource_health(rule, None, Some(&fields)).message,
        };
        Run {
            health: run_health(rule, &fields),
            message: message.as_ref().into(),
            object,
            fields,
        }
    }

    /// The name.
    pub(super) fn name(&self) -> &str {
        self.object["metadata"]["name"].as_str().unwrap_or_default()
    }

    /// The digest of the template that it was made from.
    pub(super) fn digest(&self) -> Option<&str> {
        self.object["metadata"]["annotations"][HASH_ANNOTATION].as_str()
    }

    /// Whether a call with this token made it.
    pub(super) fn is_made_by(&self, token: &str) -> bool {
        self.object["metadata"]["labels"][TOKEN_LABEL] == json!(short_digest(token))
    }

    fn number(&self) -> u64 {
        number_of(&self.object)
    }
}

fn number_of(object: &Json) -> u64 {
    let number = object["metadata"]["annotations"][NUMBER_ANNOTATION].as_str();
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// The runs of a series that are not being deleted, the newest one first.
#[derive(Clone, Debug)]
pub(super) struct Series {
    pub(super) runs: Vec<Run>,
}

impl Series {
    /// Finds the runs and judges them by a rule.
    ///
    /// # Errors
    /// If the cluster cannot be asked, or refuses.
    pub(super) async fn list(
        context: &CallContext<'_>,
        api: &ApiKind,
        id: &SeriesId,
        rule: &Value,
    ) -> Result<Series, ProviderError> {
        let objects = objects_of(context, api, id).await?;
        let staying = objects
            .into_iter()
            .filter(|object| object["metadata"].get("deletionTimestamp").is_none());
        Ok(Series::of(&id.kind, rule, staying))
    }

    fn of(kind: &GroupKind, rule: &Value, objects: impl Iterator<Item = Json>) -> Series {
        let mut runs: Vec<Run> = objects
            .map(|object| Run::judge(kind, rule, object))
            .collect();
        // The server writes all times in the same form.
        let text = |run: &Run, key: &str| {
            let text = run.object["metadata"][key].as_str();
            text.unwrap_or_default().to_owned()
        };
        runs.sort_by_cached_key(|run| {
            let created = text(run, "creationTimestamp");
            (Reverse(created), Reverse(run.number()), text(run, "name"))
        });
        Series { runs }
    }

    /// Adds a run that was just made.
    pub(super) fn add(&mut self, kind: &GroupKind, rule: &Value, object: Json) {
        self.runs.insert(0, Run::judge(kind, rule, object));
    }

    /// The newest run.
    pub(super) fn newest(&self) -> Option<&Run> {
        self.runs.first()
    }

    /// The position of the next run.
    pub(super) fn next_number(&self) -> u64 {
        let last = self.runs.iter().map(Run::number).max();
        last.unwrap_or(0).saturating_add(1)
    }

    /// Takes the runs out that are not kept.
    pub(super) fn take_surplus(&mut self, limits: RunLimits) -> Vec<Run> {
        let mut kept = KeptRuns::new(limits);
        let runs = std::mem::take(&mut self.runs).into_iter();
        let (staying, surplus) = runs.partition(|run| kept.keep(run.health));
        self.runs = staying;
        surplus
    }

    /// The fields of the resource that the runs tell.
    pub(super) fn computed(&self) -> [(Name, Value); 3] {
        let newest = self.newest();
        let healthy = self.runs.iter().find(|run| run.health == TRUE);
        let health = newest.map(|run| {
            Value::map([
                ("status", Value::from(run.health)),
                ("message", Value::Text(run.message.clone())),
            ])
        });
        let object = healthy.map(|run| run.fields.clone());
        let name = newest.map(|run| Value::from(run.name()));
        [
            ("object".into(), object.unwrap_or_default()),
            ("newest".into(), name.unwrap_or_default()),
            ("health".into(), health.unwrap_or_default()),
        ]
    }

    /// Why the newest run is not healthy; `None` if it is.
    pub(super) fn unhealthy(&self) -> Option<String> {
        let newest = self.newest()?;
        run_problem(newest.name(), newest.health, &newest.message)
    }
}

/// All objects that the selector of a series finds, in no order.
///
/// # Errors
/// If the cluster cannot be asked, or refuses.
pub(super) async fn objects_of(
    context: &CallContext<'_>,
    api: &ApiKind,
    id: &SeriesId,
) -> Result<Vec<Json>, ProviderError> {
    let collection = api.collection(id.namespace.as_deref());
    let path = format!("{collection}?labelSelector={}", escaped(&id.selector));
    let mut answer = match context.cluster.get(&id.kind, &path).await {
        Ok(answer) => answer,
        Err(error) if error.is_not_found() => return Ok(Vec::new()),
        Err(error) => return Err(context.failed(error)),
    };
    let Json::Array(mut objects) = answer["items"].take() else {
        return Ok(Vec::new());
    };
    for object in &mut objects {
        // The server leaves them out in lists of built-in kinds.
        if let Some(entries) = object.as_object_mut() {
            let version = json!(api.version.to_string());
            entries.entry("apiVersion").or_insert(version);
            let kind = json!(api.kind.as_ref());
            entries.entry("kind").or_insert(kind);
        }
    }
    Ok(objects)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind() -> GroupKind {
        GroupKind::new("runs.example", "Build")
    }

    fn run(name: &str, second: u8, number: &str, succeeded: &str) -> Json {
        json!({
            "metadata": {
                "name": name,
                "creationTimestamp": format!("2026-01-01T00:00:{second:02}Z"),
                "annotations": {NUMBER_ANNOTATION: number},
            },
            "status": {"conditions": [
                {"type": "Succeeded", "status": succeeded, "message": "why"}]},
        })
    }

    fn series(runs: &[Json]) -> Series {
        let rule = Value::map([("singleConditionType", Value::from("Succeeded"))]);
        Series::of(&kind(), &rule, runs.iter().cloned())
    }

    fn names(runs: &[Run]) -> Vec<&str> {
        runs.iter().map(Run::name).collect()
    }

    #[test]
    fn runs_of_one_second_are_in_the_order_of_their_numbers() {
        let series = series(&[
            run("a", 1, "1", "True"),
            run("z", 1, "2", "True"),
            run("b", 0, "9", "True"),
        ]);
        assert_eq!(names(&series.runs), ["z", "a", "b"]);
        assert_eq!(series.next_number(), 10);
    }

    #[test]
    fn the_newest_healthy_run_is_the_object() {
        let mut series = series(&[
            run("a", 1, "1", "True"),
            run("b", 2, "2", "True"),
            run("c", 3, "3", "False"),
        ]);
        let [(_, object), (_, newest), (_, health)] = series.computed();
        let name = object
            .get("metadata")
            .and_then(|it| it.get("name"))
            .cloned();
        assert_eq!(name, Some(Value::from("b")));
        assert_eq!(newest, Value::from("c"));
        assert_eq!(health.get("status"), Some(&Value::from("False")));
        let why = series.unhealthy();
        assert_eq!(why.as_deref(), Some("the run `c` is not healthy: why"));
        series.runs.clear();
        let [(_, object), (_, newest), _] = series.computed();
        assert!(object.is_null() && newest.is_null());
    }

    #[test]
    fn the_newest_runs_of_each_sort_are_kept_and_those_that_have_not_ended() {
        let mut series = series(&[
            run("a", 1, "1", "True"),
            run("b", 2, "2", "False"),
            run("c", 3, "3", "Unknown"),
            run("d", 4, "4", "True"),
            run("e", 5, "5", "False"),
        ]);
        let limits = RunLimits {
            failed: 1,
            successful: 1,
        };
        let surplus = series.take_surplus(limits);
        assert_eq!(names(&surplus), ["b", "a"]);
        assert_eq!(names(&series.runs), ["e", "d", "c"]);
    }

    #[test]
    fn a_series_finds_the_runs_of_a_narrower_one() {
        let id = |namespace: &str, selector: &str| SeriesId {
            kind: kind(),
            namespace: Some(namespace.into()),
            selector: selector.to_owned(),
        };
        let object = json!({"metadata": {"labels": {"app": "shop", "tier": "web"}}});
        let narrow = id("a", "app=shop,tier=web");
        assert!(id("a", "app=shop").finds(&narrow, &object));
        assert!(!id("a", "app=other").finds(&narrow, &object));
        assert!(!id("b", "app=shop").finds(&narrow, &object));
    }

    #[test]
    fn ids_are_read_as_they_are_written() {
        for namespace in [Some("shop".into()), None] {
            let id = SeriesId {
                kind: kind(),
                namespace,
                selector: "carto.run/a=b,c=d".to_owned(),
            };
            assert_eq!(id.to_string().parse(), Ok(id));
        }
        for wrong in ["", "run/a/B/c", "run/a/B/c/", "core/ConfigMap/a/b"] {
            assert!(wrong.parse::<SeriesId>().is_err(), "{wrong}");
        }
    }
}
