//! `cyan types`.

use blueprint::{Field, IndexMap, Kind, Name, Schema, TypeId};
use provider::{
    Catalog, Catalogs, CustomType, DataSourceType, FilterType, ResourceType, TransformDef, TypeRef, plain_name,
};
use serde_json::{Map, Value as Json, json};

use crate::arguments::{Global, Types};
use crate::exit::{CommandError, Exit};
use crate::open;
use crate::terminal::Paint;
use crate::view::report::Report;
use crate::view::table::table;
use crate::view::wrap;

pub(crate) fn run(arguments: Types, global: &Global, report: &mut Report) -> Result<Exit, CommandError> {
    let library = open::library(global, arguments.all, report)?;
    let catalogs = &*library.catalogs;
    // Lookups by name open the catalogue, so that the lists contain it.
    let named = arguments.name.as_deref().and_then(|name| catalogs.of(TypeId::parse(name).package_name()));
    if let Some(why) = named.and_then(|catalog| catalog.unavailable.as_ref()) {
        return Err(CommandError::Diagnosed(Box::new(why.diagnostic())));
    }
    match arguments.name.as_deref() {
        None => {
            list(catalogs.iter().map(AsRef::as_ref), "", report);
            hosted_packages(catalogs, report);
        }
        Some(name) if !name.contains('/') && (!name.contains("::") || catalogs.of(name).is_some()) => {
            match (catalogs.of(name), catalogs.transform(name)) {
                (Some(catalog), _) => list(std::iter::once(catalog.as_ref()), name, report),
                (None, Some(transform)) => transform_text(transform, report),
                (None, None) if !below_all(catalogs, name).is_empty() => {
                    list(below_all(catalogs, name).into_iter(), name, report);
                }
                (None, None) => return Err(unknown(name, catalogs.namespaces().chain(catalogs.transform_names()))),
            }
        }
        Some(name) => match group(catalogs, name) {
            Some(catalog) => list(std::iter::once(catalog), name, report),
            None => one(name, catalogs, report)?,
        },
    }
    Ok(Exit::Done)
}

/// Names the hosted packages that the lists leave out, because listing their types would start their plugins.
fn hosted_packages(catalogs: &Catalogs, report: &mut Report) {
    let is_listed =
        |name: &str| catalogs.iter().any(|catalog| catalog.namespaces.iter().any(|own| own.as_ref() == name));
    let names = catalogs.namespaces().filter(|name| catalogs.packages().hosted(name).is_some() && !is_listed(name));
    for name in names.map(str::to_owned).collect::<Vec<String>>() {
        if !report.is_json() {
            let paint = report.terminal.out;
            report.terminal.line(format!("{} a plugin: `cyan types {name}` lists its types", paint.bold(&name)));
        }
    }
}

/// The catalogue with types below this name, such as those of a service, if the name itself is no type.
fn group<'c>(catalogs: &'c Catalogs, name: &str) -> Option<&'c Catalog> {
    let catalog = catalogs.of(TypeId::parse(name).package_name())?;
    let is_type = catalog.resource_type(name).is_some()
        || catalog.data_source_type(name).is_some()
        || catalog.variable_type(name).is_some();
    (!is_type && has_below(catalog, name)).then_some(catalog.as_ref())
}

/// The catalogues whose namespaces begin with a name, as `OS::Nova` does with `OS`.
fn below_all<'c>(catalogs: &'c Catalogs, name: &str) -> Vec<&'c Catalog> {
    catalogs.iter().filter(|catalog| has_below(catalog, name)).map(AsRef::as_ref).collect()
}

fn has_below(catalog: &Catalog, name: &str) -> bool {
    let below = plain_name(name);
    let mut names = catalog.resource_type_names().chain(catalog.data_source_type_names());
    names.any(|one| is_below(one, &below))
}

/// Whether the name of a type is below a name in plain form. Only whole segments match.
fn is_below(one: &str, plain: &str) -> bool {
    let one = plain_name(one);
    let rest = one.strip_prefix(plain.trim_end_matches(['/', ':']));
    rest.is_some_and(|rest| rest.starts_with('/') || rest.starts_with("::"))
}

