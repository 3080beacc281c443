//! The inputs of the tables `[instances.NAME]`.

use blueprint::Name;
use state::InstanceName;

use super::Config;
use crate::error::Error;
use crate::inputs::InputSource;

impl Config {
    /// The inputs that the file gives, in the order in which later ones override earlier ones. An
    /// instance that is not known yet has only those for all instances.
    ///
    /// # Errors
    /// If a value names an environment variable that is not set.
    pub(crate) fn inputs_of(
        &self,
        instance: Option<&InstanceName>,
    ) -> Result<Vec<InputSource>, Error> {
        let mut inputs: Vec<InputSource> =
            self.vars.iter().cloned().map(InputSource::File).collect();
        let own = instance.and_then(|instance| Some((instance, self.instances.get(instance)?)));
        if let Some((instance, own)) = own {
            inputs.extend(own.vars.iter().cloned().map(InputSource::File));
            for (name, value) in &own.inputs {
                let path = format!("instances.{instance}.inputs.{name}");
                let value = self.value(value, &path)?;
                inputs.push(InputSource::Value(Name::from(name.as_str()), value));
            }
        }
        Ok(inputs)
    }

    /// Whether the file gives inputs for some instances only.
    pub(crate) fn has_inputs_of_instances(&self) -> bool {
        let mut own = self.instances.values();
        own.any(|own| !own.vars.is_empty() || !own.inputs.is_empty())
    }
}
