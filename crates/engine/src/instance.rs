//! Selects the instance of a document, and the instance of a request without a document.
//!
//! The first of these applies: the request or the configuration; the selected instance; the name
//! that the document states; the instance with the derived name, if it was deployed from this
//! document; the only instance that was deployed from this document; the only instance that a file
//! beside the document configures; a new instance with the derived name. If a document has no
//! instance and the document of another instance no longer exists, the document may have been
//! renamed: the user decides.
//!
//! Not here: leases (`state`).

use std::path::{Path, PathBuf};

use diag::{Diagnostic, FileId};
use dialect::{Dialects, LoadContext};
use state::{InstanceInfo, InstanceName, OperationOutcome};

use crate::document::Document;
use crate::document_source::{DocumentSource, WITHOUT_FILE};
use crate::error::Error;
use crate::frontend::{Frontend, FrontendRun, Notice, Renamed};
use crate::named_file::NamedFile;
use crate::paths::{absolute, folder_of, nearest_folder};
use crate::selected::selected;
use crate::session::Session;

/// The facts that identify the instance of a document.
#[derive(Clone, Debug)]
struct Identity {
    /// The path of the document, relative to the state; `-` for standard input.
    path: String,
    /// The instance that the user has selected for the document.
    selected: Option<InstanceName>,
    /// The name that the document states.
    stated: Option<InstanceName>,
    /// The instances that files beside the document configure.
    configured: Vec<InstanceName>,
    /// The name derived from the file or its folder.
    derived: InstanceName,
}

/// The instance of a document.
#[derive(Clone, Debug, PartialEq)]
enum Match {
    /// This instance, which exists or would be new.
    Instance(InstanceName),
    /// The document has several instances, and none has its name.
    Several(Vec<InstanceName>),
    /// The name belongs to another document that exists.
    Taken {
        /// The name.
        instance: InstanceName,
        /// The other document.
        by: String,
    },
    /// The document has no instance, and the documents of these instances no longer exist: it may
    /// be one of these documents, renamed.
    MayBeRenamed(Vec<(InstanceName, String)>),
}

impl Identity {
    /// The identity of a checked document.
    fn of(document: &Document, session: &Session) -> Result<Identity, Error> {
        let blueprint = document.checked.as_ref().map(|checked| &checked.blueprint);
        let stated = blueprint
            .and_then(|blueprint| blueprint.instance.as_ref())
            .map(|name| &*name.item);
        Identity::new(&document.source, stated, session)
    }

    /// Returns the identity of the document at a path. A document that cannot be read states no
    /// name.
    fn of_file(path: &Path, session: &Session) -> Result<Identity, Error> {
        let dialects = &session.installed.dialects;
        match DocumentSource::find(Some(path), dialects) {
            Ok(source) => {
                let stated = stated_in(&source, dialects);
                Identity::new(&source, stated.as_deref(), session)
            }
            Err(_) => {
                let unread = DocumentSource {
                    path: Some(path.to_owned()),
                    folder: folder_of(path),
                    ..DocumentSource::of_text("", "")
                };
                Identity::new(&unread, None, session)
            }
        }
    }

    fn new(
        source: &DocumentSource,
        stated: Option<&str>,
        session: &Session,
    ) -> Result<Identity, Error> {
        let path = session.stored_path(source);
        // A folder that cannot be listed was reported when its document was read.
        let files = source.companion_files(&session.installed.dialects);
        let mut configured: Vec<InstanceName> = files
            .unwrap_or_default()
            .into_iter()
            .map(|(of, _)| of)
            .collect();
        configured.dedup();
        Ok(Identity {
            selected: selected(&session.place, &path)?,
            path,
            stated: stated.and_then(|name| name.parse().ok()),
            configured,
            derived: derived(source.main_file(), &source.project_folder()),
        })
    }

