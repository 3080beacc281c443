//! Types whose resources are no objects of a collection: an interface of a router, the port of a
//! floating IP. A relation says how it is made, found and undone; the handler does the rest.
//!
//! Not here: the relations (`types`).

use std::fmt;

use ::provider::{
    Applied, ApplyRequest, BoxFuture, ErrorKind, Observed, PlanRequest, Planned, ProviderError,
    ReadOutcome, ReadRequest, ResourceType, Verdict,
};
use blueprint::{FieldPath, Name, Value};
use serde_json::{Value as Json, json};

use super::handler::{Handler, Table};
use super::mapping::{Recorded, body_of, fields_of, is_part_of, json_of};
use super::table::{Property, Reading, Target, Update};
use super::{CloudCall, Hooks, JsonMap};

/// How a relation is made, found and undone. Bodies have the fields of the properties, with ids in
/// place of names.
pub(crate) trait Relation: Sync {
    /// The name of the type.
    fn type_name(&self) -> &'static str;

    /// The properties, as fields of a body. Those that [`Relation::find`] finds the relation by are
    /// recorded: they keep their spelling.
    const PROPERTIES: &'static [Property];

    /// The id of the relation that a create with this token makes.
    fn id(&self, on: CloudCall<'_>, token: &str, body: &JsonMap) -> String;

    /// Makes the relation, and returns what it shows.
    fn establish<'a>(
        &'a self,
        on: CloudCall<'a>,
        body: &'a JsonMap,
    ) -> BoxFuture<'a, Result<Json, ProviderError>>;

    /// What the relation shows; `None` if it does not exist.
    fn find<'a>(
        &'a self,
        on: CloudCall<'a>,
        body: &'a JsonMap,
    ) -> BoxFuture<'a, Result<Option<Json>, ProviderError>>;

    /// Changes the relation, and returns what it shows.
    fn change<'a>(
        &'a self,
        on: CloudCall<'a>,
        prior: &'a JsonMap,
        desired: &'a JsonMap,
    ) -> BoxFuture<'a, Result<Json, ProviderError>>;

    /// Undoes the relation. Does nothing if it does not exist.
    fn dissolve<'a>(
        &'a self,
        on: CloudCall<'a>,
        body: &'a JsonMap,
    ) -> BoxFuture<'a, Result<(), ProviderError>>;

    /// Whether the old relation of a replacement must be undone before the new one is made. Specs
    /// are as in [`Hooks`].
    fn deletes_first(&self, prior: &JsonMap, desired: &JsonMap) -> bool {
        let _ = (prior, desired);
        false
    }
}

/// The handler of a relation.
pub(crate) struct Related<R>(pub(crate) R);

impl<R: Relation> fmt::Debug for Related<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.type_name())
    }
}

/// The hooks of relations.
struct RelationHooks;

impl Hooks for RelationHooks {
    // A relation is no object that could be shown.
    fn attribute(&self, name: &str, _: &Json) -> Option<Json> {
        (name == "show").then_some(Json::Null)
    }
}

impl<R: Relation> Related<R> {
    async fn body(&self, on: CloudCall<'_>, spec: &Value) -> Result<JsonMap, ProviderError> {
        let spec = json_of(spec)?;
        body_of(on, R::PROPERTIES, &spec).await
    }

    fn fields(
        &self,
        on: CloudCall<'_>,
        body: &JsonMap,
        mut object: Json,
        id: &str,
        recorded: Recorded<'_>,
    ) -> Value {
        object["id"] = json!(id);
        let inputs = recorded.inputs;
        let fields = fields_of(on, R::PROPERTIES, &RelationHooks, &object, recorded);
        // What the relation shows as it was sent keeps its spelling: names in place of ids.
        let spelled = R::PROPERTIES.iter().filter_map(|property| {
            let Target::Field {
                field,
                reading: Reading::Shown,
                ..
            } = property.target
            else {
                return None;
            };
            let input = inputs.get(property.name).filter(|it| !it.is_null())?;
            let is_as_sent = is_part_of(body.get(field)?, object.get(field)?);
            is_as_sent.then(|| (Name::from(property.name), input.clone()))
        });
        let mut all = fields.as_map().cloned().unwrap_or_default();
        all.extend(spelled);
        Value::Map(all.into())
    }

