//! The types of Neutron.

use provider::{ReadOutcome, Verdict};
use serde_json::{Value as Json, json};

use crate::support::{Live, Peer};

/// A network with a subnet.
async fn network<'p>(peer: &'p Peer, cidr: &str) -> [Live<'p>; 2] {
    let net = peer
        .create("OS::Neutron::Net", "net", json!({}))
        .await
        .unwrap();
    let spec = json!({"network": net.id(), "cidr": cidr});
    let subnet = peer
        .create("OS::Neutron::Subnet", "subnet", spec)
        .await
        .unwrap();
    [subnet, net]
}

async fn delete_all<const N: usize>(all: [Live<'_>; N]) {
    for one in all {
        one.delete().await.unwrap();
    }
}

#[tokio::test]
async fn a_network_lives() {
    let Some(peer) = Peer::of("demo").await else {
        return;
    };
    let name = format!("{}-given", peer.run);
    let spec = json!({"name": name, "tags": ["b", "a"]});
    let mut net = peer.create("OS::Neutron::Net", "net", spec).await.unwrap();
    net.assert_found().await;
    net.assert_settled(&["name", "tags", "admin_state_up"])
        .await;
    assert_eq!(net.field("tags"), json!(["b", "a"]));
    assert_eq!(net.field("l2_adjacency"), true);
    // The mark is no description.
    assert_eq!(net.field("show")["description"], "");
    net.update(json!({"name": name, "admin_state_up": false}))
        .await
        .unwrap();
    assert_eq!(net.field("show")["tags"], json!([]));
    assert_eq!(net.field("attribute_admin_state_up"), false);
    net.delete().await.unwrap();
}

#[tokio::test]
async fn a_subnet_lives_and_is_deleted_first_if_its_addresses_stay() {
    let Some(peer) = Peer::of("demo").await else {
        return;
    };
    let net = peer
        .create("OS::Neutron::Net", "net", json!({}))
        .await
        .unwrap();
    let spec = |more: Json| {
        let mut spec = json!({"network": net.id(), "cidr": "10.85.0.9/24"});
        spec.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        spec
    };
    let first = spec(json!({"gateway_ip": "", "dns_nameservers": ["9.9.9.9"],
        "allocation_pools": [{"start": "10.85.0.10", "end": "10.85.0.20"}]}));
    let mut subnet = peer
        .create("OS::Neutron::Subnet", "subnet", first)
        .await
        .unwrap();
    assert_eq!(subnet.field("attribute_cidr"), "10.85.0.0/24");
    assert_eq!(subnet.field("attribute_gateway_ip"), Json::Null);
    subnet.assert_found().await;
    subnet
        .assert_settled(&["cidr", "gateway_ip", "dns_nameservers"])
        .await;
    subnet
        .update(spec(json!({"gateway_ip": "10.85.0.1"})))
        .await
        .unwrap();
    assert_eq!(subnet.field("attribute_gateway_ip"), "10.85.0.1");
    assert_eq!(subnet.field("attribute_dns_nameservers"), json!([]));
    let planned = subnet.plan(spec(json!({"cidr": "10.85.0.0/24"}))).await;
    assert_eq!(planned.only_recorded, ["cidr".into()]);
    let planned = subnet
        .plan(spec(json!({"ip_version": 4, "ipv6_ra_mode": "slaac"})))
        .await;
    assert_eq!(
        planned.verdict,
        Verdict::Replace {
            delete_first: Some(true)
        }
    );
    let planned = subnet.plan(spec(json!({"cidr": "10.86.0.0/24"}))).await;
    assert_eq!(planned.verdict, Verdict::ByCatalogue);
    let planned = subnet.plan(spec(json!({"gateway_ip": "auto"}))).await;
    assert_eq!(planned.diagnostics[0].path, "gateway_ip".into());
    subnet.delete().await.unwrap();
    net.delete().await.unwrap();
}

#[tokio::test]
async fn a_port_lives() {
    let Some(peer) = Peer::of("demo").await else {
        return;
    };
    let [subnet, net] = network(&peer, "10.85.1.0/24").await;
    let group = peer
        .create("OS::Neutron::SecurityGroup", "group", json!({}))
        .await
        .unwrap();
    let addresses = json!([{"subnet": subnet.id(), "ip_address": "10.85.1.9"}]);
    let spec = json!({
        "network": net.id(), "fixed_ips": addresses, "security_groups": [group.field("name")],
        "allowed_address_pairs": [{"ip_address": "10.85.1.77"}], "tags": ["p"],
    });
    let mut port = peer
        .create("OS::Neutron::Port", "port", spec.clone())
        .await
        .unwrap();
    port.assert_found().await;
    port.assert_settled(&[
        "fixed_ips",
        "security_groups",
        "allowed_address_pairs",
        "tags",
    ])
    .await;
    assert_eq!(port.field("fixed_ips"), addresses);
    assert_eq!(port.field("attribute_security_groups"), json!([group.id()]));
    assert_eq!(port.field("subnets")[0]["id"], subnet.id());
    assert_eq!(port.field("attribute_network")["id"], net.id());
    let mut by_id = spec.clone();
    by_id["security_groups"] = json!([group.id()]);
    let planned = port.plan(by_id).await;
    assert_eq!(planned.only_recorded, ["security_groups".into()]);
    let mut always = spec;
    always["replacement_policy"] = json!("REPLACE_ALWAYS");
    let planned = port.plan(always).await;
    assert_eq!(
        planned.verdict,
        Verdict::Replace {
            delete_first: Some(true)
        }
    );
    // What the spec no longer gives: the default group returns, the address stays.
    port.update(json!({"network": net.id()})).await.unwrap();
    let groups = port.field("attribute_security_groups");
    assert!(groups[0] != group.id() && groups.as_array().unwrap().len() == 1);
    assert_eq!(port.field("attribute_allowed_address_pairs"), json!([]));
    assert_eq!(
        port.field("attribute_fixed_ips")[0]["ip_address"],
        "10.85.1.9"
    );
    port.update(json!({"network": net.id(), "no_fixed_ips": true}))
        .await
        .unwrap();
    assert_eq!(port.field("attribute_fixed_ips"), json!([]));
    delete_all([port, group, subnet, net]).await;
}

#[tokio::test]
async fn a_router_with_all_its_parts_lives() {
    let Some(peer) = Peer::of("demo").await else {
        return;
    };
    let [subnet, net] = network(&peer, "10.85.2.0/24").await;
    let spec = json!({"external_gateway_info": {"network": "public"}});
    let router = peer
        .create("OS::Neutron::Router", "router", spec)
        .await
        .unwrap();
    router.assert_found().await;
    router.assert_settled(&["external_gateway_info"]).await;
    let spec = json!({"router": router.id(), "subnet": subnet.field("name")});
    let interface = peer
        .create("OS::Neutron::RouterInterface", "interface", spec)
        .await
        .unwrap();
    let id = format!("{}:subnet_id={}", router.id(), subnet.id());
    assert_eq!(interface.id(), id);
    interface.assert_found().await;
    interface.assert_found_after_cut_off_delete().await;
    let by_id = json!({"router": router.id(), "subnet": subnet.id()});
    assert_eq!(interface.plan(by_id).await.only_recorded, ["subnet".into()]);

    let route = |to: &str| json!({"destination": to, "nexthop": "10.85.2.77"});
    let routes = |routes: Json| json!({"router": router.id(), "routes": routes});
    let first = routes(json!([route("10.185.1.0/24"), route("10.185.2.0/24")]));
    let mut set = peer
        .create("OS::Neutron::ExtraRouteSet", "routes", first)
        .await
        .unwrap();
    set.assert_found().await;
    let second = routes(json!([route("10.185.2.0/24"), route("10.185.3.0/24")]));
    set.update(second).await.unwrap();
    set.assert_settled(&["routes"]).await;

    let spec = json!({"network": net.id(), "fixed_ips": [{"subnet": subnet.id()}]});
    let port = peer
        .create("OS::Neutron::Port", "port", spec)
        .await
        .unwrap();
    let spec = json!({"floating_network": "public"});
    let floating = peer
        .create("OS::Neutron::FloatingIP", "floating", spec)
        .await
        .unwrap();
    floating.assert_found().await;
    let spec = json!({"floatingip_id": floating.field("attribute_floating_ip_address"),
        "port_id": port.id()});
    let bound = peer
        .create("OS::Neutron::FloatingIPAssociation", "bound", spec)
        .await
        .unwrap();
    bound.assert_found().await;
    // The association is no drift of the floating IP.
    floating
        .assert_settled(&["port_id", "fixed_ip_address"])
        .await;
    bound.delete().await.unwrap();
    let error = peer
        .create(
            "OS::Neutron::FloatingIPPortForward",
            "forward",
            json!({
                "floating_ip": floating.id(), "internal_port": port.id(), "protocol": "tcp",
                "internal_ip_address": "10.85.2.9", "internal_port_number": 80, "external_port": 80,
            }),
        )
        .await;
    // This cloud has no such extension.
    assert!(error.err().is_some_and(|error| error.partial.is_none()));
    delete_all([floating, set, interface, port, router, subnet, net]).await;
}

#[tokio::test]
async fn a_floating_ip_moves_between_ports() {
    let Some(peer) = Peer::of("demo").await else {
        return;
    };
    let [subnet, net] = network(&peer, "10.85.3.0/24").await;
    let spec = json!({"external_gateway_info": {"network": "public"}});
    let router = peer
        .create("OS::Neutron::Router", "router", spec)
        .await
        .unwrap();
    let spec = json!({"router": router.id(), "subnet": subnet.id()});
    let interface = peer
        .create("OS::Neutron::RouterInterface", "interface", spec)
        .await
        .unwrap();
    let port = json!({"network": net.id()});
    let first = peer
        .create("OS::Neutron::Port", "first", port.clone())
        .await
        .unwrap();
    let second = peer
        .create("OS::Neutron::Port", "second", port)
        .await
        .unwrap();
    let spec = |port: &str| json!({"floating_network": "public", "port_id": port});
    let mut floating = peer
        .create("OS::Neutron::FloatingIP", "floating", spec(first.id()))
        .await
        .unwrap();
    let address = floating.field("attribute_floating_ip_address");
    floating.update(spec(second.id())).await.unwrap();
    assert_eq!(floating.field("attribute_port_id"), second.id());
    floating
        .update(json!({"floating_network": "public"}))
        .await
        .unwrap();
    assert_eq!(floating.field("attribute_port_id"), Json::Null);
    assert_eq!(floating.field("attribute_floating_ip_address"), address);
    delete_all([floating, first, second, interface, router, subnet, net]).await;
}

#[tokio::test]
async fn a_group_with_a_name_and_a_description_has_its_mark_until_it_is_recorded() {
    let Some(peer) = Peer::of("demo").await else {
        return;
    };
    let rules = json!([{"direction": "egress", "protocol": "udp"}]);
    let spec = json!({"name": "no-place", "description": "given", "rules": rules});
    let other = peer
        .create("OS::Neutron::SecurityGroup", "other", spec.clone())
        .await
        .unwrap();
    assert_eq!(other.field("description"), "given");
    let mut group = peer
        .begin("OS::Neutron::SecurityGroup", "group", spec.clone())
        .await
        .unwrap();
    // The create is cut off here: another group of the name is not taken for it.
    group.assert_found().await;
    let found = group.found().await;
    // The next plan finds that the description is missing, and an update writes it.
    assert_ne!(group.field("description"), "given");
    group.update(spec).await.unwrap();
    assert_eq!(group.field("description"), "given");
    let lost = group.lost();
    group.delete().await.unwrap();
    assert!(matches!(lost.find().await, ReadOutcome::Absent));
    // Nothing of it is left to be deleted.
    assert!(found.read().await.is_none());
    other.delete().await.unwrap();
}

#[tokio::test]
async fn a_security_group_keeps_the_rules_of_others() {
    let Some(peer) = Peer::of("demo").await else {
        return;
    };
    let tcp = |port: u16| {
        json!({"protocol": "tcp", "port_range_min": port, "port_range_max": port,
            "remote_ip_prefix": "0.0.0.0/0"})
    };
    let first = json!({"rules": [tcp(22), {"direction": "egress", "protocol": "udp"}]});
    let mut group = peer
        .create("OS::Neutron::SecurityGroup", "group", first)
        .await
        .unwrap();
    group.assert_found().await;
    group.assert_settled(&["rules"]).await;
    let rules = |group: &Live<'_>| {
        group.field("show")["security_group_rules"]
            .as_array()
            .unwrap()
            .len()
    };
    assert_eq!(rules(&group), 2);
    let spec = json!({"security_group": group.id(), "port_range_min": 80, "port_range_max": 80});
    let rule = peer
        .create("OS::Neutron::SecurityGroupRule", "rule", spec)
        .await
        .unwrap();
    rule.assert_found().await;
    group.assert_settled(&["rules"]).await;
    // The rules of Neutron about outgoing traffic return.
    group.update(json!({"rules": [tcp(23)]})).await.unwrap();
    assert_eq!(rules(&group), 4);
    group.assert_settled(&["rules"]).await;
    rule.assert_settled(&["port_range_min"]).await;
    delete_all([rule, group]).await;
}

