//! Secrets in messages of providers are masked before they reach events, diagnostics or the state.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use blueprint::{IndexMap, Name, Value};
use diag::Files;
use engine::run::Operated;
use engine::{Given, Options};
use provider::{
    Applied, ApplyRequest, BoxFuture, Call, Catalog, CheckFindings, CheckRequest, Configuration,
    Configured, ErrorKind, FetchRequest, Fetched, InvokeRequest, PlanRequest, Planned, Plans,
    Provider, ProviderError, ReadOutcome, ReadRequest, Readiness, Ready, Session, configured,
};
use testkit::harness::{
    Harness, run_with_paused_clock, session_without_settings, settings, shell_without_faults,
};

use crate::harness;

const PASSWORD: &str = "Plant-7f3a9c!x \"quoted\" & <äß> it's 99";
const SETTING: &str = "Setting-5b1e77d2c9-of-the-cloud";

/// Checks that a text contains no recognisable piece of a secret in any form, ignoring white space.
fn must_not_show(place: &str, text: &str) {
    let plain = |text: &str| -> Vec<char> {
        text.chars()
            .filter(|letter| !letter.is_whitespace())
            .flat_map(char::to_lowercase)
            .collect()
    };
    let said: String = plain(text).into_iter().collect();
    for secret in [PASSWORD, SETTING] {
        let hex: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
        for form in [secret.to_owned(), hex, STANDARD.encode(secret)] {
            for piece in plain(&form).windows(8) {
                let piece: String = piece.iter().collect();
                assert!(!said.contains(&piece), "`{piece}` shows in {place}: {text}");
            }
        }
    }
}

/// A secret as encoders write it that escape single characters.
fn escaped_forms(secret: &str) -> Vec<String> {
    let replaced = |text: &str, escapes: &[(&str, &str)]| {
        let each = |text: String, (from, to): &(&str, &str)| text.replace(from, to);
        escapes.iter().fold(text.to_owned(), each)
    };
    let json = |text: &str| serde_json::Value::from(text).to_string();
    // Go escapes more characters.
    let go_json = |text: &str| {
        replaced(
            &json(text),
            &[("&", "\\u0026"), ("<", "\\u003c"), (">", "\\u003e")],
        )
    };
    let markup = |quote, apostrophe| {
        [
            ("&", "&amp;"),
            ("<", "&lt;"),
            (">", "&gt;"),
            ("\"", quote),
            ("'", apostrophe),
        ]
    };
    let percent: String = secret.bytes().map(|byte| format!("%{byte:02X}")).collect();
    vec![
        go_json(secret),
        go_json(&go_json(secret)),
        json(&json(secret)),
        replaced(secret, &markup("&quot;", "&#39;")),
        replaced(secret, &markup("&#34;", "&apos;")),
        go_json(&replaced(secret, &markup("&quot;", "&#x27;"))),
        replaced(secret, &[("\"", "\"\"")]),
        replaced(secret, &[("'", "'\\''")]),
        percent.to_lowercase(),
        percent,
        STANDARD.encode(json(secret)),
    ]
}

/// The calls whose messages repeat secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LeakingCall {
    Check,
    Read,
    /// The read of a resource without secrets, which repeats the secret of another one.
    OtherRead,
    Plan,
    Create,
    CreateLate,
    CreateWell,
    Stable,
    Delete,
    Fetch,
    Call,
}

/// The simulated provider, whose messages repeat every secret that it received, in every form.
struct LeakingProvider {
    inner: Arc<dyn Session>,
    catalog: Arc<Catalog>,
    speaks: LeakingCall,
}