    /// Finds the instance among all existing ones. `exists` says whether a document exists.
    fn find(&self, all: &[InstanceInfo], exists: impl Fn(&str) -> bool) -> Match {
        let named =
            |name: &InstanceName| all.iter().find(|info| info.name == *name && is_used(info));
        if let Some(name) = self.selected.as_ref().or(self.stated.as_ref()) {
            return match named(name).filter(|info| self.differs(info) && exists(&info.document)) {
                Some(info) => Match::Taken {
                    instance: name.clone(),
                    by: info.document.to_string(),
                },
                None => Match::Instance(name.clone()),
            };
        }
        let own = named(&self.derived);
        if self.path == WITHOUT_FILE {
            return match own.filter(|info| self.differs(info)) {
                Some(info) => Match::Taken {
                    instance: info.name.clone(),
                    by: info.document.to_string(),
                },
                None => Match::Instance(self.derived.clone()),
            };
        }
        if own.is_some_and(|info| !self.differs(info)) {
            return Match::Instance(self.derived.clone());
        }
        let recorded: Vec<&InstanceInfo> = all
            .iter()
            .filter(|info| is_used(info) && is_same_path(&info.document, &self.path))
            .collect();
        match recorded.as_slice() {
            [] => {}
            [one] => return Match::Instance(one.name.clone()),
            many => return Match::Several(many.iter().map(|info| info.name.clone()).collect()),
        }
        if let [only] = self.configured.as_slice() {
            return match named(only).filter(|info| self.differs(info) && exists(&info.document)) {
                Some(info) => Match::Taken {
                    instance: only.clone(),
                    by: info.document.to_string(),
                },
                None => Match::Instance(only.clone()),
            };
        }
        if let Some(info) =
            own.filter(|info| &*info.document == WITHOUT_FILE || exists(&info.document))
        {
            return Match::Taken {
                instance: info.name.clone(),
                by: info.document.to_string(),
            };
        }
        let is_lost = |info: &&InstanceInfo| {
            is_used(info)
                && !info.document.is_empty()
                && &*info.document != WITHOUT_FILE
                && !exists(&info.document)
        };
        let lost: Vec<(InstanceName, String)> = all
            .iter()
            .filter(is_lost)
            .map(|info| (info.name.clone(), info.document.to_string()))
            .collect();
        if lost.is_empty() {
            Match::Instance(self.derived.clone())
        } else {
            Match::MayBeRenamed(lost)
        }
    }

    /// Whether an instance was deployed from another document.
    fn differs(&self, info: &InstanceInfo) -> bool {
        !info.document.is_empty() && !is_same_path(&info.document, &self.path)
    }
}

/// Whether two stored paths name the same document. A folder that cannot be read has no `/` at its
/// end.
fn is_same_path(one: &str, other: &str) -> bool {
    one.trim_end_matches('/') == other.trim_end_matches('/')
}

/// Whether an instance has resources or may have some. A name is free again when all its resources
/// are deleted.
fn is_used(info: &InstanceInfo) -> bool {
    info.records > 0 || matches!(&info.last, Some((_, None)))
}

/// Derives the name of an instance from the name of its file or, if that is no native name, from
/// its folder.
fn derived(path: Option<&Path>, folder: &Path) -> InstanceName {
    let own = path
        .and_then(Path::file_name)
        .and_then(|name| name.to_str())
        .and_then(|name| {
            let stem = name
                .strip_suffix(".blueprint")
                .or_else(|| name.rsplit_once('.')?.0.strip_suffix(".blueprint"))?;
            Some(stem.to_owned()).filter(|stem| !stem.is_empty())
        });
    let folder = || {
        folder
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default()
    };
    InstanceName::from_free_text(&own.unwrap_or_else(folder))
}

/// Returns the name that a document states.
fn stated_in(source: &DocumentSource, dialects: &Dialects) -> Option<String> {
    let context = LoadContext {
        is_folder: source.is_folder,
        ..LoadContext::NONE
    };
    let parsed = dialects.parse(FileId::new(0), &source.shown, &source.text, &context);
    let lowered =
        parsed
            .dialect?
            .lower(&parsed.document(), &Default::default(), &Default::default());
    lowered
        .blueprint
        .instance
        .map(|stated| stated.item.to_string())
}

