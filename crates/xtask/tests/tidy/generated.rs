//! Reference pages made from data: types from catalogues, functions from their table, codes from their declarations.
//!
//! The pages are kept in the repository, so that a change of them is seen in review. The test compares them with what
//! the data gives now; with `CYAN_ACCEPT` set (`cargo xtask docs`) it writes them.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::codes::declared;

/// What stands at the top of every such page.
pub(crate) const NOTE: &str = "<!-- Generated: `cargo xtask docs` makes it anew. -->";

#[test]
fn reference_pages_are_what_the_data_gives() {
    let mut findings = Vec::new();
    for (path, page) in [
        ("docs/reference/language.md", language()),
        ("docs/reference/types.md", types()),
        ("docs/reference/functions.md", functions()),
        ("docs/reference/heat-functions.md", crate::generated_heat::functions()),
        ("docs/reference/yaql.md", yaql()),
        ("docs/reference/codes.md", codes()),
    ] {
        let whole = crate::root().join(path);
        if std::env::var_os("CYAN_ACCEPT").is_some() {
            std::fs::create_dir_all(whole.parent().expect("it lies in a folder")).expect("the folder can be made");
            std::fs::write(&whole, page).expect("the page can be written");
        } else if std::fs::read_to_string(&whole).ok().as_ref() != Some(&page) {
            findings.push(path.to_owned());
        }
    }
    crate::none(&findings, "run `cargo xtask docs` and look at what changes");
}

/// Sections and keys of each dialect.
fn language() -> String {
    let mut page = format!(
        "# The language\n\n{NOTE}\n\nEvery section and key of a document. `cyan schema` prints the same as a JSON Schema for editors; \
         the [pages of the language](../../crates/dialects/spec/blueprint/) say what each means, with examples. Keys marked *required* must be \
         there; where `${{..}}` is marked, the value or what is in it may read something else.\n"
    );
    for dialect in dialects::Dialects::BUILT_IN.iter() {
        for section in dialect.shape().sections {
            page.push_str(&format!(
                "\n## {}\n\n| key | holds | `${{..}}` | |\n|---|---|---|---|\n",
                heading(section.name)
            ));
            for key in section.keys {
                let required = if key.required { "*required*. " } else { "" };
                let since = if key.since.is_empty() { String::new() } else { format!(" Since version {}.", key.since) };
                let substitutions = if key.substitutions { "yes" } else { "" };
                page.push_str(&format!(
                    "| `{}` | {} | {substitutions} | {required}{}{since} |\n",
                    key.name,
                    holds(key),
                    key.docs.replace('|', "\\|")
                ));
            }
        }
    }
    page
}

fn heading(section: &str) -> String {
    let mut letters = section.chars();
    letters.next().map(|first| format!("{}{}", first.to_uppercase(), letters.as_str())).unwrap_or_default()
}

/// What the value of a key is, with the way to the section that it leads to.
fn holds(key: &dialects::Key) -> String {
    let link = format!("[{}](#{})", key.section, key.section.replace(' ', "-"));
    let values: Vec<String> = key.values.iter().map(|value| format!("`{value}`")).collect();
    match (key.offer, key.values, key.section) {
        (dialects::Offer::ResourceType | dialects::Offer::DataSourceType, ..) => {
            "the name of a [type](types.md)".to_owned()
        }
        (dialects::Offer::VariableType, ..) => format!("{}, or a type of a provider's", values.join(", ")),
        (_, [_, ..], _) => values.join(", "),
        (dialects::Offer::Spec, ..) => "fields of the [type](types.md)".to_owned(),
        (.., "") => key.form.words().to_owned(),
        _ if key.definitions => match key.form {
            dialects::Form::Any => format!("names, each with a {link}; or `\"*\"`"),
            _ => format!("names, each with {} {link}", if key.section.starts_with(['e', 'i']) { "an" } else { "a" }),
        },
        _ => match key.form {
            dialects::Form::ScalarOrMap => format!("a single value, or a {link}"),
            dialects::Form::MapOrList => format!("a {link}, or a list of them"),
            dialects::Form::List => format!("a list of single values, or of {link}s"),
            _ => format!("a {link}"),
        },
    }
}