fn unknown<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> CommandError {
    CommandError::Usage {
        message: format!("no provider offers `{name}`"),
        help: diag::nearest(name, known)
            .map(|near| format!("did you mean `{near}`?"))
            .or_else(|| Some("`cyan types` lists them all".to_owned())),
    }
}

/// Lists the types of some catalogues below a name; an empty name matches all. Without a name, the types of a large
/// catalogue are counted instead of listed.
fn list<'a>(catalogs: impl Iterator<Item = &'a Catalog>, name: &str, report: &mut Report) {
    let paint = report.terminal.out;
    let mut text = String::new();
    let mut all = Vec::new();
    let below = plain_name(name);
    let is_listed = |one: &str| name.is_empty() || is_below(one, &below);
    for catalog in catalogs {
        let namespace = catalog.namespaces.first().map(|name| name.as_ref()).unwrap_or_default();
        // Types that must be read first are listed by name only.
        let docs: IndexMap<TypeId, Name> =
            catalog.few_resource_types().map(|found| (found.name.clone(), found.docs.clone())).collect();
        let of = |docs: &IndexMap<TypeId, Name>, name: &str| docs.get(name).cloned().unwrap_or_default();
        let resources = catalog.resource_type_names().map(|name| (name, "resource", of(&docs, name)));
        let data_docs: IndexMap<TypeId, Name> =
            catalog.few_data_source_types().map(|found| (found.name.clone(), found.docs.clone())).collect();
        let sources = catalog.data_source_type_names().map(|name| (name, "data source", of(&data_docs, name)));
        let variables = catalog.variable_type_names().map(|name| {
            let found = catalog.variable_types.get(name);
            (name, "variable", found.map(|ty| ty.docs.clone()).unwrap_or_default())
        });
        let abstract_types = catalog.transforms.values().flat_map(|transform| {
            let types = transform.abstract_types.iter().map(|(name, ty)| (name.as_ref(), "abstract", ty.docs.clone()));
            types.chain([(transform.name.as_ref(), "transform", transform.docs.clone())])
        });
        let variables = variables.chain(abstract_types);
        let entries: Vec<(&str, &str, Name)> =
            resources.chain(sources).chain(variables).filter(|(name, ..)| is_listed(name)).collect();
        all.extend(entries.iter().map(|(name, kind, docs)| json!({"name": name, "kind": kind, "docs": docs})));
        // A catalogue with several namespaces has no name of its own.
        let head = match catalog.namespaces.len() {
            0 | 1 => namespace,
            _ => name,
        };
        let between = if head.is_empty() || catalog.docs.is_empty() { "" } else { " " };
        let about = wrap::hanging(&catalog.docs, head.chars().count() + between.len(), wrap::columns());
        text.push_str(&format!("{}{between}{about}\n", paint.bold(head)));
        if name.is_empty() && catalog.is_large() && catalog.namespaces.len() > 1 {
            text.push_str(&format!("{}\n", counted(catalog, paint)));
            continue;
        }
        if name.is_empty() && catalog.is_large() {
            text.push_str(&format!(
                "  {} types of resources: `cyan types {namespace}` lists them\n\n",
                catalog.resource_type_names().count()
            ));
            continue;
        }
        // A name that is a resource and a data source takes one line if neither has a description of its own.
        let mut lines: IndexMap<(&str, &Name), Vec<&str>> = IndexMap::default();
        for (name, kind, docs) in &entries {
            lines.entry((name, docs)).or_default().push(kind);
        }
        let rows: Vec<Vec<String>> = lines
            .iter()
            .map(|((name, docs), kinds)| vec![format!("  {name}"), kinds.join(", "), first_sentence(docs)])
            .collect();
        let rows = table(&["", "", ""], &rows, paint);
        // Skip the header row.
        text.push_str(rows.split_once('\n').map_or("", |(_, rows)| rows));
        text.push('\n');
    }
    report.set_result(json!({"types": all}));
    if !report.is_json() {
        report.terminal.data(&text);
    }
}

