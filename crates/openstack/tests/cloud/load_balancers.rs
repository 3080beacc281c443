//! Load balancers and the objects below them, and flavors of load balancers.

use provider::ErrorKind;
use serde_json::{Value as Json, json};

use crate::support::{Live, Peer};

const NO_REASON: [&str; 0] = [];

/// Creates a resource that must be ready.
async fn ready<'p>(peer: &'p Peer, kind: &'static str, name: &str, spec: Json) -> Live<'p> {
    let live = peer.create(kind, name, spec).await.unwrap();
    assert_eq!(live.broken, NO_REASON, "{kind}");
    live
}

#[tokio::test]
async fn a_load_balancer_lives_with_all_that_is_below_it() {
    let Some(peer) = Peer::of("demo").await else {
        return;
    };
    let net = ready(&peer, "OS::Neutron::Net", "net", json!({})).await;
    let subnet = json!({"network": net.id(), "cidr": "10.98.0.0/24"});
    let subnet = ready(&peer, "OS::Neutron::Subnet", "subnet", subnet).await;
    let spec = |more: Json| {
        let mut spec = json!({ "vip_subnet": subnet.id() });
        spec.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        spec
    };
    let named = json!({"name": peer.run, "description": "d"});
    let mut balancer = ready(
        &peer,
        "OS::Octavia::LoadBalancer",
        "lb",
        spec(named.clone()),
    )
    .await;
    assert_eq!(balancer.field("vip_subnet_id"), subnet.id());
    assert_eq!(balancer.field("pools"), json!([]));
    assert!(balancer.field("attribute_vip_address").is_string());
    assert_eq!(balancer.field("show")["tags"], json!([]));
    balancer
        .assert_settled(&["name", "description", "vip_subnet", "admin_state_up"])
        .await;
    balancer.assert_found().await;

    let spec_of_listener = |limit: i32| {
        json!({"loadbalancer": peer.run, "protocol": "HTTP", "protocol_port": 80,
            "connection_limit": limit})
    };
    let listener = "OS::Octavia::Listener";
    let mut listener = ready(&peer, listener, "listener", spec_of_listener(100)).await;
    assert_eq!(
        listener.field("loadbalancers"),
        json!([{"id": balancer.id()}])
    );
    listener
        .assert_settled(&["loadbalancer", "protocol_port", "connection_limit"])
        .await;
    listener.assert_found().await;

    let of_pool = |algorithm: &str, persistence: Json| {
        json!({"listener": listener.id(), "protocol": "HTTP", "lb_algorithm": algorithm,
            "session_persistence": persistence})
    };
    let cookie = json!({"type": "APP_COOKIE", "cookie_name": "basket"});
    let spec_of_pool = of_pool("ROUND_ROBIN", cookie.clone());
    let mut pool = ready(&peer, "OS::Octavia::Pool", "pool", spec_of_pool).await;
    assert_eq!(pool.field("session_persistence"), cookie);
    pool.assert_settled(&["listener", "session_persistence", "lb_algorithm"])
        .await;
    pool.assert_found().await;

    let of_member = |weight: u32| {
        json!({"pool": pool.id(), "address": "10.98.0.7", "protocol_port": 8080,
            "weight": weight, "tags": ["a"]})
    };
    // Both calls meet a load balancer on which Octavia works.
    let of_monitor = json!({"pool": pool.id(), "type": "HTTP", "delay": 5, "timeout": 3,
        "max_retries": 2, "url_path": "/up"});
    let (member, monitor) = tokio::join!(
        ready(&peer, "OS::Octavia::PoolMember", "member", of_member(1)),
        ready(&peer, "OS::Octavia::HealthMonitor", "monitor", of_monitor),
    );
    let mut member = member;
    member.assert_settled(&["address", "weight", "tags"]).await;
    member.assert_found().await;
    assert_eq!(monitor.field("pools"), json!([{"id": pool.id()}]));
    monitor.assert_settled(&["pool", "url_path", "delay"]).await;
    monitor.assert_found().await;

    let policy = json!({"listener": listener.id(), "action": "REJECT", "position": 1});
    let mut policy = ready(&peer, "OS::Octavia::L7Policy", "policy", policy).await;
    policy
        .assert_settled(&["listener", "action", "position"])
        .await;
    policy.assert_found().await;
    let rule = json!({"l7policy": policy.id(), "type": "PATH", "compare_type": "STARTS_WITH",
        "value": "/a"});
    let rule = ready(&peer, "OS::Octavia::L7Rule", "rule", rule).await;
    rule.assert_found_after_cut_off_delete().await;
    rule.assert_settled(&["type", "compare_type", "value", "invert"])
        .await;
    rule.assert_found().await;

    member.update(of_member(7)).await.unwrap();
    assert_eq!(member.field("weight"), 7);
    let of_policy = json!({"listener": listener.id(), "action": "REDIRECT_TO_URL",
        "redirect_url": "http://example.com/", "position": 1});
    policy.update(of_policy).await.unwrap();
    assert_eq!(policy.field("action"), "REDIRECT_TO_URL");
    pool.update(of_pool("SOURCE_IP", Json::Null)).await.unwrap();
    assert_eq!(pool.field("show")["session_persistence"], Json::Null);
    pool.assert_found().await;
    listener.update(spec_of_listener(-1)).await.unwrap();
    balancer.update(spec(json!({}))).await.unwrap();
    assert_eq!(balancer.field("show")["description"], "");

    for live in [rule, policy, monitor, member, pool, listener, balancer] {
        live.delete().await.unwrap();
    }
    subnet.delete().await.unwrap();
    net.delete().await.unwrap();
}