impl Session {
    /// Returns the files that are read together with a document: those beside it that give values
    /// for its instance. Fails if there are such files and no instance is named or deployed.
    pub(crate) async fn companions_of(
        &self,
        source: &DocumentSource,
        named: Option<&InstanceName>,
    ) -> Result<Vec<NamedFile>, Error> {
        let files = source.companion_files(&self.installed.dialects)?;
        if files.is_empty() {
            return Ok(Vec::new());
        }
        let instance = match named.or(self.config.instance.as_ref()) {
            Some(instance) => Some(instance.clone()),
            None => {
                let all = self.reading().instances().await?;
                let identity = Identity::new(source, None, self)?;
                match identity.find(&all, exists_in(self)) {
                    Match::Instance(instance) => {
                        let is_known = |info: &InstanceInfo| info.name == instance && is_used(info);
                        let is_chosen = identity.selected.is_some()
                            || identity.configured.contains(&instance)
                            || all.iter().any(is_known);
                        is_chosen.then_some(instance)
                    }
                    _ => None,
                }
            }
        };
        let Some(instance) = instance else {
            let names: Vec<String> = files
                .iter()
                .map(|(instance, _)| format!("`{instance}`"))
                .collect();
            return Err(Error::Usage {
                message: format!(
                    "`{}` has configuration for {}, and no instance is named",
                    source.shown,
                    names.join(", ")
                ),
                help: Some(format!(
                    "name it: `-i {0}`, or select it once: `cyan stack select {0}`",
                    files[0].0
                )),
            });
        };
        let own = files.into_iter().filter(|(of, _)| *of == instance);
        Ok(own.map(|(_, path)| NamedFile::new(path)).collect())
    }

    /// Returns the instance that requests for a document mean if they name none; `None` if it must
    /// be named.
    pub(crate) fn default_instance(
        &self,
        source: &DocumentSource,
        all: &[InstanceInfo],
    ) -> Result<Option<InstanceName>, Error> {
        if let Some(name) = &self.config.instance {
            return Ok(Some(name.clone()));
        }
        let stated = stated_in(source, &self.installed.dialects);
        let identity = Identity::new(source, stated.as_deref(), self)?;
        Ok(match identity.find(all, exists_in(self)) {
            Match::Instance(instance) => Some(instance),
            _ => None,
        })
    }

    /// Returns the instance that a document is deployed as if no state says otherwise.
    pub(crate) fn instance_without_state(&self, source: &DocumentSource) -> InstanceName {
        if let Some(name) = &self.config.instance {
            return name.clone();
        }
        let stated = stated_in(source, &self.installed.dialects);
        stated.map_or_else(
            || derived(source.path.as_deref(), &source.folder),
            |name| InstanceName::from_free_text(&name),
        )
    }

    /// Returns the path of a document as the state stores it.
    pub(crate) fn stored_path(&self, source: &DocumentSource) -> String {
        let path = source.stored_path(&self.place.base());
        path.unwrap_or_else(|| WITHOUT_FILE.to_owned())
    }

    /// Returns the instance that a checked document is or will be deployed as.
    pub async fn instance_of(
        &self,
        named: Option<&InstanceName>,
        document: &Document,
        run: &mut FrontendRun,
        frontend: &mut dyn Frontend,
    ) -> Result<InstanceName, Error> {
        if let Some(name) = named.or(self.config.instance.as_ref()) {
            return Ok(name.clone());
        }
        let identity = Identity::of(document, self)?;
        let all = self.reading().instances().await?;
        let found = identity.find(&all, exists_in(self));
        if let Match::Instance(instance) = &found
            && identity.stated.is_none()
            && identity.selected.is_none()
            && !identity.configured.contains(instance)
            && *instance != identity.derived
        {
            run.notice(Notice::BelongsTo(instance.clone()), frontend);
        }
        resolve_match(found, &identity, run, frontend)
    }

    /// Returns the instance of the document in a file. The file need not be readable, and the
    /// instance need not exist.
    pub async fn instance_of_file(
        &self,
        path: &Path,
        run: &mut FrontendRun,
        frontend: &mut dyn Frontend,
    ) -> Result<InstanceName, Error> {
        let identity = Identity::of_file(path, self)?;
        let all = self.reading().instances().await?;
        resolve_match(
            identity.find(&all, exists_in(self)),
            &identity,
            run,
            frontend,
        )
    }

