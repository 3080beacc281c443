//! What the tags of a template can read (decisions/cartographer#context).

use blueprint::{Map, Name, Value};
use jsonpath::{FieldShape, Path, PathFailure, StructShape, ValueShape};

use crate::inputs::{AbsentInput, ResourceInputs, SourceOutput};
use crate::params::Params;
use crate::views::OwnerView;
use crate::views::{DELIVERABLE, RUNNABLE, WORKLOAD};

/// The context of one template.
#[derive(Clone, Debug, PartialEq)]
pub struct TemplateContext {
    values: Value,
    shape: &'static ValueShape,
    absent: Vec<AbsentInput>,
}

impl TemplateContext {
    /// The context of a resource of a Workload or a Deliverable. The labels are those about to be
    /// stamped.
    pub fn of_resource(
        owner: &Value,
        params: &Params,
        inputs: &ResourceInputs,
        labels: &Map,
    ) -> TemplateContext {
        let view = OwnerView::new(owner);
        let (owner, shape) = view.parts();
        let sources = inputs.sources.iter();
        let sources = sources.map(|(name, source)| (name.clone(), source_value(source, name)));
        let images = inputs.images.iter();
        let images = images.map(|(name, image)| (name.clone(), input_value("image", image, name)));
        let configs = inputs.configs.iter();
        let configs =
            configs.map(|(name, config)| (name.clone(), input_value("config", config, name)));
        let mut values = vec![
            ("workload", owner.clone()),
            ("deliverable", owner.clone()),
            ("params", params.values()),
            ("sources", Value::map(sources)),
            ("images", Value::map(images)),
            ("configs", Value::map(configs)),
            (
                "deployment",
                match &inputs.deployment {
                    Some(source) => source_value(source, ""),
                    None => Value::Null,
                },
            ),
            ("labels", Value::Map(std::sync::Arc::new(labels.clone()))),
        ];
        // The only input of a sort has a short name.
        if let Some((name, source)) = only(&inputs.sources) {
            values.push(("source", source_value(source, name)));
        }
        if let Some((_, image)) = only(&inputs.images) {
            values.push(("image", image.clone()));
        }
        if let Some((_, config)) = only(&inputs.configs) {
            values.push(("config", config.clone()));
        }
        TemplateContext {
            values: Value::map(values),
            shape: if *shape == WORKLOAD {
                &OF_WORKLOAD
            } else if *shape == DELIVERABLE {
                &OF_DELIVERABLE
            } else {
                &OF_OTHERS
            },
            absent: inputs.absent.clone(),
        }
    }

    /// The context of a Runnable: itself, and the object that its selector found.
    pub fn of_runnable(runnable: &Value, selected: Option<&Value>) -> TemplateContext {
        let view = OwnerView::new(runnable);
        TemplateContext {
            values: Value::map([
                ("runnable", view.parts().0.clone()),
                ("selected", selected.cloned().unwrap_or_default()),
            ]),
            shape: &OF_RUNNABLE,
            absent: Vec::new(),
        }
    }

    /// A context of these values, without an owner.
    pub fn of_values(values: Value) -> TemplateContext {
        TemplateContext {
            values,
            shape: &ValueShape::Data,
            absent: Vec::new(),
        }
    }

    /// What a path leads to. The failures are those of [`Path::find`].
    pub fn find(&self, path: &Path) -> Result<Value, PathFailure> {
        path.find_in(&self.values, self.shape)
    }

    /// The context in the serialised view, for templates of ytt.
    pub fn serialised(&self) -> Value {
        self.shape.serialised(&self.values)
    }

    /// The declared inputs of the resource that have no value yet.
    pub fn absent(&self) -> &[AbsentInput] {
        &self.absent
    }
}

fn only<V>(inputs: &blueprint::IndexMap<Name, V>) -> Option<(&Name, &V)> {
    match inputs.len() {
        1 => inputs.first(),
        _ => None,
    }
}

fn source_value(source: &SourceOutput, name: &str) -> Value {
    Value::map([
        ("url", source.url.clone()),
        ("revision", source.revision.clone()),
        ("name", Value::from(name)),
    ])
}