#[tokio::test]
async fn a_trunk_lives() {
    let Some(peer) = Peer::of("demo").await else {
        return;
    };
    let [subnet, net] = network(&peer, "10.85.4.0/24").await;
    let spec = json!({"network": net.id()});
    let parent = peer
        .create("OS::Neutron::Port", "parent", spec.clone())
        .await
        .unwrap();
    let child = peer
        .create("OS::Neutron::Port", "child", spec)
        .await
        .unwrap();
    let spec = |tag: u16| {
        json!({"port": parent.id(), "sub_ports": [
            {"port": child.id(), "segmentation_type": "vlan", "segmentation_id": tag},
        ]})
    };
    let mut trunk = peer
        .create("OS::Neutron::Trunk", "trunk", spec(7))
        .await
        .unwrap();
    trunk.assert_found().await;
    trunk.update(spec(8)).await.unwrap();
    trunk.assert_settled(&["sub_ports"]).await;
    assert_eq!(trunk.field("show")["sub_ports"][0]["segmentation_id"], 8);
    trunk.update(json!({"port": parent.id()})).await.unwrap();
    assert_eq!(trunk.field("show")["sub_ports"], json!([]));
    delete_all([trunk, child, parent, subnet, net]).await;
}

#[tokio::test]
async fn a_pool_of_addresses_lives() {
    let Some(peer) = Peer::of("demo").await else {
        return;
    };
    let mut scope = peer
        .create("OS::Neutron::AddressScope", "scope", json!({}))
        .await
        .unwrap();
    scope.assert_found().await;
    let name = format!("{}-renamed", peer.run);
    scope.update(json!({"name": name})).await.unwrap();
    let spec = |prefixes: Json, tag: &str| {
        json!({"prefixes": prefixes, "address_scope": scope.id(), "default_prefixlen": 26,
            "tags": [tag]})
    };
    let first = spec(json!(["10.190.0.0/16"]), "a");
    let mut pool = peer
        .create("OS::Neutron::SubnetPool", "pool", first)
        .await
        .unwrap();
    pool.assert_found().await;
    pool.assert_settled(&["prefixes", "default_prefixlen", "tags"])
        .await;
    pool.update(spec(json!(["10.190.0.0/16", "10.193.0.0/16"]), "b"))
        .await
        .unwrap();
    assert_eq!(pool.field("show")["tags"], json!(["b"]));
    let net = peer
        .create("OS::Neutron::Net", "net", json!({}))
        .await
        .unwrap();
    let spec = json!({"network": net.id(), "subnetpool": pool.id(), "prefixlen": 28});
    let subnet = peer
        .create("OS::Neutron::Subnet", "subnet", spec)
        .await
        .unwrap();
    subnet.assert_settled(&["subnetpool", "prefixlen"]).await;
    delete_all([subnet, net, pool, scope]).await;
}