    /// Returns the instance of a request, which need not exist: by its name, else `or_else`, else
    /// by its document. Returns `None` if the request has none of these.
    pub async fn intended_instance(
        &self,
        selector: &InstanceSelector<'_>,
        or_else: Option<&InstanceName>,
        run: &mut FrontendRun,
        frontend: &mut dyn Frontend,
    ) -> Result<Option<InstanceName>, Error> {
        if let Some(name) = selector
            .instance
            .or(self.config.instance.as_ref())
            .or(or_else)
        {
            return Ok(Some(name.clone()));
        }
        match selector.document {
            Some(document) => self
                .instance_of_file(document, run, frontend)
                .await
                .map(Some),
            None => Ok(None),
        }
    }

    /// Returns the instance of a request if it has a lease. Also finds an instance that no list
    /// contains because its operation has not committed anything.
    pub async fn held_instance(
        &self,
        selector: &InstanceSelector<'_>,
        run: &mut FrontendRun,
        frontend: &mut dyn Frontend,
    ) -> Result<Option<InstanceName>, Error> {
        let Some(instance) = self
            .intended_instance(selector, None, run, frontend)
            .await?
        else {
            return Ok(None);
        };
        Ok(self.reading().holder(&instance).await?.map(|_| instance))
    }

    /// Returns the existing instance of a request: by its name, by the document that it names or
    /// that is in the current folder, or as the only instance.
    pub async fn existing_instance(
        &self,
        selector: &InstanceSelector<'_>,
        run: &mut FrontendRun,
        frontend: &mut dyn Frontend,
    ) -> Result<InstanceName, Error> {
        if let Some(instance) = selector.instance.or(self.config.instance.as_ref()) {
            let store = self.reading();
            if store.info(instance).await?.is_none() {
                return Err(unknown_instance(instance, &store.instances().await?, self));
            }
            return Ok(instance.clone());
        }
        let all = self.reading().instances().await?;
        if let Some(path) = selector.document {
            let identity = Identity::of_file(path, self)?;
            let instance = match identity.find(&all, exists_in(self)) {
                // A read-only request may use the only instance, even if its document was renamed.
                Match::MayBeRenamed(_) if !selector.is_named && !selector.changes => {
                    identity.derived.clone()
                }
                // The instance belongs to another document, but no other instance has this name.
                Match::Taken { instance, .. } => instance,
                Match::MayBeRenamed(lost) => {
                    match renamed_instance(&lost, &identity, frontend)? {
                        Some(instance) => instance,
                        // The user says that the document has no instance.
                        None => return Err(unknown_instance(&identity.derived, &all, self)),
                    }
                }
                found => resolve_match(found, &identity, run, frontend)?,
            };
            if all.iter().any(|info| info.name == instance) {
                return Ok(instance);
            }
            if selector.is_named || identity.selected.is_some() {
                return Err(unknown_instance(&instance, &all, self));
            }
        }
        let live =
            |info: &&InstanceInfo| !matches!(&info.last, Some((_, Some(OperationOutcome::Gone))));
        let alive: Vec<&InstanceInfo> = all.iter().filter(live).collect();
        let candidates = if alive.is_empty() {
            all.iter().collect()
        } else {
            alive
        };
        match candidates.as_slice() {
            [] => Err(Error::NoInstance {
                place: self.place.shown(),
                hint: self.place.hint(),
            }),
            [one] => Ok(one.name.clone()),
            many => Err(Error::SeveralInstances {
                names: many.iter().map(|info| info.name.to_string()).collect(),
            }),
        }
    }
}

/// The selection of an instance by a request.
#[derive(Clone, Copy, Debug, Default)]
pub struct InstanceSelector<'a> {
    /// The name of the instance.
    pub instance: Option<&'a InstanceName>,
    /// Its document.
    pub document: Option<&'a Path>,
    /// Whether the request names the document; otherwise the document is the one in the current
    /// folder.
    pub is_named: bool,
    /// Whether the request changes the instance.
    pub changes: bool,
}

