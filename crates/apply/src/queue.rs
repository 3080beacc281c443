//! The queue of ready tasks.
//!
//! Without known durations the order is first in, first out. With known durations the task with the
//! most work behind it comes first (the critical path). Ties follow the order of the plan.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The rank of each task in milliseconds (see `ranks::compute`); `None` if no durations are known.
pub(super) type Ranks = Option<Box<[u64]>>;

/// Ready tasks.
pub(super) enum Queue {
    /// First in, first out.
    Line(VecDeque<u32>),
    /// Highest rank first.
    Heap(BinaryHeap<(u64, Reverse<u32>)>),
}

impl Queue {
    /// An empty queue. It is ordered by rank if ranks are known.
    pub(crate) fn new(ranks: &Ranks) -> Queue {
        match ranks {
            None => Queue::Line(VecDeque::new()),
            Some(_) => Queue::Heap(BinaryHeap::new()),
        }
    }

    /// Adds a task.
    pub(super) fn push_back(&mut self, task: u32, ranks: &Ranks) {
        match self {
            Queue::Line(line) => line.push_back(task),
            Queue::Heap(heap) => heap.push((rank(task, ranks), Reverse(task))),
        }
    }

    /// Puts a task back that was first in the queue.
    pub(super) fn push_front(&mut self, task: u32, ranks: &Ranks) {
        match self {
            Queue::Line(line) => line.push_front(task),
            Queue::Heap(heap) => heap.push((rank(task, ranks), Reverse(task))),
        }
    }

    /// Removes and returns the next task.
    pub(crate) fn pop(&mut self) -> Option<u32> {
        match self {
            Queue::Line(line) => line.pop_front(),
            Queue::Heap(heap) => heap.pop().map(|(_, Reverse(task))| task),
        }
    }
}

/// The rank of a task; 0 without known durations.
fn rank(task: u32, ranks: &Ranks) -> u64 {
    ranks
        .as_ref()
        .and_then(|ranks| ranks.get(task as usize).copied())
        .unwrap_or_default()
}
