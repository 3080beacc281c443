//! Reads the children of a document, and theirs, in rounds: all that is known to be needed is asked for together.
//!
//! A document is read, and its meaning found, once, however many places include it; it is checked once for all places
//! in which its own children are the same. What makes a document the same is where it was found, not how it was named.
//!
//! ```text
//! root ──> paths known now ──ask──> texts ──> paths known now ──> ..     until none is left
//! deepest first: check ──> what it exports ──> check of those that include it
//! ```
//!
//! Not here: places that documents come from (`source`); what an expression comes to (`known`); the whole graph
//! (`documents`).

mod groups;
mod known;
mod refused;
mod searches;
mod settled;
mod told;
mod wanted;

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use blueprint::{Blueprint, Child, Expr, IndexMap, Name, Value};
use diag::{Diagnostic, Diagnostics, FileId, Files, Span, Spanned, Trail};
use dialects::{DialectRules, Dialects, Surroundings};
use expr::{Ask, AskFailure, FunctionTable};
use provider::Catalogs;
use source::{Location, Request};
use state::Snapshot;

use self::known::{Found, Knowledge, Known};
use self::wanted::{Answering, answered};
use crate::patience::Patient;
use crate::resolve::inputs::{Given, inputs_known};
use crate::world::World;
use understand::check;
use understand::check::below::Passed;
use understand::check::{CheckContext, Checked, Included, codes};
use understand::documents::{Documents, Placed, Reach};
use understand::load::Loaded;
use understand::load::load;
use understand::pinned::{Frozen, FrozenChild, FrozenRequest};

/// What the root includes stands at level 1 (decision S69).
const MOST_LEVELS: u32 = 16;
/// So many places a document and its children may have in all.
const MOST_PLACES: usize = 100_000;

/// What documents are read with.
pub struct Reading<'a> {
    /// Where texts go that diagnostics may show.
    pub files: &'a mut Files,
    /// What providers offer.
    pub catalogs: &'a Catalogs,
    /// What expressions can call.
    pub functions: &'a FunctionTable,
    /// The dialects that documents may be written in.
    pub dialects: &'a Dialects,
    /// Inputs of the root, as far as they are given; none where not even defaults are taken for them, and includes whose
    /// places depend on inputs are left open.
    pub given: Option<&'a Given>,
    /// What the root stands in beside its own text.
    pub around: &'a Surroundings,
    /// Where to ask.
    pub world: &'a dyn World,
    /// Where the root is; none for a text that has no place.
    pub location: Option<Location>,
    /// The folder it stands in.
    pub folder: Name,
    /// All inputs are given: every child must be found now.
    pub complete: bool,
    /// What reading has found before, such as a kept plan has it.
    pub kept: &'a Frozen,
    /// The state: what is remembered of groups, and which of their members has which id. None where there is none yet.
    pub before: Option<&'a Snapshot>,
}

/// A text that was read once.
struct Text {
    file: FileId,
    location: Option<Location>,
    blueprint: Arc<Blueprint>,
    /// What it stands in.
    around: Surroundings,
    /// What is wrong with the text.
    found: Diagnostics,
    /// What is wrong with its includes: which, and what.
    refused: Vec<(u32, Diagnostic)>,
}

/// A place in which a text stands.
struct Place {
    text: u32,
    /// The place above, and which of its includes this is.
    parent: Option<(u32, u32)>,
    children: Vec<Option<u32>>,
    /// Those of its includes whose condition is false.
    left_out: BTreeSet<u32>,
    level: u32,
}

/// An include that has not been followed yet: in which place, and which.
type Include = (u32, u32);

struct Reader<'a> {
    reading: Reading<'a>,
    texts: Vec<Text>,
    of_location: HashMap<(Location, usize), Option<u32>, foldhash::fast::FixedState>,
    places: Vec<Place>,
    /// How many members of groups were written out.
    members: usize,
    /// Documents that members of empty groups would be: of the group of which include, and where.
    samples: Vec<(Include, Spanned<Name>)>,
    /// It was said that they are too many.
    crowded: bool,
    /// What values have taken so far that decide where includes lead.
    meter: Cell<expr::Meter>,
    frozen: Frozen,
    /// Inputs of the root by position.
    inputs: Vec<Value>,
    /// What data sources that paths read export.
    data: Found,
    answers: Vec<(u32, Ask, Result<Value, AskFailure>)>,
    working_directory: Option<Name>,
    /// Some includes could not be followed yet.
    open: bool,
    /// No include depends on anything but the documents themselves.
    fixed: bool,
    full: bool,
}

