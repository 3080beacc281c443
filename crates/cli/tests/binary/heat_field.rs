//! Tests of templates of OpenStack Heat as they are written in the field.

use crate::named_files::refusal;
use crate::place::Place;

/// Deploys a template and returns the export `o` as JSON.
fn deployed(place: &Place, template: &str) -> serde_json::Value {
    place.ends(0, &["deploy", "--yes", "-i", "x", template]);
    let shown = place.ends(0, &["exports", "-i", "x", "--json"]).out;
    let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
    shown["result"]["exports"]["o"].clone()
}

const KID: &str = "heat_template_version: 2018-08-31
parameters:
  p: {type: string, default: fallback}
  m: {type: json, default: {k: v}}
  n: {type: number, default: 7}
  l: {type: comma_delimited_list, default: 'a,b'}
  b: {type: boolean, default: true}
resources: {v: {type: OS::Heat::TestResource}}
outputs: {o: {value: [{get_param: p}, {get_param: m}, {get_param: n}, {get_param: l}, {get_param: b}]}}
";

#[test]
fn null_properties_of_a_group_member_are_absent() {
    let group = |properties: &str| {
        let place = Place::with("kid.yaml", KID);
        place.write("a.yaml", format!(
            "heat_template_version: 2018-08-31
parameters: {{none: {{type: json, default: {{p: null, n: 3}}}}}}
conditions: {{never: false}}
resources: {{g: {{type: OS::Heat::ResourceGroup, properties: {{count: 1, resource_def: {{type: kid.yaml, properties: {properties}}}}}}}}}
outputs: {{o: {{value: {{get_attr: [g, o]}}}}}}
"));
        deployed(&place, "a.yaml")[0].to_string()
    };
    let defaults = r#"["fallback",{"k":"v"},7,["a","b"],true]"#;
    assert_eq!(
        group("{p: null, m: null, n: null, l: null, b: null}"),
        defaults
    );
    assert_eq!(group("{p: {if: [never, x, null]}, n: ~}"), defaults);
    assert_eq!(
        group("{get_param: none}"),
        r#"["fallback",{"k":"v"},3,["a","b"],true]"#
    );
    // A null inside of a value stays.
    assert_eq!(
        group("{m: {a: null}}"),
        r#"["fallback",{"a":null},7,["a","b"],true]"#
    );
}

#[test]
fn required_parameter_that_a_group_gives_as_null_is_missing() {
    let place = Place::with(
        "must.yaml",
        "heat_template_version: 2018-08-31
parameters: {p: {type: string}}
resources: {v: {type: OS::Heat::TestResource}}
",
    );
    place.write("a.yaml", "heat_template_version: 2018-08-31
resources: {g: {type: OS::Heat::ResourceGroup, properties: {count: 1, resource_def: {type: must.yaml, properties: {p: null}}}}}
");
    let err = refusal(&place, &["deploy", "--yes", "-i", "x", "a.yaml"]);
    assert!(err.contains("`p`"), "{err}");
}

#[test]
fn file_that_is_not_text_is_base64_in_lines() {
    let place = Place::with(
        "a.yaml",
        "heat_template_version: 2018-08-31
resources: {c: {type: OS::Heat::SoftwareConfig, properties: {config: {get_file: latin.txt}}}}
outputs: {o: {value: [{get_file: blob.bin}, {get_file: long.bin}, {get_file: text.txt}, {get_attr: [c, config]}]}}
",
    );
    place.write("latin.txt", b"latin \xe9\n");
    place.write("blob.bin", b"\x00\x01\xff\xfebinary");
    place.write("long.bin", [0xff; 58]);
    place.write("text.txt", "text");
    let long = format!("{}\n/w==\n", "/".repeat(76));
    assert_eq!(
        deployed(&place, "a.yaml"),
        serde_json::json!(["AAH//mJpbmFyeQ==\n", long, "text", "bGF0aW4g6Qo=\n"])
    );
}

#[test]
fn attribute_is_not_the_property_of_its_name() {
    let place = Place::with(
        "a.yaml",
        "heat_template_version: 2018-08-31
resources:
  vip: {type: OS::Neutron::Port, properties: {network: n, fixed_ips: [{subnet: s}]}}
  user: {type: OS::Neutron::Port, properties: {network: n, allowed_address_pairs: [{ip_address: {get_attr: [vip, fixed_ips, 0, ip_address]}}]}}
",
    );
    place.ends(0, &["validate", "a.yaml"]);
    let attributes = [
        (
            "OS::Neutron::Router, properties: {external_gateway_info: {network: public}}",
            "external_gateway_info, external_fixed_ips, 0, ip_address",
        ),
        (
            "OS::Neutron::Port, properties: {network: n, security_groups: [default]}",
            "security_groups, 0",
        ),
        (
            "OS::Neutron::Subnet, properties: {network: n, cidr: 10.1.2.3/24, gateway_ip: ''}",
            "cidr",
        ),
        (
            "OS::Trove::Cluster, properties: {datastore_type: d, datastore_version: v, instances: [{flavor: s, volume_size: 1}]}",
            "instances, 0, id",
        ),
    ];
    for (resource, path) in attributes {
        place.write("b.yaml", format!("heat_template_version: 2018-08-31\nresources: {{r: {{type: {resource}}}}}\noutputs: {{o: {{value: {{get_attr: [r, {path}]}}}}}}\n"));
        let out = place.run(&["stage", "--simulate", "-i", "x", "b.yaml"]).out;
        assert!(out.contains("(known on deploy)"), "{resource}: {out}");
    }
}

#[test]
fn rehearsal_takes_integers_for_numbers() {
    let documents = [
        "resources:\n  h: {type: OS::Heat::WaitConditionHandle}\n  w: {type: OS::Heat::WaitCondition, properties: {handle: {get_resource: h}, timeout: 600}}\n",
        "resources: {d: {type: OS::Heat::Delay, properties: {min_wait: 0}}}\n",
        "parameters: {n: {type: number, default: '60'}}\nresources: {t: {type: OS::Aodh::GnocchiResourcesAlarm, properties: {metric: m, resource_id: r, resource_type: t, threshold: {get_param: n}}}}\n",
    ];
    for text in documents {
        let place = Place::with(
            "a.yaml",
            &format!("heat_template_version: 2018-08-31\n{text}"),
        );
        // The URL of a handle is secret.
        place.ends(0, &["key", "new"]);
        place.ends(0, &["deploy", "--yes", "--simulate", "-i", "x", "a.yaml"]);
    }
}
