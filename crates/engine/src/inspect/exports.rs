//! The exported values of an instance.

use blueprint::{IndexMap, Name, Value};
use state::InstanceName;

use crate::error::Error;
use crate::session::Session;

/// The exported values of an instance.
#[derive(Clone, Debug)]
pub struct Exports {
    /// The instance.
    pub instance: InstanceName,
    /// The values by name.
    pub values: IndexMap<Name, Value>,
    /// Whether a later operation has failed, so that the values are out of date.
    pub are_old: bool,
}

impl Session {
    /// The exported values of an instance.
    pub async fn exports(&self, instance: &InstanceName) -> Result<Exports, Error> {
        let snapshot = self.reading().load(instance).await?;
        Ok(Exports {
            instance: instance.clone(),
            values: snapshot.exports,
            are_old: snapshot.exports_old,
        })
    }
}

impl Exports {
    /// Returns one value. The error for an unknown name proposes a similar one, or lists the names.
    pub fn get(&self, name: &str) -> Result<&Value, Error> {
        self.values.get(name).ok_or_else(|| Error::Usage {
            message: format!("`{}` exports no `{name}`", self.instance),
            help: Some(self.help_for(name)),
        })
    }

    fn help_for(&self, name: &str) -> String {
        let names: Vec<&str> = self.values.keys().map(AsRef::as_ref).collect();
        match names.as_slice() {
            [] => "declare it under `exports` in the document, and deploy".to_owned(),
            names => diag::help_for_unknown(name, names, "`cyan exports` lists them"),
        }
    }
}