/// The namespaces of a catalogue, each with its number of resource types.
fn counted(catalog: &Catalog, paint: Paint) -> String {
    let mut counts: IndexMap<Name, usize> = catalog.namespaces.iter().map(|name| (name.clone(), 0)).collect();
    for name in catalog.resource_type_names() {
        if let Some(count) = counts.get_mut(TypeId::parse(name).package_name()) {
            *count += 1;
        }
    }
    let types = |count: usize| if count == 1 { "1 type".to_owned() } else { format!("{count} types") };
    let rows: Vec<Vec<String>> =
        counts.into_iter().map(|(name, count)| vec![format!("  {name}"), types(count)]).collect();
    table(&["", ""], &rows, paint).split_once('\n').map_or_else(String::new, |(_, rows)| rows.to_owned())
}

fn first_sentence(docs: &str) -> String {
    let line = docs.trim_start().lines().next().unwrap_or_default();
    line.split_once(". ").map_or(line, |(first, _)| first).trim_end().trim_end_matches('.').to_owned()
}

fn one(name: &str, catalogs: &Catalogs, report: &mut Report) -> Result<(), CommandError> {
    let id = catalogs.packages().resolve(name);
    let (resource, source) = (catalogs.resource_type(&id), catalogs.data_source_type(&id));
    let variable = catalogs.variable_type(&id);
    let abstract_type = catalogs.abstract_type(name);
    let known = abstract_type.is_some()
        || matches!(resource, TypeRef::Known(_))
        || matches!(source, TypeRef::Known(_))
        || matches!(variable, TypeRef::Known(_));
    if !known {
        let names = catalogs.resource_type_names().chain(catalogs.data_source_type_names());
        let names = names.chain(catalogs.variable_type_names());
        // A name with one slash can only mean a service.
        if name.matches('/').count() == 1 {
            let services =
                names.flat_map(|one| one.rsplit_once('/').map(|(service, _)| service).into_iter().chain([one]));
            return Err(unknown(name, services));
        }
        return Err(unknown(name, names.chain(catalogs.namespaces())));
    }
    let paint = report.terminal.out;
    let mut text = String::new();
    let mut result = Map::new();
    if let TypeRef::Known(ty) = &resource {
        resource_text(&mut text, ty, paint);
        result.insert(
            "resource".into(),
            json!({"name": ty.name, "docs": ty.docs, "id": ty.id_field, "fields": schema_json(&ty.schema), "example": ty.example}),
        );
    }
    if let TypeRef::Known(ty) = &source {
        if !text.is_empty() {
            text.push('\n');
        }
        source_text(&mut text, ty, paint);
        let filters: Vec<Json> =
            ty.filters.iter().map(|(field, filter)| json!({"name": field, "type": filter_words(&filter.ty), "required": ty.required.contains(field), "docs": filter.docs})).collect();
        result.insert(
            "datasource".into(),
            json!({"name": ty.name, "docs": ty.docs, "filters": filters, "fields": schema_json(&ty.schema), "example": ty.example}),
        );
    }
    if let Some((transform, ty)) = abstract_type {
        text.push_str(&format!("{} (abstract)\n", paint.bold(name)));
        docs(&mut text, &ty.docs, "");
        text.push_str(&format!("needs `transform: {}`, which makes real resources of it\n", transform.name));
        section(&mut text, "fields", ty.schema.fields.iter().collect(), paint);
        result.insert(
            "abstract".into(),
            json!({"name": name, "docs": ty.docs, "transform": transform.name, "fields": schema_json(&ty.schema)}),
        );
    }
    if let TypeRef::Known(ty) = &variable {
        variable_text(&mut text, ty, paint);
        let options: Vec<Json> = ty
            .options
            .iter()
            .map(|option| json!({"label": option.label, "value": option.value, "docs": option.docs}))
            .collect();
        result.insert(
            "variable".into(),
            json!({"name": ty.name, "docs": ty.docs, "type": ty.ty.to_string(), "options": options}),
        );
    }
    report.set_result(Json::Object(result));
    if !report.is_json() {
        report.terminal.data(&text);
    }
    Ok(())
}

