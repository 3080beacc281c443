//! How the engine handles the answers of a provider: the fields of a read, opaque data,
//! diagnostics; and the settings of a provider that a document may change.

mod private_data;
mod refused;
mod remarks;
mod scripted;
mod settings;

/// A document with a box of these fields.
fn one_box(fields: &str) -> String {
    format!(
        "version: 2023-04-20\nresources:\n  a: {{ type: script/box, spec: {{ name: a, {fields} }} }}\n"
    )
}

/// A document without the box.
const WITHOUT_BOX: &str =
    "version: 2023-04-20\nresources:\n  b: { type: cyan/provider, spec: { namespace: script } }\n";