impl LeakingProvider {
    /// The secrets of a call, in the forms in which a careless provider repeats them.
    fn repeat<'a>(&self, values: impl IntoIterator<Item = &'a Value>) -> String {
        let mut secrets = Vec::new();
        for value in values {
            gather(value, &mut secrets);
        }
        let mut text = String::from("cannot:");
        for secret in secrets {
            let half = secret.chars().count() / 2;
            let head: String = secret.chars().take(half).collect();
            let tail: String = secret.chars().skip(half).collect();
            let hex: String = secret.bytes().map(|byte| format!("{byte:02X}")).collect();
            let wrapped: String = secret.chars().flat_map(|letter| [letter, '\n']).collect();
            let encoded = STANDARD.encode(&secret);
            let in_url = STANDARD.encode(format!("user:{secret}"));
            text.push_str(&format!(
                " {secret} {secret:?} {} {} {head}.. ..{tail} {head}\n      {tail} {hex} {wrapped} {encoded} {in_url}",
                secret.to_uppercase(),
                serde_json::Value::from(secret.as_str()),
            ));
            for form in escaped_forms(&secret) {
                text.push_str(&format!("\n<{form}>"));
            }
        }
        text
    }

    fn refuse(&self, kind: ErrorKind, text: String) -> ProviderError {
        ProviderError::new(kind, text.clone()).at(format!("title[\"{text}\"]"))
    }
}

fn gather(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Secret(inner) => match inner.as_ref() {
            Value::Text(text) => found.push(text.to_string()),
            inner => gather(inner, found),
        },
        Value::List(items) | Value::Set(items) => items.iter().for_each(|item| gather(item, found)),
        Value::Map(entries) => entries.values().for_each(|item| gather(item, found)),
        _ => {}
    }
}

impl Provider for LeakingProvider {
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

impl Session for LeakingProvider {
    fn check<'a>(
        &'a self,
        call: &'a Call,
        request: CheckRequest<'a>,
    ) -> BoxFuture<'a, Result<CheckFindings, ProviderError>> {
        Box::pin(async move {
            if self.speaks != LeakingCall::Check {
                return self.inner.check(call, request).await;
            }
            let text = self.repeat([request.spec, &call.settings]);
            let mut checked = CheckFindings::default();
            checked.refuse("title", &text);
            checked.refuse("", &text);
            checked.warn("title", text);
            Ok(checked)
        })
    }

    fn read<'a>(
        &'a self,
        call: &'a Call,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<ReadOutcome, ProviderError>> {
        Box::pin(async move {
            if self.speaks == LeakingCall::OtherRead && call.address.name.as_ref() == "early" {
                // Of the secrets of other resources, parts are not masked.
                let forms = escaped_forms(PASSWORD).join(">\n<");
                let text = format!("cannot: {PASSWORD}\n<{forms}>");
                return Err(self.refuse(ErrorKind::Permanent, text));
            }
            if self.speaks != LeakingCall::Read {
                return self.inner.read(call, request).await;
            }
            Err(self.refuse(
                ErrorKind::Permanent,
                self.repeat([request.inputs, request.outputs, &call.settings]),
            ))
        })
    }

    fn plan<'a>(
        &'a self,
        call: &'a Call,
        request: PlanRequest<'a>,
    ) -> BoxFuture<'a, Result<Planned, ProviderError>> {
        Box::pin(async move {
            if self.speaks != LeakingCall::Plan {
                return self.inner.plan(call, request).await;
            }
            Err(self.refuse(
                ErrorKind::Document,
                self.repeat([request.desired, request.prior, &call.settings]),
            ))
        })
    }

    fn apply<'a>(
        &'a self,
        call: &'a Call,
        request: ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<Applied, ProviderError>> {
        Box::pin(async move {
            let text = self.repeat([
                request.desired,
                request.prior,
                request.prior_inputs,
                &call.settings,
            ]);
            let is_delete = request.operation == provider::Operation::Delete;
            match self.speaks {
                LeakingCall::Delete if is_delete => Err(self.refuse(ErrorKind::Permanent, text)),
                _ if is_delete => self.inner.apply(call, request).await,
                LeakingCall::Create => {
                    (call.progress)(&text);
                    let mut partial = self.inner.apply(call, request).await?;
                    // The new id is a secret, too.
                    let warnings = vec![partial.fields.to_string(), text.clone()];
                    partial = partial.with_warnings(warnings);
                    let mut error =
                        self.refuse(ErrorKind::Permanent, format!("{text} {}", partial.fields));
                    error.partial = Some(Box::new(partial));
                    Err(error)
                }
                LeakingCall::CreateLate => Err(self.refuse(ErrorKind::Throttled, text)),
                LeakingCall::CreateWell | LeakingCall::Stable => {
                    (call.progress)(&text);
                    let mut applied = self.inner.apply(call, request).await?;
                    let warnings = vec![applied.fields.to_string(), text];
                    if self.speaks == LeakingCall::Stable {
                        applied.ready = Ready::Pending;
                    }
                    Ok(applied.with_warnings(warnings))
                }
                _ => self.inner.apply(call, request).await,
            }
        })
    }

    fn poll_ready<'a>(
        &'a self,
        call: &'a Call,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<Readiness, ProviderError>> {
        Box::pin(async move {
            let text = self.repeat([request.inputs, request.outputs, &call.settings]);
            Err(self.refuse(ErrorKind::Permanent, text))
        })
    }

    fn fetch<'a>(
        &'a self,
        call: &'a Call,
        request: FetchRequest<'a>,
    ) -> BoxFuture<'a, Result<Fetched, ProviderError>> {
        Box::pin(async move {
            if self.speaks != LeakingCall::Fetch {
                return self.inner.fetch(call, request).await;
            }
            let filters = request.filters.iter().map(|filter| &filter.2);
            let text = self.repeat(filters.chain([request.annotations, &call.settings]));
            Err(self.refuse(ErrorKind::Permanent, text))
        })
    }

    fn invoke<'a>(
        &'a self,
        call: &'a Call,
        request: InvokeRequest<'a>,
    ) -> BoxFuture<'a, Result<Value, ProviderError>> {
        Box::pin(async move {
            if self.speaks != LeakingCall::Call {
                return self.inner.invoke(call, request).await;
            }
            Err(self.refuse(
                ErrorKind::Permanent,
                self.repeat(request.arguments.values().chain([&call.settings])),
            ))
        })
    }
}

