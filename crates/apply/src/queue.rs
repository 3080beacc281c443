//! Tasks that could begin now, in the order in which they will.
//!
//! Without history that is the order in which they became ready. Where earlier operations have told how long things take,
//! those come first behind which the most work waits (the critical path), ties in the order of the plan.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// How much work a task and what waits for it take, by task, in milliseconds; nothing where no durations are known.
pub(super) type Ranks = Option<Box<[u64]>>;

/// Tasks in line.
pub(super) enum Queue {
    /// First come, first served.
    Line(VecDeque<u32>),
    /// By rank.
    Heap(BinaryHeap<(u64, Reverse<u32>)>),
}

impl Queue {
    /// An empty queue that serves by these ranks.
    pub(crate) fn new(ranks: &Ranks) -> Queue {
        match ranks {
            None => Queue::Line(VecDeque::new()),
            Some(_) => Queue::Heap(BinaryHeap::new()),
        }
    }

    /// A task comes in.
    pub(super) fn push_back(&mut self, task: u32, ranks: &Ranks) {
        match self {
            Queue::Line(line) => line.push_back(task),
            Queue::Heap(heap) => heap.push((rank(task, ranks), Reverse(task))),
        }
    }

    /// A task that was first in line comes back.
    pub(super) fn push_front(&mut self, task: u32, ranks: &Ranks) {
        match self {
            Queue::Line(line) => line.push_front(task),
            Queue::Heap(heap) => heap.push((rank(task, ranks), Reverse(task))),
        }
    }

    /// The one whose turn it is.
    pub(crate) fn pop(&mut self) -> Option<u32> {
        match self {
            Queue::Line(line) => line.pop_front(),
            Queue::Heap(heap) => heap.pop().map(|(_, Reverse(task))| task),
        }
    }
}

/// The rank of a task; 0 without history.
fn rank(task: u32, ranks: &Ranks) -> u64 {
    ranks.as_ref().and_then(|ranks| ranks.get(task as usize).copied()).unwrap_or_default()
}
