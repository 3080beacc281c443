//! Outputs of resources (decisions/cartographer#outputs): read from an object, or passed through
//! from an input.

use std::fmt::Write as _;

use blueprint::{Name, Value};
use jsonpath::{FailureClass, Path, PathFailure};
use sha2::{Digest as _, Sha256};

use crate::inputs::{AbsentInput, ResourceInputs, ResourceOutput, SourceOutput};
use crate::yaml_text::yaml_text;

/// How much of a value a preview shows, in bytes.
const PREVIEW: usize = 1_024;

/// How deep values may be that are compared.
const DEPTH: usize = 500;

/// Why a resource has no output.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputFailure {
    /// The class.
    pub class: OutputFailureClass,
    /// What is wrong, as a lower-case phrase.
    pub message: String,
    /// The path that it is about, as the template states it.
    pub path: Option<Name>,
    /// The inputs that it is about.
    pub waits_for: Vec<AbsentInput>,
}

/// The classes of missing outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputFailureClass {
    /// A path of the template gives no single value.
    JsonPath,
    /// A deployment does not say which generation it observed.
    ObservedGeneration,
    /// A deployment is not ready.
    Condition,
    /// A deployment failed.
    FailedCondition,
    /// Anything else, such as an input without a value.
    Other,
}

impl OutputFailure {
    fn new(class: OutputFailureClass, message: impl Into<String>) -> OutputFailure {
        OutputFailure {
            class,
            message: message.into(),
            path: None,
            waits_for: Vec::new(),
        }
    }

    fn at(self, path: &str) -> OutputFailure {
        OutputFailure {
            path: Some(Name::from(path)),
            ..self
        }
    }
}

/// The output of a resource: what the paths of its template, a whole manifest, lead to in its
/// object. A deployment passes its input on once it is ready. Without an object, paths lead
/// nowhere. Parts that are not known yet are unknown.
pub fn read_output(
    template: &Value,
    object: Option<&Value>,
    inputs: &ResourceInputs,
) -> Result<ResourceOutput, OutputFailure> {
    let spec = template.get("spec").unwrap_or(&Value::Null);
    let read = |field: &str| {
        let path = spec.get(field).and_then(Value::as_text).unwrap_or_default();
        read_path(path, object)
    };
    match template.get("kind").and_then(Value::as_text) {
        Some("ClusterSourceTemplate") => Ok(ResourceOutput::Source(SourceOutput {
            url: read("urlPath")?,
            revision: read("revisionPath")?,
        })),
        Some("ClusterImageTemplate") => Ok(ResourceOutput::Image(read("imagePath")?)),
        Some("ClusterConfigTemplate") => Ok(ResourceOutput::Config(read("configPath")?)),
        Some("ClusterDeploymentTemplate") => deployment(spec, object, inputs),
        _ => Ok(ResourceOutput::Nothing),
    }
}

/// The output of a resource that passes an input through, by the kind of its template.
pub fn pass_through(
    template_kind: &str,
    input: &str,
    inputs: &ResourceInputs,
) -> Result<ResourceOutput, OutputFailure> {
    let (field, output) = match template_kind {
        "ClusterSourceTemplate" => {
            let source = inputs.sources.get(input).cloned();
            ("sources", source.map(ResourceOutput::Source))
        }
        "ClusterImageTemplate" => {
            let image = inputs.images.get(input).cloned();
            ("images", image.map(ResourceOutput::Image))
        }
        "ClusterConfigTemplate" => {
            let config = inputs.configs.get(input).cloned();
            ("configs", config.map(ResourceOutput::Config))
        }
        "ClusterDeploymentTemplate" => {
            let source = inputs.deployment.clone();
            ("deployment", source.map(ResourceOutput::Source))
        }
        _ => return Ok(ResourceOutput::Nothing),
    };
    output.ok_or_else(|| {
        let absent = inputs.absent.iter().filter(|absent| {
            absent.field == field && (field == "deployment" || *absent.name == *input)
        });
        OutputFailure {
            waits_for: absent.cloned().collect(),
            ..OutputFailure::new(
                OutputFailureClass::Other,
                format!("`{field}` has no input `{input}` with a value"),
            )
        }
    })
}

