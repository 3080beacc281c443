//! The provider of the namespace `OS::Heat`: the types of OpenStack Heat that need no cloud.
//!
//! The resources of this provider exist only in the state: `read` returns the record, and a delete
//! only waits, if configured to. Names and ids follow from the token of a call, so a repeated call
//! gives the same resource. Secrets are random.
//!
//! Not here: types that are children of a document (groups, stacks), which the dialect expands;
//! conversions of properties, which the dialect does.

mod config;
mod delay;
mod mime;
mod names;
mod random;
mod test_resource;
mod value;
mod wait;
mod yaml;

use std::sync::{Arc, LazyLock};

use blueprint::{FieldPath, Map, Name, Value};
use provider::{
    Applied, ApplyRequest, BoxFuture, Call, Catalog, CheckFindings, CheckRequest, Configuration,
    Configured, ErrorKind, Observed, Operation, PlanRequest, Planned, Provider, ProviderError,
    ReadOutcome, ReadRequest, Session, configured, read_catalog,
};

use self::config::Configs;
pub(crate) use self::mime::{MimePart, message, parts_of};
pub(crate) use self::names::{physical_name, short_digest, uuid};
use crate::packed::PackedTypes;
use providers::random_source::RandomSource;

/// The implemented types are in `catalog.json`. The others have only a description, which is read
/// on demand.
static CATALOG: LazyLock<Arc<Catalog>> = LazyLock::new(|| {
    let own = read_catalog(include_str!("catalog.json"))
        .expect("the catalogue of `OS::Heat` is part of the program");
    Arc::new(Catalog {
        source: Some(DESCRIBED.clone()),
        ..own
    })
});

/// The descriptions that `cargo xtask catalog openstack` generates with the catalogue of OpenStack.
static DESCRIBED: LazyLock<Arc<PackedTypes>> = LazyLock::new(|| {
    let types = PackedTypes::open(include_bytes!("described.bin"));
    Arc::new(
        types
            .expect("the descriptions of `OS::Heat` are part of the program")
            .with_open_attributes(&DEPLOYMENTS),
    )
});

/// Types whose attributes are the outputs of their configuration. The names of these attributes are
/// not known in advance.
const DEPLOYMENTS: [&str; 6] = [
    "OS::Heat::SoftwareDeployment",
    "OS::Heat::SoftwareDeploymentGroup",
    "OS::Heat::SoftwareDeployments",
    "OS::Heat::StructuredDeployment",
    "OS::Heat::StructuredDeploymentGroup",
    "OS::Heat::StructuredDeployments",
];

/// The catalogue of the implemented types.
pub fn catalog() -> Arc<Catalog> {
    CATALOG.clone()
}

/// Every type of the namespace as Heat describes it, including the implemented ones.
pub fn described() -> Arc<PackedTypes> {
    DESCRIBED.clone()
}

/// The provider of namespace `OS::Heat`.
pub struct HeatProvider {
    source: RandomSource,
    configs: Configs,
}

/// The provider with secrets from the operating system.
pub fn provider() -> HeatProvider {
    HeatProvider {
        source: RandomSource::System,
        configs: Configs::default(),
    }
}

/// The provider with secrets from a seed, for tests: equal calls give equal secrets.
pub fn provider_with(seed: u64) -> HeatProvider {
    HeatProvider {
        source: RandomSource::Seed(seed),
        configs: Configs::default(),
    }
}

impl Provider for HeatProvider {
    fn catalog(&self) -> &Arc<Catalog> {
        &CATALOG
    }

    fn configure(
        self: Arc<Self>,
        _: Configuration,
    ) -> BoxFuture<'static, Result<Configured, ProviderError>> {
        configured(self)
    }
}