#[tokio::test]
async fn policies_of_administrators_live() {
    let Some(admin) = Peer::of("admin").await else {
        return;
    };
    let mut policy = admin
        .create("OS::Neutron::QoSPolicy", "policy", json!({}))
        .await
        .unwrap();
    policy.assert_found().await;
    policy.update(json!({"description": "slow"})).await.unwrap();
    assert_eq!(policy.field("show")["description"], "slow");
    let rules = [
        ("OS::Neutron::QoSBandwidthLimitRule", "max_kbps", 1000, 2000),
        ("OS::Neutron::QoSDscpMarkingRule", "dscp_mark", 10, 12),
        ("OS::Neutron::QoSMinimumBandwidthRule", "min_kbps", 10, 20),
        ("OS::Neutron::QoSMinimumPacketRateRule", "min_kpps", 10, 20),
    ];
    for (kind, field, first, second) in rules {
        let spec = |value: u32| json!({"policy": policy.field("name"), field: value});
        let mut rule = admin.create(kind, "rule", spec(first)).await.unwrap();
        rule.assert_found().await;
        rule.update(spec(second)).await.unwrap();
        assert_eq!(rule.field(field), second);
        rule.assert_settled(&[field]).await;
        let by_id = json!({"policy": policy.id(), field: second});
        assert_eq!(rule.plan(by_id).await.only_recorded, ["policy".into()]);
        rule.delete().await.unwrap();
    }
    let spec = json!({"network_type": "vxlan", "segmentation_id": "7801", "shared": false});
    let net = admin
        .create("OS::Neutron::ProviderNet", "net", spec)
        .await
        .unwrap();
    net.assert_found().await;
    net.assert_settled(&["network_type", "segmentation_id"])
        .await;
    assert_eq!(net.field("segments")[0]["segmentation_id"], 7801);
    let spec = |name: &str| json!({"network": net.id(), "network_type": "vxlan", "segmentation_id": 7802, "name": name});
    let mut segment = admin
        .create("OS::Neutron::Segment", "segment", spec("a"))
        .await
        .unwrap();
    segment.assert_found().await;
    segment.update(spec("b")).await.unwrap();
    assert_eq!(segment.field("show")["name"], "b");
    let spec = json!({"object_type": "network", "object_id": net.field("name"),
        "action": "access_as_shared", "target_tenant": "*"});
    let sharing = admin
        .create("OS::Neutron::RBACPolicy", "sharing", spec)
        .await
        .unwrap();
    sharing.assert_found().await;
    // The policy shares the network, which is no drift of the network.
    net.assert_settled(&["shared"]).await;
    delete_all([sharing, segment, net, policy]).await;
}

