//! A toy provider that checks and compares, like providers of Pulumi: it changes inputs (defaults,
//! names from the seed), compares them with the former inputs, and only forecasts outputs.
//!
//! A change of `zone` replaces a bucket, deleting the old one first. Answers have `title` in
//! capitals. A `fragile` bucket is broken after its create, and an update repairs it. A
//! `checker/letter` cannot be found by its token.

use std::sync::{Arc, LazyLock};

use blueprint::{Name, Unknown, Value};
use provider::{
    Applied, ApplyRequest, BoxFuture, Call, Catalog, CheckFindings, CheckRequest, Configuration,
    Configured, ErrorKind, Observed, Operation, PlanMode, PlanRequest, Planned, Provider,
    ProviderDiagnostic, ProviderError, ReadOutcome, ReadRequest, Readiness, Ready, Session,
    Verdict, configured,
};

use super::hosted::{ProviderDefect, ToyBackend, ToyOptions, field, with};

static CATALOG: LazyLock<Arc<Catalog>> = LazyLock::new(|| {
    let catalog = provider::read_catalog(include_str!("checker.json"));
    Arc::new(catalog.expect("the catalogue is part of the program"))
});

/// The fields that a document sets.
const SETTABLE: [&str; 6] = ["title", "name", "size", "zone", "content", "fragile"];

/// The catalogue.
pub fn catalog() -> Arc<Catalog> {
    CATALOG.clone()
}

/// The provider of `checker/bucket` and `checker/letter`.
pub struct CheckerProvider {
    backend: ToyBackend,
}

impl CheckerProvider {
    /// A provider with options.
    pub fn new(options: ToyOptions) -> CheckerProvider {
        CheckerProvider {
            backend: ToyBackend::new(catalog(), options),
        }
    }

    /// The inputs with defaults and generated values.
    fn inputs(request: &PlanRequest<'_>) -> Value {
        let mut inputs = request.desired.clone();
        if request.type_name == "checker/letter" {
            return inputs;
        }
        if field(&inputs, "size").is_null() {
            inputs = with(&inputs, "size", Value::Int(3));
        }
        if field(&inputs, "name").is_null() {
            let before = field(request.prior_inputs, "name");
            let keeps = request.mode == PlanMode::Update && !before.is_null();
            let generated_name = || {
                Value::text(format!(
                    "bucket-{}",
                    request.seed.get(..8).unwrap_or(request.seed)
                ))
            };
            inputs = with(
                &inputs,
                "name",
                if keeps {
                    before.clone()
                } else {
                    generated_name()
                },
            );
        }
        inputs
    }

    /// Whether a field differs from the former inputs, or from the existing object.
    fn differs(request: &PlanRequest<'_>, inputs: &Value, name: &str) -> bool {
        let [now, before, exists] =
            [inputs, request.prior_inputs, request.prior].map(|it| field(it, name).unmarked());
        let same = |one: &Value, other: &Value| match (one.as_text(), other.as_text()) {
            (Some(one), Some(other)) if name == "title" => one.eq_ignore_ascii_case(other),
            _ => one == other,
        };
        now.has_unknown() || !same(now, before) && !before.is_null() || !same(now, exists)
    }

    fn planned(&self, request: &PlanRequest<'_>) -> Planned {
        let inputs = CheckerProvider::inputs(request);
        let differs = |name: &&str| CheckerProvider::differs(request, &inputs, name);
        let updates = request.mode == PlanMode::Update;
        let (verdict, replaces) = if updates && differs(&"zone") {
            (
                Verdict::Replace {
                    delete_first: Some(true),
                },
                vec!["zone".into()],
            )
        } else if updates
            && !SETTABLE.iter().any(differs)
            && request.unhealthy.is_empty()
            && !self.backend.has(ProviderDefect::NeverSame)
        {
            (Verdict::Same, Vec::new())
        } else {
            (Verdict::Update, Vec::new())
        };
        let known = |name: &str| {
            if updates {
                field(request.prior, name).clone()
            } else {
                unknown()
            }
        };
        let url = match field(&inputs, "name").as_text() {
            Some(name) => Value::text(format!("https://{name}.test")),
            None => unknown(),
        };
        let sent = inputs
            .as_map()
            .into_iter()
            .flatten()
            .map(|(name, value)| (name.clone(), value.clone()));
        let computed: Vec<(Name, Value)> = match (&verdict, request.type_name) {
            (Verdict::Same, _) => Vec::new(),
            (_, "checker/letter") => vec![("id".into(), known("id"))],
            _ => vec![
                ("id".into(), known("id")),
                ("url".into(), url),
                ("revision".into(), unknown()),
            ],
        };
        let mut diagnostics = Vec::new();
        if field(&inputs, "size")
            .as_int()
            .is_some_and(|size| size > 100)
        {
            diagnostics.push(ProviderDiagnostic::warning(
                "size",
                "that is a large bucket",
            ));
        }
        let outputs = match verdict {
            Verdict::Same => request.prior.clone(),
            _ => Value::map(sent.chain(computed)),
        };
        Planned {
            verdict,
            outputs: Some(outputs),
            inputs: Some(inputs),
            inexact: true,
            replaces,
            diagnostics,
            ..Planned::default()
        }
    }

