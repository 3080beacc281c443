//! What a command works with: the document, the instance, the place of its state, the key, the providers.
//!
//! Not here: anything a command does with them.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use blueprint::{IndexMap, Name, Value};
use diag::{Diagnostics, FileId, Files, Severity};
use dialects::{Beside, Surroundings};
use engine::shell::{Chance, Clock, Shell};
use engine::{Checked, Documents, Frozen, FrozenDocument, Given, Reading};
use source::Location;
use state::seal::Sealer;
use state::{InstanceName, Snapshot, Store};

use crate::arguments::{Global, Inputs};
use crate::config::Config;
use crate::exit::CommandError;
use crate::registry::{self, Offer, Registry, mentioned};
use crate::view::report::Report;
use crate::{catalogs, fetch, folder, inputs, key};

/// The folder that holds state beside a document.
const STATE_FOLDER: &str = ".cyan";

/// The end of the name of a file with the state of rehearsals.
const SIMULATED_STATE: &str = ".simulated.db";

/// Where state lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StatePlace {
    /// In this process alone.
    Memory,
    /// In this file.
    Sqlite(PathBuf),
}

impl StatePlace {
    /// From a URL; paths are relative to `base`.
    fn parse(url: &str, base: &Path) -> Result<StatePlace, CommandError> {
        match url.split_once(':') {
            Some(("memory", "")) => Ok(StatePlace::Memory),
            Some(("sqlite", path)) if !path.is_empty() => {
                // As a URL it may be written with slashes in front: `sqlite:///var/state.db`.
                let path = path.strip_prefix("//").unwrap_or(path);
                not_from_home(Path::new(path))?;
                Ok(StatePlace::Sqlite(base.join(path)))
            }
            _ => Err(CommandError::Usage {
                message: format!("`{url}` is no place for state"),
                help: Some("write `sqlite:PATH` or `memory:`".to_owned()),
            }),
        }
    }

    /// The folder that paths in the state are relative to: that of the file, or the one around `.cyan`.
    pub(crate) fn base(&self) -> PathBuf {
        let StatePlace::Sqlite(file) = self else { return whole(Path::new("")) };
        let folder = whole(file.parent().unwrap_or(Path::new("")));
        match folder.file_name() {
            Some(name) if name == STATE_FOLDER => folder.parent().map(Path::to_owned).unwrap_or(folder),
            _ => folder,
        }
    }

    /// The place for rehearsals beside this one, or this one for what is real: the two are never mixed.
    fn kept_apart(self, simulated: bool) -> Result<StatePlace, CommandError> {
        let StatePlace::Sqlite(file) = self else { return Ok(self) };
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_apart = name.ends_with(SIMULATED_STATE);
        if is_apart && !simulated {
            return Err(CommandError::Usage {
                message: format!("`{}` is the state of a rehearsal", file.display()),
                help: Some("say `--simulate`, or name another place with `--state sqlite:PATH`".to_owned()),
            });
        }
        if is_apart || !simulated {
            return Ok(StatePlace::Sqlite(file));
        }
        let stem = name.strip_suffix(".db").unwrap_or(&name);
        Ok(StatePlace::Sqlite(file.with_file_name(format!("{stem}{SIMULATED_STATE}"))))
    }

    /// What to try where nothing was found: the other side, real or rehearsed.
    pub(crate) fn hint(&self) -> Option<&'static str> {
        let StatePlace::Sqlite(file) = self else { return None };
        let name = file.file_name()?.to_str()?;
        if name.ends_with(SIMULATED_STATE) {
            return Some("rehearse something first, with `cyan deploy --simulate`");
        }
        let beside = file.with_file_name(format!("{}{SIMULATED_STATE}", name.strip_suffix(".db").unwrap_or(name)));
        beside.exists().then_some("what was rehearsed is shown with `--simulate`")
    }

    /// For people.
    pub(crate) fn shown(&self) -> String {
        match self {
            StatePlace::Memory => "memory".to_owned(),
            StatePlace::Sqlite(file) => format!("`{}`", file.display()),
        }
    }
}

/// Refuses a path that begins with `~`, which the shell has left as it is.
pub(crate) fn not_from_home(path: &Path) -> Result<(), CommandError> {
    match path.to_str().and_then(blueprint::home_mistake) {
        Some(message) => {
            Err(CommandError::Usage { message, help: Some("`$HOME/..` is filled in by the shell".to_owned()) })
        }
        None => Ok(()),
    }
}

