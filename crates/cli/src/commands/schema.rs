//! `cyan schema`.

use blueprint::TypeId;
use provider::Catalogs;
use serde_json::{Value as Json, json};

use crate::arguments::{Global, Schema};
use crate::exit::{CommandError, Exit};
use crate::open;
use crate::view::report::Report;

pub(crate) fn run(arguments: Schema, global: &Global, report: &mut Report) -> Result<Exit, CommandError> {
    let dialects = open::dialects();
    let Some(dialect) = dialects.get(&arguments.dialect) else {
        let names = dialects.iter().map(|dialect| dialect.name());
        return Err(CommandError::Usage {
            message: format!("there is no dialect `{}`", arguments.dialect),
            help: diag::nearest(&arguments.dialect, names)
                .map(|near| format!("did you mean `{near}`?"))
                .or_else(|| Some("the default is `blueprint`".to_owned())),
        });
    };
    let library = open::library(global, arguments.all, report)?;
    let catalogs: &Catalogs = &library.catalogs;
    let known = |begin: &str| {
        let mut names = catalogs.resource_type_names().chain(catalogs.data_source_type_names());
        names.any(|name| begins(name, begin))
    };
    if let Some(unknown) = arguments.without.iter().chain(&arguments.with).find(|begin| !known(begin)) {
        return Err(CommandError::Usage {
            message: format!("no type is called `{unknown}`, and none begins so"),
            help: diag::nearest(unknown, catalogs.namespaces().chain(catalogs.resource_type_names()))
                .map(|near| format!("did you mean `{near}`?"))
                .or_else(|| Some("`cyan types` lists them all".to_owned())),
        });
    }
    let large: Vec<&str> = catalogs
        .iter()
        .filter(|catalog| catalog.is_large())
        .flat_map(|catalog| catalog.namespaces.iter().map(AsRef::as_ref))
        .collect();
    let wanted = |name: &str| {
        let is = |list: &[String]| list.iter().any(|begin| begins(name, begin));
        !is(&arguments.without) && (is(&arguments.with) || !large.contains(&TypeId::parse(name).package_name()))
    };
    let title = format!("A document of the dialect `{}`", dialect.name());
    let schema = engine::json_schema(&title, dialect.shape(), catalogs, wanted);
    if report.is_json() {
        report.set_result(json!({"dialect": dialect.name(), "schema": schema}));
    } else {
        report.terminal.raw(&written(&schema));
    }
    Ok(Exit::Done)
}

/// Whether a type is that one, or of that namespace or group: whole segments count.
fn begins(name: &str, begin: &str) -> bool {
    name.strip_prefix(begin).is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || rest.starts_with("::"))
}

/// A line for each definition: indented throughout, a schema with many types would be blanks for the greater part.
fn written(schema: &Json) -> String {
    let mut text = String::from("{");
    let mut comma = "";
    for (key, value) in schema.as_object().into_iter().flatten() {
        text.push_str(&format!("{comma}\n  {}: ", json!(key)));
        comma = ",";
        match value {
            Json::Object(entries) if key == "$defs" => {
                let lines: Vec<String> =
                    entries.iter().map(|(name, one)| format!("    {}: {one}", json!(name))).collect();
                text.push_str(&format!("{{\n{}\n  }}", lines.join(",\n")));
            }
            other => text.push_str(&other.to_string()),
        }
    }
    text.push_str("\n}\n");
    text
}
