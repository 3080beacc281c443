//! Which instance a document belongs to, and which one a command without a document means.
//!
//! In order of strength: the flag or the configuration; the name that the document states; the instance of the derived
//! name, if it was deployed from this document; the one instance that was; a new one of the derived name. Where that
//! would be a second instance beside one whose document is gone, a person decides: the document may have been renamed.
//!
//! Not here: who may write to an instance (`state`), and what a document means (`dialects`).

use std::path::Path;

use diag::{Diagnostic, FileId};
use state::{InstanceInfo, InstanceName, OperationOutcome};

use crate::arguments::{Global, Which};
use crate::exit::CommandError;
use crate::setup::{Document, Setup, Source, folder_of, nearest_folder, read_text, relative, whole};
use crate::view::report::Report;

/// What stands for the path of standard input in a state.
const STANDARD_INPUT: &str = "-";

/// What is known of a document that says which instance is its own.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    /// Its path, relative to the state; `-` for standard input.
    path: String,
    /// The name that it states.
    stated: Option<InstanceName>,
    /// The name that its file or its folder gives.
    derived: InstanceName,
}

/// The instance of a document.
#[derive(Clone, Debug, PartialEq)]
enum Found {
    /// This one, which is there or would be new.
    Instance(InstanceName),
    /// The document has several, and none has its name.
    Several(Vec<InstanceName>),
    /// The name belongs to another document, which is there.
    Taken {
        /// The name.
        instance: InstanceName,
        /// The other document.
        by: String,
    },
    /// It has none, and the documents of these are gone: it may be one of them under a new name.
    Lost(Vec<(InstanceName, String)>),
}

impl Identity {
    /// Of a document that was read and checked.
    fn of(document: &Document, setup: &Setup) -> Identity {
        let blueprint = document.checked.as_ref().map(|checked| &checked.blueprint);
        let stated = blueprint.and_then(|blueprint| blueprint.instance.as_ref()).map(|name| &*name.item);
        Identity::new(document.source.path.as_deref(), &document.source.folder, stated, setup)
    }

    /// Of a document that is only named. One that cannot be read states nothing.
    pub(crate) fn of_file(path: &Path, setup: &Setup) -> Identity {
        Identity::new(Some(path), &folder_of(path), stated_in(path).as_deref(), setup)
    }

    fn new(path: Option<&Path>, folder: &Path, stated: Option<&str>, setup: &Setup) -> Identity {
        let relative = |path: &Path| relative(&setup.place.base(), &whole(path));
        Identity {
            path: path.map_or_else(|| STANDARD_INPUT.to_owned(), relative),
            stated: stated.and_then(|name| name.parse().ok()),
            derived: derived(path, folder),
        }
    }

    /// The instance among all that are there, where `exists` says whether a document is.
    fn find(&self, all: &[InstanceInfo], exists: impl Fn(&str) -> bool) -> Found {
        let named = |name: &InstanceName| all.iter().find(|info| info.name == *name && is_used(info));
        if let Some(name) = &self.stated {
            return match named(name).filter(|info| self.differs(info) && exists(&info.document)) {
                Some(info) => Found::Taken { instance: name.clone(), by: info.document.to_string() },
                None => Found::Instance(name.clone()),
            };
        }
        let own = named(&self.derived);
        if self.path == STANDARD_INPUT {
            return match own.filter(|info| self.differs(info)) {
                Some(info) => Found::Taken { instance: info.name.clone(), by: info.document.to_string() },
                None => Found::Instance(self.derived.clone()),
            };
        }
        if own.is_some_and(|info| !self.differs(info)) {
            return Found::Instance(self.derived.clone());
        }
        let recorded: Vec<&InstanceInfo> =
            all.iter().filter(|info| is_used(info) && *info.document == *self.path).collect();
        match recorded.as_slice() {
            [] => {}
            [one] => return Found::Instance(one.name.clone()),
            many => return Found::Several(many.iter().map(|info| info.name.clone()).collect()),
        }
        if let Some(info) = own.filter(|info| &*info.document == STANDARD_INPUT || exists(&info.document)) {
            return Found::Taken { instance: info.name.clone(), by: info.document.to_string() };
        }
        let is_lost = |info: &&InstanceInfo| {
            is_used(info) && !info.document.is_empty() && &*info.document != STANDARD_INPUT && !exists(&info.document)
        };
        let lost: Vec<(InstanceName, String)> =
            all.iter().filter(is_lost).map(|info| (info.name.clone(), info.document.to_string())).collect();
        if lost.is_empty() { Found::Instance(self.derived.clone()) } else { Found::Lost(lost) }
    }

