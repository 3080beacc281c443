//! The versions of the protocol, and the path of each method in each version.

use std::fmt;

/// A version of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ProtocolVersion {
    /// Protocol 5: attributes are plain.
    Five,
    /// Protocol 6: attributes can be nested.
    Six,
}

impl ProtocolVersion {
    /// All versions.
    pub const ALL: [ProtocolVersion; 2] = [ProtocolVersion::Five, ProtocolVersion::Six];

    /// The version with this number.
    pub fn of(number: u32) -> Option<ProtocolVersion> {
        ProtocolVersion::ALL
            .into_iter()
            .find(|version| version.number() == number)
    }

    /// Its number.
    pub fn number(self) -> u32 {
        match self {
            ProtocolVersion::Five => 5,
            ProtocolVersion::Six => 6,
        }
    }
}

impl fmt::Display for ProtocolVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.number())
    }
}

/// A method of the service of a provider.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Method {
    five: &'static str,
    six: &'static str,
}

impl Method {
    /// The path of its calls.
    pub(crate) fn path(self, version: ProtocolVersion) -> &'static str {
        match version {
            ProtocolVersion::Five => self.five,
            ProtocolVersion::Six => self.six,
        }
    }

    /// Its name in a version of the protocol.
    pub(crate) fn name(self, version: ProtocolVersion) -> &'static str {
        self.path(version).rsplit('/').next().unwrap_or_default()
    }
}

macro_rules! methods {
    ($($name:ident = $five:literal, $six:literal;)*) => {
        impl Method {
            $(pub(crate) const $name: Method = Method {
                five: concat!("/tfplugin5.Provider/", $five),
                six: concat!("/tfplugin6.Provider/", $six),
            };)*
        }
    };
}

methods! {
    SCHEMA = "GetSchema", "GetProviderSchema";
    IDENTITY_SCHEMAS = "GetResourceIdentitySchemas", "GetResourceIdentitySchemas";
    VALIDATE_PROVIDER = "PrepareProviderConfig", "ValidateProviderConfig";
    VALIDATE_RESOURCE = "ValidateResourceTypeConfig", "ValidateResourceConfig";
    VALIDATE_DATA = "ValidateDataSourceConfig", "ValidateDataResourceConfig";
    CONFIGURE = "Configure", "ConfigureProvider";
    UPGRADE_STATE = "UpgradeResourceState", "UpgradeResourceState";
    UPGRADE_IDENTITY = "UpgradeResourceIdentity", "UpgradeResourceIdentity";
    READ = "ReadResource", "ReadResource";
    PLAN = "PlanResourceChange", "PlanResourceChange";
    APPLY = "ApplyResourceChange", "ApplyResourceChange";
    IMPORT = "ImportResourceState", "ImportResourceState";
    MOVE = "MoveResourceState", "MoveResourceState";
    READ_DATA = "ReadDataSource", "ReadDataSource";
    CALL = "CallFunction", "CallFunction";
    STOP = "Stop", "StopProvider";
}

/// The method that ends a process.
pub(crate) const SHUTDOWN: &str = "/plugin.GRPCController/Shutdown";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_has_its_own_name_in_each_version() {
        assert_eq!(
            Method::SCHEMA.path(ProtocolVersion::Five),
            "/tfplugin5.Provider/GetSchema"
        );
        assert_eq!(
            Method::SCHEMA.path(ProtocolVersion::Six),
            "/tfplugin6.Provider/GetProviderSchema"
        );
        assert_eq!(Method::STOP.name(ProtocolVersion::Six), "StopProvider");
    }

    #[test]
    fn only_two_versions_are_known() {
        assert_eq!(
            [4, 5, 6, 7].map(ProtocolVersion::of),
            [
                None,
                Some(ProtocolVersion::Five),
                Some(ProtocolVersion::Six),
                None
            ]
        );
    }
}