fn find(path: &str, object: &Value) -> Result<Value, PathFailure> {
    Path::parse(path)?.find(object)
}

fn read_path(path: &str, object: Option<&Value>) -> Result<Value, OutputFailure> {
    let fail = |why: String| OutputFailure::new(OutputFailureClass::JsonPath, why).at(path);
    match object {
        None => Err(fail(format!("`{path}` leads nowhere: there is no object"))),
        Some(object) => find(path, object).map_err(|failure| fail(format!("`{path}`: {failure}"))),
    }
}

/// What a deployment passes on. If it is not known yet whether it is ready, its output is unknown.
fn deployment(
    spec: &Value,
    object: Option<&Value>,
    inputs: &ResourceInputs,
) -> Result<ResourceOutput, OutputFailure> {
    let object = object.unwrap_or(&Value::Null);
    let completion = spec
        .get("observedCompletion")
        .filter(|rule| !rule.is_null());
    let observed = match completion {
        Some(completion) => observed_completion(completion, object)?,
        None => observed_matches(spec, object)?,
    };
    let Some(source) = &inputs.deployment else {
        let absent = inputs.absent.iter();
        let absent = absent.filter(|absent| absent.field == "deployment");
        return Err(OutputFailure {
            waits_for: absent.cloned().collect(),
            ..OutputFailure::new(
                OutputFailureClass::Other,
                "the input `deployment` has no value",
            )
        });
    };
    let mut source = source.clone();
    if observed.iter().any(Value::has_unknown) {
        let unknown = Value::list(observed.into_iter().chain([source.url, source.revision]));
        let unknown = unknown.as_unknown().tainted(unknown.has_secret());
        source = SourceOutput {
            url: unknown.clone(),
            revision: unknown,
        };
    }
    Ok(ResourceOutput::Source(source))
}

fn not_ready(message: String) -> OutputFailure {
    OutputFailure::new(OutputFailureClass::Condition, message)
}

/// Each pair must be equal. Returns what was looked at.
fn observed_matches(spec: &Value, object: &Value) -> Result<Vec<Value>, OutputFailure> {
    let mut observed = Vec::new();
    let pairs = spec.get("observedMatches").and_then(Value::as_list);
    for pair in pairs.unwrap_or_default() {
        let path_of = |side: &str| pair.get(side).and_then(Value::as_text).unwrap_or_default();
        let read = |path: &str| {
            find(path, object).map_err(|failure| not_ready(format!("`{path}`: {failure}")).at(path))
        };
        let (input_path, output_path) = (path_of("input"), path_of("output"));
        let (input, output) = (read(input_path)?, read(output_path)?);
        if !input.has_unknown() && !output.has_unknown() && !are_equal(&input, &output) {
            let message = format!("`{input_path}` and `{output_path}` differ");
            return Err(not_ready(message));
        }
        observed.extend([input, output]);
    }
    Ok(observed)
}

