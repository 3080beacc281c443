//! Removes secrets from the reports of providers. Errors, warnings and progress of a provider
//! contain no secret of its call. Values that repeat a secret are marked as secret.
//!
//! Secrets of the call are removed even if only parts of them occur. Secrets of the rest of the run
//! are removed only if they occur as a whole.
//!
//! Values are searched only if there is a text or a secret. Not here: the search itself
//! (`provider::Scrubber`).

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use blueprint::{Name, Schema, TypeId, Value};
use foldhash::fast::FixedState;
use provider::{
    Applied, Catalogs, CheckFindings, Fetched, Observed, Planned, Preflight, ProviderDiagnostic,
    ProviderError, ReadOutcome, Ready, RunScrubber, Scrubber, SourceContent, TypeRef, Verdict,
};

use understand::secret_marks::{has_sensitive, mark_fields};

/// The secrets of a run. A shell and its clones share them.
#[derive(Clone, Debug, Default)]
pub struct RunSecrets(Arc<Mutex<SecretValues>>);

#[derive(Debug, Default)]
struct SecretValues {
    /// Values that have not been searched yet.
    new: Vec<Value>,
    scrub: RunScrubber,
    /// The names of resource types that have no secret field. Reads ask for each resource.
    public_types: HashSet<Name, FixedState>,
}

/// The maximum number of values that wait to be searched.
const MANY: usize = 4096;

impl RunSecrets {
    /// Adds the secrets in a value. They are masked in all later reports of providers.
    pub fn add_secrets_of(&self, value: &Value) {
        if value.has_secret() {
            let mut gathered = self.gathered();
            gathered.new.push(value.clone());
            if gathered.new.len() > MANY {
                gathered.extract_secrets();
            }
        }
    }

    /// Adds what the schema of a resource type calls secret in the fields that a provider returned:
    /// this answer and all later ones may repeat it.
    pub(crate) fn note_fields(&self, catalogs: &Catalogs, type_name: &str, returned: &Value) {
        if self.gathered().public_types.contains(type_name) {
            return;
        }
        let name = TypeId::parse(type_name);
        if let TypeRef::Known(ty) = catalogs.resource_type(&name)
            && !self.add_sensitive_fields(&ty.schema, returned)
        {
            self.gathered().public_types.insert(type_name.into());
        }
    }

    /// Adds the fields of an answer that their schema calls secret. Returns whether the schema calls
    /// any field secret.
    pub(crate) fn add_sensitive_fields(&self, schema: &Schema, fields: &Value) -> bool {
        let mut declared = schema.fields.values();
        let has_any = declared.any(|field| has_sensitive(Some(field)));
        if has_any {
            self.add_secrets_of(&mark_fields(schema, fields, &Value::Null));
        }
        has_any
    }

    /// Returns a text without the secrets that are known so far.
    pub fn scrub_text(&self, text: &str) -> String {
        self.with_extracted().scrub.clean(text)
    }

    /// Whether no secret is known so far.
    fn is_empty(&self) -> bool {
        self.with_extracted().scrub.is_empty()
    }

    fn mark_secrets(&self, fields: Value) -> Value {
        match self.with_extracted() {
            known if known.scrub.is_empty() => fields,
            known => known.scrub.marked(&fields),
        }
    }

    fn with_extracted(&self) -> MutexGuard<'_, SecretValues> {
        let mut gathered = self.gathered();
        gathered.extract_secrets();
        gathered
    }

    fn gathered(&self) -> MutexGuard<'_, SecretValues> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SecretValues {
    fn extract_secrets(&mut self) {
        for value in std::mem::take(&mut self.new) {
            self.scrub.add(&value);
        }
    }
}

/// The values of a call and their secrets, which are extracted at the first use.
pub(crate) struct CallSecrets {
    values: Vec<Value>,
    scrub: OnceLock<Scrubber>,
    known: RunSecrets,
}

