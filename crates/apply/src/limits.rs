//! Limits of calls: the number of concurrent calls, the number and rate of calls to each provider,
//! and the retries of failed calls.
//!
//! Each provider has a queue. A task that finds no free slot at its provider waits in that queue.
//! An answer or a wake-up that frees a slot takes the next task from the queue, so waiting tasks
//! are never scanned. Wake-ups refill the token bucket of a provider, so there is no clock here.
//!
//! Not here: the calls themselves (`calling`, `asking`).

use std::collections::VecDeque;
use std::time::Duration;

use blueprint::{IndexMap, Name, TypeId};
use evaluate::evaluation_question::EvaluationQuestion;
use plan::task::Task;
use provider::{Catalogs, Rate, RetryPolicy, TokenBucket};
use understand::links::DeterministicMap;

use crate::model::Effect;
use crate::queue::{Queue, Ranks};
use crate::schedule::Schedule;
use crate::timers::{Timers, Wake};

/// The limits of an operation's calls.
pub(crate) struct CallLimits {
    /// The number of tasks between intent and answer. Each takes a call slot.
    in_flight: usize,
    /// The number of pending calls and questions.
    calling: usize,
    /// The number of a provider's queue, by namespace.
    by_namespace: IndexMap<Name, u32>,
    providers: Vec<ProviderLimits>,
    /// The providers that the questions of a task go to.
    asking: DeterministicMap<u32, Vec<u32>>,
    /// Providers whose buckets have to be refilled.
    refilling: Vec<u32>,
}

/// The limits of one provider's calls.
struct ProviderLimits {
    /// Maximum number of concurrent calls; 0 for no limit.
    most: usize,
    retries: RetryPolicy,
    in_flight: usize,
    limiter: Option<RateLimiter>,
    /// Tasks that wait for a free slot.
    waiting_tasks: Queue,
    /// Resources whose readiness is polled as soon as the rate allows it.
    polls: VecDeque<u32>,
}

/// A token bucket whose time advances with its refill timers.
struct RateLimiter {
    bucket: TokenBucket,
    /// The sum of the refill intervals that have passed.
    time: Duration,
    /// Whether a refill timer is set, or is about to be set.
    is_filling: bool,
}

impl RateLimiter {
    fn new(rate: Rate) -> RateLimiter {
        RateLimiter {
            bucket: TokenBucket::new(rate),
            time: Duration::ZERO,
            is_filling: false,
        }
    }

    /// The number of available tokens. Negative after several questions were sent together: later
    /// calls wait until it is positive.
    fn tokens(&self) -> i64 {
        self.bucket.tokens(self.time)
    }

    /// Takes a token. Returns whether a refill timer must be set.
    fn take(&mut self) -> bool {
        self.bucket.take(self.time);
        !std::mem::replace(&mut self.is_filling, true)
    }

    /// Adds the tokens of a refill interval. Returns whether another refill timer must be set.
    fn refill(&mut self) -> bool {
        self.time += self.bucket.rate().refill_interval();
        self.is_filling = !self.bucket.is_full(self.time);
        self.is_filling
    }
}

impl ProviderLimits {
    fn may_call(&self) -> bool {
        self.limiter
            .as_ref()
            .is_none_or(|limiter| limiter.tokens() > 0)
    }

    fn is_full(&self) -> bool {
        self.most > 0 && self.in_flight >= self.most || !self.may_call()
    }
}

impl CallLimits {
    /// Returns the limits that the catalogues of providers state.
    pub(crate) fn new(catalogs: &Catalogs, ranks: &Ranks) -> CallLimits {
        let mut limits = CallLimits {
            in_flight: 0,
            calling: 0,
            by_namespace: IndexMap::default(),
            providers: Vec::new(),
            asking: DeterministicMap::default(),
            refilling: Vec::new(),
        };
        for catalog in catalogs.opened() {
            let number = limits.providers.len() as u32;
            for namespace in catalog.keys() {
                limits
                    .by_namespace
                    .entry(namespace.clone())
                    .or_insert(number);
            }
            limits.providers.push(ProviderLimits {
                most: catalog.max_parallel as usize,
                retries: catalog.retries,
                in_flight: 0,
                limiter: catalog.rate.map(RateLimiter::new),
                waiting_tasks: Queue::new(ranks),
                polls: VecDeque::new(),
            });
        }
        limits
    }

    /// The index of a package's provider; `None` if no opened catalogue has the package.
    fn of(&self, package: &str) -> Option<u32> {
        self.by_namespace.get(package).copied()
    }

    fn of_task(&self, task: &Task) -> Option<u32> {
        self.of(task.decision.as_ref()?.type_name.package_name())
    }

    /// The rules by which calls to the provider of a package are retried.
    pub(crate) fn policy(&self, package: &str) -> RetryPolicy {
        self.of(package).map_or_else(RetryPolicy::default, |at| {
            self.providers[at as usize].retries
        })
    }

    /// The number of tasks between intent and answer.
    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// The number of pending calls and questions.
    pub(crate) fn calling(&self) -> usize {
        self.calling
    }

    /// Counts a call or a question that is sent.
    pub(crate) fn count_call(&mut self) {
        self.calling += 1;
    }

    /// Counts an answer.
    pub(crate) fn count_answer(&mut self) {
        self.calling = self.calling.saturating_sub(1);
    }

    /// Takes a token for a call.
    fn spend(&mut self, at: u32) {
        if self.providers[at as usize]
            .limiter
            .as_mut()
            .is_some_and(RateLimiter::take)
        {
            self.refilling.push(at);
        }
    }

