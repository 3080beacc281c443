//! Asks providers questions while a plan is made: within the limits of each provider, with retries after temporary
//! failures (decision 5.3).
//!
//! A plan asks through [`RetryingWorld`]. While a plan is applied, the crate `apply` schedules calls by the same
//! policies.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use blueprint::wire::Document;
use blueprint::{Address, IndexMap, Name, TypeId, Value};
use provider::{
    BoxFuture, Catalogs, Checked, Fetched, Planned, Preflight, ProviderError, ReadOutcome, RetryPolicy, TokenBucket,
    TransformError,
};
use state::Snapshot;
use tokio::sync::Semaphore;

use crate::codes;
use crate::world::{PlanQuestion, PreflightQuestion, ReadQuestion, SourceError, World};

/// Maximum number of concurrent questions, if a provider sets no lower limit.
pub const AT_ONCE: usize = 128;

/// The diagnostic code for an error of a provider. Errors that remain after all retries have a code of their own.
pub fn code_of(error: &ProviderError) -> &'static diag::Code {
    if error.kind.is_retryable() { &codes::RETRIES_EXHAUSTED } else { &codes::PROVIDER_FAILED }
}

/// A world that respects the limits of providers and retries after temporary failures.
pub struct RetryingWorld<'w> {
    world: &'w dyn World,
    limits: IndexMap<Name, Arc<ProviderLimits>>,
}

/// The limits and the retry policy of one provider.
struct ProviderLimits {
    retries: RetryPolicy,
    /// Concurrent questions.
    concurrency: Semaphore,
    rate: Option<Mutex<TokenBucket>>,
}

impl<'w> RetryingWorld<'w> {
    /// A world whose providers have these catalogues.
    pub fn new(world: &'w dyn World, catalogs: &Catalogs) -> RetryingWorld<'w> {
        let mut limits: IndexMap<Name, Arc<ProviderLimits>> = IndexMap::default();
        for catalog in catalogs.opened() {
            let of_provider = Arc::new(ProviderLimits {
                retries: catalog.retries,
                concurrency: Semaphore::new(at_once(catalog.max_parallel)),
                rate: catalog.rate.map(|rate| Mutex::new(TokenBucket::new(rate))),
            });
            for namespace in &catalog.namespaces {
                limits.entry(namespace.clone()).or_insert_with(|| of_provider.clone());
            }
        }
        RetryingWorld { world, limits }
    }

    /// Asks until there is an answer, a permanent error, or no retry left. `what` names the question. If `together`,
    /// the caller limits the number of concurrent questions itself.
    async fn ask<'a, T>(
        &'a self,
        namespace: &'a str,
        together: bool,
        what: &'a (dyn fmt::Display + Sync),
        ask: impl Fn() -> BoxFuture<'a, Result<T, ProviderError>>,
    ) -> Result<T, ProviderError> {
        let Some(limits) = self.limits.get(namespace) else { return ask().await };
        let mut retries = 0;
        loop {
            let answer = {
                // The semaphore is never closed, so there is always a permit.
                let _permit = if together { None } else { limits.concurrency.acquire().await.ok() };
                if let Some(rate) = &limits.rate {
                    let now = self.world.elapsed();
                    let pause = rate.lock().unwrap_or_else(PoisonError::into_inner).take(now);
                    if !pause.is_zero() {
                        self.world.pause(pause).await;
                    }
                }
                ask().await
            };
            match answer {
                Err(error) => {
                    let what = what.to_string();
                    let Some(pause) = limits.retries.again(&error, retries, &what) else { return Err(error) };
                    self.world.waits(&what, pause, &error.message);
                    self.world.pause(pause).await;
                }
                answer => return answer,
            }
            retries += 1;
        }
    }
}

/// The number of concurrent questions to a provider. `max_parallel` is the provider's limit, 0 for none.
pub fn at_once(max_parallel: u32) -> usize {
    if max_parallel == 0 { AT_ONCE } else { AT_ONCE.min(max_parallel as usize) }
}

