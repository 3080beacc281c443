//! Tests of `cyan stack` and `cyan config`.

use crate::place::{Place, Ran};
use crate::plugins::shop;

const PROGRAM: &str = "name: app
runtime: yaml
config:
  size: {type: integer, default: 1}
  pin: {type: string, secret: true, default: none}
outputs:
  size: ${size}
  pin: ${pin}
  stack: ${pulumi.stack}
";

/// Runs a command with the passphrase of the stack.
fn with_passphrase(place: &Place, passphrase: &str, words: &[&str]) -> Ran {
    let mut command = place.cyan(words);
    command.env_remove("PULUMI_CONFIG_PASSPHRASE_FILE");
    command.env("PULUMI_CONFIG_PASSPHRASE", passphrase);
    crate::place::ran(command.output().unwrap())
}

#[test]
fn the_only_file_of_a_stack_names_the_instance() {
    let place = Place::with("Pulumi.yaml", PROGRAM);
    place.ends(0, &["key", "new"]);
    place.write("Pulumi.dev.yaml", "config: {size: 2}\n");
    place.ends(0, &["deploy", "--yes"]);
    let exports = place.ends(0, &["exports"]).out;
    assert!(
        exports.contains("size = 2") && exports.contains("stack = \"dev\""),
        "{exports}"
    );
    let place = Place::with("Pulumi.yaml", PROGRAM);
    place.write("Pulumi.dev.yaml", "config: {size: 2}\n");
    place.write("Pulumi.prod.yaml", "config: {size: 3}\n");
    let said = place.ends(2, &["stage"]).err;
    for part in ["`dev`, `prod`", "cyan stack select dev"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    place.ends(0, &["stack", "select", "prod"]);
    let staged = place.ends(0, &["stage"]).out;
    assert!(staged.contains("size: 3"), "{staged}");
    let listed = place.ends(0, &["stack", "ls"]).out;
    assert!(
        listed.contains("prod*") && listed.contains("dev "),
        "{listed}"
    );
    // A stack that is not deployed is not another one that is.
    place.ends(0, &["key", "new"]);
    place.ends(0, &["deploy", "--yes", "-i", "dev"]);
    let said = place.ends(1, &["destroy", "--yes"]).err;
    assert!(said.contains("there is no instance `prod`"), "{said}");
}

#[test]
fn stacks_are_made_renamed_and_removed() {
    let place = Place::with("Pulumi.yaml", PROGRAM);
    place.ends(0, &["key", "new"]);
    place.ends(0, &["stack", "init", "dev"]);
    place.ends(0, &["config", "set", "size", "7"]);
    let said = place.ends(2, &["stack", "init", "dev"]).err;
    assert!(said.contains("has a stack `dev` already"), "{said}");
    place.ends(0, &["deploy", "--yes"]);
    place.ends(
        0,
        &[
            "stack",
            "init",
            "new",
            "--copy-config-from",
            "dev",
            "--no-select",
        ],
    );
    assert!(place.read("Pulumi.new.yaml").contains("app:size: \"7\""));
    place.ends(0, &["stack", "rename", "test"]);
    assert!(place.has("Pulumi.test.yaml") && !place.has("Pulumi.dev.yaml"));
    let exports = place.ends(0, &["exports"]).out;
    assert!(exports.contains("size = 7"), "{exports}");
    let history = place.ends(0, &["history", "-i", "test"]).out;
    assert!(history.contains("deploy"), "{history}");
    let said = place.ends(2, &["stack", "rename", "new"]).err;
    assert!(said.contains("has a stack `new` already"), "{said}");
    let said = place.ends(2, &["stack", "rm", "new"]).err;
    assert!(said.contains("confirm with `--yes`"), "{said}");
    place.ends(0, &["stack", "rm", "new", "--yes"]);
    assert!(!place.has("Pulumi.new.yaml"));
    let said = place.ends(1, &["stack", "select", "tset"]).err;
    assert!(said.contains("did you mean `test`?"), "{said}");
    place.write(".cyan/state.selected", "{");
    let said = place.ends(1, &["stack", "ls"]).err;
    assert!(said.contains("remove the file"), "{said}");
}

#[test]
fn a_stack_with_resources_is_forgotten_on_request_only() {
    let place = Place::with(
        "shop.blueprint.yaml",
        "version: 2023-04-20\nresources:\n  a: {type: test/data, spec: {input: 1}}\n",
    );
    place.ends(0, &["stack", "init", "blue"]);
    place.ends(0, &["deploy", "--yes"]);
    let listed = place.ends(0, &["list"]).out;
    assert!(listed.contains("blue "), "{listed}");
    let said = place.ends(2, &["stack", "rm", "blue", "--yes"]).err;
    for part in ["has 1 resource", "cyan destroy -i blue"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    place.ends(0, &["stack", "rm", "blue", "--force", "--yes"]);
    let listed = place.ends(0, &["stack", "ls"]).err;
    assert!(listed.contains("has no stack"), "{listed}");
    let said = place.ends(2, &["config"]).err;
    assert!(said.contains("has no stack"), "{said}");
    place.ends(0, &["stack", "init", "green"]);
    let said = place.ends(2, &["config", "set", "a", "b"]).err;
    assert!(said.contains("has no files for its stacks"), "{said}");
}

#[test]
fn values_are_edited_in_place_and_secrets_stay_hidden() {
    let place = Place::with("Pulumi.yaml", PROGRAM);
    let text = "# of dev\nconfig: # all\n  app:size: 2 # small\n  aws:region: eu\n";
    place.write("Pulumi.dev.yaml", text);
    place.ends(0, &["config", "set", "size", "30"]);
    assert_eq!(
        place.read("Pulumi.dev.yaml"),
        text.replace("2 #", "\"30\" #")
    );
    let said = place.ends(1, &["config", "set", "pin", "hidden-1"]);
    assert!(said.err.contains("no passphrase is given"), "{}", said.err);
    let set = with_passphrase(&place, "horse", &["config", "set", "pin", "hidden-1"]);
    assert_eq!(set.code, 0, "{}", set.err);
    let other = [
        "config",
        "set",
        "--path",
        "list[0].key",
        "hidden-2",
        "--secret",
    ];
    assert_eq!(with_passphrase(&place, "horse", &other).code, 0);
    let file = place.read("Pulumi.dev.yaml");
    assert!(
        !file.contains("hidden") && file.contains("# small"),
        "{file}"
    );
    let listed = place.ends(0, &["config"]).out;
    for line in ["size        30", "pin         (secret)", "aws:region  eu"] {
        assert!(listed.contains(line), "{line}: {listed}");
    }
    let said = place.ends(1, &["config", "get", "pin"]).err;
    assert!(said.contains("`--reveal`"), "{said}");
    let revealed = with_passphrase(&place, "horse", &["config", "get", "pin", "--reveal"]);
    assert_eq!(revealed.out, "hidden-1\n");
    let path = ["config", "get", "--path", "list[0].key", "--show-secrets"];
    assert_eq!(with_passphrase(&place, "horse", &path).out, "hidden-2\n");
    let wrong = with_passphrase(&place, "cow", &["config", "--reveal"]);
    assert_eq!(wrong.code, 1);
    assert!(
        wrong.err.contains("the passphrase does not fit"),
        "{}",
        wrong.err
    );
    place.ends(0, &["key", "new"]);
    let deployed = with_passphrase(&place, "horse", &["deploy", "--yes"]);
    assert!(!format!("{}{}", deployed.out, deployed.err).contains("hidden"));
    let exports = place.ends(0, &["exports"]).out;
    assert!(exports.contains("pin = (secret)"), "{exports}");
    place.ends(0, &["config", "rm", "--path", "list[0]"]);
    place.ends(0, &["config", "rm", "pin"]);
    let said = place.ends(2, &["config", "get", "pin"]).err;
    assert!(said.contains("has no value of `pin`"), "{said}");
}

#[test]
fn a_file_that_cannot_be_edited_stays_as_it_is() {
    let place = Place::with("Pulumi.yaml", PROGRAM);
    for (text, key) in [
        ("config: {app:size: [1}\n", "size"),
        ("x: &x {app:size: 1}\nconfig: *x\n", "size"),
        ("config: [1]\n", "size"),
        ("secretsprovider: awskms://key\nencryptedkey: a\n", "pin"),
    ] {
        place.write("Pulumi.dev.yaml", text);
        let set = with_passphrase(&place, "horse", &["config", "set", key, "x"]);
        assert_eq!(set.code, 1, "{text}: {}", set.err);
        assert!(set.err.contains("error["), "{}", set.err);
        assert_eq!(place.read("Pulumi.dev.yaml"), text);
    }
}

#[test]
fn a_value_is_read_from_a_pipe() {
    let place = Place::with("Pulumi.yaml", PROGRAM);
    place.ends(0, &["stack", "init", "dev"]);
    place.write("value.txt", "one\ntwo\n");
    let mut command = place.cyan(&["config", "set", "text"]);
    command.stdin(std::fs::File::open(place.path().join("value.txt")).unwrap());
    assert_eq!(crate::place::ran(command.output().unwrap()).code, 0);
    let value = place.ends(0, &["config", "get", "text"]).out;
    assert_eq!(value, "one\ntwo\n");
}

/// Plugins are told the name of the stack, and automatic names are made from it.
#[test]
fn a_renamed_stack_replaces_nothing() {
    let Some(shop) = shop() else {
        return;
    };
    let place = &shop.place;
    std::fs::remove_file(place.path().join("shop.blueprint.yaml")).unwrap();
    let table = place.read("cyan.toml");
    let table = table.replace("[plugins.shop]", "[plugins.peer]\npackage = \"shop\"");
    let (table, _) = table.split_once("[plugins.shop.settings]").unwrap();
    place.write("cyan.toml", table);
    let folder = place.path().join("items").display().to_string();
    place.write(
        "Pulumi.yaml",
        format!(
            "name: store\nruntime: yaml\nconfig: {{'shop:folder': {folder}}}\nresources:\n  \
             lamp: {{type: 'shop:Item', properties: {{name: lamp, label: red}}}}\noutputs: {{urn: '${{lamp.urn}}'}}\n"
        ),
    );
    place.ends(0, &["key", "new"]);
    place.ends(0, &["stack", "init", "dev"]);
    place.ends(0, &["deploy", "--yes"]);
    place.ends(0, &["stack", "rename", "prod"]);
    let staged = place.ends(0, &["stage"]).out;
    assert!(
        staged.contains("0 to create, 0 to update, 0 to delete"),
        "{staged}"
    );
    place.ends(0, &["deploy", "--yes"]);
    let exports = place.ends(0, &["exports"]).out;
    assert!(exports.contains("urn:pulumi:prod::store::"), "{exports}");
    place.ends(0, &["destroy", "--yes"]);
}