fn input_value(key: &'static str, value: &Value, name: &str) -> Value {
    Value::map([(key, value.clone()), ("name", Value::from(name))])
}

static SOURCE_INPUT: StructShape = StructShape {
    fields: &[
        FieldShape::always("url", "URL", ValueShape::Data),
        FieldShape::always("revision", "Revision", ValueShape::Data),
        FieldShape::always("name", "Name", ValueShape::Text),
    ],
};

static IMAGE_INPUT: StructShape = StructShape {
    fields: &[
        FieldShape::always("image", "Image", ValueShape::Data),
        FieldShape::always("name", "Name", ValueShape::Text),
    ],
};

static CONFIG_INPUT: StructShape = StructShape {
    fields: &[
        FieldShape::always("config", "Config", ValueShape::Data),
        FieldShape::always("name", "Name", ValueShape::Text),
    ],
};

static SOURCE: ValueShape = ValueShape::Optional(&ValueShape::Struct(&SOURCE_INPUT));
static SOURCES: ValueShape = ValueShape::Map(&ValueShape::Struct(&SOURCE_INPUT));
static IMAGES: ValueShape = ValueShape::Map(&ValueShape::Struct(&IMAGE_INPUT));
static CONFIGS: ValueShape = ValueShape::Map(&ValueShape::Struct(&CONFIG_INPUT));

static OF_WORKLOAD: ValueShape = ValueShape::Keyed(&[
    ("workload", &WORKLOAD),
    ("deliverable", &WORKLOAD),
    ("sources", &SOURCES),
    ("images", &IMAGES),
    ("configs", &CONFIGS),
    ("source", &SOURCE),
    ("deployment", &SOURCE),
]);

static OF_DELIVERABLE: ValueShape = ValueShape::Keyed(&[
    ("workload", &DELIVERABLE),
    ("deliverable", &DELIVERABLE),
    ("sources", &SOURCES),
    ("images", &IMAGES),
    ("configs", &CONFIGS),
    ("source", &SOURCE),
    ("deployment", &SOURCE),
]);

static OF_OTHERS: ValueShape = ValueShape::Keyed(&[
    ("sources", &SOURCES),
    ("images", &IMAGES),
    ("configs", &CONFIGS),
    ("source", &SOURCE),
    ("deployment", &SOURCE),
]);

static OF_RUNNABLE: ValueShape = ValueShape::Keyed(&[("runnable", &RUNNABLE)]);

#[cfg(test)]
mod tests {
    use blueprint::{Map, Name, Value};
    use jsonpath::{FailureClass, Path};

    use super::TemplateContext;
    use crate::inputs::ResourceInputs;
    use crate::params::Params;

    fn find(images: &[&str], path: &str) -> Result<Value, FailureClass> {
        let inputs = ResourceInputs {
            images: images
                .iter()
                .map(|name| (Name::from(*name), Value::from("i")))
                .collect(),
            ..ResourceInputs::default()
        };
        let owner = Value::map([("kind", Value::from("Workload"))]);
        let context =
            TemplateContext::of_resource(&owner, &Params::default(), &inputs, &Map::new());
        let path = Path::parse(path).expect("a path");
        context.find(&path).map_err(|failure| failure.class)
    }

    #[test]
    fn the_only_input_of_a_sort_has_a_short_name() {
        assert_eq!(find(&["a"], "image"), Ok(Value::from("i")));
        assert_eq!(find(&["a", "b"], "image"), Err(FailureClass::Missing));
        assert_eq!(find(&["a", "b"], "images.b.name"), Ok(Value::from("b")));
    }

    #[test]
    fn an_owner_has_both_names() {
        assert_eq!(find(&[], "deliverable.kind"), Ok(Value::from("Workload")));
        assert_eq!(
            find(&[], "workload.spec.serviceAccountName"),
            Ok(Value::from(""))
        );
        assert_eq!(find(&[], "deployment"), Ok(Value::Null));
        assert_eq!(find(&[], "deployment.url"), Err(FailureClass::Missing));
    }
}