/// An absolute path without links and dots, as far as it exists.
pub(crate) fn whole(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let path = if path.as_os_str().is_empty() { std::env::current_dir().unwrap_or_default() } else { path };
    let mut missing = Vec::new();
    let mut there = path.as_path();
    loop {
        if let Ok(found) = there.canonicalize() {
            return missing.iter().rev().fold(found, |whole, part| whole.join(part));
        }
        match (there.parent(), there.file_name()) {
            (Some(parent), Some(name)) => {
                missing.push(name.to_owned());
                there = parent;
            }
            _ => return path,
        }
    }
}

/// `path` as seen from `base`, both whole, with slashes.
pub(crate) fn relative(base: &Path, path: &Path) -> String {
    let (from, to): (Vec<Component<'_>>, Vec<Component<'_>>) =
        (base.components().collect(), path.components().collect());
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    if common == 0 {
        return path.to_string_lossy().into_owned();
    }
    let up = std::iter::repeat_n("..".to_owned(), from.len() - common);
    let down = to[common..].iter().map(|part| part.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}

/// The whole text of a file that a person named; refused by its size before it is read.
pub(crate) fn read_text(path: &Path) -> Result<String, CommandError> {
    let name = path.display().to_string();
    let unreadable = |source| CommandError::Unreadable { name: name.clone(), source };
    let about = std::fs::metadata(path).map_err(unreadable)?;
    if about.is_dir() {
        let help = documents_in(path).ok().and_then(|names| {
            names.first().map(|first| format!("name a file in it, as `{}`", path.join(first).display()))
        });
        return Err(CommandError::Unfit { name, what: "is a folder".to_owned(), help });
    }
    if about.len() > syntax::MAX_BYTES as u64 {
        return Err(too_large(name, Some(about.len())));
    }
    let file = std::fs::File::open(path).map_err(unreadable)?;
    text_of(file, about.len() as usize, name)
}

/// The whole text of standard input.
pub(crate) fn text_of_standard_input() -> Result<String, CommandError> {
    crate::signals::interruptible(|| text_of(io::stdin().lock(), 0, "standard input".to_owned()))
}

fn too_large(name: String, length: Option<u64>) -> CommandError {
    let has = length.map_or_else(|| "has more".to_owned(), |length| format!("has {length} bytes"));
    CommandError::Unfit {
        name,
        what: format!("is too large: a document may have 32 MiB of text, this one {has}"),
        help: None,
    }
}

/// The whole text of a source that has about so many bytes, as far as anybody knows.
fn text_of(from: impl io::Read, about: usize, name: String) -> Result<String, CommandError> {
    // One more: the end of a file is read too.
    let mut bytes = Vec::with_capacity(about + 1);
    let most = syntax::MAX_BYTES as u64 + 1;
    from.take(most)
        .read_to_end(&mut bytes)
        .map_err(|source| CommandError::Unreadable { name: name.clone(), source })?;
    if bytes.len() as u64 == most {
        return Err(too_large(name, None));
    }
    String::from_utf8(bytes).map_err(|error| CommandError::Unfit {
        name,
        what: format!("is no UTF-8 text: byte {} cannot be read", error.utf8_error().valid_up_to() + 1),
        help: Some("save it as UTF-8".to_owned()),
    })
}

/// Names of the files in a folder that look like documents: by their names, else by what is in them.
fn documents_in(within: &Path) -> io::Result<Vec<String>> {
    let mut names: Vec<String> = Vec::new();
    let mut others: Vec<String> = Vec::new();
    for entry in std::fs::read_dir(within)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        if entry.path().is_dir() || name.starts_with('.') {
            continue;
        }
        if folder::has_native_name(&name) {
            names.push(name);
        } else if folder::is_text(&name) {
            others.push(name);
        }
    }
    if names.is_empty() {
        others.retain(|name| is_recognised(&within.join(name), name));
        names = others;
    }
    names.sort();
    Ok(names)
}

fn is_recognised(path: &Path, name: &str) -> bool {
    folder::with_tree(path, name, |document| dialects::Dialects::BUILT_IN.of(document).is_some()).unwrap_or(false)
}

