//! Follows includes in rounds. Each round requests all documents that are known to be needed,
//! concurrently.

use std::collections::BTreeSet;
use std::sync::Arc;

use blueprint::{Child, Expr, IndexMap, Name, Value};
use diag::{Diagnostics, FileId};
use dialect::LoadContext;
use expr::Ask;
use source::{Location, Request};

use super::known::IncludeValue;
use understand::load::Loaded;
use understand::load::load;
use understand::pinned::PinnedRequest;

use super::include_errors;
use super::places::{Include, IncludePlace, Text, folder_of, includes_of};
use super::reader::{DocumentReader, IncludeNeed};
use super::reading::ReadingContext;
use super::wanted::load_with_answers;

/// The maximum depth of includes. The children of the root are at level 1
/// (decisions/blueprint#depth-of-includes).
const MOST_LEVELS: u32 = 16;
/// The maximum number of places of a document and its children.
const MOST_PLACES: usize = 100_000;

impl DocumentReader<'_> {
    /// Follows includes until no include is left that can be followed.
    pub(super) async fn follow(&mut self, inputs: &[Value]) {
        let mut waiting: Vec<Include> = includes_of(0, &self.places[0]);
        while !waiting.is_empty() {
            let mut requests: IndexMap<Name, (Request, Vec<Include>)> = IndexMap::default();
            let mut later = Vec::new();
            let mut asks: Vec<(u32, Ask)> = Vec::new();
            let mut wanted: Vec<(u32, u32)> = Vec::new();
            let mut expanded: Vec<Include> = Vec::new();
            for (place, include) in std::mem::take(&mut waiting) {
                match self.next_need(place, include, inputs) {
                    IncludeNeed::Document(request) => {
                        let key = PinnedRequest::new(&request, &self.reading.folder).key();
                        requests
                            .entry(key)
                            .or_insert_with(|| (request, Vec::new()))
                            .1
                            .push((place, include));
                    }
                    IncludeNeed::Answers(more) if self.reading.complete => {
                        asks.extend(more.into_iter().map(|ask| (place, ask)));
                        later.push((place, include));
                    }
                    IncludeNeed::Searches(more) => {
                        wanted.extend(more);
                        later.push((place, include));
                    }
                    IncludeNeed::NotYetRead => later.push((place, include)),
                    IncludeNeed::Group => {
                        expanded.extend(self.expand(place, include, inputs).await)
                    }
                    IncludeNeed::Answers(_) | IncludeNeed::InputsMissing => {
                        self.has_open_includes = true
                    }
                    IncludeNeed::Nothing => {}
                }
            }
            let settled = self.data.len();
            let searches = self.searches(wanted, inputs, &mut asks);
            let settled = self.data.len() > settled;
            if requests.is_empty()
                && asks.is_empty()
                && searches.is_empty()
                && expanded.is_empty()
                && !settled
            {
                // The other includes wait for each other, or for a document that cannot be read.
                // Expand the groups with the known values.
                let is_group = |(place, include): &Include| {
                    let children = &self.text_of(*place).blueprint.children;
                    children
                        .get_index(*include as usize)
                        .is_some_and(|(_, child)| child.expansion.is_some())
                };
                let (groups, others): (Vec<Include>, Vec<Include>) =
                    later.into_iter().partition(is_group);
                if groups.is_empty() {
                    for (place, include) in others {
                        self.report_unknown(place, include);
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

    /// The next need of an include.
    pub(super) fn next_need(&mut self, place: u32, include: u32, inputs: &[Value]) -> IncludeNeed {
        let Some((blueprint, at)) = self.child(place, include) else {
            return IncludeNeed::Nothing;
        };
        let Some((_, child)) = blueprint.children.get_index(at) else {
            return IncludeNeed::Nothing;
        };
        let limits = self.reading.context.settings.limits(blueprint.dialect);
        let most = self
            .rules_of(place)
            .sizes
            .most_levels(&limits)
            .min(MOST_LEVELS);
        if self.places[place as usize].level >= most {
            self.report((place, include), include_errors::too_deep(child, most));
            return IncludeNeed::Nothing;
        }
        if let Some(condition) = &child.condition {
            self.is_fixed = false;
            match self.include_context(inputs).evaluate(place, condition) {
                IncludeValue::Value(value) if matches!(value.unmarked(), Value::Bool(false)) => {
                    self.places[place as usize].left_out.insert(include);
                    return IncludeNeed::Nothing;
                }
                IncludeValue::Value(_) => {}
                IncludeValue::NotYetRead => return IncludeNeed::NotYetRead,
                IncludeValue::Asks(more) => return IncludeNeed::Answers(more),
                IncludeValue::Searches(more) => return IncludeNeed::Searches(more),
                IncludeValue::Failed(why) => {
                    let why = why.filter(|_| self.reading.complete);
                    why.into_iter()
                        .for_each(|why| self.report((place, include), *why));
                    return IncludeNeed::InputsMissing;
                }
            }
        }
        if let Some(expansion) = &child.expansion {
            return match self
                .include_context(inputs)
                .evaluate(place, &expansion.spec)
            {
                IncludeValue::Asks(more) => IncludeNeed::Answers(more),
                IncludeValue::NotYetRead => IncludeNeed::NotYetRead,
                IncludeValue::Searches(more) => IncludeNeed::Searches(more),
                IncludeValue::Value(_) | IncludeValue::Failed(_) => IncludeNeed::Group,
            };
        }
        let mut parts: Vec<(&Expr, &str)> = vec![(&child.path, "path")];
        parts.extend(
            child
                .source
                .iter()
                .flat_map(source_entries)
                .map(|(key, value)| (value, key.item.as_ref())),
        );
        let mut texts: Vec<Name> = Vec::with_capacity(parts.len());
        let mut asks = Vec::new();
        let mut open = false;
        for (expr, what) in parts {
            // Other checks report a literal that is not a text or is empty.
            if what == "path"
                && expr
                    .as_literal()
                    .is_some_and(|value| value.as_text().is_none_or(str::is_empty))
            {
                return IncludeNeed::Nothing;
            }
            let known = match expr.as_literal() {
                Some(value) => IncludeValue::Value(value.clone()),
                None => {
                    self.is_fixed = false;
                    self.include_context(inputs).evaluate(place, expr)
                }
            };
            let value = match known {
                IncludeValue::Value(value) => value,
                IncludeValue::NotYetRead => return IncludeNeed::NotYetRead,
                IncludeValue::Asks(more) => {
                    asks.extend(more);
                    continue;
                }
                IncludeValue::Searches(more) => return IncludeNeed::Searches(more),
                IncludeValue::Failed(why) => {
                    let why = why.filter(|_| self.reading.complete);
                    why.into_iter()
                        .for_each(|why| self.report((place, include), *why));
                    return IncludeNeed::InputsMissing;
                }
            };
            if value.has_unknown() {
                if self.reading.complete {
                    self.report((place, include), include_errors::unknown(expr, what));
                }
                open = true;
                continue;
            }
            if value.has_secret() {
                self.report((place, include), include_errors::secret(expr));
                return IncludeNeed::Nothing;
            }
            match expr::to_text(&value) {
                Some(Ok(text)) if !value.is_null() => {
                    texts.push(text.as_text().unwrap_or_default().into())
                }
                // The check reports a wrong type.
                _ if what != "path" && value.is_null() => texts.push("".into()),
                _ => return IncludeNeed::Nothing,
            }
        }
        if open {
            return IncludeNeed::InputsMissing;
        }
        if !asks.is_empty() {
            return IncludeNeed::Answers(asks);
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
        IncludeNeed::Document(request)
    }

    /// Reports an include that depends on values known only on deploy.
    pub(super) fn report_unknown(&mut self, place: u32, include: u32) {
        self.has_open_includes = true;
        if !self.reading.complete {
            return;
        }
        let Some((blueprint, at)) = self.child(place, include) else {
            return;
        };
        if let Some((_, child)) = blueprint.children.get_index(at) {
            self.report(
                (place, include),
                include_errors::unknown(&child.path, "path"),
            );
        }
    }

    /// Asks the questions of the paths of includes.
    pub(super) async fn ask(&mut self, asks: Vec<(u32, Ask)>) {
        let world = self.reading.world;
        let folder = self.reading.folder.clone();
        let now = world.environment().now();
        let functions = self.reading.functions;
        let questions = asks.iter().map(|(place, ask)| {
            let location = self.texts[self.places[*place as usize].text as usize]
                .location
                .clone();
            let folder = folder.clone();
            async move {
                let folder = location.as_ref().and_then(folder_of).unwrap_or(folder);
                crate::evaluation_question::answer_ask(ask, &folder, now, functions, world).await
            }
        });
        let answers = futures::future::join_all(questions.collect::<Vec<_>>()).await;
        self.answers.extend(
            asks.into_iter()
                .zip(answers)
                .map(|((place, ask), answer)| (place, ask, answer)),
        );
    }

    /// Reads the requested documents. Returns their includes.
    pub(super) async fn read(
        &mut self,
        requests: IndexMap<Name, (Request, Vec<Include>)>,
    ) -> Vec<Include> {
        let reading = &self.reading;
        let reads = requests
            .iter()
            .map(|(key, (request, _))| reading.fetch_included(key, request));
        let answers = futures::future::join_all(reads.collect::<Vec<_>>()).await;
        let mut next = Vec::new();
        for ((key, (request, includes)), answer) in requests.into_iter().zip(answers) {
            let above = includes.first().copied();
            let text = match answer {
                Ok(document) => self.load_text(key, &request, document, above).await,
                Err(error) => Err(error),
            };
            for (place, include) in includes {
                let Some((blueprint, at)) = self.child(place, include) else {
                    continue;
                };
                let Some((name, child)) = blueprint.children.get_index(at) else {
                    continue;
                };
                match &text {
                    Err(error) => {
                        self.report((place, include), include_errors::read_failed(child, error))
                    }
                    Ok(text) => {
                        self.add_readable_exports(*text, blueprint.dialect);
                        next.extend(self.place_text(place, include, name, child, *text));
                    }
                }
            }
        }
        next
    }

    /// Returns the number of a text that was read. Loads each text once.
    pub(super) async fn load_text(
        &mut self,
        key: Name,
        request: &Request,
        document: source::FetchedDocument,
        above: Option<Include>,
    ) -> Result<Option<u32>, source::SourceError> {
        let mut context = self.context(above);
        context.is_folder = document.location.is_folder();
        let place = (document.location.clone(), context.identity());
        if let Some(known) = self.of_location.get(&place) {
            let known = *known;
            // The root's text is stored separately, so it is not pinned.
            if known != Some(0)
                && let Ok(text) = std::str::from_utf8(&document.bytes)
            {
                self.pin_document(key, request, &document, text);
            }
            return Ok(known);
        }
        let text = std::str::from_utf8(&document.bytes).map_err(|error| {
            source::SourceError::not_document(include_errors::not_utf8(error.valid_up_to()))
        })?;
        let shown = self.display_path(&document.location);
        if context.is_folder {
            let file = FileId::new(0);
            let parsed = self.reading.dialects.parse(file, &shown, text, &context);
            if parsed.dialect.is_none() {
                return Err(source::SourceError::Folder);
            }
        } else if let Some(page) = source::web_page(&document.bytes) {
            return Err(source::SourceError::not_document(page));
        }
        self.pin_document(key, request, &document, text);
        let file = self.reading.files.add(shown, text);
        let mut found = Diagnostics::new();
        let loaded = self
            .load(
                file,
                &mut context,
                Some(document.location.clone()),
                &mut found,
            )
            .await;
        let number = self.texts.len() as u32;
        let blueprint = loaded.blueprint.unwrap_or_default();
        let location = Some(document.location.clone());
        self.texts.push(Text {
            file,
            location,
            blueprint,
            context,
            found,
            refused: Vec::new(),
        });
        self.of_location.insert(place, Some(number));
        Ok(Some(number))
    }

    /// Loads a text with `context`. The answers that its dialect wants are added to `context`.
    pub(super) async fn load(
        &mut self,
        file: FileId,
        context: &mut LoadContext,
        location: Option<Location>,
        found: &mut Diagnostics,
    ) -> Loaded {
        let ReadingContext {
            dialects,
            functions,
            catalogs,
            ..
        } = self.reading;
        let loaded = load(
            self.reading.files,
            file,
            dialects,
            functions,
            catalogs.packages(),
            context,
            found,
        );
        load_with_answers(
            &mut self.reading,
            &mut self.pinned,
            loaded,
            context,
            location.as_ref(),
            found,
        )
        .await
    }

    /// Adds the exports that a document in the dialect `reader` can read of this document besides
    /// the declared ones.
    pub(super) fn add_readable_exports(&mut self, text: Option<u32>, reader: &'static str) {
        let Some(text) = text.and_then(|text| self.texts.get_mut(text as usize)) else {
            return;
        };
        if text.blueprint.dialect != reader {
            self.reading
                .dialects
                .rules(reader)
                .children
                .add_exports(Arc::make_mut(&mut text.blueprint));
        }
    }

    /// Puts a text into a place, unless that place is inside the same text.
    pub(super) fn place_text(
        &mut self,
        place: u32,
        include: u32,
        name: &Name,
        child: &Child,
        text: Option<u32>,
    ) -> Vec<Include> {
        let Some(text) = text else { return Vec::new() };
        let mut above = Some(place);
        while let Some(at) = above {
            let it = &self.places[at as usize];
            if it.text == text {
                let files = &self.reading.files;
                let shown = files
                    .get(self.texts[text as usize].file)
                    .map_or("", |file| file.name())
                    .to_owned();
                self.report(
                    (place, include),
                    include_errors::include_cycle(name, child, &shown),
                );
                return Vec::new();
            }
            above = it.parent.map(|(parent, _)| parent);
        }
        if self.places.len() >= MOST_PLACES {
            if !std::mem::replace(&mut self.reported_too_many_places, true) {
                self.report(
                    (place, include),
                    include_errors::too_many(child, MOST_PLACES),
                );
            }
            return Vec::new();
        }
        if child.expansion.is_none() {
            self.members += self.texts[text as usize].blueprint.resources.len();
            let most = self.most_members();
            if self.members > most {
                if !std::mem::replace(&mut self.reported_too_many_members, true) {
                    self.report(
                        (place, include),
                        include_errors::too_many_members(child, most),
                    );
                }
                return Vec::new();
            }
        }
        let number = self.places.len() as u32;
        let level = self.places[place as usize].level + 1;
        let children = vec![None; self.texts[text as usize].blueprint.children.len()];
        self.places.push(IncludePlace {
            text,
            parent: Some((place, include)),
            children,
            left_out: BTreeSet::new(),
            level,
        });
        self.places[place as usize].children[include as usize] = Some(number);
        includes_of(number, &self.places[number as usize])
    }
}

/// The metadata entries that locate a document. Without a source type, only the checksum counts;
/// the rest is free data.
fn source_entries(
    source: &blueprint::SourceMetadata,
) -> impl Iterator<Item = &(diag::Spanned<Name>, Expr)> {
    let has_kind = source
        .entries
        .iter()
        .any(|(key, _)| key.item.as_ref() == "sourceType");
    source
        .entries
        .iter()
        .filter(move |(key, _)| has_kind || key.item.as_ref() == "checksum")
}
