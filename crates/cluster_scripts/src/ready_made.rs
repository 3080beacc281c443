//! The ready-made scripts, by the name of what they stand for.

use diag::FileId;

use crate::read::read;
use crate::script::Script;

/// The names and texts.
const READY_MADE: &[(&str, &str)] = &[
    ("conventions", include_str!("ready_made/conventions.yaml")),
    ("flux", include_str!("ready_made/flux.yaml")),
    (
        "kapp-controller",
        include_str!("ready_made/kapp-controller.yaml"),
    ),
    ("knative", include_str!("ready_made/knative.yaml")),
    ("kpack", include_str!("ready_made/kpack.yaml")),
    ("tekton", include_str!("ready_made/tekton.yaml")),
    ("workloads", include_str!("ready_made/workloads.yaml")),
];

/// The names of the ready-made scripts.
pub fn ready_made_names() -> impl Iterator<Item = &'static str> {
    READY_MADE.iter().map(|(name, _)| *name)
}

/// The text of ready-made scripts; `None` for a name that has none.
pub fn ready_made_text(name: &str) -> Option<&'static str> {
    let found = READY_MADE.iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| *text)
}

/// The ready-made scripts with this name; `None` if there are none.
pub fn ready_made(name: &str) -> Option<Vec<Script>> {
    let text = ready_made_text(name)?;
    Some(read(FileId::NONE, text).0)
}

#[cfg(test)]
mod tests {
    use diag::FileId;

    use super::READY_MADE;
    use crate::read::read;

    #[test]
    fn ready_made_scripts_are_valid() {
        for (name, text) in READY_MADE {
            let (scripts, found) = read(FileId::NONE, text);
            let messages: Vec<&str> = found.iter().map(|one| one.message.as_str()).collect();
            assert!(messages.is_empty(), "{name}: {messages:?}");
            assert_eq!(scripts.len(), text.split("---\n").count(), "{name}");
            assert!(
                scripts.iter().all(|script| !script.steps.is_empty()),
                "{name}"
            );
        }
    }
}
