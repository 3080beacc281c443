//! Secret marks: `secret`, `unsecret`.

use super::function::{PartialArgument, PulumiFunction};

pub(super) const FUNCTIONS: &[PulumiFunction] = &[
    PulumiFunction {
        name: "secret",
        key: "fn::secret",
        items: None,
        call: |argument| Ok(argument.clone().secret()),
        parts: PartialArgument::Leaves,
        docs: "The value, marked as a secret.",
        examples: &[],
    },
    PulumiFunction {
        name: "unsecret",
        key: "fn::unsecret",
        items: None,
        call: |argument| Ok(argument.revealed()),
        parts: PartialArgument::Leaves,
        docs: "The value without its secret mark.",
        examples: &[],
    },
];