/// A document as it was found.
pub(crate) struct Source {
    /// As the user named it.
    pub(crate) shown: String,
    /// The file, unless it is standard input.
    pub(crate) path: Option<PathBuf>,
    /// The folder it stands in, absolute.
    pub(crate) folder: PathBuf,
    /// Its text.
    pub(crate) text: Arc<str>,
    /// Files that are given along with it, in order: how they are named, where they are, and their texts.
    pub(crate) beside: Vec<(String, PathBuf, Arc<str>)>,
}

impl Source {
    /// A document that was kept, seen from its state.
    pub(crate) fn kept(document: &FrozenDocument, place: &StatePlace) -> Source {
        let path = (document.path.as_ref() != "-").then(|| place.base().join(document.path.as_ref()));
        let folder = path.as_deref().map_or_else(|| whole(Path::new("")), folder_of);
        let beside = document
            .beside
            .iter()
            .map(|(path, text)| (path.to_string(), place.base().join(path.as_ref()), text.clone()));
        let beside = beside.collect();
        Source { shown: document.path.to_string(), path, folder, text: document.text.clone(), beside }
    }

    /// The same document with these files along with it.
    pub(crate) fn with(mut self, environments: &[PathBuf]) -> Result<Source, CommandError> {
        for path in environments {
            let text = read_text(path)?;
            self.beside.push((path.display().to_string(), whole(path), text.into()));
        }
        Ok(self)
    }

    /// The document that was named, or the one in the current folder.
    pub(crate) fn find(named: Option<&Path>) -> Result<Source, CommandError> {
        match named {
            Some(path) if path == Path::new("-") => {
                let text =
                    crate::signals::interruptible(|| text_of(io::stdin().lock(), 0, "standard input".to_owned()))?;
                let json = text.trim_start().starts_with('{');
                let shown = if json { "stdin.jsonc" } else { "stdin" };
                Ok(Source {
                    shown: shown.to_owned(),
                    path: None,
                    folder: whole(Path::new("")),
                    text: text.into(),
                    beside: Vec::new(),
                })
            }
            Some(path) => Source::read(path),
            None => match Source::here()? {
                Some(name) => Source::read(Path::new(&name)),
                None => Err(CommandError::NoDocument { folder: whole(Path::new("")) }),
            },
        }
    }

    /// The name of the one document in the current folder, if there is one.
    pub(crate) fn here() -> Result<Option<String>, CommandError> {
        let folder = Path::new(".");
        let names = documents_in(folder).map_err(|source| CommandError::Unreadable { name: ".".to_owned(), source })?;
        match names.as_slice() {
            [] => Ok(None),
            [one] => Ok(Some(one.clone())),
            _ => Err(CommandError::SeveralDocuments { folder: whole(Path::new("")), names }),
        }
    }

    fn read(path: &Path) -> Result<Source, CommandError> {
        let text = read_text(path)?;
        let folder = folder_of(path);
        let (shown, beside) = (path.display().to_string(), Vec::new());
        Ok(Source { shown, path: Some(path.to_owned()), folder, text: text.into(), beside })
    }
}

/// The folder that a file stands in.
pub(crate) fn folder_of(path: &Path) -> PathBuf {
    whole(path.parent().unwrap_or(Path::new("")))
}

/// A document that was read and checked.
pub(crate) struct Document {
    /// All texts that diagnostics may show.
    pub(crate) files: Files,
    /// Where it came from.
    pub(crate) source: Source,
    /// Everything that is wrong with it.
    pub(crate) found: Diagnostics,
    /// Its meaning; none if no dialect recognises it.
    pub(crate) checked: Option<Arc<Checked>>,
    /// It and its children.
    pub(crate) documents: Option<Arc<Documents>>,
    /// What files that are given along with it say of its inputs.
    pub(crate) environment: IndexMap<Name, Value>,
    /// What the providers that it names offer.
    pub(crate) registry: Registry,
}

