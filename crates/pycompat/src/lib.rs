//! Python's semantics of values: text, JSON, equality, truth, numbers and regular expressions.
//!
//! Heat is written in Python, and users can see that: `str(true)` is `True`, `1 == 1.0 == true`,
//! `-1 % 3` is 2. This crate implements these rules for [`blueprint::Value`], for dialects that
//! follow Python.
//!
//! An integer is [`Value::Int`](blueprint::Value::Int) if it fits 64 bits, otherwise
//! [`Value::Decimal`](blueprint::Value::Decimal) with its digits; NaN and the infinities are
//! [`Value::Float`](blueprint::Value::Float). Keys of maps are text. Functions ignore secret marks,
//! so the caller must restore them. An unknown value has a text for messages only.
//!
//! Not here: functions of Heat or yaql, and messages of Python for which Heat has its own.
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

mod equality;
mod json;
mod number;
mod pattern;
mod text;

pub use equality::{EqualityKey, contains, equal, truth};
pub use json::{JsonError, json, json_in_order, parse_json};
pub use num_bigint::{BigInt, Sign};
pub use number::{
    compare, digit, exact, exact_of_float, float, float_of_text, floor_divide, from_exact, integer,
    integer_of_text, is_integer, is_number, modulo, number_of_text,
};
pub use pattern::{Flags, Pattern, PatternError, PatternMatch, TooCostly};
pub use text::{
    float_text, is_space, repr, repr_text, split, split_at_spaces, text, trim, type_name,
};