#[tokio::test]
async fn a_load_balancer_that_does_not_exist_is_an_error_at_its_property() {
    let Some(peer) = Peer::of("demo").await else {
        return;
    };
    let spec = json!({"loadbalancer": "nowhere", "protocol": "TCP", "protocol_port": 22});
    let error = peer.create("OS::Octavia::Listener", "listener", spec).await;
    let error = error.err().unwrap();
    assert_eq!(error.kind, ErrorKind::Document, "{error:?}");
    assert_eq!(error.field.unwrap().to_string(), "loadbalancer");
}

#[tokio::test]
async fn flavors_and_their_profiles_live() {
    let Some(peer) = Peer::of("admin").await else {
        return;
    };
    let data = json!({"provider_name": "amphora", "flavor_data": "{}"});
    let profile = ready(&peer, "OS::Octavia::FlavorProfile", "profile", data).await;
    profile
        .assert_settled(&["flavor_data", "provider_name"])
        .await;
    let spec =
        |more: &str| json!({"flavor_profile": profile.id(), "name": peer.run, "description": more});
    let mut flavor = ready(&peer, "OS::Octavia::Flavor", "flavor", spec("")).await;
    assert_eq!(flavor.field("flavor_profile_id"), profile.id());
    flavor.assert_found().await;
    flavor.update(spec("large")).await.unwrap();
    assert_eq!(flavor.field("description"), "large");
    flavor
        .assert_settled(&["flavor_profile", "description"])
        .await;
    flavor.delete().await.unwrap();
    profile.delete().await.unwrap();
}

#[tokio::test]
async fn quotas_of_load_balancers_are_set_and_reset() {
    let Some(peer) = Peer::of("admin").await else {
        return;
    };
    let spec = |members: u32| json!({"project": "admin", "loadbalancer": 40, "member": members});
    let mut quota = ready(&peer, "OS::Octavia::Quota", "quota", spec(50)).await;
    assert_eq!(quota.field("member"), 50);
    quota.update(spec(60)).await.unwrap();
    quota.assert_settled(&["member", "loadbalancer"]).await;
    quota.unset().await.unwrap();
}
