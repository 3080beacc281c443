//! The inputs of a resource: the outputs of the resources that it names
//! (decisions/cartographer#context).

use blueprint::{IndexMap, Map, Name, Value};

/// What a resource gives to others.
#[derive(Clone, Debug, PartialEq)]
pub enum ResourceOutput {
    /// Nothing.
    Nothing,
    /// Of a source template, and what a deployment passes on.
    Source(SourceOutput),
    /// Of an image template.
    Image(Value),
    /// Of a config template.
    Config(Value),
}

/// A source. Both values can be any data.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceOutput {
    /// Where it is.
    pub url: Value,
    /// Which version it is.
    pub revision: Value,
}

/// The outputs by the name of the resource. A resource without an output yet is absent.
pub type ResourceOutputs = IndexMap<Name, ResourceOutput>;

/// The inputs of a resource that have a value by now.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResourceInputs {
    /// The sources by the name of the input.
    pub sources: IndexMap<Name, SourceOutput>,
    /// The images by the name of the input.
    pub images: IndexMap<Name, Value>,
    /// The configs by the name of the input.
    pub configs: IndexMap<Name, Value>,
    /// What a deployment passes on.
    pub deployment: Option<SourceOutput>,
    /// The declared inputs without a value.
    pub absent: Vec<AbsentInput>,
}

/// A declared input without a value.
#[derive(Clone, Debug, PartialEq)]
pub struct AbsentInput {
    /// The field of the resource that declares it: `sources`, `images`, `configs`, `deployment`.
    pub field: &'static str,
    /// The name of the input; empty for a deployment.
    pub name: Name,
    /// The resource whose output it is.
    pub producer: Name,
}

impl ResourceInputs {
    /// The inputs of a resource, an entry of `resources` of a blueprint. A null image or config
    /// counts as no output; a source may have a null url.
    pub fn of(resource: &Value, outputs: &ResourceOutputs) -> ResourceInputs {
        let mut inputs = ResourceInputs::default();
        for (name, producer) in references(resource, "sources") {
            match outputs.get(producer) {
                Some(ResourceOutput::Source(source)) => {
                    inputs.sources.insert(name.clone(), source.clone());
                }
                _ => inputs.miss("sources", name, producer),
            }
        }
        for (name, producer) in references(resource, "images") {
            match outputs.get(producer) {
                Some(ResourceOutput::Image(image)) if !image.is_null() => {
                    inputs.images.insert(name.clone(), image.clone());
                }
                _ => inputs.miss("images", name, producer),
            }
        }
        for (name, producer) in references(resource, "configs") {
            match outputs.get(producer) {
                Some(ResourceOutput::Config(config)) if !config.is_null() => {
                    inputs.configs.insert(name.clone(), config.clone());
                }
                _ => inputs.miss("configs", name, producer),
            }
        }
        let deployment = resource.get("deployment").and_then(Value::as_map);
        if let Some(producer) = deployment.and_then(|deployment| name_in(deployment, "resource")) {
            match outputs.get(producer) {
                Some(ResourceOutput::Source(source)) => inputs.deployment = Some(source.clone()),
                _ => inputs.miss("deployment", &Name::from(""), producer),
            }
        }
        inputs
    }

    fn miss(&mut self, field: &'static str, name: &Name, producer: &Name) {
        self.absent.push(AbsentInput {
            field,
            name: name.clone(),
            producer: producer.clone(),
        });
    }
}

/// Names and producers of the inputs in a list.
fn references<'a>(resource: &'a Value, field: &str) -> impl Iterator<Item = (&'a Name, &'a Name)> {
    let list = resource.get(field).and_then(Value::as_list);
    list.unwrap_or_default().iter().filter_map(|reference| {
        let reference = reference.as_map()?;
        Some((name_in(reference, "name")?, name_in(reference, "resource")?))
    })
}

fn name_in<'a>(entries: &'a Map, key: &str) -> Option<&'a Name> {
    match entries.get(key)?.unmarked() {
        Value::Text(name) => Some(name),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use blueprint::{Name, Value};

    use super::{ResourceInputs, ResourceOutput, ResourceOutputs};

    fn reference(name: &str, producer: &str) -> Value {
        Value::map(
            [("name", name), ("resource", producer)].map(|(key, text)| (key, Value::from(text))),
        )
    }

    #[test]
    fn a_null_image_is_no_input() {
        let images = [reference("app", "builder"), reference("side", "other")];
        let resource = Value::map([("images", Value::list(images))]);
        let outputs: ResourceOutputs = [
            (
                Name::from("builder"),
                ResourceOutput::Image(Value::from("i")),
            ),
            (Name::from("other"), ResourceOutput::Image(Value::Null)),
        ]
        .into_iter()
        .collect();
        let inputs = ResourceInputs::of(&resource, &outputs);
        assert_eq!(inputs.images.get("app"), Some(&Value::from("i")));
        assert_eq!(inputs.images.len(), 1);
        assert_eq!(inputs.absent[0].producer.as_ref(), "other");
    }

    #[test]
    fn an_output_of_another_sort_is_no_input() {
        let resource = Value::map([("sources", Value::list([reference("code", "builder")]))]);
        let image = ResourceOutput::Image(Value::from("i"));
        let outputs: ResourceOutputs = [(Name::from("builder"), image)].into_iter().collect();
        let inputs = ResourceInputs::of(&resource, &outputs);
        assert_eq!(
            (inputs.sources.len(), inputs.absent[0].field),
            (0, "sources")
        );
    }
}