    /// Adds the tokens of a refill interval. Schedules another refill unless the bucket is full.
    fn fill(&mut self, at: u32) {
        if self.providers[at as usize]
            .limiter
            .as_mut()
            .is_some_and(RateLimiter::refill)
        {
            self.refilling.push(at);
        }
    }

    /// Whether the provider of a task has no free slot. If so, the task is added to the provider's
    /// queue.
    pub(crate) fn queue_if_full(&mut self, number: u32, task: &Task, ranks: &Ranks) -> bool {
        let Some(at) = self
            .of_task(task)
            .filter(|at| self.providers[*at as usize].is_full())
        else {
            return false;
        };
        self.providers[at as usize]
            .waiting_tasks
            .push_back(number, ranks);
        true
    }

    /// Passes the slot of a task that needed no call to the next task of its provider.
    pub(crate) fn release_next(&mut self, task: &Task, schedule: &mut Schedule) {
        if let Some(at) = self.of_task(task) {
            self.release_held(at, schedule);
        }
    }

    /// Takes the next task out of a provider's queue and makes it ready, if the provider has a free
    /// slot. Returns whether there was such a task.
    fn release_held(&mut self, at: u32, schedule: &mut Schedule) -> bool {
        let provider = &mut self.providers[at as usize];
        let next = if provider.is_full() {
            None
        } else {
            provider.waiting_tasks.pop()
        };
        if let Some(next) = next {
            schedule.enqueue_first(next);
        }
        next.is_some()
    }

    /// Takes a slot for a task, until [`CallLimits::vacate`].
    pub(crate) fn occupy(&mut self, task: &Task) {
        self.in_flight += 1;
        if let Some(at) = self.of_task(task) {
            self.providers[at as usize].in_flight += 1;
            self.spend(at);
        }
    }

    /// Takes slots at all providers that the questions of a task go to. If one provider has no free
    /// slot, the task waits in its queue, and the result is false.
    pub(crate) fn occupy_asking(
        &mut self,
        number: u32,
        questions: &[EvaluationQuestion],
        ranks: &Ranks,
    ) -> bool {
        let mut asked: Vec<u32> = questions
            .iter()
            .filter_map(|it| self.of(it.namespace()?))
            .collect();
        if let Some(full) = asked
            .iter()
            .find(|at| self.providers[**at as usize].is_full())
        {
            self.providers[*full as usize]
                .waiting_tasks
                .push_back(number, ranks);
            return false;
        }
        asked.iter().for_each(|at| self.spend(*at));
        asked.sort_unstable();
        asked.dedup();
        asked
            .iter()
            .for_each(|at| self.providers[*at as usize].in_flight += 1);
        self.in_flight += 1;
        self.asking.insert(number, asked);
        true
    }

    /// Takes tokens for questions of the exported values. They need no slot.
    pub(crate) fn spend_asking(&mut self, questions: &[EvaluationQuestion]) {
        for at in questions
            .iter()
            .filter_map(|it| self.of(it.namespace()?))
            .collect::<Vec<_>>()
        {
            self.spend(at);
        }
    }

    /// Releases the slots of a task. The next tasks of its providers may start.
    pub(crate) fn vacate(&mut self, number: u32, task: &Task, schedule: &mut Schedule) {
        self.in_flight = self.in_flight.saturating_sub(1);
        let left = match self.asking.remove(&number) {
            Some(asked) => asked,
            None => self.of_task(task).into_iter().collect(),
        };
        for at in left {
            let provider = &mut self.providers[at as usize];
            provider.in_flight = provider.in_flight.saturating_sub(1);
            self.release_held(at, schedule);
        }
    }

    /// Takes a token for a poll if the rate allows a poll now; otherwise queues the poll. Returns
    /// whether it may be made now.
    pub(crate) fn take_poll_token(&mut self, number: u32, type_name: &TypeId) -> bool {
        let Some(at) = self.of(type_name.package_name()) else {
            return true;
        };
        if !self.providers[at as usize].may_call() {
            self.providers[at as usize].polls.push_back(number);
            return false;
        }
        self.spend(at);
        true
    }

    /// Refills the bucket of a provider and resumes held tasks and polls alternately. Held tasks
    /// become ready if `may_start` is set. Returns the tasks to poll.
    pub(crate) fn refill(&mut self, at: u32, schedule: &mut Schedule, may_start: bool) -> Vec<u32> {
        self.fill(at);
        let provider = &self.providers[at as usize];
        let mut room = provider.limiter.as_ref().map_or(0, RateLimiter::tokens);
        let mut places = if provider.most > 0 {
            provider.most.saturating_sub(provider.in_flight)
        } else {
            usize::MAX
        };
        let mut polls = Vec::new();
        loop {
            let before = room;
            if room > 0 && places > 0 && may_start && self.release_held(at, schedule) {
                (room, places) = (room - 1, places - 1);
            }
            let poll = if room > 0 {
                self.providers[at as usize].polls.pop_front()
            } else {
                None
            };
            if let Some(poll) = poll {
                polls.push(poll);
                room -= 1;
            }
            if room == before {
                return polls;
            }
        }
    }

    /// Sets the wake-ups that refill the buckets from which tokens were taken.
    pub(crate) fn set_refills(&mut self, timers: &mut Timers, effects: &mut Vec<Effect>) {
        while let Some(at) = self.refilling.pop() {
            let Some(limiter) = &self.providers[at as usize].limiter else {
                continue;
            };
            timers.wake(
                Wake::Refill(at),
                limiter.bucket.rate().refill_interval(),
                effects,
            );
        }
    }
}
