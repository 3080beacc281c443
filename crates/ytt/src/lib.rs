//! Templates of ytt: parser and evaluator with limits.

#![warn(clippy::disallowed_methods, clippy::disallowed_types)]