impl World for RetryingWorld<'_> {
    fn now(&self) -> i64 {
        self.world.now()
    }

    fn elapsed(&self) -> Duration {
        self.world.elapsed()
    }

    fn pause(&self, duration: Duration) -> BoxFuture<'_, ()> {
        self.world.pause(duration)
    }

    fn waits(&self, what: &str, pause: Duration, why: &str) {
        self.world.waits(what, pause, why);
    }

    fn learn(&self, value: &Value) {
        self.world.learn(value);
    }

    fn recall(&self, snapshot: &Snapshot) {
        self.world.recall(snapshot);
    }

    fn random(&self) -> [u8; 16] {
        self.world.random()
    }

    fn working_directory(&self) -> Option<Name> {
        self.world.working_directory()
    }

    fn file<'a>(&'a self, folder: &'a str, path: &'a str) -> BoxFuture<'a, Result<Arc<[u8]>, SourceError>> {
        self.world.file(folder, path)
    }

    fn http<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<Arc<[u8]>, SourceError>> {
        self.world.http(url)
    }

    fn document<'a>(
        &'a self,
        request: &'a source::Request,
    ) -> BoxFuture<'a, Result<source::Document, source::SourceError>> {
        self.world.document(request)
    }

    fn source_kinds(&self) -> Vec<&'static source::Kind> {
        self.world.source_kinds()
    }

    fn check<'a>(
        &'a self,
        address: &'a Address,
        type_name: &'a TypeId,
        spec: &'a Value,
        folder: &'a str,
    ) -> BoxFuture<'a, Result<Checked, ProviderError>> {
        Box::pin(
            self.ask(type_name.package_name(), false, address, move || {
                self.world.check(address, type_name, spec, folder)
            }),
        )
    }

    fn read<'a>(&'a self, question: ReadQuestion<'a>) -> BoxFuture<'a, Result<ReadOutcome, ProviderError>> {
        let (type_name, address) = (question.type_name, question.address);
        Box::pin(self.ask(type_name.package_name(), true, address, move || self.world.read(question.clone())))
    }

    fn plan<'a>(&'a self, question: PlanQuestion<'a>) -> BoxFuture<'a, Result<Planned, ProviderError>> {
        let (type_name, address) = (question.type_name, question.address);
        Box::pin(self.ask(type_name.package_name(), false, address, move || self.world.plan(question.clone())))
    }

    fn preflight<'a>(&'a self, question: PreflightQuestion<'a>) -> BoxFuture<'a, Result<Preflight, ProviderError>> {
        let (type_name, address) = (question.type_name, question.address);
        Box::pin(self.ask(type_name.package_name(), false, address, move || self.world.preflight(question.clone())))
    }

    fn settings(&self, namespace: &str) -> Value {
        self.world.settings(namespace)
    }

    fn fetch<'a>(
        &'a self,
        type_name: &'a TypeId,
        filters: &'a [(Name, Name, Value)],
        annotations: &'a Value,
        folder: &'a str,
    ) -> BoxFuture<'a, Result<Fetched, ProviderError>> {
        Box::pin(async move {
            self.ask(type_name.package_name(), false, &type_name, || {
                self.world.fetch(type_name, filters, annotations, folder)
            })
            .await
        })
    }

    fn call<'a>(
        &'a self,
        namespace: &'a str,
        function: &'a str,
        arguments: &'a [Value],
    ) -> BoxFuture<'a, Result<Value, ProviderError>> {
        Box::pin(async move {
            self.ask(namespace, false, &function, || self.world.call(namespace, function, arguments)).await
        })
    }

    fn manages(&self, type_name: &TypeId) -> bool {
        self.world.manages(type_name)
    }

    fn transform<'a>(&'a self, name: &'a str, document: Document) -> BoxFuture<'a, Result<Document, TransformError>> {
        self.world.transform(name, document)
    }
}