    async fn read_relation(
        &self,
        on: CloudCall<'_>,
        request: ReadRequest<'_>,
    ) -> Result<ReadOutcome, ProviderError> {
        let known = request.id.filter(|id| !id.is_empty());
        if known.is_none() && request.token.is_none() {
            return Ok(ReadOutcome::Unknown);
        }
        let body = match self.body(on, request.inputs).await {
            Ok(body) => body,
            // One of the objects that the relation connects is gone.
            Err(error) if error.kind == ErrorKind::Document => return Ok(ReadOutcome::Absent),
            Err(error) => return Err(error),
        };
        // A second create of a relation that exists is refused. So a relation that is found by
        // what it connects is the one that the create with the token made.
        let found = match request.token {
            Some(_) if known.is_none() => on.find_late(|| self.0.find(on, &body)).await?,
            _ => self.0.find(on, &body).await?,
        };
        let Some(object) = found else {
            return Ok(ReadOutcome::Absent);
        };
        let token = request.token.unwrap_or_default();
        let id: String = known.map_or_else(|| self.0.id(on, token, &body), str::to_owned);
        let recorded = Recorded {
            inputs: request.inputs,
            fields: request.outputs,
        };
        Ok(ReadOutcome::Present(Observed {
            fields: self.fields(on, &body, object, &id, recorded),
            id: Name::from(id),
            private: request.private.clone(),
            ..Observed::default()
        }))
    }
}

impl<R: Relation> Handler for Related<R> {
    fn type_name(&self) -> &'static str {
        self.0.type_name()
    }

    fn table(&self) -> Option<Table> {
        Some(Table {
            properties: R::PROPERTIES,
            update: Update::Hook,
        })
    }

    fn adjust(&self, ty: &mut ResourceType) {
        ty.capabilities.finds = true;
        // The id alone does not say what the relation connects.
        ty.capabilities.imports = false;
    }

    fn create<'a>(
        &'a self,
        on: CloudCall<'a>,
        request: &'a ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<Applied, ProviderError>> {
        Box::pin(async move {
            let body = self.body(on, request.desired).await?;
            let object = self.0.establish(on, &body).await?;
            let id = self.0.id(on, &on.call.token, &body);
            let recorded = Recorded {
                inputs: request.desired,
                fields: &Value::Null,
            };
            let fields = self.fields(on, &body, object, &id, recorded);
            Ok(Applied::ready(id, fields))
        })
    }

    fn update<'a>(
        &'a self,
        on: CloudCall<'a>,
        request: &'a ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<Applied, ProviderError>> {
        Box::pin(async move {
            let prior = self.body(on, request.prior_inputs).await?;
            let desired = self.body(on, request.desired).await?;
            let object = self.0.change(on, &prior, &desired).await?;
            let id = request.id.unwrap_or_default();
            let recorded = Recorded {
                inputs: request.desired,
                fields: &Value::Null,
            };
            let fields = self.fields(on, &desired, object, id, recorded);
            Ok(Applied::ready(id, fields))
        })
    }

    fn delete<'a>(
        &'a self,
        on: CloudCall<'a>,
        request: &'a ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            match self.body(on, request.prior_inputs).await {
                Ok(body) => self.0.dissolve(on, &body).await,
                // One of the objects that the relation connects is gone.
                Err(error) if error.kind == ErrorKind::Document => Ok(()),
                Err(error) => Err(error),
            }
        })
    }

    fn read<'a>(
        &'a self,
        on: CloudCall<'a>,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<ReadOutcome, ProviderError>> {
        Box::pin(self.read_relation(on, request))
    }

    fn plan<'a>(
        &'a self,
        on: CloudCall<'a>,
        request: PlanRequest<'a>,
    ) -> BoxFuture<'a, Result<Planned, ProviderError>> {
        Box::pin(async move {
            let mut planned = Planned::by_policy(Some(on.ty), &request);
            let (prior, desired) = (json_of(request.prior_inputs)?, json_of(request.desired)?);
            for property in R::PROPERTIES {
                let name = property.name;
                let (old, new) = (prior.get(name), desired.get(name));
                if old == new {
                    continue;
                }
                if same_body(on, property, old, new).await {
                    planned.only_recorded.push(FieldPath::from(name));
                }
            }
            // The order counts only if something replaces the relation.
            if self.0.deletes_first(&prior, &desired) {
                planned.verdict = Verdict::Replace {
                    delete_first: Some(true),
                };
            }
            Ok(planned)
        })
    }
}

/// Whether two spellings of a property give the same field.
async fn same_body(
    on: CloudCall<'_>,
    property: &'static Property,
    old: Option<&Json>,
    new: Option<&Json>,
) -> bool {
    let (Some(old), Some(new)) = (old, new) else {
        return false;
    };
    let only = |value: &Json| JsonMap::from_iter([(property.name.to_owned(), value.clone())]);
    let (old, new) = (only(old), only(new));
    let one = std::slice::from_ref(property);
    let sent = futures::future::join(body_of(on, one, &old), body_of(on, one, &new)).await;
    matches!(sent, (Ok(old), Ok(new)) if old == new)
}
