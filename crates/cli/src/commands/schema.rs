//! `cyan schema`.

use engine::inspect::SchemaTypes;
use serde_json::{Value as Json, json};

use crate::arguments::{Global, Schema};
use crate::exit::{CommandError, Exit};
use crate::open;
use crate::view::report::Report;

pub(crate) async fn run(
    arguments: Schema,
    global: &Global,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let library = open::library(global, arguments.all, report)?;
    let types = SchemaTypes {
        with: &arguments.with,
        without: &arguments.without,
    };
    let schema = library.schema_of(&arguments.dialect, types).await?;
    if report.is_json() {
        report.set_result(json!({"dialect": arguments.dialect, "schema": schema}));
    } else {
        report.terminal.write_value(&written(&schema));
    }
    Ok(Exit::Done)
}

/// Writes one line for each definition. A fully indented schema with many types would be mostly
/// white space.
fn written(schema: &Json) -> String {
    let mut text = String::from("{");
    let mut comma = "";
    for (key, value) in schema.as_object().into_iter().flatten() {
        text.push_str(&format!("{comma}\n  {}: ", json!(key)));
        comma = ",";
        match value {
            Json::Object(entries) if key == "$defs" => {
                let lines: Vec<String> = entries
                    .iter()
                    .map(|(name, one)| format!("    {}: {one}", json!(name)))
                    .collect();
                text.push_str(&format!("{{\n{}\n  }}", lines.join(",\n")));
            }
            other => text.push_str(&other.to_string()),
        }
    }
    text.push_str("\n}\n");
    text
}