/// Reads the children of a root that has been read, checks all documents, and says what is wrong with each: the root
/// first, then each child with the includes that lead to it.
///
/// `None` if no dialect recognises the root, which has been reported.
pub async fn documents(root: Loaded, reading: Reading<'_>, found: &mut Diagnostics) -> Option<Documents> {
    let patient = Patient::new(reading.world, reading.catalogs);
    let mut reading = Reading { world: &patient, ..reading };
    let (mut frozen, mut around) = (Frozen::default(), reading.around.clone());
    let location = reading.location.clone();
    let root = answered(answering(&mut reading, &mut frozen), root, &mut around, location.as_ref(), found).await;
    let blueprint = root.blueprint?;
    let rules = reading.dialects.rules(blueprint.dialect);
    let mut wrong = Diagnostics::new();
    let inputs = match reading.given {
        Some(given) => inputs_known(&blueprint, &rules, given, reading.catalogs, &mut wrong),
        None => vec![Value::unknown(None, None); blueprint.inputs.len()],
    };
    let mut of_location: HashMap<_, _, foldhash::fast::FixedState> = HashMap::default();
    of_location.extend(reading.location.clone().map(|location| ((location, reading.around.identity()), Some(0))));
    let text = Text {
        file: root.file,
        location: reading.location.clone(),
        blueprint,
        around,
        found: Diagnostics::new(),
        refused: Vec::new(),
    };
    let children = vec![None; text.blueprint.children.len()];
    let working_directory = reading.world.working_directory();
    let room = reading.around.settings.room;
    let meter = expr::Meter::new(room.value_bytes, room.all_value_bytes);
    let mut reader = Reader {
        reading,
        working_directory,
        texts: vec![text],
        of_location,
        members: 0,
        samples: Vec::new(),
        crowded: false,
        meter: Cell::new(meter),
        places: vec![Place { text: 0, parent: None, children, left_out: BTreeSet::new(), level: 0 }],
        frozen,
        inputs: inputs.clone(),
        data: Found::default(),
        answers: Vec::new(),
        open: false,
        fixed: true,
        full: false,
    };
    // What is given wrongly is said before anything that follows from it.
    if reader.reading.complete && wrong.has_errors() {
        wrong.retain(Diagnostic::is_error);
        found.append(wrong);
        reader.reading.complete = false;
    }
    reader.follow(&inputs).await;
    reader.read_samples().await;
    reader.settle(&inputs);
    Some(reader.finish(found))
}

/// What the wants of dialects are answered with.
fn answering<'r>(reading: &'r mut Reading<'_>, pinned: &'r mut Frozen) -> Answering<'r> {
    let Reading { dialects, functions, catalogs, world, kept, .. } = *reading;
    Answering { files: reading.files, dialects, functions, catalogs, world, folder: &reading.folder, kept, pinned }
}