impl Document {
    /// Reads and checks. Only the catalogues that the text names are read, unless something is wrong: what could have
    /// been meant instead is known only from all of them.
    pub(crate) async fn check(
        source: Source,
        offer: &Offer,
        known: &Known<'_>,
        also: impl Fn(&str) -> bool,
    ) -> Document {
        let mut named = mentioned([&*source.text]);
        let mut read =
            check(&source, offer.registry(|namespace| named.contains(namespace) || also(namespace)), known).await;
        // Children name others.
        if read.has_children() {
            named = mentioned(read.files.iter().map(|(_, file)| &**file.text()));
            if named.iter().any(|namespace| read.registry.catalogs.of(namespace).is_none()) {
                let registry = offer.registry(|namespace| named.contains(namespace) || also(namespace));
                let kept = read.children();
                drop(read);
                read = check(&source, registry, &Known { kept: Some(&kept), ..*known }).await;
            }
        }
        // What transforms make may be of types that no text names.
        if read.found.has_errors() || read.has_transforms() {
            let all = |namespace: &str| namespace != registry::SIMULATED || named.contains(registry::SIMULATED);
            let (registry, kept) = (offer.registry(all), read.children());
            // Two of them would need twice the room.
            drop(read);
            read = check(&source, registry, &Known { kept: Some(&kept), ..*known }).await;
        }
        let Read { files, found, documents, environment, registry } = read;
        let checked = documents.as_ref().map(|documents| documents.root().checked.clone());
        Document { files, source, found, checked, documents, environment, registry }
    }

    /// Reads the document again now that all inputs are given, if where its children are depends on them. What was found
    /// and had not been found before stays in `found`.
    pub(crate) async fn complete(self, given: &Given, before: &Snapshot, also: impl Fn(&str) -> bool) -> Document {
        if !self.documents.as_ref().is_some_and(|documents| documents.is_open()) {
            return Document { found: Diagnostics::new(), ..self };
        }
        let place = |files: &Files, it: &diag::Diagnostic| {
            let name = files.get(it.span().file).map(|file| file.name().to_owned());
            (it.code.name, name, it.span().start, it.message.clone())
        };
        let said: HashSet<_> = self.found.iter().map(|it| place(&self.files, it)).collect();
        let kept = self.documents.as_ref().map(|documents| documents.frozen().clone()).unwrap_or_default();
        let offer = self.registry.offer.clone();
        let known = Known { given: Some(given), complete: true, kept: Some(&kept), before: Some(before) };
        drop((self.documents, self.checked));
        let mut document = Document::check(self.source, &offer, &known, also).await;
        let files = &document.files;
        document.found.retain(|it| !said.contains(&place(files, it)));
        document
    }

    /// Reads and checks with what is given for inputs; nothing is asked for. What is wrong with files of inputs is said, all else
    /// is found.
    pub(crate) async fn check_given(
        source: Source,
        offer: &Offer,
        config: &Config,
        inputs: &Inputs,
        strict: bool,
        report: &mut Report,
    ) -> Result<(Document, Given), CommandError> {
        let none = Given::default();
        let mut document = Document::check(source, offer, &Known::of(&none), |_| false).await;
        let given = document.given(&config.vars, inputs, strict, report)?;
        if given == none {
            document.judge(&none, false);
            return Ok((document, given));
        }
        let document = document.with_inputs(&given, false).await;
        Ok((document, given))
    }

    /// What is given for its inputs. What is wrong with files of inputs is said.
    pub(crate) fn given(
        &mut self,
        defaults: &[PathBuf],
        inputs: &Inputs,
        strict: bool,
        report: &mut Report,
    ) -> Result<Given, CommandError> {
        let Some(checked) = self.checked.clone() else { return Ok(Given::default()) };
        let mut found = Diagnostics::new();
        let given =
            inputs::gather(&checked.blueprint, &self.environment, defaults, inputs, &mut self.files, &mut found);
        raise_warnings(strict, &mut found);
        report.diagnostics(&found, &self.files);
        given
    }

    /// Reads and checks the document with these inputs: what is known of their values is checked too, in all documents, and the
    /// inputs themselves. Where `all` are given, a missing one is an error.
    pub(crate) async fn with_inputs(self, given: &Given, all: bool) -> Document {
        let kept = self.documents.as_ref().map(|documents| documents.frozen().clone()).unwrap_or_default();
        let offer = self.registry.offer.clone();
        let known = Known { kept: Some(&kept), ..Known::of(given) };
        // What was read first goes before the same is read again: both together would need twice the room.
        drop((self.documents, self.checked));
        let mut document = Document::check(self.source, &offer, &known, |_| false).await;
        document.judge(given, all);
        document
    }

    /// Checks what is given for the inputs.
    pub(crate) fn judge(&mut self, given: &Given, all: bool) {
        if let Some(checked) = &self.checked {
            engine::judge_inputs(checked, given, all, &mut self.found);
        }
    }

