//! What the engine makes of the answers of a provider: what was read, opaque data, diagnostics; what a
//! document may set of a provider.

mod private_data;
mod refused;
mod remarks;
mod scripted;
mod settings;

/// A document with a box of these fields.
fn one_box(fields: &str) -> String {
    format!("version: 2023-04-20\nresources:\n  a: {{ type: script/box, spec: {{ name: a, {fields} }} }}\n")
}

/// A document that has lost the box.
const WITHOUT_BOX: &str =
    "version: 2023-04-20\nresources:\n  b: { type: cyan/provider, spec: { namespace: script } }\n";