impl Reader<'_> {
    /// Follows includes until none is left that can be.
    async fn follow(&mut self, inputs: &[Value]) {
        let mut waiting: Vec<Include> = includes_of(0, &self.places[0]);
        while !waiting.is_empty() {
            let mut requests: IndexMap<Name, (Request, Vec<Include>)> = IndexMap::default();
            let mut later = Vec::new();
            let mut asks: Vec<(u32, Ask)> = Vec::new();
            let mut wanted: Vec<(u32, u32)> = Vec::new();
            let mut expanded: Vec<Include> = Vec::new();
            for (place, include) in std::mem::take(&mut waiting) {
                match self.request(place, include, inputs) {
                    IncludeStep::Document(request) => {
                        let key = FrozenRequest::new(&request, &self.reading.folder).key();
                        requests.entry(key).or_insert_with(|| (request, Vec::new())).1.push((place, include));
                    }
                    IncludeStep::Answers(more) if self.reading.complete => {
                        asks.extend(more.into_iter().map(|ask| (place, ask)));
                        later.push((place, include));
                    }
                    IncludeStep::Searches(more) => {
                        wanted.extend(more);
                        later.push((place, include));
                    }
                    IncludeStep::Later => later.push((place, include)),
                    IncludeStep::Group => expanded.extend(self.expand(place, include, inputs).await),
                    IncludeStep::Answers(_) | IncludeStep::Open => self.open = true,
                    IncludeStep::Nothing => {}
                }
            }
            let settled = self.data.len();
            let searches = self.searches(wanted, inputs, &mut asks);
            let settled = self.data.len() > settled;
            if requests.is_empty() && asks.is_empty() && searches.is_empty() && expanded.is_empty() && !settled {
                // They wait for each other, or for something that cannot be read. Groups are written out with what is known.
                let is_group = |(place, include): &Include| {
                    let children = &self.text_of(*place).blueprint.children;
                    children.get_index(*include as usize).is_some_and(|(_, child)| child.expansion.is_some())
                };
                let (groups, others): (Vec<Include>, Vec<Include>) = later.into_iter().partition(is_group);
                if groups.is_empty() {
                    for (place, include) in others {
                        self.unknown(place, include);
                    }
                    return;
                }
                for (place, include) in groups {
                    waiting.extend(self.expand(place, include, inputs).await);
                }
                waiting.extend(others);
                continue;
            }
            self.ask(asks).await;
            self.search(searches).await;
            waiting = self.read(requests).await;
            waiting.extend(expanded);
            waiting.extend(later);
            waiting.sort_unstable();
        }
    }

    /// The folder of a document as seen from that of the root document; empty if it is that.
    fn folder_seen_from_root(&self, place: u32) -> Name {
        let root = &self.reading.folder;
        match self.text_of(place).location.as_ref().and_then(folder_of) {
            Some(folder) if folder != *root => Location::disk(folder).relative_to(root).identity().clone(),
            _ => Name::default(),
        }
    }

    fn text_of(&self, place: u32) -> &Text {
        &self.texts[self.places[place as usize].text as usize]
    }

    /// The rules of the dialect of the document in a place.
    fn rules_of(&self, place: u32) -> DialectRules {
        self.reading.dialects.rules(self.text_of(place).blueprint.dialect)
    }

    /// What the document in a place is checked with.
    fn check_context<'c>(&'c self, place: u32, kinds: &'c [&'static source::Kind]) -> CheckContext<'c> {
        let Reading { catalogs, functions, .. } = self.reading;
        CheckContext { catalogs, functions, rules: self.rules_of(place), kinds: Some(kinds) }
    }

    fn child(&self, place: u32, include: u32) -> Option<(Arc<Blueprint>, usize)> {
        let blueprint = &self.text_of(place).blueprint;
        (blueprint.children.len() > include as usize).then(|| (blueprint.clone(), include as usize))
    }

    /// Says what is wrong with an include: once, however many places its document has.
    fn report(&mut self, (place, include): Include, diagnostic: Diagnostic) {
        let text = self.places[place as usize].text as usize;
        let refused = &self.texts[text].refused;
        let known = |(at, it): &(u32, Diagnostic)| *at == include && it.code.name == diagnostic.code.name;
        if !refused.iter().any(known) {
            let worded = refused::in_words(self.child(place, include), &self.rules_of(place), diagnostic);
            self.texts[text].refused.push((include, worded));
        }
    }

    /// What an include asks for.
    fn request(&mut self, place: u32, include: u32, inputs: &[Value]) -> IncludeStep {
        let Some((blueprint, at)) = self.child(place, include) else { return IncludeStep::Nothing };
        let Some((_, child)) = blueprint.children.get_index(at) else { return IncludeStep::Nothing };
        let limits = self.reading.around.settings.limits(blueprint.dialect);
        let most = self.rules_of(place).sizes.most_levels(&limits).min(MOST_LEVELS);
        if self.places[place as usize].level >= most {
            self.report((place, include), refused::too_deep(child, most));
            return IncludeStep::Nothing;
        }
        if let Some(condition) = &child.condition {
            self.fixed = false;
            match self.knowledge(inputs).of(place, condition) {
                Known::Value(value) if matches!(value.bare(), Value::Bool(false)) => {
                    self.places[place as usize].left_out.insert(include);
                    return IncludeStep::Nothing;
                }
                Known::Value(_) => {}
                Known::Later => return IncludeStep::Later,
                Known::Asks(more) => return IncludeStep::Answers(more),
                Known::Searches(more) => return IncludeStep::Searches(more),
                Known::Failed(why) => {
                    let why = why.filter(|_| self.reading.complete);
                    why.into_iter().for_each(|why| self.report((place, include), *why));
                    return IncludeStep::Open;
                }
            }
        }
        if let Some(expansion) = &child.expansion {
            return match self.knowledge(inputs).of(place, &expansion.spec) {
                Known::Asks(more) => IncludeStep::Answers(more),
                Known::Later => IncludeStep::Later,
                Known::Searches(more) => IncludeStep::Searches(more),
                Known::Value(_) | Known::Failed(_) => IncludeStep::Group,
            };
        }
        let mut parts: Vec<(&Expr, &str)> = vec![(&child.path, "path")];
        parts.extend(child.source.iter().flat_map(source_entries).map(|(key, value)| (value, key.item.as_ref())));
        let mut texts: Vec<Name> = Vec::with_capacity(parts.len());
        let mut asks = Vec::new();
        let mut open = false;
        for (expr, what) in parts {
            // What is written out and is no text, or none, is wrong for itself.
            if what == "path" && expr.as_literal().is_some_and(|value| value.as_text().is_none_or(str::is_empty)) {
                return IncludeStep::Nothing;
            }
            let known = match expr.as_literal() {
                Some(value) => Known::Value(value.clone()),
                None => {
                    self.fixed = false;
                    self.knowledge(inputs).of(place, expr)
                }
            };
            let value = match known {
                Known::Value(value) => value,
                Known::Later => return IncludeStep::Later,
                Known::Asks(more) => {
                    asks.extend(more);
                    continue;
                }
                Known::Searches(more) => return IncludeStep::Searches(more),
                Known::Failed(why) => {
                    let why = why.filter(|_| self.reading.complete);
                    why.into_iter().for_each(|why| self.report((place, include), *why));
                    return IncludeStep::Open;
                }
            };
            if value.has_unknown() {
                if self.reading.complete {
                    self.report((place, include), refused::unknown(expr, what));
                }
                open = true;
                continue;
            }
            if value.has_secret() {
                self.report((place, include), refused::secret(expr));
                return IncludeStep::Nothing;
            }
            match expr::to_text(&value) {
                Some(Ok(text)) if !value.is_null() => texts.push(text.as_text().unwrap_or_default().into()),
                // The check says what is wrong with its kind.
                _ if what != "path" && value.is_null() => texts.push("".into()),
                _ => return IncludeStep::Nothing,
            }
        }
        if open {
            return IncludeStep::Open;
        }
        if !asks.is_empty() {
            return IncludeStep::Answers(asks);
        }
        let mut texts = texts.into_iter();
        let path = texts.next().unwrap_or_else(|| "".into());
        let mut request = Request::path(self.text_of(place).location.clone(), path);
        for ((key, _), text) in child.source.iter().flat_map(source_entries).zip(texts) {
            match key.item.as_ref() {
                "sourceType" => request.kind = Some(text),
                "checksum" => request.checksum = Some(text),
                _ => request.keys.push((key.item.clone(), text)),
            }
        }
        IncludeStep::Document(request)
    }

    fn knowledge<'s>(&'s self, inputs: &'s [Value]) -> Knowledge<'s> {
        Knowledge {
            texts: &self.texts,
            places: &self.places,
            inputs,
            functions: self.reading.functions,
            dialects: self.reading.dialects,
            working_directory: self.working_directory.as_ref(),
            found: self.reading.complete.then_some(&self.data),
            answers: &self.answers,
            catalogs: self.reading.catalogs,
            values: Default::default(),
            handed: Default::default(),
            open: Default::default(),
            parts: Default::default(),
            meter: &self.meter,
        }
    }

    /// What can never be known before the deployment.
    fn unknown(&mut self, place: u32, include: u32) {
        self.open = true;
        if !self.reading.complete {
            return;
        }
        let Some((blueprint, at)) = self.child(place, include) else { return };
        if let Some((_, child)) = blueprint.children.get_index(at) {
            self.report((place, include), refused::unknown(&child.path, "path"));
        }
    }

    /// Answers questions of paths.
    async fn ask(&mut self, asks: Vec<(u32, Ask)>) {
        let world = self.reading.world;
        let folder = self.reading.folder.clone();
        let now = world.now();
        let functions = self.reading.functions;
        let questions = asks.iter().map(|(place, ask)| {
            let location = self.texts[self.places[*place as usize].text as usize].location.clone();
            let folder = folder.clone();
            async move {
                let folder = location.as_ref().and_then(folder_of).unwrap_or(folder);
                crate::questions::put_value(ask, &folder, now, functions, world).await
            }
        });
        let answers = futures::future::join_all(questions.collect::<Vec<_>>()).await;
        self.answers.extend(asks.into_iter().zip(answers).map(|((place, ask), answer)| (place, ask, answer)));
    }

    /// Reads what is asked for, and gives the includes of what was found.
    async fn read(&mut self, requests: IndexMap<Name, (Request, Vec<Include>)>) -> Vec<Include> {
        let world = self.reading.world;
        let kept = self.reading.kept;
        let folder = self.reading.folder.clone();
        let reads = requests.iter().map(|(key, (request, _))| {
            let folder = &folder;
            async move {
                match kept.documents.get(key) {
                    Some(kept) => {
                        let bytes: Arc<[u8]> = kept.text.as_bytes().into();
                        Ok(source::Document { location: kept.location.seen_from(folder), bytes, digest: kept.digest })
                    }
                    None => world.document(request).await,
                }
            }
        });
        let answers = futures::future::join_all(reads.collect::<Vec<_>>()).await;
        let mut next = Vec::new();
        for ((key, (request, includes)), answer) in requests.into_iter().zip(answers) {
            let above = includes.first().copied();
            let text = match answer {
                Ok(document) => self.text(key, &request, document, above).await,
                Err(error) => Err(error),
            };
            for (place, include) in includes {
                let Some((blueprint, at)) = self.child(place, include) else { continue };
                let Some((name, child)) = blueprint.children.get_index(at) else { continue };
                match &text {
                    Err(error) => self.report((place, include), refused::refused(child, error)),
                    Ok(text) => {
                        self.offer(*text, blueprint.dialect);
                        next.extend(self.put(place, include, name, child, *text));
                    }
                }
            }
        }
        next
    }

    /// The text that was found, read once.
    async fn text(
        &mut self,
        key: Name,
        request: &Request,
        document: source::Document,
        above: Option<Include>,
    ) -> Result<Option<u32>, source::SourceError> {
        let mut around = self.around(above);
        let place = (document.location.clone(), around.identity());
        if let Some(known) = self.of_location.get(&place) {
            let known = *known;
            // The root is kept by itself.
            if known != Some(0)
                && let Ok(text) = std::str::from_utf8(&document.bytes)
            {
                self.freeze(key, request, &document, text);
            }
            return Ok(known);
        }
        let text = std::str::from_utf8(&document.bytes)
            .map_err(|error| source::SourceError::not_document(refused::no_text(error.valid_up_to())))?;
        if let Some(page) = source::web_page(&document.bytes) {
            return Err(source::SourceError::not_document(page));
        }
        self.freeze(key, request, &document, text);
        let shown = self.shown(&document.location);
        let file = self.reading.files.add(shown, text);
        let mut found = Diagnostics::new();
        let loaded = self.load(file, &mut around, Some(document.location.clone()), &mut found).await;
        let number = self.texts.len() as u32;
        let blueprint = loaded.blueprint.unwrap_or_default();
        let location = Some(document.location.clone());
        self.texts.push(Text { file, location, blueprint, around, found, refused: Vec::new() });
        self.of_location.insert(place, Some(number));
        Ok(Some(number))
    }

    /// Loads a text that stands in `around`, which receives the answers to what its dialect wants.
    async fn load(
        &mut self,
        file: FileId,
        around: &mut Surroundings,
        location: Option<Location>,
        found: &mut Diagnostics,
    ) -> Loaded {
        let Reading { dialects, functions, catalogs, .. } = self.reading;
        let loaded = load(self.reading.files, file, dialects, functions, catalogs.packages(), around, found);
        let with = answering(&mut self.reading, &mut self.frozen);
        answered(with, loaded, around, location.as_ref(), found).await
    }

    /// Adds to a document what one in another dialect reads of it beside its exports.
    fn offer(&mut self, text: Option<u32>, reader: &'static str) {
        let Some(text) = text.and_then(|text| self.texts.get_mut(text as usize)) else { return };
        if text.blueprint.dialect != reader {
            self.reading.dialects.rules(reader).children.add_exports(Arc::make_mut(&mut text.blueprint));
        }
    }

    /// What a document stands in that is included there.
    fn around(&self, above: Option<Include>) -> Surroundings {
        let Some((place, include)) = above else { return self.reading.around.clone() };
        let text = self.text_of(place);
        let blueprint = &text.blueprint;
        let Some((name, child)) = blueprint.children.get_index(include as usize) else { return text.around.clone() };
        let written = child.stands_for.as_ref().map(|written| written.item.as_ref());
        let written = written.or_else(|| child.path.as_literal()?.as_text()).unwrap_or_default();
        let shares = self.rules_of(place).children.share_dialect();
        let dialect = shares.then_some(blueprint.dialect);
        let mut around = text.around.inside(name, written);
        around.dialect = dialect;
        around
    }

    /// The children above the elements of an include.
    fn path_of(&self, place: u32, name: &Name) -> Vec<Name> {
        let mut path = vec![name.clone()];
        let mut at = place;
        while let Some((above, include)) = self.places[at as usize].parent {
            let children = &self.text_of(above).blueprint.children;
            path.extend(children.get_index(include as usize).map(|(name, _)| name.clone()));
            at = above;
        }
        path.reverse();
        path
    }

    /// How a document is shown: a file as seen from where the root is shown.
    fn shown(&self, location: &Location) -> String {
        let relative = location.relative_to(&self.reading.folder);
        let root = self.reading.files.get(self.texts[0].file).map_or("", |file| file.name());
        match root.rsplit_once('/') {
            Some((folder, _)) if relative.is_disk() && !folder.starts_with('<') => {
                let seen = format!("{folder}/{relative}");
                if relative.identity().starts_with('/') { relative.to_string() } else { seen }
            }
            _ => relative.to_string(),
        }
    }

    fn freeze(&mut self, key: Name, request: &Request, document: &source::Document, text: &str) {
        let folder = &self.reading.folder;
        let frozen = FrozenChild {
            request: FrozenRequest::new(request, folder),
            location: document.location.relative_to(folder),
            digest: document.digest,
            text: text.into(),
        };
        self.frozen.documents.insert(key, frozen);
    }

    /// Puts a text into a place, unless it stands above it already.
    fn put(&mut self, place: u32, include: u32, name: &Name, child: &Child, text: Option<u32>) -> Vec<Include> {
        let Some(text) = text else { return Vec::new() };
        let mut above = Some(place);
        while let Some(at) = above {
            let it = &self.places[at as usize];
            if it.text == text {
                let files = &self.reading.files;
                let shown = files.get(self.texts[text as usize].file).map_or("", |file| file.name()).to_owned();
                self.report((place, include), refused::circle(name, child, &shown));
                return Vec::new();
            }
            above = it.parent.map(|(parent, _)| parent);
        }
        if self.places.len() >= MOST_PLACES {
            if !std::mem::replace(&mut self.full, true) {
                self.report((place, include), refused::too_many(child, MOST_PLACES));
            }
            return Vec::new();
        }
        if child.expansion.is_none() {
            self.members += self.texts[text as usize].blueprint.resources.len();
            let most = self.most_members();
            if self.members > most {
                if !std::mem::replace(&mut self.crowded, true) {
                    self.report((place, include), refused::too_many_members(child, most));
                }
                return Vec::new();
            }
        }
        let number = self.places.len() as u32;
        let level = self.places[place as usize].level + 1;
        let children = vec![None; self.texts[text as usize].blueprint.children.len()];
        self.places.push(Place { text, parent: Some((place, include)), children, left_out: BTreeSet::new(), level });
        self.places[place as usize].children[include as usize] = Some(number);
        includes_of(number, &self.places[number as usize])
    }

    /// Checks every document, those without children first, and puts the whole together.
    fn finish(mut self, found: &mut Diagnostics) -> Documents {
        type Key = (u32, Vec<Option<u32>>);
        let mut known: HashMap<Key, u32, foldhash::fast::FixedState> = HashMap::default();
        let kinds = self.reading.world.source_kinds();
        let mut judged: Vec<Judged> = Vec::new();
        let mut of_place: Vec<u32> = vec![0; self.places.len()];
        // A place is made after the one above it, so going backwards meets children first.
        for at in (0..self.places.len()).rev() {
            let place = &self.places[at];
            let children: Vec<Option<u32>> =
                place.children.iter().map(|child| child.map(|child| of_place[child as usize])).collect();
            let key = (place.text, children);
            if let Some(number) = known.get(&key) {
                of_place[at] = *number;
                continue;
            }
            let below = |child: &Option<u32>| {
                let below = judged.get((*child)? as usize)?;
                Some(Included { checked: below.checked.clone() })
            };
            let included: Vec<Option<Included>> = key.1.iter().map(below).collect();
            let mut mine = Diagnostics::new();
            let (checked, passed) = check::check_in_place(
                self.texts[place.text as usize].blueprint.clone(),
                &included,
                &self.check_context(at as u32, &kinds),
                (at == 0).then_some(self.inputs.as_slice()),
                &mut mine,
            );
            of_place[at] = judged.len() as u32;
            known.insert(key, judged.len() as u32);
            judged.push(Judged { checked: Arc::new(checked), found: mine, passed: passed.into() });
        }
        let order = self.order();
        let shown = self.shown_from_above(&of_place, &judged);
        // Where a plan will be made it says all that values show.
        let is_wrong = |judged: &Judged| judged.found.has_errors();
        let planned = self.reading.complete && !found.has_errors() && !judged.iter().any(is_wrong);
        let valued = match self.reading.given {
            Some(_) if !planned && self.places.len() > 1 => self.with_values(&of_place, &judged),
            _ => PlacedMistakes::default(),
        };
        found.extend(self.size());
        found.extend(self.meter.get().problem());
        self.tell(&order, &of_place, &mut judged, valued, shown, found);
        told::without_doubts(found);
        let placed = order.iter().map(|at| {
            let place = &self.places[*at as usize];
            let text = &self.texts[place.text as usize];
            let checked = judged[of_place[*at as usize] as usize].checked.clone();
            let folder = text.location.as_ref().and_then(folder_of);
            Placed {
                checked,
                number: *at,
                parent: place.parent,
                left_out: place.left_out.clone(),
                location: text.location.clone(),
                folder: folder.unwrap_or_else(|| self.reading.folder.clone()),
                file: text.file,
            }
        });
        let placed: Vec<Placed> = placed.collect();
        let room = self.reading.around.settings.room;
        let reach = match (self.open, self.fixed) {
            (true, _) => Reach::Incomplete,
            (false, false) => Reach::ByInputs,
            (false, true) => Reach::Fixed,
        };
        Documents::assemble(placed, std::mem::take(&mut self.frozen), reach, found).within(room)
    }

    /// What is to be said of how many resources there are in all. What includes another document counts like a resource.
    fn size(&self) -> Option<Diagnostic> {
        let root = &self.texts[self.places[0].text as usize].blueprint;
        let of = |place: &Place| {
            let blueprint = &self.texts[place.text as usize].blueprint;
            blueprint.resources.len() + blueprint.children.len() - place.left_out.len()
        };
        let place = root.span.unwrap_or_else(|| Span::new(self.texts[self.places[0].text as usize].file, 0, 0));
        let limits = self.reading.around.settings.limits(root.dialect);
        self.rules_of(0).sizes.resources(self.places.iter().map(of).sum(), &limits, place)
    }

    /// All places, each before its children, in the order of the text.
    fn order(&self) -> Vec<u32> {
        let mut order = Vec::with_capacity(self.places.len());
        let mut stack = vec![0];
        while let Some(at) = stack.pop() {
            order.push(at);
            stack.extend(self.places[at as usize].children.iter().rev().flatten());
        }
        order
    }

    /// What is wrong with documents only because others hand them secrets, by place.
    fn shown_from_above(&self, of_place: &[u32], judged: &[Judged]) -> PlacedMistakes {
        let mut mistakes = PlacedMistakes::default();
        let mut handed: Vec<Arc<[bool]>> = vec![Arc::from([]); self.places.len()];
        type Down = (Diagnostics, Vec<Arc<[bool]>>);
        let mut known: HashMap<(u32, Arc<[bool]>), Down, foldhash::fast::FixedState> = HashMap::default();
        // A place is made after the one above it.
        for at in 0..self.places.len() {
            let place = &self.places[at];
            let mine = handed[at].clone();
            let (wrong, down) = known.entry((of_place[at], mine.clone())).or_insert_with(|| {
                let document = &judged[of_place[at] as usize].checked;
                let of = |child: u32| judged[of_place[child as usize] as usize].checked.clone();
                let children: Vec<Option<Arc<Checked>>> = place.children.iter().map(|child| child.map(of)).collect();
                let down = check::handed_down(document, &children, &mine);
                (check::shown_from_above(document, &children, &mine), down.into_iter().map(Arc::from).collect())
            });
            if !wrong.is_empty() {
                mistakes.insert(at as u32, wrong.clone());
            }
            for (child, secret) in place.children.iter().zip(down) {
                if let Some(child) = child {
                    handed[*child as usize] = secret.clone();
                }
            }
        }
        mistakes
    }

    /// The includes that lead to a place, outermost first.
    fn trail(&self, place: u32) -> Vec<Trail> {
        let mut trail = Vec::new();
        let mut at = place;
        while let Some((above, include)) = self.places[at as usize].parent {
            let children = &self.text_of(above).blueprint.children;
            if let Some((name, child)) = children.get_index(include as usize) {
                trail.push(Trail { span: child.span, text: format!("included as `{name}`") });
            }
            at = above;
        }
        trail.reverse();
        trail
    }
}

