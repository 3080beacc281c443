//! What holds for all calls of one provider: how many at once, how often, and how they are made again.
//!
//! A lane is a provider with what its catalogue says. A task that finds its lane full is held in it, and goes on when an
//! answer or a wake-up makes room: nobody looks at all who wait. How often a provider is called is a bucket of tokens
//! that wake-ups fill, so there is no clock here.
//!
//! Not here: the calls themselves (`run`, `answer`, `ask`).

use std::collections::VecDeque;

use blueprint::{IndexMap, Name, TypeId};
use provider::{Catalogs, Rate, RetryPolicy};

use super::queue::{Queue, Ranks};
use crate::machine::{Apply, Effect, Wake};
use evaluate::questions::Question;
use understand::links::FixedMap;

/// All lanes, by the namespaces of their providers.
pub(super) struct Lanes {
    of: IndexMap<Name, u32>,
    all: Vec<Lane>,
    /// The lanes that the questions of a task go to.
    asking: FixedMap<u32, Vec<u32>>,
    /// Lanes whose buckets are to be filled.
    thirsty: Vec<u32>,
}

struct Lane {
    /// At most so many calls at once; 0 for no limit.
    most: usize,
    retries: RetryPolicy,
    in_flight: usize,
    bucket: Option<Bucket>,
    /// Tasks for which there is no room.
    held: Queue,
    /// Things that are to be looked at as soon as that is allowed.
    looks: VecDeque<u32>,
}

struct Bucket {
    rate: Rate,
    /// Below 0 where several questions went out together: later calls wait for them.
    tokens: i64,
    is_filling: bool,
}

impl Lane {
    fn may_call(&self) -> bool {
        self.bucket.as_ref().is_none_or(|bucket| bucket.tokens > 0)
    }

    fn is_full(&self) -> bool {
        self.most > 0 && self.in_flight >= self.most || !self.may_call()
    }
}

impl Lanes {
    pub(crate) fn new(catalogs: &Catalogs, ranks: &Ranks) -> Lanes {
        let mut lanes =
            Lanes { of: IndexMap::default(), all: Vec::new(), asking: FixedMap::default(), thirsty: Vec::new() };
        for catalog in catalogs.iter() {
            let number = lanes.all.len() as u32;
            for namespace in &catalog.namespaces {
                lanes.of.entry(namespace.clone()).or_insert(number);
            }
            let bucket = |rate: Rate| Bucket { rate, tokens: i64::from(rate.burst), is_filling: false };
            lanes.all.push(Lane {
                most: catalog.max_parallel as usize,
                retries: catalog.retries,
                in_flight: 0,
                bucket: catalog.rate.map(bucket),
                held: Queue::new(ranks),
                looks: VecDeque::new(),
            });
        }
        lanes
    }

    /// The lane of a package.
    fn of(&self, package: &str) -> Option<u32> {
        self.of.get(package).copied()
    }

    /// How calls to the provider of a package are made again.
    pub(crate) fn policy(&self, package: &str) -> RetryPolicy {
        self.of(package).map_or_else(RetryPolicy::default, |lane| self.all[lane as usize].retries)
    }

    fn enter(&mut self, lane: u32) {
        self.all[lane as usize].in_flight += 1;
        self.spend(lane);
    }

    /// A call is made: a token less.
    fn spend(&mut self, lane: u32) {
        let Some(bucket) = &mut self.all[lane as usize].bucket else { return };
        bucket.tokens -= 1;
        if !std::mem::replace(&mut bucket.is_filling, true) {
            self.thirsty.push(lane);
        }
    }

    fn leave(&mut self, lane: u32) {
        let lane = &mut self.all[lane as usize];
        lane.in_flight = lane.in_flight.saturating_sub(1);
    }

    /// Puts tokens back; goes on with that until the bucket is full.
    fn fill(&mut self, number: u32) {
        let Some(bucket) = &mut self.all[number as usize].bucket else { return };
        let most = i64::from(bucket.rate.burst);
        bucket.tokens = (bucket.tokens + i64::from(bucket.rate.refill().1)).min(most);
        bucket.is_filling = bucket.tokens < most;
        if bucket.is_filling {
            self.thirsty.push(number);
        }
    }
}

impl Apply {
    fn lane_of(&self, task: u32) -> Option<u32> {
        let decided = self.plan.tasks[task as usize].decision.as_ref()?;
        self.lanes.of(decided.type_name.package_name())
    }

