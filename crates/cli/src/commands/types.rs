//! `cyan types`.

use blueprint::{Field, IndexMap, Name, TypeId};
use engine::inspect::{TypeDetails, TypeList, Types as Found, filter_words, inner_schema};
use engine::{Library, json};
use provider::{Catalog, CustomType, DataSourceType, ResourceType, TransformDef};

use crate::arguments::{Global, Types};
use crate::exit::{CommandError, Exit};
use crate::open;
use crate::terminal::Paint;
use crate::view::report::Report;
use crate::view::table::table;
use crate::view::wrap;

pub(crate) async fn run(
    arguments: Types,
    global: &Global,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let library = open::library(global, arguments.all, report)?;
    let name = arguments.name.as_deref();
    let found = library.types_named(name).await?;
    if report.is_json() {
        report.set_result(json::types(&found));
        return Ok(Exit::Done);
    }
    let paint = report.terminal.out;
    let text = match &found {
        Found::Lists(lists) => lists
            .iter()
            .map(|list| list_text(list, name.unwrap_or_default(), paint))
            .collect(),
        Found::Transform(transform) => transform_text(transform, paint),
        Found::Type(details) => type_text(details, paint),
    };
    report.terminal.write_result(&text);
    if name.is_none() {
        hosted_packages(&library, report);
    }
    Ok(Exit::Done)
}

/// Names the hosted packages that the lists leave out.
fn hosted_packages(library: &Library, report: &mut Report) {
    let paint = report.terminal.out;
    for name in library.unlisted_packages() {
        report.terminal.line(format!(
            "{} a plugin: `cyan types {name}` lists its types",
            paint.bold(name)
        ));
    }
}

/// The types of a catalogue below a name; an empty name matches all. Without a name, the types of a
/// large catalogue are counted instead of listed.
fn list_text(list: &TypeList<'_>, name: &str, paint: Paint) -> String {
    let TypeList { catalog, types } = list;
    let namespace = catalog
        .namespaces
        .first()
        .map(|name| name.as_ref())
        .unwrap_or_default();
    // A catalogue with several namespaces has no name of its own.
    let head = match catalog.namespaces.len() {
        0 | 1 => namespace,
        _ => name,
    };
    let between = if head.is_empty() || catalog.docs.is_empty() {
        ""
    } else {
        " "
    };
    let about = wrap::hanging(
        &catalog.docs,
        head.chars().count() + between.len(),
        wrap::columns(),
    );
    let mut text = format!("{}{between}{about}\n", paint.bold(head));
    if name.is_empty() && catalog.is_large() && catalog.namespaces.len() > 1 {
        text.push_str(&format!("{}\n", counted(catalog, paint)));
        return text;
    }
    if name.is_empty() && catalog.is_large() {
        text.push_str(&format!(
            "  {} types of resources: `cyan types {namespace}` lists them\n\n",
            catalog.resource_type_names().count()
        ));
        return text;
    }
    // A name that is a resource type and a data source type takes one line if both have the same
    // description.
    let mut lines: IndexMap<(&str, &Name), Vec<&str>> = IndexMap::default();
    for one in types {
        lines
            .entry((one.name, &one.docs))
            .or_default()
            .push(one.kind);
    }
    let rows: Vec<Vec<String>> = lines
        .iter()
        .map(|((name, docs), kinds)| {
            vec![format!("  {name}"), kinds.join(", "), first_sentence(docs)]
        })
        .collect();
    let rows = table(&["", "", ""], &rows, paint);
    // Skip the header row.
    text.push_str(rows.split_once('\n').map_or("", |(_, rows)| rows));
    text.push('\n');
    text
}

/// The namespaces of a catalogue, each with its number of resource types.
fn counted(catalog: &Catalog, paint: Paint) -> String {
    let mut counts: IndexMap<Name, usize> = catalog
        .namespaces
        .iter()
        .map(|name| (name.clone(), 0))
        .collect();
    for name in catalog.resource_type_names() {
        if let Some(count) = counts.get_mut(TypeId::parse(name).package_name()) {
            *count += 1;
        }
    }
    let types = |count: usize| {
        if count == 1 {
            "1 type".to_owned()
        } else {
            format!("{count} types")
        }
    };
    let rows: Vec<Vec<String>> = counts
        .into_iter()
        .map(|(name, count)| vec![format!("  {name}"), types(count)])
        .collect();
    table(&["", ""], &rows, paint)
        .split_once('\n')
        .map_or_else(String::new, |(_, rows)| rows.to_owned())
}

fn first_sentence(docs: &str) -> String {
    let line = docs.trim_start().lines().next().unwrap_or_default();
    line.split_once(". ")
        .map_or(line, |(first, _)| first)
        .trim_end()
        .trim_end_matches('.')
        .to_owned()
}

