//! Templates of the public collection `openstack/heat-templates`, with the inputs that they need.
//!
//! The templates are not in this repository: `--collection` names the folder `hot` of the collection.
//! They expect a key pair and a network, which `prepare` makes.
//!
//! Not here: templates whose servers must signal, of services that the test cloud does not have, of
//! administrators, and with servers without networks, which real Heat cannot create.

use std::fs;
use std::io;
use std::path::Path;

use serde_json::{Value, json};

use super::session::CloudSession;
use super::template::{TemplateForm, TestTemplate};

/// The public half of a key whose private half nobody has.
const KEY: &str = "ssh-ed25519 \
    AAAAC3NzaC1lZDI1NTE5AAAAIHsDUjO2GpvZ+Qb6XtMwJnv6YOfFjVrAIBmwVHQT5etw someone";

/// A template with its inputs.
struct CollectedTemplate {
    /// The path below the folder of the collection, without `.yaml`.
    path: &'static str,
    /// The inputs of the creation, as the text of a YAML map without braces.
    inputs: &'static str,
    /// The inputs that the update changes.
    changed: &'static str,
}

const fn collected(
    path: &'static str,
    inputs: &'static str,
    changed: &'static str,
) -> CollectedTemplate {
    CollectedTemplate {
        path,
        inputs,
        changed,
    }
}

const TEMPLATES: [CollectedTemplate; 6] = [
    collected(
        "vm_with_cinder",
        "key_name: key, image: cirros, flavor: m1.nano, network: private",
        "vol_size: 2",
    ),
    collected(
        "servers_in_new_neutron_net",
        "key_name: key, image: cirros, flavor: m1.nano, public_net: public, \
         private_net_name: inner, private_net_cidr: 10.7.0.0/24, private_net_gateway: 10.7.0.1, \
         private_net_pool_start: 10.7.0.10, private_net_pool_end: 10.7.0.90",
        "private_net_name: outer, private_net_pool_end: 10.7.0.99",
    ),
    collected(
        "servers_in_existing_neutron_net",
        "key_name: key, image: cirros, flavor: m1.nano, public_net_id: public, \
         private_net_id: private, private_subnet_id: private",
        "flavor: m1.tiny",
    ),
    collected(
        "servers_in_existing_neutron_network_no_floating_ips",
        "key_name: key, image: cirros, flavor: m1.nano, net_id: private, subnet_id: private",
        "flavor: m1.tiny",
    ),
    collected(
        "neutron/instance_trunk_port",
        "key: key, image: cirros, flavor: m1.nano",
        "flavor: m1.tiny",
    ),
    collected("condition", "env_type: test", "env_type: prod"),
];

/// The templates with their inputs, from the folder of the collection.
///
/// # Errors
/// If a file cannot be read.
pub(super) fn collection(folder: &Path) -> io::Result<Vec<TestTemplate>> {
    TEMPLATES
        .iter()
        .map(|template| template.read(folder))
        .collect()
}

impl CollectedTemplate {
    fn read(&self, folder: &Path) -> io::Result<TestTemplate> {
        let file = folder.join(format!("{}.yaml", self.path));
        let text = |file: &Path| {
            let named = |error: io::Error| {
                io::Error::new(error.kind(), format!("{}: {error}", file.display()))
            };
            fs::read_to_string(file).map_err(named)
        };
        let template = text(&file)?;
        let changed = [self.inputs, self.changed].join(", ");
        let forms = [self.inputs, &with_last(&changed)].map(|inputs| TemplateForm {
            template: template.clone(),
            environment: Some(format!("parameters: {{{inputs}}}\n")),
        });
        let name = self.path.rsplit('/').next().unwrap_or(self.path);
        Ok(TestTemplate {
            name: name.to_owned(),
            forms: forms.into(),
            files: Vec::new(),
            prepared: true,
            administrator: false,
        })
    }
}

/// Inputs without those that a later one sets too.
fn with_last(inputs: &str) -> String {
    let all: Vec<&str> = inputs.split(", ").map(str::trim).collect();
    let name = |input: &str| input.split(':').next().unwrap_or_default().to_owned();
    let kept = all.iter().enumerate().filter(|(index, input)| {
        let mut later = all.iter().skip(index + 1);
        !later.any(|other| name(other) == name(input))
    });
    kept.map(|(_, input)| *input).collect::<Vec<_>>().join(", ")
}

/// Makes what the templates of the collection expect in a project: the key pair `key`, and a network
/// `private` behind a router.
///
/// # Errors
/// If a service does not answer, or refuses it.
pub(super) fn prepare(user: &CloudSession) -> io::Result<()> {
    let send = |method: &str, service: &str, path: &str, body: Value| {
        user.send(method, service, path, Some(&body))
    };
    let id = |answer: &Value, envelope: &str| answer[envelope]["id"].clone();
    let key = json!({"keypair": {"name": "key", "public_key": KEY}});
    send("POST", "compute", "/os-keypairs", key)?;
    let network = json!({"network": {"name": "private"}});
    let network = id(
        &send("POST", "network", "/v2.0/networks", network)?,
        "network",
    );
    let subnet = json!({"subnet": {"name": "private", "network_id": network, "ip_version": 4,
        "cidr": "192.168.0.0/24"}});
    let subnet = id(&send("POST", "network", "/v2.0/subnets", subnet)?, "subnet");
    let public = user.list("network", "/v2.0/networks?name=public", "networks")?;
    let public = public.first().map(|network| network["id"].clone());
    let gateway = json!({"network_id": public});
    let router = json!({"router": {"name": "private", "external_gateway_info": gateway}});
    let router = id(&send("POST", "network", "/v2.0/routers", router)?, "router");
    let router = router.as_str().unwrap_or_default();
    let path = format!("/v2.0/routers/{router}/add_router_interface");
    send("PUT", "network", &path, json!({"subnet_id": subnet})).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::with_last;

    #[test]
    fn a_changed_input_replaces_the_first_one() {
        assert_eq!(with_last("a: 1, b: 2, a: 3"), "b: 2, a: 3");
    }
}
