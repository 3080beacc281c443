//! Templates of ytt, evaluated in this process.

use blueprint::{Map, Value};
use ytt::{Limits, Template};

use crate::stamp::{YttMistake, YttTemplates};

/// Evaluates templates of ytt in this process, with the usual limits.
#[derive(Clone, Copy, Debug, Default)]
pub struct InProcessYtt;

impl YttTemplates for InProcessYtt {
    fn documents(&self, template: &str, values: &Value) -> Result<Vec<Value>, YttMistake> {
        let mistake = |mistake: ytt::Mistake| YttMistake {
            message: mistake.message,
            line: usize::try_from(mistake.line).ok(),
        };
        let template = Template::parse(template).map_err(mistake)?;
        let empty = Map::new();
        let values = values.as_map().unwrap_or(&empty);
        template.render(values, &Limits::default()).map_err(mistake)
    }
}
