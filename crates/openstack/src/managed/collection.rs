//! The operations of the tables: objects that are a collection of a service.

use std::fmt;

use ::provider::json::{from_json, to_json};
use ::provider::{
    Applied, ApplyRequest, BoxFuture, CheckFindings, ErrorKind, Observed, Operation, PlanRequest,
    Planned, ProviderDiagnostic, ProviderError, ReadOutcome, ReadRequest, Readiness, Ready,
    ResourceType, Verdict,
};
use blueprint::{FieldPath, Map, Name, Value};
use serde_json::{Value as Json, json};

use super::handler::{Handler, Table, absent, patiently};
use super::hooks::{ASIDE, LeftOver, PRIVATE, SpecChange};
use super::mapping::{Recorded, fields_of, id_in_path, id_of, is_part_of};
use super::mapping::{body_of, json_of};
use super::table::JsonMap;
use super::table::{Busy, Form, Parent, Property, Reading, State, Target, Unset, Update};
use super::{CloudCall, Hooks, Mark};
use crate::client::{Delivery, Service, ServiceError, ServiceRequest, path_segment};

/// A type whose objects are a collection of a service: what a table says about it.
pub(crate) struct Managed {
    /// The name of the type.
    pub(crate) name: &'static str,
    pub(crate) service: Service,
    /// The path of the collection below the version of the service; with `{parent}` below a parent.
    pub(crate) path: &'static str,
    /// The object below whose path the objects are.
    pub(crate) parent: Option<Parent>,
    /// The key around one object; empty if there is none.
    pub(crate) envelope: &'static str,
    /// The key around a list of objects.
    pub(crate) list: &'static str,
    pub(crate) properties: &'static [Property],
    pub(crate) update: Update,
    pub(crate) mark: Mark,
    pub(crate) state: State,
    /// Refusals that clear with time.
    pub(crate) busy: &'static [Busy],
    pub(crate) hooks: &'static dyn Hooks,
}

impl fmt::Debug for Managed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Whether an object is ready, by its status.
pub(super) enum Status {
    Ready,
    /// It is not ready yet, for this reason.
    Pending(String),
    Broken(String),
}

/// What is known of a create that failed.
enum CreateOutcome {
    /// The service refused it.
    Refused,
    /// It may have taken effect.
    Open,
}

impl Managed {
    /// The path of the collection. That of objects below a parent follows from their spec.
    ///
    /// # Errors
    /// [`ErrorKind::Document`] if the spec names no parent.
    async fn collection(&self, on: CloudCall<'_>, spec: &JsonMap) -> Result<String, ProviderError> {
        let Some(Parent { property, kind }) = self.parent else {
            return Ok(self.path.to_owned());
        };
        let Some(named) = spec.get(property).and_then(Json::as_str) else {
            let message = format!("the {} is not known", kind.word);
            return Err(ProviderError::new(ErrorKind::Document, message).at(property));
        };
        let id = on
            .id_of(kind, named)
            .await
            .map_err(|error| error.at(property))?;
        Ok(self.path.replace("{parent}", &id))
    }

    /// The path of one object.
    pub(super) async fn one(
        &self,
        on: CloudCall<'_>,
        spec: &JsonMap,
        id: &str,
    ) -> Result<String, ProviderError> {
        let collection = self.collection(on, spec).await?;
        Ok(format!("{collection}/{}", path_segment(id_in_path(id))))
    }

    /// The object in an answer; an empty one if the answer has none.
    fn unwrapped(&self, body: Json) -> Json {
        let object = match (self.envelope, body) {
            ("", body) => body,
            (envelope, Json::Object(mut entries)) => entries.remove(envelope).unwrap_or_default(),
            _ => Json::Null,
        };
        match object.is_object() {
            true => object,
            false => json!({}),
        }
    }

    fn wrapped(&self, mut body: JsonMap) -> Json {
        let beside = self.hooks.beside_envelope().iter();
        let mut outer: JsonMap = beside
            .filter_map(|field| body.remove_entry(*field))
            .collect();
        match self.envelope {
            "" => outer.extend(body),
            envelope => {
                outer.insert(envelope.to_owned(), Json::Object(body));
            }
        }
        Json::Object(outer)
    }

