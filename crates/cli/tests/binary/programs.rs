//! Tests of programs of Pulumi YAML, without a plugin and with a real one.

use crate::place::Place;
use crate::plugins::{Shop, shop};

const PROGRAM: &str = r#"name: store
runtime: yaml
config:
  color: {type: string, default: red}
  pin: {type: string, secret: true, default: "hidden-1234"}
resources:
  prov:
    type: pulumi:providers:shop
    defaultProvider: true
    properties: {folder: FOLDER}
  lamp:
    type: shop:Item
    properties: {name: lamp, label: "${color}", size: "3", password: "${pin}"}
  shade:
    type: shop:index:Item
    properties: {name: shade, label: "shade of ${lamp.name} ${lamp.serial}"}
    options: {parent: "${lamp}"}
outputs:
  shade: ${shade.label}
  key: ${lamp.key}
"#;

const INVOKE: &str = r#"  found:
    Fn::Invoke:
      Function: shop:getItem
      Arguments: {name: "${shade.name}"}
      Return: label
"#;

/// The plugin of the tests, in a folder without a document. It serves the package of a program, and
/// the program has its settings.
fn shop_of_program() -> Option<Shop> {
    let shop = shop()?;
    let place = &shop.place;
    std::fs::remove_file(place.path().join("shop.blueprint.yaml")).unwrap();
    let table = std::fs::read_to_string(place.path().join("cyan.toml")).unwrap();
    let table = table.replace("[plugins.shop]", "[plugins.peer]\npackage = \"shop\"");
    let (table, _) = table.split_once("[plugins.shop.settings]").unwrap();
    place.write("cyan.toml", table);
    Some(shop)
}

#[test]
fn a_program_is_deployed_with_the_plugin_that_it_names() {
    let Some(shop) = shop_of_program() else {
        return;
    };
    let place = &shop.place;
    let folder = place.path().join("items").display().to_string();
    let program = PROGRAM.replace("FOLDER", &folder);
    place.write("Pulumi.yaml", &program);
    place.ends(0, &["key", "new"]);
    let valid = place.ends(0, &["validate"]).out;
    assert!(valid.contains("3 resources"), "{valid}");
    let staged = place.ends(0, &["stage"]).out;
    assert!(
        staged.contains("+ lamp pulumi:shop/index:Item create"),
        "{staged}"
    );
    let deployed = place.ends(0, &["deploy", "--yes"]);
    assert!(deployed.out.contains("3 created"), "{}", deployed.out);
    assert!(!format!("{}{}", deployed.out, deployed.err).contains("hidden-1234"));
    let exports = place.ends(0, &["exports"]).out;
    for line in ["shade = \"shade of lamp 1\"", "key = (secret)"] {
        assert!(exports.contains(line), "{exports}");
    }
    let again = place.ends(0, &["stage"]).out;
    assert!(
        again.contains("0 to create, 0 to update, 0 to delete"),
        "{again}"
    );
    let changed = place
        .ends(0, &["deploy", "--yes", "--var", "color=blue"])
        .out;
    assert!(changed.contains("1 updated"), "{changed}");
    place.write("Pulumi.yaml", format!("{program}{INVOKE}"));
    place.ends(0, &["deploy", "--yes"]);
    let exports = place.ends(0, &["exports"]).out;
    assert!(exports.contains("found = \"shade of lamp 1\""), "{exports}");
    // A parent is a dependency too if a property reads it.
    let words = ["state", "export", "--as", "pulumi", "--reveal"];
    let state: serde_json::Value = serde_json::from_str(&place.ends(0, &words).out).unwrap();
    let resources = state["deployment"]["resources"].as_array().unwrap();
    let urn = |resource: &serde_json::Value| resource["urn"].as_str().unwrap().to_owned();
    let named = |name: &str| {
        resources
            .iter()
            .find(|one| urn(one).ends_with(name))
            .unwrap()
    };
    let (lamp, shade) = (named("::lamp"), named("::shade"));
    assert_eq!(shade["parent"], lamp["urn"]);
    assert_eq!(shade["dependencies"], serde_json::json!([lamp["urn"]]));
    // A destroy finds the package by the types of the state.
    std::fs::remove_file(place.path().join("Pulumi.yaml")).unwrap();
    let gone = place.ends(0, &["destroy", "--yes"]).out;
    assert!(gone.contains("3 deleted"), "{gone}");
}