#[tokio::test]
async fn a_gateway_is_found_by_its_router() {
    let Some(peer) = Peer::of("demo").await else {
        return;
    };
    let router = peer
        .create("OS::Neutron::Router", "router", json!({}))
        .await
        .unwrap();
    let spec = json!({"router_id": router.id(), "network": "public"});
    let gateway = peer
        .create("OS::Neutron::RouterGateway", "gateway", spec)
        .await
        .unwrap();
    assert!(gateway.id().starts_with(router.id()));
    gateway.assert_found().await;
    router.assert_settled(&["external_gateway_info"]).await;
    delete_all([gateway, router]).await;
}

#[tokio::test]
async fn quotas_are_set_and_reset() {
    let Some(admin) = Peer::of("admin").await else {
        return;
    };
    // Nobody works in the project of the services.
    let first = json!({"project": "service", "network": 17, "port": 99});
    let mut quota = admin
        .create("OS::Neutron::Quota", "quota", first)
        .await
        .unwrap();
    assert_eq!(quota.field("network"), 17);
    let ReadOutcome::Present(_) = quota.find().await else {
        panic!("a project always has quotas")
    };
    quota
        .update(json!({"project": "service", "network": 18}))
        .await
        .unwrap();
    quota.assert_settled(&["network"]).await;
    quota.unset().await.unwrap();
}