    /// Whether the template may name the object. Other objects have their mark in each case.
    fn names_objects(&self) -> bool {
        self.properties.iter().any(|it| it.name == "name")
    }

    /// Reads an object; `None` if it does not exist.
    pub(super) async fn object(
        &self,
        on: CloudCall<'_>,
        spec: &JsonMap,
        id: &str,
    ) -> Result<Option<Json>, ProviderError> {
        let path = match self.one(on, spec, id).await {
            Ok(path) => path,
            // Without its parent, the object does not exist either.
            Err(error) if self.parent.is_some() && error.kind == ErrorKind::Document => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        match on.send(ServiceRequest::get(self.service, path)).await {
            Ok(answer) => {
                let object = self.unwrapped(answer.body);
                let status = object[self.state.field].as_str();
                let is_gone = status.is_some_and(|status| self.state.gone.contains(&status));
                Ok((!is_gone).then_some(object))
            }
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error.into_provider_error(false)),
        }
    }

    /// Finds the object that a create with this token made. `Err(None)` if no object can show that.
    async fn find(
        &self,
        on: CloudCall<'_>,
        token: &str,
        spec: &JsonMap,
    ) -> Result<Option<Json>, Option<ProviderError>> {
        let generated = self.names_objects() && !spec.contains_key("name");
        let name = on.physical_name(token);
        let taken = match self.mark {
            Mark::Text(field) => spec.contains_key(field) && !self.lends_text(spec),
            Mark::None => true,
            _ => false,
        };
        let unique = match (self.mark, generated) {
            (Mark::Unique(fields), false) => {
                self.unique_fields(on, spec, fields).await.map_err(Some)?
            }
            _ => JsonMap::new(),
        };
        let has_no_mark = taken && !generated;
        if has_no_mark && (!self.names_objects() || self.mark == Mark::None) {
            return Err(None);
        }
        let query = match generated {
            _ if !self.is_filtered() => None,
            _ if has_no_mark => Mark::Name.named(spec),
            true => Some(("name", name.to_string())),
            false => self.mark.query(token).or_else(|| self.mark.named(spec)),
        };
        let collection = self.collection(on, spec).await.map_err(Some)?;
        let all = || ServiceRequest::get(self.service, self.list_path(collection));
        let request = self.hooks.list_call().unwrap_or_else(all);
        let request = match query {
            Some((field, value)) => request.with_query(field, value),
            None => request,
        };
        let mut answer = on.get(request).await.map_err(Some)?;
        let all = answer.get_mut(self.list).map(Json::take);
        let Some(Json::Array(all)) = all else {
            return Ok(None);
        };
        let sent = match self.mark {
            Mark::Name if !generated => {
                Some(body_of(on, self.properties, spec).await.map_err(Some)?)
            }
            _ => None,
        };
        let is_it = |object: &Json| match (&sent, self.mark) {
            (Some(sent), _) => is_as_sent(sent, object),
            (None, _) if generated => object["name"] == name.as_ref(),
            (None, Mark::Unique(_)) => {
                let mut fields = unique.iter();
                fields.all(|(field, value)| is_part_of(value, &object[field]))
            }
            (None, _) => self.mark.is_on(token, object),
        };
        let mut all = all.into_iter().map(|object| self.in_list(object));
        // An object of this name may be that of somebody else. Without one, none was made.
        if has_no_mark {
            let exists = all.any(|object| object.get("name") == spec.get("name"));
            return if exists { Err(None) } else { Ok(None) };
        }
        Ok(all.find(is_it))
    }

    /// Whether an object shows by which call it was made.
    fn is_marked(&self, spec: &JsonMap) -> bool {
        let generated = self.names_objects() && !spec.contains_key("name");
        generated || self.mark.tells_calls()
    }

    /// Whether a create writes its mark in place of a text of the template, because the template
    /// leaves no other place. The text is written once the object is recorded: a create that is cut
    /// off before that is found by its mark, whatever other objects have its name.
    fn lends_text(&self, spec: &JsonMap) -> bool {
        let Mark::Text(field) = self.mark else {
            return false;
        };
        let generated = self.names_objects() && !spec.contains_key("name");
        let is_changeable = matches!(self.update, Update::Put | Update::Patch);
        is_changeable && !generated && spec.contains_key(field)
    }