/// A document with the secret in a field and in a question to the provider.
fn document(speaks: LeakingCall) -> String {
    let (more, label) = match speaks {
        LeakingCall::Fetch => (
            "datasources:\n  net:\n    type: test/network\n    filter: { field: name, operator: '=', search: '${variables.password}' }\n    exports: { name: { type: string } }\n",
            "${datasources.net.name}",
        ),
        LeakingCall::Call => ("", "${test_tag(variables.password, 1)}"),
        LeakingCall::Plan => ("", "c"),
        _ => ("", "b"),
    };
    format!(
        "version: 2025-11-02\nvariables:\n  password: {{ type: string, secret: true }}\n{more}resources:\n  \
         early: {{ type: test/record, spec: {{ title: customers }} }}\n  \
         table: {{ type: test/record, spec: {{ title: orders, password: '${{variables.password}}', labels: {{ a: '{label}' }} }} }}\n"
    )
}

/// A harness whose provider receives every kind of call.
fn asking_harness() -> Harness {
    let mut harness = harness();
    let mut catalog = Catalog::clone(&providers::fake::whole_catalog());
    for ty in catalog.resource_types.values_mut() {
        let ty = Arc::make_mut(ty);
        (ty.capabilities.checks, ty.capabilities.plans) = (true, Plans::Updates);
    }
    let (catalogs, functions, _) = provider::combine([Arc::new(catalog)]);
    (harness.catalogs, harness.functions) = (Arc::new(catalogs), Arc::new(functions));
    harness
}