    /// Whether an instance was deployed from another document.
    fn differs(&self, info: &InstanceInfo) -> bool {
        !info.document.is_empty() && *info.document != *self.path
    }
}

/// Whether an instance has anything, or may have: a name whose resources are all gone is free.
fn is_used(info: &InstanceInfo) -> bool {
    info.records > 0 || matches!(&info.last, Some((_, None)))
}

/// The name that a file gives its instance: its own, or its folder's.
fn derived(path: Option<&Path>, folder: &Path) -> InstanceName {
    let own = path.and_then(Path::file_name).and_then(|name| name.to_str()).and_then(|name| {
        let stem = name.strip_suffix(".blueprint").or_else(|| name.rsplit_once('.')?.0.strip_suffix(".blueprint"))?;
        Some(stem.to_owned()).filter(|stem| !stem.is_empty())
    });
    let folder = || folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    InstanceName::from_free_text(&own.unwrap_or_else(folder))
}

/// The name that the document in a file states.
fn stated_in(path: &Path) -> Option<String> {
    let text = read_text(path).ok()?;
    let name = path.file_name()?.to_str()?;
    let file = FileId::new(0);
    let (tree, _) = syntax::parse(file, &text, syntax::Format::of_name(name));
    let document = dialects::Document { file, name, text: &text, tree: &tree, around: &Default::default() };
    let lowered =
        dialects::Dialects::BUILT_IN.of(&document)?.lower(&document, &Default::default(), &Default::default());
    lowered.blueprint.instance.map(|stated| stated.item.to_string())
}

/// The instance of a document that was read: the one that it is or will be deployed as.
pub(crate) async fn of_document(
    named: Option<&InstanceName>,
    document: &Document,
    setup: &Setup,
    report: &mut Report,
) -> Result<InstanceName, CommandError> {
    if let Some(name) = named.or(setup.config.instance.as_ref()) {
        return Ok(name.clone());
    }
    let identity = Identity::of(document, setup);
    let all = setup.reading().instances().await?;
    let found = identity.find(&all, exists_in(setup));
    if let Found::Instance(instance) = &found
        && identity.stated.is_none()
        && *instance != identity.derived
    {
        report.terminal.say(format!("This document belongs to the instance `{instance}`."));
    }
    settled(found, &identity, setup, report)
}

/// The same for a document that need not be readable; its instance need not be there yet.
pub(crate) async fn of_file(path: &Path, setup: &Setup, report: &mut Report) -> Result<InstanceName, CommandError> {
    let identity = Identity::of_file(path, setup);
    let all = setup.reading().instances().await?;
    settled(identity.find(&all, exists_in(setup)), &identity, setup, report)
}

fn exists_in(setup: &Setup) -> impl Fn(&str) -> bool {
    let base = setup.place.base();
    move |document| base.join(document).exists()
}

/// One instance, or why it has to be named; a person is asked where one may be the document's own of before.
fn settled(
    found: Found,
    identity: &Identity,
    setup: &Setup,
    report: &mut Report,
) -> Result<InstanceName, CommandError> {
    match found {
        Found::Instance(name) => Ok(name),
        Found::Several(names) => {
            Err(CommandError::SeveralInstances { names: names.iter().map(ToString::to_string).collect() })
        }
        Found::Taken { instance, by } => Err(CommandError::Diagnosed(Box::new(taken(&instance, &by, identity)))),
        Found::Lost(lost) => {
            let may_ask = report.terminal.can_ask() && !report.has_consent && !setup.config.yes;
            let [(old, document)] = lost.as_slice() else {
                return Err(CommandError::Unanswered(Box::new(moved(&lost, identity))));
            };
            if !may_ask {
                return Err(CommandError::Unanswered(Box::new(moved(&lost, identity))));
            }
            report.terminal.say(format!("The instance `{old}` was deployed from `{document}`, which is gone."));
            if report.terminal.confirm(&format!("Is `{}` that document under its new name?", identity.path)) {
                return Ok(old.clone());
            }
            if *old == identity.derived {
                return Err(CommandError::Diagnosed(Box::new(taken(old, document, identity))));
            }
            report.terminal.say(format!("Then `{}` is a new instance.", identity.derived));
            Ok(identity.derived.clone())
        }
    }
}