    /// Whether the provider of a task has room for it. If not, the task is held until it has.
    pub(super) fn held_back(&mut self, task: u32) -> bool {
        let Some(lane) = self.lane_of(task).filter(|lane| self.lanes.all[*lane as usize].is_full()) else {
            return false;
        };
        self.lanes.all[lane as usize].held.push_back(task, &self.ranks);
        true
    }

    /// The place that a task did not take, because it needed no call, goes to the next one that its provider has no room
    /// for.
    pub(super) fn let_in(&mut self, task: u32) {
        if let Some(lane) = self.lane_of(task) {
            self.let_next_in(lane);
        }
    }

    fn let_next_in(&mut self, lane: u32) -> bool {
        let lane = &mut self.lanes.all[lane as usize];
        let next = if lane.is_full() { None } else { lane.held.pop() };
        if let Some(next) = next {
            self.ready.push_front(next, &self.ranks);
        }
        next.is_some()
    }

    /// A task takes room from now on, until [`Apply::vacate`].
    pub(super) fn occupy(&mut self, task: u32) {
        self.in_flight += 1;
        if let Some(lane) = self.lane_of(task) {
            self.lanes.enter(lane);
        }
    }

    /// Questions of a task take room with those who are asked; if one of them has none, the task is held there.
    pub(super) fn occupy_asking(&mut self, task: u32, questions: &[Question]) -> bool {
        let mut lanes: Vec<u32> = questions.iter().filter_map(|it| self.lanes.of(it.namespace()?)).collect();
        if let Some(full) = lanes.iter().find(|lane| self.lanes.all[**lane as usize].is_full()) {
            self.lanes.all[*full as usize].held.push_back(task, &self.ranks);
            return false;
        }
        lanes.iter().for_each(|lane| self.lanes.spend(*lane));
        lanes.sort_unstable();
        lanes.dedup();
        lanes.iter().for_each(|lane| self.lanes.all[*lane as usize].in_flight += 1);
        self.in_flight += 1;
        self.lanes.asking.insert(task, lanes);
        true
    }

    /// Questions of the exported values count with those who are asked; they wait for nobody.
    pub(super) fn spend_asking(&mut self, questions: &[Question]) {
        for lane in questions.iter().filter_map(|it| self.lanes.of(it.namespace()?)).collect::<Vec<_>>() {
            self.lanes.spend(lane);
        }
    }

    /// A task takes no room any more: the next ones may come.
    pub(super) fn vacate(&mut self, task: u32) {
        self.in_flight = self.in_flight.saturating_sub(1);
        let lanes = match self.lanes.asking.remove(&task) {
            Some(lanes) => lanes,
            None => self.lane_of(task).into_iter().collect(),
        };
        for lane in lanes {
            self.lanes.leave(lane);
            self.let_next_in(lane);
        }
    }

    /// Whether a thing may be looked at now; if not, it is as soon as that is allowed.
    pub(super) fn may_look(&mut self, task: u32, type_name: &TypeId) -> bool {
        let Some(lane) = self.lanes.of(type_name.package_name()) else { return true };
        if !self.lanes.all[lane as usize].may_call() {
            self.lanes.all[lane as usize].looks.push_back(task);
            return false;
        }
        self.lanes.spend(lane);
        true
    }

    /// A bucket is filled: who was held goes on, calls and looks in turn.
    pub(super) fn refilled(&mut self, lane: u32, effects: &mut Vec<Effect>) {
        self.lanes.fill(lane);
        let of = &self.lanes.all[lane as usize];
        let mut room = of.bucket.as_ref().map_or(0, |bucket| bucket.tokens);
        let mut places = if of.most > 0 { of.most.saturating_sub(of.in_flight) } else { usize::MAX };
        loop {
            let before = room;
            if room > 0 && places > 0 && !self.stopping && self.let_next_in(lane) {
                (room, places) = (room - 1, places - 1);
            }
            let look = if room > 0 { self.lanes.all[lane as usize].looks.pop_front() } else { None };
            if let Some(look) = look {
                self.look(look, effects);
                room -= 1;
            }
            if room == before {
                break;
            }
        }
    }

    /// Sees to it that buckets are filled that have given something away.
    pub(super) fn fill_buckets(&mut self, effects: &mut Vec<Effect>) {
        while let Some(lane) = self.lanes.thirsty.pop() {
            let Some(bucket) = &self.lanes.all[lane as usize].bucket else { continue };
            let (after, _) = bucket.rate.refill();
            let number = self.wake(Wake::Refill(lane));
            effects.push(Effect::Wake(number, after));
        }
    }
}