/// The generation must be observed, the condition of failure must not hold, and that of success
/// must. Returns what was looked at.
fn observed_completion(rule: &Value, object: &Value) -> Result<Vec<Value>, OutputFailure> {
    let missing_is_null = |found: Result<Value, PathFailure>| match found {
        Err(failure) if failure.class == FailureClass::Missing => Ok(Value::Null),
        other => other,
    };
    let generation = missing_is_null(find("metadata.generation", object)).map_err(|failure| {
        OutputFailure::new(OutputFailureClass::JsonPath, failure.message).at("metadata.generation")
    })?;
    let observed = find("status.observedGeneration", object).map_err(|failure| {
        let message = format!("`status.observedGeneration`: {failure}");
        OutputFailure::new(OutputFailureClass::ObservedGeneration, message)
    })?;
    let mut looked_at = vec![generation, observed];
    if !looked_at.iter().any(Value::has_unknown) && !are_equal(&looked_at[0], &looked_at[1]) {
        let message = "`status.observedGeneration` is not `metadata.generation` yet";
        return Err(not_ready(message.to_owned()));
    }
    let side = |side: &str, key: &str| {
        let value = rule.get(side).and_then(|side| side.get(key));
        value.cloned().unwrap_or_default()
    };
    if rule.get("failed").is_some_and(|failed| !failed.is_null()) {
        let (key, value) = (side("failed", "key"), side("failed", "value"));
        let key = key.as_text().unwrap_or_default();
        let found = missing_is_null(find(key, object)).map_err(|failure| {
            OutputFailure::new(OutputFailureClass::JsonPath, format!("`{key}`: {failure}")).at(key)
        })?;
        if found.as_text().is_some() && found.as_text() == value.as_text() {
            let message = format!("`{key}` says that the deployment failed");
            return Err(OutputFailure::new(OutputFailureClass::FailedCondition, message).at(key));
        }
        looked_at.push(found);
    }
    let (key, value) = (side("succeeded", "key"), side("succeeded", "value"));
    let key = key.as_text().unwrap_or_default();
    let found =
        find(key, object).map_err(|failure| not_ready(format!("`{key}`: {failure}")).at(key))?;
    if !found.is_unknown() && (found.as_text().is_none() || found.as_text() != value.as_text()) {
        let message = format!("`{key}` does not say that the deployment succeeded");
        return Err(not_ready(message).at(key));
    }
    looked_at.push(found);
    Ok(looked_at)
}

/// Equality of data: maps as sets of keys, numbers by their amount. Values deeper than 500 levels
/// are never equal.
pub(crate) fn are_equal(one: &Value, other: &Value) -> bool {
    equal_at(one, other, 0)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "an integer and a double are compared as doubles"
)]
fn equal_at(one: &Value, other: &Value, depth: usize) -> bool {
    if depth > DEPTH {
        return false;
    }
    match (one.unmarked(), other.unmarked()) {
        (Value::Map(ones), Value::Map(others)) => {
            ones.len() == others.len()
                && ones.iter().all(|(key, one)| {
                    let other = others.get(key);
                    other.is_some_and(|other| equal_at(one, other, depth + 1))
                })
        }
        (Value::List(ones), Value::List(others)) => {
            ones.len() == others.len()
                && ones
                    .iter()
                    .zip(others.iter())
                    .all(|(one, other)| equal_at(one, other, depth + 1))
        }
        (Value::Int(one), Value::Float(other)) | (Value::Float(other), Value::Int(one)) => {
            *one as f64 == *other
        }
        (one, other) => one == other,
    }
}

/// An output as a status shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputPreview {
    /// `url`, `revision`, `image` or `config`.
    pub name: &'static str,
    /// The beginning of the value as YAML.
    pub preview: String,
    /// The digest of the whole text.
    pub digest: String,
}

/// The previews of an output. A null image or config is no output; neither is a value that is not
/// known yet. A secret is shown as such, with the digest of that text.
pub fn previews(output: &ResourceOutput) -> Vec<OutputPreview> {
    let values: Vec<(&'static str, &Value)> = match output {
        ResourceOutput::Nothing => Vec::new(),
        ResourceOutput::Source(source) => {
            vec![("url", &source.url), ("revision", &source.revision)]
        }
        ResourceOutput::Image(image) if image.is_null() => Vec::new(),
        ResourceOutput::Config(config) if config.is_null() => Vec::new(),
        ResourceOutput::Image(image) => vec![("image", image)],
        ResourceOutput::Config(config) => vec![("config", config)],
    };
    values
        .into_iter()
        .filter_map(|(name, value)| preview(name, value))
        .collect()
}

fn preview(name: &'static str, value: &Value) -> Option<OutputPreview> {
    let text = match value.has_secret() {
        true => "(secret)\n".to_owned(),
        false => yaml_text(value)?,
    };
    let mut digest = String::from("sha256:");
    for byte in Sha256::digest(text.as_bytes()) {
        // Writing to a string cannot fail.
        let _ = write!(digest, "{byte:02x}");
    }
    let end = text.floor_char_boundary(PREVIEW);
    Some(OutputPreview {
        name,
        preview: text.get(..end).unwrap_or_default().to_owned(),
        digest,
    })
}

#[cfg(test)]
mod tests;
