//! Names of kinds in paths and messages.

use std::fmt;
use std::sync::Arc;

/// A kind as paths name it: plural and group. The group of the core kinds is empty.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ResourceName {
    pub(crate) group: Arc<str>,
    pub(crate) plural: Arc<str>,
}

impl ResourceName {
    pub(crate) fn new(group: &str, plural: &str) -> ResourceName {
        ResourceName {
            group: group.into(),
            plural: plural.into(),
        }
    }

    /// Whether it is the resource of a group.
    pub(crate) fn is(&self, group: &str, plural: &str) -> bool {
        *self.group == *group && *self.plural == *plural
    }
}

/// Writes `plural.group`, or the plural of a core kind.
impl fmt::Display for ResourceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.group {
            "" => write!(f, "{}", self.plural),
            group => write!(f, "{}.{group}", self.plural),
        }
    }
}

/// A kind as objects name it. The group of the core kinds is empty.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct TypeName {
    pub(crate) group: Arc<str>,
    pub(crate) kind: Arc<str>,
}

/// Writes `Kind.group`, or the kind of a core kind.
impl fmt::Display for TypeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.group {
            "" => write!(f, "{}", self.kind),
            group => write!(f, "{}.{group}", self.kind),
        }
    }
}

/// The place of an object. The namespace of an object without one is empty.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ObjectAddress {
    pub(crate) resource: ResourceName,
    pub(crate) namespace: Arc<str>,
    pub(crate) name: Arc<str>,
}