impl Session for HeatProvider {
    fn check<'a>(
        &'a self,
        _call: &'a Call,
        request: CheckRequest<'a>,
    ) -> BoxFuture<'a, Result<CheckFindings, ProviderError>> {
        let mut found = CheckFindings::default();
        let spec = request.spec;
        match request.type_name {
            "OS::Heat::Value" => value::check(spec, &mut found),
            "OS::Heat::RandomString" => random::check(&spec.revealed(), &mut found),
            "OS::Heat::Delay" => delay::check(spec, &mut found),
            other => config::check(other, spec, &mut found),
        }
        Box::pin(async { Ok(found) })
    }

    /// Returns the recorded resource. A resource without a record does not exist.
    fn read<'a>(
        &'a self,
        _call: &'a Call,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<ReadOutcome, ProviderError>> {
        Box::pin(async move {
            let Some(id) = request.id.filter(|_| !request.outputs.is_null()) else {
                return Ok(ReadOutcome::Absent);
            };
            let (fields, private) = (request.outputs.clone(), request.private.clone());
            if config::is_config(request.type_name) {
                self.configs.learn(id, &fields);
            }
            Ok(ReadOutcome::Present(Observed {
                id: id.into(),
                fields,
                private,
                expired: None,
                ..Observed::default()
            }))
        })
    }

    fn plan<'a>(
        &'a self,
        _call: &'a Call,
        request: PlanRequest<'a>,
    ) -> BoxFuture<'a, Result<Planned, ProviderError>> {
        let planned = match request.type_name {
            "OS::Heat::None" => Planned {
                only_recorded: all_fields(&request),
                ..Planned::default()
            },
            other => Planned::by_policy(CATALOG.resource_type(other).as_deref(), &request),
        };
        Box::pin(async { Ok(planned) })
    }

    fn apply<'a>(
        &'a self,
        call: &'a Call,
        request: ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<Applied, ProviderError>> {
        Box::pin(async move {
            if call.cancel.is_cancelled() {
                return Err(ProviderError::new(
                    ErrorKind::Cancelled,
                    "cancelled before anything was done",
                ));
            }
            let mut warnings = Vec::new();
            let made = self.act(call, &request, &mut warnings).await?;
            if request.operation == Operation::Delete {
                return Ok(applied("".into(), Value::Null));
            }
            let is_config = config::is_config(request.type_name);
            let id = request.id.filter(|id| !id.is_empty()).map(Name::from);
            let mut fields = request.desired.as_map().cloned().unwrap_or_default();
            fields.extend(made);
            let uuid = is_config
                || matches!(
                    request.type_name,
                    "OS::Heat::None" | "OS::Heat::RandomString"
                );
            let id = id.unwrap_or_else(|| match uuid {
                true => names::uuid(call, "id").to_string().into(),
                false => names::physical_name(call),
            });
            if request.type_name != "OS::Heat::RandomString" {
                fields.insert("id".into(), Value::Text(id.clone()));
            }
            if request.type_name != "OS::Heat::None" {
                fields.insert("show".into(), Value::Null);
            }
            let fields = Value::Map(Arc::new(fields));
            if is_config {
                self.configs.learn(&id, &fields);
            }
            Ok(applied(id, fields).with_warnings(warnings))
        })
    }
}

impl HeatProvider {
    /// The content of the configuration with an id. `None` if the text is not an id, or no
    /// configuration with the id was created or read in this run.
    pub(crate) fn config(&self, id: &str) -> Option<Value> {
        self.configs.get(id)
    }

    /// The fields of the configuration with an id. `None` if the text is not an id, or no
    /// configuration with the id was created or read in this run.
    pub(crate) fn config_fields(&self, id: &str) -> Option<Value> {
        self.configs.fields(id)
    }

    /// Carries out an operation. Returns the computed fields.
    async fn act(
        &self,
        call: &Call,
        request: &ApplyRequest<'_>,
        warnings: &mut Vec<String>,
    ) -> Result<Map, ProviderError> {
        let deletes = request.operation == Operation::Delete;
        match request.type_name {
            "OS::Heat::None" | "OS::Heat::Value" => Ok(Map::default()),
            "OS::Heat::TestResource" => test_resource::act(call, request)
                .await
                .map(test_resource::fields),
            "OS::Heat::Delay" => {
                let (spec, action) = match request.operation {
                    Operation::Create => (request.desired, "CREATE"),
                    // Heat does not wait in updates.
                    Operation::Update => return Ok(Map::default()),
                    Operation::Delete => (request.prior_inputs, "DELETE"),
                };
                delay::act(call, spec, action, self.source)
                    .await
                    .map(|()| Map::default())
            }
            "OS::Heat::RandomString" if deletes => Ok(Map::default()),
            "OS::Heat::RandomString" => {
                let kept = request
                    .prior
                    .get("value")
                    .cloned()
                    .filter(|_| request.operation == Operation::Update);
                let value = match kept {
                    Some(value) => value,
                    None => {
                        random::text(&request.desired.revealed(), &mut self.source.draw(call)?)?
                            .into()
                    }
                };
                Ok([("value".into(), value)].into_iter().collect())
            }
            other if config::is_config(other) && deletes => Ok(Map::default()),
            other if config::is_config(other) => {
                config::fields(other, request.desired, &self.configs, warnings)
            }
            other => Err(ProviderError::new(
                ErrorKind::Document,
                format!("`{other}` needs a service of OpenStack, which this provider does not use"),
            )),
        }
    }
}

/// Every field that is set in the desired or the prior inputs.
fn all_fields(request: &PlanRequest<'_>) -> Vec<FieldPath> {
    let of = |value: &Value| {
        value.as_map().map(|map| {
            map.keys()
                .map(|name| FieldPath::field(name.clone()))
                .collect::<Vec<_>>()
        })
    };
    let mut fields = of(request.desired).unwrap_or_default();
    fields.extend(of(request.prior_inputs).unwrap_or_default());
    fields
}

fn applied(id: Name, fields: Value) -> Applied {
    Applied::ready(id, fields)
}