/// Returns the document that identifies the instance of a request: the named one, or the one in the
/// current folder. A path without a file is an error. Returns `None` if the folder has several
/// documents.
pub fn document_of_request(
    named: Option<&Path>,
    instance: Option<&InstanceName>,
    dialects: &Dialects,
) -> Result<Option<PathBuf>, Error> {
    if let Some(path) = named {
        std::fs::metadata(path).map_err(|source| Error::Unreadable {
            name: path.display().to_string(),
            source,
        })?;
        return Ok(Some(path.to_owned()));
    }
    // With a named instance and a state in this folder, no document is needed.
    if instance.is_some() && nearest_folder() == absolute(Path::new("")) {
        return Ok(None);
    }
    Ok(DocumentSource::only_document_in_folder(dialects)
        .ok()
        .flatten()
        .map(Into::into))
}

fn exists_in(session: &Session) -> impl Fn(&str) -> bool {
    let base = session.place.base();
    move |document| base.join(document).exists()
}

/// Returns the matched instance, or the reason why the request must name it. Asks the user if the
/// document may have been renamed.
fn resolve_match(
    found: Match,
    identity: &Identity,
    run: &mut FrontendRun,
    frontend: &mut dyn Frontend,
) -> Result<InstanceName, Error> {
    match found {
        Match::Instance(name) => Ok(name),
        Match::Several(names) => Err(Error::SeveralInstances {
            names: names.iter().map(ToString::to_string).collect(),
        }),
        Match::Taken { instance, by } => Err(Error::Diagnosed(Box::new(name_taken_diagnostic(
            &instance, &by, identity,
        )))),
        Match::MayBeRenamed(lost) => {
            if let Some(instance) = renamed_instance(&lost, identity, frontend)? {
                return Ok(instance);
            }
            match lost.iter().find(|(name, _)| *name == identity.derived) {
                Some((instance, before)) => Err(Error::Diagnosed(Box::new(name_taken_diagnostic(
                    instance, before, identity,
                )))),
                None => {
                    run.notice(Notice::NewInstance(identity.derived.clone()), frontend);
                    Ok(identity.derived.clone())
                }
            }
        }
    }
}

/// Asks whether the document is the renamed document of the only lost instance, and returns that
/// instance if so. Fails if nobody can answer or several instances are lost.
fn renamed_instance(
    lost: &[(InstanceName, String)],
    identity: &Identity,
    frontend: &mut dyn Frontend,
) -> Result<Option<InstanceName>, Error> {
    let unanswered = || Error::Unanswered(Box::new(moved(lost, identity)));
    let [(instance, before)] = lost else {
        return Err(unanswered());
    };
    let renamed = Renamed {
        document: identity.path.clone(),
        instance: instance.clone(),
        before: before.clone(),
    };
    let is_renamed = frontend.is_renamed(&renamed).ok_or_else(unanswered)?;
    Ok(is_renamed.then(|| instance.clone()))
}

fn name_taken_diagnostic(instance: &InstanceName, by: &str, identity: &Identity) -> Diagnostic {
    crate::codes::INSTANCE_DOCUMENT_DIFFERS
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
        many => format!(
            "`{path}` has no instance, and the documents of {} are gone",
            many.join(", ")
        ),
    };
    let mut diagnostic = crate::codes::DOCUMENT_MOVED.new(message);
    for (name, document) in lost {
        diagnostic = diagnostic
            .note(format!("`{name}` was deployed from `{document}`"))
            .help(format!(
                "say `-i {name}` to go on with it: `{path}` is its document from then on"
            ));
    }
    if lost.iter().any(|(name, _)| name == derived) {
        return diagnostic.help("say `-i` with another name for a new instance");
    }
    diagnostic.help(format!("say `-i {derived}` for a new instance"))
}

