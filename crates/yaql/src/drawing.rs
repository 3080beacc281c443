//! What an expression cannot know by itself: the time, and chance.

use blueprint::Value;

/// What is to be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Draw {
    /// The time, as [`Value::Int`]: microseconds since the beginning of 1970, UTC.
    Now,
    /// A number from 0, included, to 1, excluded, as [`Value::Float`].
    Random,
}

/// Where in an expression something is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Site {
    /// The how-manieth call of the expression it is, in the order in which they are written, from 0.
    pub call: u32,
    /// The how-manieth number that this call draws, from 0: a call for each item of a list draws several. Time is
    /// drawn once for each call.
    pub turn: u32,
}

/// Something that must be drawn before there can be a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Question {
    /// Where.
    pub site: Site,
    /// What.
    pub what: Draw,
}

/// Who draws for an expression, and remembers what was drawn: the same site must be given the same value each time (D15).
pub trait Drawing {
    /// What was drawn at a site; `None` if it has not been, which stops the evaluation with [`crate::Stop::Ask`].
    fn drawn(&mut self, site: Site, what: Draw) -> Option<Value>;
}

/// Draws nothing: an expression that uses `now` or `random` stops with [`crate::Stop::Ask`].
#[derive(Clone, Copy, Debug, Default)]
pub struct NothingDrawn;

impl Drawing for NothingDrawn {
    fn drawn(&mut self, _: Site, _: Draw) -> Option<Value> {
        None
    }
}
