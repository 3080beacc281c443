//! JSONPath as client-go of Kubernetes reads it: parser and evaluator over values.

#![warn(clippy::disallowed_methods, clippy::disallowed_types)]
