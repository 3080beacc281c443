//! The interfaces of endpoints: who may reach them.

/// Which endpoints of the services are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interface {
    Public,
    Internal,
    Admin,
}

impl Interface {
    /// The interface with a name, such as `public`, or `publicURL` as it was called before.
    pub(super) fn of_text(text: &str) -> Option<Interface> {
        match text.strip_suffix("URL").unwrap_or(text) {
            "public" => Some(Interface::Public),
            "internal" => Some(Interface::Internal),
            "admin" => Some(Interface::Admin),
            _ => None,
        }
    }

    /// Its name in the catalogue of services.
    pub(super) fn name(self) -> &'static str {
        match self {
            Interface::Public => "public",
            Interface::Internal => "internal",
            Interface::Admin => "admin",
        }
    }
}