/// The text for all types of one name.
fn type_text(details: &TypeDetails<'_>, paint: Paint) -> String {
    let mut text = String::new();
    if let Some(ty) = &details.resource {
        resource_text(&mut text, ty, paint);
    }
    if let Some(ty) = &details.data_source {
        if !text.is_empty() {
            text.push('\n');
        }
        source_text(&mut text, ty, paint);
    }
    if let Some((transform, ty)) = details.abstract_type {
        text.push_str(&format!("{} (abstract)\n", paint.bold(&details.name)));
        docs(&mut text, &ty.docs, "");
        text.push_str(&format!(
            "needs `transform: {}`, which makes real resources of it\n",
            transform.name
        ));
        section(
            &mut text,
            "fields",
            ty.schema.fields.iter().collect(),
            paint,
        );
    }
    if let Some(ty) = &details.variable {
        variable_text(&mut text, ty, paint);
    }
    text
}

/// The text for a transform, with its abstract types.
fn transform_text(transform: &TransformDef, paint: Paint) -> String {
    let mut text = format!(
        "{} (transform)\n{}\n",
        paint.bold(&transform.name),
        transform.docs
    );
    if !transform.abstract_types.is_empty() {
        text.push_str(&format!("\n{}\n", paint.bold("types that it knows")));
    }
    for (name, ty) in &transform.abstract_types {
        text.push_str(&format!("  {}\n", paint.cyan(name)));
        docs(&mut text, &ty.docs, "      ");
    }
    text
}

/// The text for a custom variable type: its options, each with its value.
fn variable_text(text: &mut String, ty: &CustomType, paint: Paint) {
    text.push_str(&format!("{} (variable)\n", paint.bold(&ty.name)));
    docs(text, &ty.docs, "");
    text.push_str(&format!("\n{}\n", paint.bold("options")));
    for option in &ty.options {
        let value = option
            .value
            .as_text()
            .map_or_else(|| option.value.to_string(), str::to_owned);
        text.push_str(&format!(
            "  {} {}\n",
            paint.cyan(&option.label),
            paint.dim(format!("{value} ({})", ty.ty))
        ));
        docs(text, &option.docs, "      ");
    }
}

fn resource_text(text: &mut String, ty: &ResourceType, paint: Paint) {
    text.push_str(&format!("{} (resource)\n", paint.bold(&ty.name)));
    docs(text, &ty.docs, "");
    let (computed, settable): (IndexMap<_, _>, IndexMap<_, _>) = ty
        .schema
        .fields
        .iter()
        .partition(|(_, field)| !field.is_settable());
    section(text, "fields", settable, paint);
    section(text, "filled in by the provider", computed, paint);
    example(text, &ty.example, paint);
}

fn source_text(text: &mut String, ty: &DataSourceType, paint: Paint) {
    text.push_str(&format!("{} (data source)\n", paint.bold(&ty.name)));
    docs(text, &ty.docs, "");
    if !ty.filters.is_empty() {
        text.push_str(&format!("\n{}\n", paint.bold("filters")));
        for (name, filter) in &ty.filters {
            let required = if ty.required.contains(name) {
                ", required"
            } else {
                ""
            };
            text.push_str(&format!(
                "  {} {}\n",
                paint.cyan(name),
                paint.dim(format!("{}{required}", filter_words(&filter.ty)))
            ));
            docs(text, &filter.docs, "      ");
        }
    }
    section(text, "exports", ty.schema.fields.iter().collect(), paint);
    example(text, &ty.example, paint);
}

fn example(text: &mut String, example: &str, paint: Paint) {
    if !example.is_empty() {
        text.push_str(&format!("\n{}\n", paint.bold("example")));
        for line in example.lines() {
            text.push_str(&format!("  {line}\n"));
        }
    }
}

fn docs(text: &mut String, docs: &str, indent: &str) {
    if !docs.is_empty() {
        text.push_str(&format!(
            "{indent}{}\n",
            wrap::hanging(docs, indent.len(), wrap::columns())
        ));
    }
}

fn section(text: &mut String, title: &str, fields: IndexMap<&Name, &Field>, paint: Paint) {
    if !fields.is_empty() {
        text.push_str(&format!("\n{}\n", paint.bold(title)));
        for (name, field) in fields {
            field_text(text, name, field, "  ", paint);
        }
    }
}

fn field_text(text: &mut String, name: &str, field: &Field, indent: &str, paint: Paint) {
    text.push_str(&format!(
        "{indent}{} {}\n",
        paint.cyan(name),
        paint.dim(field_properties(field))
    ));
    docs(text, &field.docs, &format!("{indent}    "));
    if let Some(schema) = inner_schema(field) {
        for (name, field) in &schema.fields {
            field_text(text, name, field, &format!("{indent}  "), paint);
        }
    }
}

/// The type of a field and its other properties.
fn field_properties(field: &Field) -> String {
    let mut words = vec![field.ty().to_string()];
    if field.required {
        words.push("required".into());
    }
    if let Some(default) = &field.default {
        words.push(format!("default {default}"));
    }
    if !field.allowed.is_empty() {
        let allowed: Vec<String> = field.allowed.iter().map(ToString::to_string).collect();
        words.push(format!("one of {}", allowed.join(", ")));
    }
    for (word, is) in [
        ("filled in if not written", field.computed && field.optional),
        ("secret", field.sensitive),
        (
            "a change replaces it",
            field.must_recreate && field.is_settable(),
        ),
        ("unique", field.unique),
    ] {
        if is {
            words.push(word.to_owned());
        }
    }
    words.join(", ")
}