/// The text for a transform, with the types that only it knows.
fn transform_text(transform: &TransformDef, report: &mut Report) {
    let paint = report.terminal.out;
    let mut text = format!("{} (transform)\n{}\n", paint.bold(&transform.name), transform.docs);
    if !transform.abstract_types.is_empty() {
        text.push_str(&format!("\n{}\n", paint.bold("types that it knows")));
    }
    for (name, ty) in &transform.abstract_types {
        text.push_str(&format!("  {}\n", paint.cyan(name)));
        docs(&mut text, &ty.docs, "      ");
    }
    let types: Vec<&Name> = transform.abstract_types.keys().collect();
    report.set_result(json!({"transform": {"name": transform.name, "docs": transform.docs, "types": types}}));
    if !report.is_json() {
        report.terminal.data(&text);
    }
}

/// The text for a custom variable type: the form in documents, and the value of a reference.
fn variable_text(text: &mut String, ty: &CustomType, paint: Paint) {
    text.push_str(&format!("{} (variable)\n", paint.bold(&ty.name)));
    docs(text, &ty.docs, "");
    text.push_str(&format!("\n{}\n", paint.bold("options")));
    for option in &ty.options {
        let value = option.value.as_text().map_or_else(|| option.value.to_string(), str::to_owned);
        text.push_str(&format!("  {} {}\n", paint.cyan(&option.label), paint.dim(format!("{value} ({})", ty.ty))));
        docs(text, &option.docs, "      ");
    }
}

fn resource_text(text: &mut String, ty: &ResourceType, paint: Paint) {
    text.push_str(&format!("{} (resource)\n", paint.bold(&ty.name)));
    docs(text, &ty.docs, "");
    let (computed, settable): (IndexMap<_, _>, IndexMap<_, _>) =
        ty.schema.fields.iter().partition(|(_, field)| !field.is_settable());
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
            let required = if ty.required.contains(name) { ", required" } else { "" };
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

fn filter_words(ty: &FilterType) -> String {
    match ty {
        FilterType::Scalar(ty) => ty.to_string(),
        FilterType::List(ty) => format!("array of {ty}"),
        FilterType::Map(ty) => format!("map of {ty}"),
    }
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
        text.push_str(&format!("{indent}{}\n", wrap::hanging(docs, indent.len(), wrap::columns())));
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
    text.push_str(&format!("{indent}{} {}\n", paint.cyan(name), paint.dim(words(field))));
    docs(text, &field.docs, &format!("{indent}    "));
    if let Some(schema) = inner(field) {
        for (name, field) in &schema.fields {
            field_text(text, name, field, &format!("{indent}  "), paint);
        }
    }
}

/// The fields of an object, or of the objects in a list or map.
fn inner(field: &Field) -> Option<&Schema> {
    match &field.kind {
        Kind::Object(schema) => Some(schema),
        Kind::Array(inside) | Kind::Map(inside) => inner(inside),
        _ => None,
    }
}

/// The type of a field and its other properties.
fn words(field: &Field) -> String {
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
        ("a change replaces it", field.must_recreate && field.is_settable()),
        ("unique", field.unique),
    ] {
        if is {
            words.push(word.to_owned());
        }
    }
    words.join(", ")
}

fn schema_json(schema: &Schema) -> Json {
    let fields = schema.fields.iter().map(|(name, field)| {
        let one = json!({
            "type": field.ty().to_string(),
            "required": field.required,
            "computed": field.computed,
            "settable": field.is_settable(),
            "sensitive": field.sensitive,
            "must_recreate": field.must_recreate,
            "default": field.default,
            "allowed": field.allowed,
            "docs": field.docs,
            "fields": inner(field).map(schema_json),
        });
        (name.to_string(), one)
    });
    Json::Object(fields.collect())
}
