//! Cases of our own: what must not happen to objects that a plan may not change.

use serde_json::{Value, json};

use crate::place::{Place, Ran, ran};
use crate::sim::Sim;

const THEIRS: &str = r#"{"ext-1": {"type": "sim:index:Res", "inputs": {"value": "theirs", "label": "L"}, "rev": 4}}"#;

/// A folder with a program, and the provider with a world of its own.
struct Lab {
    place: Place,
    sim: Sim,
}

impl Lab {
    /// `None` if the pack or Pulumi's framework is missing.
    fn new() -> Option<Lab> {
        let mut sim = Sim::start(&crate::pack()?.join("sequences/sim-schema.json"))?;
        let place = Place::new();
        let world = place.path().join("world");
        std::fs::create_dir(&world).unwrap();
        sim.use_world(&world);
        place.ends(0, &["key", "new"]);
        Some(Lab { place, sim })
    }

    fn program(&self, resources: &str) {
        let text = format!("name: demo\nruntime: yaml\nresources:\n{resources}");
        self.place.write("Pulumi.yaml", text);
    }

    /// Runs a command that must succeed.
    fn run(&self, words: &[&str]) -> Ran {
        let mut command = self.place.cyan(words);
        command.args(["-i", "dev"]);
        command.env("PULUMI_DEBUG_PROVIDERS", format!("sim:{}", self.sim.port));
        let ran = ran(command.output().unwrap());
        assert_eq!(ran.code, 0, "{words:?}\n{}{}", ran.out, ran.err);
        ran
    }

    fn world(&self) -> Value {
        serde_json::from_str(&self.place.read("world/world.json")).unwrap()
    }

    fn ids(&self) -> Vec<String> {
        let mut ids: Vec<String> = self.world().as_object().unwrap().keys().cloned().collect();
        ids.sort();
        ids
    }
}

#[test]
fn an_imported_object_that_was_only_read_is_never_changed() {
    let Some(lab) = Lab::new() else { return };
    lab.place.write("world/world.json", THEIRS);
    let stack = "urn:pulumi:dev::demo::pulumi:pulumi:Stack::demo-dev";
    let default = "urn:pulumi:dev::demo::pulumi:providers:sim::default";
    let inputs = json!({"value": "theirs", "label": "L"});
    let deployment = json!({"version": 3, "deployment": {"resources": [
        {"urn": stack, "custom": false, "type": "pulumi:pulumi:Stack"},
        {"urn": default, "custom": true, "id": "6a", "type": "pulumi:providers:sim"},
        {"urn": "urn:pulumi:dev::demo::sim:index:Res::g", "custom": true, "external": true,
            "id": "ext-1", "type": "sim:index:Res", "inputs": inputs, "outputs": inputs,
            "parent": stack, "provider": format!("{default}::6a")},
    ]}});
    lab.program("  g: {type: 'sim:Res', properties: {value: mine}}\n");
    lab.place.write("state.json", deployment.to_string());
    lab.run(&["state", "import", "state.json", "--yes"]);
    let staged = lab.run(&["stage"]).out;
    assert!(staged.contains("1 to create, 0 to update"), "{staged}");
    lab.run(&["deploy", "--yes"]);
    assert_eq!(lab.ids(), ["ext-1", "g-1"]);
    assert_eq!(lab.world()["ext-1"]["inputs"]["value"], "theirs");
    lab.run(&["destroy", "--yes"]);
    assert_eq!(lab.ids(), ["ext-1"]);
}

#[test]
fn an_excluded_resource_keeps_its_object_although_its_identity_changes() {
    let Some(lab) = Lab::new() else { return };
    lab.program("  k: {type: 'sim:Res', name: one}\n  z: {type: 'sim:Res'}\n");
    lab.run(&["deploy", "--yes"]);
    lab.program(
        "  k: {type: 'sim:Res', name: two}\n  z: {type: 'sim:Res', properties: {value: v}}\n",
    );
    lab.run(&["deploy", "--yes", "--exclude", "k"]);
    assert_eq!(lab.ids(), ["one-1", "z-1"]);
    assert_eq!(lab.world()["z-1"]["rev"], 2);
    lab.run(&["deploy", "--yes"]);
    assert_eq!(lab.ids(), ["two-1", "z-1"]);
}

#[test]
fn readers_of_an_excluded_resource_see_what_it_is_and_not_what_it_would_be() {
    let Some(lab) = Lab::new() else { return };
    let program = |value: &str, more: &str| {
        lab.program(&format!(
            "  a: {{type: 'sim:Res', properties: {{value: {value}{more}}}}}\n  \
            b: {{type: 'sim:Res', properties: {{value: '${{a.rev}}', label: '${{a.value}}'}}}}\n"
        ));
    };
    program("x", "");
    lab.run(&["deploy", "--yes"]);
    // The provider would refuse the excluded resource.
    program("y", ", invalid: broken");
    lab.run(&["deploy", "--yes", "--exclude", "a", "--expect-no-changes"]);
    assert_eq!(lab.world()["b-1"]["inputs"]["label"], "x");
}

#[test]
fn a_target_does_not_take_the_object_of_a_resource_that_is_still_declared() {
    let Some(lab) = Lab::new() else { return };
    lab.program("  a: {type: 'sim:Res'}\n");
    lab.run(&["deploy", "--yes"]);
    lab.program(
        "  a: {type: 'sim:Res'}\n  b: {type: 'sim:Res', options: {aliases: [{name: a}]}}\n",
    );
    lab.run(&["deploy", "--yes", "--target", "b"]);
    assert_eq!(lab.ids(), ["a-1", "b-1"]);
    lab.run(&["deploy", "--yes", "--expect-no-changes"]);
}

#[test]
fn a_new_resource_takes_an_ignored_property_that_is_known_later() {
    let Some(lab) = Lab::new() else { return };
    lab.program(
        "  a: {type: 'sim:Res'}\n  \
        b: {type: 'sim:Res', properties: {label: '${a.arn}'}, options: {ignoreChanges: [label]}}\n",
    );
    lab.run(&["deploy", "--yes"]);
    assert_eq!(lab.world()["b-1"]["inputs"]["label"], "arn:a-1");
    lab.run(&["deploy", "--yes", "--expect-no-changes"]);
}

#[test]
fn the_provider_of_a_resource_that_no_target_needs_is_not_asked() {
    let Some(lab) = Lab::new() else { return };
    lab.program("  a: {type: 'sim:Res'}\n  b: {type: 'sim:Res', properties: {invalid: broken}}\n");
    lab.run(&["deploy", "--yes", "--target", "a"]);
    assert_eq!(lab.ids(), ["a-1"]);
}
