//! One object of the simulated cloud.

use blueprint::{Name, TypeId, Value};
use provider::{Fit, ResourceType};

use super::plausible;
use super::values::{self, ValueFacts};
use super::veil::{self, SentSecrets};

/// One object of the simulated cloud.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct FakeObject {
    /// Its id.
    #[serde(deserialize_with = "blueprint::wire::name")]
    pub id: Name,
    /// Its type.
    #[serde(rename = "type")]
    pub type_name: TypeId,
    /// The instance and address that it belongs to, as `INSTANCE/ADDRESS`. Empty if others created it.
    #[serde(default, deserialize_with = "blueprint::wire::name", skip_serializing_if = "is_empty")]
    pub place: Name,
    /// All its fields: a map.
    pub fields: Value,
    /// The hash that its computed values follow from.
    #[serde(deserialize_with = "blueprint::wire::name")]
    pub(super) hash: Name,
    /// 1 after the create, incremented by every update.
    pub(super) updates: i64,
    /// The token of the create.
    #[serde(default, deserialize_with = "blueprint::wire::name", skip_serializing_if = "is_empty")]
    pub(super) token: Name,
    /// The token of the last update.
    #[serde(default, deserialize_with = "blueprint::wire::name", skip_serializing_if = "is_empty")]
    pub(super) update_token: Name,
    /// The paths of secrets in its fields. The secrets are not written to the file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) secrets: Vec<Name>,
    /// Its fields with unique values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) unique: Vec<Name>,
    /// How many more polls answer that it is not ready. `None` if all do.
    #[serde(default)]
    pub(super) unsettled: Option<u32>,
}

/// The desired state of an object in a create or update.
pub(super) struct Wish<'a> {
    /// The token of the call.
    pub(super) token: &'a Name,
    /// The sent fields, in clear.
    pub(super) sent: &'a Value,
    /// The secrets in them.
    pub(super) secrets: SentSecrets,
    /// How many polls answer that it is not ready. `None` if all do.
    pub(super) unsettled: Option<u32>,
}

impl FakeObject {
    /// The token of the create. Empty if others created it.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Restores the secrets that its file does not hold. Values that follow from secrets are computed again, or taken
    /// from what the caller knows.
    pub(super) fn unveil(&mut self, resource_type: &ResourceType, known: RecordedValues<'_>, fit: &Fit) {
        if !veil::has_placeholder(&self.fields, &self.secrets) {
            return;
        }
        self.fields = veil::restored(&self.fields, &self.secrets, known.sent);
        if veil::has_placeholder(&self.fields, &self.secrets) {
            let sent = known.sent.revealed();
            let secrets = SentSecrets::of(known.sent);
            let facts = facts_of(resource_type, &sent, &self.hash, fit, &secrets);
            let facts = ValueFacts { id: &self.id, updates: self.updates, ..facts };
            let id_field = resource_type.id_field.as_ref();
            let made = values::complete(&resource_type.schema, id_field, &sent, Some(&self.fields), &facts);
            let made = veil::restored(&self.fields, &self.secrets, &made);
            self.fields = veil::restored(&made, &self.secrets, known.fields);
        }
    }

    /// A copy without secrets, for the file.
    pub(super) fn veiled(&self) -> Box<FakeObject> {
        Box::new(FakeObject { fields: veil::hidden(&self.fields, &self.secrets), ..self.clone() })
    }
}

/// What the caller of a read knows of an object.
#[derive(Clone, Copy)]
pub(super) struct RecordedValues<'a> {
    /// The fields as they were sent.
    pub(super) sent: &'a Value,
    /// All fields as they were answered.
    pub(super) fields: &'a Value,
}

fn is_empty(name: &Name) -> bool {
    name.is_empty()
}

/// The facts that the values of an object follow from, without its id.
pub(super) fn facts_of<'a>(
    resource_type: &'a ResourceType,
    sent: &'a Value,
    hash: &'a str,
    fit: &'a Fit,
    secrets: &SentSecrets,
) -> ValueFacts<'a> {
    let name = plausible::own_name(&resource_type.name, &resource_type.schema, sent);
    let name = name.filter(|name| !secrets.are_in(name));
    ValueFacts { hash, id: "", updates: 1, type_name: &resource_type.name, sent, name, fit }
}