const IDENTITIES: &str = r#"name: store
runtime: yaml
resources:
  prov: {type: "pulumi:providers:shop", defaultProvider: true, properties: {folder: FOLDER}}
  lamp: {type: "shop:Item", properties: {name: lamp, label: red}}
  shade: {type: "shop:Item", name: "big/shade", properties: {name: shade}, options: {parent: "${lamp}"}}
  seen: {type: "shop:Item", get: {id: "${lamp.id}"}}
outputs:
  urn: ${shade.urn}
  seen: "${seen.label} ${seen.id}"
  id: red ${lamp.id}
"#;

#[test]
fn a_plugin_is_told_the_urn_and_reads_what_is_not_managed() {
    let Some(shop) = shop_of_program() else {
        return;
    };
    let place = &shop.place;
    let folder = place.path().join("items");
    let program = IDENTITIES.replace("FOLDER", &folder.display().to_string());
    place.write("Pulumi.yaml", &program);
    place.ends(0, &["key", "new"]);
    place.ends(0, &["deploy", "--yes", "--instance", "dev"]);
    let exports = place
        .ends(0, &["exports", "--instance", "dev", "--json"])
        .out;
    let exports: serde_json::Value = serde_json::from_str(&exports).unwrap();
    let urn = "urn:pulumi:dev::store::shop:index:Item$shop:index:Item::big/shade";
    let value = |name: &str| {
        exports["result"]["exports"][name]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    assert_eq!(value("urn"), urn, "{exports}");
    assert_eq!(value("seen"), value("id"), "{exports}");
    let told: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|item| std::fs::read_to_string(item.unwrap().path()).unwrap())
        .collect();
    let of_lamp = "\"urn:pulumi:dev::store::shop:index:Item::lamp\"";
    for urn in [of_lamp, &format!("\"{urn}\"")] {
        assert!(told.iter().any(|item| item.contains(urn)), "{told:?}");
    }
    // A destroy has no program: it tells what the record has.
    std::fs::remove_file(place.path().join("Pulumi.yaml")).unwrap();
    let gone = place
        .ends(0, &["destroy", "--yes", "--instance", "dev"])
        .out;
    assert!(gone.contains("3 deleted"), "{gone}");
    let deleted = std::fs::read_to_string(folder.join("deleted")).unwrap();
    let mut deleted: Vec<&str> = deleted.lines().collect();
    deleted.sort_unstable();
    assert_eq!(deleted, [urn, of_lamp.trim_matches('"')]);
    let absent = program.replace("${lamp.id}", "nowhere");
    place.write("Pulumi.yaml", &absent);
    let said = place.ends(1, &["deploy", "--yes", "--instance", "dev"]).err;
    assert!(said.contains("Pulumi.yaml:7:3"), "{said}");
}

const STACKED: &str = r#"name: store
runtime: yaml
config:
  color: {type: string, default: red}
  tint: {type: string, name: color-of-shade}
  shop:plain: false
resources:
  lamp: {type: "shop:Item", properties: {name: lamp, label: "${color} ${tint}", size: "${size}"}}
outputs:
  label: ${lamp.label}
  sizes: ["${lamp.size}", "${store:size}"]
  folder: ${shop:folder}
"#;

#[test]
fn the_file_of_a_stack_gives_values_and_configures_its_packages() {
    let Some(shop) = shop_of_program() else {
        return;
    };
    let place = &shop.place;
    let folder = place.path().join("items").display().to_string();
    place.write("Pulumi.yaml", STACKED);
    for (stack, color) in [("dev", "blue"), ("prod", "007")] {
        let config = format!(
            "config:\n  store:color: {color}\n  color-of-shade: pale\n  size: 3\n  shop:folder: {folder}\n"
        );
        place.write(&format!("Pulumi.{stack}.yaml"), config);
    }
    place.ends(0, &["key", "new"]);
    let said = place.ends(2, &["stage"]).err;
    assert!(
        said.contains("`dev`, `prod`") && said.contains("-i dev"),
        "{said}"
    );
    place.ends(0, &["validate"]);
    let deployed = place.ends(0, &["deploy", "--yes", "-i", "dev"]).out;
    assert!(deployed.contains("2 created"), "{deployed}");
    let exports = place.ends(0, &["exports", "-i", "dev"]).out;
    for line in [
        "label = \"blue pale\"",
        "sizes = [3, 3]",
        &format!("folder = {folder:?}"),
    ] {
        assert!(exports.contains(line), "{line}: {exports}");
    }
    // The only instance of the program needs no name. A new value of the stack is a change.
    place.write(
        "Pulumi.dev.yaml",
        format!("config: {{'store:color': green, color-of-shade: pale, size: 3, 'shop:folder': {folder}}}\n"),
    );
    let changed = place.ends(0, &["deploy", "--yes"]).out;
    assert!(changed.contains("1 updated"), "{changed}");
    // The other stack has its own values, and `--var` takes precedence.
    place.ends(0, &["deploy", "--yes", "-i", "prod"]);
    let exports = place.ends(0, &["exports", "-i", "prod"]).out;
    assert!(exports.contains("label = \"007 pale\""), "{exports}");
    place.ends(
        0,
        &["deploy", "--yes", "-i", "prod", "--var", "color=white"],
    );
    let exports = place.ends(0, &["exports", "-i", "prod"]).out;
    assert!(exports.contains("label = \"white pale\""), "{exports}");
    for stack in ["dev", "prod"] {
        place.ends(0, &["destroy", "--yes", "-i", stack]);
    }
}

