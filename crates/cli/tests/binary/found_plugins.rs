//! Tests of packages `pulumi:NAME`, whose plugins are found on the machine, and of packages of which
//! only the schema is there.

#![cfg(unix)]

use std::os::unix::fs::PermissionsExt as _;

use crate::place::{Place, Ran, ran};
use crate::plugins::{Shop, shop};

const SCHEMA: &str = r#"{"name": "shop", "version": "1.0.0", "config": {"variables": {"folder": {"type": "string"}}},
  "resources": {"shop:index:Item": {"inputProperties": {"label": {"type": "string"}},
    "properties": {"label": {"type": "string"}}, "requiredInputs": ["label"]}}}"#;

const TABLE: &str =
    "[plugins.market]\nkind = \"pulumi\"\npackage = \"shop\"\nschema = \"schemas/shop.json\"\n";

fn document(package: &str) -> String {
    format!(
        "version: 2023-04-20\nresources:\n  a: {{type: \"{package}/Item\", spec: {{label: one}}}}\n"
    )
}

#[test]
fn a_package_that_is_not_on_the_machine_says_where_it_was_looked_for() {
    let place = Place::with("shop.blueprint.yaml", &document("pulumi:nowhere"));
    for command in [["validate"].as_slice(), &["stage", "--simulate"]] {
        let said = place.ends(1, command).err;
        assert_eq!(said.matches("error[").count(), 1, "{said}");
        for part in [
            "error[plugin-unavailable]: the plugin of `pulumi:nowhere` cannot be used",
            "shop.blueprint.yaml:3:13",
            "home/.pulumi/plugins",
            "`pulumi plugin install resource nowhere`",
        ] {
            let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(words.contains(part), "{part}: {said}");
        }
    }
}

#[test]
fn a_schema_alone_serves_checks_and_simulations() {
    let place = Place::new();
    place.write("schemas/shop.json", SCHEMA);
    place.write("cyan.toml", TABLE);
    for package in ["pulumi:shop", "market"] {
        place.write("shop.blueprint.yaml", document(package));
        place.ends(0, &["validate"]);
        let types = place.ends(0, &["types", package]).out;
        assert!(types.contains(&format!("{package}/index:Item")), "{types}");
        let staged = place.ends(0, &["stage", "--simulate"]);
        assert_eq!(staged.last_line(), "1 to create, 0 to update, 0 to delete");
        let said = place.ends(1, &["stage"]).err;
        let because = format!("only the schema of `{package}` is configured");
        assert!(said.contains(&because), "{said}");
        place.write(
            "shop.blueprint.yaml",
            document(package).replace("label", "lable"),
        );
        let said = place.ends(1, &["validate"]).err;
        assert!(said.contains("did you mean `label`?"), "{said}");
    }
    place.write("schemas/shop.json", "[]");
    let said = place.ends(1, &["validate"]).err;
    assert!(
        said.contains("schemas/shop.json` cannot be read: not an object"),
        "{said}"
    );
}

/// Runs a command that must succeed with the plugin of a shop on the path, and without a table.
#[track_caller]
fn run(shop: &Shop, arguments: &[&str]) -> Ran {
    let mut command = shop.cyan(arguments);
    let path = std::env::var("PATH").unwrap_or_default();
    let bin = shop.place.path().join("bin");
    let ran = ran(command
        .env("PATH", format!("{}:{path}", bin.display()))
        .output()
        .unwrap());
    let said = format!("cyan {}\n{}{}", arguments.join(" "), ran.out, ran.err);
    assert_eq!(ran.code, 0, "{said}");
    ran
}

#[test]
fn a_plugin_on_the_path_needs_no_table() {
    let Some(shop) = shop() else { return };
    let place = &shop.place;
    let program = "bin/pulumi-resource-shop";
    place.write(
        program,
        format!(
            "#!/bin/sh\nexec '{}' '{}' \"$@\"\n",
            shop.python.display(),
            shop.script.display()
        ),
    );
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(place.path().join(program), executable).unwrap();
    let items = place.path().join("items");
    place.write(
        "cyan.toml",
        format!(
            "[providers.\"pulumi:shop\"]\nfolder = '{}'\n",
            items.display()
        ),
    );
    let types = run(&shop, &["types", "pulumi:shop"]).out;
    assert!(types.contains("pulumi:shop/index:Item"), "{types}");
    place.write("shop.blueprint.yaml", document("pulumi:shop"));
    let deployed = run(&shop, &["deploy", "-y"]);
    assert_eq!(deployed.last_line(), "1 created, 0 updated, 0 deleted");
    let again = run(&shop, &["stage"]);
    assert_eq!(again.last_line(), "0 to create, 0 to update, 0 to delete");
    std::fs::remove_file(place.path().join("shop.blueprint.yaml")).unwrap();
    let destroyed = run(&shop, &["destroy", "-y"]);
    assert_eq!(destroyed.last_line(), "0 created, 0 updated, 1 deleted");
    assert_eq!(shop.items(), 0);
}