fn types() -> String {
    let mut page = format!(
        "# Types\n\n{NOTE}\n\nWhat a document can declare. `cyan types TYPE` shows the same on a terminal. *Required* fields must be written, \
         *computed* ones are filled in by the provider; a change of a field that *replaces* makes the thing anew; *secret* \
         ones never show; a *unique* value no two things may share at a time. A way as in `read.url` leads into what a field holds.\n"
    );
    // What has a provider comes first.
    let (offline, managed): (Vec<String>, Vec<String>) = crate::folders_in("crates/providers/src")
        .into_iter()
        .partition(|folder| ["aws", "openstack"].contains(&folder.as_str()));
    for folder in managed.into_iter().chain(offline) {
        let path = format!("crates/providers/src/{folder}/catalog.json");
        let catalog: Value =
            serde_json::from_str(&crate::read(&path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        // The simulated cloud is for tests.
        if catalog["hidden"] == true || folder == "fake" {
            continue;
        }
        page.push_str(&format!("\n## `{folder}`\n\n{}\n", text(&catalog, "docs")));
        for (name, one) in object(&catalog, "resourceTypes") {
            page.push_str(&format!("\n### `{name}`\n\n{}\n", text(one, "docs")));
            fields(&mut page, one);
            example(&mut page, one);
        }
        for (name, one) in object(&catalog, "dataSourceTypes") {
            page.push_str(&format!(
                "\n### Data source `{name}`\n\n{}\n\n| filter | kind | |\n|---|---|---|\n",
                text(one, "docs")
            ));
            let required: Vec<&str> =
                one["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            for (filter, about) in object(one, "filter") {
                let must = if required.contains(&filter.as_str()) { "*required*. " } else { "" };
                page.push_str(&format!("| `{filter}` | {} | {must}{} |\n", text(about, "type"), text(about, "docs")));
            }
            page.push_str("\n| export | kind | |\n|---|---|---|\n");
            for (field, about) in object(one, "fields") {
                page.push_str(&format!("| `{field}` | {} | {} |\n", kind(about), text(about, "docs")));
            }
            example(&mut page, one);
        }
        variables_and_transforms(&mut page, &catalog);
        if folder == "aws" {
            services(&mut page, &providers::aws::catalog());
        }
        if folder == "openstack" {
            namespaces(&mut page, &providers::openstack::catalog());
        }
    }
    page
}

/// The services of a catalogue that is too large to be written out, with how many types each has.
fn services(page: &mut String, catalog: &provider::Catalog) {
    let mut services: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for name in catalog.resource_type_names() {
        services.entry(service(name)).or_default().0 += 1;
    }
    for name in catalog.data_source_type_names() {
        services.entry(service(name)).or_default().1 += 1;
    }
    let (resources, sources) =
        services.values().fold((0, 0), |sum, (resources, sources)| (sum.0 + resources, sum.1 + sources));
    page.push_str(&format!(
        "\n{resources} types of resources and {sources} of data sources, of {} services. `cyan types aws/SERVICE` lists those of a \
         service, `cyan types aws/SERVICE/TYPE` the fields of one, `cyan schema --with aws/SERVICE` describes them to an editor. \
         [What there is to know about them](../aws.md).\n\n| service | resources | data sources |\n|---|---:|---:|\n",
        services.len()
    ));
    for (service, (resources, sources)) in services {
        page.push_str(&format!("| `{service}` | {resources} | {sources} |\n"));
    }
    let variables: Vec<String> = catalog.variable_type_names().map(|name| format!("`{name}`")).collect();
    page.push_str(&format!("\nTypes of variables: {}; `cyan types TYPE` lists their options.\n", variables.join(", ")));
}

/// The namespaces of a catalogue that is too large to be written out, with how many types each has.
fn namespaces(page: &mut String, catalog: &provider::Catalog) {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for name in catalog.resource_type_names() {
        *counts.entry(blueprint::TypeId::parse(name).package_name().to_owned()).or_default() += 1;
    }
    page.push_str(&format!(
        "\n{} types of resources, in {} namespaces. `cyan types NAMESPACE` lists those of one, `cyan types TYPE` the fields of a type.\n\n\
         | namespace | types |\n|---|---:|\n",
        counts.values().sum::<usize>(),
        counts.len()
    ));
    for (namespace, count) in counts {
        page.push_str(&format!("| `{namespace}` | {count} |\n"));
    }
}

/// A type's name without its last part.
fn service(name: &str) -> &str {
    name.rsplit_once('/').map_or(name, |(service, _)| service)
}

/// Types of variables with their options, and transforms with the types that only they know.
fn variables_and_transforms(page: &mut String, catalog: &Value) {
    for (name, one) in object(catalog, "variableTypes") {
        page.push_str(&format!(
            "\n### Variable `{name}`\n\n{}\n\n| label | value | |\n|---|---|---|\n",
            text(one, "docs")
        ));
        for option in one["options"].as_array().into_iter().flatten() {
            page.push_str(&format!(
                "| `{}` | {} | {} |\n",
                text(option, "label"),
                option["value"],
                text(option, "description")
            ));
        }
    }
    for (name, one) in object(catalog, "transforms") {
        page.push_str(&format!("\n### Transform `{name}`\n\n{}\n", text(one, "docs")));
        for (name, one) in object(one, "abstractTypes") {
            page.push_str(&format!("\n### Abstract `{name}`\n\n{}\n", text(one, "docs")));
            fields(page, one);
        }
    }
}

fn fields(page: &mut String, one: &Value) {
    page.push_str("\n| field | kind | |\n|---|---|---|\n");
    rows(page, one, "");
}

/// A row for each field, and below it for each field of what it holds, with the way there.
fn rows(page: &mut String, one: &Value, before: &str) {
    for (field, about) in object(one, "fields") {
        let mut marks = Vec::new();
        for (key, mark) in [
            ("required", "*required*"),
            ("computed", "*computed*"),
            ("mustRecreate", "*replaces*"),
            ("sensitive", "*secret*"),
            ("unique", "*unique*"),
        ] {
            if about[key] == true {
                marks.push(mark.to_owned());
            }
        }
        if !about["default"].is_null() {
            marks.push(format!("by default `{}`", about["default"]));
        }
        if let Some(allowed) = about["allowed"].as_array() {
            let allowed: Vec<String> = allowed.iter().map(|value| format!("`{value}`")).collect();
            marks.push(format!("one of {}", allowed.join(", ")));
        }
        let marks = if marks.is_empty() { String::new() } else { format!("{}. ", marks.join(", ")) };
        page.push_str(&format!("| `{before}{field}` | {} | {marks}{} |\n", kind(about), text(about, "docs")));
        let (mut inside, mut way) = (about, format!("{before}{field}"));
        loop {
            (inside, way) = match text(inside, "kind").as_str() {
                "array" => (&inside["items"], format!("{way}[]")),
                "map" => (&inside["values"], format!("{way}.<key>")),
                _ => break,
            };
        }
        rows(page, inside, &format!("{way}."));
    }
}

/// The kind of a field in words, with what its items are.
fn kind(about: &Value) -> String {
    let inner = |key: &str| about.get(key).map_or_else(|| "any".to_owned(), kind);
    match text(about, "kind").as_str() {
        "array" => format!("array of {}", inner("items")),
        "map" => format!("map of {}", inner("values")),
        "union" => about["of"].as_array().into_iter().flatten().map(kind).collect::<Vec<_>>().join(" or "),
        other => other.to_owned(),
    }
}

fn example(page: &mut String, one: &Value) {
    let example = text(one, "example");
    if !example.is_empty() {
        page.push_str(&format!("\n```yaml\n{}\n```\n", one["example"].as_str().unwrap_or_default().trim_end()));
    }
}

/// A text of an object, fit for a cell of a table.
fn text(one: &Value, key: &str) -> String {
    one[key].as_str().unwrap_or_default().replace('|', "\\|")
}

fn object<'a>(one: &'a Value, key: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    one[key].as_object().into_iter().flat_map(Map::iter)
}

fn functions() -> String {
    let mut page = format!(
        "# Functions\n\n{NOTE}\n\nWhat `${{..}}` can call. `cyan functions NAME` shows the same on a terminal, `cyan eval` tries one out. \
         Arguments in brackets may be left out, `..` takes any number. After `=>` comes the result, after `!` the code of \
         the diagnostic.\n"
    );
    let names: Vec<String> =
        expr::core_functions().iter().map(|function| format!("[`{0}`](#{0})", function.name)).collect();
    page.push_str(&format!("\n{}\n", names.join(" ")));
    let provider = providers::std::provider();
    let of_std = &provider::Provider::catalog(&provider).functions;
    let names: Vec<String> = of_std.iter().map(|function| format!("[`{0}`](#{0})", function.name)).collect();
    page.push_str(&format!(
        "\nThose of the provider `std`, which can be called without naming it. Where the language has a function of that name, \
         `std_` stands before it. Names and results are those of Pulumi's package `std`, where that has the function.\n\n{}\n",
        names.join(" ")
    ));
    for function in expr::core_functions().iter().chain(of_std) {
        page.push_str(&format!("\n## `{}`\n\n{}\n\n```text\n", function.name, function.docs));
        page.push_str(&format!("{}\n", function.signature()));
        for example in &function.examples {
            let arrow = if example.gives.starts_with('!') { "" } else { "=> " };
            page.push_str(&format!("\n{} {arrow}{}", example.call, example.gives));
        }
        page.push_str("\n```\n");
    }
    page
}

/// The functions of yaql by how they are called.
fn yaql() -> String {
    let mut page = format!(
        "# Functions of yaql\n\n{NOTE}\n\nWhat the expression of a template's function `yaql` can use. A parameter with a value after `=` \
         may be left out, one with `*` takes any number of arguments, one with `**` any number of them with names; `?` takes null \
         too. A `lambda` is an expression that is evaluated for every item, which is `$` in it.\n"
    );
    let groups = [
        (
            "Methods",
            [yaql::How::Method, yaql::How::Both].as_slice(),
            "Called as `x.f()`; those marked *also plainly* as `f(x)` too.",
        ),
        ("Plain functions", &[yaql::How::Plain], "Called as `f(x)`."),
        (
            "Operators",
            &[yaql::How::Operator],
            "Besides these, `x.name` is the entry of a map or of each map of a collection, and `x?.name` null where x is.",
        ),
        ("Properties", &[yaql::How::Property], "Of points in time and lengths of time."),
    ];
    for (title, kinds, about) in groups {
        page.push_str(&format!("\n## {title}\n\n{about}\n\n| | | example |\n|---|---|---|\n"));
        let mut rows: Vec<_> = yaql::functions().iter().filter(|function| kinds.contains(&function.how)).collect();
        rows.sort_by_key(|function| function.name.to_lowercase());
        for function in rows {
            let also = if function.how == yaql::How::Both { " *Also plainly.*" } else { "" };
            let (expression, value) = function.example;
            let cell = |text: &str| text.replace('|', "\\|");
            page.push_str(&format!(
                "| `{}` | {}{also} | `{}` gives `{}` |\n",
                cell(&function.written()),
                cell(function.summary),
                cell(expression),
                cell(value)
            ));
        }
    }
    page
}

fn codes() -> String {
    let mut rows = Vec::new();
    for name in crate::folders_in("crates") {
        for one in declared(&name) {
            let link = format!("[`{}`](../../crates/{name}/codes/{}.md)", one.code, one.code);
            rows.push((one.code, format!("| {link} | {} | {} |", one.severity, one.summary.replace('|', "\\|"))));
        }
    }
    rows.sort();
    let rows: Vec<String> = rows.into_iter().map(|(_, row)| row).collect();
    format!(
        "# Diagnostic codes\n\n{NOTE}\n\nEach has a page that `cyan explain CODE` prints. `--strict` makes warnings errors; notes \
         show with `--verbose`.\n\n| code | | |\n|---|---|---|\n{}\n",
        rows.join("\n")
    )
}