fn unknown_instance(instance: &InstanceName, all: &[InstanceInfo], session: &Session) -> Error {
    let diagnostic = crate::codes::UNKNOWN_INSTANCE
        .new(format!("there is no instance `{instance}`"))
        .note(format!("the state is in {}", session.place.shown()));
    let diagnostic = match session.place.hint() {
        Some(hint) => diagnostic.help(hint),
        None => diagnostic,
    };
    let names: Vec<&str> = all.iter().map(|info| info.name.as_str()).collect();
    let diagnostic = match names.as_slice() {
        [] => diagnostic.note("it has no instance"),
        names => diagnostic.help(diag::help_for_unknown(
            instance.as_str(),
            names,
            "`cyan list` lists the instances",
        )),
    };
    Error::Diagnosed(Box::new(diagnostic))
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
        Identity {
            path: path.to_owned(),
            selected: None,
            stated: stated.map(name),
            configured: Vec::new(),
            derived: name(derived),
        }
    }

    fn name(text: &str) -> InstanceName {
        InstanceName::from_free_text(text)
    }

    #[test]
    fn the_instance_of_a_document_is_found_by_name_then_by_path() {
        let shop = identity("shop.yaml", None, "shop");
        let find = |all: &[InstanceInfo]| shop.find(all, |_| true);
        assert_eq!(find(&[]), Match::Instance(name("shop")), "a new one");
        assert_eq!(
            find(&[
                instance("shop", "shop.yaml", 1),
                instance("b", "shop.yaml", 1)
            ]),
            Match::Instance(name("shop"))
        );
        assert_eq!(
            find(&[instance("old", "shop.yaml", 1), instance("b", "b.yaml", 1)]),
            Match::Instance(name("old"))
        );
        assert_eq!(
            find(&[instance("a", "shop.yaml", 1), instance("b", "shop.yaml", 1)]),
            Match::Several(vec![name("a"), name("b")])
        );
        assert_eq!(
            find(&[instance("shop", "other.yaml", 1)]),
            Match::Taken {
                instance: name("shop"),
                by: "other.yaml".to_owned()
            }
        );
        assert_eq!(
            find(&[instance("shop", "other.yaml", 0)]),
            Match::Instance(name("shop")),
            "nothing is left of it"
        );
    }

    #[test]
    fn selection_and_the_only_file_of_an_instance_choose_it() {
        let shop = identity("shop.yaml", Some("stated"), "shop");
        let selected = Identity {
            selected: Some(name("chosen")),
            ..shop
        };
        let find = |of: &Identity, all: &[InstanceInfo]| of.find(all, |_| true);
        let own = [instance("shop", "shop.yaml", 1)];
        assert_eq!(find(&selected, &own), Match::Instance(name("chosen")));
        let of_other = [instance("chosen", "other.yaml", 1)];
        assert!(matches!(find(&selected, &of_other), Match::Taken { .. }));
        let configured = Identity {
            configured: vec![name("dev")],
            ..identity("shop.yaml", None, "shop")
        };
        assert_eq!(find(&configured, &[]), Match::Instance(name("dev")));
        assert_eq!(find(&configured, &own), Match::Instance(name("shop")));
        let of_other = [instance("dev", "other.yaml", 1)];
        assert!(matches!(find(&configured, &of_other), Match::Taken { .. }));
    }

    #[test]
    fn instance_with_missing_document_may_be_renamed() {
        let store = identity("store.yaml", None, "store");
        let find = |all: &[InstanceInfo]| store.find(all, |document| document.starts_with("there"));
        let lost =
            |name: &str, document: &str| (InstanceName::from_free_text(name), document.to_owned());
        assert_eq!(
            find(&[instance("there", "there.yaml", 1)]),
            Match::Instance(name("store"))
        );
        assert_eq!(
            find(&[
                instance("there", "there.yaml", 1),
                instance("shop", "shop.yaml", 1)
            ]),
            Match::MayBeRenamed(vec![lost("shop", "shop.yaml")])
        );
        assert_eq!(
            find(&[
                instance("a", "a.yaml", 1),
                instance("b", "b.yaml", 1),
                instance("c", "c.yaml", 0)
            ]),
            Match::MayBeRenamed(vec![lost("a", "a.yaml"), lost("b", "b.yaml")])
        );
        assert_eq!(
            find(&[instance("store", "old/store.yaml", 1)]),
            Match::MayBeRenamed(vec![lost("store", "old/store.yaml")])
        );
        assert_eq!(
            find(&[instance("input", "-", 1)]),
            Match::Instance(name("store")),
            "standard input has no path"
        );
    }

    #[test]
    fn stated_name_is_reused_if_its_document_is_missing() {
        let stated = identity("new.yaml", Some("shop"), "new");
        let all = [instance("shop", "shop.yaml", 1)];
        assert_eq!(stated.find(&all, |_| false), Match::Instance(name("shop")));
        assert_eq!(
            stated.find(&all, |_| true),
            Match::Taken {
                instance: name("shop"),
                by: "shop.yaml".to_owned()
            }
        );
    }
}
