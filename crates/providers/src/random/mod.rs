//! The provider `random`: ids, passwords, names and choices that are drawn once and then stay.
//!
//! The resources of this provider exist only in the state: `read` returns the record, a delete does
//! nothing, and a changed input draws again.
//!
//! Not here: keys and certificates (`tls`).

mod choice;
mod id;
mod password;
mod pet;
mod words;

use std::sync::Arc;

use blueprint::{Map, Value};
use provider::{
    Applied, ApplyRequest, BoxFuture, Call, Catalog, CheckFindings, CheckRequest, Configuration,
    Configured, ErrorKind, Observed, Operation, Provider, ProviderError, ReadOutcome, ReadRequest,
    Session, configured, read_catalog,
};
use rand::RngExt;

use crate::random_source::RandomSource;

/// The provider of namespace `random`.
pub struct RandomProvider {
    catalog: Arc<Catalog>,
    source: RandomSource,
}

/// The provider with randomness from the operating system.
pub fn provider() -> RandomProvider {
    from_source(RandomSource::System)
}

/// The provider with randomness from a seed, for tests: equal calls draw equal values.
pub fn provider_with(seed: u64) -> RandomProvider {
    from_source(RandomSource::Seed(seed))
}

fn from_source(source: RandomSource) -> RandomProvider {
    let catalog =
        read_catalog(include_str!("catalog.json")).expect("the catalogue in this folder is tested");
    RandomProvider {
        catalog: Arc::new(catalog),
        source,
    }
}

impl Provider for RandomProvider {
    fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    fn configure(
        self: Arc<Self>,
        _: Configuration,
    ) -> BoxFuture<'static, Result<Configured, ProviderError>> {
        configured(self)
    }
}

impl Session for RandomProvider {
    fn check<'a>(
        &'a self,
        _call: &'a Call,
        request: CheckRequest<'a>,
    ) -> BoxFuture<'a, Result<CheckFindings, ProviderError>> {
        let mut found = CheckFindings::default();
        let spec = request.spec.revealed();
        match request.type_name {
            "random/integer" => choice::check_integer(&spec, &mut found),
            "random/shuffle" => choice::check_shuffle(&spec, &mut found),
            "random/password" => password::check(&spec, &mut found),
            _ => {}
        }
        Box::pin(async { Ok(found) })
    }

    fn read<'a>(
        &'a self,
        _call: &'a Call,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<ReadOutcome, ProviderError>> {
        Box::pin(async move { Ok(recorded(&request).unwrap_or_else(|| imported(&request))) })
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
                    "cancelled before anything was drawn",
                ));
            }
            match request.operation {
                Operation::Create => self.create(call, &request).await,
                Operation::Update => Ok(updated(&request)),
                Operation::Delete => Ok(applied("", Value::Null)),
            }
        })
    }
}

impl RandomProvider {
    async fn create(
        &self,
        call: &Call,
        request: &ApplyRequest<'_>,
    ) -> Result<Applied, ProviderError> {
        let mut random = self.source.draw(call)?;
        let spec = request.desired;
        let (id, drawn) = match request.type_name {
            "random/id" => {
                let drawn = id::id(spec, &mut random);
                (text_of(&drawn, "hex"), drawn)
            }
            "random/uuid" => {
                let uuid = id::uuid(&mut random).to_string();
                (uuid.clone(), one("uuid", uuid.into()))
            }
            "random/pet" => {
                let name = pet::name(spec, &mut random);
                (name.clone(), one("name", name.into()))
            }
            // These types get a random UUID as id, because their value may be secret or not unique.
            "random/integer" => (
                id::uuid(&mut random).to_string(),
                one("result", choice::integer(&spec.revealed(), &mut random)),
            ),
            "random/shuffle" => (
                id::uuid(&mut random).to_string(),
                one("result", choice::shuffle(spec, &mut random)),
            ),
            "random/password" => {
                let id = id::uuid(&mut random).to_string();
                let password = password::password(spec, &mut random);
                let hash = hash(password.clone(), random.random()).await?;
                (
                    id,
                    [
                        ("result".into(), password.into()),
                        ("bcryptHash".into(), hash.into()),
                    ]
                    .into_iter()
                    .collect(),
                )
            }
            other => return Err(unknown_type(other)),
        };
        let mut fields = request.desired.as_map().cloned().unwrap_or_default();
        fields.extend(drawn);
        Ok(applied(id, Value::Map(Arc::new(fields))))
    }
}

/// Computes the hash on another thread, because it is slow on purpose.
async fn hash(password: String, salt: [u8; 16]) -> Result<String, ProviderError> {
    let made = tokio::task::spawn_blocking(move || password::hash(&password, salt)).await;
    made.ok().flatten().ok_or_else(|| {
        ProviderError::new(
            ErrorKind::Permanent,
            "the hash of the password cannot be made",
        )
    })
}

/// The recorded resource. `None` without a record.
fn recorded(request: &ReadRequest<'_>) -> Option<ReadOutcome> {
    let outputs = request.outputs.as_map()?;
    let mut fields = request.inputs.as_map().cloned().unwrap_or_default();
    fields.extend(
        outputs
            .iter()
            .map(|(name, value)| (name.clone(), value.clone())),
    );
    let id = request.id.unwrap_or_default().into();
    Some(ReadOutcome::Present(Observed {
        id,
        fields: Value::Map(Arc::new(fields)),
        private: request.private.clone(),
        expired: None,
        ..Observed::default()
    }))
}

/// The resource from its id alone. A resource without a record counts as absent if its id does not
/// give its value, so that it can be drawn again after a lost answer.
fn imported(request: &ReadRequest<'_>) -> ReadOutcome {
    let Some(id) = request.id else {
        return ReadOutcome::Absent;
    };
    let fields = match request.type_name {
        "random/uuid" => uuid::Uuid::parse_str(id)
            .ok()
            .map(|uuid| one("uuid", uuid.to_string().into())),
        "random/id" => id::id_from_hex(id),
        _ => None,
    };
    match fields {
        Some(fields) => {
            let fields = Value::Map(Arc::new(fields));
            ReadOutcome::Present(Observed {
                id: id.into(),
                fields,
                private: Value::Null,
                expired: None,
                ..Observed::default()
            })
        }
        None => ReadOutcome::Absent,
    }
}

/// The new inputs with the drawn values.
fn updated(request: &ApplyRequest<'_>) -> Applied {
    let mut fields = request.prior.as_map().cloned().unwrap_or_default();
    let desired = request.desired.as_map().cloned().unwrap_or_default();
    fields.extend(desired);
    applied(request.id.unwrap_or_default(), Value::Map(Arc::new(fields)))
}

fn applied(id: impl Into<blueprint::Name>, fields: Value) -> Applied {
    Applied::ready(id.into(), fields)
}

fn one(name: &str, value: Value) -> Map {
    [(name.into(), value)].into_iter().collect()
}

fn text_of(fields: &Map, name: &str) -> String {
    fields
        .get(name)
        .and_then(Value::as_text)
        .unwrap_or_default()
        .to_owned()
}

fn unknown_type(name: &str) -> ProviderError {
    ProviderError::new(
        ErrorKind::Document,
        format!("there is no resource type `{name}` here"),
    )
}