/// Stages and deploys with a provider that repeats secrets in one call. Returns the number of
/// masked places.
async fn count_masked_places(harness: &Harness, speaks: LeakingCall, destroy: bool) -> usize {
    let mut shell = shell_without_faults(harness);
    let catalog = shell
        .providers
        .get("test")
        .expect("it is there")
        .catalog()
        .clone();
    let inner = session_without_settings(&shell, "test").await;
    shell.providers.insert(["test".into()], move || {
        Arc::new(LeakingProvider {
            inner,
            catalog,
            speaks,
        })
    });
    shell.settings.insert(
        "test".into(),
        Value::map([("token", Value::from(SETTING).secret())]),
    );
    // Each run is a new operation.
    shell.rng = engine::run::Rng::seeded(speaks as u64 * 1_000);
    let mut text: IndexMap<Name, Name> = IndexMap::default();
    text.insert("password".into(), PASSWORD.into());
    let given = Given {
        text,
        ..Given::default()
    };
    let document = document(speaks);
    let mut files = Files::new();
    let mut diagnostics = diag::Diagnostics::new();
    let read = harness.read_all("main.yaml", &document, &given, true).await;
    let wanted = (!destroy).then(|| (read.documents.expect("it can be read"), read.document));
    if !destroy {
        files = read.files;
        diagnostics.append(read.diagnostics);
    }
    let request = engine::Request {
        instance: harness.name.name().clone(),
        document: wanted,
        given,
        options: Options::default(),
        snapshot: harness.snapshot().await,
        catalogs: harness.catalogs.clone(),
        functions: harness.functions.clone(),
        answers: None,
        others: None,
        world: &shell,
    };
    let staged = engine::plan(request, &mut diagnostics).await;
    let mut texts: Vec<(&str, String)> = Vec::new();
    if let Some(staged) = staged {
        let mut events = Vec::new();
        let (_keep, interrupts) = tokio::sync::mpsc::unbounded_channel();
        let store = harness.store();
        let request = engine::run::RunRequest {
            staged,
            recheck_inputs: false,
            shell: &shell,
            store: store.as_ref(),
            instance: &harness.name,
            id: engine::run::operation_id(&shell.rng),
            who: "tester@test",
            settings: settings(Some(2), true),
            rollback_planner: None,
            interrupts,
        };
        let operated = engine::run::operate(request, |event| events.push(event)).await;
        texts.push((
            "the events",
            serde_json::to_string(&events).expect("events are JSON"),
        ));
        if let Operated::Done(outcome) = operated {
            diagnostics.append(outcome.diagnostics);
        }
        let log = store
            .log(&harness.name, None, usize::MAX)
            .await
            .expect("there is a journal");
        texts.push(("the journal", format!("{log:?}")));
        texts.push(("the state", format!("{:?}", harness.snapshot().await)));
    }
    for found in &diagnostics {
        texts.push(("a diagnostic", format!("{found:?}")));
        texts.push((
            "a drawn diagnostic",
            diag::draw(found, &files, diag::Colors::Off),
        ));
    }
    for (place, text) in &texts {
        must_not_show(&format!("{place}, {speaks:?}"), text);
    }
    texts
        .iter()
        .map(|(_, text)| text.matches("cannot:").count())
        .sum()
}

#[test]
fn secrets_repeated_by_a_provider_show_nowhere() {
    run_with_paused_clock(async {
        for speaks in [
            LeakingCall::Check,
            LeakingCall::Create,
            LeakingCall::CreateLate,
            LeakingCall::CreateWell,
            LeakingCall::Stable,
            LeakingCall::Fetch,
            LeakingCall::Call,
        ] {
            let heard = count_masked_places(&asking_harness(), speaks, false).await;
            // The message of a call with a secret is not passed on at all
            // (decisions/blueprint#secret-values).
            assert_eq!(
                heard > 0,
                speaks != LeakingCall::Call,
                "{speaks:?}: heard {heard} times"
            );
        }
        for speaks in [
            LeakingCall::Read,
            LeakingCall::OtherRead,
            LeakingCall::Plan,
            LeakingCall::Delete,
        ] {
            let harness = asking_harness();
            count_masked_places(&harness, LeakingCall::CreateWell, false).await;
            let heard = count_masked_places(&harness, speaks, speaks == LeakingCall::Delete).await;
            assert!(heard > 0, "{speaks:?}: it was never heard");
        }
    });
}