    /// What its transforms make of it, as staging would see it: `None` where it has none, or is in error. What is wrong goes
    /// to `found`.
    pub(crate) async fn transformed(&mut self) -> Option<Arc<Documents>> {
        let documents = self.documents.clone()?;
        let listed = documents.units().iter().any(|unit| !unit.checked.blueprint.transforms.is_empty());
        if !listed || self.found.has_errors() {
            return None;
        }
        let shell = self.bare_shell();
        let (catalogs, functions) = (&self.registry.catalogs, &self.registry.functions);
        engine::transform_documents(documents, catalogs, functions, &shell, &mut self.found).await
    }

    /// Reports what a stage with these inputs would find wrong without asking the world.
    pub(crate) async fn check_offline(&mut self, given: &Given) {
        let transformed = self.transformed().await;
        let Some(documents) = transformed.or_else(|| self.documents.clone()) else { return };
        if self.found.has_errors() {
            return;
        }
        let shell = self.bare_shell();
        let (catalogs, functions) = (&self.registry.catalogs, self.registry.functions.clone());
        engine::check_offline(documents, given, catalogs, functions, &shell, &mut self.found).await;
    }

    /// A shell for transforms and checks of specs. They touch nothing, so no settings, state or instance are needed.
    fn bare_shell(&self) -> Shell {
        let registry = &self.registry;
        Shell {
            providers: registry.providers.clone(),
            catalogs: registry.catalogs.clone(),
            settings: Default::default(),
            instance: "".into(),
            root: self.source.folder.clone(),
            working_directory: None,
            clock: Clock::System,
            chance: Chance::System,
            sources: registry::sources(),
            http: None,
            waits: None,
            known: Default::default(),
            cancel: tokio_util::sync::CancellationToken::new(),
        }
    }

    /// The document for a plan: its path relative to the state, its text.
    pub(crate) fn frozen(&self, place: &StatePlace) -> FrozenDocument {
        let path = match &self.source.path {
            Some(path) => relative(&place.base(), &whole(path)),
            None => "-".to_owned(),
        };
        let beside = self.source.beside.iter();
        let beside = beside.map(|(_, path, text)| (relative(&place.base(), path).into(), text.clone()));
        FrozenDocument { path: path.into(), text: self.source.text.clone(), beside: beside.collect() }
    }
}

/// What is known when a document is read.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a> {
    /// Inputs; without any, children whose places depend on inputs are not looked for.
    pub(crate) given: Option<&'a Given>,
    /// All inputs are given.
    pub(crate) complete: bool,
    /// Children that have been read before.
    pub(crate) kept: Option<&'a Frozen>,
    /// The state, where it is known already.
    pub(crate) before: Option<&'a Snapshot>,
}

impl<'a> Known<'a> {
    /// Nothing: children whose places depend on inputs are looked for later.
    pub(crate) const NOTHING: Known<'static> = Known { given: None, complete: false, kept: None, before: None };

    /// These inputs and the defaults of others.
    pub(crate) fn of(given: &'a Given) -> Known<'a> {
        Known { given: Some(given), complete: false, kept: None, before: None }
    }
}

struct Read {
    files: Files,
    found: Diagnostics,
    documents: Option<Arc<Documents>>,
    environment: IndexMap<Name, Value>,
    registry: Registry,
}

impl Read {
    fn has_children(&self) -> bool {
        self.documents.as_ref().is_some_and(|documents| documents.units().len() > 1)
    }

    fn has_transforms(&self) -> bool {
        let units = self.documents.iter().flat_map(|documents| documents.units());
        units.into_iter().any(|unit| !unit.checked.blueprint.transforms.is_empty())
    }

