//! The phase `evaluate` on the harness: what the answers of the world make of a document.

mod children;
mod custom_types;
mod data_sources;
mod functions;
mod mixed_dialects;
mod transforms;
mod worlds;