impl CallSecrets {
    /// Returns the secrets of a call with these values.
    pub(crate) fn of<'a>(
        known: &RunSecrets,
        values: impl IntoIterator<Item = &'a Value>,
    ) -> Arc<CallSecrets> {
        let values: Vec<Value> = values.into_iter().cloned().collect();
        values.iter().for_each(|value| known.add_secrets_of(value));
        Arc::new(CallSecrets {
            values,
            scrub: OnceLock::new(),
            known: known.clone(),
        })
    }

    fn scrub(&self) -> &Scrubber {
        self.scrub.get_or_init(|| Scrubber::of(&self.values))
    }

    /// Returns the text without secrets.
    pub(crate) fn scrub_text(&self, text: &str) -> String {
        self.known.scrub_text(&self.scrub().clean(text))
    }

    /// Marks each field of an answer that repeats a secret, regardless of the catalogue. For
    /// example, an address that is made from a secret name is secret.
    pub(crate) fn mark_secrets(&self, fields: Value) -> Value {
        let own = self.values.iter().any(Value::has_secret);
        self.known.mark_secrets(if own {
            self.scrub().marked(&fields)
        } else {
            fields
        })
    }

    fn scrub_names(&self, texts: &mut [Name]) {
        texts
            .iter_mut()
            .for_each(|text| *text = self.scrub_text(text).into());
    }

    /// Removes secrets from an error.
    pub(crate) fn scrub_error(&self, mut error: ProviderError) -> ProviderError {
        error.message = self.scrub_text(&error.message);
        // Cleaning may make the path invalid. An invalid path is treated like a wrong one: it leads
        // nowhere.
        error.field = error
            .field
            .map(|field| self.scrub_text(&field.to_string()).into());
        self.scrub_diagnostics(&mut error.diagnostics);
        if let Some(partial) = &mut error.partial {
            self.scrub_diagnostics(&mut partial.diagnostics);
            if let Ready::Broken(why) = &mut partial.ready {
                self.scrub_names(why);
            }
        }
        error
    }

    /// Removes secrets from the answer of a preflight.
    pub(super) fn scrub_preflight(&self, mut answer: Preflight) -> Preflight {
        for source in &mut answer.sources {
            source.name = self.scrub_text(&source.name).into();
            if let SourceContent::Unreadable(words) = &mut source.content {
                *words = self.scrub_text(words);
            }
            if let Some(texts) = &mut source.texts {
                for text in [&mut texts.before, &mut texts.after] {
                    *text = self.mark_secrets(std::mem::take(text));
                }
            }
        }
        answer.refused = answer.refused.map(|words| self.scrub_text(&words));
        answer.existing = self.mark_secrets(answer.existing);
        answer
    }

    /// Removes secrets from the findings about a spec.
    pub(crate) fn scrub_check(&self, mut checked: CheckFindings) -> CheckFindings {
        self.scrub_diagnostics(&mut checked.diagnostics);
        // Ids are shown, and different secrets would look the same.
        checked.id = checked.id.filter(|id| *self.scrub_text(id) == **id);
        checked
    }

    /// Removes secrets from the plan of a provider and marks values that repeat one.
    pub(crate) fn scrub_plan(&self, mut planned: Planned) -> Planned {
        self.scrub_diagnostics(&mut planned.diagnostics);
        if let Verdict::Undecided { needs } = &mut planned.verdict {
            *needs = self.scrub_text(needs);
        }
        planned.inputs = planned.inputs.map(|inputs| self.mark_secrets(inputs));
        planned.outputs = planned.outputs.map(|outputs| self.mark_secrets(outputs));
        planned
    }

    /// Removes secrets from an observation and marks values that repeat one.
    pub(crate) fn scrub_observed(&self, mut observed: Observed) -> Observed {
        observed.expired = observed.expired.map(|why| self.scrub_text(&why));
        observed.fields = self.mark_secrets(observed.fields);
        observed.inputs = observed.inputs.map(|inputs| self.mark_secrets(inputs));
        self.scrub_diagnostics(&mut observed.diagnostics);
        observed
    }

    pub(crate) fn scrub_diagnostics(&self, diagnostics: &mut [ProviderDiagnostic]) {
        for diagnostic in diagnostics {
            diagnostic.summary = self.scrub_text(&diagnostic.summary);
            diagnostic.detail = self.scrub_text(&diagnostic.detail);
            let path = diagnostic.path.to_string();
            let clean = self.scrub_text(&path);
            if clean != path {
                diagnostic.path = clean.into();
            }
        }
    }

    /// Removes secrets from the result of a read with these values. In the usual case, without a
    /// text or a secret, nothing is copied.
    pub(crate) fn read<'a>(
        known: &RunSecrets,
        values: impl IntoIterator<Item = &'a Value> + Clone,
        read: Result<ReadOutcome, ProviderError>,
    ) -> Result<ReadOutcome, ProviderError> {
        let has_no_text = match &read {
            Ok(ReadOutcome::Present(observed)) => {
                observed.expired.is_none() && observed.diagnostics.is_empty()
            }
            Ok(_) => true,
            Err(_) => false,
        };
        if has_no_text && !values.clone().into_iter().any(Value::has_secret) {
            if known.is_empty() {
                return read;
            }
            return read.map(|seen| match seen {
                ReadOutcome::Present(mut observed) => {
                    observed.fields = known.mark_secrets(observed.fields);
                    observed.inputs = observed.inputs.map(|inputs| known.mark_secrets(inputs));
                    ReadOutcome::Present(observed)
                }
                seen => seen,
            });
        }
        let secrets = CallSecrets::of(known, values);
        read.map(|seen| secrets.scrub_read(seen))
            .map_err(|error| secrets.scrub_error(error))
    }

    fn scrub_read(&self, seen: ReadOutcome) -> ReadOutcome {
        match seen {
            ReadOutcome::Present(observed) => ReadOutcome::Present(self.scrub_observed(observed)),
            seen => seen,
        }
    }

    /// Removes secrets from the warnings of a data source and marks candidates that repeat a
    /// secret.
    pub(super) fn scrub_fetched(&self, mut fetched: Fetched) -> Fetched {
        self.scrub_diagnostics(&mut fetched.diagnostics);
        for candidate in &mut fetched.candidates {
            candidate.fields = self.mark_secrets(std::mem::take(&mut candidate.fields));
        }
        fetched
    }

    /// Removes secrets from the answer to a call, including secrets that the answer itself
    /// contains.
    pub(crate) fn scrub_apply(
        &self,
        answer: Result<Applied, ProviderError>,
        type_name: &TypeId,
        catalogs: &Catalogs,
    ) -> Result<Applied, ProviderError> {
        let made = |fields: &Value| match catalogs.resource_type(type_name) {
            TypeRef::Known(ty) => CallSecrets::of(
                &self.known,
                [&mark_fields(&ty.schema, fields, &Value::Null)],
            ),
            _ => CallSecrets::of(&self.known, []),
        };
        match answer {
            Ok(mut applied) => {
                self.known.note_fields(catalogs, type_name, &applied.fields);
                if !applied.diagnostics.is_empty() {
                    made(&applied.fields).scrub_diagnostics(&mut applied.diagnostics);
                    self.scrub_diagnostics(&mut applied.diagnostics);
                }
                if let Ready::Broken(why) = &mut applied.ready {
                    self.scrub_names(why);
                }
                applied.fields = self.mark_secrets(applied.fields);
                applied.inputs = applied.inputs.map(|inputs| self.mark_secrets(inputs));
                Ok(applied)
            }
            Err(mut error) => {
                if let Some(partial) = &mut error.partial {
                    partial.fields = self.mark_secrets(std::mem::take(&mut partial.fields));
                }
                let error = match error.partial.as_ref().map(|partial| made(&partial.fields)) {
                    Some(made) => made.scrub_error(error),
                    None => error,
                };
                Err(self.scrub_error(error))
            }
        }
    }
}
