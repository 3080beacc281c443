//! Asks providers questions while a plan is made, within the limits of each provider, and retries
//! after temporary failures (decisions/apply#retries).
//!
//! A plan asks through [`RetryingWorld`]. While a plan is applied, the crate `apply` schedules
//! calls by the same policies.

use std::sync::{Arc, Mutex, PoisonError};

use blueprint::{IndexMap, Name};
use diag::Diagnostic;
use provider::{
    BoxFuture, Catalogs, ErrorKind, ProviderDiagnostic, ProviderError, RetryPolicy, TokenBucket,
};
use tokio::sync::Semaphore;

use crate::codes;
use crate::question::{ProviderQuestion, ProviderRequest, Question, Reply, Retry};
use crate::world::{Environment, World};

/// Maximum number of concurrent questions, if a provider sets no lower limit.
pub const AT_ONCE: usize = 128;

/// The diagnostic code for an error of a provider. Errors that remain after all retries have a code
/// of their own.
pub fn code_of(error: &ProviderError) -> &'static diag::Code {
    if error.kind.is_retryable() {
        &codes::RETRIES_EXHAUSTED
    } else {
        &codes::PROVIDER_FAILED
    }
}

/// The diagnostic for an error of a provider, without a place. `what` says in one line what failed.
/// If the session of the provider failed, the diagnostic is about the provider, and a collection
/// keeps it only once.
pub fn failure(error: &ProviderError, what: impl FnOnce() -> String) -> Diagnostic {
    // The message is also one of the diagnostics.
    let others = error
        .diagnostics
        .iter()
        .map(ProviderDiagnostic::text)
        .filter(|text| *text != error.message);
    let Some(failed) = &error.session else {
        let mut diagnostic = code_of(error).new(what()).note(error.message.clone());
        diagnostic.notes.extend(others);
        return diagnostic;
    };
    let provider = &failed.provider;
    let refused = matches!(error.kind, ErrorKind::Document | ErrorKind::Credentials);
    let mut diagnostic = if refused {
        codes::PROVIDER_SETTINGS.new(format!(
            "the provider `{provider}` does not accept its settings"
        ))
    } else {
        code_of(error).new(format!("the provider `{provider}` cannot be used"))
    };
    diagnostic = diagnostic.note(error.message.clone());
    diagnostic.notes.extend(others);
    if let Some(place) = &failed.settings {
        diagnostic = diagnostic.note(format!("its settings are at {place}"));
    } else if refused {
        diagnostic = diagnostic.note("no settings of it are written");
    }
    diagnostic.once()
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
                concurrency: Semaphore::new(max_concurrent(catalog.max_parallel)),
                rate: catalog.rate.map(|rate| Mutex::new(TokenBucket::new(rate))),
            });
            for namespace in catalog.keys() {
                limits
                    .entry(namespace.clone())
                    .or_insert_with(|| of_provider.clone());
            }
        }
        RetryingWorld { world, limits }
    }

    /// Asks until there is an answer, a permanent error, or no retry left.
    async fn ask_until_answered(
        &self,
        question: ProviderQuestion<'_>,
        limits: &ProviderLimits,
    ) -> Reply {
        // A refresh limits the number of its concurrent reads itself.
        let is_limited_by_caller = matches!(question.request, ProviderRequest::Read(_));
        let mut retries = 0;
        loop {
            let reply = {
                // The semaphore is never closed, so there is always a permit.
                let _permit = if is_limited_by_caller {
                    None
                } else {
                    limits.concurrency.acquire().await.ok()
                };
                if let Some(rate) = &limits.rate {
                    let now = self.world.environment().elapsed();
                    let pause = rate
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .take(now);
                    if !pause.is_zero() {
                        self.world.pause(pause, None).await;
                    }
                }
                self.world.ask(Question::Provider(question)).await
            };
            let Reply::Provider(Err(error)) = &reply else {
                return reply;
            };
            let what = question.subject.to_string();
            let Some(pause) = limits.retries.next_pause(error, retries, &what) else {
                return reply;
            };
            self.world
                .pause(
                    pause,
                    Some(Retry {
                        what: &what,
                        why: &error.message,
                    }),
                )
                .await;
            retries += 1;
        }
    }
}

/// The number of concurrent questions to a provider. `max_parallel` is the provider's limit, 0 for
/// none.
pub fn max_concurrent(max_parallel: u32) -> usize {
    if max_parallel == 0 {
        AT_ONCE
    } else {
        AT_ONCE.min(max_parallel as usize)
    }
}

impl World for RetryingWorld<'_> {
    fn ask<'a>(&'a self, question: Question<'a>) -> BoxFuture<'a, Reply> {
        let Question::Provider(asked) = question else {
            return self.world.ask(question);
        };
        let Some(limits) = self.limits.get(asked.namespace) else {
            return self.world.ask(question);
        };
        Box::pin(self.ask_until_answered(asked, limits))
    }

    fn environment(&self) -> &dyn Environment {
        self.world.environment()
    }
}
