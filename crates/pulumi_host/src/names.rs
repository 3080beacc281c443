//! The names of resources and providers as plugins see them.
//!
//! A resource of a program has the URN that Pulumi gives it, which comes with the call. A resource of
//! another dialect is `urn:pulumi:INSTANCE::cyan::TYPE::ADDRESS`, with its whole address as its name,
//! so that two resources of an instance never share a URN. A provider is
//! `urn:pulumi:cyan::cyan::pulumi:providers:PACKAGE::NAME`, because a configuration does not know
//! its instance. The names stay the same from run to run. Plugins derive automatic names from them.

use blueprint::{Address, Name};
use provider::Call;
use pulumi_wire::Urn;

/// The name of the project in all URNs.
pub(crate) const PROJECT: &str = "cyan";

/// The URN of the resource that plugins take for the stack.
pub(crate) fn root_urn() -> String {
    let name = format!("{PROJECT}-{PROJECT}");
    Urn {
        stack: PROJECT,
        project: PROJECT,
        type_name: "pulumi:pulumi:Stack",
        name: &name,
    }
    .to_string()
}

/// The URN of a configuration of a package.
pub(crate) fn provider_urn(package: &str, name: &str) -> String {
    let type_name = format!("pulumi:providers:{package}");
    Urn {
        stack: PROJECT,
        project: PROJECT,
        type_name: &type_name,
        name,
    }
    .to_string()
}

/// The URN of an object that a program of a project reads.
pub(crate) fn existing_urn(instance: &str, project: &str, token: &str, name: &str) -> Name {
    let urn = Urn {
        stack: instance,
        project,
        type_name: token,
        name,
    };
    urn.to_string().into()
}

/// The name of a resource as plugins see it.
pub(crate) struct ResourceName {
    /// The URN of the resource.
    pub(crate) urn: String,
    /// The name in the URN.
    pub(crate) name: String,
}

impl ResourceName {
    /// The name that the dialect gives the resource, or else one that is made of its address.
    pub(crate) fn of_call(call: &Call, token: &str) -> ResourceName {
        match call.urn.rsplit_once("::") {
            Some((_, name)) => ResourceName {
                urn: call.urn.to_string(),
                name: name.to_owned(),
            },
            None => ResourceName::new(&call.instance, &call.address, token),
        }
    }

    fn new(instance: &str, address: &Address, token: &str) -> ResourceName {
        let name = address.to_string().replace("::", "--");
        let urn = Urn {
            stack: instance,
            project: PROJECT,
            type_name: token,
            name: &name,
        }
        .to_string();
        ResourceName { urn, name }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_of_instance_and_address() {
        let name = ResourceName::new("dev", &Address::root("lamp"), "shop:index:Item");
        assert_eq!(
            (name.urn.as_str(), name.name.as_str()),
            ("urn:pulumi:dev::cyan::shop:index:Item::lamp", "lamp")
        );
        assert_eq!(
            provider_urn("shop", "shop"),
            "urn:pulumi:cyan::cyan::pulumi:providers:shop::shop"
        );
    }
}