fn taken(instance: &InstanceName, by: &str, identity: &Identity) -> Diagnostic {
    engine::codes::INSTANCE_DOCUMENT_DIFFERS
        .new(format!("the name `{instance}` belongs to another document"))
        .note(format!("it was deployed from `{by}`, this document is `{}`", identity.path))
        .help(format!(
            "choose another name with `--instance`, or say `--instance {instance}` if it is meant to take over"
        ))
}

fn moved(lost: &[(InstanceName, String)], identity: &Identity) -> Diagnostic {
    let Identity { path, derived, .. } = identity;
    let names: Vec<String> = lost.iter().map(|(name, _)| format!("`{name}`")).collect();
    let message = match names.as_slice() {
        [one] => format!("`{path}` has no instance, and the document of {one} is gone"),
        many => format!("`{path}` has no instance, and the documents of {} are gone", many.join(", ")),
    };
    let mut diagnostic = engine::codes::DOCUMENT_MOVED.new(message);
    for (name, document) in lost {
        diagnostic = diagnostic
            .note(format!("`{name}` was deployed from `{document}`"))
            .help(format!("say `-i {name}` to go on with it: `{path}` is its document from then on"));
    }
    if lost.iter().any(|(name, _)| name == derived) {
        return diagnostic.help("say `-i` with another name for a new instance");
    }
    diagnostic.help(format!("say `-i {derived}` for a new instance"))
}

/// The state and the instance that are meant, for a command that needs no document: by the flag, by the document that is
/// named or lies here, or because there is only one.
pub(crate) async fn chosen(
    named: Option<&Path>,
    which: &Which,
    global: &Global,
    report: &mut Report,
) -> Result<(Setup, InstanceName), CommandError> {
    let document = match named {
        Some(path) => {
            // Only its place counts, but a name that leads nowhere is a mistake.
            std::fs::metadata(path)
                .map_err(|source| CommandError::Unreadable { name: path.display().to_string(), source })?;
            Some(path.to_owned())
        }
        // With `--instance` and a state in this folder, no document is needed.
        None if which.instance.is_some() && nearest_folder() == whole(Path::new("")) => None,
        // Several documents here leave the choice to the state.
        None => Source::here().ok().flatten().map(Into::into),
    };
    let setup = match &document {
        Some(path) => Setup::beside(global, &folder_of(path), report)?,
        None => Setup::nearest(global, report)?,
    };
    if let Some(instance) = which.instance.as_ref().or(setup.config.instance.as_ref()) {
        let instance = instance.clone();
        let store = setup.reading();
        if store.info(&instance).await?.is_none() {
            return Err(unknown_instance(&instance, &store.instances().await?, &setup));
        }
        return Ok((setup, instance));
    }
    let all = setup.reading().instances().await?;
    if let Some(path) = &document {
        let identity = Identity::of_file(path, &setup);
        let instance = match identity.find(&all, exists_in(&setup)) {
            // What only reads may take the only instance there is, also where its document was renamed.
            Found::Lost(_) if named.is_none() && !report.is_operation() => identity.derived.clone(),
            // It is another document's, but there is no other of that name.
            Found::Taken { instance, .. } => instance,
            found => settled(found, &identity, &setup, report)?,
        };
        if all.iter().any(|info| info.name == instance) {
            return Ok((setup, instance));
        }
        if named.is_some() {
            return Err(unknown_instance(&instance, &all, &setup));
        }
    }
    let live = |info: &&InstanceInfo| !matches!(&info.last, Some((_, Some(OperationOutcome::Gone))));
    let alive: Vec<&InstanceInfo> = all.iter().filter(live).collect();
    let candidates = if alive.is_empty() { all.iter().collect() } else { alive };
    match candidates.as_slice() {
        [] => Err(CommandError::NoInstance { place: setup.place.shown(), hint: setup.place.hint() }),
        [one] => {
            let instance = one.name.clone();
            Ok((setup, instance))
        }
        many => Err(CommandError::SeveralInstances { names: many.iter().map(|info| info.name.to_string()).collect() }),
    }
}