/// Checks that the cloud gives each attribute of a resource a value, except these.
fn assert_attributes(live: &Live<'_>, type_name: &str, without: &[&str]) {
    let provider = openstack::provider();
    let ty = provider::Provider::catalog(&provider)
        .resource_type(type_name)
        .unwrap();
    for (attribute, field) in ty.attribute_names() {
        let value = live.field(field);
        let is_free = without.contains(&attribute.as_ref());
        assert_eq!(
            value.is_null(),
            is_free,
            "{attribute} of {type_name}: {value}"
        );
    }
}

#[tokio::test]
async fn each_attribute_has_a_value() {
    let Some(peer) = Peer::of("demo").await else {
        return;
    };
    let [subnet, net] = network(&peer, "10.85.5.0/24").await;
    assert_attributes(&net, "OS::Neutron::Net", &["qos_policy_id"]);
    assert_attributes(&subnet, "OS::Neutron::Subnet", &[]);
    let spec = json!({"network": net.id()});
    let port = peer
        .create("OS::Neutron::Port", "port", spec)
        .await
        .unwrap();
    // The cloud has no extension for the status of uplinks.
    let without = ["propagate_uplink_status", "qos_policy_id"];
    assert_attributes(&port, "OS::Neutron::Port", &without);
    let spec = json!({"port": port.id()});
    let trunk = peer
        .create("OS::Neutron::Trunk", "trunk", spec)
        .await
        .unwrap();
    assert_attributes(&trunk, "OS::Neutron::Trunk", &[]);
    let router = peer
        .create("OS::Neutron::Router", "router", json!({}))
        .await
        .unwrap();
    assert_attributes(&router, "OS::Neutron::Router", &["external_gateway_info"]);
    let spec = json!({"floating_network": "public"});
    let floating = peer
        .create("OS::Neutron::FloatingIP", "floating", spec)
        .await
        .unwrap();
    let without = ["fixed_ip_address", "port_id", "router_id"];
    assert_attributes(&floating, "OS::Neutron::FloatingIP", &without);
    delete_all([floating, trunk, port, router, subnet, net]).await;
}