    fn children(&self) -> Frozen {
        self.documents.as_ref().map(|documents| documents.frozen().clone()).unwrap_or_default()
    }
}

async fn check(source: &Source, registry: Registry, known: &Known<'_>) -> Read {
    let mut files = Files::new();
    let file = files.add(source.shown.clone(), source.text.clone());
    let mut found = Diagnostics::new();
    let alone =
        Surroundings { settings: registry.offer.settings.clone(), types: Some(registry.types()), ..Surroundings::NONE };
    let (around, environment) = surrounded(source, file, alone, &mut files, &mut found);
    let loaded = engine::load(
        &files,
        file,
        &dialects::Dialects::BUILT_IN,
        &registry.functions,
        registry.catalogs.packages(),
        &around,
        &mut found,
    );
    let working_directory = std::env::current_dir().ok().and_then(|folder| folder.to_str().map(Name::from));
    let world = Shell {
        providers: registry.providers.clone(),
        catalogs: registry.catalogs.clone(),
        settings: IndexMap::default(),
        instance: "".into(),
        root: source.folder.clone(),
        sources: registry::sources(),
        working_directory,
        clock: Clock::System,
        chance: Chance::System,
        http: Some(fetch::http_get()),
        waits: None,
        known: Default::default(),
        cancel: tokio_util::sync::CancellationToken::new(),
    };
    let none = Frozen::default();
    let location = source.path.as_ref().map(|path| Location::disk(whole(path).to_string_lossy().as_ref()));
    let reading = Reading {
        files: &mut files,
        catalogs: &registry.catalogs,
        functions: &registry.functions,
        dialects: &dialects::Dialects::BUILT_IN,
        given: known.given,
        around: &around,
        world: &world,
        location,
        folder: source.folder.to_string_lossy().as_ref().into(),
        complete: known.complete,
        kept: known.kept.unwrap_or(&none),
        before: known.before,
    };
    let documents = engine::documents(loaded, reading, &mut found).await.map(Arc::new);
    Read { files, found, documents, environment, registry }
}

/// What files that are given along with a document come to: what it stands in, and what they give for its inputs.
fn surrounded(
    source: &Source,
    root: FileId,
    around: Surroundings,
    files: &mut Files,
    found: &mut Diagnostics,
) -> (Surroundings, IndexMap<Name, Value>) {
    if source.beside.is_empty() {
        return (around, IndexMap::default());
    }
    let name = source.shown.rsplit('/').next().unwrap_or(&source.shown);
    let (tree, _) = syntax::parse(root, &source.text, syntax::Format::of_name(name));
    let document = dialects::Document { file: root, name, text: &source.text, tree: &tree, around: &around };
    let mut trees = Vec::with_capacity(source.beside.len());
    let mut unread: Vec<(FileId, &Arc<str>)> = Vec::new();
    for (shown, path, text) in &source.beside {
        // Parameters stand in it, as in a file of inputs.
        let file = files.add_withheld(shown.clone(), text.clone());
        let (tree, broken) = syntax::parse(file, text, syntax::Format::of_name(shown));
        if broken.has_errors() {
            unread.push((file, text));
        }
        found.append(broken.into_iter().map(|one| inputs::unquoted(one, text)).collect());
        // Paths in it count from its own folder.
        let folder = folder_of(path);
        let folder = if folder == source.folder { String::new() } else { folder.to_string_lossy().into_owned() };
        trees.push((file, shown, folder, tree));
    }
    let beside: Vec<Beside<'_>> =
        trees.iter().map(|(file, name, folder, tree)| Beside { file: *file, name, folder, tree }).collect();
    let surrounded = dialects::Dialects::BUILT_IN.surround(&document, &beside);
    // What is taken for a key in a broken text can be a value.
    let clean = |said: diag::Diagnostic| match unread.iter().find(|(file, _)| *file == said.span().file) {
        Some((_, text)) => inputs::unquoted(said, text),
        None => said,
    };
    found.append(surrounded.diagnostics.into_iter().map(clean).collect());
    (surrounded.surroundings, surrounded.given)
}

/// What every command starts from.
pub(crate) struct Setup {
    /// The flags that every command takes.
    pub(crate) global: Global,
    /// The configuration file's word.
    pub(crate) config: Config,
    /// Where the state is.
    pub(crate) place: StatePlace,
    /// What seals and opens secrets.
    pub(crate) sealer: Sealer,
    /// Nothing is said by the way.
    pub(crate) quiet: bool,
    /// The state as it is read, opened by whoever reads first.
    reader: OnceCell<Arc<dyn Store>>,
}

impl Setup {
    /// For a command with a document.
    pub(crate) fn beside(global: &Global, folder: &Path, report: &mut Report) -> Result<Setup, CommandError> {
        Setup::new(global, folder, folder.join(STATE_FOLDER).join("state.db"), report)
    }