    /// The text of the template in whose place an object has its mark.
    fn lent_text<'s>(&self, spec: &'s JsonMap, object: &Json) -> Option<(&'static str, &'s Json)> {
        let field = self.mark.text_field(object)?;
        let text = spec.get(field)?;
        self.lends_text(spec).then_some((field, text))
    }

    /// Writes the text of the template in place of the mark. Returns the object as it is then.
    async fn write_lent_text(
        &self,
        on: CloudCall<'_>,
        spec: &JsonMap,
        id: &str,
        object: Json,
    ) -> Result<Json, ProviderError> {
        let Some((field, text)) = self.lent_text(spec, &object) else {
            return Ok(object);
        };
        let body = JsonMap::from_iter([(field.to_owned(), text.clone())]);
        let path = self.one(on, spec, id).await?;
        let Some(call) = self.update.call(self.service, path, self.wrapped(body)) else {
            return Ok(object);
        };
        let answer = patiently(on, self.busy, Operation::Update, call).await;
        let answer = answer.map_err(|error| error.into_provider_error(true))?;
        Ok(self.unwrapped(answer.body))
    }

    /// An object of a list. Some lists have an envelope around each object.
    fn in_list(&self, object: Json) -> Json {
        match object.get(self.envelope) {
            Some(Json::Object(_)) => self.unwrapped(object),
            _ => object,
        }
    }

    /// The fields that tell an object from all others, as a create sends them. Fields that it does
    /// not send are null.
    async fn unique_fields(
        &self,
        on: CloudCall<'_>,
        spec: &JsonMap,
        fields: &[&str],
    ) -> Result<JsonMap, ProviderError> {
        let mut body = body_of(on, self.properties, spec).await?;
        self.hooks.create_body(on, spec, &mut body).await?;
        let value = |field: &&str| ((*field).to_owned(), body.remove(*field).unwrap_or_default());
        Ok(fields.iter().map(value).collect())
    }

    /// The path of the list of objects with all their fields.
    fn list_path(&self, collection: String) -> String {
        match self.service {
            Service::Compute | Service::Volume if self.lists_ids() => {
                format!("{collection}/detail")
            }
            _ => collection,
        }
    }

    /// Whether the list of objects can be filtered by a name. Nova refuses unknown filters.
    fn is_filtered(&self) -> bool {
        let is_strict = matches!(self.service, Service::Compute | Service::Volume);
        !is_strict || self.lists_ids()
    }

    /// Whether the plain list of the collection has only the ids and names of objects.
    fn lists_ids(&self) -> bool {
        ["servers", "volumes"].contains(&self.path)
    }

    pub(super) fn status_of(&self, object: &Json) -> Status {
        let State {
            field,
            ready,
            failed,
            why,
            gone: _,
        } = self.state;
        if field.is_empty() {
            return Status::Ready;
        }
        let status = object[field].as_str().unwrap_or_default();
        if ready.contains(&status) {
            return Status::Ready;
        }
        if !failed.contains(&status) {
            return Status::Pending(format!("it is {status}"));
        }
        let reason = why.split('.').try_fold(object, |at, name| at.get(name));
        let reason = reason
            .and_then(Json::as_str)
            .filter(|text| !text.is_empty());
        Status::Broken(match reason {
            Some(reason) => format!("it is {status}: {reason}"),
            None => format!("it is {status}"),
        })
    }

    /// The answer for an object after an operation.
    async fn applied(
        &self,
        on: CloudCall<'_>,
        mut object: Json,
        recorded: Recorded<'_>,
    ) -> Result<Applied, ProviderError> {
        let id = self.id_of(&object)?;
        let spec = json_of(recorded.inputs)?;
        let ready = match self.status_of(&object) {
            // A poll writes the text.
            Status::Ready if self.lent_text(&spec, &object).is_some() => Ready::Pending,
            Status::Ready => {
                self.hooks.complete(on, &mut object).await?;
                Ready::Yes
            }
            Status::Pending(_) => Ready::Pending,
            Status::Broken(reason) => Ready::Broken(vec![self.why(on, &object, reason).await]),
        };
        self.mark.remove(&mut object);
        let fields = fields_of(on, self.properties, self.hooks, &object, recorded);
        Ok(Applied {
            ready,
            private: from_json(&object[ASIDE][PRIVATE]),
            ..Applied::ready(id, fields)
        })
    }

    /// The reason why an object is broken, with what the service tells elsewhere.
    async fn why(&self, on: CloudCall<'_>, object: &Json, reason: String) -> Name {
        match self.hooks.failure(on, object).await {
            Some(more) => format!("{reason}: {more}").into(),
            None => reason.into(),
        }
    }

    fn id_of(&self, object: &Json) -> Result<Name, ProviderError> {
        id_of(self.hooks, object).ok_or_else(|| {
            let field = self.hooks.id_field();
            let message = format!("{} returned an object without `{field}`", self.service);
            ProviderError::new(ErrorKind::OutcomeUnknown, message)
        })
    }

    async fn create_object(
        &self,
        on: CloudCall<'_>,
        request: &ApplyRequest<'_>,
    ) -> Result<Applied, ProviderError> {
        let spec = json_of(request.desired)?;
        let mut body = body_of(on, self.properties, &spec).await?;
        if self.names_objects() && !body.contains_key("name") {
            body.insert(
                "name".to_owned(),
                json!(on.physical_name(&on.call.token).as_ref()),
            );
        }
        self.hooks.create_body(on, &spec, &mut body).await?;
        match self.lends_text(&spec) {
            true => self.mark.write_over(&on.call.token, &mut body),
            false => self.mark.write(&on.call.token, &mut body),
        }
        let collection = self.collection(on, &spec).await?;
        let post = ServiceRequest::post(self.service, collection, self.wrapped(body));
        let sent = patiently(on, self.busy, Operation::Create, post).await;
        let mut object = match sent {
            Ok(answer) => self.unwrapped(answer.body),
            Err(error) => self.found_after(on, error, &spec).await?,
        };
        let recorded = Recorded {
            inputs: request.desired,
            fields: &Value::Null,
        };
        if let Err(error) = self.hooks.created(on, &spec, &mut object).await {
            // The object exists, so the error must not lose it.
            let partial = self.applied(on, object, recorded).await.ok();
            let partial = partial.map(|applied| Applied {
                ready: Ready::Broken(vec![error.message.clone().into()]),
                ..applied
            });
            return Err(ProviderError {
                partial: partial.map(Box::new),
                ..error
            });
        }
        // Services that work in the background answer with the id alone.
        if !self.state.field.is_empty() && object.get(self.state.field).is_none() {
            let id = self.id_of(&object)?;
            let aside = object[ASIDE].take();
            object = self.object(on, &spec, &id).await?.unwrap_or(object);
            object[ASIDE] = aside;
        }
        self.applied(on, object, recorded).await
    }

    /// The object of a create without an answer, found by its mark. Otherwise the error.
    async fn found_after(
        &self,
        on: CloudCall<'_>,
        error: ServiceError,
        spec: &JsonMap,
    ) -> Result<Json, ProviderError> {
        let outcome = match error.delivery {
            Delivery::NotSent => return Err(error.into_provider_error(true)),
            Delivery::Lost => CreateOutcome::Open,
            // A proxy in front of the service may have given up while the service went on.
            Delivery::Answered(status) if status >= 500 && status != 503 => CreateOutcome::Open,
            // The create of a process that was killed may have made the object meanwhile, which
            // then stands in the way of this one.
            Delivery::Answered(400 | 409) if self.is_marked(spec) => CreateOutcome::Refused,
            Delivery::Answered(_) => return Err(error.into_provider_error(true)),
        };
        if let Ok(Some(object)) = self.find(on, &on.call.token, spec).await {
            return Ok(object);
        }
        let error = error.into_provider_error(true);
        match outcome {
            CreateOutcome::Refused => Err(error),
            CreateOutcome::Open => Err(ProviderError {
                kind: ErrorKind::OutcomeUnknown,
                ..error
            }),
        }
    }

    async fn update_object(
        &self,
        on: CloudCall<'_>,
        request: &ApplyRequest<'_>,
    ) -> Result<Applied, ProviderError> {
        let id = request.id.unwrap_or_default();
        let (prior, desired) = (json_of(request.prior_inputs)?, json_of(request.desired)?);
        let Some(mut object) = self.object(on, &prior, id).await? else {
            let message = format!("{} has no object {id} any more", self.service);
            return Err(ProviderError::new(ErrorKind::NotFound, message));
        };
        let (private, _) = to_json(request.private).unwrap_or_default();
        object[ASIDE] = json!({ PRIVATE: private });
        let change = SpecChange {
            prior: &prior,
            desired: &desired,
        };
        if let Some((property, reason)) = self.refusal(on, change).await {
            return Err(ProviderError::new(ErrorKind::Document, reason).at(property));
        }
        let mut body = self.changed_fields(on, change, &object).await?;
        self.hooks
            .update_body(on, change, &object, &mut body)
            .await?;
        if !body.is_empty() {
            let (path, body) = (self.one(on, &prior, id).await?, self.wrapped(body));
            if let Some(call) = self.update.call(self.service, path, body) {
                let answer = patiently(on, self.busy, Operation::Update, call).await;
                let answer = answer.map_err(|error| error.into_provider_error(true))?;
                let aside = object[ASIDE].take();
                object = self.unwrapped(answer.body);
                object[ASIDE] = aside;
            }
        }
        self.hooks.update(on, change, &mut object).await?;
        let recorded = Recorded {
            inputs: request.desired,
            fields: &Value::Null,
        };
        self.applied(on, object, recorded).await
    }

    /// The fields that an object must get: those that differ from the desired ones, and those that
    /// the document no longer sets.
    async fn changed_fields(
        &self,
        on: CloudCall<'_>,
        change: SpecChange<'_>,
        object: &Json,
    ) -> Result<JsonMap, ProviderError> {
        let mut body = body_of(on, self.properties, change.desired).await?;
        let before = body_of(on, self.properties, change.prior).await?;
        for property in self.properties {
            let Target::Field { field, reading, .. } = property.target else {
                continue;
            };
            let (sent, is_as_before) = (body.get(field), body.get(field) == before.get(field));
            let same = match (reading, sent, object.get(field)) {
                // Services add entries to maps. An entry that the document no longer has counts.
                (Reading::Shown, Some(sent), Some(shown)) => {
                    sent == shown || is_as_before && is_part_of(sent, shown)
                }
                (Reading::Shown, None, _) | (Reading::Recorded, ..) => is_as_before,
                (Reading::Shown, Some(_), None) => false,
            };
            let removed = sent.is_none() && before.contains_key(field);
            if same {
                body.remove(field);
            } else if removed && property.name != "name" {
                let value = match property.unset {
                    Unset::Null => Json::Null,
                    Unset::Text => json!(""),
                    Unset::List => json!([]),
                    Unset::True => json!(true),
                    Unset::Kept => continue,
                };
                body.insert(field.to_owned(), value);
            }
        }
        // Entries of a spread map are sent if they have changed.
        body.retain(|field, value| {
            let is_own = |it: &Property| matches!(it.target, Target::Field { field: own, .. } if own == field);
            self.properties.iter().any(is_own) || before.get(field) != Some(value)
        });
        Ok(body)
    }

    async fn read_object(
        &self,
        on: CloudCall<'_>,
        request: ReadRequest<'_>,
    ) -> Result<ReadOutcome, ProviderError> {
        let spec = json_of(request.inputs)?;
        let found = match (request.id.filter(|id| !id.is_empty()), request.token) {
            (Some(id), _) => self.object(on, &spec, id).await?,
            (None, None) => return Ok(ReadOutcome::Unknown),
            (None, Some(token)) => {
                match on.find_late(|| Box::pin(self.find(on, token, &spec))).await {
                    Ok(None) => {
                        self.hooks.not_created(on, token).await?;
                        None
                    }
                    Ok(found) => found,
                    Err(None) => return Ok(ReadOutcome::Unknown),
                    Err(Some(error)) => return Err(error),
                }
            }
        };
        let Some(mut object) = found else {
            return Ok(match self.hooks.left_over() {
                LeftOver::Helpers => absent(request),
                LeftOver::Nothing => ReadOutcome::Absent,
            });
        };
        let id = self.id_of(&object)?;
        on.names.note(self.path, &id);
        let is_new = request.outputs.is_null();
        let mut private = request.private.clone();
        if let Some(token) = request.token.filter(|_| is_new) {
            self.hooks.found(on, token, &spec, &mut object).await?;
            if !object[ASIDE][PRIVATE].is_null() {
                private = from_json(&object[ASIDE][PRIVATE]);
            }
        }
        if is_new && request.token.is_none() {
            self.hooks.imported(on, &spec, &mut object).await?;
            private = from_json(&object[ASIDE][PRIVATE]);
        }
        self.mark.remove(&mut object);
        let recorded = Recorded {
            inputs: request.inputs,
            fields: request.outputs,
        };
        let fields = fields_of(on, self.properties, self.hooks, &object, recorded);
        // An object that is found has no recorded fields: the spec says how they are spelled.
        let spelled = match is_new {
            true => request.inputs,
            false => request.outputs,
        };
        Ok(ReadOutcome::Present(Observed {
            id,
            fields: self.as_spelled(on, fields, &object, spelled).await,
            private,
            ..Observed::default()
        }))
    }

    /// The fields with the values that are spelled in another way: a name in place of an id, the
    /// address of a host in place of its network.
    async fn as_spelled(
        &self,
        on: CloudCall<'_>,
        fields: Value,
        object: &Json,
        spelled: &Value,
    ) -> Value {
        let mut spelling = Map::default();
        for property in self.properties {
            let Target::Field {
                field,
                form,
                reading,
            } = property.target
            else {
                continue;
            };
            let value = spelled.get(property.name).filter(|value| !value.is_null());
            let read = fields.get(property.name);
            let Some(value) = value.filter(|value| read != Some(*value)) else {
                continue;
            };
            // Other forms have one spelling.
            if matches!(form, Form::Same) {
                continue;
            }
            // A name that no object has is no spelling of this object.
            let sent = self.sent_again(on, property, field, Some(value)).await;
            let shown = match reading {
                Reading::Shown => object.get(field).cloned(),
                // A hook has read it, perhaps as a name.
                Reading::Recorded => self.sent_again(on, property, field, read).await,
            };
            if sent
                .zip(shown)
                .is_some_and(|(sent, shown)| is_part_of(&sent, &shown))
            {
                spelling.insert(property.name.into(), value.clone());
            }
        }
        if spelling.is_empty() {
            return fields;
        }
        let mut all = fields.as_map().cloned().unwrap_or_default();
        all.extend(spelling);
        Value::Map(all.into())
    }

    /// What a create with this value of a property would send; `None` if it cannot.
    async fn sent_again(
        &self,
        on: CloudCall<'_>,
        property: &'static Property,
        field: &str,
        value: Option<&Value>,
    ) -> Option<Json> {
        let spec = json_of(&Value::map([(property.name, value?.clone())])).ok()?;
        let sent = body_of(on, std::slice::from_ref(property), &spec).await;
        sent.ok()?.remove(field)
    }

    async fn poll_object(
        &self,
        on: CloudCall<'_>,
        request: ReadRequest<'_>,
    ) -> Result<Readiness, ProviderError> {
        let id = request.id.unwrap_or_default();
        let spec = json_of(request.inputs)?;
        let Some(object) = self.object(on, &spec, id).await? else {
            let gone = format!("{id} was deleted while it was waited for");
            return Ok(Readiness::Broken(vec![gone.into()]));
        };
        let mut object = self.write_lent_text(on, &spec, id, object).await?;
        let status = match self.status_of(&object) {
            Status::Pending(why) => match self.hooks.stuck(on, &object).await {
                Some(why) => Status::Broken(why),
                None => Status::Pending(why),
            },
            settled => settled,
        };
        if let Status::Ready = status {
            self.hooks.complete(on, &mut object).await?;
        }
        self.mark.remove(&mut object);
        let recorded = Recorded {
            inputs: request.inputs,
            fields: request.outputs,
        };
        let fields = fields_of(on, self.properties, self.hooks, &object, recorded);
        Ok(match status {
            Status::Ready => Readiness::Ready(fields),
            Status::Broken(reason) => Readiness::Broken(vec![self.why(on, &object, reason).await]),
            Status::Pending(why) => Readiness::NotYet {
                why: Some(why.into()),
                fields,
            },
        })
    }

    /// Fields whose new spelling means the same object, and the order of a replacement.
    async fn plan_change(
        &self,
        on: CloudCall<'_>,
        request: PlanRequest<'_>,
    ) -> Result<Planned, ProviderError> {
        let mut planned = Planned::by_policy(Some(on.ty), &request);
        let (prior, desired) = (json_of(request.prior_inputs)?, json_of(request.desired)?);
        let change = SpecChange {
            prior: &prior,
            desired: &desired,
        };
        for property in self.properties {
            let known = request.desired.get(property.name);
            let is_known = known.is_some_and(|value| !value.has_unknown());
            let (old, new) = (prior.get(property.name), desired.get(property.name));
            let (Some(old), Some(new), true) = (old, new, is_known && old != new) else {
                continue;
            };
            if self.means_the_same(on, property, old, new).await {
                planned.only_recorded.push(FieldPath::from(property.name));
            }
        }
        if let Some((property, reason)) = self.refusal(on, change).await {
            let refusal = ProviderDiagnostic::error(property, reason);
            planned.diagnostics.push(refusal);
        }
        if self.hooks.must_replace(change) {
            let changed = self.properties.iter().filter(|it| change.has(it.name));
            let paths = changed.map(|property| FieldPath::from(property.name));
            planned.replaces.extend(paths);
        }
        // The order counts only if something replaces the object.
        if self.hooks.deletes_first(&prior, &desired) {
            planned.verdict = Verdict::Replace {
                delete_first: Some(true),
            };
        }
        Ok(planned)
    }
}

