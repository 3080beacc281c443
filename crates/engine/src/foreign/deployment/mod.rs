//! Deployments: the states of Pulumi, as `pulumi stack export` prints them and its file store keeps
//! them.
//!
//! ```text
//! JSON ──check──read──> Snapshot        Snapshot ──write──check──> JSON
//! ```
//!
//! Not here: the plan that imports a state (`transfer`), the keys of secrets
//! (`dialect::SecretManager`).

mod check;
mod names;
mod read;
mod values;
mod write;

use diag::Diagnostic;
use serde_json::Value as Json;

pub use self::check::Violation;
pub use self::names::is_group_type;
pub use self::read::{ReadDeployment, read};
pub use self::write::{DeploymentRequest, write};

/// The dialect whose tool has this format.
pub const DIALECT: &str = "pulumi";

/// The name of the format for `--as`.
pub const NAME: &str = "pulumi";

/// The member of what a record carries that holds its position.
const POSITION: &str = "#";

/// The member of what the record of the stack carries that holds the deployment itself.
const DEPLOYMENT: &str = "#deployment";

/// The member of what a record carries that holds its pending operations.
const PENDING: &str = "#pending";

/// The reason why a deployment cannot be read or written.
#[derive(Debug)]
pub enum DeploymentError {
    /// The text is no deployment that can be read, as a phrase about it.
    Shape(String),
    /// Rules are violated.
    Violations(Vec<Violation>),
    /// The secrets cannot be decrypted or encrypted.
    Locked(Box<Diagnostic>),
    /// The resource at an address has no counterpart in the other tool, as a phrase.
    Foreign(String),
}

/// Whether a text is a deployment.
pub fn is_deployment(text: &str) -> bool {
    serde_json::from_str::<Json>(text).is_ok_and(|tree| {
        tree.get("version").is_some_and(Json::is_u64)
            && (tree.get("deployment").is_some() || tree.get("checkpoint").is_some())
    })
}

#[cfg(test)]
mod tests;