    /// For a command without a document: the nearest state upward.
    pub(crate) fn nearest(global: &Global, report: &mut Report) -> Result<Setup, CommandError> {
        let folder = nearest_folder();
        Setup::new(global, &folder, folder.join(STATE_FOLDER).join("state.db"), report)
    }

    /// For a command that may do without a document: beside the one here, else the nearest.
    pub(crate) fn here(global: &Global, document: Option<&str>, report: &mut Report) -> Result<Setup, CommandError> {
        match document {
            Some(name) => Setup::beside(global, &folder_of(Path::new(name)), report),
            None => Setup::nearest(global, report),
        }
    }

    fn new(global: &Global, folder: &Path, usual: PathBuf, report: &mut Report) -> Result<Setup, CommandError> {
        let config = Config::load(global.config.as_deref(), folder)?;
        let terminal = &mut report.terminal;
        terminal.quiet |= config.quiet && !terminal.verbose;
        terminal.verbose |= config.verbose && !terminal.quiet;
        if let (None, Some(color)) = (global.color, config.color) {
            terminal.set_color(color);
        }
        let quiet = terminal.quiet || terminal.json;
        let offer = catalogs::offer(global, &config, report)?;
        let place = match (&global.state, &config.state) {
            (Some(url), _) => StatePlace::parse(url, Path::new(""))?,
            (None, Some(url)) => StatePlace::parse(url, config.folder())?,
            (None, None) => StatePlace::Sqlite(usual),
        };
        let place = place.kept_apart(offer.simulated)?;
        let mut global = Global { offer, ..global.clone() };
        global.strict |= config.strict;
        Ok(Setup { global, config, place, sealer: key::sealer()?, quiet, reader: OnceCell::new() })
    }

    /// Opens the state, for somebody who keeps it to himself.
    pub(crate) fn open(&self, writes: bool) -> Box<dyn Store> {
        registry::store(&self.place, self.sealer.clone(), writes)
    }

    /// The state, to be read.
    pub(crate) fn reading(&self) -> Arc<dyn Store> {
        self.reader.get_or_init(|| self.open(false).into()).clone()
    }

    /// The state, to be written to. The store that has read it so far is closed.
    pub(crate) fn writing(&mut self) -> Arc<dyn Store> {
        self.reader = OnceCell::new();
        self.open(true).into()
    }

    /// Secrets are sealed with another key from now on.
    pub(crate) fn seal_with(&mut self, sealer: Sealer) {
        (self.sealer, self.reader) = (sealer, OnceCell::new());
    }

    /// Providers with their settings and folders.
    pub(crate) fn shell(
        &self,
        registry: &Registry,
        instance: &InstanceName,
        root: PathBuf,
    ) -> Result<Shell, CommandError> {
        let settings =
            self.config.settings(instance, &registry.catalogs, |namespace| registry.offer.knows(namespace))?;
        Ok(Shell {
            providers: registry.providers.clone(),
            catalogs: registry.catalogs.clone(),
            settings,
            instance: instance.name().clone(),
            root,
            working_directory: std::env::current_dir().ok().and_then(|folder| folder.to_str().map(Name::from)),
            clock: Clock::System,
            chance: Chance::System,
            sources: registry::sources(),
            http: Some(fetch::http_get()),
            waits: (!self.quiet).then(crate::terminal::says_waits),
            known: Default::default(),
            cancel: tokio_util::sync::CancellationToken::new(),
        })
    }

    /// The folder of the document that an instance was last deployed from.
    pub(crate) fn root_of(&self, snapshot: &Snapshot) -> PathBuf {
        let base = self.place.base();
        match snapshot.document.as_ref() {
            "" | "-" => base,
            document => whole(&base.join(document)).parent().map(Path::to_owned).unwrap_or(base),
        }
    }
}

/// Makes errors of warnings, where asked for.
pub(crate) fn raise_warnings(strict: bool, found: &mut Diagnostics) {
    if strict {
        for diagnostic in found.iter_mut().filter(|diagnostic| diagnostic.severity == Severity::Warning) {
            diagnostic.severity = Severity::Error;
        }
    }
}

/// The nearest folder upward that has state; this one if there is none.
pub(crate) fn nearest_folder() -> PathBuf {
    let start = whole(Path::new(""));
    start.ancestors().find(|folder| folder.join(STATE_FOLDER).is_dir()).unwrap_or(&start).to_owned()
}