impl Handler for Managed {
    fn type_name(&self) -> &'static str {
        self.name
    }

    fn table(&self) -> Option<Table> {
        Some(Table {
            properties: self.properties,
            update: self.update,
        })
    }

    fn adjust(&self, ty: &mut ResourceType) {
        ty.capabilities.finds = self.mark != Mark::None;
        // The id of an object below a parent does not lead to it.
        ty.capabilities.imports = self.parent.is_none();
        self.hooks.adjust(ty);
    }

    fn check<'a>(
        &'a self,
        on: Option<CloudCall<'a>>,
        spec: &'a Value,
        found: &'a mut CheckFindings,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        self.hooks.check(on, spec, found);
        Box::pin(std::future::ready(Ok(())))
    }

    fn create<'a>(
        &'a self,
        on: CloudCall<'a>,
        request: &'a ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<Applied, ProviderError>> {
        Box::pin(self.create_object(on, request))
    }

    fn update<'a>(
        &'a self,
        on: CloudCall<'a>,
        request: &'a ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<Applied, ProviderError>> {
        Box::pin(self.update_object(on, request))
    }

    fn delete<'a>(
        &'a self,
        on: CloudCall<'a>,
        request: &'a ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(self.delete_object(on, request))
    }

    fn read<'a>(
        &'a self,
        on: CloudCall<'a>,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<ReadOutcome, ProviderError>> {
        Box::pin(self.read_object(on, request))
    }

    fn poll<'a>(
        &'a self,
        on: CloudCall<'a>,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<Readiness, ProviderError>> {
        Box::pin(self.poll_object(on, request))
    }

    fn plan<'a>(
        &'a self,
        on: CloudCall<'a>,
        request: PlanRequest<'a>,
    ) -> BoxFuture<'a, Result<Planned, ProviderError>> {
        Box::pin(self.plan_change(on, request))
    }
}

/// Whether an object has the fields that a create sent, as far as it shows them.
fn is_as_sent(sent: &JsonMap, object: &Json) -> bool {
    let mut shown = sent
        .iter()
        .filter_map(|(field, value)| Some((value, object.get(field)?)));
    object["name"] == sent["name"] && shown.all(|(sent, shown)| is_part_of(sent, shown))
}