#[test]
fn a_change_of_a_named_path_replaces_the_resource() {
    let Some(shop) = shop_of_program() else {
        return;
    };
    let place = &shop.place;
    let folder = place.path().join("items").display().to_string();
    let write = |label: &str, path: &str| {
        place.write(
            "Pulumi.yaml",
            format!(
                "name: store\nruntime: yaml\nconfig: {{'shop:folder': {folder}}}\nresources:\n  \
                lamp: {{type: 'shop:Item', properties: {{name: lamp, label: {label}}}, options: {{replaceOnChanges: [{path}]}}}}\n"
            ),
        );
    };
    write("red", "label");
    place.ends(0, &["key", "new"]);
    place.ends(0, &["deploy", "--yes"]);
    write("blue", "size");
    let changed = place.ends(0, &["deploy", "--yes"]).out;
    assert!(changed.contains("1 updated"), "{changed}");
    write("green", "label");
    let staged = place.ends(0, &["stage"]).out;
    assert!(
        staged.contains("lamp pulumi:shop/index:Item replace"),
        "{staged}"
    );
    let changed = place.ends(0, &["deploy", "--yes"]).out;
    assert!(changed.contains("1 replaced"), "{changed}");
    write("green", "lable");
    let said = place.ends(0, &["validate"]).err;
    for part in ["`replaceOnChanges` names `lable`", "did you mean `label`?"] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn outputs_that_the_program_calls_secret_are_hidden_everywhere() {
    let Some(shop) = shop_of_program() else {
        return;
    };
    let place = &shop.place;
    let folder = place.path().join("items").display().to_string();
    place.write(
        "Pulumi.yaml",
        format!(
            "name: store\nruntime: yaml\nconfig: {{'shop:folder': {folder}}}\nresources:\n  \
            lamp: {{type: 'shop:Item', properties: {{name: lamp, label: red}}, options: {{additionalSecretOutputs: [digest, none]}}}}\n\
            outputs: {{digest: '${{lamp.digest}}', label: '${{lamp.label}}'}}\n"
        ),
    );
    place.ends(0, &["key", "new"]);
    let deployed = place.ends(0, &["deploy", "--yes"]);
    let revealed = place.ends(0, &["exports", "--reveal"]).out;
    let digest = revealed
        .split('"')
        .find(|text| text.len() == 64)
        .unwrap_or_else(|| panic!("{revealed}"));
    let exports = place.ends(0, &["exports"]).out;
    assert!(
        exports.contains("digest = (secret)") && exports.contains("label = \"red\""),
        "{exports}"
    );
    let shown = place.ends(0, &["show", "lamp"]).out;
    let state = std::fs::read(place.path().join(".cyan/state.db")).unwrap();
    for said in [&deployed.out, &deployed.err, &shown] {
        assert!(!said.contains(digest), "{said}");
    }
    assert!(!state.windows(64).any(|part| part == digest.as_bytes()));
}

/// The passphrase is `correct horse`. Another implementation of the cipher made the values.
const SEALED: &str = "encryptionsalt: v1:AQIDBAUGBwg=:v1:AQEBAQEBAQEBAQEB:E386FCC/nLtFQ4c0goKZVfriLlkMPw==\n\
    config:\n  token: {secure: 'v1:AgICAgICAgICAgIC:7tEgyUgePh+j5TdcbgCvdOcMor5dFQsgHQ=='}\n\
    \x20 list: [{secure: 'v1:AgICAgICAgICAgIC:7tEgyUgePh+j5TdcbgCvdOcMor5dFQsgHQ=='}, 2]\n";

#[test]
fn encrypted_values_of_a_stack_need_its_passphrase() {
    let place = Place::with(
        "Pulumi.yaml",
        "name: vault\nruntime: yaml\nconfig: {token: {type: string}}\n\
        outputs: {token: '${token}', second: '${list[1]}', first: '${list[0]}'}\n",
    );
    place.write("Pulumi.dev.yaml", SEALED);
    place.ends(0, &["key", "new"]);
    // A check needs no passphrase.
    place.ends(0, &["validate"]);
    let run = |passphrase: Option<&str>, words: &[&str]| {
        let mut command = place.cyan(words);
        command.env_remove("PULUMI_CONFIG_PASSPHRASE");
        command.envs(passphrase.map(|text| ("PULUMI_CONFIG_PASSPHRASE", text)));
        crate::place::ran(command.output().unwrap())
    };
    let said = run(None, &["stage", "-i", "dev"]);
    assert_eq!(said.err.matches("error[").count(), 1, "{}", said.err);
    for part in [
        "error[locked-value]",
        "Pulumi.dev.yaml:3:10",
        "PULUMI_CONFIG_PASSPHRASE",
    ] {
        assert!(said.err.contains(part), "{part}: {}", said.err);
    }
    let mut command = place.cyan(&["stage", "-i", "dev"]);
    command.env_remove("PULUMI_CONFIG_PASSPHRASE");
    command.env("PULUMI_CONFIG_PASSPHRASE_FILE", "nowhere");
    let said = crate::place::ran(command.output().unwrap());
    assert!(
        said.err.contains("`nowhere` cannot be read"),
        "{}",
        said.err
    );
    let said = run(Some("wrong"), &["stage", "-i", "dev"]);
    assert!(
        said.err.contains("the passphrase does not fit"),
        "{}",
        said.err
    );
    let deployed = run(Some("correct horse"), &["deploy", "--yes", "-i", "dev"]);
    assert_eq!(deployed.code, 0, "{}", deployed.err);
    let exports = place.ends(0, &["exports", "-i", "dev"]).out;
    assert!(
        exports.contains("token = (secret)") && exports.contains("second = 2"),
        "{exports}"
    );
    let shown = place.ends(0, &["exports", "-i", "dev", "--reveal"]).out;
    assert_eq!(shown.matches("s3cret-\u{fc}").count(), 2, "{shown}");
}

/// A pipe in the folder was named by nobody: opening it could wait for ever.
#[test]
fn a_file_of_a_stack_is_a_regular_file() {
    let place = Place::with("Pulumi.yaml", "name: app\nruntime: yaml\n");
    let pipe = place.path().join("Pulumi.dev.yaml");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    for words in [&["stage", "-i", "dev"][..], &["validate"]] {
        let said = place.ends(1, words).err;
        assert!(said.contains("is no regular file"), "{said}");
    }
}

#[test]
fn a_computed_name_is_one_mistake() {
    let place = Place::with("Pulumi.yaml", "name: '${x}'\nruntime: yaml\n");
    let said = place.ends(1, &["validate"]).err;
    assert_eq!(said.matches("error[").count(), 1, "{said}");
}

#[test]
fn files_of_stacks_in_another_folder_are_named_by_the_user() {
    let place = Place::with(
        "Pulumi.yaml",
        "name: app\nruntime: yaml\nstackConfigDir: stacks\nconfig: {who: {default: none}}\noutputs: {who: '${who}'}\n",
    );
    place.write("stacks/Pulumi.dev.yaml", "config: {who: you}\n");
    let said = place.ends(0, &["stage", "-i", "dev"]).err;
    assert!(
        said.contains("warning[unsupported-feature]")
            && said.contains("Pulumi.yaml:3:1")
            && said.contains("-e FOLDER/Pulumi.STACK.yaml"),
        "{said}"
    );
    let named = [
        "deploy",
        "--yes",
        "-i",
        "dev",
        "-e",
        "stacks/Pulumi.dev.yaml",
    ];
    place.ends(0, &named);
    assert!(
        place
            .ends(0, &["exports", "-i", "dev"])
            .out
            .contains("who = \"you\"")
    );
}

#[test]
fn a_variable_that_nothing_reads_must_not_need_itself() {
    let program = "name: a\nruntime: yaml\nvariables: {a: 'x ${a}', b: '${c}', c: '${b}'}\n";
    let place = Place::with("Pulumi.yaml", program);
    let said = place.ends(1, &["validate"]).err;
    for part in ["error[self-reference]", "Pulumi.yaml:3:21", "error[cycle]"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!(said.matches("error[").count(), 2, "{said}");
}

#[test]
fn a_package_that_is_nowhere_is_reported_once() {
    let program = "name: store\nruntime: yaml\nresources:\n  \
        prov: {type: 'pulumi:providers:nowhere'}\n  \
        a: {type: 'nowhere:Thing', options: {provider: '${prov}'}}\n  b: {type: 'nowhere:Thing'}\n\
        outputs: {o: '${a.x}', f: {fn::nowhere:get: {}}}\n";
    let place = Place::with("Pulumi.yaml", program);
    let said = place.ends(1, &["validate"]).err;
    assert_eq!(said.matches("error[").count(), 1, "{said}");
    for part in [
        "error[package-unavailable]",
        "Pulumi.yaml:4:16",
        "pulumi plugin install resource nowhere",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn a_program_without_resources_needs_no_plugin() {
    let program = "name: greeting\nruntime: {name: yaml}\nconfig:\n  who: {type: String, default: World}\n\
        variables:\n  words: [Hello, '${who}']\noutputs:\n  text: {fn::join: [', ', '${words}']}\n";
    let place = Place::with("Pulumi.yaml", program);
    place.ends(0, &["deploy", "--yes", "--var", "who=007"]);
    let exports = place.ends(0, &["exports"]).out;
    assert!(exports.contains("text = \"Hello, 007\""), "{exports}");
    let json =
        r#"{"name": "greeting", "runtime": "yaml", "outputs": {"text": {"fn::toBase64": "a"}}}"#;
    let place = Place::with("Pulumi.json", json);
    place.ends(0, &["deploy", "--yes"]);
    assert!(place.ends(0, &["exports"]).out.contains("text = \"YQ==\""));
}

/// Without an error, the file would be an empty program, and a deploy would delete everything.
#[test]
fn a_project_whose_program_is_elsewhere_is_no_empty_program() {
    let place = Place::with("Pulumi.yaml", "name: a\nruntime: yaml\nmain: app\n");
    let said = place.ends(1, &["stage"]).err;
    assert!(
        said.contains("error[unsupported-feature]") && said.contains("Pulumi.yaml:3:1"),
        "{said}"
    );
}

#[test]
fn protection_can_be_computed_and_hidden_changes_are_not_shown() {
    let Some(shop) = shop_of_program() else {
        return;
    };
    let place = &shop.place;
    let folder = place.path().join("items").display().to_string();
    let write = |label: &str, resources: &str| {
        let program = format!(
            "name: store\nruntime: yaml\nconfig: {{'shop:folder': {folder}, 'keep': {{type: boolean, default: true}}}}\n{resources}"
        );
        place.write("Pulumi.yaml", program.replace("LABEL", label));
    };
    let lamp = "resources:\n  lamp: {type: 'shop:Item', properties: {name: lamp, label: LABEL}, options: {protect: '${keep}', hideDiffs: [label]}}\n";
    write("red", lamp);
    place.ends(0, &["key", "new"]);
    place.ends(0, &["deploy", "--yes"]);
    write("blue", lamp);
    let staged = place.ends(0, &["stage"]).out;
    assert!(
        staged.contains("lamp pulumi:shop/index:Item update"),
        "{staged}"
    );
    assert!(!staged.contains("blue"), "{staged}");
    // The protection outlives the declaration, until the state or the program lifts it.
    write("", "");
    let refused = place.ends(1, &["deploy", "--yes"]).err;
    assert!(refused.contains("error[protected]"), "{refused}");
    place.ends(1, &["destroy", "--yes"]);
    let unknown = place.ends(1, &["state", "unprotect", "lampp", "--yes"]).err;
    assert!(unknown.contains("did you mean `lamp`?"), "{unknown}");
    place.ends(0, &["state", "unprotect", "lamp", "--yes"]);
    let deleted = place.ends(0, &["deploy", "--yes"]).out;
    assert!(deleted.contains("2 deleted"), "{deleted}");
    assert!(!deleted.contains("not observed"), "{deleted}");
}

#[test]
fn a_project_file_is_a_part_of_the_program_beside_it() {
    let project = |default: &str| {
        format!("name: shop\nruntime: yaml\nconfig:\n  n: {{type: string, default: {default}}}\n")
    };
    let place = Place::with(
        "Main.yaml",
        "outputs: {n: '${n}', project: '${pulumi.project}'}\n",
    );
    place.write("Pulumi.yaml", project("a"));
    place.ends(0, &["stage", "--out", "p.plan"]);
    place.ends(0, &["deploy", "--yes", "p.plan"]);
    let said = place.ends(0, &["exports"]).out;
    assert_eq!(said, "n = \"a\"\nproject = \"shop\"\n");
    place.ends(0, &["stage", "--out", "q.plan"]);
    place.write("Pulumi.yaml", project("b"));
    let said = place.ends(1, &["deploy", "--yes", "q.plan"]).err;
    assert!(
        said.contains("`Pulumi.yaml` has changed since the plan was made"),
        "{said}"
    );
}

#[test]
fn a_lock_file_says_which_version_of_a_plugin_is_needed() {
    let place = Place::new();
    let program = "name: shop\nruntime: yaml\nresources:\n  a: {type: 'nowhere:Thing'}\n";
    place.write("Pulumi.yaml", program);
    let lock = |rest: &str| format!("packageDeclarationVersion: 1\nname: nowhere\n{rest}");
    place.write("sdks/nowhere.yaml", lock("version: 1.2.3\n"));
    let refused = place.ends(1, &["validate"]).err;
    assert!(refused.contains("1.2.3"), "{refused}");

    place.write("sdks/nowhere.yaml", lock("version: abc\n"));
    let refused = place.ends(1, &["validate"]).err;
    assert!(refused.contains("error[invalid-version]"), "{refused}");
    assert!(refused.contains("sdks/nowhere.yaml:3:10"), "{refused}");

    let parameters = "version: 1.0.0\nparameterization: {name: sub, version: 1.0.0, value: eA==}\n";
    place.write("sdks/nowhere.yaml", lock(parameters));
    place.write("Pulumi.yaml", program.replace("nowhere:", "sub:"));
    let refused = place.ends(1, &["validate"]).err;
    assert!(
        refused.contains("packages with parameters are not supported yet"),
        "{refused}"
    );
}

#[test]
fn a_program_may_stand_in_the_folder_that_its_project_names() {
    let place = Place::new();
    let project = |more: &str| {
        let config = "config: {n: {type: string, default: a}}";
        place.write(
            "Pulumi.yaml",
            format!("name: shop\nruntime: yaml\nmain: ./app/\n{config}\n{more}"),
        );
    };
    project("");
    place.write("app/note.txt", "hello");
    let outputs = "outputs: {n: '${n}', text: {fn::readFile: note.txt}, cwd: '${pulumi.cwd}'}\n";
    place.write("app/Main.yaml", outputs);
    place.write("Pulumi.dev.yaml", "config: {n: b}\n");
    place.ends(0, &["stage", "--out", "p.plan"]);
    place.ends(0, &["deploy", "--yes", "p.plan"]);
    let said = place.ends(0, &["exports"]).out;
    assert!(said.starts_with("n = \"b\"\ntext = \"hello\"\n"), "{said}");
    assert!(said.ends_with("/app\"\n"), "{said}");
    // The program leads to its project, and both are one document.
    let named = place.ends(0, &["deploy", "--yes", "app/Main.yaml"]).out;
    assert!(named.contains("0 created"), "{named}");
    let listed = place.ends(0, &["validate", "."]).out;
    assert!(listed.contains("1 document: 1 valid"), "{listed}");
    place.ends(0, &["stack", "init", "test"]);
    assert!(place.path().join("Pulumi.test.yaml").exists());
    // A change of either file is a change of the document.
    place.ends(0, &["stage", "--out", "q.plan", "-i", "dev"]);
    project("description: new\n");
    let said = place.ends(1, &["deploy", "--yes", "q.plan"]).err;
    assert!(said.contains("`Pulumi.yaml` has changed"), "{said}");
    // A program in `Pulumi.yaml` of that folder, and none.
    std::fs::remove_file(place.path().join("app/Main.yaml")).unwrap();
    place.write("app/Pulumi.yaml", "outputs: {n: '${n}'}\n");
    place.ends(0, &["deploy", "--yes", "-i", "dev"]);
    std::fs::remove_file(place.path().join("app/Pulumi.yaml")).unwrap();
    let said = place.ends(1, &["deploy", "--yes", "-i", "dev"]).err;
    assert!(said.contains("`main` names another folder"), "{said}");
}
