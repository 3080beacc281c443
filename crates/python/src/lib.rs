//! What Python means by a value: its text, its JSON, when two are equal, what is true, how a text becomes a number.
//!
//! Heat is written in Python, and what its users see depends on it: `str(true)` is `True`, `1 == 1.0 == true`, `-1 % 3` is 2.
//! This crate is those facts over [`blueprint::Value`], each once, for whoever lowers or evaluates such a language.
//!
//! Values are taken as they are: an integer is [`Value::Int`](blueprint::Value::Int) where it fits and else
//! [`Value::Decimal`](blueprint::Value::Decimal) holding its digits; NaN and the infinities are
//! [`Value::Float`](blueprint::Value::Float). Keys of maps are texts. A secret mark is looked through, so a caller that must
//! keep secrets does so itself; an unknown value has a text only for messages.
//!
//! Not here: any function of Heat or yaql, and Python's words for errors where Heat has words of its own.
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

mod equality;
mod json;
mod number;
mod pattern;
mod text;

pub use equality::{Key, contains, equal, truth};
pub use json::{JsonError, json, json_in_order, parse_json};
pub use num_bigint::{BigInt, Sign};
pub use number::{
    compare, digit, exact, exact_of_float, float, float_of_text, floor_divide, from_exact, integer, integer_of_text,
    is_integer, is_number, modulo, number_of_text,
};
pub use pattern::{Flags, Match, Pattern, PatternError, TooCostly};
pub use text::{float_text, is_space, repr, repr_text, split, split_at_spaces, text, trim, type_name};