fn unknown_instance(instance: &InstanceName, all: &[InstanceInfo], setup: &Setup) -> CommandError {
    let diagnostic = engine::codes::UNKNOWN_INSTANCE
        .new(format!("there is no instance `{instance}`"))
        .note(format!("the state is in {}", setup.place.shown()));
    let diagnostic = match setup.place.hint() {
        Some(hint) => diagnostic.help(hint),
        None => diagnostic,
    };
    let diagnostic = diagnostic.help_nearest(instance.as_str(), all.iter().map(|info| info.name.as_str()));
    CommandError::Diagnosed(Box::new(diagnostic))
}

#[cfg(test)]
mod tests {
    use state::{Generation, Revision};

    use super::*;

    fn instance(name: &str, document: &str, records: u64) -> InstanceInfo {
        InstanceInfo {
            name: InstanceName::from_free_text(name),
            revision: Revision(1),
            generation: Generation(1),
            document: document.into(),
            records,
            created: 0,
            last: None,
            needed: None,
            waiting: Vec::new(),
            holder: None,
            verified: true,
        }
    }

    fn identity(path: &str, stated: Option<&str>, derived: &str) -> Identity {
        let name = InstanceName::from_free_text;
        Identity { path: path.to_owned(), stated: stated.map(name), derived: name(derived) }
    }

    fn name(text: &str) -> InstanceName {
        InstanceName::from_free_text(text)
    }

    #[test]
    fn the_instance_of_a_document_is_found_by_name_then_by_path() {
        let shop = identity("shop.yaml", None, "shop");
        let find = |all: &[InstanceInfo]| shop.find(all, |_| true);
        assert_eq!(find(&[]), Found::Instance(name("shop")), "a new one");
        assert_eq!(
            find(&[instance("shop", "shop.yaml", 1), instance("b", "shop.yaml", 1)]),
            Found::Instance(name("shop"))
        );
        assert_eq!(find(&[instance("old", "shop.yaml", 1), instance("b", "b.yaml", 1)]), Found::Instance(name("old")));
        assert_eq!(
            find(&[instance("a", "shop.yaml", 1), instance("b", "shop.yaml", 1)]),
            Found::Several(vec![name("a"), name("b")])
        );
        assert_eq!(
            find(&[instance("shop", "other.yaml", 1)]),
            Found::Taken { instance: name("shop"), by: "other.yaml".to_owned() }
        );
        assert_eq!(find(&[instance("shop", "other.yaml", 0)]), Found::Instance(name("shop")), "nothing is left of it");
    }

    #[test]
    fn an_instance_whose_document_is_gone_may_be_the_documents_own() {
        let store = identity("store.yaml", None, "store");
        let find = |all: &[InstanceInfo]| store.find(all, |document| document.starts_with("there"));
        let lost = |name: &str, document: &str| (InstanceName::from_free_text(name), document.to_owned());
        assert_eq!(find(&[instance("there", "there.yaml", 1)]), Found::Instance(name("store")));
        assert_eq!(
            find(&[instance("there", "there.yaml", 1), instance("shop", "shop.yaml", 1)]),
            Found::Lost(vec![lost("shop", "shop.yaml")])
        );
        assert_eq!(
            find(&[instance("a", "a.yaml", 1), instance("b", "b.yaml", 1), instance("c", "c.yaml", 0)]),
            Found::Lost(vec![lost("a", "a.yaml"), lost("b", "b.yaml")])
        );
        assert_eq!(find(&[instance("store", "old/store.yaml", 1)]), Found::Lost(vec![lost("store", "old/store.yaml")]));
        assert_eq!(find(&[instance("input", "-", 1)]), Found::Instance(name("store")), "standard input has no path");
    }

    #[test]
    fn a_stated_name_is_taken_only_from_a_document_that_is_gone() {
        let stated = identity("new.yaml", Some("shop"), "new");
        let all = [instance("shop", "shop.yaml", 1)];
        assert_eq!(stated.find(&all, |_| false), Found::Instance(name("shop")));
        assert_eq!(stated.find(&all, |_| true), Found::Taken { instance: name("shop"), by: "shop.yaml".to_owned() });
    }
}