/// A document that was checked, for all places in which its children are the same.
struct Judged {
    checked: Arc<Checked>,
    /// What is wrong with it, as far as it shows without inputs.
    found: Diagnostics,
    /// What its children are handed.
    passed: Arc<[Option<Passed>]>,
}

/// What is wrong with documents in some of their places.
type PlacedMistakes = HashMap<u32, Diagnostics, foldhash::fast::FixedState>;

/// What becomes of an include.
enum IncludeStep {
    /// This is asked for.
    Document(Request),
    /// Its path needs answers.
    Answers(Vec<Ask>),
    /// Its path reads these data sources: in which place, and which.
    Searches(Vec<(u32, u32)>),
    /// It reads a child that has not been read.
    Later,
    /// It is a group, which is written out.
    Group,
    /// It is not known before all inputs are given.
    Open,
    /// It is in error.
    Nothing,
}

/// Whether the check has found where a child comes from to be wrong.
fn by_check_at_fault(found: &Diagnostics, child: &Child) -> bool {
    let mut places: Vec<Span> = vec![child.path.span];
    places.extend(child.source.iter().map(|source| source.span));
    let entries = child.source.iter().flat_map(|source| &source.entries);
    places.extend(entries.flat_map(|(key, value)| [key.span, value.span]));
    let within = |span: Span| {
        places.iter().any(|place| place.file == span.file && (*place == span || place.contains(span.start)))
    };
    found.iter().any(|it| it.is_error() && within(it.span()))
}

fn includes_of(number: u32, place: &Place) -> Vec<Include> {
    (0..place.children.len() as u32).map(|include| (number, include)).collect()
}

/// What a document's paths are relative to: the folder of a file of this machine; for a document from afar its address, so
/// that it reads what lies beside it and nothing of this machine (decision S70).
fn folder_of(location: &Location) -> Option<Name> {
    let Some(path) = location.as_disk() else { return Some(location.identity().clone()) };
    Some(match path.rsplit_once('/') {
        Some(("", _)) => "/".into(),
        Some((folder, _)) => folder.into(),
        None => "".into(),
    })
}

/// What metadata says of the place of a document. Without a kind of source it is free data, but for a checksum.
fn source_entries(source: &blueprint::SourceMetadata) -> impl Iterator<Item = &(diag::Spanned<Name>, Expr)> {
    let has_kind = source.entries.iter().any(|(key, _)| key.item.as_ref() == "sourceType");
    source.entries.iter().filter(move |(key, _)| has_kind || key.item.as_ref() == "checksum")
}
