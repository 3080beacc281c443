//! Checks that the examples of types, as shown by `cyan types` and in the reference, are documents
//! that run.

use serde_json::Value;

use crate::place::{Place, ran};

#[test]
fn the_example_of_every_type_is_a_document_that_runs() {
    let place = Place::new();
    let key = place.path().join("key");
    place.ends(0, &["key", "new", &key.to_string_lossy()]);
    let listed: Value = serde_json::from_str(&place.ends(0, &["types", "--json"]).out).unwrap();
    let names: std::collections::BTreeSet<&str> = listed["result"]["types"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|one| one["name"].as_str())
        // Types of clouds are too many, and have other examples.
        .filter(|name| {
            !name.starts_with("aws/") && (!name.contains("::") || name.starts_with("OS::Heat::"))
        })
        .collect();
    assert!(names.len() > 20, "{names:?}");
    let mut wrong = Vec::new();
    for name in names {
        let one: Value =
            serde_json::from_str(&place.ends(0, &["types", name, "--json"]).out).unwrap();
        for kind in ["resource", "datasource"] {
            let example = one["result"][kind]["example"]
                .as_str()
                .filter(|example| !example.is_empty());
            let Some(example) = example else { continue };
            let file = format!("{}-{kind}.yaml", name.replace(['/', ':'], "-"));
            place.write(&file, format!("{}\n", example.trim_end()));
            let mut say = |what: &str, ran: crate::place::Ran| {
                if ran.code != 0 || what == "validate" && ran.err.contains("warning") {
                    wrong.push(format!("{name}: {what}\n{}{}\n{example}", ran.out, ran.err));
                }
            };
            say("validate", place.run(&["validate", &file]));
            say("fmt", place.run(&["fmt", "--check", &file]));
            let state = format!("sqlite:{file}.db");
            let mut deploy =
                place.cyan(&["deploy", "--simulate", "--yes", "--state", &state, &file]);
            say(
                "deploy",
                ran(deploy.env("CYAN_KEY_FILE", &key).output().unwrap()),
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn names_with_colons_are_listed_by_namespace() {
    let place = Place::new();
    let nova = place.ends(0, &["types", "OS::Nova"]).out;
    assert!(
        nova.starts_with("OS::Nova ") && nova.contains("  OS::Nova::Server "),
        "{nova}"
    );
    assert!(!nova.contains("OS::Neutron::"), "{nova}");
    let neutron = place.ends(0, &["types", "OS::Neutron"]).out;
    assert!(
        neutron.contains("OS::Neutron::LBaaS::Pool") && neutron.contains("OS::Neutron::Net "),
        "{neutron}"
    );
    let all = place.ends(0, &["types", "OS"]).out;
    assert!(
        all.contains("OS::Heat::Value ") && all.contains("OS::Zun::Container"),
        "{all}"
    );
    let server = place.ends(0, &["types", "OS::Nova::Server"]).out;
    assert!(
        server.contains("  flavor string, required\n") && server.contains("  first_address "),
        "{server}"
    );
    let one: Value =
        serde_json::from_str(&place.ends(0, &["types", "OS::Heat::Delay", "--json"]).out).unwrap();
    assert_eq!(
        one["result"]["resource"]["fields"]["min_wait"]["type"],
        "float"
    );
    for (wrong, near) in [
        ("OS::Nova::Servr", "OS::Nova::Server"),
        ("OS::Nvoa", "OS::Nova"),
    ] {
        let said = place.ends(2, &["types", wrong]).err;
        assert!(said.contains(&format!("did you mean `{near}`?")), "{said}");
    }
}

#[test]
fn types_without_a_provider_are_simulated_but_not_deployed() {
    let place = Place::with(
        "net.blueprint.yaml",
        "version: 2023-04-20\nresources:\n  front: {type: \"OS::Manila::ShareNetwork\", spec: {name: front}}\n  \
         web:\n    type: OS::Manila::Share\n    spec: {name: web, share_protocol: NFS, size: 1, share_network: \"${resources.front}\"}\n  \
         done: {type: \"OS::Zaqar::Queue\", spec: {name: done}}\n  \
         name: {type: \"OS::Heat::Value\", spec: {value: \"${resources.front.spec.name}\"}}\n",
    );
    place.ends(0, &["validate", "net.blueprint.yaml"]);
    let refused = place
        .ends(1, &["deploy", "--yes", "net.blueprint.yaml"])
        .err;
    for what in [
        "OS::Manila::ShareNetwork",
        "OS::Manila::Share",
        "OS::Zaqar::Queue",
    ] {
        assert!(
            refused.contains(&format!("there is no provider for `{what}` here yet")),
            "{refused}"
        );
    }
    let done = place
        .ends(0, &["deploy", "--simulate", "--yes", "net.blueprint.yaml"])
        .out;
    assert!(
        done.ends_with("4 created, 0 updated, 0 deleted\n"),
        "{done}"
    );
    let again = place
        .ends(0, &["stage", "--simulate", "net.blueprint.yaml"])
        .out;
    assert!(
        again.ends_with("0 to create, 0 to update, 0 to delete\n"),
        "{again}"
    );
}

#[test]
fn an_attribute_takes_the_place_of_a_property_that_is_not_set() {
    let text = "version: 2023-04-20\nresources:\n  \
         address: {type: \"OS::Neutron::FloatingIP\", spec: {floating_network: public}}\n  \
         given: {type: \"OS::Neutron::FloatingIP\", spec: {floating_network: public, floating_ip_address: 203.0.113.9}}\n\
         exports:\n  \
         drawn: {type: string, field: address.spec.floating_ip_address}\n  \
         given: {type: string, field: given.spec.floating_ip_address}\n";
    let place = Place::with("net.blueprint.yaml", text);
    let staged = place
        .ends(0, &["stage", "--simulate", "net.blueprint.yaml"])
        .out;
    assert!(staged.contains("+ drawn: (known on deploy)"), "{staged}");
    assert!(staged.contains("+ given: \"203.0.113.9\""), "{staged}");
    place.ends(0, &["deploy", "--simulate", "--yes", "net.blueprint.yaml"]);
    let drawn = place.ends(0, &["output", "--simulate", "drawn"]).out;
    let address: Result<std::net::IpAddr, _> = drawn.trim().parse();
    assert!(address.is_ok(), "{drawn}");
}

#[test]
fn the_attribute_show_is_that_of_each_resource_and_null_for_stacks() {
    let text = "heat_template_version: 2021-04-16
resources:
  net: {type: OS::Neutron::Net}
  group:
    type: OS::Heat::ResourceGroup
    properties: {count: 2, resource_def: {type: OS::Neutron::Net}}
  stack: {type: OS::Heat::Stack, properties: {template: \"heat_template_version: 2021-04-16\"}}
outputs:
  net: {value: {get_attr: [net, show]}}
  group: {value: {get_attr: [group, show]}}
  stack: {value: {get_attr: [stack, show]}}
";
    let place = Place::with("net.yaml", text);
    let staged = place
        .ends(0, &["stage", "--simulate", "net.yaml", "-i", "net"])
        .out;
    for line in [
        "+ net: (known on deploy)",
        "+ group: [(known on deploy), (known on deploy)]",
        "+ stack: null",
    ] {
        assert!(staged.contains(line), "{staged}");
    }
}

#[test]
fn a_stack_of_another_region_has_a_configuration_of_its_own() {
    let text = "heat_template_version: 2021-04-16
parameters:
  where: {type: string, default: north}
resources:
  here: {type: OS::Neutron::Net}
  a:
    type: OS::Heat::Stack
    properties:
      context: {region_name: {get_param: where}}
      template: |
        heat_template_version: 2021-04-16
        resources:
          net: {type: OS::Neutron::Net}
";
    let place = Place::with("net.yaml", text);
    let on = ["--simulate", "net.yaml", "-i", "net"];
    let deployed = place.ends(0, &[&["deploy", "--yes"][..], &on].concat());
    let shown = format!("{}{}", deployed.out, deployed.err);
    assert!(shown.contains("a-region"), "{shown}");
    let moved = place
        .ends(0, &[&["stage", "--var", "where=south"][..], &on].concat())
        .out;
    assert!(
        moved.contains("settings.region: \"north\" -> \"south\""),
        "{moved}"
    );

    let other = text.replace("region_name: {get_param: where}", "insecure: true");
    place.write("net.yaml", &other);
    let refused = place.ends(1, &[&["stage"][..], &on].concat()).err;
    assert!(
        refused.contains("`context.insecure` is not supported"),
        "{refused}"
    );
}

#[test]
fn a_stack_in_a_group_has_the_configuration_of_its_region() {
    let text = "heat_template_version: 2021-04-16
resources:
  group:
    type: OS::Heat::ResourceGroup
    properties:
      count: 2
      resource_def:
        type: OS::Heat::Stack
        properties:
          context: {region_name: north}
          template: |
            heat_template_version: 2021-04-16
            resources:
              net: {type: OS::Neutron::Net}
";
    let place = Place::with("net.yaml", text);
    let on = ["--simulate", "net.yaml", "-i", "net"];
    let shown = place.ends(0, &[&["stage"][..], &on].concat()).out;
    for line in [
        "+ group/0-region cyan/provider create",
        "+ group/1-region cyan/provider create",
        "settings.region: \"north\"",
    ] {
        assert!(shown.contains(line), "{shown}");
    }

    let other = text.replace("region_name: north", "insecure: true");
    place.write("net.yaml", &other);
    let refused = place.ends(1, &[&["stage"][..], &on].concat()).err;
    assert!(
        refused.contains("`context.insecure` is not supported"),
        "{refused}"
    );
}

#[test]
fn settings_and_limits_name_namespaces_with_colons() {
    let text =
        "version: 2023-04-20\nresources:\n  a: {type: \"OS::Heat::Value\", spec: {value: 1}}\n";
    let place = Place::with("a.blueprint.yaml", text);
    place.write(
        "cyan.toml",
        "[limits.\"OS::Heat\"]\nmax-parallel = 2\n\n[limits.\"OS::Nova\"]\nmax-parallel = 3\n",
    );
    place.ends(0, &["deploy", "--yes", "a.blueprint.yaml"]);
    place.write("cyan.toml", "[limits.\"OS::Haet\"]\nmax-parallel = 2\n");
    let said = place.ends(1, &["deploy", "--yes", "a.blueprint.yaml"]).err;
    assert!(said.contains("there is no provider `OS::Haet`"), "{said}");
}

#[test]
fn a_template_of_servers_is_rehearsed_in_the_order_that_its_types_want() {
    let text = "heat_template_version: 2018-08-31
parameters: {data: {type: string, default: one}}
resources:
  server:
    type: OS::Nova::Server
    properties: {flavor: small, networks: [{port: {get_resource: port}}], user_data: {get_param: data}}
  port: {type: OS::Neutron::Port, properties: {network_id: {get_resource: net}}}
  late: {type: OS::Neutron::Subnet, properties: {network: {get_resource: net}, dns_nameservers: [{get_attr: [slow, name]}]}}
  slow: {type: OS::Neutron::Router}
  net: {type: OS::Neutron::Net, properties: {name: front}}
outputs:
  name: {value: {get_attr: [net, name]}}
  networks: {value: {get_attr: [server, networks]}}
";
    let place = Place::with("net.yaml", text);
    let deploy = ["deploy", "--simulate", "--yes", "-i", "net", "net.yaml"];
    let ran = place.ends(0, &deploy);
    let (done, told) = (ran.out, ran.err);
    let at = |line: &str| {
        told.find(line)
            .unwrap_or_else(|| panic!("{line} in {told}"))
    };
    assert!(
        at("late: created") < at("port: creating"),
        "a port waits for the subnets of its network"
    );
    assert!(
        done.contains("+ name: (known on deploy)")
            && done.contains("+ networks: (known on deploy)"),
        "{done}"
    );
    let changed = place
        .ends(
            0,
            &[
                "stage",
                "--simulate",
                "-i",
                "net",
                "--var",
                "data=two",
                "net.yaml",
            ],
        )
        .out;
    assert!(
        changed.ends_with("1 to replace\n"),
        "user data replaces where the policy says so: {changed}"
    );
    let kept = text.replace("user_data:", "user_data_update_policy: IGNORE, user_data:");
    place.write("net.yaml", kept);
    let changed = place
        .ends(
            0,
            &[
                "stage",
                "--simulate",
                "-i",
                "net",
                "--var",
                "data=two",
                "net.yaml",
            ],
        )
        .out;
    assert!(
        changed.ends_with("0 to create, 1 to update, 0 to delete\n"),
        "{changed}"
    );
}