    fn answer_fields(fields: &Value) -> Value {
        match field(fields, "title").unmarked().as_text() {
            Some(title) => with(fields, "title", Value::text(title.to_uppercase())),
            None => fields.clone(),
        }
    }

    async fn act(&self, call: &Call, request: ApplyRequest<'_>) -> Result<Applied, ProviderError> {
        if call.cancel.is_cancelled() {
            return Err(ProviderError::new(
                ErrorKind::Cancelled,
                "the call was cancelled",
            ));
        }
        let generated =
            request.type_name == "checker/letter" || !field(request.desired, "name").is_null();
        if request.operation != Operation::Delete && !generated {
            return Err(self.backend.violated(format!(
                "{} is changed without its planned inputs",
                call.address
            )));
        }
        let broken = request.operation == Operation::Create
            && (field(request.desired, "fragile").as_bool() == Some(true)
                || self.backend.has(ProviderDefect::BrokenCreate));
        let finish = |applied: Applied| match (request.operation, broken) {
            (Operation::Delete, _) => applied,
            (_, false) => Applied {
                fields: CheckerProvider::answer_fields(&applied.fields),
                ..applied
            },
            (_, true) => Applied {
                fields: CheckerProvider::answer_fields(&applied.fields),
                ready: Ready::Broken(vec!["it is cracked".into()]),
                ..applied
            },
        };
        match Session::apply(&*self.backend.fake, call, ApplyRequest { ..request }).await {
            Ok(applied) => Ok(finish(applied)),
            Err(error) => {
                let partial = error.partial.map(|partial| Box::new(finish(*partial)));
                Err(ProviderError { partial, ..error })
            }
        }
    }
}

fn unknown() -> Value {
    Value::Unknown(Arc::new(Unknown {
        ty: None,
        waits_for: Vec::new(),
    }))
}

impl Provider for CheckerProvider {
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

impl Session for CheckerProvider {
    fn check<'a>(
        &'a self,
        _: &'a Call,
        request: CheckRequest<'a>,
    ) -> BoxFuture<'a, Result<CheckFindings, ProviderError>> {
        let mut checked = CheckFindings::default();
        if field(request.spec, "title").as_text() == Some("forbidden") {
            checked.refuse("title", "this title is taken");
        }
        Box::pin(std::future::ready(Ok(checked)))
    }

    fn plan<'a>(
        &'a self,
        _: &'a Call,
        request: PlanRequest<'a>,
    ) -> BoxFuture<'a, Result<Planned, ProviderError>> {
        Box::pin(async move { Ok(self.planned(&request)) })
    }

    fn read<'a>(
        &'a self,
        call: &'a Call,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<ReadOutcome, ProviderError>> {
        Box::pin(async move {
            if request.type_name == "checker/letter" && request.id.is_none() {
                return Ok(ReadOutcome::Unknown);
            }
            Ok(
                match Session::read(&*self.backend.fake, call, request).await? {
                    ReadOutcome::Present(observed) => ReadOutcome::Present(Observed {
                        fields: CheckerProvider::answer_fields(&observed.fields),
                        ..observed
                    }),
                    other => other,
                },
            )
        })
    }

    fn apply<'a>(
        &'a self,
        call: &'a Call,
        request: ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<Applied, ProviderError>> {
        Box::pin(self.act(call, request))
    }

    fn poll_ready<'a>(
        &'a self,
        call: &'a Call,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<Readiness, ProviderError>> {
        Session::poll_ready(&*self.backend.fake, call, request)
    }
}
